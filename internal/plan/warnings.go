// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Above these shares of the time the load generator, not the disk, begins to set the pace. (Judgment.)
const (
	// busyWorkerPercent of a core: the time between a completion and the next submission is a sizeable
	// part of the latency.
	busyWorkerPercent = 90
	// throttledPercent is any throttling that is more than a rounding.
	throttledPercent = 1
	// runDelayPercent of waiting for a core.
	runDelayPercent = 5
	// stealPercent of the VM's processor time.
	stealPercent = 2
)

// The disk's operations over the engine's lie within these when each of the engine's is one of the
// disk's; the room is for a filesystem's own few. (Judgment.)
const (
	fewestPermille = 980
	mostPermille   = 1050
)

// unsteadyPercent is the coefficient of variation of the seconds' IOPS above which their mean describes
// few of them. (Judgment.)
const unsteadyPercent = 20

// Warnings are what a reader of the figures should know about how they came about.
func Warnings(spec *v1alpha1.DiskBenchmarkSpec, p workload.Plan, r *report.Report) []string {
	var out []string
	for i := range r.Workloads {
		w, asked := &r.Workloads[i], p.Workloads[i]
		for _, words := range []string{
			shrunk(asked, w),
			buffered(asked),
			unreached(asked, w, p.Repetitions),
			differing(asked, w, r.Target.Queue),
			level(w),
			undrained(w),
			generator(spec, w.CPU),
		} {
			if words != "" {
				out = append(out, w.Name+": "+words)
			}
		}
	}
	return out
}

func shrunk(asked workload.Workload, w *report.Workload) string {
	if w.FileSizeBytes >= asked.FileSizeBytes {
		return ""
	}
	return fmt.Sprintf("the file is %s instead of %s, the most that fits in 80%% of the free space",
		bytesize.Format(w.FileSizeBytes), bytesize.Format(asked.FileSizeBytes))
}

func buffered(asked workload.Workload) string {
	switch {
	case !asked.Buffered():
		return ""
	case asked.Flushes():
		return "directIO is Disabled: reads and writes include the page cache; the flushes are the disk's"
	default:
		return "directIO is Disabled: the figures are those of the page cache as well as of the disk"
	}
}

// unreached is about a number of operations that the time did not suffice for.
func unreached(asked workload.Workload, w *report.Workload, repetitions int) string {
	if asked.Operations == 0 || w.Total == nil {
		return ""
	}
	want := asked.Operations * int64(repetitions)
	if w.Total.Operations >= want {
		return ""
	}
	return fmt.Sprintf("%s of %s operations within durationSeconds (%d): raise it, or ask for fewer",
		grouped(w.Total.Operations), grouped(want), int64(asked.Duration.Std()/time.Second))
}

// differing compares what the disk did with what the engine asked for. Operations that began before a
// window or ended after it count on one side only, so as many as are outstanding may differ.
func differing(asked workload.Workload, w *report.Workload, q *report.Queue) string {
	d, t := w.Device, w.Total
	if d == nil || t == nil || t.Operations == 0 || asked.Buffered() {
		return ""
	}
	operations := d.ReadOperations + d.WriteOperations
	crossing := float64(asked.Outstanding()*max(1, len(w.Repetitions))) / float64(t.Operations)
	band := func(device, engine int64) int {
		switch ratio := float64(device) / float64(engine); {
		case ratio < fewestPermille/1000.0-crossing:
			return -1
		case ratio > mostPermille/1000.0+crossing:
			return 1
		default:
			return 0
		}
	}
	byOperations := band(operations, t.Operations)
	if byOperations == 0 {
		return ""
	}
	sameBytes := band(d.ReadBytes+d.WriteBytes, t.Bytes) == 0
	return fmt.Sprintf("the disk did %s operations for the engine's %s (%s to 1): %s",
		grouped(operations), grouped(t.Operations), threeDigits(float64(operations)/float64(t.Operations)),
		explanation(byOperations, sameBytes, onePiece(asked, q)))
}

// onePiece is the most that the disk takes in one I/O, where the workload has larger ones; 0 otherwise.
func onePiece(asked workload.Workload, q *report.Queue) int64 {
	larger := func(s workload.Stream) bool { return s.BlockSizeBytes > q.MaxIOBytes }
	if q == nil || q.MaxIOBytes == 0 || !slices.ContainsFunc(asked.Streams, larger) {
		return 0
	}
	return q.MaxIOBytes
}

