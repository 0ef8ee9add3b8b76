// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload describes what the engine is asked to do: plans, workloads, streams and presets.
//
// It is a pure leaf: the operator builds a Plan from a DiskBenchmark, the command line builds
// one from flags, and both hand it to the engine, as a value or as JSON. Sizes are bytes.
package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Pattern is the order in which offsets are visited.
type Pattern string

// The patterns.
const (
	// Random draws each offset, by the stream's distribution, among the block-aligned offsets of its range.
	Random Pattern = "Random"
	// Sequential visits the offsets in ascending order and starts over at the end of the range.
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
	// SyncFlush makes earlier writes durable with fdatasync(2), after a number of writes or at
	// intervals. A flush has latencies of its own.
	SyncFlush SyncMode = "Flush"
)

// Layout says how the file comes to be.
type Layout string

// The layouts.
const (
	// Written is a file of which every block was really written before.
	Written Layout = "Written"
	// Preallocated is a new file whose space is set aside with fallocate(2) and not written: the
	// first write of each block also converts its extent, as in a database's new log segment.
	Preallocated Layout = "Preallocated"
	// Append is a new, empty file that grows with each write. It starts over when it has grown to
	// the workload's file size.
	Append Layout = "Append"
)

// DirectIO says whether the page cache is bypassed.
type DirectIO string

