// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

const (
	// maxAge from which prices are read again (judgment: list prices change a few times a year, those in
	// other currencies monthly).
	maxAge = 24 * time.Hour
	// pauseAfterFailure, until the API is asked again for the same prices (judgment).
	pauseAfterFailure = 15 * time.Minute
	// fetchTimeout of all pages of a region, retries included.
	fetchTimeout = 5 * time.Minute
	// maxPlaces are the regions and currencies that are kept (judgment: more than a fleet has), so that
	// names that users write cannot fill the memory. The one that was asked for longest ago makes room.
	maxPlaces = 64
)

// From is where prices are from.
type From string

// The origins.
const (
	// RetailAPI: from the API, where it has the meter; the rest from the catalog.
	RetailAPI From = "RetailAPI"
	// Catalog: as embedded, with what a user laid over it.
	Catalog From = "Catalog"
)

// Status tells where prices are from, and why not from elsewhere.
type Status struct {
	From From
	// Age since the API was read; 0 for the catalog, whose prices have dates of their own.
	Age time.Duration
	// Err is why the last attempt at the API failed; nil after a success, and before the first attempt.
	Err error
	// Odd says which prices of the API were left out, and why.
	Odd []string
	// Due is when the API is asked again, if somebody wants to know then; 0 while that is going on.
	Due time.Duration
}

// Source gives prices at once, and refreshes them in the background while Start runs. It is safe for
// concurrent use.
type Source struct {
	client *Client
	base   catalog.Catalog
	clock  clock.Clock
	// wake has a token while there may be something to do.
	wake chan struct{}

	mu     sync.Mutex
	places map[string]*known
}

// known is what is known of a place.
type known struct {
	region, currency string
	catalog          catalog.Catalog
	// fetched is zero before the first success.
	fetched time.Time
	odd     []string
	err     error
	// asked is when somebody last wanted to know.
	asked time.Time
	// due is when the API is to be asked; zero for at once.
	due time.Time
	// wanted since the last attempt: what nobody asks for is not refreshed.
	wanted bool
}

// NewSource makes a source over a catalog.
func NewSource(client *Client, base catalog.Catalog, at clock.Clock) *Source {
	return &Source{client: client, base: base, clock: at, wake: make(chan struct{}, 1), places: map[string]*known{}}
}

// Prices are those of a region and a currency (empty for USD) as far as they are known now. It never
// waits: prices that are missing or too old are fetched in the background, for the next call.
func (s *Source) Prices(region, currency string) (catalog.Catalog, Status) {
	region, currency, err := normalize(region, currency)
	if err != nil {
		return s.base, Status{From: Catalog, Err: err, Due: maxAge}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	k := s.place(region, currency)
	k.asked = now
	due := max(0, k.due.Sub(now))
	if due == 0 {
		k.wanted = true
		s.nudge()
	}
	if k.fetched.IsZero() {
		return s.base, Status{From: Catalog, Err: k.err, Due: due}
	}
	return k.catalog, Status{From: RetailAPI, Age: now.Sub(k.fetched), Err: k.err, Odd: slices.Clone(k.odd), Due: due}
}

func (s *Source) place(region, currency string) *known {
	key := region + " " + currency
	if k, ok := s.places[key]; ok {
		return k
	}
	if len(s.places) >= maxPlaces {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.places)), func(a, b string) int { return s.places[a].asked.Compare(s.places[b].asked) })
		delete(s.places, oldest)
	}
	k := &known{region: region, currency: currency}
	s.places[key] = k
	return k
}

func (s *Source) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Start refreshes what is asked for, one place at a time, until the context ends. It is a Runnable of
// controller-runtime.
func (s *Source) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		}
		for ctx.Err() == nil {
			k, ok := s.next()
			if !ok {
				break
			}
			s.refresh(ctx, k)
		}
	}
}

// next is a wanted place, the longest due first.
func (s *Source) next() (*known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *known
	for _, k := range s.places {
		if k.wanted && (first == nil || k.due.Before(first.due)) {
			first = k
		}
	}
	if first == nil {
		return nil, false
	}
	first.wanted = false
	return first, true
}

func (s *Source) refresh(ctx context.Context, k *known) {
	limited, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	fetched, err := s.client.Fetch(limited, k.region, k.currency)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		c, bad := catalog.Overlay(s.base, map[string]string{pricesFile: File(fetched.Prices)})
		for _, b := range bad {
			fetched.Odd = append(fetched.Odd, b.Error())
		}
		k.catalog, k.fetched, k.odd, k.due = c, fetched.At, fetched.Odd, fetched.At.Add(maxAge)
	} else {
		k.due = s.clock.Now().Add(pause(err))
	}
	// What was cut off by our own end says nothing about the API.
	if ctx.Err() == nil {
		k.err = err
	}
	// Who asked meanwhile, has it now.
	k.wanted = false
}

// pause after a failure: longer when the API asks for it.
func pause(err error) time.Duration {
	if busy, ok := errors.AsType[*busyError](err); ok {
		return max(pauseAfterFailure, min(busy.after, maxAge))
	}
	return pauseAfterFailure
}
