// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The condition types.
const (
	// ConditionReady is the summary: True once the figures are there. Its reason is the state.
	ConditionReady = "Ready"
	// ConditionReconciling is present and True while the operator works (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present and True when the operator cannot go on by itself (kstatus).
	ConditionStalled = "Stalled"
	// ConditionFinished turns True at either end, so that kubectl wait always returns.
	ConditionFinished = "Finished"
	// ConditionTargetsMet says whether the targets were met; absent without targets or figures.
	ConditionTargetsMet = "TargetsMet"
)

// The reasons of Ready while a run goes on.
const (
	ReasonPending = "Pending"
	// ReasonQueued: other runs take every slot of the operator's --max-concurrent-runs.
	ReasonQueued       = "Queued"
	ReasonProvisioning = "Provisioning"
	ReasonScheduling   = "Scheduling"
	ReasonPreparing    = "Preparing"
	ReasonRunning      = "Running"
	ReasonSuspended    = "Suspended"
	// ReasonSuperseded: the old run's Job and volume go away before the edited one starts.
	ReasonSuperseded = "Superseded"
	// ReasonCleaningUp: the outcome is known; the Job and the volume are being deleted. It is the
	// reason of Reconciling, while Ready tells the outcome.
	ReasonCleaningUp = "CleaningUp"
)

// The reasons of Ready when a run is blocked on something outside. It goes on by itself once that is
// put right, until timeouts.blockedSeconds.
const (
	ReasonStorageClassNotFound  = "StorageClassNotFound"
	ReasonNoDefaultStorageClass = "NoDefaultStorageClass"
	ReasonClaimNotFound         = "ClaimNotFound"
	ReasonQuotaExceeded         = "QuotaExceeded"
	ReasonPodRejected           = "PodRejected"
	// ReasonCreationRefused: an admission policy refuses the claim or the Job.
	ReasonCreationRefused = "CreationRefused"
)

// The reasons of TargetsMet.
const (
	// ReasonTargetsReached: every target is met.
	ReasonTargetsReached = "TargetsReached"
	// ReasonTooFewSamples: no target is missed, and one could not be judged.
	ReasonTooFewSamples = "TooFewSamples"
)

// The reasons of Ready at the end of a run. The engine's own failures keep the engine's reason
// (NoSpace, IOError, DirectIOUnsupported, ...).
const (
	// ReasonCompleted: the figures are there.
	ReasonCompleted = "Completed"
	// ReasonTargetsMissed: the figures are there and miss a target, and onMiss is Fail.
	ReasonTargetsMissed = "TargetsMissed"
	// ReasonInvalidSpec: the plan cannot be made from the spec.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonClaimInvalid: the existing claim cannot be measured.
	ReasonClaimInvalid = "ClaimInvalid"
	// ReasonNameConflict: an object of somebody else has the name of a child.
	ReasonNameConflict = "NameConflict"
	// ReasonBlockedTimedOut and the following name the phase whose limit was exceeded.
	ReasonBlockedTimedOut      = "BlockedTimedOut"
	ReasonProvisioningTimedOut = "ProvisioningTimedOut"
	ReasonSchedulingTimedOut   = "SchedulingTimedOut"
	ReasonPreparingTimedOut    = "PreparingTimedOut"
	ReasonRunningTimedOut      = "RunningTimedOut"
	// ReasonImagePullFailed: the engine's image cannot be pulled.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonEngineFailed: the engine's container failed without saying why.
	ReasonEngineFailed = "EngineFailed"
	// ReasonOutOfMemory: the engine's container was killed for its memory use.
	ReasonOutOfMemory = "OutOfMemory"
	// ReasonResultLost: the engine ended and its result is missing, cut or damaged.
	ReasonResultLost = "ResultLost"
	// ReasonInterrupted: the pod was disrupted, evicted or deleted before its result was there.
	ReasonInterrupted = "Interrupted"
)

// The labels of the objects that a run creates.
const (
	// LabelBenchmark is the name of the DiskBenchmark.
	LabelBenchmark = "diskbench.dev/benchmark"
	// LabelBenchmarkUID is its UID.
	LabelBenchmarkUID = "diskbench.dev/benchmark-uid"
	// LabelRun is the number of the run.
	LabelRun = "diskbench.dev/run"
	// LabelManagedBy and ManagedBy are the recommended label of the tool that manages an object.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "diskbench"
)
