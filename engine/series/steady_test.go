// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package series_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/diskbench/diskbench/engine/series"
)

func TestSteadyState(t *testing.T) {
	tests := []struct {
		why    string
		rounds []float64
		want   series.Steady
	}{
		{"a disk at its cap", []float64{500, 500, 500, 500, 500}, series.Steady{Steady: true, Mean: 500}},
		{"a range of exactly 20%", []float64{90, 110, 100, 110, 90}, series.Steady{Steady: true, Mean: 100, Range: 0.2}},
		{"a range above 20%", []float64{89, 111, 100, 111, 89}, series.Steady{Mean: 100, Range: 0.22}},
		{"a line that falls by exactly 10%", []float64{105, 102.5, 100, 97.5, 95}, series.Steady{Steady: true, Mean: 100, Range: 0.1, Slope: 0.1}},
		{"a line that falls by more, within the range", []float64{106, 103, 100, 97, 94}, series.Steady{Mean: 100, Range: 0.12, Slope: 0.12}},
		{"a line that rises as much: the direction does not matter", []float64{94, 97, 100, 103, 106}, series.Steady{Mean: 100, Range: 0.12, Slope: 0.12}},
		{"only the last five count: a fresh disk that settled", []float64{9000, 4000, 1000, 500, 500, 500, 500, 500},
			series.Steady{Steady: true, Mean: 500}},
		{"one round of five stalled", []float64{500, 500, 0, 500, 500}, series.Steady{Mean: 400, Range: 1.25}},
		{"one active round of five: the largest range there is", []float64{0, 0, 0, 0, 500}, series.Steady{Mean: 100, Range: 5, Slope: 4}},
		{"rounds as large as they get", slices.Repeat([]float64{math.MaxFloat64}, 5), series.Steady{Steady: true, Mean: math.MaxFloat64}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, ok := series.SteadyState(tt.rounds)
			same := math.Abs(got.Range-tt.want.Range) < 1e-9 && math.Abs(got.Slope-tt.want.Slope) < 1e-9 && near(got.Mean, tt.want.Mean)
			if !ok || !same || got.Steady != tt.want.Steady {
				t.Errorf("SteadyState(%v) = %+v, %t; want %+v", tt.rounds, got, ok, tt.want)
			}
		})
	}
}

func TestSteadyStateCannotTell(t *testing.T) {
	tests := []struct {
		why    string
		rounds []float64
	}{
		{"nothing", nil},
		{"a round short", []float64{500, 500, 500, 500}},
		{"nothing but zeros has no mean to be a fraction of", make([]float64, 5)},
		{"not a number", []float64{500, 500, math.NaN(), 500, 500}},
		{"infinite", []float64{500, 500, math.Inf(1), 500, 500}},
		{"negative", []float64{500, 500, -500, 500, 500}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got, ok := series.SteadyState(tt.rounds); ok || got != (series.Steady{}) {
				t.Errorf("SteadyState(%v) = %+v, %t; want nothing", tt.rounds, got, ok)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	tests := []struct {
		why          string
		values, want []float64
	}{
		{"whole rounds", []float64{1, 3, 2, 4, 3, 5, 4, 6, 5, 7}, []float64{2, 3, 4, 5, 6}},
		{"a value a round", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}},
		{"the rest is left out at the beginning", []float64{90, 91, 92, 93, 1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}},
		{"too few", []float64{1, 2, 3, 4}, nil},
		{"nothing", nil, nil},
		{"nothing but zeros: no activity to judge", make([]float64, 10), nil},
		{"a round of zeros is one", []float64{2, 2, 0, 2, 2}, []float64{2, 2, 0, 2, 2}},
		{"not a number", []float64{1, 2, 3, 4, math.NaN()}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := series.Rounds(tt.values); !slices.Equal(got, tt.want) {
				t.Errorf("Rounds(%v) = %v, want %v", tt.values, got, tt.want)
			}
		})
	}
}

func TestCoefficientOfVariation(t *testing.T) {
	tests := []struct {
		why    string
		values []float64
		want   float64
	}{
		{"nothing", nil, 0},
		{"one value", []float64{500}, 0},
		{"a disk at its cap", []float64{500, 500, 500}, 0},
		{"nothing but zeros", []float64{0, 0, 0}, 0},
		{"the standard deviation of a sample: sqrt(2) of 2 and 4", []float64{2, 4}, math.Sqrt2 / 3},
		{"one to five: sqrt(2.5) around 3", []float64{1, 2, 3, 4, 5}, math.Sqrt(2.5) / 3},
		{"one value of n alone is the largest there is: sqrt(n)", []float64{0, 0, 0, 9}, 2},
		{"values as large as they get", []float64{math.MaxFloat64, math.MaxFloat64 / 2}, math.Sqrt2 / 4 / 0.75},
		{"values as small as they get", []float64{math.SmallestNonzeroFloat64, 0}, math.Sqrt2},
		{"not a number", []float64{1, math.NaN()}, 0},
		{"infinite", []float64{1, math.Inf(1)}, 0},
		{"negative", []float64{-1, 1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := series.CoefficientOfVariation(tt.values); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("CoefficientOfVariation(%v) = %v, want %v", tt.values, got, tt.want)
			}
		})
	}
}

