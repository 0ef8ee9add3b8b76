// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/cost"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// northEurope are all prices of testdata/northeurope.json that count.
var northEurope = strings.Split(`PremiumV2_LRS  Capacity 0.00011 1 GiB/Hour
PremiumV2_LRS  ProvisionedIOPS 0.000007 1/Hour, 3000 free
PremiumV2_LRS  ProvisionedThroughput 0.000055 1/Hour, 125 free
Premium_LRS  BurstEnablement 10 1/Month
Premium_LRS  BurstTransactions 0.005 10K
Premium_LRS P10 Capacity 19.71 1/Month
Premium_LRS P10 SharedMount 0.99 1/Month
Premium_LRS P20 Capacity 73.22 1/Month
Premium_LRS P20 SharedMount 3.65 1/Month
Premium_LRS P3 Capacity 2.4 1/Month
Premium_LRS P30 Capacity 135.17 1/Month
Premium_LRS P30 ReservationOneYear 1541 1 Year
Premium_LRS P40 Capacity 259.0457 1/Month
Premium_LRS P40 ReservationOneYear 2953 1 Year
Premium_LRS P50 Capacity 495.5657 1/Month
Premium_ZRS P10 Capacity 29.565 1/Month
Premium_ZRS P20 Capacity 109.81 1/Month
Premium_ZRS P3 Capacity 3.6 1/Month
Premium_ZRS P30 Capacity 202.73 1/Month
Premium_ZRS P40 Capacity 388.57 1/Month
Premium_ZRS P50 Capacity 743.35 1/Month
StandardSSD_LRS  Transactions 0.002 10K
StandardSSD_LRS E10 Capacity 9.6 1/Month
StandardSSD_LRS E15 Capacity 19.2 1/Month
StandardSSD_LRS E30 Capacity 76.8 1/Month
StandardSSD_LRS E4 Capacity 2.4 1/Month
StandardSSD_LRS E50 Capacity 307.2 1/Month
StandardSSD_ZRS  Transactions 0.003 10K
StandardSSD_ZRS E10 Capacity 14.4 1/Month
StandardSSD_ZRS E15 Capacity 28.8 1/Month
StandardSSD_ZRS E30 Capacity 115.2 1/Month
StandardSSD_ZRS E4 Capacity 3.6 1/Month
StandardSSD_ZRS E50 Capacity 460.8 1/Month
Standard_LRS  Transactions 0.0005 10K
Standard_LRS S10 Capacity 5.888 1/Month
Standard_LRS S30 Capacity 40.96 1/Month
UltraSSD_LRS  Capacity 0.000164 1 GiB/Hour
UltraSSD_LRS  ProvisionedIOPS 0.000068 1/Hour
UltraSSD_LRS  ProvisionedThroughput 0.000479 1/Hour
UltraSSD_LRS  VMReservation 0.006 1/Hour`, "\n")

func lines(prices []catalog.Price) []string {
	var all []string
	for _, p := range prices {
		line := fmt.Sprintf("%s %s %s %s %s", p.SKU, p.Tier, p.Kind, p.Amount, p.Unit)
		if p.FreeUnits > 0 {
			line += fmt.Sprintf(", %d free", p.FreeUnits)
		}
		all = append(all, line)
	}
	return all
}

