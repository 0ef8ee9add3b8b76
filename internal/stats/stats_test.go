// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/stats"
)

func TestMedianInterval(t *testing.T) {
	tests := []struct {
		why     string
		samples []float64
		want    stats.Interval
	}{
		{"two, the fewest that bound anything", []float64{2, 1}, stats.Interval{Median: 1.5, Low: 1, High: 2, Confidence: 0.5}},
		{"three", []float64{3, 1, 2}, stats.Interval{Median: 2, Low: 1, High: 3, Confidence: 0.75}},
		{"four", []float64{4, 1, 3, 2}, stats.Interval{Median: 2.5, Low: 1, High: 4, Confidence: 0.875}},
		{"five", []float64{5, 1, 4, 2, 3}, stats.Interval{Median: 3, Low: 1, High: 5, Confidence: 0.9375}},
		{"six, the fewest for 95%", []float64{6, 1, 5, 2, 4, 3}, stats.Interval{Median: 3.5, Low: 1, High: 6, Confidence: 0.96875}},
		{"a disk at its cap", []float64{500, 500, 500, 500}, stats.Interval{Median: 500, Low: 500, High: 500, Confidence: 0.875}},
		{"samples as large as they get", []float64{math.MaxFloat64, math.MaxFloat64},
			stats.Interval{Median: math.MaxFloat64, Low: math.MaxFloat64, High: math.MaxFloat64, Confidence: 0.5}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before := slices.Clone(tt.samples)
			got, ok := stats.MedianInterval(tt.samples)
			if diff := cmp.Diff(tt.want, got); !ok || diff != "" {
				t.Errorf("%t (-want +got):\n%s", ok, diff)
			}
			if !slices.Equal(tt.samples, before) {
				t.Errorf("the samples are now in the order %v", tt.samples)
			}
		})
	}
}

func TestMedianIntervalOfNoFigures(t *testing.T) {
	tests := []struct {
		why     string
		samples []float64
	}{
		{"nothing", nil},
		{"one: any distribution could be behind it", []float64{500}},
		{"not a number", []float64{1, 2, math.NaN()}},
		{"infinite", []float64{1, 2, math.Inf(1)}},
		{"negative", []float64{1, 2, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got, ok := stats.MedianInterval(tt.samples); ok || got != (stats.Interval{}) {
				t.Errorf("MedianInterval(%v) = %+v, %t; want nothing", tt.samples, got, ok)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	few := func(message string) []stats.Warning {
		return []stats.Warning{{Code: stats.TooFewSamples, Message: message}}
	}
	invalid := []stats.Warning{{
		Code:    stats.InvalidSamples,
		Message: "A side has no samples, or one that is negative or not finite: measure it again.",
	}}
	six := []float64{100, 101, 102, 103, 104, 105}
	tests := []struct {
		why  string
		a, b []float64
		want stats.Comparison
	}{
		{"the same samples", six, six, stats.Comparison{PValue: 1, RatioOfMedians: 1}},
		{"six and six apart: 2 of the 924 ways to deal them out", six, []float64{110, 111, 112, 113, 114, 115},
			stats.Comparison{PValue: 2.0 / 924, RatioOfMedians: 112.5 / 102.5, Different: true, Relevant: true}},
		{"apart, but by less than what matters", six, []float64{106, 106.1, 106.2, 106.3, 106.4, 106.5},
			stats.Comparison{PValue: 2.0 / 924, RatioOfMedians: 106.25 / 102.5, Different: true}},
		{"far apart in the median, but chance", []float64{50, 100, 150, 200}, []float64{60, 140, 190, 210},
			stats.Comparison{PValue: 48.0 / 70, RatioOfMedians: 165.0 / 125, Relevant: true}},
		{"down counts as up does", []float64{110, 111, 112, 113}, []float64{100, 101, 102, 103},
			stats.Comparison{PValue: 2.0 / 70, RatioOfMedians: 101.5 / 111.5, Different: true, Relevant: true}},
		{"exactly the threshold", []float64{100, 100, 100, 100}, []float64{105, 105, 105, 105},
			stats.Comparison{PValue: 2.0 / 70, RatioOfMedians: 1.05, Different: true, Relevant: true}},
		{"two disks at one cap: nothing but ties", []float64{500, 500, 500, 500}, []float64{500, 500, 500, 500},
			stats.Comparison{PValue: 1, RatioOfMedians: 1}},
		{"three and three cannot differ, however far apart", []float64{1, 2, 3}, []float64{101, 102, 103},
			stats.Comparison{PValue: 2.0 / 20, RatioOfMedians: 51, Relevant: true,
				Warnings: few("3 and 3 repetitions cannot show a difference at 5% significance in one comparison: measure at least 4 of each.")}},
		{"sides of unequal length: three and five can", []float64{1, 2, 3}, []float64{4, 5, 6, 7, 8},
			stats.Comparison{PValue: 2.0 / 56, RatioOfMedians: 3, Different: true, Relevant: true}},
		{"one and thirty-eight cannot", []float64{1}, slices.Repeat([]float64{2}, 38),
			stats.Comparison{PValue: 2.0 / 39, RatioOfMedians: 2, Relevant: true,
				Warnings: few("1 and 38 repetitions cannot show a difference at 5% significance in one comparison: measure at least 4 of each.")}},
		{"from nothing: there is no ratio", []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1},
			stats.Comparison{PValue: 2.0 / 70, Different: true, Relevant: true}},
		{"to nothing", []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0},
			stats.Comparison{PValue: 2.0 / 70, Different: true, Relevant: true}},
		{"nothing on both sides", []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}, stats.Comparison{PValue: 1}},
		{"a ratio beyond all numbers", slices.Repeat([]float64{math.SmallestNonzeroFloat64}, 4), slices.Repeat([]float64{math.MaxFloat64}, 4),
			stats.Comparison{PValue: 2.0 / 70, Different: true, Relevant: true}},
		{"a side without samples", six, nil, stats.Comparison{PValue: 1, Warnings: invalid}},
		{"a sample that is no number", six, []float64{1, math.NaN()}, stats.Comparison{PValue: 1, Warnings: invalid}},
		{"an infinite sample", []float64{math.Inf(1), 1}, six, stats.Comparison{PValue: 1, Warnings: invalid}},
		{"a negative sample", []float64{-1, 1}, six, stats.Comparison{PValue: 1, Warnings: invalid}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got := stats.Compare(tt.a, tt.b)
			if diff := cmp.Diff(tt.want, got, approximate); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var approximate = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a)) })

