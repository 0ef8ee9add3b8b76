// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DiskBenchmarkStatus is what was measured.
type DiskBenchmarkStatus struct {
	// observedGeneration is the generation of spec that this status is about; -1 before the first.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are the state. Ready is the summary, and its reason the state in a word; Finished
	// turns True at either end; TargetsMet says whether the targets were met. Reconciling and Stalled
	// follow kstatus and are present only when True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// summary holds the figures as text, for people.
	// +optional
	Summary *Summary `json:"summary,omitempty"`
	// run is the current or last run, and the facts that belong to its figures.
	// +optional
	Run *Run `json:"run,omitempty"`
	// measurements are the evidence: written once for each run, one for each workload.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Measurements []Measurement `json:"measurements,omitempty"`
	// cost is what the volume costs a month, and what the run cost: computed from the run's facts, the
	// catalog, prices and spec.cost, and anew when one of them changes.
	// +optional
	Cost *Cost `json:"cost,omitempty"`
	// assessment says what limited each workload, by the published limits of the disk and the VM: computed
	// from measurements, the run's facts and the catalog, and anew when the catalog changes.
	// +optional
	Assessment *Assessment `json:"assessment,omitempty"`
	// warnings are what a reader of the figures should know.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Warnings []string `json:"warnings,omitempty"`
	// history holds the summaries of earlier runs, newest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	History []HistoricRun `json:"history,omitempty"`
}

// Summary holds the figures as text, for people. Of several workloads the figures stand one after
// another, in the order of workloads.
type Summary struct {
	// workloads are their names.
	// +optional
	Workloads string `json:"workloads,omitempty"`
	// iops is operations per second.
	// +optional
	IOPS string `json:"iops,omitempty"`
	// throughput is in MB/s, 10^6 bytes per second.
	// +optional
	Throughput string `json:"throughput,omitempty"`
	// p99 is the 99th percentile of the latency, with its unit; that of the flushes, and marked so,
	// where a workload has enough of them.
	// +optional
	P99 string `json:"p99,omitempty"`
	// limitedBy is what limited each workload, or Unknown.
	// +optional
	LimitedBy string `json:"limitedBy,omitempty"`
	// cost of the volume a month with its currency, such as 19.71 USD, or unknown.
	// +optional
	Cost string `json:"cost,omitempty"`
}

// HistoricRun is what is kept of an earlier run.
type HistoricRun struct {
	// number of the run.
	// +required
	Number int64 `json:"number,omitempty"`
	// reason is how it ended.
	// +optional
	Reason string `json:"reason,omitempty"`
	// finishTime is when it ended.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// summary is its figures.
	// +optional
	Summary *Summary `json:"summary,omitempty"`
}

