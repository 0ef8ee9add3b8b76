// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload describes what the engine is asked to do: plans, workloads and presets.
//
// It is a pure leaf: the operator builds a Plan from a DiskBenchmark, the command line builds
// one from flags, and both hand it to the engine, as a value or as JSON. Sizes are bytes.
package workload

import (
	"encoding/json"
	"fmt"
	"time"
)

// Pattern is the order in which offsets are visited.
type Pattern string

// The patterns.
const (
	// Random draws each offset uniformly among the block-aligned offsets of the file.
	Random Pattern = "Random"
	// Sequential visits the offsets in ascending order and starts over at the end of the file.
	Sequential Pattern = "Sequential"
)

// SyncMode is how far a write has to get before it counts as complete.
type SyncMode string

// The sync modes.
const (
	// SyncNone completes a write when the device says so; with direct I/O that may be its cache.
	SyncNone SyncMode = "None"
	// SyncWriteThrough is O_DSYNC on every write: it completes when the data is durable.
	// It is the Linux meaning of DiskSpd's -Sh (which also turns caching off: O_DIRECT).
	SyncWriteThrough SyncMode = "WriteThrough"
)

// IOEngine names the kernel interface that issues the I/O.
type IOEngine string

// The I/O engines. An explicit choice never falls back to another.
const (
	// Auto takes the first of io_uring, libaio and sync that works on the target.
	Auto IOEngine = "Auto"
	// IOUring is io_uring(7).
	IOUring IOEngine = "IOUring"
	// LibAIO is Linux native AIO, io_submit(2), which fio calls libaio.
	LibAIO IOEngine = "LibAIO"
	// Sync is pread(2) and pwrite(2): one I/O at a time for each thread, so queueDepth must be 1.
	Sync IOEngine = "Sync"
)

// TargetKind says what the plan's path is.
type TargetKind string

// The kinds of target.
const (
	// Directory is a folder of a mounted filesystem: the engine makes a file of its own in it.
	Directory TargetKind = "Directory"
	// BlockDevice is a raw device, which the engine overwrites.
	BlockDevice TargetKind = "BlockDevice"
)

// Plan is everything one run of the engine does.
type Plan struct {
	// Target says what Path is.
	Target TargetKind `json:"target"`
	// Path is the directory or the block device.
	Path string `json:"path"`
	// IOEngine is the kernel interface to use.
	IOEngine IOEngine `json:"ioEngine"`
	// Repetitions is how often each workload is run; at least 1.
	Repetitions int `json:"repetitions"`
	// OverwriteDevice allows a block device that carries a filesystem, a partition table or the
	// like. One that is mounted or otherwise held is refused in any case.
	OverwriteDevice bool `json:"overwriteDevice,omitempty"`
	// Workloads run one after another; at least one, names unique.
	Workloads []Workload `json:"workloads"`
}

// Workload is one measured load. Every field has its effective value.
type Workload struct {
	// Name identifies the workload in the results.
	Name string `json:"name"`
	// Pattern is the order of offsets.
	Pattern Pattern `json:"pattern"`
	// ReadPercent is the share of reads among the operations, 0 to 100.
	ReadPercent int `json:"readPercent"`
	// BlockSizeBytes is the size of each operation.
	BlockSizeBytes int64 `json:"blockSizeBytes"`
	// Threads is the number of workers that issue I/O.
	Threads int `json:"threads"`
	// QueueDepth is the number of I/Os each worker keeps outstanding.
	QueueDepth int `json:"queueDepth"`
	// SharedOffset lets the threads of a sequential workload share one offset (DiskSpd's -si).
	// Otherwise each thread has its own part of the file.
	SharedOffset bool `json:"sharedOffset,omitempty"`
	// Sync is how far a write has to get.
	Sync SyncMode `json:"sync"`
	// FileSizeBytes is the part of the file, or of the device, that is used, from its start.
	FileSizeBytes int64 `json:"fileSizeBytes"`
	// ShrinkToFit allows a smaller file than FileSizeBytes where the volume has less room.
	// It is set when nobody asked for this very size; a size that was asked for is refused instead.
	ShrinkToFit bool `json:"shrinkToFit,omitempty"`
	// Warmup runs the load before the window, outside the figures.
	Warmup Duration `json:"warmup"`
	// Duration is the length of the measured window.
	Duration Duration `json:"duration"`
	// Seed starts the generators of offsets and data: the same seed gives the same offsets.
	Seed int64 `json:"seed"`
}

// Outstanding is the number of I/Os the workload keeps in flight.
func (w Workload) Outstanding() int { return w.Threads * w.QueueDepth }

// Reads says whether the workload has reads.
func (w Workload) Reads() bool { return w.ReadPercent > 0 }

// Writes says whether the workload has writes.
func (w Workload) Writes() bool { return w.ReadPercent < 100 }

// Duration is a time.Duration that reads and writes as text ("1m30s") in JSON.
type Duration time.Duration

// Std is the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Seconds is a Duration of n seconds.
func Seconds(n int64) Duration { return Duration(time.Duration(n) * time.Second) }

// String is the text form, as of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text form.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is text such as \"60s\": %w", err)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration %q: write a number with a unit, such as 60s or 1m30s", s)
	}
	*d = Duration(v)
	return nil
}
