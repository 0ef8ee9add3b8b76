// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/cost"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

func describe(t *testing.T, sizeGiB int64, class map[string]string) disk.Disk {
	t.Helper()
	d, _ := disk.Describe(catalogtest.Load(t), disk.Facts{Driver: disk.Driver, ClassParameters: class, CapacityBytes: sizeGiB << 30})
	return d
}

func sku(name catalog.SKU) map[string]string { return map[string]string{"skuName": string(name)} }

// shown is money as people see it; empty for unknown.
func shown(d *decimal.Decimal) string {
	if d == nil {
		return ""
	}
	return cost.Format(*d)
}

func TestPerMonth(t *testing.T) {
	c := catalogtest.Load(t)
	v2 := func(iops, mbps string) map[string]string {
		return map[string]string{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": iops, "DiskMBpsReadWrite": mbps}
	}
	for _, tc := range []struct {
		why           string
		sizeGiB       int64
		class         map[string]string
		options       cost.Options
		month, capped string
	}{
		{"P10, of which v2 is the cheaper equivalent", 128, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "19.71", "19.71"},
		{"its v2", 128, v2("3000", "125"), cost.Options{Region: "eastus"}, "10.28", "10.28"},
		{"P20", 512, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "73.22", "73.22"},
		{"its v2", 512, v2("3000", "150"), cost.Options{Region: "eastus"}, "42.12", "42.12"},
		{"P30", 1024, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "135.17", "135.17"},
		{"its v2", 1024, v2("5000", "200"), cost.Options{Region: "eastus"}, "95.46", "95.46"},
		{"P40", 2048, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "259.05", "259.05"},
		{"its v2", 2048, v2("7500", "250"), cost.Options{Region: "eastus"}, "192.47", "192.47"},
		{"P50", 4096, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "495.57", "495.57"},
		{"its v2", 4096, v2("7500", "250"), cost.Options{Region: "eastus"}, "356.92", "356.92"},
		{"a size between two tiers bills as the next one", 200, sku("Premium_LRS"), cost.Options{Region: "eastus"}, "38.01", "38.01"},
		{"E10 without I/O, and with every hour at its cap", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(0))}}, "9.60", "31.09"},
		{"E30 at its cap", 1024, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(500))}}, "197.86", "197.86"},
		{"E10 at 500 IOPS in 20% of the hours: 4.30 of transactions", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(500)), BusyHoursPercent: new(int64(20))}}, "13.90", "31.09"},
		{"E10 at 20% of 500 IOPS always: 21.49, since 100 IOPS pass the cap of an hour too", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(500)), RateWhenBusyPercent: new(int64(20))}}, "31.09", "31.09"},
		{"below the cap, every I/O counts: 19 IOPS", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(19))}}, "19.59", "31.09"},
		{"an I/O of 512 KiB counts as two", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(19)), BlockSizeBytes: 512 << 10}}, "29.57", "31.09"},
		{"two disks share the load, and each has a cap", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus", Disks: 2, Use: cost.Use{IOPS: new(int64(38))}}, "39.17", "62.18"},
		{"a rate that nobody measured: the cap is known all the same", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus"}, "", "31.09"},
		{"ZRS has a cap, and no known price of transactions", 128, sku("StandardSSD_ZRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(1))}}, "", ""},
		{"HDD counts units of 16 KiB: 64 KiB are four", 32, sku("Standard_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(10)), BlockSizeBytes: 64 << 10}}, "6.79", "17.96"},
		{"S80 counts at most 16 units for an I/O: 1 MiB is no 64", 32767, sku("Standard_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(10)), BlockSizeBytes: 1 << 20}}, "974.57", "4968.55"},
		{"the cap of S10 is not published", 128, sku("Standard_LRS"), cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(10))}}, "", ""},
		{"Ultra has nothing free", 4, map[string]string{"skuName": "UltraSSD_LRS", "cachingMode": "None", "DiskIOPSReadWrite": "1000", "DiskMBpsReadWrite": "100"}, cost.Options{Region: "eastus"}, "85.09", "85.09"},
		{"v2 has no reservation", 128, v2("3000", "125"), cost.Options{Region: "eastus", Reservation: cost.OneYear}, "10.28", "10.28"},
		{"on-demand bursting has no known price", 1024, map[string]string{"skuName": "Premium_LRS", "enableBursting": "true"}, cost.Options{Region: "eastus"}, "", ""},
		{"another region", 2048, sku("Premium_LRS"), cost.Options{Region: "West Europe"}, "284.94", "284.94"},
		{"no price in this one", 2048, sku("Premium_LRS"), cost.Options{Region: "germanynorth"}, "", ""},
		{"no region", 2048, sku("Premium_LRS"), cost.Options{}, "", ""},
		{"a discount of 15%", 2048, sku("Premium_LRS"), cost.Options{Region: "eastus", DiscountPercent: 15}, "220.19", "220.19"},
		{"a reservation: 2,953 a year", 2048, sku("Premium_LRS"), cost.Options{Region: "eastus", Reservation: cost.OneYear}, "246.08", "246.08"},
		{"there is none for P20", 512, sku("Premium_LRS"), cost.Options{Region: "eastus", Reservation: cost.OneYear}, "73.22", "73.22"},
		{"its price is not known here", 2048, sku("Premium_LRS"), cost.Options{Region: "westeurope", Reservation: cost.OneYear}, "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			e := cost.Monthly(c, describe(t, tc.sizeGiB, tc.class), tc.options)
			if shown(e.PerMonth) != tc.month || shown(e.PerMonthAtCap) != tc.capped {
				t.Errorf("%q a month, %q at the cap; want %q, %q", shown(e.PerMonth), shown(e.PerMonthAtCap), tc.month, tc.capped)
			}
			checkSums(t, e)
		})
	}
}

// checkSums holds an estimate against itself: lines add up, exactly and as they are shown, and what is
// unknown is said.
func checkSums(t *testing.T, e cost.Estimate) {
	t.Helper()
	exact, rounded := decimal.Zero, decimal.Zero
	for _, l := range e.Lines {
		exact = exact.Add(l.Exact)
		rounded = rounded.Add(decimal.RequireFromString(l.Amount))
	}
	if !exact.Equal(e.KnownPerMonth) || !rounded.Equal(exact.Round(2)) {
		t.Errorf("lines add up to %s and %s, the sum is %s", exact, rounded, e.KnownPerMonth)
	}
	if (e.PerMonth == nil) != (len(e.Unknown) > 0) || (e.PerMonth != nil && !e.PerMonth.Equal(exact)) {
		t.Errorf("%v a month with unknown %v", e.PerMonth, e.Unknown)
	}
	if (e.FleetPerMonth == nil) != (e.PerMonth == nil) {
		t.Error("the fleet's price is known when one volume's is")
	}
}

func TestFleet(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why     string
		sizeGiB int64
		want    string
	}{
		{"2,500 desktops of the published study", 2048, "712350.00"},
		{"and a size up", 4096, "1362750.00"},
	} {
		e := cost.Monthly(c, describe(t, tc.sizeGiB, sku("Premium_LRS")), cost.Options{Region: "westeurope", FleetSize: 2500})
		if got := shown(e.FleetPerMonth); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
}

func TestLines(t *testing.T) {
	class := map[string]string{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "3000", "DiskMBpsReadWrite": "150"}
	e := cost.Monthly(catalogtest.Load(t), describe(t, 512, class), cost.Options{Region: "eastus"})
	var got []string
	for _, l := range e.Lines {
		got = append(got, strings.Join([]string{string(l.Item), l.Quantity.String(), string(l.Unit), l.UnitPrice.String(), l.Exact.String(), l.Amount}, " "))
		if l.Source.Reference == "" {
			t.Errorf("%s has no source", l.Item)
		}
	}
	want := []string{
		"Capacity 373760 1 GiB/Hour 0.00011 41.1136 41.11",
		// 1.00375 alone; a cent more for the sum of 42.11735.
		"ProvisionedThroughput 18250 1/Hour 0.000055 1.00375 1.01",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if e.OldestPrice.String() != "2026" || len(e.Sources) == 0 || e.Currency != "USD" {
		t.Errorf("%+v", e)
	}
}

func TestAge(t *testing.T) {
	c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"prices.csv": "region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate\n" +
		"eastus,USD,Premium_LRS,P10,Capacity,1/Month,19.71,high,contract,2026-09-01\n"})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		why     string
		sizeGiB int64
		now     time.Time
		want    []cost.Warning
	}{
		{"90 days are not old", 128, day(11, 30), nil},
		{"91 are", 128, day(12, 1), []cost.Warning{{Reason: cost.PricesOld, Message: "a price is from 2026-09-01, and may be older than 90 days"}}},
		{"of a year, its first day counts", 512, day(5, 1), []cost.Warning{{Reason: cost.PricesOld, Message: "a price is from 2026, and may be older than 90 days"}}},
		{"without a price there is none to be old", 32768, day(12, 1), []cost.Warning{{Reason: cost.PriceUnknown, Message: "SKU, size or provisioned performance of the disk are unknown (UnknownSize)"}}},
	} {
		e := cost.Monthly(c, describe(t, tc.sizeGiB, sku("Premium_LRS")), cost.Options{Region: "eastus", Now: tc.now})
		if diff := cmp.Diff(tc.want, e.Warnings); diff != "" {
			t.Errorf("%s: %s", tc.why, diff)
		}
	}
}

