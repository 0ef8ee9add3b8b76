// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
)

// recorded are items in the API's schema, traps included. The region has no prices in the embedded
// catalog; those here are its prices of East US, so that known costs hold.
func recorded(t testing.TB) []map[string]any {
	t.Helper()
	content, err := os.ReadFile("testdata/northeurope.json")
	if err != nil {
		t.Fatal(err)
	}
	var items []map[string]any
	if err := json.Unmarshal(content, &items); err != nil {
		t.Fatal(err)
	}
	return items
}

// api is a server that answers as the Retail Prices API does: filters compare with case, priceType is
// the type of an item, and pages are linked with the port.
type api struct {
	*httptest.Server
	items []map[string]any
	// perPage items; 100 unless set.
	perPage int
	// sloppy ignores every filter but that of the product, as a filter that the API does not understand
	// would be.
	sloppy bool

	mu sync.Mutex
	// faults answer the next requests in place of the API, one each.
	faults []http.HandlerFunc
	asked  []url.Values
}

func newAPI(t testing.TB) *api {
	t.Helper()
	a := &api{items: recorded(t), perPage: 100}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *api) fault(f ...http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, f...)
}

func (a *api) requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked = append(a.asked, r.URL.Query())
	var fault http.HandlerFunc
	if len(a.faults) > 0 {
		fault, a.faults = a.faults[0], a.faults[1:]
	}
	a.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	a.answer(w, r)
}

var (
	clause = regexp.MustCompile(`(\w+) eq '([^']*)'`)
	fields = map[string]string{"priceType": "type"}
)

func (a *api) answer(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	wanted := map[string]string{"currencyCode": query.Get("currencyCode")}
	if len(wanted["currencyCode"]) == 5 {
		wanted["currencyCode"] = wanted["currencyCode"][1:4]
	}
	for _, m := range clause.FindAllStringSubmatch(query.Get("$filter"), -1) {
		name := m[1]
		if field, ok := fields[name]; ok {
			name = field
		}
		wanted[name] = m[2]
	}
	if a.sloppy {
		wanted = map[string]string{"productName": wanted["productName"]}
	}
	found := []map[string]any{}
	for _, i := range a.items {
		matches := true
		for name, value := range wanted {
			matches = matches && i[name] == value
		}
		if matches {
			found = append(found, i)
		}
	}
	skip, _ := strconv.Atoi(query.Get("$skip"))
	rest := found[min(skip, len(found)):]
	items := rest[:min(a.perPage, len(rest))]
	var next any
	if len(rest) > a.perPage {
		query.Set("$skip", strconv.Itoa(skip+a.perPage))
		next = "http://" + r.Host + r.URL.Path + "?" + query.Encode()
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	body, err := json.Marshal(map[string]any{
		"BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail",
		"Items": items, "NextPageLink": next, "Count": len(items),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(body)
}

// hasty is a clock on which pauses take no time, and are written down.
type hasty struct {
	clock.RealClock
	now time.Time

	mu     sync.Mutex
	pauses []time.Duration
}

var today = time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC)

func newHasty() *hasty { return &hasty{now: today} }

func (h *hasty) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hasty) step(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *hasty) NewTimer(d time.Duration) clock.Timer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pauses = append(h.pauses, d)
	return h.RealClock.NewTimer(0)
}

func (h *hasty) paused() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.pauses)
}

func newTestClient(t testing.TB, address string, at clock.Clock) *Client {
	t.Helper()
	c, err := NewClient(address, catalogtest.Load(t), at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
