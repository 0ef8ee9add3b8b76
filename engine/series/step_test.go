// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package series_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/diskbench/diskbench/engine/series"
)

// shape is a figure over time without noise: the value at i of n.
type shape func(i, n int) float64

func flat(level float64) shape { return func(int, int) float64 { return level } }

// stepAt changes the level at an index; a negative one counts from the end.
func stepAt(at int, before, after float64) shape {
	return func(i, n int) float64 {
		if i < (at+n)%n {
			return before
		}
		return after
	}
}

// halfway changes the level in the middle of the second that begins the second half.
func halfway(before, after float64) shape {
	return func(i, n int) float64 {
		switch {
		case i < n/2:
			return before
		case i == n/2:
			return (before + after) / 2
		default:
			return after
		}
	}
}

func drift(from, to float64) shape {
	return func(i, n int) float64 { return from + (to-from)*float64(i)/float64(n-1) }
}

func sine(level, amplitude, period float64) shape {
	return func(i, _ int) float64 { return level * (1 + amplitude*math.Sin(2*math.Pi*float64(i)/period)) }
}

func square(high, low float64, half int) shape {
	return func(i, _ int) float64 {
		if i/half%2 == 0 {
			return high
		}
		return low
	}
}

// during has another level for a while.
func during(s shape, from, length int, level float64) shape {
	return func(i, n int) float64 {
		if i >= from && i < from+length {
			return level
		}
		return s(i, n)
	}
}

// ramp takes so many seconds from one level to the other, around the middle.
func ramp(before, after float64, length int) shape {
	return func(i, n int) float64 {
		x := float64(i-n/2)/float64(length) + 0.5
		return before + (after-before)*min(max(x, 0), 1)
	}
}

func (s shape) values(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = s(i, n)
	}
	return values
}

// noisy adds Gaussian noise of a coefficient of variation and a first-order autocorrelation.
func (s shape) noisy(n int, cv, memory float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	e := r.NormFloat64()
	values := s.values(n)
	for i := range values {
		values[i] = max(0, values[i]*(1+cv*e))
		e = memory*e + math.Sqrt(1-memory*memory)*r.NormFloat64()
	}
	return values
}

