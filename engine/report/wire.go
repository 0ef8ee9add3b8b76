// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/diskbench/diskbench/engine/workload"
)

// The binary form of a report, version 3. Fields follow one another without gaps or tags.
//
//	uint32    CRC-32 of the names of workloads and streams, which stay out themselves
//	string    engine version
//	byte      I/O engine: 1 IOUring, 2 LibAIO, 3 Sync
//	byte      1 direct I/O, 2 has a queue, 4 the queue has a volatile cache, 8 it takes FUA
//	string    kernel
//	count     fallbacks, each: byte I/O engine, string reason
//	string    filesystem
//	string    device
//	uvarint   size of the target in bytes
//	uvarint   logical block in bytes
//	queue, if any:
//	  string    scheduler
//	  uvarint   requests
//	  uvarint   device depth
//	  uvarint   largest I/O in bytes
//	count     workloads, each:
//	  uvarint   file size in bytes
//	  uvarint   window in nanoseconds
//	  uint16    what there is of it: hasReads and those that follow
//	  figures   of reads, of writes, of flushes: those there are
//	  spread    of the total, if there are reads and writes; the rest of it follows from them
//	  count     repetitions
//	  uvarint   interval of the series in nanoseconds
//	  windows   of the repetitions, unless all are the same part of the window
//	  each repetition: code IOPS x 1,000, code p99
//	  each point of the series: code IOPS x 1,000
//	  each stream: byte 1 has reads, 2 has writes, 4 has flushes; their figures
//	  steady, if any: code percent x 1,000
//	  step, if any
//	  drained, if any: code seconds x 1,000, code IOPS x 1,000, code bytes a second, step if any
//	  device, if any: codes of reads, writes, bytes read, bytes written, others' operations, their bytes
//	  code      mean latency of the probe in nanoseconds
//	  code      user nanoseconds
//	  code      system nanoseconds
//	  4 bytes   busiest worker, run delay, throttled, steal, in percent
//
// A string is a count and that many bytes, cut to a limit each. A count is a uvarint. How many
// workloads and streams there are, and their names, the plan says.
//
// Figures are uvarint operations, uvarint bytes (none of flushes, which move none) and a latency: codes
// of mean, minimum and maximum, and a spread. A spread is the codes standard deviation, p50, p90, p95,
// p99, p99.9, p99.99. All are in nanoseconds. A step is the codes seconds x 1,000, IOPS before and
// after x 1,000.
//
// A repetition has one point of the series for each interval that it began. Its window is two bytes:
// the number of points, and how much of the interval the last of them covers, in 255ths. Where no
// repetition has more than one point, the points stay out: they are the repetitions' IOPS.
//
// A code is a uint16 in little endian: 0 absent, 1 zero, else 2 + 1500 ln(value), rounded: steps of
// 0.067%, an error of at most 0.034%, up to 2^63.

const (
	maxVersionBytes    = 48
	maxKernelBytes     = 64
	maxReasonBytes     = 80
	maxFallbacks       = 2
	maxFilesystemBytes = 16
	maxDeviceBytes     = 32
	maxSchedulerBytes  = 16

	codeAbsent       = 0
	codeZero         = 1
	codeOne          = 2
	codesPerE        = 1500
	maxCode          = 65535
	milli            = 1000
	latencyQuantiles = 6

	// wholeInterval is a full point's share of the interval on the wire.
	wholeInterval = 255
	// The shortest interval is long against the 255th of it that windows are rounded to, and the
	// longest can be counted in those.
	minIntervalNanos = 1e6
	maxIntervalNanos = math.MaxInt64 / (wholeInterval + 1)
)

// What the target says.
const (
	isDirect = 1 << iota
	hasQueue
	hasWriteBack
	hasFUA
	unknownTargetFlags
)

// What there is of a workload; the first three also of a stream.
const (
	hasReads = 1 << iota
	hasWrites
	hasFlushes
	hasEqualWindows
	hasSteady
	isSteady
	hasStep
	hasDrained
	hasDrainedStep
	hasDevice
	unknownFlags
)

var wireEngines = []workload.IOEngine{workload.Auto, workload.IOUring, workload.LibAIO, workload.Sync}

