// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// seriesInterval is the length of a point of the series: the least number of whole seconds with
// which all repetitions together stay within report.MaxSeriesPoints, and the whole duration where
// that is shorter than a second.
func seriesInterval(duration time.Duration, repetitions int) time.Duration {
	if duration < time.Second {
		return duration
	}
	interval := time.Second
	for pointsOf(duration, interval)*repetitions > report.MaxSeriesPoints {
		interval += time.Second
	}
	return interval
}

func pointsOf(duration, interval time.Duration) int {
	return int((duration + interval - 1) / interval)
}

// summary makes the result of a workload of its repetitions.
func summary(w workload.Workload, interval time.Duration, repetitions []*measured) report.Workload {
	duration := w.Duration.Std()
	result := report.Workload{
		Name: w.Name, FileSizeBytes: w.FileSizeBytes,
		WindowNanos: int64(duration) * int64(len(repetitions)),
		Series:      report.Series{IntervalNanos: int64(interval)},
	}
	reads, writes := histogram.New(), histogram.New()
	for _, m := range repetitions {
		merge(reads, m.reads)
		merge(writes, m.writes)
		result.Repetitions = append(result.Repetitions, repetition(m, duration))
		result.Series.IOPS = append(result.Series.IOPS, rates(m.series, interval, duration)...)
		result.CPU.UserNanos += m.cpu.UserNanos
		result.CPU.SystemNanos += m.cpu.SystemNanos
		result.CPU.BusiestWorkerPercent = max(result.CPU.BusiestWorkerPercent, m.cpu.BusiestWorkerPercent)
	}
	result.Read = figures(reads, w.Streams[0].BlockSizeBytes, result.WindowNanos)
	result.Write = figures(writes, w.Streams[0].BlockSizeBytes, result.WindowNanos)
	reads.Merge(writes)
	result.Total = figures(reads, w.Streams[0].BlockSizeBytes, result.WindowNanos)
	return result
}

func repetition(m *measured, duration time.Duration) report.Repetition {
	all := histogram.New()
	merge(all, m.reads)
	merge(all, m.writes)
	return report.Repetition{
		IOPS:     report.PerSecond(all.Count(), int64(duration)),
		P99Nanos: all.Percentile(99),
	}
}

func figures(h *histogram.Histogram, blockSize, windowNanos int64) *report.Figures {
	if h.Count() == 0 {
		return nil
	}
	return report.NewFigures(h.Count(), h.Count()*blockSize, windowNanos, h.Latency())
}

// rates turns the counts of intervals into IOPS; the last interval may be cut short by the window.
func rates(counts []int64, interval, duration time.Duration) []float64 {
	iops := make([]float64, len(counts))
	for i, n := range counts {
		covered := min(interval, duration-time.Duration(i)*interval)
		iops[i] = report.PerSecond(n, int64(covered))
	}
	return iops
}
