// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/diskbench/diskbench/engine/workload"
)

var (
	errNoTotal    = errors.New("reads and writes without a total")
	errNoInterval = errors.New("repetitions of different lengths without an interval")
)

// encoder appends to the payload.
type encoder struct{ out []byte }

// marshal makes the binary form of a report that check has passed.
func marshal(r *Report) []byte {
	var e encoder
	e.out = binary.LittleEndian.AppendUint32(e.out, namesChecksum(reportNames(r)))
	e.string(r.EngineVersion, maxVersionBytes)
	e.byte(engineIndex(r.IOEngine))
	e.byte(byte(targetFlags(r)))
	e.string(r.Kernel, maxKernelBytes)
	e.count(len(r.Fallbacks))
	for _, f := range r.Fallbacks {
		e.byte(engineIndex(f.IOEngine))
		e.string(f.Reason, maxReasonBytes)
	}
	e.target(r.Target)
	e.count(len(r.Workloads))
	for i := range r.Workloads {
		e.workload(&r.Workloads[i])
	}
	return e.out
}

func targetFlags(r *Report) int {
	q := r.Target.Queue
	return flag(r.DirectIO, isDirect) | flag(q != nil, hasQueue) |
		flag(q != nil && q.WriteBack, hasWriteBack) | flag(q != nil && q.FUA, hasFUA)
}

func flag(set bool, bit int) int {
	if set {
		return bit
	}
	return 0
}

func engineIndex(e workload.IOEngine) byte { return byte(max(slices.Index(wireEngines, e), 0)) }

func (e *encoder) byte(b byte)     { e.out = append(e.out, b) }
func (e *encoder) uint16(v uint16) { e.out = binary.LittleEndian.AppendUint16(e.out, v) }
func (e *encoder) count(n int)     { e.out = binary.AppendUvarint(e.out, uint64(n)) }
func (e *encoder) int(n int64)     { e.out = binary.AppendUvarint(e.out, uint64(max(n, 0))) }
func (e *encoder) code(v float64)  { e.uint16(codeOf(v)) }
func (e *encoder) nanos(v int64)   { e.code(float64(v)) }
func (e *encoder) milli(v float64) { e.code(v * milli) }
func (e *encoder) percent(p int32) { e.byte(byte(min(max(p, 0), 100))) }
func (e *encoder) absentOr(v *int64) {
	if v == nil {
		e.uint16(codeAbsent)
		return
	}
	e.nanos(*v)
}

func (e *encoder) string(s string, limit int) {
	s = cut(s, limit)
	e.count(len(s))
	e.out = append(e.out, s...)
}

func (e *encoder) target(t Target) {
	e.string(t.Filesystem, maxFilesystemBytes)
	e.string(t.Device, maxDeviceBytes)
	e.int(t.SizeBytes)
	e.int(t.LogicalBlockBytes)
	if q := t.Queue; q != nil {
		e.string(q.Scheduler, maxSchedulerBytes)
		e.int(q.Requests)
		e.int(q.DeviceDepth)
		e.int(q.MaxIOBytes)
	}
}

func (e *encoder) workload(w *Workload) {
	e.int(w.FileSizeBytes)
	e.int(w.WindowNanos)
	e.uint16(uint16(workloadFlags(w)))
	e.directions(w.Read, w.Write, w.Flush)
	if w.Read != nil && w.Write != nil {
		e.spread(w.Total.Latency)
	}
	e.repetitions(w)
	for _, s := range w.Streams {
		e.byte(byte(directionFlags(s.Read, s.Write, s.Flush)))
		e.directions(s.Read, s.Write, s.Flush)
	}
	if w.Steady != nil {
		e.milli(w.Steady.VariationPercent)
	}
	e.step(w.Step)
	e.drained(w.Drained)
	if w.Device != nil {
		for _, n := range w.Device.counters() {
			e.nanos(*n)
		}
	}
	e.absentOr(w.ProbeMeanNanos)
	e.cpu(w.CPU)
}

func workloadFlags(w *Workload) int {
	return directionFlags(w.Read, w.Write, w.Flush) |
		flag(w.equalWindows(), hasEqualWindows) |
		flag(w.Steady != nil, hasSteady) | flag(w.Steady != nil && w.Steady.State, isSteady) |
		flag(w.Step != nil, hasStep) |
		flag(w.Drained != nil, hasDrained) | flag(w.Drained != nil && w.Drained.Step != nil, hasDrainedStep) |
		flag(w.Device != nil, hasDevice)
}

func directionFlags(read, write, flush *Figures) int {
	return flag(read != nil, hasReads) | flag(write != nil, hasWrites) | flag(flush != nil, hasFlushes)
}

func (e *encoder) directions(read, write, flush *Figures) {
	for _, f := range []*Figures{read, write} {
		if f != nil {
			e.int(f.Operations)
			e.int(f.Bytes)
			e.latency(f.Latency)
		}
	}
	if flush != nil {
		e.int(flush.Operations)
		e.latency(flush.Latency)
	}
}

func (e *encoder) latency(l Latency) {
	e.nanos(l.MeanNanos)
	e.nanos(l.MinNanos)
	e.nanos(l.MaxNanos)
	e.spread(l)
}

func (e *encoder) spread(l Latency) {
	e.nanos(l.StddevNanos)
	for _, p := range l.percentiles() {
		e.absentOr(*p)
	}
}

// repetitions also writes the series, which goes along with them.
func (e *encoder) repetitions(w *Workload) {
	e.count(len(w.Repetitions))
	e.int(w.Series.IntervalNanos)
	if !w.equalWindows() {
		for _, r := range w.Repetitions {
			e.window(r.WindowNanos, w.Series.IntervalNanos)
		}
	}
	for _, r := range w.Repetitions {
		e.milli(r.IOPS)
		e.absentOr(r.P99Nanos)
	}
	if w.coarsest() {
		return
	}
	for _, iops := range w.Series.IOPS {
		e.milli(iops)
	}
}

func (e *encoder) window(window, interval int64) {
	points := pointsOf(window, interval)
	e.byte(byte(points))
	if points == 0 {
		e.byte(0)
		return
	}
	last := float64(window-(points-1)*interval) / float64(interval)
	e.byte(byte(max(math.Round(last*wholeInterval), 1)))
}

func (e *encoder) step(s *Step) {
	if s == nil {
		return
	}
	e.milli(s.AtSeconds)
	e.milli(s.BeforeIOPS)
	e.milli(s.AfterIOPS)
}

func (e *encoder) drained(d *Drained) {
	if d == nil {
		return
	}
	e.milli(d.Seconds)
	e.milli(d.IOPS)
	e.code(d.BytesPerSecond)
	e.step(d.Step)
}

func (e *encoder) cpu(c CPU) {
	e.nanos(c.UserNanos)
	e.nanos(c.SystemNanos)
	for _, p := range c.percents() {
		e.percent(*p)
	}
}
