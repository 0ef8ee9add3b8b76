// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/diskbench/diskbench/engine/workload"
)

// The binary form of a report, version 1. Fields follow one another without gaps or tags.
//
//	uint32    CRC-32 of the workloads' names joined by newlines; the names themselves stay out
//	string    engine version
//	byte      I/O engine: 1 IOUring, 2 LibAIO, 3 Sync
//	byte      1 for direct I/O
//	string    kernel
//	count     fallbacks, each: byte I/O engine, string reason
//	string    filesystem
//	string    device
//	uvarint   size of the target in bytes
//	uvarint   logical block in bytes
//	count     workloads, each:
//	  uvarint   file size in bytes
//	  uvarint   window in nanoseconds
//	  byte      1 has reads, 2 has writes
//	  figures   of reads, if any: uvarint operations, uvarint bytes, latency
//	  figures   of writes, if any
//	  latency   of the total, if there are both; its counts are the sums
//	  count     repetitions, each: code IOPS x 1,000, code p99
//	  uvarint   interval of the series in nanoseconds
//	  count     points, each: code IOPS x 1,000
//	  code      user nanoseconds
//	  code      system nanoseconds
//	  byte      busiest worker, percent
//
// A string is a count and that many bytes, cut to a limit each. A count is a uvarint. A latency is
// the ten codes mean, standard deviation, minimum, maximum, p50, p90, p95, p99, p99.9, p99.99, in
// nanoseconds. A code is a uint16 in little endian: 0 absent, 1 zero, else 2 + 1500 ln(value),
// rounded: steps of 0.067%, an error of at most 0.034%, up to 2^63.

const (
	maxVersionBytes  = 48
	maxKernelBytes   = 64
	maxReasonBytes   = 100
	maxFallbacks     = 2
	maxTargetBytes   = 32
	codeAbsent       = 0
	codeZero         = 1
	codeOne          = 2
	codesPerE        = 1500
	maxCode          = 65535
	milli            = 1000
	hasReads         = 1
	hasWrites        = 2
	latencyQuantiles = 6
)

var wireEngines = []workload.IOEngine{workload.Auto, workload.IOUring, workload.LibAIO, workload.Sync}

// encoder appends to the payload.
type encoder struct{ out []byte }

func marshal(r *Report) ([]byte, error) {
	if err := checkLimits(r); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(r.Workloads))
	for _, w := range r.Workloads {
		names = append(names, w.Name)
	}
	var e encoder
	e.out = binary.LittleEndian.AppendUint32(e.out, namesChecksum(names))
	e.string(r.EngineVersion, maxVersionBytes)
	e.byte(engineIndex(r.IOEngine))
	e.flag(r.DirectIO)
	e.string(r.Kernel, maxKernelBytes)
	e.count(len(r.Fallbacks))
	for _, f := range r.Fallbacks {
		e.byte(engineIndex(f.IOEngine))
		e.string(f.Reason, maxReasonBytes)
	}
	e.string(r.Target.Filesystem, maxTargetBytes)
	e.string(r.Target.Device, maxTargetBytes)
	e.int(r.Target.SizeBytes)
	e.int(r.Target.LogicalBlockBytes)
	e.count(len(r.Workloads))
	for i := range r.Workloads {
		e.workload(&r.Workloads[i])
	}
	return e.out, nil
}

func checkLimits(r *Report) error {
	if len(r.Workloads) > workload.MaxWorkloads || len(r.Fallbacks) > maxFallbacks {
		return fmt.Errorf("a report of %d workloads and %d fallbacks: at most %d and %d have room",
			len(r.Workloads), len(r.Fallbacks), workload.MaxWorkloads, maxFallbacks)
	}
	for _, w := range r.Workloads {
		if len(w.Repetitions) > workload.MaxRepetitions || len(w.Series.IOPS) > MaxSeriesPoints {
			return fmt.Errorf("workload %s has %d repetitions and %d points: at most %d and %d have room",
				w.Name, len(w.Repetitions), len(w.Series.IOPS), workload.MaxRepetitions, MaxSeriesPoints)
		}
	}
	return nil
}

