// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DiskBenchmark measures a volume: the operator creates it (or takes an existing claim), runs the
// engine on it with direct I/O, and writes what was measured into status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=diskbenchmarks,singular=diskbenchmark,shortName=dbm,categories=diskbench,scope=Namespaced
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.status.run.storageClassName`,description="The storage class that is measured."
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.run.size`,description="The size of the volume."
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What the benchmark is doing, or how it ended."
// +kubebuilder:printcolumn:name="IOPS",type=string,JSONPath=`.status.summary.iops`,description="I/O operations per second, workload by workload."
// +kubebuilder:printcolumn:name="MB/s",type=string,JSONPath=`.status.summary.throughput`,description="Throughput in 10^6 bytes per second, workload by workload."
// +kubebuilder:printcolumn:name="P99",type=string,JSONPath=`.status.summary.p99`,description="99th percentile of the latency, workload by workload."
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Limit",type=string,JSONPath=`.status.summary.limitedBy`,priority=1,description="What limited each workload."
// +kubebuilder:printcolumn:name="Cost/Month",type=string,JSONPath=`.status.summary.cost`,priority=1,description="What the volume costs a month."
// +kubebuilder:printcolumn:name="Workloads",type=string,JSONPath=`.status.summary.workloads`,priority=1,description="The workloads, in the order of the figures."
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.run.nodeName`,priority=1,description="The node that ran the engine."
// +kubebuilder:printcolumn:name="VM Size",type=string,JSONPath=`.status.run.vmSize`,priority=1,description="The node's instance type."
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.status.run.ioEngine`,priority=1,description="The kernel interface that issued the I/O."
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1,description="The state in words."
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must be at most 63 characters: it becomes a label value"
type DiskBenchmark struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is what to measure.
	// +required
	Spec DiskBenchmarkSpec `json:"spec,omitzero"`
	// status is what was measured.
	// +optional
	// +default={"observedGeneration":-1}
	Status DiskBenchmarkStatus `json:"status,omitempty,omitzero"`
}

// DiskBenchmarkList is a list of DiskBenchmarks.
//
// +kubebuilder:object:root=true
type DiskBenchmarkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DiskBenchmark `json:"items"`
}