// Several pairs share what is significant: what one pair may call different, three may not.
func TestCompareAll(t *testing.T) {
	near, far := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}
	got := stats.CompareAll([]stats.Pair{{near, far}, {near, near}, {far, near}})
	few := []stats.Warning{{
		Code:    stats.TooFewSamples,
		Message: "4 and 4 repetitions cannot show a difference at 5% significance in 3 comparisons: measure at least 5 of each.",
	}}
	want := []stats.Comparison{
		{PValue: 6.0 / 70, RatioOfMedians: 6.5 / 2.5, Relevant: true, Warnings: few},
		{PValue: 1, RatioOfMedians: 1, Warnings: few},
		{PValue: 6.0 / 70, RatioOfMedians: 2.5 / 6.5, Relevant: true, Warnings: few},
	}
	if diff := cmp.Diff(want, got, approximate); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := stats.CompareAll(nil); len(got) != 0 {
		t.Errorf("no pairs are compared as %v", got)
	}
}

func TestHolm(t *testing.T) {
	tests := []struct {
		why     string
		p, want []float64
	}{
		{"nothing", nil, []float64{}},
		{"one alone stays", []float64{0.04}, []float64{0.04}},
		{"the smallest by all, the next by one less", []float64{0.01, 0.02, 0.04}, []float64{0.03, 0.04, 0.04}},
		{"in their order", []float64{0.04, 0.01, 0.02}, []float64{0.04, 0.03, 0.04}},
		{"none smaller than one before it", []float64{0.01, 0.011, 0.9}, []float64{0.03, 0.03, 0.9}},
		{"none above 1", []float64{0.6, 0.7}, []float64{1, 1}},
		{"the same ones share a result", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{"the example of statistics' textbooks", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"what is no probability counts as 1", []float64{math.NaN(), -0.1, 1.1, 0.01}, []float64{1, 1, 1, 0.04}},
		{"0 stays", []float64{0, 0}, []float64{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before := slices.Clone(tt.p)
			if diff := cmp.Diff(tt.want, stats.Holm(tt.p), approximate); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !slices.EqualFunc(tt.p, before, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				t.Errorf("the probabilities are now %v", tt.p)
			}
		})
	}
}

// Against the definition: of all ways to deal the samples out to the two sides, twice the share with
// as few wins or fewer, ties counting half.
func TestProbabilityIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		all := make([]float64, n+m)
		for i := range all {
			all[i] = float64(r.IntN(1 + r.IntN(12))) // from all the same to hardly any tie
		}
		got, want := stats.Compare(all[:n], all[n:]).PValue, enumerate(all, n)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("p of %v and %v is %v, want %v", all[:n], all[n:], got, want)
		}
	}
}

