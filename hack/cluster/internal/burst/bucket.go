// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package burst takes the burst away from volumes whose credits are used up, and gives it back.
package burst

import "time"

// refilled is the part of a bucket from which on an empty one bursts again. With less, a load at its base
// would burst for a moment whenever one of its I/Os came late.
const refilled = 0.02

// bucket of burst credits, in I/Os: what goes beyond the base spends them, what stays below gathers them.
type bucket struct {
	base, full, left float64
	empty            bool
}

func newBucket(base, full uint64) *bucket {
	return &bucket{base: float64(base), full: float64(full), left: float64(full)}
}

// spend accounts for some time, and tells whether the volume may burst from then on.
func (b *bucket) spend(ios uint64, elapsed time.Duration) (bursts bool) {
	b.left = max(0, min(b.full, b.left+b.base*elapsed.Seconds()-float64(ios)))
	switch {
	case b.left == 0:
		b.empty = true
	case b.left >= refilled*b.full:
		b.empty = false
	}
	return !b.empty
}