// DiskBenchmarkSpec says what to measure, on which volume, and what to do around it.
//
// An edit of targets, cost, cleanup, timeouts or suspend never measures again. An edit of any other
// field starts a new run, and the old figures move to status.history.
//
// +kubebuilder:validation:XValidation:rule="has(self.claimName) || has(self.size)",message="set size (and optionally storageClassName) for a new volume, or claimName for an existing one"
// +kubebuilder:validation:XValidation:rule="!has(self.claimName) || !(has(self.size) || has(self.storageClassName) || has(self.volumeMode) || has(self.volumeAttributesClassName) || has(self.volumeCount) || has(self.stripeSize) || (has(self.repetitionScope) && self.repetitionScope == 'NewVolume'))",message="claimName names an existing volume: remove size, storageClassName, volumeMode, volumeAttributesClassName, volumeCount, stripeSize and repetitionScope NewVolume, or remove claimName"
// +kubebuilder:validation:XValidation:rule="!has(self.stripeSize) || (has(self.volumeCount) && self.volumeCount > 1)",message="stripeSize needs volumeCount of 2 or more"
// +kubebuilder:validation:XValidation:rule="(has(self.volumeCount) ? self.volumeCount : 1) * (has(self.repetitionScope) && self.repetitionScope == 'NewVolume' && has(self.repetitions) ? self.repetitions : 1) <= 64",message="repetitionScope NewVolume attaches volumeCount volumes for each of the repetitions at once, at most 64: lower volumeCount or repetitions, or use SameVolume"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMode) || self.volumeMode == 'Filesystem' || !self.workloads.exists(w, (has(w.layout) ? w.layout != 'Written' : has(w.preset) && w.preset in ['etcd','redis-aof']))",message="layout Preallocated and Append (presets etcd and redis-aof) make a file, which a block device has not: set volumeMode to Filesystem, or layout to Written"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeCount) || self.volumeCount == 1 || !self.workloads.exists(w, (has(w.layout) ? w.layout != 'Written' : has(w.preset) && w.preset in ['etcd','redis-aof']))",message="layout Preallocated and Append (presets etcd and redis-aof) make a file of their own, which lies on one volume: leave volumeCount at 1, or set layout to Written"
// +kubebuilder:validation:XValidation:rule="!has(self.engine) || !has(self.engine.ioEngine) || !(self.engine.ioEngine in ['IOUring','LibAIO']) || !self.workloads.exists(w, (has(w.directIO) ? w.directIO == 'Disabled' : has(w.preset) && w.preset in ['etcd','postgres-wal','redis-aof']))",message="directIO: Disabled (presets etcd, postgres-wal and redis-aof) is pread and pwrite: set engine.ioEngine to Auto or Sync"
// +kubebuilder:validation:XValidation:rule="!has(self.size) || self.workloads.all(w, !has(w.fileSize) || type(w.fileSize) != string || type(self.size) != string || !isQuantity(w.fileSize) || !isQuantity(self.size) || (has(self.volumeMode) && self.volumeMode == 'Block' ? quantity(w.fileSize).asApproximateFloat() <= quantity(self.size).asApproximateFloat() * double(has(self.volumeCount) ? self.volumeCount : 1) : quantity(w.fileSize).asApproximateFloat() < quantity(self.size).asApproximateFloat() * double(has(self.volumeCount) ? self.volumeCount : 1)))",message="fileSize must be smaller than size: a filesystem needs part of the volume for itself"
// +kubebuilder:validation:XValidation:rule="!has(self.targets) || !has(self.targets.workload) || self.workloads.exists(w, self.targets.workload == (has(w.name) ? w.name : has(w.preset) ? w.preset : '-'))",messageExpression="'targets.workload ' + self.targets.workload + ' is not in workloads: use the name (or preset) of an entry, or remove it to judge all of them'"
type DiskBenchmarkSpec struct {
	// storageClassName is the class of the new volume. Omitted: the cluster's default class, whose
	// name is recorded in status.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self != ''",message="storageClassName must not be empty: name a class, or omit the field to use the cluster default"
	StorageClassName *string `json:"storageClassName,omitempty"`
	// size is the capacity of each new volume, from 1Gi to 64Ti.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? isQuantity(self) : true",messageExpression="'size ' + string(self) + ' is not a quantity' + (type(self) == string && self.matches('^[0-9.]+[KMGTP]i?B$') ? ', did you mean ' + self.replace('B', '').replace('K', 'Ki').replace('M', 'Mi').replace('G', 'Gi').replace('T', 'Ti').replace('P', 'Pi').replace('ii', 'i') + '?' : ': write a number with a unit, such as 45Gi or 2Ti')"
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? (!isQuantity(self) || !self.matches('^[+-]?[0-9.]+$')) : false",messageExpression="'size ' + string(self) + (string(self).matches('^[1-9][0-9]{0,4}$') ? ' has no unit and would mean bytes, did you mean ' + string(self) + 'Gi?' : ' has no unit and would mean bytes: write a quantity of at least 1Gi, such as 45Gi or 2Ti')"
	// +kubebuilder:validation:XValidation:rule="type(self) != string || !isQuantity(self) || self.matches('^[+-]?[0-9.]+$') || quantity(self).compareTo(quantity('1Gi')) >= 0",messageExpression="'size ' + string(self) + ' is below the smallest volume, 1Gi'"
	// +kubebuilder:validation:XValidation:rule="type(self) != string || !isQuantity(self) || quantity(self).compareTo(quantity('64Ti')) <= 0",messageExpression="'size ' + string(self) + ' is above the largest volume, 64Ti'"
	Size *resource.Quantity `json:"size,omitempty"`
	// volumeMode of the new volume: Filesystem (the default) shows what an application sees, Block
	// what the disk does.
	// +optional
	// +kubebuilder:validation:Enum=Filesystem;Block
	VolumeMode *corev1.PersistentVolumeMode `json:"volumeMode,omitempty"`
	// volumeAttributesClassName is the VolumeAttributesClass of the new volume.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self != ''",message="volumeAttributesClassName must not be empty: name a class or omit the field"
	VolumeAttributesClassName *string `json:"volumeAttributesClassName,omitempty"`
	// volumeCount is how many volumes the engine stripes over (RAID 0), 1 (the default) to 64. All are
	// attached to the engine's one pod.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	VolumeCount *int32 `json:"volumeCount,omitempty"`
	// stripeSize is how much of a striped set lies on one volume before the next one follows, a multiple
	// of 4Ki up to 16Mi. Default 64Ki with several volumes. Each blockSize divides it, or is a multiple.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) == string && isQuantity(self) && quantity(self).compareTo(quantity('4Ki')) >= 0 && quantity(self).compareTo(quantity('16Mi')) <= 0 && quantity(self).asApproximateFloat() == double(int(quantity(self).asApproximateFloat())) && int(quantity(self).asApproximateFloat()) % 4096 == 0",messageExpression="'stripeSize ' + string(self) + ' must be a quantity with a unit from 4Ki to 16Mi, in steps of 4Ki, such as 64Ki'"
	StripeSize *resource.Quantity `json:"stripeSize,omitempty"`
	// claimName is an existing PersistentVolumeClaim in this namespace, with volumeMode Filesystem.
	// The engine writes a file of its own there and removes it; the claim is never deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self != ''",message="claimName must not be empty: name an existing PersistentVolumeClaim in this namespace"
	ClaimName *string `json:"claimName,omitempty"`
	// workloads run one after another on the same volume.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(w, self.exists_one(x, (has(x.name) ? x.name : has(x.preset) ? x.preset : '') == (has(w.name) ? w.name : has(w.preset) ? w.preset : '')))",message="two workloads have the same name: a preset is named after itself unless name is set, so give each a different name"
	// +kubebuilder:validation:XValidation:rule="self.size() == 1 || !self.exists(w, has(w.preset) && w.preset == 'profile')",message="preset profile expands to several workloads and must be the only one"
	// +kubebuilder:validation:XValidation:rule="self.map(w, !has(w.preset) ? 1 : w.preset == 'ladder' ? 5 : w.preset == 'quick' || w.preset == 'latency' ? 2 : 1).sum() <= 8",message="at most 8 workloads after expansion: quick and latency measure reads and writes apart and count as two, ladder counts as five"
	// +kubebuilder:validation:XValidation:rule="self.map(w, has(w.streams) && w.streams.size() > 1 ? w.streams.size() : has(w.preset) && (w.preset == 'vdi-fleet' || w.preset == 'sql') ? 2 : 0).sum() <= 8",message="at most 8 streams in all workloads that have several (vdi-fleet and sql have two): use several benchmarks"
	Workloads []Workload `json:"workloads,omitempty"`
	// repetitions is how often each workload is measured, 1 (the default) to 10. The spread of six
	// or more is a 95% interval of the median.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Repetitions *int32 `json:"repetitions,omitempty"`
	// repetitionScope says whether repetitions share a volume: SameVolume (the default), which measures
	// one placement, or NewVolume, one set of volumes for each repetition, all attached at once.
	// +optional
	RepetitionScope *RepetitionScope `json:"repetitionScope,omitempty"`
	// sustained says how the figure without burst credits is found: Predict (the default) leaves it to
	// what is known of the disk; Drain goes on with each saturating load after its window until 120
	// seconds after the rate has fallen, at most 45 minutes.
	// +optional
	Sustained *SustainedMode `json:"sustained,omitempty"`
	// engine configures the load generator.
	// +optional
	Engine *EngineOptions `json:"engine,omitempty"`
	// pod configures the pod that runs the engine.
	// +optional
	Pod *PodOptions `json:"pod,omitempty"`
	// cleanup says when the Job and the volume are deleted after the end: Always (the default),
	// OnSuccess or Never. An existing claim is never deleted.
	// +optional
	Cleanup *CleanupPolicy `json:"cleanup,omitempty"`
	// timeouts limit each phase.
	// +optional
	Timeouts *Timeouts `json:"timeouts,omitempty"`
	// targets are judged after the run and shown in the condition TargetsMet.
	// +optional
	Targets *Targets `json:"targets,omitempty"`
	// cost says how the volume is used and priced, for the estimate in status.cost.
	// +optional
	Cost *CostOptions `json:"cost,omitempty"`
	// suspend holds a run that has not started, and stops one that has: resuming starts anew. After
	// the end it has no effect.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// runToken starts a new run when it changes, such as a date or a commit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RunToken *string `json:"runToken,omitempty"`
}

