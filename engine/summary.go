// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// summary makes the result of a workload of its repetitions, at least one.
func summary(w workload.Workload, repetitions []*measured) report.Workload {
	result := report.Workload{Name: w.Name, FileSizeBytes: w.FileSizeBytes}
	streams := make([]streamFigures, len(w.Streams))
	for _, m := range repetitions {
		result.WindowNanos += m.window
		for i, s := range m.streams {
			merge(&streams[i].reads, s.reads)
			merge(&streams[i].writes, s.writes)
			merge(&streams[i].flushes, s.flushes)
		}
		result.Repetitions = append(result.Repetitions, repetition(m))
		result.CPU = addCPU(result.CPU, m.cpu)
		result.Device = addDevice(result.Device, m.device)
		if result.Drained == nil {
			result.Drained = m.drained
		}
	}
	figuresOf(&result, w, streams)
	analyze(&result, repetitions)
	return result
}

// figuresOf fills in the figures of the directions and of several streams.
func figuresOf(r *report.Workload, w workload.Workload, streams []streamFigures) {
	var read, write, flush, total direction
	for i, s := range streams {
		block := w.Streams[i].BlockSizeBytes
		read.add(s.reads, block)
		write.add(s.writes, block)
		flush.add(s.flushes, 0)
		if len(streams) == 1 {
			continue
		}
		var one [3]direction
		one[0].add(s.reads, block)
		one[1].add(s.writes, block)
		one[2].add(s.flushes, 0)
		r.Streams = append(r.Streams, report.Stream{
			Name: w.Streams[i].Name,
			Read: one[0].figures(r.WindowNanos), Write: one[1].figures(r.WindowNanos), Flush: one[2].figures(r.WindowNanos),
		})
	}
	total.merge(read)
	total.merge(write)
	r.Read, r.Write, r.Flush = read.figures(r.WindowNanos), write.figures(r.WindowNanos), flush.figures(r.WindowNanos)
	r.Total = total.figures(r.WindowNanos)
}

// direction sums up operations of one kind.
type direction struct {
	latencies *histogram.Histogram
	bytes     int64
}

func (d *direction) add(h *histogram.Histogram, block int64) {
	merge(&d.latencies, h)
	d.bytes += count(h) * block
}

func (d *direction) merge(o direction) {
	merge(&d.latencies, o.latencies)
	d.bytes += o.bytes
}

// figures of a direction; nil without operations.
func (d *direction) figures(windowNanos int64) *report.Figures {
	if count(d.latencies) == 0 {
		return nil
	}
	return report.NewFigures(d.latencies.Count(), d.bytes, windowNanos, d.latencies.Latency())
}

func repetition(m *measured) report.Repetition {
	all := histogram.New()
	for _, s := range m.streams {
		for _, h := range []*histogram.Histogram{s.reads, s.writes} {
			if h != nil {
				all.Merge(h)
			}
		}
	}
	return report.Repetition{WindowNanos: m.window, IOPS: report.PerSecond(all.Count(), m.window), P99Nanos: all.Percentile(99)}
}

func addCPU(a, b report.CPU) report.CPU {
	return report.CPU{
		UserNanos:            a.UserNanos + b.UserNanos,
		SystemNanos:          a.SystemNanos + b.SystemNanos,
		BusiestWorkerPercent: max(a.BusiestWorkerPercent, b.BusiestWorkerPercent),
		RunDelayPercent:      max(a.RunDelayPercent, b.RunDelayPercent),
		ThrottledPercent:     max(a.ThrottledPercent, b.ThrottledPercent),
		StealPercent:         max(a.StealPercent, b.StealPercent),
	}
}

func addDevice(a, b *report.DeviceCounters) *report.DeviceCounters {
	if a == nil || b == nil {
		return b
	}
	return new(a.Plus(*b))
}
