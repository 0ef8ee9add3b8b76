// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

func TestMeasurementsHoldTheReportBesideThePlan(t *testing.T) {
	p, err := Build(specOf(presetNamed("seqread")))
	if err != nil {
		t.Fatal(err)
	}
	total := report.NewFigures(3000, 3000<<20, 60e9, report.Latency{
		MeanNanos: 10, StddevNanos: 2, MinNanos: 1, MaxNanos: 99, P50Nanos: ptr.To[int64](9), P99Nanos: ptr.To[int64](50),
	})
	r := &report.Report{DirectIO: true, Workloads: []report.Workload{{
		Name: "seqread", FileSizeBytes: 1 << 30, WindowNanos: 60e9, Read: total, Total: total,
		Repetitions:    []report.Repetition{{WindowNanos: 29e9, IOPS: 49.6, P99Nanos: ptr.To[int64](50)}, {WindowNanos: 31e9, IOPS: 50.4, P99Nanos: ptr.To[int64](60)}},
		Series:         report.Series{IntervalNanos: 2e9, IOPS: []float64{49.5, 50.5}},
		Steady:         &report.Steady{State: true, VariationPercent: 3.14},
		Step:           &report.Step{AtSeconds: 30.6, BeforeIOPS: 3500.4, AfterIOPS: 499.6},
		Drained:        &report.Drained{Seconds: 1800.2, Step: &report.Step{AtSeconds: 1740, BeforeIOPS: 3500, AfterIOPS: 500}, IOPS: 500, BytesPerSecond: 5e8},
		ProbeMeanNanos: ptr.To[int64](4),
		Device:         &report.DeviceCounters{ReadOperations: 6000, WriteOperations: 30, ReadBytes: 3000 << 20, WriteBytes: 1 << 20, OtherOperations: 9, OtherBytes: 36864},
		CPU:            report.CPU{UserNanos: 1.5e9, SystemNanos: 2e9, BusiestWorkerPercent: 7, RunDelayPercent: 1, ThrottledPercent: 2, StealPercent: 3},
	}}}
	figures := v1alpha1.Figures{
		Operations: 3000, Bytes: 3000 << 20, IOPS: 50, ThroughputBytesPerSecond: 52428800,
		MeanNanos: 10, StddevNanos: 2, MinNanos: 1, MaxNanos: 99, P50Nanos: ptr.To[int64](9), P99Nanos: ptr.To[int64](50),
	}
	want := []v1alpha1.Measurement{{
		Name: "seqread", WindowNanos: 60e9, Read: &figures, Total: figures,
		Parameters: v1alpha1.Parameters{
			StreamParameters: v1alpha1.StreamParameters{
				Pattern: "Sequential", ReadPercent: ptr.To[int32](100), BlockSizeBytes: 1 << 20, Threads: 4, QueueDepth: 8,
				SequentialOffset: "Shared", Sync: "None",
			},
			FileSizeBytes: 1 << 30, Layout: "Written", DirectIO: "Required",
			WarmupSeconds: 3, DurationSeconds: 60, Seed: 1,
		},
		Repetitions: []v1alpha1.Repetition{{WindowNanos: 29e9, IOPS: 50, P99Nanos: ptr.To[int64](50)}, {WindowNanos: 31e9, IOPS: 50, P99Nanos: ptr.To[int64](60)}},
		Spread: &v1alpha1.Spread{
			MinIOPS: 50, MedianIOPS: 50, MaxIOPS: 50,
			MinP99Nanos: ptr.To[int64](50), MedianP99Nanos: ptr.To[int64](55), MaxP99Nanos: ptr.To[int64](60),
		},
		Series:         &v1alpha1.Series{IntervalMillis: 2000, IOPS: []int64{50, 51}},
		Steady:         &v1alpha1.Steady{State: "Steady", VariationPermille: 31},
		Step:           &v1alpha1.Step{AtSeconds: 31, BeforeIOPS: 3500, AfterIOPS: 500},
		ProbeMeanNanos: ptr.To[int64](4),
		Drained: &v1alpha1.Drained{
			Seconds: 1800, Step: &v1alpha1.Step{AtSeconds: 1740, BeforeIOPS: 3500, AfterIOPS: 500}, IOPS: 500, ThroughputBytesPerSecond: 5e8,
		},
		Device: &v1alpha1.DeviceCounters{
			ReadOperations: 6000, WriteOperations: 30, ReadBytes: 3000 << 20, WriteBytes: 1 << 20, OtherOperations: 9, OtherBytes: 36864, OperationsPermille: ptr.To[int64](2010),
		},
		CPU: &v1alpha1.CPU{UserMillis: 1500, SystemMillis: 2000, BusiestWorkerPercent: 7, RunDelayPercent: 1, ThrottledPercent: 2, StealPercent: 3},
	}}
	if diff := cmp.Diff(want, Measurements(p, r)); diff != "" {
		t.Errorf("measurements (-want +got):\n%s", diff)
	}
}