func TestUnknown(t *testing.T) {
	c := catalogtest.Load(t)
	nfs, _ := disk.Describe(c, disk.Facts{Driver: "file.csi.azure.com", CapacityBytes: 1 << 40})
	for _, tc := range []struct {
		why     string
		disk    disk.Disk
		options cost.Options
		known   string
		want    []cost.Unknown
	}{
		{"a driver without prices", nfs, cost.Options{}, "0", []cost.Unknown{{Item: cost.ItemCapacity, Why: "there are no prices for disks of file.csi.azure.com: give costPerMonth"}}},
		{"both prices of on-demand bursting", describe(t, 1024, map[string]string{"skuName": "Premium_LRS", "enableBursting": "true"}), cost.Options{Region: "eastus"}, "135.17", []cost.Unknown{
			{Item: cost.ItemBurstEnablement, Why: "the price of BurstEnablement of Premium_LRS is not known in eastus in USD"},
			{Item: cost.ItemBurstTransactions, Why: "the price of BurstTransactions of Premium_LRS is not known in eastus in USD"},
		}},
		{"a region without prices", describe(t, 128, sku("Premium_LRS")), cost.Options{Currency: "EUR"}, "0", []cost.Unknown{
			{Item: cost.ItemCapacity, Why: "the price of Capacity of P10 Premium_LRS is not known in an unknown region in EUR"},
		}},
	} {
		e := cost.Monthly(c, tc.disk, tc.options)
		if diff := cmp.Diff(tc.want, e.Unknown); diff != "" || e.KnownPerMonth.String() != tc.known {
			t.Errorf("%s: %s known %s", tc.why, diff, e.KnownPerMonth)
		}
		checkSums(t, e)
	}
}

