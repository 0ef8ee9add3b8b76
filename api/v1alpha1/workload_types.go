// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// Workload is one load to measure: a preset, a custom one with a name, or a preset with overrides.
// A field left out takes the preset's value, or without a preset the default that is named here.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) || has(self.name)",message="a workload needs a preset or, when custom, a name"
// +kubebuilder:validation:XValidation:rule="has(self.preset) || has(self.streams) || (has(self.pattern) && has(self.readPercent) && has(self.blockSize))",message="a workload without a preset needs pattern, readPercent and blockSize, or streams"
// +kubebuilder:validation:XValidation:rule="!has(self.preset) || !has(self.streams)",messageExpression="'preset ' + self.preset + ' has streams of its own: remove streams, or remove preset and set name'"
// +kubebuilder:validation:XValidation:rule="!has(self.preset) || !(self.preset in ['vdi-fleet','sql']) || !(has(self.pattern) || has(self.randomPercent) || has(self.readPercent) || has(self.blockSize) || has(self.threads) || has(self.queueDepth) || has(self.sequentialOffset) || has(self.rateLimitIOPS) || has(self.range) || has(self.distribution) || has(self.sync) || has(self.flushEvery) || has(self.flushIntervalSeconds))",messageExpression="'preset ' + self.preset + ' has several streams, and a field of one stream says nothing about which: write the streams in full instead of the preset'"
// +kubebuilder:validation:XValidation:rule="!has(self.streams) || !(has(self.pattern) || has(self.randomPercent) || has(self.readPercent) || has(self.blockSize) || has(self.threads) || has(self.queueDepth) || has(self.sequentialOffset) || has(self.rateLimitIOPS) || has(self.range) || has(self.distribution) || has(self.sync) || has(self.flushEvery) || has(self.flushIntervalSeconds))",message="streams with a field of a stream beside them: put the field into each stream"
// +kubebuilder:validation:XValidation:rule="!has(self.streams) || self.streams.all(s, self.streams.exists_one(x, x.name == s.name))",message="two streams have the same name: give each a different one"
// +kubebuilder:validation:XValidation:rule="!has(self.streams) || self.streams.map(s, has(s.threads) ? s.threads : 1).sum() <= 64",message="streams have more than 64 threads in all: lower threads"
// +kubebuilder:validation:XValidation:rule="(has(self.directIO) ? self.directIO == 'Disabled' : has(self.preset) && self.preset in ['etcd','postgres-wal','redis-aof']) || !has(self.blockSize) || (type(self.blockSize) == int ? self.blockSize % 512 == 0 : !isQuantity(self.blockSize) || quantity(self.blockSize).compareTo(quantity('16Mi')) > 0 || quantity(self.blockSize).asApproximateFloat() != double(int(quantity(self.blockSize).asApproximateFloat())) || int(quantity(self.blockSize).asApproximateFloat()) % 512 == 0)",messageExpression="'blockSize ' + string(self.blockSize) + ' is not a multiple of 512 bytes' + (type(self.blockSize) == string && self.blockSize.matches('^[0-9]+[kM]$') ? ', did you mean ' + self.blockSize.replace('k', 'Ki').replace('M', 'Mi') + '?' : string(self.blockSize).matches('^[0-9]+000$') ? ', did you mean ' + string(self.blockSize).substring(0, string(self.blockSize).size() - 3) + 'Ki?' : ', which direct I/O needs: round it, or set directIO to Disabled')"
// +kubebuilder:validation:XValidation:rule="(has(self.directIO) ? self.directIO == 'Disabled' : has(self.preset) && self.preset in ['etcd','postgres-wal','redis-aof']) || !has(self.streams) || self.streams.all(s, !has(s.blockSize) || (type(s.blockSize) == int ? s.blockSize % 512 == 0 : !isQuantity(s.blockSize) || quantity(s.blockSize).compareTo(quantity('16Mi')) > 0 || quantity(s.blockSize).asApproximateFloat() != double(int(quantity(s.blockSize).asApproximateFloat())) || int(quantity(s.blockSize).asApproximateFloat()) % 512 == 0))",messageExpression="'the blockSize of stream ' + self.streams.filter(s, has(s.blockSize) && !(type(s.blockSize) == int ? s.blockSize % 512 == 0 : !isQuantity(s.blockSize) || quantity(s.blockSize).compareTo(quantity('16Mi')) > 0 || quantity(s.blockSize).asApproximateFloat() != double(int(quantity(s.blockSize).asApproximateFloat())) || int(quantity(s.blockSize).asApproximateFloat()) % 512 == 0))[0].name + ' is not a multiple of 512 bytes, which direct I/O needs (4k is 4,000 bytes, 4Ki is 4,096): round it, or set directIO to Disabled'"
// +kubebuilder:validation:XValidation:rule="!(has(self.directIO) ? self.directIO == 'Disabled' : has(self.preset) && self.preset in ['etcd','postgres-wal','redis-aof']) || (has(self.streams) ? self.streams.all(s, !has(s.queueDepth) || s.queueDepth == 1) : has(self.queueDepth) ? self.queueDepth == 1 : (!has(self.preset) || self.preset in ['latency','etcd','postgres-wal','redis-aof']))",message="directIO: Disabled makes one I/O at a time for each thread: set queueDepth to 1, and use more threads"
// +kubebuilder:validation:XValidation:rule="!(has(self.layout) ? self.layout != 'Written' : has(self.preset) && self.preset in ['etcd','redis-aof']) || (has(self.streams) ? self.streams.all(s, has(s.readPercent) && s.readPercent == 0) : has(self.readPercent) ? self.readPercent == 0 : has(self.preset) && self.preset in ['randwrite','seqwrite','kafka','etcd','postgres-wal','redis-aof'])",message="layout Preallocated and Append are for writes alone, since what was never written is read from memory: set readPercent to 0, or layout to Written"
// +kubebuilder:validation:XValidation:rule="!(has(self.layout) ? self.layout == 'Append' : has(self.preset) && self.preset == 'redis-aof') || (has(self.streams) ? self.streams.size() == 1 && self.streams.all(s, (has(s.pattern) ? s.pattern == 'Sequential' : false) && (has(s.threads) ? s.threads == 1 : true) && (has(s.queueDepth) ? s.queueDepth == 1 : true) && (has(s.randomPercent) ? s.randomPercent == 0 : true) && (!has(s.range) || ((!has(s.range.startPercent) || s.range.startPercent == 0) && (!has(s.range.endPercent) || s.range.endPercent == 100)))) : (has(self.pattern) ? self.pattern == 'Sequential' : has(self.preset) && self.preset in ['seqwrite','kafka','etcd','postgres-wal','redis-aof']) && (has(self.threads) ? self.threads == 1 : (!has(self.preset) || self.preset in ['latency','etcd','postgres-wal','redis-aof'])) && (has(self.queueDepth) ? self.queueDepth == 1 : (!has(self.preset) || self.preset in ['latency','etcd','postgres-wal','redis-aof'])) && (has(self.randomPercent) ? self.randomPercent == 0 : true) && (!has(self.range) || ((!has(self.range.startPercent) || self.range.startPercent == 0) && (!has(self.range.endPercent) || self.range.endPercent == 100))))",message="layout Append needs one stream of one thread with queueDepth 1, pattern Sequential and the whole range: a file has one end"
// +kubebuilder:validation:XValidation:rule="!has(self.verification) || self.verification == 'None' || !(has(self.directIO) ? self.directIO == 'Disabled' : has(self.preset) && self.preset in ['etcd','postgres-wal','redis-aof'])",message="verification: Checksum with directIO Disabled would check the page cache: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.verification) || self.verification == 'None' || (has(self.streams) ? self.streams.exists(s, has(s.readPercent) && s.readPercent > 0) : has(self.readPercent) ? self.readPercent > 0 : !has(self.preset) || !(self.preset in ['randwrite','seqwrite','kafka','etcd','postgres-wal','redis-aof']))",message="verification: Checksum without reads checks nothing: raise readPercent, or remove verification"
// +kubebuilder:validation:XValidation:rule="has(self.streams) || (has(self.preset) && self.preset in ['etcd','postgres-wal','redis-aof']) || (has(self.sync) && self.sync == 'Flush') == (has(self.flushEvery) || has(self.flushIntervalSeconds))",message="sync: Flush goes with flushEvery, a number of writes, or flushIntervalSeconds, a time: set sync and one of them, or none"
type Workload struct {
	// name in the results, in place of the preset's.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'workload name ' + self + ' must be lower-case letters, digits and dashes, and begin and end with a letter or digit'"
	Name *string `json:"name,omitempty"`
	// preset is a named workload: vdi, vdi-fleet, oltp, sql, sharepoint, etcd, postgres-wal, redis-aof,
	// kafka, randread, randwrite, seqread, seqwrite, latency, ladder, quick or profile.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self in ['vdi','vdi-fleet','oltp','sql','sharepoint','etcd','postgres-wal','redis-aof','kafka','randread','randwrite','seqread','seqwrite','latency','ladder','quick','profile']",messageExpression="'unknown preset ' + self + ': use vdi, vdi-fleet, oltp, sql, sharepoint, etcd, postgres-wal, redis-aof, kafka, randread, randwrite, seqread, seqwrite, latency, ladder, quick or profile'"
	Preset *string `json:"preset,omitempty"`
	Stream `json:",inline"`
	// streams run at the same time on the same file, in place of the one written inline. One benchmark
	// has at most eight, not counting workloads with a single stream.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Streams []NamedStream `json:"streams,omitempty"`
	// fileSize is the size of the engine's file, or the part of a block device that is used. Omitted:
	// the preset's, mostly 4Gi, and less where 80% of the free space is less. A size that is asked for
	// and does not fit ends the run. With several volumes it is spread over them.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == string && isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0 && quantity(self).compareTo(quantity('64Ti')) <= 0",messageExpression="'fileSize ' + string(self) + ' must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi'"
	FileSize *resource.Quantity `json:"fileSize,omitempty"`
	// layout says how the file comes to be. Written (the default): every block is really written
	// before. Preallocated: a new file for each repetition, whose space is set aside and not written.
	// Append: a new, empty file that grows with each write, and starts over at fileSize.
	// +optional
	Layout *Layout `json:"layout,omitempty"`
	// directIO says whether the page cache is bypassed: Required (the default) or Disabled, which goes
	// through it with one I/O at a time for each thread, in blocks of any size.
	// +optional
	DirectIO *DirectIO `json:"directIO,omitempty"`
	// verification checks what is read: None (the default) or Checksum, where each block carries its
	// own offset and a checksum. It takes processor time.
	// +optional
	Verification *Verification `json:"verification,omitempty"`
	// operations ends the window after so many operations of all streams together; durationSeconds is
	// then the longest it may take.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	Operations *int64 `json:"operations,omitempty"`
	// warmupSeconds runs the load before the window, outside the figures. Default 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`
	// durationSeconds is the measured window. Default 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`
	// seed starts the generators of offsets and data: the same seed gives the same offsets. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`
}

