// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

// pointsOf is how many points a repetition of that window has.
func pointsOf(windowNanos, intervalNanos int64) int64 {
	if intervalNanos <= 0 || windowNanos <= 0 {
		return 0
	}
	return (windowNanos-1)/intervalNanos + 1
}

// pointsTotal is how many points the series of these repetitions has. Beyond the limit it may be too
// small a number, still beyond.
func (w *Workload) pointsTotal() int64 {
	sum := int64(0)
	for _, r := range w.Repetitions {
		sum += min(pointsOf(r.WindowNanos, w.Series.IntervalNanos), MaxSeriesPoints+1)
	}
	return sum
}

// equalWindows says that all repetitions took the same part of the window.
func (w *Workload) equalWindows() bool {
	n := int64(len(w.Repetitions))
	for _, r := range w.Repetitions {
		if w.WindowNanos%n != 0 || r.WindowNanos != w.WindowNanos/n {
			return false
		}
	}
	return true
}

// coarsest says that no repetition has more than one point, which then is its IOPS.
func (w *Workload) coarsest() bool {
	for _, r := range w.Repetitions {
		if pointsOf(r.WindowNanos, w.Series.IntervalNanos) > 1 {
			return false
		}
	}
	return true
}

// coarser merges neighboring points of each repetition, two at a time. A mean is over the time that
// the two cover, of which the last may have less. Points of different repetitions stay apart.
func (w *Workload) coarser() Series {
	interval, rest := w.Series.IntervalNanos, w.Series.IOPS
	out := Series{IntervalNanos: 2 * interval}
	for _, r := range w.Repetitions {
		n := pointsOf(r.WindowNanos, interval)
		points := rest[:n]
		rest = rest[n:]
		for left := r.WindowNanos; len(points) > 1; left -= 2 * interval {
			second := float64(min(left-interval, interval)) / float64(interval)
			out.IOPS = append(out.IOPS, (points[0]+points[1]*second)/(1+second))
			points = points[2:]
		}
		out.IOPS = append(out.IOPS, points...)
	}
	return out
}

// coarsen shortens the longest series of these workloads, of several the first. It is false when there
// is none left to shorten.
func coarsen(ws []Workload) bool {
	var longest *Workload
	for i := range ws {
		w := &ws[i]
		if w.coarsest() || w.Series.IntervalNanos > maxIntervalNanos/2 {
			continue
		}
		if longest == nil || len(w.Series.IOPS) > len(longest.Series.IOPS) {
			longest = w
		}
	}
	if longest == nil {
		return false
	}
	longest.Series = longest.coarser()
	return true
}