// Run is one run and the facts that belong to its figures.
type Run struct {
	// number counts the runs of this DiskBenchmark from 1. It is persisted before anything is created.
	// +required
	Number int64 `json:"number,omitempty"`
	// name is the name of the run's Job. Its claim has the same name; several have it with a number
	// from 0 behind a dash.
	// +required
	Name string `json:"name,omitempty"`
	// specHash identifies the measured part of spec.
	// +required
	SpecHash string `json:"specHash,omitempty"`
	// phase is how far the run has come.
	// +required
	Phase Phase `json:"phase,omitempty"`
	// phaseTime is when the phase began.
	// +required
	PhaseTime metav1.Time `json:"phaseTime,omitempty,omitzero"`
	// outcome is the reason with which the run ended; empty while it goes on. Cleanup follows it.
	// +optional
	Outcome string `json:"outcome,omitempty"`
	// outcomeMessage is the outcome in words.
	// +optional
	OutcomeMessage string `json:"outcomeMessage,omitempty"`
	// startTime is when the run began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// finishTime is when the outcome was known.
	// +optional
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// podName is the pod that ran the engine.
	// +optional
	PodName string `json:"podName,omitempty"`
	// podUID is that pod's UID.
	// +optional
	PodUID types.UID `json:"podUID,omitempty"`

	// storageClassName is the class that was used.
	// +optional
	StorageClassName string `json:"storageClassName,omitempty"`
	// provisioner of the class.
	// +optional
	Provisioner string `json:"provisioner,omitempty"`
	// parameters of the class.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// volumeAttributesClassName is the VolumeAttributesClass that was used.
	// +optional
	VolumeAttributesClassName string `json:"volumeAttributesClassName,omitempty"`
	// volumeAttributesParameters are those of the VolumeAttributesClass.
	// +optional
	VolumeAttributesParameters map[string]string `json:"volumeAttributesParameters,omitempty"`
	// volumeAttributes are those of the PersistentVolume that describe an Azure disk: what it was created
	// with, even when the class has changed since. Of several volumes, which are made alike, those of the
	// first.
	// +optional
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty"`
	// size is the real capacity of each volume, or the requested one before that is known.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// volumes that were measured: of several repetitions with a set of their own, set after set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Volumes []Volume `json:"volumes,omitempty"`
	// stripeSizeBytes of a striped set; absent without striping.
	// +optional
	StripeSizeBytes int64 `json:"stripeSizeBytes,omitempty"`

	// nodeName is the node that ran the engine.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// vmSize is the node's instance type, such as Standard_D8s_v5.
	// +optional
	VMSize string `json:"vmSize,omitempty"`
	// region of the node.
	// +optional
	Region string `json:"region,omitempty"`
	// zone of the node.
	// +optional
	Zone string `json:"zone,omitempty"`
	// kernel release of the node.
	// +optional
	Kernel string `json:"kernel,omitempty"`
	// filesystem that was measured, such as ext4; empty for a block device.
	// +optional
	Filesystem string `json:"filesystem,omitempty"`
	// device is the kernel's name of the disk on the node, such as sdc or nvme0n2; of several, of the
	// first.
	// +optional
	Device string `json:"device,omitempty"`
	// logicalBlockSizeBytes is the smallest direct I/O of the volume.
	// +optional
	LogicalBlockSizeBytes int64 `json:"logicalBlockSizeBytes,omitempty"`
	// queue is how the kernel drives that disk, where it is known.
	// +optional
	Queue *Queue `json:"queue,omitempty"`
	// image of the engine.
	// +optional
	Image string `json:"image,omitempty"`
	// engineVersion is the engine's own version.
	// +optional
	EngineVersion string `json:"engineVersion,omitempty"`
	// ioEngine is the kernel interface that issued the I/O.
	// +optional
	IOEngine IOEngine `json:"ioEngine,omitempty"`
	// ioEngineFallbacks are the kernel interfaces that Auto passed over, each with the reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	IOEngineFallbacks []string `json:"ioEngineFallbacks,omitempty"`

	// provisioningSeconds from the first claim's creation to the last one's binding.
	// +optional
	ProvisioningSeconds *int64 `json:"provisioningSeconds,omitempty"`
	// attachingSeconds from the pod's scheduling, or the claim's binding if that is later, to the
	// first container's start: attaching, formatting, mounting and pulling the image.
	// +optional
	AttachingSeconds *int64 `json:"attachingSeconds,omitempty"`
	// preparingSeconds for writing the files.
	// +optional
	PreparingSeconds *int64 `json:"preparingSeconds,omitempty"`
	// measuringSeconds of the engine's container, warm-up and draining included.
	// +optional
	MeasuringSeconds *int64 `json:"measuringSeconds,omitempty"`
}

// Phase is how far a run has come.
// +kubebuilder:validation:Enum=Pending;Provisioning;Scheduling;Preparing;Running;CleaningUp;Done
type Phase string

// The phases.
const (
	// PhasePending: nothing is created yet.
	PhasePending Phase = "Pending"
	// PhaseProvisioning: the claim is created and not bound.
	PhaseProvisioning Phase = "Provisioning"
	// PhaseScheduling: the pod waits for a node, its volume or its image.
	PhaseScheduling Phase = "Scheduling"
	// PhasePreparing: the file is written.
	PhasePreparing Phase = "Preparing"
	// PhaseRunning: the engine measures.
	PhaseRunning Phase = "Running"
	// PhaseCleaningUp: the outcome is known; the Job and the volume are being deleted.
	PhaseCleaningUp Phase = "CleaningUp"
	// PhaseDone: nothing is left to do.
	PhaseDone Phase = "Done"
)