// Stream is how I/O is issued.
//
// +kubebuilder:validation:XValidation:rule="!has(self.flushEvery) || !has(self.flushIntervalSeconds)",message="flushEvery counts writes and flushIntervalSeconds seconds: set one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.sync) || self.sync == 'Flush' || !(has(self.flushEvery) || has(self.flushIntervalSeconds))",messageExpression="'flushEvery and flushIntervalSeconds go with sync: Flush, not with ' + self.sync"
// +kubebuilder:validation:XValidation:rule="!has(self.sync) || self.sync != 'Flush' || !has(self.readPercent) || self.readPercent < 100",message="sync: Flush without writes has nothing to flush: lower readPercent, or remove sync"
// +kubebuilder:validation:XValidation:rule="!has(self.randomPercent) || self.randomPercent == 0 || !has(self.pattern) || self.pattern == 'Sequential'",message="randomPercent is the share of jumps in a Sequential stream: set pattern to Sequential, or remove randomPercent"
// +kubebuilder:validation:XValidation:rule="!has(self.sequentialOffset) || self.sequentialOffset != 'Shared' || ((!has(self.pattern) || self.pattern == 'Sequential') && (!has(self.randomPercent) || self.randomPercent == 0))",message="sequentialOffset: Shared is for purely sequential streams: set pattern to Sequential and remove randomPercent, or remove sequentialOffset"
// +kubebuilder:validation:XValidation:rule="!has(self.distribution) || self.distribution.type == 'Uniform' || !has(self.pattern) || self.pattern == 'Random' || (has(self.randomPercent) && self.randomPercent > 0)",message="distribution is that of drawn offsets: set pattern to Random, give randomPercent, or remove distribution"
type Stream struct {
	// pattern is the order of offsets: Random draws each among the blocks of the range; Sequential
	// visits them in ascending order, starting over at the end.
	// +optional
	Pattern *Pattern `json:"pattern,omitempty"`
	// randomPercent is the share of the operations of a Sequential stream that jump to a drawn offset,
	// from where it goes on (DiskSpd's -rs), 0 (the default) to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RandomPercent *int32 `json:"randomPercent,omitempty"`
	// readPercent is the share of reads among the operations, 0 to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadPercent *int32 `json:"readPercent,omitempty"`
	// blockSize is the size of an operation, up to 16Mi: with direct I/O a multiple of 512 bytes, such
	// as 4Ki or 1Mi; with directIO Disabled any number of bytes.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == int || isQuantity(self)",messageExpression="'blockSize ' + string(self) + (type(self) == string && self.matches('^[0-9]+[KkMm]i?[Bb]?$') ? ' is not a quantity, did you mean ' + self.lowerAscii().replace('b', '').replace('i', '').replace('k', 'Ki').replace('m', 'Mi') + '?' : ' is not a number of bytes: write 4Ki, 64Ki or 1Mi')"
	// +kubebuilder:validation:XValidation:rule="type(self) == int || !isQuantity(self) || quantity(self).compareTo(quantity('16Mi')) > 0 || quantity(self).asApproximateFloat() == double(int(quantity(self).asApproximateFloat()))",messageExpression="'blockSize ' + string(self) + ' is not a whole number of bytes'"
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 16777216 : (!isQuantity(self) || (quantity(self).compareTo(quantity('0')) > 0 && quantity(self).compareTo(quantity('16Mi')) <= 0))",messageExpression="'blockSize ' + string(self) + ' is outside 1 to 16Mi bytes'"
	BlockSize *resource.Quantity `json:"blockSize,omitempty"`
	// threads is the number of workers that issue I/O. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Threads *int32 `json:"threads,omitempty"`
	// queueDepth is the number of I/Os that each thread keeps outstanding. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	QueueDepth *int32 `json:"queueDepth,omitempty"`
	// sequentialOffset says whether the threads of a sequential stream share one offset (DiskSpd's
	// -si) or each have their own part of the file: Shared or PerThread (the default).
	// +optional
	SequentialOffset *SequentialOffset `json:"sequentialOffset,omitempty"`
	// rateLimitIOPS holds each thread to a rate in operations per second (DiskSpd's -g). Each I/O is
	// timed from when it was due, so a disk that cannot keep up shows in the latency.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	RateLimitIOPS *int64 `json:"rateLimitIOPS,omitempty"`
	// range is the part of the file that is used. Default: the whole.
	// +optional
	Range *Range `json:"range,omitempty"`
	// distribution of drawn offsets over the range. Default: Uniform.
	// +optional
	Distribution *Distribution `json:"distribution,omitempty"`
	// sync is how far a write has to get: None (the default), WriteThrough (O_DSYNC on every write,
	// with direct I/O DiskSpd's -Sh) or Flush (fdatasync, as flushEvery or flushIntervalSeconds says).
	// A flush has latencies of its own.
	// +optional
	Sync *SyncMode `json:"sync,omitempty"`
	// flushEvery is the number of a thread's writes between flushes, which the thread waits for.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	FlushEvery *int32 `json:"flushEvery,omitempty"`
	// flushIntervalSeconds is the time between flushes that run beside the stream, as an application's
	// background thread does; at most 30, after which the kernel writes back by itself.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	FlushIntervalSeconds *int32 `json:"flushIntervalSeconds,omitempty"`
}

