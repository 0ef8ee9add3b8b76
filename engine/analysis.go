// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/series"
)

// analyze says how the IOPS went over time.
func analyze(r *report.Workload, repetitions []*measured) {
	r.Series = shown(repetitions)
	for _, m := range repetitions {
		if r.Step == nil {
			r.Step = step(m)
		}
	}
	r.Steady = steadiness(repetitions[len(repetitions)-1])
}

// shown is the series of all repetitions one after another, in points of as many seconds as it takes
// to stay within report.MaxSeriesPoints.
func shown(repetitions []*measured) report.Series {
	group := 1
	for points(repetitions, group) > report.MaxSeriesPoints {
		group++
	}
	out := report.Series{IntervalNanos: repetitions[0].interval * int64(group)}
	for _, m := range repetitions {
		out.IOPS = append(out.IOPS, rates(m.series, m.interval, m.window, group)...)
	}
	return out
}

func points(repetitions []*measured, group int) int {
	sum := 0
	for _, m := range repetitions {
		sum += (len(m.series) + group - 1) / group
	}
	return sum
}

// rates turns counts of intervals into IOPS, group intervals at a time; the last may be cut short by
// the window.
func rates(counts []int64, interval, window int64, group int) []float64 {
	var iops []float64
	for from := 0; from < len(counts); from += group {
		n := int64(0)
		for _, c := range counts[from:min(from+group, len(counts))] {
			n += c
		}
		covered := min(interval*int64(group), window-int64(from)*interval)
		iops = append(iops, report.PerSecond(n, covered))
	}
	return iops
}

// seconds are the IOPS of each whole second of the window; none of a window whose points are longer.
func seconds(m *measured) []float64 {
	if m.interval != int64(time.Second) {
		return nil
	}
	return rates(m.series[:m.window/m.interval], m.interval, m.window, 1)
}

func step(m *measured) *report.Step {
	s, found := series.FindStep(seconds(m))
	if !found {
		return nil
	}
	return &report.Step{AtSeconds: float64(s.Index), BeforeIOPS: s.Before, AfterIOPS: s.After}
}

// steadiness judges the rounds of SNIA's rule, which needs five.
func steadiness(m *measured) *report.Steady {
	values := seconds(m)
	s, known := series.SteadyState(series.Rounds(values))
	if !known {
		return nil
	}
	return &report.Steady{State: s.Steady, VariationPercent: 100 * series.CoefficientOfVariation(values)}
}
