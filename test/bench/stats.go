// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// confidence is that of every interval.
const confidence = 0.95

// Interval is a median with the bounds of its 95% confidence interval.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// median is the middle of the values, or the mean of the two in the middle. It is NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// medianInterval is the interval between two order statistics that holds the median of what the
// values were drawn from with at least 95% confidence, whatever its distribution: the sign test
// turned round. The bounds are the k-th smallest and the k-th largest value for the largest k with
// 2 P(X < k) <= 5%, where X is binomial of n halves. Fewer than six values have none: the bounds
// are then infinite.
func medianInterval(values []float64) Interval {
	i := Interval{Median: median(values), Low: math.Inf(-1), High: math.Inf(1)}
	if k := signRank(len(values)); k > 0 {
		sorted := slices.Sorted(slices.Values(values))
		i.Low, i.High = sorted[k-1], sorted[len(sorted)-k]
	}
	return i
}

// signRank is the largest k with 2 P(X < k) <= 1 - confidence for X binomial of n halves.
func signRank(n int) int {
	below := 0.0
	probability := math.Pow(0.5, float64(n)) // of X == k
	for k := range n {
		below += probability // P(X < k+1)
		if 2*below > 1-confidence {
			return k
		}
		probability *= float64(n-k) / float64(k+1)
	}
	return 0
}