// Volume is one measured volume.
type Volume struct {
	// claimName is the PersistentVolumeClaim.
	// +required
	ClaimName string `json:"claimName,omitempty"`
	// volumeName is the PersistentVolume.
	// +optional
	VolumeName string `json:"volumeName,omitempty"`
	// driver that serves the volume.
	// +optional
	Driver string `json:"driver,omitempty"`
	// volumeHandle is the driver's name of the disk, on Azure its resource ID.
	// +optional
	VolumeHandle string `json:"volumeHandle,omitempty"`
	// reclaimPolicy of the PersistentVolume. With Retain the disk stays, and costs, after the run.
	// +optional
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
}

// Queue is how the kernel drives a disk.
type Queue struct {
	// scheduler is the I/O scheduler in use, such as none or mq-deadline.
	// +optional
	Scheduler string `json:"scheduler,omitempty"`
	// requests is the length of the kernel's own queue (nr_requests).
	// +optional
	Requests int64 `json:"requests,omitempty"`
	// deviceDepth is the number of I/Os that the disk takes at once (a LUN's queue_depth), where it
	// says so.
	// +optional
	DeviceDepth int64 `json:"deviceDepth,omitempty"`
	// maxIOBytes is the largest I/O that is sent in one piece (max_sectors_kb).
	// +optional
	MaxIOBytes int64 `json:"maxIOBytes,omitempty"`
	// writeCache says whether the disk has a volatile write cache: WriteBack, or WriteThrough.
	// +optional
	WriteCache WriteCache `json:"writeCache,omitempty"`
	// fua says whether the disk takes writes that pass that cache: Supported or Unsupported.
	// +optional
	FUA FUA `json:"fua,omitempty"`
}

// WriteCache says whether a disk has a volatile write cache.
// +kubebuilder:validation:Enum=WriteBack;WriteThrough
type WriteCache string

// The kinds of write cache, as the kernel names them.
const (
	// WriteCacheBack is volatile: a write is durable after a flush.
	WriteCacheBack WriteCache = "WriteBack"
	// WriteCacheThrough is none, or one that does not lose data.
	WriteCacheThrough WriteCache = "WriteThrough"
)

// FUA says whether a disk takes writes that pass its cache.
// +kubebuilder:validation:Enum=Supported;Unsupported
type FUA string

// Whether a disk takes writes that pass its cache.
const (
	// FUASupported writes one block durably without a flush of all.
	FUASupported FUA = "Supported"
	// FUAUnsupported needs a flush.
	FUAUnsupported FUA = "Unsupported"
)

// Measurement is what was measured of one workload, over all repetitions.
type Measurement struct {
	// name of the workload.
	// +required
	Name string `json:"name,omitempty"`
	// parameters are the effective ones.
	// +required
	Parameters Parameters `json:"parameters,omitempty,omitzero"`
	// windowNanos is the measured time, summed over the repetitions.
	// +required
	WindowNanos int64 `json:"windowNanos,omitempty"`
	// read figures; absent without reads.
	// +optional
	Read *Figures `json:"read,omitempty"`
	// write figures; absent without writes.
	// +optional
	Write *Figures `json:"write,omitempty"`
	// total figures, reads and writes together.
	// +required
	Total Figures `json:"total,omitempty,omitzero"`
	// flush figures, which are no part of total; absent without flushes.
	// +optional
	Flush *Figures `json:"flush,omitempty"`
	// streams are the figures of each, where a workload has several.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Streams []StreamMeasurement `json:"streams,omitempty"`
	// repetitions are the totals of each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Repetitions []Repetition `json:"repetitions,omitempty"`
	// spread of the repetitions; absent with one.
	// +optional
	Spread *Spread `json:"spread,omitempty"`
	// series is the IOPS over time.
	// +optional
	Series *Series `json:"series,omitempty"`
	// steady is how steady the IOPS were in the last repetition; absent when it was too short to tell.
	// +optional
	Steady *Steady `json:"steady,omitempty"`
	// step is the change of level in the first repetition that had one.
	// +optional
	Step *Step `json:"step,omitempty"`
	// drained is what followed the window under sustained Drain.
	// +optional
	Drained *Drained `json:"drained,omitempty"`
	// probeMeanNanos is the mean latency with one outstanding I/O, measured for 5 seconds before the
	// windows of a workload that saturates the disk. A load whose mean latency is well above it has queued.
	// +optional
	ProbeMeanNanos *int64 `json:"probeMeanNanos,omitempty"`
	// device is what the kernel counted at the disks meanwhile, where it counts.
	// +optional
	Device *DeviceCounters `json:"device,omitempty"`
	// cpu that the engine used in the window.
	// +optional
	CPU *CPU `json:"cpu,omitempty"`
}

