// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/diskbench/diskbench/engine/workload"
)

// decoder reads the payload; after the first mistake it gives zeros and keeps the mistake.
type decoder struct {
	in  []byte
	err error
}

func unmarshal(payload []byte, ws []workload.Workload) (*Report, error) {
	d := decoder{in: payload}
	sum := d.uint32()
	var r Report
	r.EngineVersion = d.string(maxVersionBytes)
	r.IOEngine = d.engine()
	flags := d.flags(uint16(d.byte()), unknownTargetFlags)
	r.DirectIO = flags&isDirect != 0
	r.Kernel = d.string(maxKernelBytes)
	for range d.count(maxFallbacks) {
		r.Fallbacks = append(r.Fallbacks, Fallback{IOEngine: d.engine(), Reason: d.string(maxReasonBytes)})
	}
	r.Target = d.target(flags)
	n := d.count(workload.MaxWorkloads)
	if names := planNames(ws); d.err == nil && (n != len(ws) || sum != namesChecksum(names)) {
		return nil, fmt.Errorf("%w (it has %d, expected are %s)", ErrOtherPlan, n, strings.Join(names, ", "))
	}
	for i := range n {
		w := d.workload(ws[i])
		if d.err != nil {
			break
		}
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
func (d *decoder) uint16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) code() float64  { return valueOf(d.uint16()) }
func (d *decoder) nanos() int64   { return nanosOf(d.uint16()) }
func (d *decoder) milli() float64 { return d.code() / milli }
func (d *decoder) percent() int32 { return int32(min(d.byte(), 100)) }

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

// flags are those below the first unknown one.
func (d *decoder) flags(flags, unknown uint16) uint16 {
	if flags >= unknown {
		d.fail("unknown flags %#x", flags)
		return 0
	}
	return flags
}

func (d *decoder) engine() workload.IOEngine {
	i := d.byte()
	if int(i) >= len(wireEngines) {
		d.fail("unknown I/O engine %d", i)
		return workload.Auto
	}
	return wireEngines[i]
}

func (d *decoder) absentOr() *int64 {
	code := d.uint16()
	if code == codeAbsent {
		return nil
	}
	return new(nanosOf(code))
}

func (d *decoder) target(flags uint16) Target {
	t := Target{
		Filesystem: d.string(maxFilesystemBytes), Device: d.string(maxDeviceBytes),
		SizeBytes: d.int(), LogicalBlockBytes: d.int(),
	}
	if flags&hasQueue != 0 {
		t.Queue = &Queue{
			Scheduler: d.string(maxSchedulerBytes), Requests: d.int(), DeviceDepth: d.int(), MaxIOBytes: d.int(),
			WriteBack: flags&hasWriteBack != 0, FUA: flags&hasFUA != 0,
		}
	}
	return t
}

func (d *decoder) workload(plan workload.Workload) Workload {
	w := Workload{Name: plan.Name, FileSizeBytes: d.int(), WindowNanos: d.int()}
	flags := d.flags(d.uint16(), unknownFlags)
	w.Read, w.Write, w.Flush = d.directions(flags, w.WindowNanos)
	w.Total = d.total(&w)
	d.repetitions(&w, flags)
	for _, s := range severalStreams(plan) {
		stream := Stream{Name: s.Name}
		flags := d.flags(uint16(d.byte()), hasFlushes<<1)
		stream.Read, stream.Write, stream.Flush = d.directions(flags, w.WindowNanos)
		w.Streams = append(w.Streams, stream)
	}
	if flags&hasSteady != 0 {
		w.Steady = &Steady{State: flags&isSteady != 0, VariationPercent: d.milli()}
	}
	w.Step = d.step(flags&hasStep != 0)
	if flags&hasDrained != 0 {
		w.Drained = &Drained{
			Seconds: d.milli(), IOPS: d.milli(), BytesPerSecond: d.code(), Step: d.step(flags&hasDrainedStep != 0),
		}
	}
	if flags&hasDevice != 0 {
		w.Device = &DeviceCounters{}
		for _, n := range w.Device.counters() {
			*n = d.nanos()
		}
	}
	w.ProbeMeanNanos = d.absentOr()
	w.CPU = CPU{UserNanos: d.nanos(), SystemNanos: d.nanos()}
	for _, p := range w.CPU.percents() {
		*p = d.percent()
	}
	return w
}

func (d *decoder) directions(flags uint16, windowNanos int64) (read, write, flush *Figures) {
	if flags&hasReads != 0 {
		read = NewFigures(d.int(), d.int(), windowNanos, d.latency())
	}
	if flags&hasWrites != 0 {
		write = NewFigures(d.int(), d.int(), windowNanos, d.latency())
	}
	if flags&hasFlushes != 0 {
		flush = NewFigures(d.int(), 0, windowNanos, d.latency())
	}
	return read, write, flush
}

func (d *decoder) latency() Latency {
	mean, least, most := d.nanos(), d.nanos(), d.nanos()
	l := d.spread()
	l.MeanNanos, l.MinNanos, l.MaxNanos = mean, least, most
	return l
}

func (d *decoder) spread() Latency {
	l := Latency{StddevNanos: d.nanos()}
	for _, p := range l.percentiles() {
		*p = d.absentOr()
	}
	return l
}

// total is that of both directions, or a copy of the only one's.
func (d *decoder) total(w *Workload) *Figures {
	switch {
	case w.Read != nil && w.Write != nil:
		return d.sum(w.Read, w.Write, w.WindowNanos)
	case w.Read != nil:
		return new(*w.Read)
	case w.Write != nil:
		return new(*w.Write)
	default:
		return nil
	}
}

func (d *decoder) sum(a, b *Figures, windowNanos int64) *Figures {
	if a.Operations > math.MaxInt64-b.Operations || a.Bytes > math.MaxInt64-b.Bytes {
		d.fail("a total is too large")
		return nil
	}
	l := d.spread()
	l.MinNanos = min(a.Latency.MinNanos, b.Latency.MinNanos)
	l.MaxNanos = max(a.Latency.MaxNanos, b.Latency.MaxNanos)
	l.MeanNanos = weightedMean(a, b)
	return NewFigures(a.Operations+b.Operations, a.Bytes+b.Bytes, windowNanos, l)
}

func weightedMean(a, b *Figures) int64 {
	n := float64(a.Operations) + float64(b.Operations)
	if n == 0 {
		return 0
	}
	return wholeNanos(float64(a.Latency.MeanNanos)*(float64(a.Operations)/n) + float64(b.Latency.MeanNanos)*(float64(b.Operations)/n))
}

// repetitions also reads the series, which goes along with them.
func (d *decoder) repetitions(w *Workload, flags uint16) {
	if n := d.count(workload.MaxRepetitions); n > 0 {
		w.Repetitions = make([]Repetition, n)
	}
	w.Series.IntervalNanos = d.interval()
	if flags&hasEqualWindows != 0 {
		d.equalWindows(w)
	} else {
		for i := range w.Repetitions {
			w.Repetitions[i].WindowNanos = d.window(w.Series.IntervalNanos)
		}
	}
	for i := range w.Repetitions {
		w.Repetitions[i].IOPS, w.Repetitions[i].P99Nanos = d.milli(), d.absentOr()
	}
	d.series(w)
}

func (d *decoder) interval() int64 {
	interval := d.int()
	if interval != 0 && (interval < minIntervalNanos || interval > maxIntervalNanos) {
		d.fail("an interval of %d ns", interval)
		return 0
	}
	return interval
}

func (d *decoder) equalWindows(w *Workload) {
	n := int64(len(w.Repetitions))
	for i := range w.Repetitions {
		w.Repetitions[i].WindowNanos = w.WindowNanos / n
	}
	if !w.equalWindows() {
		d.fail("%d equal repetitions in %d ns", n, w.WindowNanos)
	}
}

func (d *decoder) window(interval int64) int64 {
	points, last := int64(d.byte()), int64(d.byte())
	if (points == 0) != (last == 0) || interval == 0 {
		d.fail("a repetition of %d points, the last one of %d, and an interval of %d ns", points, last, interval)
		return 0
	}
	if points == 0 {
		return 0
	}
	return (points-1)*interval + int64(math.Round(float64(last)/wholeInterval*float64(interval)))
}

func (d *decoder) series(w *Workload) {
	n := w.pointsTotal()
	if n > MaxSeriesPoints {
		d.fail("a series of more than %d points", MaxSeriesPoints)
		return
	}
	if !w.coarsest() {
		for range n {
			w.Series.IOPS = append(w.Series.IOPS, d.milli())
		}
		return
	}
	for _, r := range w.Repetitions {
		if pointsOf(r.WindowNanos, w.Series.IntervalNanos) > 0 {
			w.Series.IOPS = append(w.Series.IOPS, r.IOPS)
		}
	}
}

func (d *decoder) step(there bool) *Step {
	if !there {
		return nil
	}
	return &Step{AtSeconds: d.milli(), BeforeIOPS: d.milli(), AfterIOPS: d.milli()}
}