// explanation of more or fewer operations than were asked for, of as many bytes or not.
func explanation(more int, sameBytes bool, onePiece int64) string {
	switch {
	case sameBytes && more > 0 && onePiece > 0:
		return fmt.Sprintf("they were split on their way, since it takes %s in one piece, and it counts the parts", bytesize.Format(onePiece))
	case sameBytes && more > 0:
		return "they were split on their way, and it counts the parts"
	case sameBytes:
		return "neighbors were merged on their way, and it counts each group as one"
	case more > 0:
		return "the filesystem's journal, or somebody else, used the disk as well"
	default:
		return "the others were answered without it, from unwritten parts of the file or a cache"
	}
}

// level is about a rate that was not one.
func level(w *report.Workload) string {
	switch {
	case w.Step != nil:
		return stepWords(w.Step)
	case w.Steady != nil && w.Steady.VariationPercent > unsteadyPercent:
		return fmt.Sprintf("not steady: from second to second the IOPS vary by %.0f%% of their mean", w.Steady.VariationPercent)
	default:
		return ""
	}
}

func stepWords(s *report.Step) string {
	verb := "fell"
	if s.AfterIOPS > s.BeforeIOPS {
		verb = "rose"
	}
	return fmt.Sprintf("%s from %s to %s IOPS at second %d", verb, grouped(round(s.BeforeIOPS)), grouped(round(s.AfterIOPS)), round(s.AtSeconds))
}

func undrained(w *report.Workload) string {
	if w.Drained == nil || w.Drained.Step != nil {
		return ""
	}
	return fmt.Sprintf("no fall within %s s of draining: the disk has no burst credits, or more than that uses up",
		grouped(round(w.Drained.Seconds)))
}

// generator is about a load generator that was the limit itself.
func generator(spec *v1alpha1.DiskBenchmarkSpec, c report.CPU) string {
	var why []string
	if c.BusiestWorkerPercent >= busyWorkerPercent {
		why = append(why, fmt.Sprintf("a worker used %d%% of a core", c.BusiestWorkerPercent))
	}
	if c.ThrottledPercent > throttledPercent {
		why = append(why, fmt.Sprintf("its CPU limit held it back for %d%% of the time", c.ThrottledPercent))
	}
	if c.RunDelayPercent > runDelayPercent {
		why = append(why, fmt.Sprintf("a worker waited for a core for %d%% of the time", c.RunDelayPercent))
	}
	if c.StealPercent > stealPercent {
		why = append(why, fmt.Sprintf("the VM's host took %d%% of its processor time", c.StealPercent))
	}
	if len(why) == 0 {
		return ""
	}
	return "the load generator was the limit: " + strings.Join(why, ", ") + cpuAdvice(spec)
}

func cpuAdvice(spec *v1alpha1.DiskBenchmarkSpec) string {
	if limit, ok := cpuLimit(spec); ok {
		return fmt.Sprintf("; raise or remove pod.resources.limits.cpu (%s)", limit)
	}
	return "; use more threads or a larger VM"
}

// SpecWarnings are what can be told before a run from the spec alone.
func SpecWarnings(spec *v1alpha1.DiskBenchmarkSpec, p workload.Plan) []string {
	var out []string
	if longest := drainingMinutes(p); longest > 0 {
		out = append(out, fmt.Sprintf("sustained is Drain: each workload that saturates the disk may go on for %d minutes after its window, "+
			"in each repetition, %d minutes in all; the volumes and the VM cost meanwhile", DrainSeconds/60, longest))
	}
	threads := 0
	for _, w := range p.Workloads {
		threads = max(threads, w.Threads())
	}
	if limit, ok := cpuLimit(spec); ok && limitMillis(spec) < int64(threads)*1000 {
		out = append(out, fmt.Sprintf(
			"pod.resources.limits.cpu is %s and a workload has %d threads: the load generator may be throttled and become the limit",
			limit, threads))
	}
	return out
}

// drainingMinutes is the longest that all draining may take.
func drainingMinutes(p workload.Plan) int {
	n := 0
	for _, w := range p.Workloads {
		if w.Drain {
			n += DrainSeconds / 60 * p.Repetitions
		}
	}
	return n
}

func cpuLimit(spec *v1alpha1.DiskBenchmarkSpec) (string, bool) {
	if spec.Pod == nil || spec.Pod.Resources == nil {
		return "", false
	}
	q, ok := spec.Pod.Resources.Limits["cpu"]
	return q.String(), ok
}

func limitMillis(spec *v1alpha1.DiskBenchmarkSpec) int64 {
	return spec.Pod.Resources.Limits.Cpu().MilliValue()
}
