// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/diskbench/diskbench/engine/workload"
)

// Where the load generator, not the disk, may have been the limit. All of it is judgment: a worker
// that is nearly always busy, or waits for a core, cannot ask for more.
const (
	busyWorkerPercent = 90
	runDelayPercent   = 5
	throttledPercent  = 1
	stealPercent      = 2
)

// The device's own count agrees with the engine's within these bounds: what crosses the bounds of
// the window, and a filesystem's occasional metadata, stay inside. It is judgment.
const (
	leastRatio = 0.98
	mostRatio  = 1.05
)

// deliveredShare is how much of a rate counts as all of it.
const deliveredShare = 0.99

// notes are the sentences that a reader of the figures needs.
func notes(p workload.Plan, r result) []string {
	var all []string
	if p.Target == workload.NullDevice {
		all = append(all, workload.NullPath+" answers at once: the figures are the load generator's own ceiling on this machine, "+
			"nothing of a disk was measured.")
	}
	for _, f := range r.Fallbacks {
		all = append(all, fmt.Sprintf("The I/O engine %s does not work here: %s.", f.IOEngine, f.Reason))
	}
	for i, w := range r.Workloads {
		about := workloadNotes(p.Workloads[i], w)
		if p.Target != workload.NullDevice { // where the load generator is the limit by design
			about = append(about, generatorNotes(w.CPU)...)
		}
		for _, note := range about {
			all = append(all, w.Name+": "+note)
		}
	}
	if slices.ContainsFunc(r.Workloads, lacksPercentiles) {
		all = append(all, "A percentile is left out (-) unless ten samples are expected beyond it.")
	}
	return all
}

func workloadNotes(asked workload.Workload, w workloadResult) []string {
	var all []string
	for _, note := range []string{
		shrunkNote(asked, w), bufferedNote(w), repetitionsNote(w), stepNote(w.Step), drainedNote(w.Drained), steadyNote(w.Steady),
		countersNote(w),
	} {
		if note != "" {
			all = append(all, note)
		}
	}
	return append(all, rateNotes(w)...)
}

func shrunkNote(asked workload.Workload, w workloadResult) string {
	// Less than a block is rounding.
	if size := w.Parameters.FileSizeBytes; asked.ShrinkToFit && asked.FileSizeBytes-size >= workload.MaxBlockSizeBytes {
		return fmt.Sprintf("the file has %s instead of %s, for lack of room.", gibibytes(size), gibibytes(asked.FileSizeBytes))
	}
	return ""
}

func bufferedNote(w workloadResult) string {
	if w.Parameters.Buffered() {
		return "the I/O went through the page cache, by plain system calls."
	}
	return ""
}

func repetitionsNote(w workloadResult) string {
	if len(w.Repetitions) < 2 {
		return ""
	}
	byIOPS := func(a, b repetition) int { return int(a.IOPS - b.IOPS) }
	return fmt.Sprintf("%d repetitions had from %.1f to %.1f IOPS.", len(w.Repetitions),
		slices.MinFunc(w.Repetitions, byIOPS).IOPS, slices.MaxFunc(w.Repetitions, byIOPS).IOPS)
}

func stepNote(s *step) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("after %.0f s the level changed from %.1f to %.1f IOPS, as that of a disk does whose burst credits run out.",
		s.AtSeconds, s.BeforeIOPS, s.AfterIOPS)
}

func drainedNote(d *drained) string {
	switch {
	case d == nil:
		return ""
	case d.Step == nil:
		return fmt.Sprintf("the load went on for %.0f s and did not fall: the last level is %.1f IOPS, %.2f MB/s.",
			d.Seconds, d.IOPS, d.BytesPerSecond/1e6)
	default:
		return fmt.Sprintf("the load went on for %.0f s and fell at %.0f s from %.1f IOPS; without burst credits %.1f IOPS, %.2f MB/s are left.",
			d.Seconds, d.Step.AtSeconds, d.Step.BeforeIOPS, d.IOPS, d.BytesPerSecond/1e6)
	}
}

func steadyNote(s *steady) string {
	if s == nil || s.State {
		return ""
	}
	return fmt.Sprintf("the IOPS were not steady by SNIA's rule; those of each second vary by %.1f%% (standard deviation to mean).",
		s.VariationPercent)
}

// countersNote is about direct I/O alone: the page cache joins and delays writes by design.
func countersNote(w workloadResult) string {
	d := w.Device
	if d == nil || d.OperationsRatio == nil || w.Parameters.Buffered() {
		return ""
	}
	operations, moved := *d.OperationsRatio, *d.BytesRatio
	if agrees(operations) && agrees(moved) {
		return ""
	}
	text := fmt.Sprintf("the disk did %.2f operations and moved %.2f bytes for each of the engine's: ", operations, moved)
	switch {
	case operations == 0:
		return text + "something before it answered them all, or its counters are off (queue/iostats)."
	case agrees(moved) && operations > 1:
		return text + "the kernel split them."
	case agrees(moved):
		return text + "the kernel joined them."
	case moved > 1:
		return text + "the filesystem's journal, or another program on the same disk, added to them."
	default:
		return text + "something between, such as a cache, answered the rest."
	}
}

func agrees(ratio float64) bool { return ratio >= leastRatio && ratio <= mostRatio }

// rateNotes say where a rate that was asked for was not reached.
func rateNotes(w workloadResult) []string {
	var all []string
	for i, s := range w.Parameters.Streams {
		asked := float64(s.RateLimitIOPS) * float64(s.Threads)
		got, name := delivered(w, i)
		if asked > 0 && got < deliveredShare*asked {
			all = append(all, fmt.Sprintf("%s%.1f of the %.0f IOPS that were asked for were reached; the latencies have the time that I/Os waited for their turn.",
				name, got, asked))
		}
	}
	return all
}

// delivered is the rate of the i-th stream and, where there are several, how to name it.
func delivered(w workloadResult, i int) (iops float64, name string) {
	if i >= len(w.Streams) {
		if w.Total == nil {
			return 0, ""
		}
		return w.Total.IOPS, ""
	}
	s := w.Streams[i]
	for _, f := range []*figures{s.Read, s.Write} {
		if f != nil {
			iops += f.IOPS
		}
	}
	return iops, "stream " + s.Name + ": "
}

func generatorNotes(c cpu) []string {
	var why []string
	for _, sign := range []struct {
		there   bool
		text    string
		percent int32
	}{
		{c.BusiestWorkerPercent >= busyWorkerPercent, "its busiest worker took %d%% of a core", c.BusiestWorkerPercent},
		{c.RunDelayPercent > runDelayPercent, "a worker waited %d%% of the time for a core", c.RunDelayPercent},
		{c.ThrottledPercent > throttledPercent, "its CPU limit held it back for %d%% of the time", c.ThrottledPercent},
		{c.StealPercent > stealPercent, "the hypervisor took %d%% of the processor time", c.StealPercent},
	} {
		if sign.there {
			why = append(why, fmt.Sprintf(sign.text, sign.percent))
		}
	}
	if len(why) == 0 {
		return nil
	}
	return []string{"the load generator may have been the limit, not the disk: " + strings.Join(why, ", ") +
		". More threads, or more processor time, would tell."}
}

func lacksPercentiles(w workloadResult) bool {
	for _, f := range []*figures{w.Read, w.Write, w.Flush} {
		if f != nil && f.LatencyMicros.P9999 == nil {
			return true
		}
	}
	return false
}