// What counts comes out the same however the answer is cut and ordered, and however much else is in it.
func TestFetch(t *testing.T) {
	for _, tc := range []struct {
		why      string
		perPage  int
		sloppy   bool
		reversed bool
	}{
		{why: "one page, filtered", perPage: 100},
		{why: "many pages, linked with the port", perPage: 3},
		{why: "a Mount behind the Disk and before it, in both orders", perPage: 100, reversed: true},
		{why: "a filter without effect: other types, regions, currencies, dates, and meters of other regions", perPage: 100, sloppy: true},
		{why: "the same backwards", perPage: 7, sloppy: true, reversed: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			server := newAPI(t)
			server.perPage, server.sloppy = tc.perPage, tc.sloppy
			if tc.reversed {
				slices.Reverse(server.items)
			}
			got, err := newTestClient(t, server.URL+"/api/retail/prices", newHasty()).Fetch(t.Context(), "North Europe", "usd")
			if err != nil || len(got.Odd) > 0 || !got.At.Equal(today) {
				t.Fatalf("%v, %v, %v", err, got.Odd, got.At)
			}
			if diff := cmp.Diff(northEurope, lines(got.Prices)); diff != "" {
				t.Error(diff)
			}
			if p := got.Prices[0]; p.Region != "northeurope" || p.Currency != "USD" || p.Confidence != catalog.High ||
				p.Source.Reference != server.URL+"/api/retail/prices, in effect since 2018-05-01" || p.Source.Date.String() != "2026-09-20" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// The request is one that the API understands: its version, the currency in quotes, priceType and not
// type, and blanks as %20.
func TestRequest(t *testing.T) {
	server := newAPI(t)
	if _, err := newTestClient(t, server.URL, newHasty()).Fetch(t.Context(), "northeurope", ""); err != nil {
		t.Fatal(err)
	}
	first := server.asked[0]
	want := map[string][]string{
		"api-version": {"2023-01-01-preview"}, "currencyCode": {"'USD'"},
		"$filter": {"serviceName eq 'Storage' and armRegionName eq 'northeurope' and productName eq 'Premium SSD Managed Disks' and priceType eq 'Consumption'"},
	}
	if diff := cmp.Diff(want, map[string][]string(first)); diff != "" {
		t.Error(diff)
	}
	c := newTestClient(t, "", newHasty())
	if got := c.address(queries[0], "eastus", "EUR"); !strings.HasPrefix(got, "https://prices.azure.com/api/retail/prices?%24filter=serviceName%20eq%20%27Storage%27") {
		t.Error(got)
	}
}

// Known monthly costs come out of prices that were fetched alone.
func TestCosts(t *testing.T) {
	server := newAPI(t)
	c := catalogtest.Load(t)
	got, err := newTestClient(t, server.URL, newHasty()).Fetch(t.Context(), "northeurope", "USD")
	if err != nil {
		t.Fatal(err)
	}
	over, bad := Overlay(c, got.Prices)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	for _, tc := range []struct {
		why        string
		sizeGiB    int64
		parameters map[string]string
		iops       int64
		want       string
	}{
		{"a tier", 128, map[string]string{"skuName": "Premium_LRS"}, 0, "19.71"},
		{"E10 at its cap on transactions", 128, map[string]string{"skuName": "StandardSSD_LRS"}, 500, "31.09"},
		{"v2 at the free performance", 128, map[string]string{"skuName": "PremiumV2_LRS"}, 0, "10.28"},
		{"v2 with 2,000 IOPS and 75 MB/s above it", 1024, map[string]string{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "5000", "DiskMBpsReadWrite": "200"}, 0, "95.46"},
		{"on-demand bursting, whose fee the embedded catalog does not know", 1024, map[string]string{"skuName": "Premium_LRS", "enableBursting": "true"}, 0, "145.17"},
	} {
		d, _ := disk.Describe(c, disk.Facts{Driver: disk.Driver, ClassParameters: tc.parameters, CapacityBytes: tc.sizeGiB << 30})
		e := cost.Monthly(over, d, cost.Options{Region: "northeurope", Use: cost.Use{IOPS: &tc.iops}, Now: today})
		if e.PerMonth == nil || cost.Format(*e.PerMonth) != tc.want || len(e.Warnings) > 0 {
			t.Errorf("%s: %v, want %s: %v", tc.why, e.PerMonth, tc.want, e.Warnings)
		}
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// cut promises more than it sends.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"Items":[`))
}

// What passes is tried again, and no more often than makes sense.
func TestRetries(t *testing.T) {
	busy := status(http.StatusServiceUnavailable)
	for _, tc := range []struct {
		why    string
		faults []http.HandlerFunc
		// pauses are the lower bounds; jitter adds up to a half.
		pauses []time.Duration
		// exact pauses.
		exact bool
		err   string
	}{
		{why: "the server is down for a moment", faults: []http.HandlerFunc{busy, busy}, pauses: []time.Duration{time.Second, 2 * time.Second}},
		{why: "Retry-After in seconds", faults: []http.HandlerFunc{status(429, "Retry-After", "17")}, pauses: []time.Duration{17 * time.Second}, exact: true},
		{why: "Retry-After as a date", faults: []http.HandlerFunc{status(429, "Retry-After", today.Add(40*time.Second).Format(http.TimeFormat))}, pauses: []time.Duration{40 * time.Second}, exact: true},
		{why: "Retry-After in the past is no reason for a haste", faults: []http.HandlerFunc{status(429, "Retry-After", today.Add(-time.Hour).Format(http.TimeFormat))}, pauses: []time.Duration{time.Second}},
		{why: "Retry-After that is neither", faults: []http.HandlerFunc{status(503, "Retry-After", "soon")}, pauses: []time.Duration{time.Second}},
		{why: "an hour is too long to wait for", faults: []http.HandlerFunc{status(429, "Retry-After", "3600")}, err: "the API answered 429 Too Many Requests, and to come back after 1h0m0s"},
		{why: "four attempts are all", faults: []http.HandlerFunc{busy, busy, busy, busy}, pauses: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, err: "the API answered 503 Service Unavailable"},
		{why: "a connection that breaks", faults: []http.HandlerFunc{cut}, pauses: []time.Duration{time.Second}},
		{why: "a page with fewer items than it says", faults: []http.HandlerFunc{text(`{"Items":[],"Count":3}`)}, pauses: []time.Duration{time.Second}},
		{why: "a wrong request stays wrong", faults: []http.HandlerFunc{status(http.StatusBadRequest)}, err: "the API answered 400 Bad Request"},
		{why: "JSON that ends early", faults: []http.HandlerFunc{text(`{"Items":[{"meterName":"P1`)}, err: "no JSON of the Retail Prices API"},
		{why: "a proxy's page", faults: []http.HandlerFunc{text("<html>Login</html>")}, err: "is a proxy in between?"},
		{why: "another JSON", faults: []http.HandlerFunc{text(`{"error":"none"}`)}, err: "has no Items"},
		{why: "a type that is another", faults: []http.HandlerFunc{text(`{"Items":[{"retailPrice":"free"}]}`)}, err: "no JSON of the Retail Prices API"},
		{why: "a page without end", faults: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			for range 9 << 10 {
				_, _ = w.Write([]byte(strings.Repeat(" ", 1<<10)))
			}
		}}, err: "more than 8388608 bytes"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			server, at := newAPI(t), newHasty()
			server.fault(tc.faults...)
			got, err := newTestClient(t, server.URL, at).Fetch(t.Context(), "northeurope", "USD")
			if tc.err == "" && (err != nil || len(got.Prices) == 0) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%v, want %q", err, tc.err)
			}
			if err != nil && !strings.Contains(err.Error(), "prices of Premium SSD Managed Disks in northeurope in USD from "+server.URL+": ") {
				t.Errorf("the error does not say what failed: %v", err)
			}
			paused := at.paused()
			if len(paused) != len(tc.pauses) {
				t.Fatalf("pauses of %v, want %v", paused, tc.pauses)
			}
			for i, want := range tc.pauses {
				if paused[i] < want || paused[i] > want*3/2 || tc.exact && paused[i] != want {
					t.Errorf("paused for %v, want %v", paused[i], want)
				}
			}
		})
	}
}

