// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"slices"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// A filesystem of the test's own answers after a delay that it was told, and records when each I/O came
// and how long it took. With one outstanding I/O the time from one arrival to the next is what the engine has
// to report, but for the microseconds that it takes to issue the next: this truth holds the way to the
// filesystem and back, and whatever disturbs the machine. With several outstanding, the way is measured
// apart, without delay.

const (
	fileSize = 16 << 20

	// latencyTolerance is for the engine's histogram, below 1%, and the time between two I/Os.
	latencyTolerance = 0.02

	// tailTolerance is for the few that something held up, on the way there in one figure and on the way
	// back in the other.
	tailTolerance = 0.05
)

// filesystemFigures measures a workload on the filesystem and gives also what the filesystem itself saw
// of the workload's operations: those of the workers' files, in the order of their arrival.
func filesystemFigures(t *testing.T, m *mount, w workload.Workload, kind workload.IOEngine, b Behavior) (report.Workload, []Operation) {
	t.Helper()
	p := directoryPlan(m.dir, w)
	p.IOEngine = kind
	m.set(t, Behavior{})
	prepare(t, p)
	m.set(t, b)
	m.operations(t)
	r := measure(t, order{Plan: p}).Workloads[0]
	return r, workersOperations(m.operations(t), w.Threads())
}

// workersOperations leaves out the engine's trials, which come before the workers open their files.
func workersOperations(all []Operation, workers int) []Operation {
	last := uint64(0)
	for _, o := range all {
		last = max(last, o.Handle)
	}
	out := slices.DeleteFunc(all, func(o Operation) bool { return o.Handle+uint64(workers) <= last })
	slices.SortStableFunc(out, func(a, b Operation) int { return int(a.Arrived - b.Arrived) })
	return out
}

// took are the times that the filesystem took for each operation.
func took(log []Operation) []time.Duration {
	out := make([]time.Duration, len(log))
	for i, o := range log {
		out[i] = o.Took
	}
	return out
}

// cycles are the times from each arrival to the next.
func cycles(log []Operation) []time.Duration {
	out := make([]time.Duration, 0, len(log))
	for i := 1; i < len(log); i++ {
		out = append(out, log[i].Arrived-log[i-1].Arrived)
	}
	return out
}

// quantile is in milliseconds.
func quantile(times []time.Duration, q float64) float64 {
	times = slices.Sorted(slices.Values(times))
	return milliseconds(times[min(int(q*float64(len(times))), len(times)-1)])
}

func mean(times []time.Duration) float64 {
	sum := time.Duration(0)
	for _, d := range times {
		sum += d
	}
	return milliseconds(sum) / float64(len(times))
}

func milliseconds[N time.Duration | int64](nanos N) float64 { return float64(nanos) / 1e6 }

// inWindow leaves out the warm-up, which begins with the first operation.
func inWindow(log []Operation, w workload.Workload) []Operation {
	begin := log[0].Arrived + w.Warmup.Std()
	return slices.DeleteFunc(log, func(o Operation) bool { return o.Arrived < begin || o.Arrived > begin+w.Duration.Std() })
}

func TestKnownLatency(t *testing.T) {
	one, five := time.Millisecond, 5*time.Millisecond
	tests := []struct {
		name, why string
		delays    []time.Duration
		ioEngine  workload.IOEngine
	}{
		{"1 ms", "a disk's own latency, as the preset latency asks for it", []time.Duration{one}, workload.LibAIO},
		{"1 ms, sync", "the plain system calls", []time.Duration{one}, workload.Sync},
		{"1 ms, io_uring", "the other interface", []time.Duration{one}, workload.IOUring},
		{"90% 1 ms, 10% 5 ms", "two humps: p50 is in the first and p95 in the second",
			append(slices.Repeat([]time.Duration{one}, 9), five), workload.LibAIO},
	}
	m := newMount(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Log(tt.why)
			judge(t, func() ([]finding, report.CPU) {
				w := load("known", block4Ki, 1, fileSize, 4)
				r, log := filesystemFigures(t, m, w, tt.ioEngine, Behavior{Delays: tt.delays})
				truth, l := cycles(inWindow(log, w)), r.Total.Latency
				if least := tt.delays[0]; l.MinNanos < int64(least) {
					t.Errorf("the least latency is %d ns, below the delay of %s", l.MinNanos, least)
				}
				return []finding{
					{what: "mean", got: milliseconds(l.MeanNanos), want: mean(truth), tolerance: latencyTolerance, unit: "ms"},
					{what: "p50", got: milliseconds(*l.P50Nanos), want: quantile(truth, 0.50), tolerance: latencyTolerance, unit: "ms"},
					{what: "p95", got: milliseconds(*l.P95Nanos), want: quantile(truth, 0.95), tolerance: latencyTolerance, unit: "ms"},
					{what: "p99", got: milliseconds(*l.P99Nanos), want: quantile(truth, 0.99), tolerance: tailTolerance, unit: "ms"},
				}, r.CPU
			})
		})
	}
}

