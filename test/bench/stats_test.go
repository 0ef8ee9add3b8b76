// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
	"testing"
)

func TestMedianInterval(t *testing.T) {
	upTo := func(n int) []float64 {
		var values []float64
		for i := range n {
			values = append(values, float64(i+1))
		}
		slices.Reverse(values)
		return values
	}
	for _, tt := range []struct {
		why    string
		values []float64
		want   Interval
	}{
		{"five are too few: 2/2^5 is above 5%", upTo(5), Interval{3, math.Inf(-1), math.Inf(1)}},
		{"six are the fewest: 2/2^6 is 3.1%, between the extremes", upTo(6), Interval{3.5, 1, 6}},
		{"ranks of the tables of the sign test", upTo(12), Interval{6.5, 3, 10}},
		{"ranks of the tables of the sign test", upTo(20), Interval{10.5, 6, 15}},
		{"ranks of the tables of the sign test", upTo(25), Interval{13, 8, 18}},
		{"one wild value moves nothing", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1000}, Interval{1, 1, 1}},
	} {
		if got := medianInterval(tt.values); got != tt.want {
			t.Errorf("%d values (%s): %v, want %v", len(tt.values), tt.why, got, tt.want)
		}
	}
}

func TestMedianOfNone(t *testing.T) {
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v, and must not pass for a figure", got)
	}
}
