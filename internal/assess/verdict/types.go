// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// Verdict is what limited a workload.
type Verdict string

// The verdicts.
const (
	DiskIOPS            = Verdict(predict.DiskIOPS)
	DiskThroughput      = Verdict(predict.DiskThroughput)
	DiskBurstIOPS       = Verdict(predict.DiskBurstIOPS)
	DiskBurstThroughput = Verdict(predict.DiskBurstThroughput)
	VMIOPS              = Verdict(predict.VMIOPS)
	VMThroughput        = Verdict(predict.VMThroughput)
	VMBurstIOPS         = Verdict(predict.VMBurstIOPS)
	VMBurstThroughput   = Verdict(predict.VMBurstThroughput)
	// DiskBurst and VMBurst: burst credits ran out while it was measured.
	DiskBurst Verdict = "DiskBurst"
	VMBurst   Verdict = "VMBurst"
	// OfferedRate: it asked for a rate and got it, so that nothing limited it.
	OfferedRate Verdict = "OfferedRate"
	// HostCache: likely, the cache of the VM's host answered reads past the limits of the disk.
	HostCache Verdict = "HostCache"
	// LoadGenerator: the engine had too little processor time.
	LoadGenerator Verdict = "LoadGenerator"
	// Latency: with one outstanding I/O the disk's latency is the limit.
	Latency Verdict = "Latency"
	// QueueDepth: more outstanding I/Os would reach more.
	QueueDepth Verdict = "QueueDepth"
	// Unknown: what was measured does not tell. The assessment has the Reason.
	Unknown Verdict = "Unknown"
)

// Reason is why a verdict is Unknown.
type Reason string

// The reasons.
const (
	// InvalidRun: errors, an interruption, or device operations that are not the engine's.
	InvalidRun Reason = "InvalidRun"
	// UnexplainedStep: the level changed, and not from a burst to its base.
	UnexplainedStep Reason = "UnexplainedStep"
	// AboveKnownLimits: more than published limits allow, without a host cache that explains it.
	AboveKnownLimits Reason = "AboveKnownLimits"
	// NoCatalog: the limits of the disk are not known, and no other depth was measured.
	NoCatalog Reason = "NoCatalog"
	// UnknownLimit: I/Os waited, so that there is a limit, and it is none that is known.
	UnknownLimit Reason = "UnknownLimit"
	// BetweenBaseAndBurst: above a base and below its burst, at no limit, without a step.
	BetweenBaseAndBurst Reason = "BetweenBaseAndBurst"
	// CachedLimitUnpublished: reads went through a host cache whose limit is not known for the VM.
	CachedLimitUnpublished Reason = "CachedLimitUnpublished"
	// ControllerUnknown: the VM's limits differ by controller, and the figure is at or above the lower.
	ControllerUnknown Reason = "ControllerUnknown"
	// Unsteady: the rate varied too much from second to second to be a level.
	Unsteady Reason = "Unsteady"
	// ExistingClaim: the disk can have limits that Kubernetes does not show.
	ExistingClaim Reason = "ExistingClaim"
	// Buffered: the page cache is between the load and the disk.
	Buffered Reason = "Buffered"
	// NoQueueingEvidence: at a limit, and nothing shows that I/Os waited for it.
	NoQueueingEvidence Reason = "NoQueueingEvidence"
	// Unexplained: below every limit, and none of the other rules holds.
	Unexplained Reason = "Unexplained"
)

// Load is what a workload asked of the disks, all streams together.
type Load struct {
	// BlockSizeBytes of each I/O; the measured mean where streams differ.
	BlockSizeBytes int64
	// ReadPercent from 0 to 100.
	ReadPercent int
	// Outstanding I/Os at any time, of all threads of all streams.
	Outstanding int
	// RateIOPS that was asked for, the sum of all streams; 0 when one of them had no rate.
	RateIOPS int64
	// Buffered I/O passes the page cache.
	Buffered bool
	// Sequential I/Os can be merged by the kernel.
	Sequential bool
	// SyncWrites: writes are made durable one by one, or flushed, so that a filesystem may add writes of
	// its own log.
	SyncWrites bool
	// Streams is how many it had; 0 counts as 1.
	Streams int
	// Variant is whatever else makes two loads differ, in any form: pattern, file size, range and
	// distribution. It is compared only, to tell which workloads are the same load at other depths.
	Variant string
}

// Device is what the kernel says of the measured disks and of the node's others.
type Device struct {
	// OperationsPermille are the disks' operations over the engine's, and BytesPermille the bytes; nil
	// while unknown.
	OperationsPermille, BytesPermille *int64
	// MaxIOBytes is the largest I/O that is sent in one piece, by the kernel or because of a stripe; 0
	// while unknown.
	MaxIOBytes int64
	// OtherIOPS and OtherBytesPerSecond are the load of the node's other disks; 0 also while unknown.
	OtherIOPS, OtherBytesPerSecond int64
}

// CPU is the state of the load generator's processors, each in percent from 0 to 100.
type CPU struct {
	BusiestWorkerPercent, RunDelayPercent, ThrottledPercent, StealPercent int32
}

// Step is a change of level.
type Step struct {
	// AtSeconds from the start of the window.
	AtSeconds             int64
	BeforeIOPS, AfterIOPS int64
}

// Drained is what the load that went on after the window showed.
type Drained struct {
	// Seconds that it went on.
	Seconds int64
	// Step to the level without credits, its time counted from the start of the window; nil when there
	// was none.
	Step *Step
	// Last level.
	Last catalog.Rate
}

