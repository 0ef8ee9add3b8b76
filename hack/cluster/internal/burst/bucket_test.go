// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package burst

import (
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	b := newBucket(500, 30_000)
	seconds := func(n int, ios uint64) (bursts bool) {
		for range n {
			bursts = b.spend(ios, time.Second)
		}
		return bursts
	}
	for _, step := range []struct {
		why     string
		seconds int
		ios     uint64
		want    bool
	}{
		{"credits do not gather beyond the full bucket", 100, 0, true},
		{"nine seconds of 3,000 beyond the base", 9, 3500, true},
		{"the tenth takes the last", 1, 3500, false},
		{"the base gathers none", 20, 500, false},
		{"a late I/O is no burst", 1, 499, false},
		{"two percent are", 2, 200, true},
		{"and are spent again", 1, 3500, false},
	} {
		if got := seconds(step.seconds, step.ios); got != step.want {
			t.Errorf("%s: bursts %v with %.0f left", step.why, got, b.left)
		}
	}
}