// Eight outstanding I/Os of 20 ms each: the mean follows from how many came, and the percentiles from the
// time that each took, with the way to the filesystem and back.
func TestKnownLatencyInParallel(t *testing.T) {
	const depth = 8
	m := newMount(t)
	for _, kind := range []workload.IOEngine{workload.LibAIO, workload.IOUring} {
		t.Run(string(kind), func(t *testing.T) {
			judge(t, func() ([]finding, report.CPU) {
				// At the same rate, so that the processors are as awake.
				w := load("bare", block4Ki, 1, fileSize, 2)
				w.Streams[0].RateLimitIOPS = 400
				bare, log := filesystemFigures(t, m, w, kind, Behavior{})
				way := milliseconds(*bare.Total.Latency.P50Nanos) - quantile(took(log), 0.50)
				w = load("known", block4Ki, depth, fileSize, 4)
				r, log := filesystemFigures(t, m, w, kind, Behavior{Delays: []time.Duration{20 * time.Millisecond}})
				log = inWindow(log, w)
				truth, l := took(log), r.Total.Latency
				t.Logf("the way to the filesystem and back takes %.3f ms", way)
				return []finding{
					{what: "mean", got: milliseconds(l.MeanNanos), want: depth * mean(cycles(log)), tolerance: 0.01, unit: "ms"},
					{what: "p50", got: milliseconds(*l.P50Nanos), want: quantile(truth, 0.50) + way, tolerance: 0.02, unit: "ms"},
					{what: "p95", got: milliseconds(*l.P95Nanos), want: quantile(truth, 0.95) + way, tolerance: 0.05, unit: "ms"},
				}, r.CPU
			})
		})
	}
}

// A disk that answers nothing for a second, under a rate of 100 a second, keeps 100 I/Os waiting, each
// from when it was due: between 0 and 1 s, evenly. A closed loop issues nothing meanwhile, and sees
// one slow I/O: that is why a service's latency is measured under a rate.
func TestStall(t *testing.T) {
	const rate, seconds = 100, 10
	stall := Behavior{Delays: []time.Duration{time.Millisecond}, StallAfter: 4 * time.Second, Stall: time.Second}
	m := newMount(t)
	t.Run("under a rate", func(t *testing.T) {
		judge(t, func() ([]finding, report.CPU) {
			w := load("stall", block4Ki, 1, fileSize, seconds)
			w.Streams[0].RateLimitIOPS = rate
			r, log := filesystemFigures(t, m, w, workload.LibAIO, stall)
			l, busy := r.Total.Latency, catchingUp(t, log)
			// After the stall the waiting ones are issued back to back, every busy ms, and one more is due
			// every 10 ms. The k-th after the first waits 1,000 - k (10 - busy) ms: so the k-th largest of
			// the 1,000 latencies is known.
			largest := func(k float64) float64 { return 1000 - k*(1000/rate-busy) }
			waiting := 1000 / (1000/rate - busy)
			return []finding{
				{what: "operations", got: float64(r.Total.Operations), want: rate * seconds, tolerance: 0.005, unit: "I/Os"},
				{what: "max", got: milliseconds(l.MaxNanos), want: 1000, tolerance: 0.02, unit: "ms"},
				{what: "p99", got: milliseconds(*l.P99Nanos), want: largest(10), tolerance: 0.02, unit: "ms"},
				{what: "p95", got: milliseconds(*l.P95Nanos), want: largest(50), tolerance: 0.03, unit: "ms"},
				{what: "mean", got: milliseconds(l.MeanNanos), want: (waiting*500 + (rate*seconds-waiting)*busy) / (rate * seconds),
					tolerance: 0.03, unit: "ms"},
			}, r.CPU
		})
	})
	t.Run("in a closed loop", func(t *testing.T) {
		judge(t, func() ([]finding, report.CPU) {
			r, log := filesystemFigures(t, m, load("stall", block4Ki, 1, fileSize, seconds), workload.LibAIO, stall)
			l, slow := r.Total.Latency, 0
			for _, o := range log {
				if o.Took > 500*time.Millisecond {
					slow++
				}
			}
			return []finding{
				{what: "slow I/Os that the filesystem saw", got: float64(slow), want: 1, unit: "I/Os"},
				{what: "max", got: milliseconds(l.MaxNanos), want: 1000, tolerance: 0.02, unit: "ms"},
				{what: "p99", got: milliseconds(*l.P99Nanos), want: quantile(cycles(log), 0.99), tolerance: 0.05, unit: "ms"},
			}, r.CPU
		})
	})
}

// catchingUp is the time in milliseconds from one arrival to the next after the stall, while some wait.
func catchingUp(t *testing.T, log []Operation) float64 {
	t.Helper()
	i := slices.IndexFunc(log, func(o Operation) bool { return o.Took > 500*time.Millisecond })
	const most = 80
	if i < 0 || len(log) < i+1+most {
		t.Fatalf("no stall among %d operations, or none after it", len(log))
	}
	return mean(cycles(log[i+1 : i+1+most]))
}
