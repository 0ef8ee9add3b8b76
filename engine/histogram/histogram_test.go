// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logNormal resembles a disk's latencies: a body and a long tail, in nanoseconds.
func logNormal(r *rand.Rand) int64 {
	return int64(math.Exp(r.NormFloat64()*0.8 + math.Log(400_000)))
}

func record(samples []int64) *Histogram {
	h := New()
	for _, s := range samples {
		h.Record(s)
	}
	return h
}

func TestPercentilesAgainstSortedSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	samples := make([]int64, 200_000)
	for i := range samples {
		samples[i] = logNormal(r)
	}
	h := record(samples)
	slices.Sort(samples)
	for _, p := range []float64{50, 90, 95, 99, 99.9, 99.99} {
		rank := int(math.Round(p / 100 * float64(len(samples))))
		exact, got := samples[rank-1], h.Percentile(p)
		if got == nil {
			t.Fatalf("p%v is absent from %d samples", p, len(samples))
		}
		if e := math.Abs(float64(*got-exact)) / float64(exact); e > 0.001 {
			t.Errorf("p%v is %d, exactly %d: off by %.3f%%", p, *got, exact, 100*e)
		}
	}
}

func TestMomentsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	samples := make([]int64, 50_000)
	sum, least, most := 0.0, int64(math.MaxInt64), int64(0)
	for i := range samples {
		samples[i] = logNormal(r)
		sum += float64(samples[i])
		least, most = min(least, samples[i]), max(most, samples[i])
	}
	mean, squares := sum/float64(len(samples)), 0.0
	for _, s := range samples {
		squares += (float64(s) - mean) * (float64(s) - mean)
	}
	got := record(samples).Latency()
	if want := int64(math.Round(mean)); got.MeanNanos != want {
		t.Errorf("mean %d, want %d", got.MeanNanos, want)
	}
	if want := int64(math.Round(math.Sqrt(squares / float64(len(samples))))); got.StddevNanos != want {
		t.Errorf("standard deviation %d, want %d", got.StddevNanos, want)
	}
	if got.MinNanos != least || got.MaxNanos != most {
		t.Errorf("%d to %d, want %d to %d", got.MinNanos, got.MaxNanos, least, most)
	}
}

// In floating point n*sumsq - sum^2 is noise when latencies are long and close together.
func TestStddevOfLongCloseLatencies(t *testing.T) {
	h := New()
	const hour = int64(3_600_000_000_000)
	for range 1000 {
		h.Record(hour - 1)
		h.Record(hour + 1)
	}
	if got := h.Latency().StddevNanos; got != 1 {
		t.Errorf("standard deviation %d, want 1", got)
	}
}

func TestMergedEqualsSingle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	single, parts := New(), []*Histogram{New(), New(), New(), New()}
	for i := range 150_000 {
		v := logNormal(r)
		single.Record(v)
		parts[i*i%len(parts)].Record(v) // unequal parts
	}
	merged := New()
	for _, p := range parts {
		merged.Merge(p)
	}
	if diff := cmp.Diff(single.Latency(), merged.Latency()); diff != "" {
		t.Error(diff)
	}
	if single.Count() != merged.Count() {
		t.Errorf("%d samples, want %d", merged.Count(), single.Count())
	}
	if !single.buckets.Equals(merged.buckets) {
		t.Error("the buckets differ")
	}
}

func TestMergeOfNothing(t *testing.T) {
	h := record([]int64{5, 7})
	before := h.Latency()
	h.Merge(New())
	if diff := cmp.Diff(before, h.Latency()); diff != "" {
		t.Error(diff)
	}
}

// A percentile needs ten samples beyond it.
func TestPercentilesNeedSamples(t *testing.T) {
	for p, least := range map[float64]int{50: 20, 90: 100, 95: 200, 99: 1_000, 99.9: 10_000, 99.99: 100_000} {
		h := New()
		for range least - 1 {
			h.Record(1000)
		}
		if got := h.Percentile(p); got != nil {
			t.Errorf("p%v of %d samples is %d, want none", p, least-1, *got)
		}
		h.Record(1000)
		if got := h.Percentile(p); got == nil || *got != 1000 {
			t.Errorf("p%v of %d samples is %v, want 1000", p, least, got)
		}
	}
}

func TestEmpty(t *testing.T) {
	l := New().Latency()
	if l.MeanNanos != 0 || l.MinNanos != 0 || l.MaxNanos != 0 || l.P50Nanos != nil {
		t.Errorf("an empty histogram says %+v", l)
	}
}

func TestBeyondTheTrackable(t *testing.T) {
	h := New()
	for range 99 {
		h.Record(1000)
	}
	const stall = 3 * MaxTrackableNanos
	h.Record(stall)
	l := h.Latency()
	if l.MaxNanos != stall || h.Count() != 100 {
		t.Errorf("maximum %d of %d samples, want %d of 100", l.MaxNanos, h.Count(), stall)
	}
	if want := (99*1000 + stall) / 100; l.MeanNanos != want {
		t.Errorf("mean %d, want %d", l.MeanNanos, want)
	}
	for range 100 {
		h.Record(stall)
	}
	// Half of the samples: the percentiles must know of them, as far as the buckets reach.
	if p90 := h.Percentile(90); p90 == nil || *p90 < MaxTrackableNanos {
		t.Errorf("p90 is %v, want at least %d", p90, MaxTrackableNanos)
	}
}

// The bucket's upper end may lie above every sample, and then it is none.
func TestPercentileIsNeverAboveTheMaximum(t *testing.T) {
	h := New()
	const latency = 1_000_001
	for range 1000 {
		h.Record(latency)
	}
	if got := *h.Percentile(99); got != latency {
		t.Errorf("p99 %d, want %d", got, latency)
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := New()
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(v); v += 997 }); n != 0 {
		t.Errorf("%v allocations a sample", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	r := rand.New(rand.NewPCG(7, 8))
	var samples [4096]int64
	for i := range samples {
		samples[i] = logNormal(r)
	}
	for i := 0; b.Loop(); i++ {
		h.Record(samples[i&4095])
	}
}
