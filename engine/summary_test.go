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

// threeSeconds is a repetition of that length, in points of two.
func threeSeconds(reads, writes *histogram.Histogram, series ...int64) *measured {
	return &measured{
		window: int64(3 * time.Second), interval: int64(2 * time.Second), series: series,
		streams: []streamFigures{{reads: reads, writes: writes}},
	}
}

func TestSummary(t *testing.T) {
	w := reads(1)
	w.Streams[0].ReadPercent = 50
	first := threeSeconds(filled(1000, 100), filled(500, 300), 1000, 500)
	first.cpu = report.CPU{UserNanos: 1, SystemNanos: 2, BusiestWorkerPercent: 30, StealPercent: 1}
	first.device = &report.DeviceCounters{ReadOperations: 1000, WriteOperations: 501, OtherOperations: 7, OtherBytes: 70}
	second := threeSeconds(filled(1400, 100), filled(100, 300), 1200, 300)
	second.cpu = report.CPU{UserNanos: 10, SystemNanos: 20, BusiestWorkerPercent: 20, ThrottledPercent: 3}
	second.device = &report.DeviceCounters{ReadOperations: 1400, WriteOperations: 100}
	got := summary(w, []*measured{first, second})

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
	wantRepetitions := []report.Repetition{
		{WindowNanos: 3e9, IOPS: 500, P99Nanos: nanos(300)}, {WindowNanos: 3e9, IOPS: 500, P99Nanos: nanos(300)},
	}
	if diff := cmp.Diff(wantRepetitions, got.Repetitions); diff != "" {
		t.Error(diff)
	}
	// The second interval of each repetition covers one second of its two.
	if diff := cmp.Diff([]float64{500, 500, 600, 300}, got.Series.IOPS); diff != "" {
		t.Error(diff)
	}
	wantCPU := report.CPU{UserNanos: 11, SystemNanos: 22, BusiestWorkerPercent: 30, ThrottledPercent: 3, StealPercent: 1}
	if diff := cmp.Diff(wantCPU, got.CPU); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&report.DeviceCounters{ReadOperations: 2400, WriteOperations: 601, OtherOperations: 7, OtherBytes: 70}, got.Device); diff != "" {
		t.Error(diff)
	}
	if got.Streams != nil {
		t.Errorf("a single stream is listed: %+v", got.Streams)
	}
}

// Streams with blocks of their own sizes move their own bytes, and flushes none.
func TestSummaryOfStreams(t *testing.T) {
	w := reads(1)
	data, log := w.Streams[0], w.Streams[0]
	data.Name, log.Name, log.BlockSizeBytes, log.ReadPercent = "data", "log", 4*blockSize, 0
	w.Streams = []workload.Stream{data, log}
	m := threeSeconds(nil, nil, 900, 300)
	m.streams = []streamFigures{{reads: filled(900, 100)}, {writes: filled(300, 500), flushes: filled(30, 9000)}}
	got := summary(w, []*measured{m})
	if got.Total.Operations != 1200 || got.Total.Bytes != 900*blockSize+300*4*blockSize {
		t.Errorf("total %+v", got.Total)
	}
	if got.Flush == nil || got.Flush.Operations != 30 || got.Flush.Bytes != 0 || got.Flush.IOPS != 10 {
		t.Errorf("flushes %+v", got.Flush)
	}
	if len(got.Streams) != 2 || got.Streams[0].Name != "data" || got.Streams[0].Write != nil || got.Streams[0].Flush != nil ||
		got.Streams[1].Write.Bytes != 300*4*blockSize || got.Streams[1].Flush.Latency.MeanNanos != 9000 {
		t.Errorf("streams %+v", got.Streams)
	}
}

// A direction that the workload does not have is absent, not zero.
func TestSummaryOfOneDirection(t *testing.T) {
	got := summary(reads(1), []*measured{threeSeconds(filled(10, 100), nil, 10, 0)})
	if got.Write != nil || got.Flush != nil {
		t.Errorf("writes or flushes of a read workload: %+v, %+v", got.Write, got.Flush)
	}
	if diff := cmp.Diff(got.Read, got.Total); diff != "" {
		t.Error(diff)
	}
	if got.Repetitions[0].P99Nanos != nil {
		t.Error("a p99 of ten samples")
	}
}

func TestShownSeriesFits(t *testing.T) {
	const second = int64(time.Second)
	long := func(seconds int64) *measured {
		return &measured{window: seconds * second, interval: second, series: slicesOf(seconds, 100)}
	}
	tests := []struct {
		why         string
		repetitions []*measured
		interval    time.Duration
		points      int
	}{
		{"a minute fits in seconds", []*measured{long(60)}, time.Second, 60},
		{"a second more does not", []*measured{long(61)}, 2 * time.Second, 31},
		{"repetitions share the points and are not mixed", []*measured{long(7), long(7), long(7), long(7), long(7), long(7), long(7), long(7), long(7), long(7)},
			2 * time.Second, 40},
	}
	for _, tt := range tests {
		s := shown(tt.repetitions)
		if s.IntervalNanos != int64(tt.interval) || len(s.IOPS) != tt.points {
			t.Errorf("%s: %d points of %d ns, want %d of %s", tt.why, len(s.IOPS), s.IntervalNanos, tt.points, tt.interval)
		}
		for _, v := range s.IOPS {
			if v != 100 {
				t.Errorf("%s: %v IOPS in a steady run of 100", tt.why, v)
			}
		}
	}
}

// A number of operations ends repetitions at different times; the message needs a point for each
// interval that they began.
func TestUnevenRepetitionsTravel(t *testing.T) {
	w := reads(1)
	one, two, three := threeSeconds(filled(1, 100), nil, 1), threeSeconds(filled(2, 100), nil, 2, 0), threeSeconds(filled(3, 100), nil, 2, 1)
	one.window, two.window = 1, 2e9+1
	r := &report.Report{Workloads: []report.Workload{summary(w, []*measured{one, two, three})}}
	message, err := report.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.Decode(message, []workload.Workload{w})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Workloads[0].Series.IOPS); n != 5 {
		t.Errorf("%d points, want 1 + 2 + 2", n)
	}
}

func slicesOf(n, value int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = value
	}
	return out
}

// A cap that falls from 3,500 to 500 IOPS is told with both levels and its second, and is no steady state.
func TestAStepIsReported(t *testing.T) {
	m := &measured{window: int64(60 * time.Second), interval: int64(time.Second), streams: []streamFigures{{reads: filled(1000, 100)}}}
	m.series = append(slicesOf(31, 3500), slicesOf(29, 500)...)
	r := summary(reads(1), []*measured{m})
	if r.Step == nil || r.Step.AtSeconds != 31 || math.Round(r.Step.BeforeIOPS) != 3500 || math.Round(r.Step.AfterIOPS) != 500 {
		t.Errorf("step %+v, want 3,500 to 500 at second 31", r.Step)
	}
	if r.Steady == nil || r.Steady.State {
		t.Errorf("steady %+v", r.Steady)
	}
	m.series = slicesOf(60, 500)
	if r = summary(reads(1), []*measured{m}); r.Step != nil || r.Steady == nil || !r.Steady.State || r.Steady.VariationPercent != 0 {
		t.Errorf("of a level: step %+v, steady %+v", r.Step, r.Steady)
	}
}

func filled(n int, latency int64) *histogram.Histogram {
	h := histogram.New()
	for range n {
		h.Record(latency)
	}
	return h
}
