// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"slices"
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Measurements gives status.measurements: the report's figures beside the plan's parameters. The
// report has the plan's workloads in the plan's order, as report.Decode makes sure.
func Measurements(p workload.Plan, r *report.Report) []v1alpha1.Measurement {
	out := make([]v1alpha1.Measurement, 0, len(r.Workloads))
	for i := range r.Workloads {
		out = append(out, measurement(p.Workloads[i], &r.Workloads[i], r.DirectIO))
	}
	return out
}

func measurement(w workload.Workload, r *report.Workload, direct bool) v1alpha1.Measurement {
	m := v1alpha1.Measurement{
		Name:           r.Name,
		Parameters:     parameters(w, r.FileSizeBytes, direct),
		WindowNanos:    r.WindowNanos,
		Read:           figures(r.Read),
		Write:          figures(r.Write),
		Flush:          figures(r.Flush),
		Streams:        streams(w, r),
		Series:         series(r.Series),
		Steady:         steady(r.Steady),
		Step:           step(r.Step),
		Drained:        drained(r.Drained),
		ProbeMeanNanos: r.ProbeMeanNanos,
		Device:         device(w, r),
		CPU: &v1alpha1.CPU{
			UserMillis:           r.CPU.UserNanos / int64(time.Millisecond),
			SystemMillis:         r.CPU.SystemNanos / int64(time.Millisecond),
			BusiestWorkerPercent: r.CPU.BusiestWorkerPercent,
			RunDelayPercent:      r.CPU.RunDelayPercent,
			ThrottledPercent:     r.CPU.ThrottledPercent,
			StealPercent:         r.CPU.StealPercent,
		},
	}
	if total := figures(r.Total); total != nil {
		m.Total = *total
	}
	for _, rep := range r.Repetitions {
		m.Repetitions = append(m.Repetitions, v1alpha1.Repetition{
			WindowNanos: rep.WindowNanos, IOPS: round(rep.IOPS), P99Nanos: rep.P99Nanos,
		})
	}
	if len(m.Repetitions) == 1 {
		// It is the total, whose figure travels exactly; that of a repetition is rounded on its way.
		m.Repetitions[0].IOPS = m.Total.IOPS
	}
	m.Spread = spread(m.Repetitions)
	return m
}

func parameters(w workload.Workload, fileSize int64, direct bool) v1alpha1.Parameters {
	p := v1alpha1.Parameters{
		FileSizeBytes:   fileSize,
		Layout:          v1alpha1.Layout(w.Layout),
		DirectIO:        v1alpha1.DirectIODisabled,
		Operations:      w.Operations,
		WarmupSeconds:   int32(w.Warmup.Std() / time.Second),
		DurationSeconds: int32(w.Duration.Std() / time.Second),
		Seed:            w.Seed,
	}
	if direct && !w.Buffered() {
		p.DirectIO = v1alpha1.DirectIORequired
	}
	if w.Verify {
		p.Verification = v1alpha1.VerificationChecksum
	}
	if len(w.Streams) == 1 {
		p.StreamParameters = streamParameters(w.Streams[0], fileSize)
	}
	return p
}

func streamParameters(s workload.Stream, fileSize int64) v1alpha1.StreamParameters {
	p := v1alpha1.StreamParameters{
		Pattern:              v1alpha1.Pattern(s.Pattern),
		RandomPercent:        int32(s.RandomPercent),
		ReadPercent:          new(int32(s.ReadPercent)),
		BlockSizeBytes:       s.BlockSizeBytes,
		Threads:              int32(s.Threads),
		QueueDepth:           int32(s.QueueDepth),
		RateLimitIOPS:        s.RateLimitIOPS,
		Sync:                 v1alpha1.SyncMode(s.Sync),
		FlushEvery:           int32(s.FlushEvery),
		FlushIntervalSeconds: int32(s.FlushInterval.Std() / time.Second),
	}
	if s.Pattern == workload.Sequential {
		p.SequentialOffset = v1alpha1.SequentialOffsetPerThread
		if s.SharedOffset {
			p.SequentialOffset = v1alpha1.SequentialOffsetShared
		}
	}
	if s.Range != workload.Whole {
		first, end := s.Range.Blocks(fileSize, s.BlockSizeBytes)
		p.Range = &v1alpha1.ByteRange{StartBytes: first * s.BlockSizeBytes, EndBytes: end * s.BlockSizeBytes}
	}
	if d := s.Distribution; d.Type != workload.Uniform {
		p.Distribution = &v1alpha1.Distribution{Type: v1alpha1.DistributionType(d.Type)}
		if d.Type == workload.Hotspot {
			p.Distribution.IOPercent, p.Distribution.RangePercent = new(int32(d.IOPercent)), new(int32(d.RangePercent))
		}
	}
	return p
}

