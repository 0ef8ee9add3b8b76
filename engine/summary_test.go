// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

func TestSeriesInterval(t *testing.T) {
	tests := []struct {
		why         string
		duration    time.Duration
		repetitions int
		want        time.Duration
	}{
		{"a minute fits in seconds", time.Minute, 1, time.Second},
		{"a second more does not", 61 * time.Second, 1, 2 * time.Second},
		{"repetitions share the points", time.Minute, 6, 6 * time.Second},
		{"a cut last interval is a point too", 7 * time.Second, 10, 2 * time.Second},
		{"a short window is one point", 300 * time.Millisecond, 10, 300 * time.Millisecond},
		{"the longest window", 24 * time.Hour, 10, 4 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got := seriesInterval(tt.duration, tt.repetitions)
			if got != tt.want {
				t.Errorf("interval %s, want %s", got, tt.want)
			}
			if n := pointsOf(tt.duration, got) * tt.repetitions; n > report.MaxSeriesPoints {
				t.Errorf("%d points", n)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	w := reads(1)
	w.Streams[0].ReadPercent, w.Duration = 50, workload.Seconds(3)
	first := &measured{reads: filled(1000, 100), writes: filled(500, 300), series: []int64{1000, 500},
		cpu: report.CPU{UserNanos: 1, SystemNanos: 2, BusiestWorkerPercent: 30}}
	second := &measured{reads: filled(1400, 100), writes: filled(100, 300), series: []int64{1200, 300},
		cpu: report.CPU{UserNanos: 10, SystemNanos: 20, BusiestWorkerPercent: 20}}
	got := summary(w, 2*time.Second, []*measured{first, second})

	if got.WindowNanos != 6e9 {
		t.Errorf("window %d ns, want 6 s", got.WindowNanos)
	}
	if got.Read.Operations != 2400 || got.Write.Operations != 600 || got.Total.Operations != 3000 {
		t.Errorf("operations %d + %d = %d, want 2400 + 600 = 3000", got.Read.Operations, got.Write.Operations, got.Total.Operations)
	}
	if got.Total.IOPS != 500 || got.Total.BytesPerSecond != 500*blockSize {
		t.Errorf("rates %v and %v, want 500 and %d", got.Total.IOPS, got.Total.BytesPerSecond, 500*blockSize)
	}
	if got.Total.Latency.MeanNanos != 140 || *got.Total.Latency.P50Nanos != 100 {
		t.Errorf("total latency %+v, want mean 140, p50 100", got.Total.Latency)
	}
	wantRepetitions := []report.Repetition{{IOPS: 500, P99Nanos: nanos(300)}, {IOPS: 500, P99Nanos: nanos(300)}}
	if diff := cmp.Diff(wantRepetitions, got.Repetitions); diff != "" {
		t.Error(diff)
	}
	// The second interval of each repetition covers one second of its two.
	if diff := cmp.Diff([]float64{500, 500, 600, 300}, got.Series.IOPS); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(report.CPU{UserNanos: 11, SystemNanos: 22, BusiestWorkerPercent: 30}, got.CPU); diff != "" {
		t.Error(diff)
	}
}

// A direction that the workload does not have is absent, not zero.
func TestSummaryOfOneDirection(t *testing.T) {
	w := reads(1)
	w.Duration = workload.Seconds(1)
	got := summary(w, time.Second, []*measured{{reads: filled(10, 100), series: []int64{10}}})
	if got.Write != nil {
		t.Errorf("writes of a read workload: %+v", got.Write)
	}
	if diff := cmp.Diff(got.Read, got.Total); diff != "" {
		t.Error(diff)
	}
	if got.Repetitions[0].P99Nanos != nil {
		t.Error("a p99 of ten samples")
	}
}

func filled(n int, latency int64) *histogram.Histogram {
	h := histogram.New()
	for range n {
		h.Record(latency)
	}
	return h
}
