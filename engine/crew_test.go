// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Two workers with different loads must give what one with both would.
func TestCollectMerges(t *testing.T) {
	latencies := []func(n int) time.Duration{
		func(n int) time.Duration { return time.Duration(100+n%50) * time.Microsecond },
		func(n int) time.Duration { return time.Duration(300+n%70) * time.Microsecond },
	}
	bounds := window{end: int64(time.Second), interval: int64(time.Second / 4)}
	c := &crew{assignment: assignment{workload: reads(4)}, window: bounds}
	single := histogram.New()
	for i, latency := range latencies {
		w, _ := scriptedWorker(t, reads(4), bounds, taking(latency))
		w.loop()
		single.Merge(w.reads)
		w.cpuBegin, w.cpuEnd = threadCPU{}, threadCPU{at: 1000, used: int64(200 * (i + 1)), delayed: int64(30 * (i + 1))}
		c.workers = append(c.workers, w)
	}
	m := c.collect(seen{cpu: report.CPU{UserNanos: 7}, ended: int64(time.Minute)})
	if diff := cmp.Diff(single.Latency(), m.streams[0].reads.Latency()); diff != "" {
		t.Error(diff)
	}
	sum := int64(0)
	for _, n := range m.series {
		sum += n
	}
	if len(m.series) != 4 || sum != single.Count() || m.window != int64(time.Second) {
		t.Errorf("window %d, series %v, want 4 points that sum to %d", m.window, m.series, single.Count())
	}
	if diff := cmp.Diff(report.CPU{UserNanos: 7, BusiestWorkerPercent: 40, RunDelayPercent: 6}, m.cpu); diff != "" {
		t.Error(diff)
	}
	if m.streams[0].writes != nil || m.streams[0].flushes != nil {
		t.Error("writes or flushes of a read workload")
	}
}

// An interrupted window has the length of what was measured, and its rate with it.
func TestCollectOfAnInterruptedWindow(t *testing.T) {
	bounds := window{end: int64(time.Minute), interval: int64(time.Second)}
	c := &crew{assignment: assignment{workload: reads(1)}, window: bounds}
	var w *worker
	w, _ = scriptedWorker(t, reads(1), bounds, taking(func(n int) time.Duration {
		if n == 2499 {
			w.shared.stop.Store(true)
		}
		return time.Millisecond
	}))
	w.loop()
	c.workers = []*worker{w}
	m := c.collect(seen{ended: w.clock()})
	if m.window != int64(2500*time.Millisecond) || len(m.series) != 3 {
		t.Errorf("window of %d ns with %d points, want 2.5 s and 3", m.window, len(m.series))
	}
	r := summary(reads(1), []*measured{m})
	// A completion just at the end of a second belongs to the next.
	if r.Total.IOPS != 1000 || math.Abs(r.Series.IOPS[2]-1000) > 2 {
		t.Errorf("%v IOPS, series %v; want 1,000", r.Total.IOPS, r.Series.IOPS)
	}
}

// A volume that hangs must not look like one of 0 IOPS.
func TestAWindowWithoutOperationsIsEmpty(t *testing.T) {
	w, _ := scriptedWorker(t, reads(1), whole(time.Second), steady(time.Minute))
	w.loop()
	c := &crew{assignment: assignment{workload: reads(1)}, workers: []*worker{w}, window: whole(time.Second)}
	if m := c.collect(seen{ended: w.clock()}); !m.empty() {
		t.Errorf("%+v", m)
	}
}

func TestPointInterval(t *testing.T) {
	tests := []struct {
		why            string
		duration, want time.Duration
	}{
		{"seconds show a step", time.Minute, time.Second},
		{"an hour still fits", time.Hour, time.Second},
		{"a second more does not", time.Hour + time.Second, 2 * time.Second},
		{"the longest window", workload.MaxDuration.Std(), 24 * time.Second},
		{"a short window is one point", 300 * time.Millisecond, 300 * time.Millisecond},
	}
	for _, tt := range tests {
		if got := pointInterval(tt.duration); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		why         string
		part, whole int64
		want        int32
	}{
		{"half a core", 1000, 2000, 50},
		{"the clocks of thread and wall differ a little", 1003, 1000, 100},
		{"a worker that never came to the window", 0, 0, 0},
		{"a counter that went back", -5, 1000, 0},
	}
	for _, tt := range tests {
		if got := percent(tt.part, tt.whole); got != tt.want {
			t.Errorf("%s: %d%%, want %d%%", tt.why, got, tt.want)
		}
	}
}

// Above 1% has to show as more than 1.
func TestLostPercent(t *testing.T) {
	tests := []struct {
		why         string
		part, whole int64
		want        int32
	}{
		{"nothing was lost", 0, 1000, 0},
		{"the least that can be", 1, 1000, 1},
		{"exactly one percent", 10, 1000, 1},
		{"a little above one percent", 11, 1000, 2},
		{"few ticks", 1, 90, 2},
		{"clocks that differ a little", 1003, 1000, 100},
		{"no time between two readings", 5, 0, 0},
		{"a counter that went back", -5, 1000, 0},
	}
	for _, tt := range tests {
		if got := lostPercent(tt.part, tt.whole); got != tt.want {
			t.Errorf("%s: %d%%, want %d%%", tt.why, got, tt.want)
		}
	}
}