// The kinds of I/O.
const (
	// DirectRequired bypasses the page cache with O_DIRECT, as proven on the target.
	DirectRequired DirectIO = "Required"
	// DirectDisabled goes through it with pread(2) and pwrite(2), one I/O at a time for each thread,
	// as most programs do. Blocks may have any size.
	DirectDisabled DirectIO = "Disabled"
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

// TargetKind says what the plan's paths are.
type TargetKind string

// The kinds of target.
const (
	// Directory is a folder of a mounted filesystem: the engine makes a file of its own in it.
	Directory TargetKind = "Directory"
	// BlockDevice is a raw device, which the engine overwrites.
	BlockDevice TargetKind = "BlockDevice"
	// NullDevice is /dev/zero, which answers at once: it shows what the load generator itself can
	// do here, and nothing of a disk.
	NullDevice TargetKind = "NullDevice"
)

// Plan is everything one run of the engine does.
type Plan struct {
	// Target says what the paths are.
	Target TargetKind `json:"target"`
	// Sets are the volumes: one set that every repetition measures, or one for each repetition.
	// A set is one path, or several that are striped over. All sets have the same length.
	Sets [][]string `json:"sets"`
	// StripeSizeBytes is how much of a striped set lies on one volume before the next one follows
	// (RAID 0). It is 0 without striping.
	StripeSizeBytes int64 `json:"stripeSizeBytes,omitempty"`
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

// Set is the set of volumes that a repetition, counted from 0, measures.
func (p Plan) Set(repetition int) int {
	if len(p.Sets) == 1 {
		return 0
	}
	return repetition
}

// Verifies says whether any workload verifies its reads: then all written blocks carry a checksum.
func (p Plan) Verifies() bool {
	for _, w := range p.Workloads {
		if w.Verify {
			return true
		}
	}
	return false
}

// Workload is one measured load: streams that run at the same time on the same file. Every field
// has its effective value.
type Workload struct {
	// Name identifies the workload in the results.
	Name string `json:"name"`
	// Streams run at the same time; at least one. A single one has no name.
	Streams []Stream `json:"streams"`
	// FileSizeBytes is the part of the file, or of the device, that is used, from its start.
	FileSizeBytes int64 `json:"fileSizeBytes"`
	// ShrinkToFit allows a smaller file than FileSizeBytes where the volume has less room.
	// It is set when nobody asked for this very size; a size that was asked for is refused instead.
	ShrinkToFit bool `json:"shrinkToFit,omitempty"`
	// Layout says how the file comes to be.
	Layout Layout `json:"layout"`
	// DirectIO says whether the page cache is bypassed.
	DirectIO DirectIO `json:"directIO"`
	// Verify checks on each read that the block carries its own offset and a right checksum.
	Verify bool `json:"verify,omitempty"`
	// Operations ends the window after so many operations of all streams together; Duration is then
	// the longest it may take. 0: the window takes Duration.
	Operations int64 `json:"operations,omitempty"`
	// Drain goes on with the load after the window until burst credits are used up.
	Drain bool `json:"drain,omitempty"`
	// Probe runs the first stream for so long with a single outstanding I/O, before the first
	// repetition and outside the figures, to learn the latency without queueing. 0: no probe.
	Probe Duration `json:"probe,omitempty"`
	// Warmup runs the load before the window, outside the figures.
	Warmup Duration `json:"warmup"`
	// Duration is the length of the measured window.
	Duration Duration `json:"duration"`
	// Seed starts the generators of offsets and data: the same seed gives the same offsets.
	Seed int64 `json:"seed"`
}

// Stream is how I/O is issued. Every field has its effective value.
type Stream struct {
	// Name identifies one of several streams in the results; empty for a single one.
	Name string `json:"name,omitempty"`
	// Pattern is the order of offsets.
	Pattern Pattern `json:"pattern"`
	// RandomPercent is the share of operations of a Sequential stream that jump to a drawn offset,
	// from where it goes on (DiskSpd's -rs).
	RandomPercent int `json:"randomPercent,omitempty"`
	// ReadPercent is the share of reads among the operations, 0 to 100.
	ReadPercent int `json:"readPercent"`
	// BlockSizeBytes is the size of each operation.
	BlockSizeBytes int64 `json:"blockSizeBytes"`
	// Threads is the number of workers that issue I/O.
	Threads int `json:"threads"`
	// QueueDepth is the number of I/Os each worker keeps outstanding.
	QueueDepth int `json:"queueDepth"`
	// SharedOffset lets the threads of a sequential stream share one offset (DiskSpd's -si).
	// Otherwise each thread has its own part of the range.
	SharedOffset bool `json:"sharedOffset,omitempty"`
	// RateLimitIOPS holds each thread to a rate in operations per second (DiskSpd's -g); each I/O is
	// timed from when it was due. 0: as fast as the queue allows.
	RateLimitIOPS int64 `json:"rateLimitIOPS,omitempty"`
	// Range is the part of the file that is used.
	Range Range `json:"range"`
	// Distribution of drawn offsets over the range.
	Distribution Distribution `json:"distribution"`
	// Sync is how far a write has to get.
	Sync SyncMode `json:"sync"`
	// FlushEvery is the number of a thread's writes between flushes, which the thread waits for.
	FlushEvery int `json:"flushEvery,omitempty"`
	// FlushInterval is the time between flushes that run beside the stream, as an application's
	// background thread does.
	FlushInterval Duration `json:"flushInterval,omitempty"`
}

// Range is a part of the file, in percent of its size. Its bounds are rounded down to whole blocks.
type Range struct {
	StartPercent float64 `json:"startPercent"`
	EndPercent   float64 `json:"endPercent"`
}

// Whole is the range of the whole file.
var Whole = Range{EndPercent: 100}

// Blocks gives the range's first block and the one after its last, of a file of fileSize bytes.
func (r Range) Blocks(fileSize, blockSize int64) (first, end int64) {
	at := func(percent float64) int64 {
		if percent >= 100 {
			return fileSize / blockSize
		}
		return int64(float64(fileSize)*percent/100) / blockSize
	}
	return at(r.StartPercent), at(r.EndPercent)
}

// DistributionType names a distribution.
type DistributionType string

// The distributions.
const (
	// Uniform draws every block equally often.
	Uniform DistributionType = "Uniform"
	// Hotspot draws IOPercent of the offsets from the first RangePercent of the range (DiskSpd's -rdpct).
	Hotspot DistributionType = "Hotspot"
	// Zipf draws the k-th most wanted block k^-1.1 as often as the first (fio's zipf:1.1). The wanted
	// blocks are scattered over the range.
	Zipf DistributionType = "Zipf"
)

// Distribution of drawn offsets. The percentages are those of a Hotspot.
type Distribution struct {
	Type         DistributionType `json:"type"`
	IOPercent    int              `json:"ioPercent,omitempty"`
	RangePercent int              `json:"rangePercent,omitempty"`
}

// Outstanding is the number of I/Os the workload keeps in flight.
func (w Workload) Outstanding() int {
	sum := 0
	for _, s := range w.Streams {
		sum += s.Outstanding()
	}
	return sum
}

// Threads is the number of workers of all streams.
func (w Workload) Threads() int {
	sum := 0
	for _, s := range w.Streams {
		sum += s.Threads
	}
	return sum
}

// Reads says whether the workload has reads.
func (w Workload) Reads() bool { return w.any(Stream.Reads) }

// Writes says whether the workload has writes.
func (w Workload) Writes() bool { return w.any(Stream.Writes) }

// Flushes says whether the workload has flushes.
func (w Workload) Flushes() bool { return w.any(Stream.Flushes) }

func (w Workload) any(is func(Stream) bool) bool { return slices.ContainsFunc(w.Streams, is) }

// Buffered says whether the workload goes through the page cache.
func (w Workload) Buffered() bool { return w.DirectIO == DirectDisabled }

// Saturates says whether the workload asks for all that the disk gives: no rate holds it back and
// more than one I/O is outstanding. Only then do burst credits run out.
func (w Workload) Saturates() bool {
	return w.Operations == 0 && w.Outstanding() > 1 && !w.any(func(s Stream) bool { return s.RateLimitIOPS > 0 })
}

// OwnFile says whether the workload needs a new file for each repetition.
func (w Workload) OwnFile() bool { return w.Layout != Written }

// Outstanding is the number of I/Os the stream keeps in flight.
func (s Stream) Outstanding() int { return s.Threads * s.QueueDepth }

// Reads says whether the stream has reads.
func (s Stream) Reads() bool { return s.ReadPercent > 0 }

// Writes says whether the stream has writes.
func (s Stream) Writes() bool { return s.ReadPercent < 100 }

// Flushes says whether the stream has flushes.
func (s Stream) Flushes() bool { return s.Sync == SyncFlush }

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
