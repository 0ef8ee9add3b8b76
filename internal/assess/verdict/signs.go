// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"math"
	"slices"
)

const (
	// ratioLow to ratioHigh of device operations to the engine's is a run whose I/Os are the disk's (j): a
	// few of a filesystem's log, or of other readers, do no harm.
	ratioLow, ratioHigh = 0.98, 1.05
	// queuedLatency times the latency of one outstanding I/O is a queue (j): device latencies scatter by
	// less.
	queuedLatency = 1.5
	// flat is the most that twice the depth may add at a limit (j): repetitions differ by less.
	flat = 1.05
	// rising is the least that twice the depth adds where depth is what is missing (j).
	rising = 1.20
	// linear is the least share of depth / latency that is reached while I/Os do not wait (j).
	linear = 0.8
	// leastStep and leastSideSeconds make a step: levels that differ by a tenth, of 20 seconds at least (j).
	leastStep, leastSideSeconds = 0.10, 20
	// delivered is the least share of a rate that is the rate (j).
	delivered = 0.99
	// unsteady is the coefficient of variation above which a mean is no level (j): SNIA's steady state
	// allows a range of 20% of the mean, which is less.
	unsteadyPermille = 200
	// The engine was short of processor time from these shares on (j).
	throttledPercent, workerPercent, runDelayPercent, stealPercent = 1, 90, 5, 2
)

// deviceRatio is how many operations of the disk each of the engine's was, and the size of one over that
// of the engine's, where they differ and it is known why; 1 otherwise.
func (e *evidence) deviceRatio() (operations, size float64) {
	operations, known := e.counted()
	if !known || operations >= ratioLow && operations <= ratioHigh || !e.explained(operations) {
		return 1, 1
	}
	bytes := 1.0
	if e.Device.BytesPermille != nil {
		bytes = float64(*e.Device.BytesPermille) / 1000
	}
	return operations, bytes / operations
}

// counted is the ratio of device operations to the engine's; it says nothing of buffered I/O.
func (e *evidence) counted() (operations float64, known bool) {
	if e.Device.OperationsPermille == nil || e.Load.Buffered {
		return 0, false
	}
	return float64(*e.Device.OperationsPermille) / 1000, true
}

// explained tells whether a ratio of device operations to the engine's is harmless. Where each byte went
// once, the kernel split or merged I/Os. Without a count of bytes, it splits what is larger than the
// device takes, and merges neighbors. When writes are made durable, a filesystem writes its log, too.
func (e *evidence) explained(ratio float64) bool {
	logged := e.Load.SyncWrites && e.Load.ReadPercent < 100
	if bytes := e.Device.BytesPermille; bytes != nil {
		moved := float64(*bytes) / 1000
		return ratio > 0 && moved >= ratioLow && (moved <= ratioHigh || logged)
	}
	pieces := 1.0
	if most := e.Device.MaxIOBytes; most > 0 && e.Load.BlockSizeBytes > most {
		pieces = math.Ceil(float64(e.Load.BlockSizeBytes) / float64(most))
	}
	return ratio > 0 && (ratio >= ratioLow*pieces || e.Load.Sequential) && (ratio <= ratioHigh*pieces || logged)
}

// longStep is the step of the window, or else of the drain, that is large and long enough to count; nil
// without.
func (e *evidence) longStep() *Step {
	if s := e.Step; s != nil && counts(s, e.WindowSeconds) {
		return s
	}
	if d := e.Drained; d != nil && d.Step != nil && counts(d.Step, e.WindowSeconds+d.Seconds) {
		return d.Step
	}
	return nil
}

