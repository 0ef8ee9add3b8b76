// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report holds what a run of the engine found, and the compact form in which it travels
// from the engine's container to the operator.
package report

import "github.com/diskbench/diskbench/engine/workload"

// MaxSeriesPoints is the most points a workload's series has, over all repetitions. Where the
// termination message has no room for them, Encode makes fewer of them.
const MaxSeriesPoints = 60

// Report is the result of one run.
type Report struct {
	// EngineVersion is the version of the engine that measured.
	EngineVersion string
	// IOEngine is the kernel interface that ran; never Auto. Buffered workloads use Sync in any case.
	IOEngine workload.IOEngine
	// Fallbacks lists the engines that Auto tried before, each with why it does not work here.
	Fallbacks []Fallback
	// DirectIO is true when O_DIRECT was proven on the target. Workloads that ask for buffered I/O go
	// through the page cache all the same.
	DirectIO bool
	// Kernel is the release, as uname -r prints it.
	Kernel string
	// Target is what was found of the target.
	Target Target
	// Workloads holds a result for each workload of the plan, in its order.
	Workloads []Workload
}

// Fallback is an I/O engine that Auto had to pass over.
type Fallback struct {
	IOEngine workload.IOEngine
	// Reason is the kernel's answer, such as "io_uring_setup: operation not permitted".
	Reason string
}

// Target is what the engine found of the volume; of several volumes, of the first.
type Target struct {
	// Filesystem is its type as /proc/self/mountinfo names it (ext4, xfs); empty for a block device.
	Filesystem string
	// Device is the kernel's name of the block device (sdc, nvme0n2), where it is known.
	Device string
	// SizeBytes is the size of the filesystem or of the device.
	SizeBytes int64
	// LogicalBlockBytes is the smallest direct I/O, the logical sector.
	LogicalBlockBytes int64
	// Queue is how the kernel drives the device; nil where that is not known.
	Queue *Queue
}

// Queue is how the kernel drives a block device, from /sys/block/*/queue and /device.
type Queue struct {
	// Scheduler is the I/O scheduler in use (none, mq-deadline).
	Scheduler string
	// Requests is the length of the kernel's own queue (nr_requests).
	Requests int64
	// DeviceDepth is the number of I/Os that the device takes at once (a LUN's queue_depth); 0 where
	// it says nothing.
	DeviceDepth int64
	// MaxIOBytes is the largest I/O that is sent in one piece (max_sectors_kb).
	MaxIOBytes int64
	// WriteBack says whether the device has a volatile write cache (write_cache).
	WriteBack bool
	// FUA says whether it takes writes that pass that cache.
	FUA bool
}

// Workload is the result of one workload over all of its repetitions.
type Workload struct {
	// Name is the workload's name in the plan.
	Name string
	// FileSizeBytes is the size of the file, or of the part of the device, that was used.
	FileSizeBytes int64
	// WindowNanos is the measured time, summed over the repetitions.
	WindowNanos int64
	// Read, Write and Total are the figures by direction; a direction without operations is nil.
	Read, Write, Total *Figures
	// Flush is the figures of the flushes, which move no bytes and are no part of Total; nil without.
	Flush *Figures
	// Streams has an entry for each stream where there are several, in the plan's order.
	Streams []Stream
	// Repetitions has one entry for each repetition, in order.
	Repetitions []Repetition
	// Series is the IOPS over time, of all repetitions one after another.
	Series Series
	// Steady is how steady the IOPS were in the last repetition; nil when it was too short to tell.
	Steady *Steady
	// Step is the change of level in the first repetition that had one; nil without.
	Step *Step
	// Drained is what followed the window under Drain; nil without.
	Drained *Drained
	// ProbeMeanNanos is the mean latency of the probe before the windows, with one outstanding I/O; nil
	// without a probe. A load whose mean is well above it has queued.
	ProbeMeanNanos *int64
	// Device is what the kernel counted at the block devices meanwhile; nil where it counts nothing.
	Device *DeviceCounters
	// CPU is the processor time the engine spent in the window.
	CPU CPU
}

// Stream is the result of one of several streams.
type Stream struct {
	// Name is the stream's name in the plan.
	Name string
	// Read, Write and Flush are its figures; nil without such operations.
	Read, Write, Flush *Figures
}

