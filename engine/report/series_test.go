// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func windows(nanos ...int64) []Repetition {
	var rs []Repetition
	for _, n := range nanos {
		rs = append(rs, Repetition{WindowNanos: n})
	}
	return rs
}

// Coarser points say the same: the mean over the time that they cover, each repetition for itself.
func TestCoarser(t *testing.T) {
	const second = 1e9
	tests := []struct {
		why         string
		repetitions []Repetition
		iops, want  []float64
	}{
		{"pairs", windows(4 * second), []float64{1, 3, 5, 9}, []float64{2, 7}},
		{"a last one alone", windows(5 * second), []float64{1, 3, 5, 7, 9}, []float64{2, 6, 9}},
		{"a last one of half a second counts half", windows(3.5 * second), []float64{1, 3, 6, 12}, []float64{2, 8}},
		{"a last one of half a second alone", windows(2.5 * second), []float64{1, 3, 6}, []float64{2, 6}},
		{"repetitions are not mixed", windows(3*second, 3*second), []float64{1, 1, 1, 9, 9, 9}, []float64{1, 1, 9, 9}},
		{"repetitions of different lengths", windows(second, 1, 1.5*second), []float64{1, 2, 3, 6}, []float64{1, 2, 4}},
		{"an empty repetition has no points", windows(2*second, 0, 2*second), []float64{1, 3, 5, 7}, []float64{2, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before := slices.Clone(tt.iops)
			w := Workload{Repetitions: tt.repetitions, Series: Series{second, tt.iops}}
			if diff := cmp.Diff(Series{2 * second, tt.want}, w.coarser()); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(before, tt.iops) {
				t.Errorf("the report's own series became %v", tt.iops)
			}
		})
	}
}

// The longest series gives way first, so that no workload is told in much more detail than another.
func TestCoarsenTakesTheLongest(t *testing.T) {
	ws := []Workload{
		{Repetitions: windows(3e9), Series: Series{1e9, make([]float64, 3)}},
		{Repetitions: windows(4e9), Series: Series{1e9, make([]float64, 4)}},
		{Repetitions: windows(1e9, 1e9, 1e9, 1e9, 1e9), Series: Series{1e9, make([]float64, 5)}},
	}
	lengths := func() []int {
		return []int{len(ws[0].Series.IOPS), len(ws[1].Series.IOPS), len(ws[2].Series.IOPS)}
	}
	for _, want := range [][]int{{3, 2, 5}, {2, 2, 5}, {1, 2, 5}, {1, 1, 5}} {
		if !coarsen(ws) || !slices.Equal(lengths(), want) {
			t.Fatalf("%v points, want %v", lengths(), want)
		}
	}
	if coarsen(ws) {
		t.Errorf("there was nothing left to shorten, and then %v points", lengths())
	}
}