// NamedStream is one of several streams of a workload.
//
// +kubebuilder:validation:XValidation:rule="has(self.pattern) && has(self.readPercent) && has(self.blockSize)",messageExpression="'stream ' + self.name + ' needs pattern, readPercent and blockSize'"
// +kubebuilder:validation:XValidation:rule="(has(self.sync) && self.sync == 'Flush') == (has(self.flushEvery) || has(self.flushIntervalSeconds))",messageExpression="'stream ' + self.name + ': sync: Flush goes with flushEvery, a number of writes, or flushIntervalSeconds, a time: set sync and one of them, or none'"
type NamedStream struct {
	// name in the results.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'stream name ' + self + ' must be lower-case letters, digits and dashes, and begin and end with a letter or digit'"
	Name   string `json:"name,omitempty"`
	Stream `json:",inline"`
}

// Range is a part of the file, in percent of its size. Its bounds are rounded down to whole blocks.
//
// +kubebuilder:validation:XValidation:rule="(has(self.startPercent) ? self.startPercent : 0) < (has(self.endPercent) ? self.endPercent : 100)",message="range.startPercent (default 0) must be below range.endPercent (default 100)"
type Range struct {
	// startPercent of the file. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	StartPercent *int32 `json:"startPercent,omitempty"`
	// endPercent of the file. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	EndPercent *int32 `json:"endPercent,omitempty"`
}

