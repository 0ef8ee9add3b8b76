// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"slices"

	"github.com/diskbench/diskbench/internal/azure/disk"
)

// finding is what a row says when it holds.
type finding struct {
	verdict Verdict
	reason  Reason
	// at are the limits that the figure is at, from the lowest.
	at []capacity
}

// row is a rule of docs/verdicts.md.
type row struct {
	number string
	judge  func(e *evidence) (finding, bool)
}

// rows are read from the top, and the first that holds gives the verdict. The ones with a letter are
// cases in which the answer must be Unknown; each stands before the first row that would need what is
// not known.
var rows = []row{
	{"1", invalidRun},
	{"2", offeredRate},
	{"2a", buffered},
	{"2b", existingClaim},
	{"3", burstEnded},
	{"4", unexplainedStep},
	{"4a", noCatalog},
	{"4b", unsteady},
	{"4c", controllerUnknown},
	{"5", hostCache},
	{"6", aboveKnownLimits},
	{"6a", cachedLimitUnpublished},
	{"7", oneLimit},
	{"8", severalLimits},
	{"9", loadGenerator},
	{"10", latency},
	{"11", queueDepth},
	{"12a", noQueueingEvidence},
	{"12b", betweenBaseAndBurst},
	{"12c", unknownLimit},
	{"12", unexplained},
}

// judge gives the first row that holds; the last always does.
func (e *evidence) judge() (row, finding) {
	for _, r := range rows {
		if f, ok := r.judge(e); ok {
			return r, f
		}
	}
	return rows[len(rows)-1], finding{verdict: Unknown, reason: Unexplained}
}

func because(r Reason, ok bool) (finding, bool) {
	return finding{verdict: Unknown, reason: r}, ok
}

func invalidRun(e *evidence) (finding, bool) {
	ratio, known := e.ratio()
	strange := known && (ratio < ratioLow || ratio > ratioHigh) && !e.explained(ratio)
	return because(InvalidRun, e.Errors > 0 || e.Interrupted || e.Total.IOPS <= 0 || strange)
}

func offeredRate(e *evidence) (finding, bool) {
	asked := e.Load.RateIOPS
	return finding{verdict: OfferedRate}, asked > 0 && float64(e.Total.IOPS) >= delivered*float64(asked)
}

func buffered(e *evidence) (finding, bool) {
	return because(Buffered, e.Load.Buffered)
}

// existingClaim: hidden properties of a disk only raise its limits, so that a figure below all of them is
// judged all the same.
func existingClaim(e *evidence) (finding, bool) {
	f, ok := because(ExistingClaim, e.Disk.Existing && (e.step != nil || len(e.caps) > 0 && !e.below()))
	f.at = e.inBand()
	return f, ok
}

// burstEnded: the level after the step is a base that has a burst, and the level before is a limit, too,
// above it: the burst, or what held the load below it.
func burstEnded(e *evidence) (finding, bool) {
	if e.step == nil || e.step.BeforeIOPS <= e.step.AfterIOPS {
		return finding{}, false
	}
	from := slices.ContainsFunc(e.caps, func(c capacity) bool { return e.at(c, e.step.BeforeIOPS) })
	var ended []capacity
	for _, c := range e.caps {
		if _, has := e.cap(bursts[c.verdict]); has && !isBurst(c.verdict) && e.at(c, e.step.AfterIOPS) {
			ended = append(ended, c)
		}
	}
	if !from || len(ended) == 0 {
		return finding{}, false
	}
	v := DiskBurst
	if ended[0].vm() {
		v = VMBurst
	}
	return finding{verdict: v, at: ended}, true
}

// at tells whether a level of the engine is at a limit.
func (e *evidence) at(c capacity, level int64) bool {
	c.x = e.over(c.verdict, c.iops, float64(level)*e.deviceRatio())
	return c.inBand()
}

func unexplainedStep(e *evidence) (finding, bool) {
	return because(UnexplainedStep, e.step != nil)
}

func noCatalog(e *evidence) (finding, bool) {
	return because(NoCatalog, len(e.caps) == 0 && !e.hasLadder())
}

func unsteady(e *evidence) (finding, bool) {
	return because(Unsteady, e.VariationPermille != nil && *e.VariationPermille > unsteadyPermille)
}

// controllerUnknown: the disk has the lower of the VM's limits, so that a figure below them is judged all
// the same.
func controllerUnknown(e *evidence) (finding, bool) {
	reached := slices.ContainsFunc(e.caps, func(c capacity) bool { return c.vm() && c.x >= bandLow })
	f, ok := because(ControllerUnknown, e.Disk.VMAmbiguous && reached)
	f.at = e.inBand()
	return f, ok
}

func hostCache(e *evidence) (finding, bool) {
	writes := float64(e.Write.IOPS) * e.deviceRatio()
	writesFit := !slices.ContainsFunc(e.ceilings(), func(c capacity) bool { return e.over(c.verdict, c.iops, writes) > bandHigh })
	return finding{verdict: HostCache}, e.above() && e.cachedReads() && writesFit
}

// cachedReads tells whether the host cache can have answered reads.
func (e *evidence) cachedReads() bool {
	return (e.Disk.Caching == disk.CachingReadOnly || e.Disk.Caching == disk.CachingReadWrite) && e.Load.ReadPercent > 0
}

func aboveKnownLimits(e *evidence) (finding, bool) {
	return because(AboveKnownLimits, e.above())
}

// cachedLimitUnpublished: hits and misses count against the VM's limit of cached I/O. Where that is not
// known, it can be what a figure at another limit is at by chance.
func cachedLimitUnpublished(e *evidence) (finding, bool) {
	at := e.inBand()
	f, ok := because(CachedLimitUnpublished, len(at) > 0 && e.Disk.Caching == disk.CachingReadOnly && e.cachedReads() &&
		(e.Disk.VM == nil || e.Disk.VM.Cached == nil))
	f.at = at
	return f, ok
}

func oneLimit(e *evidence) (finding, bool) {
	at := e.inBand()
	if len(at) != 1 || e.queueing != yes {
		return finding{}, false
	}
	return finding{verdict: at[0].verdict, at: at}, true
}

// severalLimits needs no evidence of queueing, but none against it.
func severalLimits(e *evidence) (finding, bool) {
	at := e.inBand()
	if len(at) < 2 || e.queueing == no {
		return finding{}, false
	}
	return finding{verdict: at[0].verdict, at: at}, true
}

func loadGenerator(e *evidence) (finding, bool) {
	return finding{verdict: LoadGenerator}, e.below() && e.busy()
}

func latency(e *evidence) (finding, bool) {
	return finding{verdict: Latency}, e.below() && e.Load.Outstanding == 1
}

func queueDepth(e *evidence) (finding, bool) {
	return finding{verdict: QueueDepth}, e.below() && (e.scales() || e.rises())
}

func noQueueingEvidence(e *evidence) (finding, bool) {
	at := e.inBand()
	return finding{verdict: Unknown, reason: NoQueueingEvidence, at: at}, len(at) > 0
}

func betweenBaseAndBurst(e *evidence) (finding, bool) {
	_, _, between := e.between()
	return because(BetweenBaseAndBurst, between)
}

func unknownLimit(e *evidence) (finding, bool) {
	return because(UnknownLimit, e.below() && e.queueing == yes)
}

func unexplained(*evidence) (finding, bool) {
	return because(Unexplained, true)
}