// The oldest price of several is what an estimate is as old as.
func TestOldestPrice(t *testing.T) {
	for _, tc := range []struct{ why, capacity, iops string }{
		{"the first line is the older one", "2026-01-15", "2026-10-01"},
		{"the second line is", "2026-10-01", "2026-01-15"},
	} {
		c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"prices.csv": "region,currency,sku,kind,unit,price,freeUnits,confidence,source,sourceDate\n" +
			"eastus,USD,PremiumV2_LRS,Capacity,1 GiB/Hour,0.00011,,high,a," + tc.capacity + "\n" +
			"eastus,USD,PremiumV2_LRS,ProvisionedIOPS,1/Hour,0.000007,3000,high,b," + tc.iops + "\n" +
			"eastus,USD,PremiumV2_LRS,ProvisionedThroughput,1/Hour,0.000055,125,high,b," + tc.iops + "\n"})
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		e := cost.Monthly(c, describe(t, 128, sku("PremiumV2_LRS")), cost.Options{Region: "eastus"})
		if e.OldestPrice.String() != "2026-01-15" || len(e.Sources) != 2 {
			t.Errorf("%s: %s of %v", tc.why, e.OldestPrice, e.Sources)
		}
	}
}

// A user's price need not repeat that 3,000 IOPS are free.
func TestFreeByRule(t *testing.T) {
	c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"prices.csv": "region,currency,sku,kind,unit,price,confidence,source,sourceDate\n" +
		"eastus,USD,PremiumV2_LRS,ProvisionedIOPS,1/Hour,1,high,contract,2026-09-01\n"})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	e := cost.Monthly(c, describe(t, 128, sku("PremiumV2_LRS")), cost.Options{Region: "eastus"})
	if got := shown(e.PerMonth); got != "10.28" {
		t.Errorf("%s a month", got)
	}
}

