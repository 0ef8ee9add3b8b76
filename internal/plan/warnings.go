// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// busyWorkerPercent is where a worker's core, not the disk, begins to set the pace: above it the
// time between a completion and the next submission is a sizeable part of the latency. (Judgment.)
const busyWorkerPercent = 90

// Warnings are what a reader of the figures should know about how they came about.
func Warnings(spec *v1alpha1.DiskBenchmarkSpec, p workload.Plan, r *report.Report) []string {
	var out []string
	for i := range r.Workloads {
		w, asked := &r.Workloads[i], p.Workloads[i]
		if w.FileSizeBytes < asked.FileSizeBytes {
			out = append(out, fmt.Sprintf("%s: the file is %s instead of %s, the most that fits in 80%% of the free space",
				w.Name, bytesize.Format(w.FileSizeBytes), bytesize.Format(asked.FileSizeBytes)))
		}
		if w.CPU.BusiestWorkerPercent >= busyWorkerPercent {
			out = append(out, fmt.Sprintf("%s: the load generator was the limit: a worker used %d%% of a core%s",
				w.Name, w.CPU.BusiestWorkerPercent, cpuAdvice(spec)))
		}
	}
	return out
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
	if spec.Cost != nil {
		out = append(out, "spec.cost is kept and has no effect: this release computes no cost")
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