// Parameters are the effective ones of a workload. Those of a stream are here when there is one; of
// several they are in streams.
type Parameters struct {
	StreamParameters `json:",inline"`
	// fileSizeBytes that was used.
	// +required
	FileSizeBytes int64 `json:"fileSizeBytes,omitempty"`
	// layout of the file.
	// +required
	Layout Layout `json:"layout,omitempty"`
	// directIO says whether the page cache was bypassed, as proven on the volume.
	// +required
	DirectIO DirectIO `json:"directIO,omitempty"`
	// verification of what was read; absent without.
	// +optional
	Verification Verification `json:"verification,omitempty"`
	// operations that each repetition was to do; absent where the time was given.
	// +optional
	Operations int64 `json:"operations,omitempty"`
	// warmupSeconds before the window.
	// +required
	WarmupSeconds int32 `json:"warmupSeconds"`
	// durationSeconds of the window, or the longest it might take where operations were given.
	// +required
	DurationSeconds int32 `json:"durationSeconds,omitempty"`
	// seed of the generators.
	// +required
	Seed int64 `json:"seed"`
}

// StreamParameters are the effective ones of a stream.
type StreamParameters struct {
	// pattern is the order of offsets.
	// +optional
	Pattern Pattern `json:"pattern,omitempty"`
	// randomPercent is the share of jumps in a Sequential stream; absent without.
	// +optional
	RandomPercent int32 `json:"randomPercent,omitempty"`
	// readPercent is the share of reads.
	// +optional
	ReadPercent *int32 `json:"readPercent,omitempty"`
	// blockSizeBytes of an operation.
	// +optional
	BlockSizeBytes int64 `json:"blockSizeBytes,omitempty"`
	// threads that issued I/O.
	// +optional
	Threads int32 `json:"threads,omitempty"`
	// queueDepth of each thread.
	// +optional
	QueueDepth int32 `json:"queueDepth,omitempty"`
	// sequentialOffset of a sequential stream.
	// +optional
	SequentialOffset SequentialOffset `json:"sequentialOffset,omitempty"`
	// rateLimitIOPS of each thread; absent without.
	// +optional
	RateLimitIOPS int64 `json:"rateLimitIOPS,omitempty"`
	// range of the file that was used; absent for the whole.
	// +optional
	Range *ByteRange `json:"range,omitempty"`
	// distribution of drawn offsets; absent when Uniform.
	// +optional
	Distribution *Distribution `json:"distribution,omitempty"`
	// sync is how far a write had to get.
	// +optional
	Sync SyncMode `json:"sync,omitempty"`
	// flushEvery so many writes of a thread; absent without.
	// +optional
	FlushEvery int32 `json:"flushEvery,omitempty"`
	// flushIntervalSeconds between flushes beside the stream; absent without.
	// +optional
	FlushIntervalSeconds int32 `json:"flushIntervalSeconds,omitempty"`
}

// ByteRange is a part of the file: from startBytes to before endBytes.
type ByteRange struct {
	// startBytes is its first byte.
	// +required
	StartBytes int64 `json:"startBytes"`
	// endBytes is the byte after its last.
	// +required
	EndBytes int64 `json:"endBytes,omitempty"`
}

// StreamMeasurement is what was measured of one of several streams.
type StreamMeasurement struct {
	// name of the stream.
	// +required
	Name string `json:"name,omitempty"`
	// parameters are the effective ones.
	// +optional
	Parameters StreamParameters `json:"parameters,omitempty,omitzero"`
	// read figures; absent without reads.
	// +optional
	Read *Figures `json:"read,omitempty"`
	// write figures; absent without writes.
	// +optional
	Write *Figures `json:"write,omitempty"`
	// flush figures; absent without flushes.
	// +optional
	Flush *Figures `json:"flush,omitempty"`
}