// Distribution of drawn offsets over the range.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'Hotspot' || !(has(self.ioPercent) || has(self.rangePercent))",messageExpression="'distribution ' + self.type + ' has no ioPercent and rangePercent, which are those of a Hotspot: remove them, or set type to Hotspot'"
// +kubebuilder:validation:XValidation:rule="self.type != 'Hotspot' || (has(self.ioPercent) && has(self.rangePercent))",message="distribution Hotspot needs ioPercent and rangePercent: so much of the I/O goes to so much of the range"
type Distribution struct {
	// type of the distribution. Uniform draws every block equally often. Hotspot draws ioPercent of the
	// offsets from the first rangePercent of the range (DiskSpd's -rdpct). Zipf draws the k-th most
	// wanted block k^-1.1 as often as the first, the wanted blocks scattered over the range.
	// +required
	Type DistributionType `json:"type,omitempty"`
	// ioPercent of the I/O goes to the first rangePercent of the range (Hotspot).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	IOPercent *int32 `json:"ioPercent,omitempty"`
	// rangePercent of the range takes ioPercent of the I/O (Hotspot).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	RangePercent *int32 `json:"rangePercent,omitempty"`
}

// DistributionType names a distribution of drawn offsets.
// +kubebuilder:validation:Enum=Uniform;Hotspot;Zipf
type DistributionType string