// Once the two prices are known, I/Os above the base count: 25,000 of 30,000.
func TestBurstPriced(t *testing.T) {
	c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"prices.csv": "region,currency,sku,kind,unit,price,confidence,source,sourceDate\n" +
		"eastus,USD,Premium_LRS,BurstEnablement,1/Month,20.00,high,contract,2026-09-01\n" +
		"eastus,USD,Premium_LRS,BurstTransactions,10K,0.001,high,contract,2026-09-01\n"})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	d := describe(t, 1024, map[string]string{"skuName": "Premium_LRS", "enableBursting": "true"})
	e := cost.Monthly(c, d, cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(30000)), BusyHoursPercent: new(int64(10))}})
	// 135.17 + 20 + 25,000 x 3,600 x 73 / 10,000 x 0.001.
	if got := shown(e.PerMonth); got != "812.17" {
		t.Errorf("%s a month", got)
	}
	checkSums(t, e)
	large := cost.Monthly(c, d, cost.Options{Region: "eastus", Use: cost.Use{IOPS: new(int64(500)), BlockSizeBytes: 1 << 20}, Run: &cost.Run{AttachedSeconds: 60, IOs: new(int64(1))}})
	// 2,000 units a second are below 5,000, and 524.288 MB/s are 324.288 above 200, in units of 256 KiB:
	// 135.17 + 20 + 1,237.06 x 3,600 x 730 / 10,000 x 0.001.
	if got := shown(large.PerMonth); got != "480.27" {
		t.Errorf("%s a month for what bursts by throughput", got)
	}
	if large.Run != nil {
		t.Errorf("how much of the run was above the base is not known: %+v", large.Run)
	}
}

func TestUserFigure(t *testing.T) {
	c := catalogtest.Load(t)
	nfs, _ := disk.Describe(c, disk.Facts{Driver: "file.csi.azure.com", CapacityBytes: 1 << 40})
	figure := decimal.RequireFromString("12.50")
	e := cost.Monthly(c, nfs, cost.Options{Currency: "EUR", CostPerMonth: &figure, FleetSize: 2, SustainedIOPS: 5000})
	if shown(e.PerMonth) != "12.50" || shown(e.FleetPerMonth) != "25.00" || shown(e.PerThousandIOPS) != "2.50" || e.Currency != "EUR" {
		t.Errorf("%+v", e)
	}
	known := cost.Monthly(c, describe(t, 128, sku("Premium_LRS")), cost.Options{Region: "eastus", CostPerMonth: &figure})
	if shown(known.PerMonth) != "19.71" {
		t.Errorf("the catalog's price goes before the figure for drivers without one: %s", shown(known.PerMonth))
	}
}