// Figures of one direction. Latency is from submission, or under a rate from when the I/O was due,
// to completion; a percentile is absent unless ten samples are expected beyond it (p99 from 1,000
// operations, p99.9 from 10,000).
type Figures struct {
	// operations that completed in the window; the number of latency samples.
	// +required
	Operations int64 `json:"operations"`
	// bytes that they moved; absent for flushes, which move none.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// iops is operations per second.
	// +required
	IOPS int64 `json:"iops"`
	// throughputBytesPerSecond moved; absent for flushes.
	// +optional
	ThroughputBytesPerSecond int64 `json:"throughputBytesPerSecond,omitempty"`
	// meanNanos is the mean latency.
	// +required
	MeanNanos int64 `json:"meanNanos"`
	// stddevNanos is the standard deviation of the latency.
	// +required
	StddevNanos int64 `json:"stddevNanos"`
	// minNanos is the lowest latency.
	// +required
	MinNanos int64 `json:"minNanos"`
	// maxNanos is the highest latency.
	// +required
	MaxNanos int64 `json:"maxNanos"`
	// p50Nanos is the median latency.
	// +optional
	P50Nanos *int64 `json:"p50Nanos,omitempty"`
	// p90Nanos is the 90th percentile.
	// +optional
	P90Nanos *int64 `json:"p90Nanos,omitempty"`
	// p95Nanos is the 95th percentile.
	// +optional
	P95Nanos *int64 `json:"p95Nanos,omitempty"`
	// p99Nanos is the 99th percentile.
	// +optional
	P99Nanos *int64 `json:"p99Nanos,omitempty"`
	// p999Nanos is the 99.9th percentile.
	// +optional
	P999Nanos *int64 `json:"p999Nanos,omitempty"`
	// p9999Nanos is the 99.99th percentile.
	// +optional
	P9999Nanos *int64 `json:"p9999Nanos,omitempty"`
}

// Repetition is the total of one repetition.
type Repetition struct {
	// windowNanos is its measured time. Repetitions differ in it where a number of operations ends them.
	// +optional
	WindowNanos int64 `json:"windowNanos,omitempty"`
	// iops is operations per second.
	// +required
	IOPS int64 `json:"iops"`
	// p99Nanos is the 99th percentile of the latency, where the samples allow it.
	// +optional
	P99Nanos *int64 `json:"p99Nanos,omitempty"`
}

// Spread of the repetitions. [min, max] covers the median with 87.5% at four repetitions, 93.75% at
// five and 96.9% at six.
type Spread struct {
	// minIOPS is the lowest repetition.
	// +required
	MinIOPS int64 `json:"minIOPS"`
	// medianIOPS is the median of the repetitions.
	// +required
	MedianIOPS int64 `json:"medianIOPS"`
	// maxIOPS is the highest repetition.
	// +required
	MaxIOPS int64 `json:"maxIOPS"`
	// minP99Nanos is the lowest 99th percentile.
	// +optional
	MinP99Nanos *int64 `json:"minP99Nanos,omitempty"`
	// medianP99Nanos is the median of the 99th percentiles.
	// +optional
	MedianP99Nanos *int64 `json:"medianP99Nanos,omitempty"`
	// maxP99Nanos is the highest 99th percentile.
	// +optional
	MaxP99Nanos *int64 `json:"maxP99Nanos,omitempty"`
}

// Series is the IOPS over time, the repetitions one after another.
type Series struct {
	// intervalMillis is the time that each value covers.
	// +required
	IntervalMillis int64 `json:"intervalMillis,omitempty"`
	// iops of each interval.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=60
	IOPS []int64 `json:"iops,omitempty"`
}

// Steady is how steady the IOPS were from second to second.
type Steady struct {
	// state says whether SNIA's rule holds over the window: in five rounds the highest and the lowest lie
	// within 20% of the mean, and their trend within 10%.
	// +required
	State SteadyState `json:"state,omitempty"`
	// variationPermille is the coefficient of variation of the seconds' IOPS, in thousandths.
	// +required
	VariationPermille int64 `json:"variationPermille"`
}

// SteadyState says whether a rate was steady.
// +kubebuilder:validation:Enum=Steady;Unsteady
type SteadyState string

// Whether a rate was steady.
const (
	// SteadyStateSteady: SNIA's rule holds. A burst is steady, too.
	SteadyStateSteady SteadyState = "Steady"
	// SteadyStateUnsteady: it does not.
	SteadyStateUnsteady SteadyState = "Unsteady"
)

