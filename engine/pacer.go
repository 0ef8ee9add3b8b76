// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

// pacer says when the I/Os of a worker with a rate are due. A worker that falls behind does not
// shift what is due later: the delay is the disk's and has to show (no coordinated omission).
type pacer struct {
	// interval is the time between two I/Os in nanoseconds; 0 without a rate.
	interval float64
	// first is when the first is due, issued how many were.
	first  float64
	issued int64
}

// newPacer spreads the threads of a stream evenly over the interval.
func newPacer(rateIOPS int64, thread, threads int) pacer {
	if rateIOPS == 0 {
		return pacer{}
	}
	interval := 1e9 / float64(rateIOPS)
	return pacer{interval: interval, first: interval * float64(thread) / float64(threads)}
}

func (p *pacer) active() bool { return p.interval > 0 }

// start sets the time from which on I/Os are due.
func (p *pacer) start(now int64) { p.first += float64(now) }

// due is when the next I/O is to be issued.
func (p *pacer) due() int64 { return int64(p.first + float64(p.issued)*p.interval) }
