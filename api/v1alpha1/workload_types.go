// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// Workload is one load to measure: a preset, a custom one with a name, or a preset with overrides.
// A field left out takes the preset's value, or without a preset the default that is named here.
//
// +kubebuilder:validation:XValidation:rule="has(self.preset) || has(self.name)",message="a workload needs a preset or, when custom, a name"
// +kubebuilder:validation:XValidation:rule="has(self.preset) || has(self.streams) || (has(self.pattern) && has(self.readPercent) && has(self.blockSize))",message="a workload without a preset needs pattern, readPercent and blockSize"
// +kubebuilder:validation:XValidation:rule="!has(self.streams)",message="streams are not supported by this release: write one stream inline (pattern, readPercent, blockSize, threads, queueDepth)"
// +kubebuilder:validation:XValidation:rule="!has(self.sync) || self.sync != 'Flush'",message="sync: Flush is not supported by this release: use None or WriteThrough"
// +kubebuilder:validation:XValidation:rule="!has(self.flushEvery) && !has(self.flushIntervalSeconds)",message="flushEvery and flushIntervalSeconds are not supported by this release: remove them"
// +kubebuilder:validation:XValidation:rule="!has(self.rateLimitIOPS)",message="rateLimitIOPS is not supported by this release: remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.distribution)",message="distribution is not supported by this release: remove it, offsets are uniform"
// +kubebuilder:validation:XValidation:rule="!has(self.range)",message="range is not supported by this release: remove it, the whole file is used"
// +kubebuilder:validation:XValidation:rule="!has(self.layout) || self.layout == 'Written'",messageExpression="'layout: ' + self.layout + ' is not supported by this release: set it to Written or remove it'"
// +kubebuilder:validation:XValidation:rule="!has(self.directIO) || self.directIO == 'Required'",message="directIO: Disabled is not supported by this release: set it to Required or remove it"
type Workload struct {
	// name in the results, in place of the preset's.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",messageExpression="'workload name ' + self + ' must be lower-case letters, digits and dashes, and begin and end with a letter or digit'"
	Name *string `json:"name,omitempty"`
	// preset is a named workload: vdi, oltp, sharepoint, randread, randwrite, seqread, seqwrite,
	// latency, quick or profile.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self in ['vdi','oltp','sharepoint','randread','randwrite','seqread','seqwrite','latency','quick','profile','vdi-fleet','sql','etcd','postgres-wal','redis-aof','kafka','ladder']",messageExpression="'unknown preset ' + self + ': use vdi, oltp, sharepoint, randread, randwrite, seqread, seqwrite, latency, quick or profile'"
	// +kubebuilder:validation:XValidation:rule="!(self in ['vdi-fleet','sql','etcd','postgres-wal','redis-aof','kafka','ladder'])",messageExpression="'preset ' + self + ' is not supported by this release: use vdi, oltp, sharepoint, randread, randwrite, seqread, seqwrite, latency, quick or profile'"
	Preset *string `json:"preset,omitempty"`
	Stream `json:",inline"`
	// streams run at the same time on the same file, in place of the one written inline. Not
	// supported by this release.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Streams []NamedStream `json:"streams,omitempty"`
	// fileSize is the size of the engine's file, or the part of a block device that is used. Omitted:
	// the preset's, mostly 4Gi, and less where 80% of the free space is less. A size that is asked for
	// and does not fit ends the run.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == string && isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0 && quantity(self).compareTo(quantity('64Ti')) <= 0",messageExpression="'fileSize ' + string(self) + ' must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi'"
	FileSize *resource.Quantity `json:"fileSize,omitempty"`
	// layout says how the file comes to be: Written (the default), Preallocated or Append. This
	// release supports Written.
	// +optional
	Layout *Layout `json:"layout,omitempty"`
	// directIO says whether the page cache is bypassed: Required (the default) or Disabled. This
	// release supports Required.
	// +optional
	DirectIO *DirectIO `json:"directIO,omitempty"`
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
type Stream struct {
	// pattern is the order of offsets.
	// +optional
	Pattern *Pattern `json:"pattern,omitempty"`
	// readPercent is the share of reads among the operations, 0 to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadPercent *int32 `json:"readPercent,omitempty"`
	// blockSize is the size of an operation, a multiple of 512 bytes up to 16Mi, such as 4Ki or 1Mi.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == int || isQuantity(self)",messageExpression="'blockSize ' + string(self) + (type(self) == string && self.matches('^[0-9]+[KkMm]i?[Bb]?$') ? ' is not a quantity, did you mean ' + self.lowerAscii().replace('b', '').replace('i', '').replace('k', 'Ki').replace('m', 'Mi') + '?' : ' is not a number of bytes: write 4Ki, 64Ki or 1Mi')"
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self % 512 == 0 : (!isQuantity(self) || quantity(self).compareTo(quantity('16Mi')) > 0 || quantity(self).asApproximateFloat() == double(int(quantity(self).asApproximateFloat())) && int(quantity(self).asApproximateFloat()) % 512 == 0)",messageExpression="'blockSize ' + string(self) + ' is not a multiple of 512 bytes' + (type(self) == string && self.matches('^[0-9]+[kM]$') ? ', did you mean ' + self.replace('k', 'Ki').replace('M', 'Mi') + '?' : string(self).matches('^[0-9]+000$') ? ', did you mean ' + string(self).substring(0, string(self).size() - 3) + 'Ki?' : '')"
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 512 && self <= 16777216 : (!isQuantity(self) || (quantity(self).compareTo(quantity('512')) >= 0 && quantity(self).compareTo(quantity('16Mi')) <= 0))",messageExpression="'blockSize ' + string(self) + ' is outside 512 to 16Mi bytes'"
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
	// rateLimitIOPS holds each thread to a rate, each I/O timed from its intended start. Not supported
	// by this release.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RateLimitIOPS *int64 `json:"rateLimitIOPS,omitempty"`
	// range is the part of the file that is used. Not supported by this release.
	// +optional
	Range *Range `json:"range,omitempty"`
	// distribution of random offsets. Not supported by this release.
	// +optional
	Distribution *Distribution `json:"distribution,omitempty"`
	// sync is how far a write has to get: None (the default) or WriteThrough (O_DSYNC on every write,
	// with direct I/O DiskSpd's -Sh). Flush is not supported by this release.
	// +optional
	Sync *SyncMode `json:"sync,omitempty"`
	// flushEvery is the number of writes between flushes. Not supported by this release.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FlushEvery *int32 `json:"flushEvery,omitempty"`
	// flushIntervalSeconds is the time between flushes. Not supported by this release.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FlushIntervalSeconds *int32 `json:"flushIntervalSeconds,omitempty"`
}

// NamedStream is one of several streams of a workload.
type NamedStream struct {
	// name in the results.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name   string `json:"name,omitempty"`
	Stream `json:",inline"`
}

// Range is a part of the file.
type Range struct {
	// startPercent of the file.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	StartPercent *int32 `json:"startPercent,omitempty"`
	// endPercent of the file.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	EndPercent *int32 `json:"endPercent,omitempty"`
}

// Distribution of random offsets.
type Distribution struct {
	// type of the distribution: Uniform, Hotspot or Zipf.
	// +required
	// +kubebuilder:validation:Enum=Uniform;Hotspot;Zipf
	Type string `json:"type,omitempty"`
	// ioPercent of the I/O goes to rangePercent of the file (Hotspot).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	IOPercent *int32 `json:"ioPercent,omitempty"`
	// rangePercent of the file takes ioPercent of the I/O (Hotspot).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	RangePercent *int32 `json:"rangePercent,omitempty"`
}

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