func TestMeasurementsOfSeveralStreamsHaveEachItsParameters(t *testing.T) {
	p, err := Build(specOf(presetNamed("sql")))
	if err != nil {
		t.Fatal(err)
	}
	f := report.NewFigures(6000, 6000<<13, 60e9, report.Latency{P99Nanos: ptr.To[int64](50)})
	r := &report.Report{DirectIO: true, Workloads: []report.Workload{{
		Name: "sql", FileSizeBytes: 20 << 30, WindowNanos: 60e9, Read: f, Write: f, Total: f, Repetitions: []report.Repetition{{}},
		Streams: []report.Stream{{Name: "data", Read: f, Write: f}, {Name: "log", Write: f}},
	}}}
	got := Measurements(p, r)[0]
	if diff := cmp.Diff(v1alpha1.StreamParameters{}, got.Parameters.StreamParameters); diff != "" {
		t.Errorf("the parameters of which stream (-want +got):\n%s", diff)
	}
	figures := &v1alpha1.Figures{Operations: 6000, Bytes: 6000 << 13, IOPS: 100, ThroughputBytesPerSecond: 819200, P99Nanos: ptr.To[int64](50)}
	want := []v1alpha1.StreamMeasurement{
		{
			Name: "data", Read: figures, Write: figures,
			Parameters: v1alpha1.StreamParameters{
				Pattern: "Random", ReadPercent: ptr.To[int32](70), BlockSizeBytes: 8 << 10, Threads: 4, QueueDepth: 32, RateLimitIOPS: 1500,
				Range:        &v1alpha1.ByteRange{StartBytes: 5 << 30, EndBytes: 20 << 30},
				Distribution: &v1alpha1.Distribution{Type: "Hotspot", IOPercent: ptr.To[int32](95), RangePercent: ptr.To[int32](5)},
				Sync:         "WriteThrough",
			},
		},
		{
			Name: "log", Write: figures,
			Parameters: v1alpha1.StreamParameters{
				Pattern: "Sequential", ReadPercent: ptr.To[int32](0), BlockSizeBytes: 32 << 10, Threads: 1, QueueDepth: 1, RateLimitIOPS: 300,
				SequentialOffset: "PerThread", Range: &v1alpha1.ByteRange{EndBytes: 5 << 30}, Sync: "WriteThrough",
			},
		},
	}
	if diff := cmp.Diff(want, got.Streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
}

func TestMeasurementsOfAJournal(t *testing.T) {
	p, err := Build(specOf(presetNamed("etcd")))
	if err != nil {
		t.Fatal(err)
	}
	write := report.NewFigures(10_000, 23_000_000, 20e9, report.Latency{})
	flush := report.NewFigures(10_000, 0, 20e9, report.Latency{P99Nanos: ptr.To[int64](9e6)})
	r := &report.Report{DirectIO: true, Workloads: []report.Workload{{
		Name: "etcd", FileSizeBytes: 22 << 20, WindowNanos: 20e9, Write: write, Total: write, Flush: flush, Repetitions: []report.Repetition{{}},
		Device: &report.DeviceCounters{WriteOperations: 30_000},
	}}}
	got := Measurements(p, r)[0]
	want := v1alpha1.Parameters{
		StreamParameters: v1alpha1.StreamParameters{
			Pattern: "Sequential", ReadPercent: ptr.To[int32](0), BlockSizeBytes: 2300, Threads: 1, QueueDepth: 1,
			SequentialOffset: "PerThread", Sync: "Flush", FlushEvery: 1,
		},
		FileSizeBytes: 22 << 20, Layout: "Preallocated", DirectIO: "Disabled", Operations: 10_000, DurationSeconds: 300, Seed: 1,
	}
	if diff := cmp.Diff(want, got.Parameters); diff != "" {
		t.Errorf("O_DIRECT is proven on the volume, and not used here (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&v1alpha1.Figures{Operations: 10_000, IOPS: 500, P99Nanos: ptr.To[int64](9e6)}, got.Flush); diff != "" {
		t.Errorf("flushes (-want +got):\n%s", diff)
	}
	if got.Device.OperationsPermille != nil {
		t.Errorf("a ratio of what the page cache gathers: %d", *got.Device.OperationsPermille)
	}
}

func TestTheOnlyRepetitionIsTheTotal(t *testing.T) {
	p, err := Build(specOf(presetNamed("randread")))
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Report{Workloads: []report.Workload{{
		Name: "randread", WindowNanos: 60e9, Total: report.NewFigures(60*42586, 1, 60e9, report.Latency{}),
		Repetitions: []report.Repetition{{IOPS: 42599}},
	}}}
	if got := Measurements(p, r)[0].Repetitions[0].IOPS; got != 42586 {
		t.Errorf("the repetition has %d IOPS beside a total of 42586", got)
	}
}

func TestSpread(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		iops   []int64
		p99    []*int64
		want   *v1alpha1.Spread
	}{
		"one":  {"a spread of one is no spread", []int64{5}, []*int64{nil}, nil},
		"odd":  {"the middle one", []int64{9, 1, 5}, []*int64{nil, nil, nil}, &v1alpha1.Spread{MinIOPS: 1, MedianIOPS: 5, MaxIOPS: 9}},
		"even": {"the mean of the middle two", []int64{1, 4, 8, 9}, make([]*int64, 4), &v1alpha1.Spread{MinIOPS: 1, MedianIOPS: 6, MaxIOPS: 9}},
		"a percentile missing": {
			"a spread over some of the repetitions would look narrower than it is",
			[]int64{1, 2}, []*int64{ptr.To[int64](3), nil}, &v1alpha1.Spread{MinIOPS: 1, MedianIOPS: 1, MaxIOPS: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var reps []v1alpha1.Repetition
			for i, v := range c.iops {
				reps = append(reps, v1alpha1.Repetition{IOPS: v, P99Nanos: c.p99[i]})
			}
			if diff := cmp.Diff(c.want, spread(reps)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func measurement1(name string, iops, bytesPerSecond, mean int64, p99 *int64) v1alpha1.Measurement {
	return v1alpha1.Measurement{Name: name, Total: v1alpha1.Figures{
		Operations: 900, IOPS: iops, ThroughputBytesPerSecond: bytesPerSecond, MeanNanos: mean, P99Nanos: p99,
	}}
}

// flushing is a measurement of a journal whose writes take 12 µs.
func flushing(name string, flushes int64, p99 *int64) v1alpha1.Measurement {
	m := measurement1(name, 400, 1_000_000, 1, ptr.To[int64](12_000))
	m.Flush = &v1alpha1.Figures{Operations: flushes, P99Nanos: p99}
	return m
}

func TestSummarize(t *testing.T) {
	if got := Summarize(nil); got != nil {
		t.Errorf("a summary of nothing: %+v", got)
	}
	got := Summarize([]v1alpha1.Measurement{
		measurement1("vdi", 7844, 32_129_024, 1, ptr.To[int64](1_234_567)),
		measurement1("slow", 500, 2_048_000, 1, nil),
		flushing("etcd", 10_000, ptr.To[int64](3_210_000)), // who flushes waits for the flush, and etcd's figure is its percentile
		flushing("redis-aof", 60, nil),                     // too few flushes: the writes' own, unmarked
	})
	want := &v1alpha1.Summary{
		Workloads: "vdi / slow / etcd / redis-aof", IOPS: "7,844 / 500 / 400 / 400", Throughput: "32.1 / 2.05 / 1.00 / 1.00",
		P99: "1.23 ms / - / 3.21 ms (flush) / 12.0 µs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestFiguresForPeople(t *testing.T) {
	for _, c := range []struct{ reason, got, want string }{
		{"no group", grouped(0), "0"},
		{"no group", grouped(999), "999"},
		{"one group", grouped(1000), "1,000"},
		{"two groups", grouped(12345678), "12,345,678"},
		{"small", megabytes(40_960), "0.04"},
		{"rounds up into the next form", megabytes(9_999_000), "10.0"},
		{"rounds up into the next form", megabytes(99_960_000), "100"},
		{"a fast disk", megabytes(1_234_567_890), "1,235"},
		{"below a microsecond", Latency(850), "850 ns"},
		{"a local disk", Latency(87_300), "87.3 µs"},
		{"1,000 µs is 1 ms", Latency(999_600), "1.00 ms"},
		{"a throttled disk", Latency(123_456_789), "123 ms"},
		{"a stalled disk", Latency(2_500_000_000), "2.50 s"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, c.got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	ms := []v1alpha1.Measurement{
		measurement1("quick-read", 500, 2_048_000, 2_000_000, ptr.To[int64](3_000_000)),
		measurement1("quick-write", 400, 1_638_400, 2_500_000, nil),
		measurement1("vdi", 7844, 32_000_000, 1_000_000, ptr.To[int64](9_000_000)),
	}
	for name, c := range map[string]struct {
		reason  string
		targets *v1alpha1.Targets
		want    *Judgment
	}{
		"none": {"nobody asked", nil, nil},
		"all":  {"without a workload, each is judged", &v1alpha1.Targets{MinIOPS: ptr.To[int64](400)}, &Judgment{Met, "every target is met"}},
		"at the target": {
			"a target that is just reached is met",
			&v1alpha1.Targets{Workload: ptr.To("vdi"), MinIOPS: ptr.To[int64](7844), MaxMeanMicros: ptr.To[int64](1000), MaxP99Micros: ptr.To[int64](9000), MinThroughputBytesPerSecond: ptr.To[int64](32_000_000)},
			&Judgment{Met, "every target is met"},
		},
		"an entry of two": {
			"quick measures reads and writes apart, and both are asked",
			&v1alpha1.Targets{Workload: ptr.To("quick"), MinIOPS: ptr.To[int64](450)},
			&Judgment{Missed, "quick-write: 400 IOPS is below minIOPS 450"},
		},
		"every kind": {
			"each miss is named",
			&v1alpha1.Targets{Workload: ptr.To("vdi"), MinIOPS: ptr.To[int64](8000), MinThroughputBytesPerSecond: ptr.To[int64](33_000_000), MaxMeanMicros: ptr.To[int64](999), MaxP99Micros: ptr.To[int64](8999)},
			&Judgment{Missed, "vdi: 7,844 IOPS is below minIOPS 8,000; vdi: 32,000,000 bytes/s is below minThroughputBytesPerSecond 33,000,000; " +
				"vdi: a mean latency of 1.00 ms is above maxMeanMicros 999; vdi: a 99th percentile of 9.00 ms is above maxP99Micros 8,999"},
		},
		"too few samples": {
			"an absent percentile is neither met nor missed",
			&v1alpha1.Targets{Workload: ptr.To("quick"), MaxP99Micros: ptr.To[int64](5000)},
			&Judgment{NotJudged, "quick-write: 900 operations are too few for a 99th percentile: measure longer"},
		},
		"missed and too few": {
			"a miss is a miss whatever else is open",
			&v1alpha1.Targets{Workload: ptr.To("quick"), MaxP99Micros: ptr.To[int64](2999)},
			&Judgment{Missed, "quick-read: a 99th percentile of 3.00 ms is above maxP99Micros 2,999; " +
				"quick-write: 900 operations are too few for a 99th percentile: measure longer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(presetNamed("quick"), presetNamed("vdi"))
			spec.Targets = c.targets
			if diff := cmp.Diff(c.want, Judge(spec, ms)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if got := Judge(spec, nil); got != nil {
				t.Errorf("a judgment without figures: %+v", got)
			}
		})
	}
}

func TestJudgeFlushes(t *testing.T) {
	within, above := flushing("within", 10_000, ptr.To[int64](10_000_000)), flushing("above", 10_000, ptr.To[int64](10_100_000))
	few, none := flushing("few", 60, nil), measurement1("none", 500, 1, 1, ptr.To[int64](1))
	for name, c := range map[string]struct {
		reason string
		ms     []v1alpha1.Measurement
		want   Judgment
	}{
		"within":          {"etcd asks for 10 ms", []v1alpha1.Measurement{within}, Judgment{Met, "every target is met"}},
		"beside reads":    {"what does not flush cannot miss it", []v1alpha1.Measurement{none, within}, Judgment{Met, "every target is met"}},
		"above":           {"the flush's percentile, not the write's", []v1alpha1.Measurement{above}, Judgment{Missed, "above: a 99th percentile of the flushes of 10.1 ms is above maxFlushP99Micros 10,000"}},
		"few":             {"sixty samples have no 99th percentile", []v1alpha1.Measurement{few}, Judgment{NotJudged, "few: 60 flushes are too few for a 99th percentile: measure longer"}},
		"nothing flushes": {"a target that nothing is held to must not look met", []v1alpha1.Measurement{none}, Judgment{NotJudged, "maxFlushP99Micros: no workload in question flushes, use sync Flush or a preset such as etcd"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(presetNamed("etcd"))
			spec.Targets = &v1alpha1.Targets{MaxFlushP99Micros: ptr.To[int64](10_000)}
			if diff := cmp.Diff(&c.want, Judge(spec, c.ms)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	spec := specOf(presetNamed("randread"))
	p, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Report{Workloads: []report.Workload{{
		Name: "randread", FileSizeBytes: workload.DefaultFileSizeBytes / 2, CPU: report.CPU{BusiestWorkerPercent: 97},
	}}}
	got := strings.Join(Warnings(spec, p, r), "\n")
	for _, want := range []string{
		"randread: the file is 2Gi instead of 4Gi",
		"the load generator was the limit: a worker used 97% of a core; use more threads",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("warnings %q lack %q", got, want)
		}
	}
	if got := SpecWarnings(spec, p); got != nil {
		t.Errorf("warnings without a CPU limit: %q", got)
	}

	spec.Pod = &v1alpha1.PodOptions{Resources: &v1alpha1.Resources{
		Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}
	if got := strings.Join(SpecWarnings(spec, p), ""); !strings.Contains(got, "limits.cpu is 100m and a workload has 4 threads") {
		t.Errorf("the throttle is not foreseen: %q", got)
	}
	if got := strings.Join(Warnings(spec, p, r), ""); !strings.Contains(got, "raise or remove pod.resources.limits.cpu (100m)") {
		t.Errorf("the throttle is not blamed: %q", got)
	}
	r.Workloads[0] = report.Workload{FileSizeBytes: workload.DefaultFileSizeBytes, CPU: report.CPU{BusiestWorkerPercent: 89}}
	if got := Warnings(spec, p, r); got != nil {
		t.Errorf("warnings about an ordinary run: %q", got)
	}
}
