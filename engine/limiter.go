// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// limiter lets one call through in each interval.
type limiter struct {
	mu       sync.Mutex
	interval time.Duration
	last     time.Time
}

func newLimiter(interval time.Duration) *limiter {
	return &limiter{interval: interval, last: time.Now()}
}

// do calls f, one call at a time, if the interval has passed or the call is the last.
func (l *limiter) do(last bool, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); last || now.Sub(l.last) >= l.interval {
		l.last = now
		f()
	}
}