func TestFindStep(t *testing.T) {
	tests := []struct {
		why   string
		shape shape
		n     int
		want  series.Step
	}{
		{"burst credits of a small disk run out", stepAt(1800, 3500, 500), 2700, series.Step{Index: 1800, Before: 3500, After: 500}},
		{"a recharged disk: up counts as well", stepAt(1800, 500, 3500), 2700, series.Step{Index: 1800, Before: 500, After: 3500}},
		{"both sides as short as they may be", stepAt(20, 3500, 500), 40, series.Step{Index: 20, Before: 3500, After: 500}},
		{"the least step of all", stepAt(60, 1000, 900), 120, series.Step{Index: 60, Before: 1000, After: 900}},
		{"down to nothing: a disk that stopped", stepAt(60, 3500, 0), 120, series.Step{Index: 60, Before: 3500, After: 0}},
		{"up from nothing", stepAt(60, 0, 3500), 120, series.Step{Index: 60, Before: 0, After: 3500}},
		{"late in a day", stepAt(-20, 160000, 20000), 86400, series.Step{Index: 86380, Before: 160000, After: 20000}},
		{"a second of the change, nearer to the level after", during(stepAt(60, 3500, 500), 60, 1, 1000), 120,
			series.Step{Index: 60, Before: 3500, After: 500}},
		{"a second of the change, nearer to the level before", during(stepAt(61, 3500, 500), 60, 1, 3000), 120,
			series.Step{Index: 61, Before: 3500, After: 500}},
		{"a stalled second well before the step", during(stepAt(60, 3500, 500), 50, 1, 0), 120,
			series.Step{Index: 60, Before: 58 * 3500 / 59.0, After: 500}},
		{"a stalled second just before the step belongs to neither level", during(stepAt(60, 3500, 500), 59, 1, 0), 120,
			series.Step{Index: 59, Before: 3500, After: 500}},
		{"values as large as they get", stepAt(30, math.MaxFloat64, math.MaxFloat64/2), 60,
			series.Step{Index: 30, Before: math.MaxFloat64, After: math.MaxFloat64 / 2}},
		{"values as small as they get", stepAt(30, 0, math.SmallestNonzeroFloat64), 60,
			series.Step{Index: 30, Before: 0, After: math.SmallestNonzeroFloat64}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, found := series.FindStep(tt.shape.values(tt.n))
			if !found || got.Index != tt.want.Index || !near(got.Before, tt.want.Before) || !near(got.After, tt.want.After) {
				t.Errorf("FindStep = %+v, %t; want %+v", got, found, tt.want)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

func TestNoStep(t *testing.T) {
	tests := []struct {
		why   string
		shape shape
		n     int
	}{
		{"nothing", flat(3500), 0},
		{"one value", flat(3500), 1},
		{"a disk at its cap", flat(3500), 60},
		{"nothing but zeros", flat(0), 60},
		{"a level that is too short at the beginning", stepAt(19, 3500, 500), 60},
		{"a level that is too short at the end", stepAt(-19, 3500, 500), 60},
		{"a level that is far too short at the end", stepAt(-5, 3500, 500), 60},
		{"less than a tenth", stepAt(30, 1000, 901), 60},
		{"a slow decline", drift(3500, 500), 600},
		{"a slow decline in a short run", drift(3500, 500), 40},
		{"a stalled second", during(flat(3500), 20, 1, 0), 60},
		{"ten stalled seconds", during(flat(3500), 25, 10, 0), 60},
		{"fifteen stalled seconds at the start", during(flat(3500), 0, 15, 0), 60},
		{"a spike at the start, of a cache that fills", during(flat(3500), 0, 3, 90000), 60},
		{"a pause longer than a level: two changes, not one", during(flat(3500), 100, 60, 0), 300},
		{"down and up again for the last tenth", during(stepAt(300, 3500, 500), 540, 60, 3500), 600},
		{"two steps down", during(stepAt(400, 3500, 500), 200, 200, 2000), 600},
		{"a checkpoint every minute", square(3500, 2000, 30), 600},
		{"checkpoints as long as a level", square(3500, 1500, 20), 60},
		{"every other second", square(3500, 500, 1), 61},
		{"a slow wave", sine(3500, 0.3, 300), 600},
		{"a wave for a period and a half", sine(3500, 0.3, 400), 600},
		{"a change that takes half a minute: no throttle does", ramp(3500, 500, 30), 600},
		{"not a number", during(stepAt(30, 3500, 500), 45, 1, math.NaN()), 60},
		{"infinite", during(stepAt(30, 3500, 500), 45, 1, math.Inf(1)), 60},
		{"negative", during(stepAt(30, 3500, 500), 45, 1, -1), 60},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got, found := series.FindStep(tt.shape.values(tt.n)); found || got != (series.Step{}) {
				t.Errorf("FindStep = %+v, %t; want none", got, found)
			}
		})
	}
}

// A step that is there is found at its very second, whatever the noise of a disk.
func TestFindStepInNoise(t *testing.T) {
	tests := []struct {
		why           string
		before, after float64
		n             int
		cv, memory    float64
		// found and exact are the least shares of the runs with a step, and with it within a second.
		found, exact float64
	}{
		{"a quiet disk whose credits run out", 3500, 500, 600, 0.02, 0, 1, 1},
		{"a noisy one", 3500, 500, 600, 0.10, 0, 1, 1},
		{"a noisy one whose noise has a memory", 3500, 500, 600, 0.10, 0.8, 0.99, 0.99},
		{"a noisy one, a minute in all", 3500, 500, 60, 0.10, 0, 0.99, 0.99},
		{"P20, from 3,500 to 2,300", 3500, 2300, 240, 0.05, 0, 0.99, 0.99},
		{"an E tier, from 600 to 500", 600, 500, 240, 0.05, 0, 0.97, 0.95},
		{"a step that barely counts, on a quiet disk", 1000, 880, 120, 0.02, 0.5, 0.97, 0.97},
		{"the same in much noise, long enough: its second is less sure", 1000, 880, 1200, 0.10, 0, 0.9, 0.5},
	}
	const runs = 300
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			found, exact := 0, 0
			for seed := range uint64(runs) {
				down, up := halfway(tt.before, tt.after), halfway(tt.after, tt.before)
				for _, s := range []shape{down, up} {
					step, ok := series.FindStep(s.noisy(tt.n, tt.cv, tt.memory, seed))
					if !ok {
						continue
					}
					found++
					if step.Index >= tt.n/2-1 && step.Index <= tt.n/2+2 {
						exact++
					}
				}
			}
			if f, c := float64(found)/(2*runs), float64(exact)/(2*runs); f < tt.found || c < tt.exact {
				t.Errorf("found in %.3f of the runs, within a second of the change in %.3f; want at least %v and %v", f, c, tt.found, tt.exact)
			}
		})
	}
}