func namesChecksum(names []string) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join(names, "\n")))
}

func engineIndex(e workload.IOEngine) byte { return byte(max(slices.Index(wireEngines, e), 0)) }

func (e *encoder) byte(b byte)    { e.out = append(e.out, b) }
func (e *encoder) count(n int)    { e.out = binary.AppendUvarint(e.out, uint64(n)) }
func (e *encoder) int(n int64)    { e.out = binary.AppendUvarint(e.out, uint64(max(n, 0))) }
func (e *encoder) code(v float64) { e.out = binary.LittleEndian.AppendUint16(e.out, codeOf(v)) }
func (e *encoder) nanos(v int64)  { e.code(float64(v)) }
func (e *encoder) absentOr(v *int64) {
	if v == nil {
		e.out = binary.LittleEndian.AppendUint16(e.out, codeAbsent)
		return
	}
	e.nanos(*v)
}

func (e *encoder) flag(set bool) {
	if set {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

func (e *encoder) string(s string, limit int) {
	s = cut(s, limit)
	e.count(len(s))
	e.out = append(e.out, s...)
}

func (e *encoder) workload(w *Workload) {
	e.int(w.FileSizeBytes)
	e.int(w.WindowNanos)
	var directions byte
	if w.Read != nil {
		directions |= hasReads
	}
	if w.Write != nil {
		directions |= hasWrites
	}
	e.byte(directions)
	e.figures(w.Read)
	e.figures(w.Write)
	if w.Read != nil && w.Write != nil {
		e.latency(w.Total.Latency)
	}
	e.count(len(w.Repetitions))
	for _, r := range w.Repetitions {
		e.code(r.IOPS * milli)
		e.absentOr(r.P99Nanos)
	}
	e.int(w.Series.IntervalNanos)
	e.count(len(w.Series.IOPS))
	for _, iops := range w.Series.IOPS {
		e.code(iops * milli)
	}
	e.nanos(w.CPU.UserNanos)
	e.nanos(w.CPU.SystemNanos)
	e.byte(byte(min(max(w.CPU.BusiestWorkerPercent, 0), 100)))
}

func (e *encoder) figures(f *Figures) {
	if f == nil {
		return
	}
	e.int(f.Operations)
	e.int(f.Bytes)
	e.latency(f.Latency)
}

func (e *encoder) latency(l Latency) {
	e.nanos(l.MeanNanos)
	e.nanos(l.StddevNanos)
	e.nanos(l.MinNanos)
	e.nanos(l.MaxNanos)
	for _, p := range l.percentiles() {
		e.absentOr(*p)
	}
}

// percentiles are the addresses of the optional figures, in the order of the wire.
func (l *Latency) percentiles() [latencyQuantiles]**int64 {
	return [...]**int64{&l.P50Nanos, &l.P90Nanos, &l.P95Nanos, &l.P99Nanos, &l.P999Nanos, &l.P9999Nanos}
}

func codeOf(v float64) uint16 {
	if v <= 0 {
		return codeZero
	}
	return uint16(min(max(codeOne+math.Round(codesPerE*math.Log(v)), codeOne), maxCode))
}

func valueOf(code uint16) float64 {
	if code <= codeZero {
		return 0
	}
	return math.Exp(float64(code-codeOne) / codesPerE)
}

func nanosOf(code uint16) int64 {
	v := math.Round(valueOf(code))
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

// decoder reads the payload; after the first mistake it gives zeros and keeps the mistake.
type decoder struct {
	in  []byte
	err error
}

func unmarshal(payload []byte, names []string) (*Report, error) {
	d := decoder{in: payload}
	sum := d.uint32()
	var r Report
	r.EngineVersion = d.string(maxVersionBytes)
	r.IOEngine = d.engine()
	r.DirectIO = d.byte() == 1
	r.Kernel = d.string(maxKernelBytes)
	for range d.count(maxFallbacks) {
		r.Fallbacks = append(r.Fallbacks, Fallback{IOEngine: d.engine(), Reason: d.string(maxReasonBytes)})
	}
	r.Target = Target{Filesystem: d.string(maxTargetBytes), Device: d.string(maxTargetBytes)}
	r.Target.SizeBytes, r.Target.LogicalBlockBytes = d.int(), d.int()
	n := d.count(workload.MaxWorkloads)
	if d.err == nil && (n != len(names) || sum != namesChecksum(names)) {
		return nil, fmt.Errorf("%w (it has %d, expected are %s)", ErrOtherPlan, n, strings.Join(names, ", "))
	}
	for i := range n {
		w := d.workload()
		if d.err != nil {
			break
		}
		w.Name = names[i]
		r.Workloads = append(r.Workloads, w)
	}
	if d.err == nil && len(d.in) > 0 {
		d.fail("%d bytes too many", len(d.in))
	}
	if d.err != nil {
		return nil, d.err
	}
	return &r, nil
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
	d.in = nil
}

// take gives the next n bytes, zeros where there are none.
func (d *decoder) take(n int) []byte {
	if len(d.in) < n {
		d.fail("%d bytes missing", n-len(d.in))
		return make([]byte, n)
	}
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) code() uint16   { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) nanos() int64   { return nanosOf(d.code()) }
func (d *decoder) iops() float64  { return valueOf(d.code()) / milli }

func (d *decoder) int() int64 {
	v, n := binary.Uvarint(d.in)
	if n <= 0 || v > math.MaxInt64 {
		d.fail("a number is cut or too large")
		return 0
	}
	d.in = d.in[n:]
	return int64(v)
}

func (d *decoder) count(limit int) int {
	n := d.int()
	if n > int64(limit) {
		d.fail("a count of %d, the limit is %d", n, limit)
		return 0
	}
	return int(n)
}

func (d *decoder) string(limit int) string { return cut(string(d.take(d.count(limit))), limit) }

func (d *decoder) engine() workload.IOEngine {
	i := d.byte()
	if int(i) >= len(wireEngines) {
		d.fail("unknown I/O engine %d", i)
		return workload.Auto
	}
	return wireEngines[i]
}

func (d *decoder) absentOr() *int64 {
	code := d.code()
	if code == codeAbsent {
		return nil
	}
	v := nanosOf(code)
	return &v
}

func (d *decoder) workload() Workload {
	w := Workload{FileSizeBytes: d.int(), WindowNanos: d.int()}
	directions := d.byte()
	if directions&hasReads != 0 {
		w.Read = d.figures(w.WindowNanos)
	}
	if directions&hasWrites != 0 {
		w.Write = d.figures(w.WindowNanos)
	}
	w.Total = d.total(&w)
	for range d.count(workload.MaxRepetitions) {
		w.Repetitions = append(w.Repetitions, Repetition{IOPS: d.iops(), P99Nanos: d.absentOr()})
	}
	w.Series.IntervalNanos = d.int()
	for range d.count(MaxSeriesPoints) {
		w.Series.IOPS = append(w.Series.IOPS, d.iops())
	}
	w.CPU = CPU{UserNanos: d.nanos(), SystemNanos: d.nanos(), BusiestWorkerPercent: int32(min(d.byte(), 100))}
	return w
}

// total is that of both directions, or a copy of the only one's.
func (d *decoder) total(w *Workload) *Figures {
	switch {
	case w.Read != nil && w.Write != nil:
		return NewFigures(w.Read.Operations+w.Write.Operations, w.Read.Bytes+w.Write.Bytes, w.WindowNanos, d.latency())
	case w.Read != nil:
		total := *w.Read
		return &total
	case w.Write != nil:
		total := *w.Write
		return &total
	default:
		return nil
	}
}

func (d *decoder) figures(windowNanos int64) *Figures {
	operations, bytes := d.int(), d.int()
	return NewFigures(operations, bytes, windowNanos, d.latency())
}

func (d *decoder) latency() Latency {
	l := Latency{MeanNanos: d.nanos(), StddevNanos: d.nanos(), MinNanos: d.nanos(), MaxNanos: d.nanos()}
	for _, p := range l.percentiles() {
		*p = d.absentOr()
	}
	return l
}