// RepetitionScope says whether repetitions share a volume.
// +kubebuilder:validation:Enum=SameVolume;NewVolume
type RepetitionScope string

// The scopes of repetitions.
const (
	// RepetitionScopeSameVolume measures one set of volumes in every repetition.
	RepetitionScopeSameVolume RepetitionScope = "SameVolume"
	// RepetitionScopeNewVolume has a set for each.
	RepetitionScopeNewVolume RepetitionScope = "NewVolume"
)

// SustainedMode says how the figure without burst credits is found.
// +kubebuilder:validation:Enum=Predict;Drain
type SustainedMode string

// How the figure without burst credits is found.
const (
	// SustainedPredict leaves it to what is known of the disk.
	SustainedPredict SustainedMode = "Predict"
	// SustainedDrain measures it, by using the credits up.
	SustainedDrain SustainedMode = "Drain"
)

// CleanupPolicy says when the Job and the volume are deleted.
// +kubebuilder:validation:Enum=Always;OnSuccess;Never
type CleanupPolicy string

// The cleanup policies.
const (
	// CleanupAlways deletes them however the run ended.
	CleanupAlways CleanupPolicy = "Always"
	// CleanupOnSuccess keeps them after a failure, to look into.
	CleanupOnSuccess CleanupPolicy = "OnSuccess"
	// CleanupNever keeps them until the DiskBenchmark is deleted.
	CleanupNever CleanupPolicy = "Never"
)