// What is no step is seldom taken for one.
func TestNoStepInNoise(t *testing.T) {
	tests := []struct {
		why        string
		shape      shape
		cv, memory float64
		// most is the largest share of the runs with a step, over all lengths.
		most float64
	}{
		{"noise of a capped disk", flat(3500), 0.02, 0, 0},
		{"noise of a busy disk", flat(3500), 0.10, 0, 0},
		{"noise with a memory", flat(3500), 0.10, 0.5, 0},
		{"noise with a long memory", flat(3500), 0.10, 0.8, 0.005},
		{"a slow drift", drift(3500, 3150), 0.05, 0, 0},
		{"a drift by a third", drift(3500, 2400), 0.05, 0, 0},
		{"a drift by a third in much noise", drift(3500, 2400), 0.10, 0, 0.01},
		{"a drift by a half", drift(3500, 1750), 0.05, 0.5, 0.005},
		{"a stalled second", during(flat(3500), 25, 1, 0), 0.10, 0, 0},
		{"a stalled second at the start", during(flat(3500), 0, 1, 0), 0.10, 0, 0},
		{"five stalled seconds", during(flat(3500), 25, 5, 0), 0.05, 0.5, 0},
		{"a checkpoint every ten seconds", square(3500, 1750, 5), 0.05, 0, 0},
		{"a wave of 15 seconds", sine(3500, 0.3, 15), 0.10, 0, 0},
		{"a short dip every minute", func(i, n int) float64 { return during(flat(3500), 30, 4, 1000)(i%60, n) }, 0.10, 0, 0},
	}
	const runs = 500
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			found, all := 0, 0
			for _, n := range []int{40, 60, 120, 600} {
				for seed := range uint64(runs) {
					all++
					if _, ok := series.FindStep(tt.shape.noisy(n, tt.cv, tt.memory, seed)); ok {
						found++
					}
				}
			}
			if share := float64(found) / float64(all); share > tt.most {
				t.Errorf("a step in %.4f of the runs, want at most %v", share, tt.most)
			}
		})
	}
}

// In noise the long memory of an hour's changes is hard to see; that the sides are not level is not.
func TestNoStepInTwoPeriods(t *testing.T) {
	for seed := range uint64(30) {
		if step, ok := series.FindStep(square(3500, 1750, 900).noisy(3600, 0.10, 0, seed)); ok {
			t.Errorf("seed %d: %+v", seed, step)
		}
	}
}

// The unit of the figure and the direction of time are no part of the finding.
func TestFindStepSymmetries(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		const n = 150
		values := stepAt(20+int(seed)%110, 1000, 500+4*float64(seed)).noisy(n, 0.05, 0.2, seed)
		step, ok := series.FindStep(values)
		if ok {
			found++
		}

		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= 0x1p40
		}
		s, sok := series.FindStep(scaled)
		if sok != ok || s.Index != step.Index || !near(s.Before, step.Before*0x1p40) || !near(s.After, step.After*0x1p40) {
			t.Errorf("seed %d: %+v, %t in a smaller unit is %+v, %t", seed, step, ok, s, sok)
		}

		slices.Reverse(values)
		r, rok := series.FindStep(values)
		if rok != ok || ok && (r.Index != n-step.Index || !near(r.Before, step.After) || !near(r.After, step.Before)) {
			t.Errorf("seed %d: %+v, %t backward is %+v, %t", seed, step, ok, r, rok)
		}
	}
	if found < 50 || found > 190 {
		t.Errorf("%d of 200 series have a step: they no longer show both outcomes", found)
	}
}

