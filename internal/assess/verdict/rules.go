// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import "slices"

// finding is what a row says when it holds.
type finding struct {
	verdict Verdict
	reason  Reason
	// at are the limits that the figure is at, from the lowest.
	at []capacity
}

// ended tells whether credits ran out meanwhile.
func (f finding) ended() bool { return f.verdict == DiskBurst || f.verdict == VMBurst }

// row is a rule of docs/verdicts.md.
type row struct {
	number string
	judge  func(e *evidence) (finding, bool)
}

// rows are read from the top, and the first that holds gives the verdict. Those with a letter are, but for
// 6b, cases in which the answer must be Unknown; each stands before the first row that would need what is
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
	{"6b", cachedLimit},
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

// judge gives the first row that holds; the last one always does.
func (e *evidence) judge() (number string, f finding) {
	for _, r := range rows {
		number = r.number
		var ok bool
		if f, ok = r.judge(e); ok {
			break
		}
	}
	return number, f
}

// because is Unknown for a reason, where that applies.
func because(r Reason, ok bool) (finding, bool) {
	return finding{verdict: Unknown, reason: r}, ok
}

func invalidRun(e *evidence) (finding, bool) {
	ratio, known := e.counted()
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
	if ended[0].vm() {
		return finding{verdict: VMBurst, at: ended}, true
	}
	return finding{verdict: DiskBurst, at: ended}, true
}

// at tells whether a level of the engine is at a limit.
func (e *evidence) at(c capacity, level int64) bool {
	c.x = e.over(c.verdict, c.iops, float64(level)*e.ratio)
	return c.inBand()
}

func unexplainedStep(e *evidence) (finding, bool) {
	return because(UnexplainedStep, e.step != nil)
}

func noCatalog(e *evidence) (finding, bool) {
	return because(NoCatalog, len(e.caps) == 0 && !e.hasLadder())
}

func unsteady(e *evidence) (finding, bool) {
	return because(Unsteady, e.varied() > unsteadyPermille)
}

// controllerUnknown: the disk has the lower of the VM's limits, so that a figure below them is judged all
// the same.
func controllerUnknown(e *evidence) (finding, bool) {
	reached := slices.ContainsFunc(e.caps, func(c capacity) bool { return c.vm() && c.x >= bandLow })
	f, ok := because(ControllerUnknown, e.Disk.VMAmbiguous && reached)
	f.at = e.inBand()
	return f, ok
}

// hostCache: hits go past the limits of the disk and the VM's of uncached I/O, and writes do not. A limit
// of the VM that sources disagree on, or that only the other disks' load exceeds, is no sign of hits.
func hostCache(e *evidence) (finding, bool) {
	past := slices.ContainsFunc(e.ceilings(), func(c capacity) bool {
		return e.iops > bandHigh*c.iops && (!c.vm() || !e.Disk.VM.Disputed)
	})
	writes := float64(e.Write.IOPS) * e.ratio
	writesFit := !slices.ContainsFunc(e.ceilings(), func(c capacity) bool { return e.over(c.verdict, c.iops, writes) > bandHigh })
	return finding{verdict: HostCache}, past && e.cachedReads() && writesFit
}

func aboveKnownLimits(e *evidence) (finding, bool) {
	_, above := e.exceeded()
	return because(AboveKnownLimits, above)
}

// cachedLimitUnpublished: hits and misses count against the VM's limit of cached I/O. Where that is not
// known, it can be what a figure at another limit is at by chance.
func cachedLimitUnpublished(e *evidence) (finding, bool) {
	at := e.inBand()
	f, ok := because(CachedLimitUnpublished, len(at) > 0 && e.throughCache() && (e.Disk.VM == nil || e.Disk.VM.Cached == nil))
	f.at = at
	return f, ok
}

// cachedLimit: the VM's limit of cached I/O is the host cache's, and can be below that of uncached I/O.
func cachedLimit(e *evidence) (finding, bool) {
	at := slices.DeleteFunc(slices.Clone(e.cached), func(c capacity) bool { return !c.inBand() })
	return finding{verdict: HostCache, at: at}, len(at) > 0 && len(e.inBand()) == 0 && e.queueing == yes
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

// unexplained always holds. Without limits to be below of, it is the catalog that is missing.
func unexplained(e *evidence) (finding, bool) {
	if len(e.caps) == 0 {
		return because(NoCatalog, true)
	}
	return because(Unexplained, true)
}