// EngineOptions configure the load generator.
type EngineOptions struct {
	// ioEngine is the kernel interface that issues the I/O. Auto (the default) takes the first of
	// io_uring, libaio and sync that works in the pod; any other choice never falls back.
	// +optional
	IOEngine *IOEngine `json:"ioEngine,omitempty"`
	// image of the engine; omitted: the operator's own image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self != ''",message="engine.image must not be empty: name an image or omit the field to use the operator's own"
	Image *string `json:"image,omitempty"`
}

// IOEngine names the kernel interface that issues the I/O.
// +kubebuilder:validation:Enum=Auto;IOUring;LibAIO;Sync
type IOEngine string

// Timeouts limit each phase, in seconds. A phase that exceeds its limit ends the run with a reason
// that names the phase.
type Timeouts struct {
	// blockedSeconds limits waiting for something that has to be put right outside, such as a missing
	// class. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	BlockedSeconds *int32 `json:"blockedSeconds,omitempty"`
	// provisioningSeconds limits creating and binding the volume. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	ProvisioningSeconds *int32 `json:"provisioningSeconds,omitempty"`
	// schedulingSeconds limits placing the pod, attaching the volume, pulling the image and starting.
	// It covers a node that an autoscaler has to add. Default 1200.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	SchedulingSeconds *int32 `json:"schedulingSeconds,omitempty"`
	// preparingSeconds limits writing the files. Default: what it takes at 5 MB/s, at least 900.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	PreparingSeconds *int32 `json:"preparingSeconds,omitempty"`
	// runningSeconds limits measuring. Default: the planned time, draining included, and 300 seconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2592000
	RunningSeconds *int32 `json:"runningSeconds,omitempty"`
	// cleanupSeconds limits deleting the Job and the volume; afterwards what is left is named.
	// Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	CleanupSeconds *int32 `json:"cleanupSeconds,omitempty"`
}