func TestDetector(t *testing.T) {
	tests := []struct {
		why   string
		shape shape
		n     int
		cv    float64
		// index is that of the step, 0 for none; by is how many values it may take to say so.
		index, by int
	}{
		{"credits run out: established after 20 seconds", stepAt(1800, 3500, 500), 2700, 0.02, 1800, 1820},
		{"the same on a noisy disk", stepAt(1800, 3500, 500), 2700, 0.10, 1800, 1820},
		{"a small step on a quiet disk", stepAt(600, 600, 500), 900, 0.02, 600, 620},
		{"a small step on a noisy disk takes longer", stepAt(600, 600, 500), 1800, 0.10, 600, 780},
		{"after a slow start", during(stepAt(1000, 3500, 500), 0, 60, 1500), 1200, 0.02, 1000, 1020},
		{"longer than the detector remembers", stepAt(5000, 3500, 500), 5100, 0.02, 5000, 5020},
		{"a step up is none of a drain", stepAt(600, 500, 3500), 1200, 0.02, 0, 0},
		{"no credits", flat(500), 2700, 0.10, 0, 0},
		{"stalls of ten seconds", during(during(flat(3500), 300, 10, 0), 900, 10, 0), 1200, 0.02, 0, 0},
		{"a slow decline", drift(3500, 2500), 2700, 0.05, 0, 0},
		{"a level too short to be one", stepAt(-19, 3500, 500), 600, 0.02, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			const runs = 3
			for seed := range uint64(runs) {
				values := tt.shape.noisy(tt.n, tt.cv, 0, seed)
				step, at := established(values)
				if at > 0 != (tt.index > 0) || at > tt.by || step.Index < tt.index-1 || step.Index > tt.index+1 {
					t.Errorf("seed %d: %+v after %d values, want index %d by %d", seed, step, at, tt.index, tt.by)
				}
			}
		})
	}
}

// established gives the step and after how many values it was; 0 without one.
func established(values []float64) (series.Step, int) {
	var d series.Detector
	for i, v := range values {
		if step, ok := d.Add(v); ok {
			return step, i + 1
		}
	}
	return series.Step{}, 0
}

// Asking every second of 45 minutes has many chances to err.
func TestDetectorIsSeldomWrong(t *testing.T) {
	for _, memory := range []float64{0, 0.5} {
		for seed := range uint64(10) {
			if step, at := established(flat(3500).noisy(2700, 0.10, memory, seed)); at > 0 {
				t.Errorf("autocorrelation %v, seed %d: %+v after %d values of noise", memory, seed, step, at)
			}
		}
	}
}

// What is established stays, and costs nothing.
func TestDetectorAfterTheStep(t *testing.T) {
	var d series.Detector
	values := stepAt(100, 3500, 500).values(120)
	var want series.Step
	for _, v := range values {
		want, _ = d.Add(v)
	}
	if want.Index != 100 || !near(want.Before, 3500) || !near(want.After, 500) {
		t.Fatalf("established %+v", want)
	}
	for range 100 {
		if got, ok := d.Add(9000); !ok || got != want {
			t.Fatalf("Add = %+v, %t afterwards, want %+v", got, ok, want)
		}
	}
}

func TestDetectorAllocatesOnce(t *testing.T) {
	var d series.Detector
	values := flat(3500).noisy(4000, 0.10, 0.8, 1)
	d.Add(values[0])
	i := 0
	allocations := testing.AllocsPerRun(len(values)-2, func() {
		i++
		d.Add(values[i])
	})
	if allocations != 0 {
		t.Errorf("%v allocations a value, want none", allocations)
	}
}

func BenchmarkFindStep(b *testing.B) {
	for _, n := range []int{60, 2700, 86400} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			values := halfway(3500, 500).noisy(n, 0.05, 0, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := series.FindStep(values); !ok {
					b.Fatal("no step")
				}
			}
		})
	}
}

// BenchmarkDetector is a value in the worst case, with the memory full.
func BenchmarkDetector(b *testing.B) {
	var d series.Detector
	values := flat(3500).noisy(3600, 0.05, 0, 1)
	for _, v := range values {
		d.Add(v)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Add(values[i%len(values)])
		i++
	}
}