// Pattern is the order of offsets.
// +kubebuilder:validation:Enum=Random;Sequential
type Pattern string

// SequentialOffset says whose the offset of a sequential stream is.
// +kubebuilder:validation:Enum=Shared;PerThread
type SequentialOffset string

// The sequential offsets.
const (
	// SequentialOffsetShared lets the threads share one offset.
	SequentialOffsetShared SequentialOffset = "Shared"
	// SequentialOffsetPerThread gives each thread its own part of the file.
	SequentialOffsetPerThread SequentialOffset = "PerThread"
)

// SyncMode is how far a write has to get.
// +kubebuilder:validation:Enum=None;WriteThrough;Flush
type SyncMode string

// The sync modes.
const (
	// SyncNone completes a write when the device says so; that may be its cache.
	SyncNone SyncMode = "None"
	// SyncWriteThrough is O_DSYNC on every write.
	SyncWriteThrough SyncMode = "WriteThrough"
	// SyncFlush makes earlier writes durable with fdatasync.
	SyncFlush SyncMode = "Flush"
)

// Layout says how the file comes to be.
// +kubebuilder:validation:Enum=Written;Preallocated;Append
type Layout string

// The layouts.
const (
	// LayoutWritten is a file of which every block was really written.
	LayoutWritten Layout = "Written"
	// LayoutPreallocated is a file whose space is set aside and not written.
	LayoutPreallocated Layout = "Preallocated"
	// LayoutAppend is a file that grows with each write.
	LayoutAppend Layout = "Append"
)

// DirectIO says whether the page cache is bypassed.
// +kubebuilder:validation:Enum=Required;Disabled
type DirectIO string

// The kinds of I/O.
const (
	// DirectIORequired bypasses the page cache, as proven on the volume.
	DirectIORequired DirectIO = "Required"
	// DirectIODisabled goes through it.
	DirectIODisabled DirectIO = "Disabled"
)

// Verification says how what is read is checked.
// +kubebuilder:validation:Enum=None;Checksum
type Verification string

// The kinds of verification.
const (
	// VerificationNone checks nothing.
	VerificationNone Verification = "None"
	// VerificationChecksum checks that each block carries its own offset and a right checksum.
	VerificationChecksum Verification = "Checksum"
)