// varied is the coefficient of variation of the seconds' IOPS, in thousandths, and at least that of the
// repetitions, which are made of seconds.
func (e *evidence) varied() int64 {
	var varied int64
	if e.VariationPermille != nil {
		varied = *e.VariationPermille
	}
	n, sum := float64(len(e.RepetitionIOPS)), 0.0
	for _, r := range e.RepetitionIOPS {
		sum += float64(r)
	}
	if n < 2 || sum <= 0 {
		return varied
	}
	squares := 0.0
	for _, r := range e.RepetitionIOPS {
		squares += (float64(r) - sum/n) * (float64(r) - sum/n)
	}
	return max(varied, round(1000*math.Sqrt(squares/n)/(sum/n)))
}

func counts(s *Step, seconds int64) bool {
	before, after := float64(s.BeforeIOPS), float64(s.AfterIOPS)
	return math.Abs(before-after) >= leastStep*max(before, after) && max(before, after) > 0 &&
		s.AtSeconds >= leastSideSeconds && seconds-s.AtSeconds >= leastSideSeconds
}

// rungs are the depths of the same load, this one's included, from the lowest.
func (e *evidence) rungs() []Rung {
	all := slices.Clone(e.Ladder)
	own := Rung{Outstanding: e.Load.Outstanding, IOPS: e.Total.IOPS}
	all = slices.DeleteFunc(all, func(r Rung) bool { return r.Outstanding <= 0 || r.IOPS <= 0 || r.Outstanding == own.Outstanding })
	if own.Outstanding > 0 && own.IOPS > 0 {
		all = append(all, own)
	}
	slices.SortFunc(all, func(a, b Rung) int { return a.Outstanding - b.Outstanding })
	return all
}

// hasLadder tells whether another depth was measured.
func (e *evidence) hasLadder() bool { return len(e.ladder) > 1 }

// queued tells whether I/Os waited for a limit: by the latency of one outstanding I/O, or by a depth
// that brings no more.
func (e *evidence) queued() answer {
	answer := unknown
	if probe := e.ProbeMeanNanos; probe != nil && *probe > 0 && e.MeanNanos > 0 {
		if float64(e.MeanNanos) >= queuedLatency*float64(*probe) {
			return yes
		}
		answer = no
	}
	if e.levelsOff() {
		return yes
	}
	if e.rises() {
		answer = no
	}
	return answer
}

// levelsOff tells whether at this depth or a lower one, twice as much or more brings nothing. Where it
// brings clearly less, something else changed, such as credits that ran out.
func (e *evidence) levelsOff() bool {
	for i, low := range e.ladder {
		for _, high := range e.ladder[i+1:] {
			gain := float64(high.IOPS) / float64(low.IOPS)
			if low.Outstanding <= e.Load.Outstanding && high.Outstanding >= 2*low.Outstanding && gain < flat && gain > 2-flat {
				return true
			}
		}
	}
	return false
}

// rises tells whether each doubling from this depth to a higher one brings a fifth more. Where the next
// depth measured is four times as much, each of the two doublings counts by their mean: a curve that
// levels off gains more in the first.
func (e *evidence) rises() bool {
	for _, r := range e.ladder {
		doublings := math.Log2(float64(r.Outstanding) / float64(max(1, e.Load.Outstanding)))
		if e.Load.Outstanding > 0 && e.Total.IOPS > 0 && doublings >= 1 &&
			math.Pow(float64(r.IOPS)/float64(e.Total.IOPS), 1/doublings) >= rising {
			return true
		}
	}
	return false
}

// scales tells whether the IOPS are so near depth / latency that no I/O waited.
func (e *evidence) scales() bool {
	probe := e.ProbeMeanNanos
	if probe == nil || *probe <= 0 || e.Load.Outstanding < 1 {
		return false
	}
	return float64(e.Total.IOPS) >= linear*float64(e.Load.Outstanding)*1e9/float64(*probe)
}

func (e *evidence) busy() bool {
	c := e.CPU
	return c.ThrottledPercent > throttledPercent || c.BusiestWorkerPercent >= workerPercent ||
		c.RunDelayPercent > runDelayPercent || c.StealPercent > stealPercent
}