// Rung is the same load at another depth.
type Rung struct {
	Outstanding int
	IOPS        int64
}

// Input is what is known of one measured workload. Its units are those of a DiskBenchmark's status.
type Input struct {
	// Name of the workload.
	Name string
	// Disk of each volume, with the VM it was attached to.
	Disk disk.Disk
	// Volumes that are striped; 0 counts as 1.
	Volumes int
	Load    Load

	// Total, Read and Write are the measured rates.
	Total, Read, Write catalog.Rate
	// MeanNanos is the mean latency of reads and writes together; 0 while unknown.
	MeanNanos int64
	// ProbeMeanNanos is the mean latency of a probe with one outstanding I/O, before the first window; nil
	// without.
	ProbeMeanNanos *int64
	// ProbeSeconds is how long it took.
	ProbeSeconds int64
	// VariationPermille is the coefficient of variation of the seconds' IOPS; nil while unknown.
	VariationPermille *int64
	// Step within the window; nil without.
	Step *Step
	// Drained is what followed the window; nil without.
	Drained *Drained
	// Ladder is the same load at other depths; this workload may be among them. AssessRun adds those of
	// the run.
	Ladder []Rung

	Device Device
	CPU    CPU
	// Errors of I/Os.
	Errors int64
	// Interrupted runs did not reach their end.
	Interrupted bool

	// WarmupSeconds and WindowSeconds of one repetition.
	WarmupSeconds, WindowSeconds int64
	// Repetitions, one after another; 0 counts as 1.
	Repetitions int
	// RepetitionIOPS of each, where they are known.
	RepetitionIOPS []int64
	// NewVolumes: each repetition had disks of its own.
	NewVolumes bool
	// Ledger has the burst credits at the start; nil when they are full. AssessRun keeps it.
	Ledger *Ledger
}

// Basis says where a sustained figure is from.
type Basis string

// The bases.
const (
	// BasisDrained: the level after burst credits were used up.
	BasisDrained Basis = "Drained"
	// BasisMeasured: measured, and published limits allow it without credits.
	BasisMeasured Basis = "Measured"
	// BasisCatalog: what published limits leave without credits.
	BasisCatalog Basis = "Catalog"
)

// Sustained is what the load reaches without burst credits.
type Sustained struct {
	catalog.Rate

	Basis Basis
}

// Expected is what published limits allow the load with the credits at its start, without the host
// cache, if enough I/Os are outstanding.
type Expected struct {
	catalog.Rate

	LimitedBy predict.Limit
	// BurstSeconds that it lasts; 0 without an end.
	BurstSeconds int64
	// MeasuredPermille is the measured rate over it, in thousandths.
	MeasuredPermille int64
}

// WarningReason is the kind of a warning.
type WarningReason string

// The reasons of warnings.
const (
	// UnknownVM: no limit of the VM is known, so that one of them may be what limits.
	UnknownVM WarningReason = "UnknownVM"
	// DisputedVM: published limits of the VM size disagree, and the lower ones were used.
	DisputedVM WarningReason = "DisputedVM"
	// BurstFigure: the figure needs credits and does not last.
	BurstFigure WarningReason = "BurstFigure"
	// CreditsDisagree: the estimate of credits says otherwise than the figure.
	CreditsDisagree WarningReason = "CreditsDisagree"
	// BusyGenerator: the engine was short of processor time, whatever the verdict.
	BusyGenerator WarningReason = "BusyGenerator"
	// NoEvidenceOfQueueing: the verdict rests on the match of the figure alone.
	NoEvidenceOfQueueing WarningReason = "NoEvidenceOfQueueing"
	// OtherLoad: other disks of the node had a tenth of the load or more.
	OtherLoad WarningReason = "OtherLoad"
	// MixedStreams: streams were judged together, by their mean block size.
	MixedStreams WarningReason = "MixedStreams"
	// BurstNotInEffect: the class switches on-demand bursting on, and the figure is at the limit without.
	BurstNotInEffect WarningReason = "BurstNotInEffect"
	// CachedReads: a host cache can have answered reads.
	CachedReads WarningReason = "CachedReads"
	// SplitOrMerged: the kernel sent more or fewer I/Os than the engine asked for, and the disk's were judged.
	SplitOrMerged WarningReason = "SplitOrMerged"
)

// Warning is something to know when the verdict is used.
type Warning struct {
	Reason  WarningReason
	Message string
}

// Assessment is the answer for one workload.
type Assessment struct {
	Name    string
	Verdict Verdict
	// Reason of Unknown; empty otherwise.
	Reason Reason
	// Row of docs/verdicts.md that held.
	Row string
	// AlsoAtLimit are other limits that the figure is at; with Unknown, all that it is at, and with
	// DiskBurst and VMBurst, other bases that the level after the step is at.
	AlsoAtLimit []Verdict
	// Sentence says it to a person, with what to do.
	Sentence string
	// StepAtSeconds is when credits ran out, from the start of the window; nil without DiskBurst and
	// VMBurst.
	StepAtSeconds *int64

	Measured catalog.Rate
	// Expected is nil where limits are not known, and for buffered I/O.
	Expected *Expected
	// Sustained is nil while unknown.
	Sustained *Sustained
	// CreditsAtStart and CreditsLeft are estimates; none where nothing bursts on credits, and for an
	// existing disk, whose credits are not known.
	CreditsAtStart, CreditsLeft []Credits
	Warnings                    []Warning
}
