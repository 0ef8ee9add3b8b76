// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// Assess says what limited a measured workload. It always has a verdict and a sentence.
func Assess(in Input) Assessment {
	a, _ := assess(in)
	return a
}

// assess gives the credits that are left, too.
func assess(in Input) (Assessment, Ledger) {
	e := weigh(in)
	start := NewLedger(e.Disk, e.Volumes)
	if in.Ledger != nil {
		start = *in.Ledger
	}
	row, found := e.judge()
	left := e.after(start, found)
	a := Assessment{
		Name: e.Name, Verdict: found.verdict, Reason: found.reason, Row: row,
		Measured: e.Total, Expected: e.expected(start), Sustained: e.sustained(found),
		CreditsAtStart: start.Credits(), CreditsLeft: left.Credits(),
	}
	if found.ended() {
		a.StepAtSeconds = new(e.step.AtSeconds)
	}
	for i, c := range found.at {
		// The first is what the verdict names, unless it names none.
		if i > 0 || found.verdict == Unknown {
			a.AlsoAtLimit = append(a.AlsoAtLimit, c.verdict)
		}
	}
	a.Sentence = e.sentence(found)
	a.Warnings = e.warnings(found, start)
	return a, left
}

// Layout is what was written before the first workload.
type Layout struct {
	Seconds, Bytes int64
}

// Run is all workloads of a run on the same disks.
type Run struct {
	// Layout of all disks together.
	Layout Layout
	// NewVolumes: each repetition had disks of its own, so that it spent the credits of those.
	NewVolumes bool
	Workloads  []Input
}

// AssessRun assesses all workloads of a run, one after another. Layout, warm-up, earlier workloads and
// repetitions spend burst credits. A workload's ladder are those of the same load at other depths.
func AssessRun(r Run) []Assessment {
	out := make([]Assessment, 0, len(r.Workloads))
	var ledger Ledger
	for i, in := range r.Workloads {
		in.NewVolumes = r.NewVolumes
		if i == 0 {
			ledger = NewLedger(in.Disk, in.Volumes).spend(layoutUse(r.Layout, in.sets()))
		}
		in.Ledger = &ledger
		in.Ladder = append(slices.Clone(in.Ladder), sameLoad(r.Workloads, i)...)
		a, left := assess(in)
		out, ledger = append(out, a), left
	}
	return out
}

// layoutBytes is the size of the engine's I/Os when it writes a file.
const layoutBytes = 1 << 20

func layoutUse(l Layout, sets int) use {
	if l.Seconds <= 0 || l.Bytes <= 0 {
		return use{}
	}
	perSecond := float64(l.Bytes) / float64(l.Seconds)
	return use{
		iops: perSecond / layoutBytes * units(layoutBytes), bytesPerSecond: perSecond,
		diskSeconds: float64(l.Seconds) / float64(max(1, sets)), vmSeconds: float64(l.Seconds),
	}
}

// sameLoad gives the workloads that differ from one in depth alone.
func sameLoad(all []Input, i int) []Rung {
	key := func(l Load) Load { l.Outstanding = 0; return l }
	var rungs []Rung
	for j := range all {
		if j != i && key(all[j].Load) == key(all[i].Load) && all[j].Load.RateIOPS == 0 && all[j].Errors == 0 && !all[j].Interrupted {
			rungs = append(rungs, Rung{Outstanding: all[j].Load.Outstanding, IOPS: all[j].Total.IOPS})
		}
	}
	return rungs
}