// Targets are what a volume is asked to reach. A missed target is a measurement, not a failure.
//
// +kubebuilder:validation:XValidation:rule="has(self.minIOPS) || has(self.minThroughputBytesPerSecond) || has(self.maxMeanMicros) || has(self.maxP99Micros) || has(self.maxFlushP99Micros)",message="targets need at least one of minIOPS, minThroughputBytesPerSecond, maxMeanMicros, maxP99Micros and maxFlushP99Micros"
type Targets struct {
	// workload is the entry of spec.workloads to judge, by its name or preset. Omitted: all of them.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Workload *string `json:"workload,omitempty"`
	// minIOPS is the least number of operations per second, reads and writes together.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinIOPS *int64 `json:"minIOPS,omitempty"`
	// minThroughputBytesPerSecond is the least throughput, reads and writes together.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinThroughputBytesPerSecond *int64 `json:"minThroughputBytesPerSecond,omitempty"`
	// maxMeanMicros is the highest mean latency, in microseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxMeanMicros *int64 `json:"maxMeanMicros,omitempty"`
	// maxP99Micros is the highest 99th percentile of the latency, in microseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxP99Micros *int64 `json:"maxP99Micros,omitempty"`
	// maxFlushP99Micros is the highest 99th percentile of the flushes' latency, in microseconds, of the
	// workloads that flush. etcd asks for 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxFlushP99Micros *int64 `json:"maxFlushP99Micros,omitempty"`
	// onMiss says what a missed target does: Report (the default) sets TargetsMet to False; Fail makes
	// the benchmark Stalled as well, so that a pipeline stops.
	// +optional
	OnMiss *OnMiss `json:"onMiss,omitempty"`
}

// OnMiss says what a missed target does.
// +kubebuilder:validation:Enum=Report;Fail
type OnMiss string

// What a missed target does.
const (
	// OnMissReport shows it in the condition TargetsMet alone.
	OnMissReport OnMiss = "Report"
	// OnMissFail makes the benchmark Stalled as well.
	OnMissFail OnMiss = "Fail"
)

// CostOptions say how the volume is used and priced, for status.cost.
type CostOptions struct {
	// region is the Azure region to price in, such as westeurope. Omitted: the node's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Region *string `json:"region,omitempty"`
	// currency is the ISO 4217 code of the price, such as EUR. Omitted: USD.
	// +optional
	// +kubebuilder:validation:MaxLength=3
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z]{3}$')",message="currency must be an ISO 4217 code of three capital letters, such as USD or EUR"
	Currency *string `json:"currency,omitempty"`
	// fleetSize is how many such volumes the cost is told for.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	FleetSize *int32 `json:"fleetSize,omitempty"`
	// busyHoursPercent is the share of the hours with I/O, default 100. It and rateWhenBusyPercent count for
	// transactions: an hour's are billed up to a cap, so 20% of the hours cost less than 20% of the rate.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	BusyHoursPercent *int32 `json:"busyHoursPercent,omitempty"`
	// rateWhenBusyPercent is the share of the sustained rate in a busy hour, default 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RateWhenBusyPercent *int32 `json:"rateWhenBusyPercent,omitempty"`
	// discountPercent is taken off the list price.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	DiscountPercent *int32 `json:"discountPercent,omitempty"`
	// reservation is the term of a disk reservation: None (the default) or OneYear, which is offered for
	// Premium SSD from P30 to P80.
	// +optional
	// +kubebuilder:validation:Enum=None;OneYear
	Reservation *string `json:"reservation,omitempty"`
	// costPerMonth is the price of the volume for drivers without a catalog, as a decimal such as
	// 12.50, in currency. It is net: discountPercent does not apply.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="costPerMonth must be a decimal number in quotes, such as '12.50'"
	CostPerMonth *string `json:"costPerMonth,omitempty"`
}