// namesChecksum is of names as reportNames and planNames give them.
func namesChecksum(names []string) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join(names, "\n")))
}

// reportNames are the names of workloads, each followed by those of its streams, if several.
func reportNames(r *Report) []string {
	var names []string
	for _, w := range r.Workloads {
		names = append(names, w.Name)
		for _, s := range w.Streams {
			names = append(names, w.Name+"/"+s.Name)
		}
	}
	return names
}

// planNames are the names in the report of these workloads.
func planNames(ws []workload.Workload) []string {
	var names []string
	for _, w := range ws {
		names = append(names, w.Name)
		for _, s := range severalStreams(w) {
			names = append(names, w.Name+"/"+s.Name)
		}
	}
	return names
}

// severalStreams are those that a report has an entry for: a single one is the workload itself.
func severalStreams(w workload.Workload) []workload.Stream {
	if len(w.Streams) < 2 {
		return nil
	}
	return w.Streams
}

// percentiles are the addresses of the optional figures, in the order of the wire.
func (l *Latency) percentiles() [latencyQuantiles]**int64 {
	return [...]**int64{&l.P50Nanos, &l.P90Nanos, &l.P95Nanos, &l.P99Nanos, &l.P999Nanos, &l.P9999Nanos}
}

// counters are the addresses of the figures, in the order of the wire.
func (d *DeviceCounters) counters() [6]*int64 {
	return [...]*int64{&d.ReadOperations, &d.WriteOperations, &d.ReadBytes, &d.WriteBytes, &d.OtherOperations, &d.OtherBytes}
}

// percents are the addresses of the shares, in the order of the wire.
func (c *CPU) percents() [4]*int32 {
	return [...]*int32{&c.BusiestWorkerPercent, &c.RunDelayPercent, &c.ThrottledPercent, &c.StealPercent}
}

func codeOf(v float64) uint16 {
	if !(v > 0) { // also NaN
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

// maxNanosCode is the code of the longest duration. There are some beyond it.
var maxNanosCode = codeOf(math.MaxInt64)

func nanosOf(code uint16) int64 { return wholeNanos(valueOf(min(code, maxNanosCode))) }

func wholeNanos(v float64) int64 {
	v = math.Round(v)
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

// check makes sure that the form has room for the report, and that what it leaves out follows from
// the rest.
func check(r *Report) error {
	if len(r.Workloads) > workload.MaxWorkloads || len(r.Fallbacks) > maxFallbacks {
		return fmt.Errorf("a report of %d workloads and %d fallbacks: at most %d and %d have room",
			len(r.Workloads), len(r.Fallbacks), workload.MaxWorkloads, maxFallbacks)
	}
	streams := 0
	for i := range r.Workloads {
		w := &r.Workloads[i]
		streams += len(w.Streams)
		if err := w.check(); err != nil {
			return fmt.Errorf("workload %s: %w", w.Name, err)
		}
	}
	if streams > workload.MaxStreams {
		return fmt.Errorf("a report of %d streams: at most %d have room", streams, workload.MaxStreams)
	}
	return nil
}

func (w *Workload) check() error {
	interval, points, want := w.Series.IntervalNanos, len(w.Series.IOPS), w.pointsTotal()
	switch {
	case len(w.Repetitions) > workload.MaxRepetitions || points > MaxSeriesPoints:
		return fmt.Errorf("%d repetitions and %d points: at most %d and %d have room",
			len(w.Repetitions), points, workload.MaxRepetitions, MaxSeriesPoints)
	case len(w.Streams) == 1:
		return fmt.Errorf("one stream %q: a single stream is the workload itself", w.Streams[0].Name)
	case w.Read != nil && w.Write != nil && w.Total == nil:
		return errNoTotal
	case interval != 0 && (interval < minIntervalNanos || interval > maxIntervalNanos):
		return fmt.Errorf("an interval of %d ns: it is at least a millisecond", interval)
	case interval == 0 && !w.equalWindows():
		return errNoInterval
	case int64(points) != want:
		return fmt.Errorf("a series of %d points: %d repetitions of these windows have %d intervals", points, len(w.Repetitions), want)
	}
	return nil
}