// Step is a change of level, such as that of a disk whose burst credits ran out.
type Step struct {
	// atSeconds is when it came, from the start of the window.
	// +required
	AtSeconds int64 `json:"atSeconds"`
	// beforeIOPS is the level before it.
	// +required
	BeforeIOPS int64 `json:"beforeIOPS"`
	// afterIOPS is the level after it.
	// +required
	AfterIOPS int64 `json:"afterIOPS"`
}

// Drained is what the load that went on after the window showed.
type Drained struct {
	// seconds that it went on.
	// +required
	Seconds int64 `json:"seconds"`
	// step is the fall to the level without credits, its time counted from the start of the window;
	// absent when there was none within the longest time.
	// +optional
	Step *Step `json:"step,omitempty"`
	// iops is the last level.
	// +required
	IOPS int64 `json:"iops"`
	// throughputBytesPerSecond is the last level.
	// +required
	ThroughputBytesPerSecond int64 `json:"throughputBytesPerSecond"`
}

// DeviceCounters are what the kernel counted at the measured disks over the windows.
type DeviceCounters struct {
	// readOperations that the disks completed.
	// +required
	ReadOperations int64 `json:"readOperations"`
	// writeOperations that the disks completed.
	// +required
	WriteOperations int64 `json:"writeOperations"`
	// readBytes that the disks read.
	// +required
	ReadBytes int64 `json:"readBytes"`
	// writeBytes that the disks wrote.
	// +required
	WriteBytes int64 `json:"writeBytes"`
	// operationsPermille is the disks' operations over the engine's, in thousandths: near 1000 each of
	// the engine's is one of the disk's. It says nothing of buffered workloads.
	// +optional
	OperationsPermille *int64 `json:"operationsPermille,omitempty"`
	// otherOperations are those of the node's other disks.
	// +required
	OtherOperations int64 `json:"otherOperations"`
	// otherBytes that the node's other disks read and wrote.
	// +required
	OtherBytes int64 `json:"otherBytes"`
}

// CPU that the engine used in the window.
type CPU struct {
	// userMillis of processor time outside the kernel.
	// +required
	UserMillis int64 `json:"userMillis"`
	// systemMillis of processor time in the kernel.
	// +required
	SystemMillis int64 `json:"systemMillis"`
	// busiestWorkerPercent of one core; near 100 the load generator was the limit.
	// +required
	BusiestWorkerPercent int32 `json:"busiestWorkerPercent"`
	// runDelayPercent is the share of the time in which a worker was ready and had no core.
	// +required
	RunDelayPercent int32 `json:"runDelayPercent"`
	// throttledPercent is the share of the time in which the container's CPU limit held it back.
	// +required
	ThrottledPercent int32 `json:"throttledPercent"`
	// stealPercent is the share of the VM's processor time that its host took.
	// +required
	StealPercent int32 `json:"stealPercent"`
}

// Cost is what the volume costs, from list prices. Amounts are decimals in currency. What is not known is
// absent, never 0, and named in unknown.
type Cost struct {
	// currency is the ISO 4217 code of all amounts.
	// +required
	Currency string `json:"currency,omitempty"`
	// region that was priced, in Azure's short form; absent while unknown.
	// +optional
	Region string `json:"region,omitempty"`
	// perMonth is the price of the volume, all disks of a striped set together, for 730 hours at the given
	// use: the sum of lines.
	// +optional
	PerMonth string `json:"perMonth,omitempty"`
	// perMonthAtCap is the same with every hour at the cap on billed transactions: the most it can be. It is
	// perMonth where transactions are free of charge.
	// +optional
	PerMonthAtCap string `json:"perMonthAtCap,omitempty"`
	// fleetPerMonth is perMonth for spec.cost.fleetSize volumes.
	// +optional
	FleetPerMonth string `json:"fleetPerMonth,omitempty"`
	// perThousandSustainedIOPS is perMonth for each 1,000 IOPS that workload can sustain. Compare it within
	// one workload only.
	// +optional
	PerThousandSustainedIOPS string `json:"perThousandSustainedIOPS,omitempty"`
	// workload whose rate counts for transactions and perThousandSustainedIOPS: that of spec.targets, or else
	// the one with the most transactions.
	// +optional
	Workload string `json:"workload,omitempty"`
	// lines are the parts of perMonth.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Lines []CostLine `json:"lines,omitempty"`
	// run is what this run cost; absent while unknown, and for an existing claim, whose disk is paid for
	// anyway.
	// +optional
	Run *RunCost `json:"run,omitempty"`
	// unknown are the parts of the price that are not known, so that the sums are not, either.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Unknown []UnknownCost `json:"unknown,omitempty"`
	// notIncluded is what no amount has.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	NotIncluded []string `json:"notIncluded,omitempty"`
	// priceDate is the date of the oldest price: a day, a month or a year, as its source tells it.
	// +optional
	PriceDate string `json:"priceDate,omitempty"`
	// source says where prices are from: the catalog with its version, the Retail Prices API, or
	// spec.cost.costPerMonth.
	// +optional
	Source string `json:"source,omitempty"`
	// warnings are what a reader of the amounts should know.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Warnings []StatusWarning `json:"warnings,omitempty"`
}

