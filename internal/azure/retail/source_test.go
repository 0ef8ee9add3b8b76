// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
)

// running is a source that refreshes until the test ends.
func running(t *testing.T, server *api, at *hasty) *Source {
	t.Helper()
	s := NewSource(newTestClient(t, server.URL, at), catalogtest.Load(t), at)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// eventually asks until the status is as wanted.
func eventually(t *testing.T, s *Source, region string, wanted func(Status) bool) (catalog.Catalog, Status) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		c, got := s.Prices(region, "USD")
		if wanted(got) {
			return c, got
		}
		if time.Now().After(deadline) {
			t.Fatalf("the status stays %+v", got)
		}
	}
}

func fromAPI(s Status) bool { return s.From == RetailAPI }

func p10(c catalog.Catalog, region string) string {
	p, ok := c.Price(region, "USD", catalog.PremiumLRS, "P10", catalog.Capacity)
	if !ok {
		return "unknown"
	}
	return p.Amount.String()
}

// The life of prices: none, from the API, too old and refreshed, and kept through a failure.
func TestSource(t *testing.T) {
	server, at := newAPI(t), newHasty()
	s := running(t, server, at)
	c, got := s.Prices("North Europe", "")
	if got.From != Catalog || got.Err != nil || p10(c, "northeurope") != "unknown" {
		t.Fatalf("before the first answer: %+v, %s", got, p10(c, "northeurope"))
	}
	c, got = eventually(t, s, "northeurope", fromAPI)
	if p10(c, "northeurope") != "19.71" || got.Age != 0 || got.Err != nil {
		t.Errorf("%+v, %s", got, p10(c, "northeurope"))
	}
	if p10(c, "westeurope") != "21.68" {
		t.Error("the embedded prices of another region are gone")
	}
	asked := server.requests()
	at.step(23 * time.Hour)
	if _, got = s.Prices("northeurope", "USD"); got.Age != 23*time.Hour {
		t.Errorf("age %v", got.Age)
	}
	server.fault(status(http.StatusBadRequest))
	at.step(2 * time.Hour)
	c, got = eventually(t, s, "northeurope", func(s Status) bool { return s.Err != nil })
	if got.From != RetailAPI || got.Age != 25*time.Hour || !strings.Contains(got.Err.Error(), "400 Bad Request") || p10(c, "northeurope") != "19.71" {
		t.Errorf("old prices are better than none: %+v, %s", got, p10(c, "northeurope"))
	}
	if server.requests() != asked+1 {
		t.Errorf("%d requests: fresh prices, and those that just failed, are not asked for", server.requests()-asked)
	}
	at.step(14 * time.Minute)
	_, _ = s.Prices("northeurope", "USD")
	time.Sleep(100 * time.Millisecond) // A request would take less.
	if server.requests() != asked+1 {
		t.Error("the API was asked again before the pause ended")
	}
	at.step(2 * time.Minute)
	_, got = eventually(t, s, "northeurope", func(s Status) bool { return s.Err == nil })
	if got.Age != 0 || server.requests() != asked+1+len(queries) {
		t.Errorf("after the pause: %+v, %d requests", got, server.requests()-asked)
	}
}

// A server that does not answer holds up nobody.
func TestNeverBlocks(t *testing.T) {
	server, at := newAPI(t), newHasty()
	released := make(chan struct{})
	server.fault(func(w http.ResponseWriter, r *http.Request) {
		<-released
		server.answer(w, r)
	})
	s := running(t, server, at)
	_, _ = s.Prices("northeurope", "USD")
	eventually(t, s, "northeurope", func(Status) bool { return server.requests() > 0 })
	begin := time.Now()
	_, got := s.Prices("northeurope", "USD")
	if took := time.Since(begin); took > time.Second || got.From != Catalog {
		t.Errorf("%+v after %v", got, took)
	}
	close(released)
	eventually(t, s, "northeurope", fromAPI)
}

// An API that asks for more patience than the usual gets it.
func TestPauseAfterFailure(t *testing.T) {
	for _, tc := range []struct {
		why   string
		after time.Duration
		want  time.Duration
	}{
		{"nothing asked for", 0, 15 * time.Minute},
		{"less than the usual", time.Minute, 15 * time.Minute},
		{"an hour", time.Hour, time.Hour},
		{"a month: prices get no older than a day", 30 * 24 * time.Hour, 24 * time.Hour},
	} {
		if got := pause(fmt.Errorf("wrapped: %w", &busyError{after: tc.after})); got != tc.want {
			t.Errorf("%s: %v", tc.why, got)
		}
	}
}

func TestSourceRefuses(t *testing.T) {
	s := NewSource(newTestClient(t, newAPI(t).URL, newHasty()), catalogtest.Load(t), newHasty())
	if c, got := s.Prices("eastus'", "USD"); got.From != Catalog || got.Err == nil || p10(c, "eastus") != "19.71" {
		t.Errorf("%+v", got)
	}
}

// Names that users write fill neither the memory, nor the places of others.
func TestPlacesMakeRoom(t *testing.T) {
	server, at := newAPI(t), newHasty()
	s := running(t, server, at)
	eventually(t, s, "northeurope", fromAPI)
	for i := range 2 * maxPlaces {
		at.step(time.Second)
		s.Prices(fmt.Sprintf("typo%d", i), "USD")
		if _, got := s.Prices("northeurope", "USD"); got.From != RetailAPI {
			t.Fatalf("after %d other names: %+v", i+1, got)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.places) != maxPlaces {
		t.Errorf("%d places are kept", len(s.places))
	}
}

// What the catalog refuses is left out by name, and the rest counts.
func TestImplausiblePrice(t *testing.T) {
	server, at := newAPI(t), newHasty()
	for _, i := range server.items {
		if i["meterName"] == "P20 LRS Disk" {
			i["retailPrice"] = 1e15
		}
	}
	c, got := eventually(t, running(t, server, at), "northeurope", fromAPI)
	if len(got.Odd) != 1 || !strings.Contains(got.Odd[0], "1000000000000000") || p10(c, "northeurope") != "19.71" {
		t.Errorf("%+v", got)
	}
	if _, ok := c.Price("northeurope", "USD", catalog.PremiumLRS, "P20", catalog.Capacity); ok {
		t.Error("the price counts")
	}
}