// after is what a workload leaves of credits.
func (e *evidence) after(l Ledger, found finding) Ledger {
	if probe := ptr.Deref(e.ProbeMeanNanos, 0); probe > 0 {
		perSecond := round(1e9 / float64(probe))
		l = l.spend(e.use(catalog.Rate{IOPS: perSecond, BytesPerSecond: perSecond * e.Load.BlockSizeBytes}, e.ProbeSeconds, 1))
	}
	rate := e.Total
	if e.Load.Buffered {
		// What is written reaches the disk sooner or later, and what is read need not.
		rate = e.Write
	}
	l = l.spend(e.use(rate, e.WarmupSeconds+e.WindowSeconds, e.Repetitions))
	if e.Drained != nil {
		l = l.spend(e.use(e.Drained.Last, e.Drained.Seconds, e.Repetitions))
	}
	if !found.ended() {
		return l
	}
	for _, c := range found.at {
		l = l.emptied(bursts[c.verdict])
	}
	return l
}

// use of a rate for some time, as often as that.
func (e *evidence) use(r catalog.Rate, seconds int64, times int) use {
	each := max(0, float64(seconds))
	u := use{
		iops: float64(r.IOPS) * e.ratio * units(e.load.BlockSizeBytes), bytesPerSecond: float64(r.BytesPerSecond),
		diskSeconds: each * float64(times), vmSeconds: each * float64(times),
	}
	if e.NewVolumes {
		u.diskSeconds = each
	}
	return u
}

// sets of disks that were measured, one after another.
func (in Input) sets() int {
	if in.NewVolumes {
		return max(1, in.Repetitions)
	}
	return 1
}

// expected with the credits of the start.
func (e *evidence) expected(start Ledger) *Expected {
	if e.prediction == nil {
		return nil
	}
	lowest := e.inEffect(start)
	x := &Expected{
		// The engine's I/Os, of which the disk's can be several or a part.
		Rate:      rate(lowest.iops/e.ratio, float64(e.Load.BlockSizeBytes)),
		LimitedBy: predict.Limit(lowest.verdict),
	}
	x.BurstSeconds = start.lasts(use{iops: lowest.iops * units(e.load.BlockSizeBytes), bytesPerSecond: lowest.iops * float64(e.load.BlockSizeBytes)})
	if x.IOPS > 0 {
		x.MeasuredPermille = round(1000 * float64(e.Total.IOPS) / float64(x.IOPS))
	}
	return x
}

// inEffect is the lowest of all limits: of each its burst, unless by the estimate its credits are spent.
func (e *evidence) inEffect(start Ledger) capacity {
	all := slices.Clone(e.cached)
	for _, name := range bases {
		base, ok := e.cap(name)
		if burst, has := e.cap(bursts[name]); has && !start.empty(burst.verdict) {
			base = burst
		}
		if ok {
			all = append(all, base)
		}
	}
	return slices.MinFunc(all, func(a, b capacity) int { return cmp.Compare(a.iops, b.iops) })
}

// sustained is what the load reaches without credits; nil where that is not known.
func (e *evidence) sustained(found finding) *Sustained {
	switch d := e.Drained; {
	case found.reason == InvalidRun:
		return nil
	case d != nil && d.Step != nil:
		return &Sustained{Rate: d.Last, Basis: BasisDrained}
	case noLevel(found.reason):
		return nil
	case found.ended():
		return &Sustained{Rate: rate(float64(e.step.AfterIOPS), float64(e.Load.BlockSizeBytes)), Basis: BasisMeasured}
	case e.prediction == nil:
		return nil
	case e.iops <= e.prediction.Sustained.IOPS*bandHigh:
		return &Sustained{Rate: e.Total, Basis: BasisMeasured}
	default:
		return &Sustained{Rate: rate(e.prediction.Sustained.IOPS/e.ratio, float64(e.Load.BlockSizeBytes)), Basis: BasisCatalog}
	}
}

// noLevel tells whether an Unknown leaves neither the figure as a level that lasts nor the catalog's limits
// as those of this disk and VM.
func noLevel(r Reason) bool {
	return slices.Contains([]Reason{ExistingClaim, ControllerUnknown, AboveKnownLimits, UnexplainedStep, Unsteady}, r)
}

// round to an integer, within what one can hold.
func round(f float64) int64 {
	if f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(f))
}
