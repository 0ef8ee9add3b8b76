// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/series"
	"github.com/diskbench/diskbench/engine/workload"
)

// drainRules bound how long a load goes on until burst credits are used up.
type drainRules struct {
	// after is how long the level after the fall is measured.
	after time.Duration
	// longest is the most that window and drain take together.
	longest time.Duration
}

var defaultDrain = drainRules{after: 120 * time.Second, longest: workload.LongestDrain.Std()}

// drain watches the level of a load from the start of the window, once a second.
type drain struct {
	rules    drainRules
	window   time.Duration
	detector series.Detector
	// ticks are all since the start of the window.
	ticks []tick
	step  *report.Step
}

func newDrain(rules drainRules, w window, start tick) *drain {
	return &drain{rules: rules, window: time.Duration(w.end - w.begin), ticks: []tick{start}}
}

// begin is called at the start of the window.
func (d *drain) begin(t tick) {
	d.ticks = append(d.ticks[:0], t)
	d.detector = series.Detector{}
	d.step = nil
}

// done takes what has completed so far, and says whether the load may end.
func (d *drain) done(t tick) bool {
	last := d.ticks[len(d.ticks)-1]
	if t.elapsed-last.elapsed < progressInterval/2 {
		return false // the window began just before this tick, and so short a time says nothing of the level
	}
	d.ticks = append(d.ticks, t)
	if s, found := d.detector.Add(perSecond(last, t)); found && d.step == nil {
		d.step = &report.Step{AtSeconds: d.at(s.Index).Seconds(), BeforeIOPS: s.Before, AfterIOPS: s.After}
	}
	gone := t.elapsed - d.ticks[0].elapsed
	switch {
	case gone < d.window:
		return false
	case d.step != nil:
		return gone.Seconds() >= d.step.AtSeconds+d.rules.after.Seconds()
	default:
		return gone >= d.rules.longest
	}
}

// at is the time of the sample's start, from the start of the window.
func (d *drain) at(index int) time.Duration { return d.ticks[index].elapsed - d.ticks[0].elapsed }

func perSecond(from, to tick) float64 {
	return report.PerSecond(to.operations-from.operations, int64(to.elapsed-from.elapsed))
}

// result is the last level: what came after the fall, or without one the end.
func (d *drain) result() *report.Drained {
	last := d.ticks[len(d.ticks)-1]
	from := 0
	for i, t := range d.ticks {
		if d.step != nil && d.at(i).Seconds() <= d.step.AtSeconds || d.step == nil && last.elapsed-t.elapsed > d.rules.after {
			from = i
		}
	}
	if d.step != nil && from+1 < len(d.ticks)-1 {
		from++ // the second of the fall has both levels in it
	}
	first := d.ticks[from]
	return &report.Drained{
		Seconds:        max(0, (last.elapsed - d.ticks[0].elapsed - d.window).Seconds()),
		Step:           d.step,
		IOPS:           perSecond(first, last),
		BytesPerSecond: report.PerSecond(last.bytes-first.bytes, int64(last.elapsed-first.elapsed)),
	}
}