// A link is followed on the same host only, once, and not for ever.
func TestLinks(t *testing.T) {
	elsewhere := newAPI(t)
	link := func(next string) http.HandlerFunc {
		return text(fmt.Sprintf(`{"Items":[],"NextPageLink":%q,"Count":0}`, next))
	}
	for _, tc := range []struct {
		why   string
		fault func(here *api) http.HandlerFunc
		want  string
	}{
		{"another host", func(*api) http.HandlerFunc { return link("http://example.com/api/retail/prices?$skip=100") }, "to http://example.com, which is not followed"},
		{"another port is another server", func(*api) http.HandlerFunc { return link(elsewhere.URL) }, "which is not followed"},
		{"another scheme", func(here *api) http.HandlerFunc { return link(strings.Replace(here.URL, "http:", "https:", 1)) }, "which is not followed"},
		{"a redirect elsewhere", func(*api) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }
		}, "which is not followed"},
		{"no address", func(*api) http.HandlerFunc { return link("http://[") }, "NextPageLink is no address"},
		{"a loop", func(here *api) http.HandlerFunc {
			again := link("/again")
			here.fault(again)
			return again
		}, "the pages form a loop: NextPageLink leads back to"},
		{"no end", func(here *api) http.HandlerFunc {
			for i := range 50 {
				here.fault(link(fmt.Sprintf("/%d", i)))
			}
			return link("/first")
		}, "more than 20 pages"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			here, at := newAPI(t), newHasty()
			first := tc.fault(here)
			here.mu.Lock()
			here.faults = append([]http.HandlerFunc{first}, here.faults...)
			here.mu.Unlock()
			_, err := newTestClient(t, here.URL, at).Fetch(t.Context(), "northeurope", "USD")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if len(at.paused()) > 0 {
				t.Error("it was tried again")
			}
			if elsewhere.requests() > 0 {
				t.Error("the link was followed")
			}
		})
	}
}