// CostLine is a part of a month's price.
type CostLine struct {
	// item that is paid for, such as Capacity or Transactions.
	// +required
	Item string `json:"item,omitempty"`
	// quantity of units in a month.
	// +required
	Quantity string `json:"quantity,omitempty"`
	// unit as the price list spells it, such as 1/Month or 10K.
	// +required
	Unit string `json:"unit,omitempty"`
	// unitPrice of the list, before the discount.
	// +required
	UnitPrice string `json:"unitPrice,omitempty"`
	// amount is quantity times unitPrice, less the discount, in cents so rounded that all lines add up to
	// perMonth.
	// +required
	Amount string `json:"amount,omitempty"`
}

// RunCost is what a run cost, from the first attach to the end of its volumes.
type RunCost struct {
	// prorated by the second.
	// +required
	Prorated string `json:"prorated,omitempty"`
	// atMost is by whole hours, as Azure may bill it.
	// +required
	AtMost string `json:"atMost,omitempty"`
}

// UnknownCost is a part of a price that is not known.
type UnknownCost struct {
	// item that is paid for.
	// +required
	Item string `json:"item,omitempty"`
	// why it is not known.
	// +required
	Why string `json:"why,omitempty"`
}

// Assessment holds the figures against published limits, of the disk that was assumed.
type Assessment struct {
	// catalogVersion of the limits that figures were held against.
	// +optional
	CatalogVersion string `json:"catalogVersion,omitempty"`
	// disk that was assumed, of each volume.
	// +required
	Disk AssumedDisk `json:"disk,omitempty,omitzero"`
	// workloads in the order of measurements.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Workloads []WorkloadAssessment `json:"workloads,omitempty"`
	// warnings are about the disk that was assumed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Warnings []StatusWarning `json:"warnings,omitempty"`
}

// AssumedDisk is what class, volume and node say of the disk, as the catalog knows it. What is not known is
// absent.
type AssumedDisk struct {
	// coverage says whether the catalog knows the disk: Covered, or why not: OtherDriver, UnknownSKU,
	// UnknownSize or UnknownLimits.
	// +required
	Coverage string `json:"coverage,omitempty"`
	// sku such as Premium_LRS.
	// +optional
	SKU string `json:"sku,omitempty"`
	// tier that it performs and bills as, such as P30; absent for Premium SSD v2 and Ultra.
	// +optional
	Tier string `json:"tier,omitempty"`
	// redundancy of its copies: LRS or ZRS.
	// +optional
	Redundancy string `json:"redundancy,omitempty"`
	// caching is the host cache in effect: None, ReadOnly or ReadWrite.
	// +optional
	Caching string `json:"caching,omitempty"`
	// sizeGiB is the size, rounded up as Azure bills it.
	// +optional
	SizeGiB int64 `json:"sizeGiB,omitempty"`
	// base is what it does without end: the tier's, or what was provisioned.
	// +optional
	Base *Rate `json:"base,omitempty"`
	// bursting in effect: none, credit or on-demand.
	// +optional
	Bursting string `json:"bursting,omitempty"`
	// burst is what bursting allows.
	// +optional
	Burst *Rate `json:"burst,omitempty"`
	// performancePlus is Enabled where it is in effect.
	// +optional
	PerformancePlus string `json:"performancePlus,omitempty"`
	// vmSize of the node.
	// +optional
	VMSize string `json:"vmSize,omitempty"`
	// controller by which the VM sees the disk: SCSI or NVMe.
	// +optional
	Controller string `json:"controller,omitempty"`
}

