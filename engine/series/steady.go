// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package series

import (
	"math"
	"slices"
)

// SNIA's Solid State Storage Performance Test Specification has a steady state when, over a window of
// five rounds, max - min is at most 20% of the mean, and the least-squares line moves at most 10% of
// the mean from the first round to the last.
const (
	steadyRounds = 5
	steadyRange  = 0.20
	steadySlope  = 0.10
)

// Steady is how steady the last five rounds are.
type Steady struct {
	// Steady says whether they are a steady state by SNIA's rule. A burst has one too: steady is not
	// sustained.
	Steady bool
	// Mean is that of the five rounds.
	Mean float64
	// Range is their maximum less their minimum, as a fraction of the mean.
	Range float64
	// Slope is how far their least-squares line moves from the first to the last, up or down, as a
	// fraction of the mean.
	Slope float64
}

// SteadyState judges the last five rounds, and gives false where there is nothing to judge: fewer than
// five, or nothing but zeros.
func SteadyState(rounds []float64) (Steady, bool) {
	if len(rounds) < steadyRounds {
		return Steady{}, false
	}
	rounds = rounds[len(rounds)-steadyRounds:]
	unit, ok := unitOf(rounds)
	if !ok {
		return Steady{}, false
	}
	average := mean(rounds, unit)
	moment, spread := 0.0, 0.0
	for i, r := range rounds {
		x := float64(i) - (steadyRounds-1)/2.0
		moment += x * (r / unit)
		spread += x * x
	}
	s := Steady{
		Mean:  average * unit,
		Range: (slices.Max(rounds)/unit - slices.Min(rounds)/unit) / average,
		Slope: math.Abs(moment/spread) * (steadyRounds - 1) / average,
	}
	s.Steady = s.Range <= steadyRange && s.Slope <= steadySlope
	return s, true
}

// Rounds turns a series into rounds for SteadyState: the means of five equal parts of the whole of it,
// because the figure that is given for a run is one of the whole run. Up to four values that are left
// over are left out at the beginning, where a run is least settled. It is nil of fewer than five values,
// and of nothing but zeros.
func Rounds(values []float64) []float64 {
	length := len(values) / steadyRounds
	unit, ok := unitOf(values)
	if !ok || length == 0 {
		return nil
	}
	rounds := make([]float64, steadyRounds)
	values = values[len(values)-steadyRounds*length:]
	for i := range rounds {
		rounds[i] = mean(values[i*length:(i+1)*length], unit) * unit
	}
	return rounds
}