// streams are the figures of each of several, which the report has in the plan's order.
func streams(w workload.Workload, r *report.Workload) []v1alpha1.StreamMeasurement {
	var out []v1alpha1.StreamMeasurement
	for i := range r.Streams {
		s := &r.Streams[i]
		out = append(out, v1alpha1.StreamMeasurement{
			Name:       s.Name,
			Parameters: streamParameters(w.Streams[i], r.FileSizeBytes),
			Read:       figures(s.Read),
			Write:      figures(s.Write),
			Flush:      figures(s.Flush),
		})
	}
	return out
}

func steady(s *report.Steady) *v1alpha1.Steady {
	if s == nil {
		return nil
	}
	out := &v1alpha1.Steady{State: v1alpha1.SteadyStateUnsteady, VariationPermille: round(s.VariationPercent * 10)}
	if s.State {
		out.State = v1alpha1.SteadyStateSteady
	}
	return out
}

func step(s *report.Step) *v1alpha1.Step {
	if s == nil {
		return nil
	}
	return &v1alpha1.Step{AtSeconds: round(s.AtSeconds), BeforeIOPS: round(s.BeforeIOPS), AfterIOPS: round(s.AfterIOPS)}
}

func drained(d *report.Drained) *v1alpha1.Drained {
	if d == nil {
		return nil
	}
	return &v1alpha1.Drained{
		Seconds: round(d.Seconds), Step: step(d.Step), IOPS: round(d.IOPS), ThroughputBytesPerSecond: round(d.BytesPerSecond),
	}
}

func device(w workload.Workload, r *report.Workload) *v1alpha1.DeviceCounters {
	d := r.Device
	if d == nil {
		return nil
	}
	out := &v1alpha1.DeviceCounters{
		ReadOperations: d.ReadOperations, WriteOperations: d.WriteOperations,
		ReadBytes: d.ReadBytes, WriteBytes: d.WriteBytes, OtherOperations: d.OtherOperations, OtherBytes: d.OtherBytes,
	}
	if t := r.Total; t != nil && t.Operations > 0 && !w.Buffered() {
		out.OperationsPermille = new(round(1000 * float64(d.ReadOperations+d.WriteOperations) / float64(t.Operations)))
	}
	return out
}

func figures(f *report.Figures) *v1alpha1.Figures {
	if f == nil {
		return nil
	}
	l := f.Latency
	return &v1alpha1.Figures{
		Operations: f.Operations, Bytes: f.Bytes,
		IOPS: round(f.IOPS), ThroughputBytesPerSecond: round(f.BytesPerSecond),
		MeanNanos: l.MeanNanos, StddevNanos: l.StddevNanos, MinNanos: l.MinNanos, MaxNanos: l.MaxNanos,
		P50Nanos: l.P50Nanos, P90Nanos: l.P90Nanos, P95Nanos: l.P95Nanos,
		P99Nanos: l.P99Nanos, P999Nanos: l.P999Nanos, P9999Nanos: l.P9999Nanos,
	}
}

func series(s report.Series) *v1alpha1.Series {
	if len(s.IOPS) == 0 {
		return nil
	}
	out := &v1alpha1.Series{IntervalMillis: s.IntervalNanos / int64(time.Millisecond)}
	for _, v := range s.IOPS {
		out.IOPS = append(out.IOPS, round(v))
	}
	return out
}

// spread is absent with one repetition, and its percentiles unless every repetition has one.
func spread(reps []v1alpha1.Repetition) *v1alpha1.Spread {
	if len(reps) < 2 {
		return nil
	}
	var iops, p99 []int64
	for _, r := range reps {
		iops = append(iops, r.IOPS)
		if r.P99Nanos != nil {
			p99 = append(p99, *r.P99Nanos)
		}
	}
	s := &v1alpha1.Spread{}
	s.MinIOPS, s.MedianIOPS, s.MaxIOPS = minMedianMax(iops)
	if len(p99) == len(reps) {
		low, median, high := minMedianMax(p99)
		s.MinP99Nanos, s.MedianP99Nanos, s.MaxP99Nanos = &low, &median, &high
	}
	return s
}

// minMedianMax of at least one value; the median of an even number is the mean of the middle two.
func minMedianMax(values []int64) (low, median, high int64) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return v[0], v[(n-1)/2] + (v[n/2]-v[(n-1)/2])/2, v[n-1]
}

func round(f float64) int64 { return int64(math.Round(f)) }
