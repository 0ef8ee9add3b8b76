// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report holds what a run of the engine found, and the compact form in which it travels
// from the engine's container to the operator.
package report

import "github.com/diskbench/diskbench/engine/workload"

// MaxSeriesPoints is the most points a workload's series has, over all repetitions: what the
// termination message has room for.
const MaxSeriesPoints = 60

// Report is the result of one successful run.
type Report struct {
	// EngineVersion is the version of the engine that measured.
	EngineVersion string
	// IOEngine is the kernel interface that ran; never Auto.
	IOEngine workload.IOEngine
	// Fallbacks lists the engines that Auto tried before, each with why it does not work here.
	Fallbacks []Fallback
	// DirectIO is true when O_DIRECT was proven on the target.
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

// Target is what the engine found of the volume.
type Target struct {
	// Filesystem is its type as /proc/self/mountinfo names it (ext4, xfs); empty for a block device.
	Filesystem string
	// Device is the kernel's name of the block device (sdc, nvme0n2), where it is known.
	Device string
	// SizeBytes is the size of the filesystem or of the device.
	SizeBytes int64
	// LogicalBlockBytes is the smallest direct I/O, the logical sector.
	LogicalBlockBytes int64
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
	// Repetitions has one entry for each repetition, in order.
	Repetitions []Repetition
	// Series is the IOPS over time, of all repetitions one after another.
	Series Series
	// CPU is the processor time the engine spent in the window.
	CPU CPU
}

// Figures are the measured figures of one direction. Operations and Bytes are exact.
type Figures struct {
	Operations     int64
	Bytes          int64
	IOPS           float64
	BytesPerSecond float64
	Latency        Latency
}

// Latency describes the time from submission to completion, in nanoseconds. A percentile is nil
// unless at least ten samples are expected beyond it.
type Latency struct {
	MeanNanos, StddevNanos, MinNanos, MaxNanos int64

	P50Nanos, P90Nanos, P95Nanos, P99Nanos, P999Nanos, P9999Nanos *int64
}

// Repetition holds the figures whose spread tells how repeatable a run is.
type Repetition struct {
	IOPS     float64
	P99Nanos *int64
}

// Series is a figure over time.
type Series struct {
	// IntervalNanos is the time that each value covers.
	IntervalNanos int64
	IOPS          []float64
}

// CPU is processor time, in nanoseconds.
type CPU struct {
	UserNanos, SystemNanos int64
	// BusiestWorkerPercent is the share of one core that the busiest worker took, 0 to 100:
	// near 100 the load generator was the limit.
	BusiestWorkerPercent int32
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