// Rate is a limit or a level.
type Rate struct {
	// iops is operations per second.
	// +required
	IOPS int64 `json:"iops"`
	// throughputBytesPerSecond is throughput.
	// +required
	ThroughputBytesPerSecond int64 `json:"throughputBytesPerSecond"`
}

// WorkloadAssessment is what limited a workload.
type WorkloadAssessment struct {
	// name of the workload.
	// +required
	Name string `json:"name,omitempty"`
	// verdict is what limited it: DiskIOPS, DiskThroughput, VMIOPS or VMThroughput, the bursts of these, such
	// as DiskBurstIOPS, DiskBurst or VMBurst where credits ran out meanwhile, HostCache, LoadGenerator,
	// Latency or QueueDepth; OfferedRate where nothing did; or Unknown, with a reason.
	// +required
	Verdict string `json:"verdict,omitempty"`
	// reason of an Unknown verdict.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says it in a sentence, with what to do.
	// +optional
	Message string `json:"message,omitempty"`
	// alsoAtLimit are other limits that the figure is at.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	AlsoAtLimit []string `json:"alsoAtLimit,omitempty"`
	// expected by the catalog with the credits at the start, if enough I/Os are outstanding; absent where the limits of the disk are not
	// known.
	// +optional
	Expected *ExpectedRate `json:"expected,omitempty"`
	// measured reads and writes together.
	// +required
	Measured Rate `json:"measured,omitempty,omitzero"`
	// sustained is what the load reaches without burst credits; absent while unknown.
	// +optional
	Sustained *SustainedRate `json:"sustained,omitempty"`
	// creditsLeft are the burst credits at the workload's end, as estimated from what the run used; absent
	// where nothing bursts on credits, and for an existing claim, whose credits are not known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	CreditsLeft []BurstCredits `json:"creditsLeft,omitempty"`
	// warnings are what a reader of the verdict should know.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Warnings []StatusWarning `json:"warnings,omitempty"`
}

// BurstCredits are an estimate of what one bucket holds.
type BurstCredits struct {
	// limit that they pay for, such as DiskBurstIOPS.
	// +required
	Limit string `json:"limit,omitempty"`
	// percent of the full bucket.
	// +required
	Percent int32 `json:"percent"`
	// seconds that they last at the full burst.
	// +required
	Seconds int64 `json:"seconds"`
}

// ExpectedRate is what published limits allow a load, without hits of the host cache.
type ExpectedRate struct {
	Rate `json:",inline"`
	// limitedBy is the limit that allows no more: DiskIOPS, DiskThroughput, VMIOPS, VMThroughput, one of
	// their bursts, such as DiskBurstIOPS, or HostCache, the VM's limit of I/O to disks with a host cache.
	// +required
	LimitedBy string `json:"limitedBy,omitempty"`
	// burstSeconds that it lasts; absent where it lasts without end.
	// +optional
	BurstSeconds int64 `json:"burstSeconds,omitempty"`
}

// SustainedRate is what a load reaches without burst credits.
type SustainedRate struct {
	Rate `json:",inline"`
	// basis of the figure: Drained, the level after burst credits were used up; Measured, where published
	// limits allow that without credits; Catalog, where they do not, and the figure is theirs.
	// +required
	Basis SustainedBasis `json:"basis,omitempty"`
}

// SustainedBasis says where a sustained figure is from.
// +kubebuilder:validation:Enum=Drained;Measured;Catalog
type SustainedBasis string

// Where a sustained figure is from.
const (
	// BasisDrained: measured after burst credits were used up.
	BasisDrained SustainedBasis = "Drained"
	// BasisMeasured: the measured figure needs no credits.
	BasisMeasured SustainedBasis = "Measured"
	// BasisCatalog: the measured figure needs credits, and this is what published limits leave without.
	BasisCatalog SustainedBasis = "Catalog"
)

// StatusWarning is something to know when a figure is used.
type StatusWarning struct {
	// reason is its kind, for programs.
	// +required
	Reason string `json:"reason,omitempty"`
	// message for people.
	// +required
	Message string `json:"message,omitempty"`
}