// https://prices.azure.com:443, as the API writes it, is https://prices.azure.com.
func TestDefaultPort(t *testing.T) {
	c := newTestClient(t, "", newHasty())
	if next, err := c.next("https://prices.azure.com:443/api/retail/prices?$skip=100"); err != nil || next != "https://prices.azure.com:443/api/retail/prices?$skip=100" {
		t.Errorf("%q, %v", next, err)
	}
	if _, err := c.next("https://prices.azure.com:444/"); err == nil {
		t.Error("another port was taken for the same")
	}
}

// A slow server holds up the caller no longer than its context, and is named in the error.
func TestSlowServer(t *testing.T) {
	server := newAPI(t)
	released := make(chan struct{})
	server.fault(func(http.ResponseWriter, *http.Request) { <-released })
	defer close(released)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := newTestClient(t, server.URL, newHasty()).Fetch(ctx, "northeurope", "USD")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), server.URL) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// The end of the context ends a pause too, and the error keeps what the pause was for.
func TestEndDuringPause(t *testing.T) {
	server := newAPI(t)
	server.fault(status(http.StatusTooManyRequests, "Retry-After", "100"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := newTestClient(t, server.URL, clock.RealClock{}).Fetch(ctx, "northeurope", "USD")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "429 Too Many Requests") {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	server := newAPI(t)
	for _, tc := range []struct{ why, region, currency, want string }{
		{"a filter in place of a region", "eastus' or '1' eq '1", "USD", "no name of an Azure region"},
		{"no region", "", "USD", "no name of an Azure region"},
		{"no currency", "eastus", "dollar", "no ISO 4217 code"},
		{"a region without prices", "atlantis", "USD", "no prices of disks in atlantis in USD: are the names right?"},
	} {
		if _, err := newTestClient(t, server.URL, newHasty()).Fetch(t.Context(), tc.region, tc.currency); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.why, err)
		}
	}
	for _, address := range []string{"prices.azure.com", "ftp://prices.azure.com/", "https://prices.azure.com/?x=1", "https://user:secret@prices.azure.com/", "http://[", "https://"} {
		if _, err := NewClient(address, catalogtest.Load(t), newHasty()); err == nil {
			t.Errorf("%q was taken for an address", address)
		}
	}
}

// beTheClient makes this test binary a client in a process of its own: net/http reads the proxy from
// the environment once in a process.
const beTheClient = "DISKBENCH_TEST_RETAIL_URL"

func TestMain(m *testing.M) {
	if address := os.Getenv(beTheClient); address != "" {
		os.Exit(fetchOnce(address))
	}
	os.Exit(m.Run())
}

func fetchOnce(address string) int {
	c, err := NewClient(address, catalog.Catalog{}, newHasty())
	if err == nil {
		_, err = c.pages(context.Background(), c.address(queries[0], "northeurope", "USD"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func TestProxy(t *testing.T) {
	var hosts []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.URL.Host)
		_, _ = w.Write([]byte(`{"Items":[],"Count":0}`))
	}))
	defer proxy.Close()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", beTheClient+"=http://prices.invalid/api/retail/prices")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if diff := cmp.Diff([]string{"prices.invalid"}, hosts); diff != "" {
		t.Error(diff)
	}
}