func enumerate(all []float64, n int) float64 {
	wins := func(first uint) (w float64) {
		for i, x := range all {
			for j, y := range all {
				if first>>i&1 == 1 && first>>j&1 == 0 {
					w += (1 + float64(cmpFloat(x, y))) / 2
				}
			}
		}
		return w
	}
	observed := wins(1<<n - 1)
	below, above, ways := 0, 0, 0
	for first := range uint(1) << len(all) {
		if bits.OnesCount(first) != n {
			continue
		}
		ways++
		if w := wins(first); w <= observed {
			below++
		}
		if w := wins(first); w >= observed {
			above++
		}
	}
	// The tail on the side of the samples.
	middle := float64(n*(len(all)-n)) / 2
	tail := below
	switch {
	case observed > middle:
		tail = above
	case observed == middle:
		return 1
	}
	return min(1, 2*float64(tail)/float64(ways))
}

func cmpFloat(a, b float64) int {
	switch {
	case a > b:
		return 1
	case a < b:
		return -1
	}
	return 0
}

// Which side is named first, in what unit, and in what order the repetitions ran decides nothing.
func TestCompareSymmetries(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	draw := func() []float64 {
		samples := make([]float64, 1+r.IntN(10))
		for i := range samples {
			samples[i] = math.Round(100 * (1 + 0.05*r.NormFloat64()))
		}
		return samples
	}
	for range 300 {
		a, b := draw(), draw()
		c, swapped := stats.Compare(a, b), stats.Compare(b, a)
		if math.Abs(c.PValue-swapped.PValue) > 1e-12 || c.Different != swapped.Different || c.Relevant != swapped.Relevant ||
			math.Abs(c.RatioOfMedians*swapped.RatioOfMedians-1) > 1e-12 {
			t.Errorf("%v and %v: %+v, and the other way %+v", a, b, c, swapped)
		}
		scaled := func(samples []float64) []float64 {
			out := slices.Clone(samples)
			slices.Reverse(out)
			for i := range out {
				out[i] *= 0x1p20
			}
			return out
		}
		if diff := cmp.Diff(c, stats.Compare(scaled(a), scaled(b)), approximate); diff != "" {
			t.Errorf("%v and %v in a smaller unit, in reverse (-before +after):\n%s", a, b, diff)
		}
	}
}

// FuzzCompare: whatever the samples, no result is NaN, infinite, or outside of what it can be.
func FuzzCompare(f *testing.F) {
	seed := func(split uint8, samples ...float64) {
		var data []byte
		for _, s := range samples {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(s))
		}
		f.Add(data, split)
	}
	seed(0)
	seed(4, 1, 2, 3, 4, 5, 6, 7, 8)
	seed(2, math.MaxFloat64, math.MaxFloat64, 0, math.SmallestNonzeroFloat64)
	seed(1, math.NaN(), math.Inf(1), -1)
	f.Fuzz(func(t *testing.T, data []byte, split uint8) {
		var samples []float64
		for ; len(data) >= 8 && len(samples) < 24; data = data[8:] {
			samples = append(samples, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		at := min(int(split), len(samples))
		c := stats.Compare(samples[:at], samples[at:])
		if !(c.PValue >= 0 && c.PValue <= 1) || !(c.RatioOfMedians >= 0 && c.RatioOfMedians <= math.MaxFloat64) {
			t.Errorf("Compare = %+v", c)
		}
		if c.Different && len(c.Warnings) > 0 {
			t.Errorf("different in spite of %v", c.Warnings)
		}
		if i, ok := stats.MedianInterval(samples); ok &&
			!(i.Low >= 0 && i.Low <= i.Median && i.Median <= i.High && i.High <= math.MaxFloat64 && i.Confidence >= 0.5 && i.Confidence <= 1) {
			t.Errorf("MedianInterval = %+v", i)
		}
		checkHolm(t, samples)
	})
}

func checkHolm(t *testing.T, p []float64) {
	t.Helper()
	adjusted := stats.Holm(p)
	for i, a := range adjusted {
		if !(a >= 0 && a <= 1) || p[i] >= 0 && p[i] <= 1 && a < p[i] {
			t.Errorf("%v is adjusted to %v", p[i], a)
		}
		for j, b := range adjusted {
			if p[i] >= 0 && p[i] < p[j] && a > b {
				t.Errorf("%v is adjusted to %v, but %v to %v", p[i], a, p[j], b)
			}
		}
	}
}
