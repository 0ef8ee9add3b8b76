// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
)

// Two workers with different loads must give what one with both would.
func TestCollectMerges(t *testing.T) {
	latencies := []func(n int) time.Duration{
		func(n int) time.Duration { return time.Duration(100+n%50) * time.Microsecond },
		func(n int) time.Duration { return time.Duration(300+n%70) * time.Microsecond },
	}
	c := &crew{workload: reads(4)}
	single := histogram.New()
	for i, latency := range latencies {
		w, _ := scriptedWorker(t, reads(4), window{end: int64(time.Second), interval: int64(time.Second / 4)}, taking(latency))
		w.loop()
		single.Merge(w.reads)
		w.cpuBegin, w.cpuEnd = threadCPU{at: 0, used: 0}, threadCPU{at: 1000, used: int64(200 * (i + 1))}
		c.workers = append(c.workers, w)
	}
	m, err := c.collect(report.CPU{UserNanos: 7})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(single.Latency(), m.reads.Latency()); diff != "" {
		t.Error(diff)
	}
	sum := int64(0)
	for _, n := range m.series {
		sum += n
	}
	if len(m.series) != 4 || sum != single.Count() {
		t.Errorf("series %v, want 4 points that sum to %d", m.series, single.Count())
	}
	if diff := cmp.Diff(report.CPU{UserNanos: 7, BusiestWorkerPercent: 40}, m.cpu); diff != "" {
		t.Error(diff)
	}
	if m.writes != nil {
		t.Error("writes of a read workload")
	}
}

// A volume that hangs must not look like one of 0 IOPS.
func TestNoOperationsIsAFailure(t *testing.T) {
	w, _ := scriptedWorker(t, reads(1), whole(time.Second), steady(time.Minute))
	w.loop()
	c := &crew{workload: reads(1), workers: []*worker{w}}
	_, err := c.collect(report.CPU{})
	if f := AsFailure(err); f.Reason != report.ReasonNoOperations || !strings.Contains(f.Message, "no I/O completed in the window") {
		t.Errorf("%v", err)
	}
}

func TestBusyPercent(t *testing.T) {
	tests := []struct {
		why        string
		begin, end threadCPU
		want       int32
	}{
		{"half a core", threadCPU{1000, 100}, threadCPU{3000, 1100}, 50},
		{"the clocks of thread and wall differ a little", threadCPU{0, 0}, threadCPU{1000, 1003}, 100},
		{"a worker that never came to the window", threadCPU{}, threadCPU{}, 0},
	}
	for _, tt := range tests {
		if got := busyPercent(tt.begin, tt.end); got != tt.want {
			t.Errorf("%s: %d%%, want %d%%", tt.why, got, tt.want)
		}
	}
}