// Figures are the measured figures of one direction. Operations and Bytes are exact.
type Figures struct {
	Operations     int64
	Bytes          int64
	IOPS           float64
	BytesPerSecond float64
	Latency        Latency
}

// Latency describes the time from submission, or under a rate from when the I/O was due, to
// completion, in nanoseconds. A percentile is nil unless at least ten samples are expected beyond it.
type Latency struct {
	MeanNanos, StddevNanos, MinNanos, MaxNanos int64

	P50Nanos, P90Nanos, P95Nanos, P99Nanos, P999Nanos, P9999Nanos *int64
}

// Repetition holds the figures whose spread tells how repeatable a run is.
type Repetition struct {
	// WindowNanos is its measured time. Repetitions differ in it where a number of operations ends them.
	WindowNanos int64
	IOPS        float64
	P99Nanos    *int64
}

// Series is a figure over time. A repetition has a point for each interval that it began, so that the
// last of them may cover less time, and one that covers all of it is the repetition's IOPS.
type Series struct {
	// IntervalNanos is the time that each value covers.
	IntervalNanos int64
	IOPS          []float64
}

// Steady is how steady the IOPS were from second to second.
type Steady struct {
	// State says whether SNIA's rule for a steady state holds over the window.
	State bool
	// VariationPercent is the coefficient of variation of the IOPS of each second, in percent.
	VariationPercent float64
}

// Step is a change of level, such as that of a disk whose burst credits ran out.
type Step struct {
	// AtSeconds is when it came, from the start of the window.
	AtSeconds float64
	// BeforeIOPS and AfterIOPS are the levels on both sides.
	BeforeIOPS, AfterIOPS float64
}

// Drained is what the load that went on after the window showed.
type Drained struct {
	// Seconds it went on.
	Seconds float64
	// Step is the fall to the level without credits, its time counted from the start of the window;
	// nil when there was none within the longest time.
	Step *Step
	// IOPS and BytesPerSecond are the last level.
	IOPS, BytesPerSecond float64
}

// DeviceCounters are differences of /sys/dev/block/*/stat over the windows, summed over the devices
// of the target.
type DeviceCounters struct {
	ReadOperations, WriteOperations, ReadBytes, WriteBytes int64
	// OtherOperations and OtherBytes are those of the node's other disks.
	OtherOperations, OtherBytes int64
}

// Plus adds counters.
func (d DeviceCounters) Plus(other DeviceCounters) DeviceCounters {
	sum, more := d.counters(), other.counters()
	for i := range sum {
		*sum[i] += *more[i]
	}
	return d
}

// Minus is what was counted since an earlier reading.
func (d DeviceCounters) Minus(earlier DeviceCounters) DeviceCounters {
	rest, less := d.counters(), earlier.counters()
	for i := range rest {
		*rest[i] -= *less[i]
	}
	return d
}

// CPU is processor time, in nanoseconds.
type CPU struct {
	UserNanos, SystemNanos int64
	// BusiestWorkerPercent is the share of one core that the busiest worker took, 0 to 100:
	// near 100 the load generator was the limit.
	BusiestWorkerPercent int32
	// RunDelayPercent is the share of the time in which a worker was ready to run and had no core, of
	// the worker with the most (/proc/self/task/*/schedstat), 0 to 100.
	RunDelayPercent int32
	// ThrottledPercent is the share of the time in which the container's CPU limit held the engine
	// back (cpu.stat), 0 to 100.
	ThrottledPercent int32
	// StealPercent is the share of the machine's processor time that its hypervisor took, 0 to 100.
	StealPercent int32
}

// PerSecond is the rate of n events in a time of nanos. It is 0 for no time.
func PerSecond(n, nanos int64) float64 {
	if nanos <= 0 {
		return 0
	}
	return float64(n) * 1e9 / float64(nanos)
}

// NewFigures makes the figures of a direction: the rates follow from the counts and the window.
func NewFigures(operations, bytes, windowNanos int64, latency Latency) *Figures {
	return &Figures{
		Operations: operations, Bytes: bytes,
		IOPS:           PerSecond(operations, windowNanos),
		BytesPerSecond: PerSecond(bytes, windowNanos),
		Latency:        latency,
	}
}
