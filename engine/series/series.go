// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package series reads a figure over time: whether it changed its level once, whether it is steady, and
// how much it varies. A series has a value for each interval of equal length, in time order: counts or
// rates, which are finite and not negative. Where a value is neither, nothing is found, and no result
// is ever NaN or infinite.
package series

import (
	"math"
	"slices"
)

// unitOf gives the power of two that values are counted in, so that huge and tiny ones are neither lost
// nor overflow: the largest of them is 1 to 2 units. It is false where there is nothing to count:
// no value but zeros, or one that is no rate.
func unitOf(values []float64) (float64, bool) {
	most := 0.0
	for _, v := range values {
		if !(v >= 0 && v <= math.MaxFloat64) { // also NaN
			return 0, false
		}
		most = max(most, v)
	}
	if most == 0 {
		return 0, false
	}
	_, exponent := math.Frexp(most)
	return math.Ldexp(1, exponent-1), true
}

// mean is in units. There must be values.
func mean(values []float64, unit float64) float64 {
	sum, most := 0.0, 0.0
	for _, v := range values {
		sum += v / unit
		most = max(most, v/unit)
	}
	// Rounding must not carry it over the largest, which may be the largest number of all.
	return min(sum/float64(len(values)), most)
}

// median sorts the values. There must be some.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return values[middle-1]/2 + values[middle]/2
}

// CoefficientOfVariation is the standard deviation (of a sample, with n - 1) as a fraction of the
// mean. It is 0 where nothing can vary: fewer than two values, or nothing but zeros.
func CoefficientOfVariation(values []float64) float64 {
	unit, ok := unitOf(values)
	if !ok || len(values) < 2 {
		return 0
	}
	average := mean(values, unit)
	squares := 0.0
	for _, v := range values {
		squares += (v/unit - average) * (v/unit - average)
	}
	return math.Sqrt(squares/float64(len(values)-1)) / average
}