// FuzzSeries: whatever the values, no result is NaN, infinite, or outside of what it can be.
func FuzzSeries(f *testing.F) {
	seed := func(values ...float64) {
		var data []byte
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(data)
	}
	seed()
	seed(0)
	seed(stepAt(30, 3500, 500).noisy(60, 0.1, 0, 1)...)
	seed(stepAt(30, math.MaxFloat64, 0).values(60)...)
	seed(stepAt(30, 0, math.SmallestNonzeroFloat64).values(60)...)
	seed(math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var values []float64
		for ; len(data) >= 8; data = data[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		checkStep(t, values)
		checkDetector(t, values)
		checkSteady(t, values)
	})
}

func checkStep(t *testing.T, values []float64) {
	t.Helper()
	step, ok := series.FindStep(values)
	if !ok {
		return
	}
	least, most := slices.Min(values), slices.Max(values)
	for _, level := range []float64{step.Before, step.After} {
		if !(level >= least*(1-1e-9) && level <= most) {
			t.Errorf("a level of %v in values from %v to %v", level, least, most)
		}
	}
	if math.Abs(step.Before-step.After) < series.MinimumStep*max(step.Before, step.After) {
		t.Errorf("a step of less than a tenth: %+v", step)
	}
	if step.Index < series.MinimumSide || len(values)-step.Index < series.MinimumSide {
		t.Errorf("a side is too short: %+v of %d", step, len(values))
	}
}

func checkDetector(t *testing.T, values []float64) {
	t.Helper()
	step, at := established(values)
	if at == 0 {
		return
	}
	if step.After >= step.Before || step.Index < series.MinimumSide || at-step.Index < series.MinimumSide {
		t.Errorf("no step down by the rules: %+v after %d values", step, at)
	}
}

func checkSteady(t *testing.T, values []float64) {
	t.Helper()
	if v := series.CoefficientOfVariation(values); !(v >= 0 && v <= math.Sqrt(float64(len(values)))*(1+1e-9)) {
		t.Errorf("a coefficient of variation of %v", v)
	}
	for _, rounds := range [][]float64{values, series.Rounds(values)} {
		s, ok := series.SteadyState(rounds)
		if ok && !(s.Mean >= 0 && s.Mean <= math.MaxFloat64 && s.Range >= 0 && s.Range <= 5+1e-9 && s.Slope >= 0 && s.Slope <= 4+1e-9) {
			t.Errorf("SteadyState(%v) = %+v", rounds, s)
		}
	}
}