func TestRun(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why              string
		sizeGiB          int64
		class            map[string]string
		options          cost.Options
		run              cost.Run
		prorated, atMost string
	}{
		{"three minutes of P30, which may bill as an hour", 1024, sku("Premium_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 180}, "0.0093", "0.19"},
		{"an hour to the second", 1024, sku("Premium_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 3600}, "0.19", "0.19"},
		{"a second more", 1024, sku("Premium_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 3601}, "0.19", "0.37"},
		{"no reservation for a disk that goes", 1024, sku("Premium_LRS"), cost.Options{Region: "eastus", Reservation: cost.OneYear}, cost.Run{AttachedSeconds: 3600}, "0.19", "0.19"},
		{"transactions of E10, up to the hour's cap of 147,200", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 3600, IOs: new(int64(10_000_000))}, "0.04", "0.04"},
		{"few transactions", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 3600, IOs: new(int64(10_000))}, "0.02", "0.02"},
		{"their number is not known", 128, sku("StandardSSD_LRS"), cost.Options{Region: "eastus"}, cost.Run{AttachedSeconds: 3600}, "", ""},
		{"no price", 128, sku("Premium_LRS"), cost.Options{Region: "germanynorth"}, cost.Run{AttachedSeconds: 3600}, "", ""},
	} {
		tc.options.Run = &tc.run
		e := cost.Monthly(c, describe(t, tc.sizeGiB, tc.class), tc.options)
		prorated, atMost := "", ""
		if e.Run != nil {
			prorated, atMost = cost.Format(e.Run.Prorated), cost.Format(e.Run.AtMost)
		}
		if prorated != tc.prorated || atMost != tc.atMost {
			t.Errorf("%s: %q, at most %q; want %q, %q", tc.why, prorated, atMost, tc.prorated, tc.atMost)
		}
	}
}

func TestNotIncluded(t *testing.T) {
	c := catalogtest.Load(t)
	ultra := cost.Monthly(c, describe(t, 4, map[string]string{"skuName": "UltraSSD_LRS", "cachingMode": "None"}), cost.Options{})
	shared := cost.Monthly(c, describe(t, 1024, map[string]string{"skuName": "Premium_LRS", "cachingMode": "None", "maxShares": "2"}), cost.Options{})
	common := []string{"the VM", "snapshots", "backup", "network traffic"}
	if diff := cmp.Diff(append(common, "the fee per vCPU while a VM is Ultra-enabled and has no Ultra disk attached"), ultra.NotIncluded); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(common, "further mounts of a shared disk"), shared.NotIncluded); diff != "" {
		t.Error(diff)
	}
}

func TestBreakEven(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why     string
		sizeGiB int64
		want    string
	}{
		{"10.11 USD buy 50,550,000 transactions", 128, "19"},
		{"E15 and P15", 256, "36"},
		{"E20 and P20", 512, "66"},
		{"E30 and P30", 1024, "111"},
		{"E40 and P40", 2048, "201"},
		{"E50 and P50", 4096, "358"},
	} {
		got, ok := cost.BreakEven(c, "eastus", "USD", tc.sizeGiB, catalog.LRS)
		if !ok || got.Round(0).String() != tc.want {
			t.Errorf("%s: %s, %t; want %s", tc.why, got, ok, tc.want)
		}
	}
	for why, at := range map[string]struct {
		region     string
		sizeGiB    int64
		redundancy catalog.Redundancy
	}{
		"transactions of ZRS have no known price":  {"eastus", 128, catalog.ZRS},
		"no price of E10 in West Europe":           {"westeurope", 128, catalog.LRS},
		"no tier of this size":                     {"eastus", 32768, catalog.LRS},
		"E1 at its cap is still cheaper than a P1": {"expensive", 4, catalog.LRS},
	} {
		over, _ := catalog.Overlay(c, map[string]string{"prices.csv": "region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate\n" +
			"expensive,USD,Premium_LRS,P1,Capacity,1/Month,90.00,high,s,2026\n" +
			"expensive,USD,StandardSSD_LRS,E1,Capacity,1/Month,0.30,high,s,2026\n" +
			"expensive,USD,StandardSSD_LRS,,Transactions,10K,0.002,high,s,2026\n"})
		if got, ok := cost.BreakEven(over, at.region, "USD", at.sizeGiB, at.redundancy); ok {
			t.Errorf("%s: %s", why, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, tc := range []struct{ why, amount, want string }{
		{"cents", "1234.565", "1234.57"},
		{"nothing is nothing", "0", "0.00"},
		{"a cent", "0.01", "0.01"},
		{"two digits of less", "0.000912", "0.00091"},
		{"a rounding up to a cent", "0.00999", "0.0100"},
	} {
		if got := cost.Format(decimal.RequireFromString(tc.amount)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
}
