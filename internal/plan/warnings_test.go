// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// resultOf is a result of a preset that calls for no warning: 100,000 operations of 4 KiB.
func resultOf(w workload.Workload, vary func(*report.Workload)) report.Workload {
	f := report.NewFigures(100_000, 100_000*4096, 60e9, report.Latency{})
	r := report.Workload{
		Name: w.Name, FileSizeBytes: w.FileSizeBytes, WindowNanos: 60e9, Total: f, Repetitions: []report.Repetition{{}},
		Device: &report.DeviceCounters{ReadOperations: 100_000, ReadBytes: f.Bytes},
		Steady: &report.Steady{VariationPercent: 20},
		CPU:    report.CPU{BusiestWorkerPercent: 89, ThrottledPercent: 1, RunDelayPercent: 5, StealPercent: 2},
	}
	if vary != nil {
		vary(&r)
	}
	return r
}

func TestWarningsAboutFigures(t *testing.T) {
	device := func(operations, bytes int64) func(*report.Workload) {
		return func(r *report.Workload) {
			r.Device = &report.DeviceCounters{ReadOperations: operations / 2, WriteOperations: operations - operations/2, ReadBytes: bytes}
		}
	}
	const bytes = 100_000 * 4096
	for name, c := range map[string]struct {
		reason, preset string
		vary           func(*report.Workload)
		want           []string
	}{
		"nothing":          {"at every threshold, and not above", "randread", nil, nil},
		"no counters":      {"a kernel or a volume may have none", "randread", func(r *report.Workload) { r.Device, r.Steady = nil, nil }, nil},
		"just enough":      {"0.98", "randread", device(98_000, bytes), nil},
		"a few more":       {"1.05: ext4's own", "randread", device(105_000, bytes), nil},
		"what is crossing": {"128 were in flight at the bounds of the window, 0.13%", "randread", device(97_900, bytes), nil},
		"unwritten": {
			"reads that never reach the disk look like a fast one", "randread", device(180, 180*4096),
			[]string{"randread: the disk did 180 operations for the engine's 100,000 (0.00 to 1): the others were answered without it, from unwritten parts of the file or a cache"},
		},
		"another writer": {
			"somebody else's I/O is part of what was measured", "randread", device(150_000, bytes*3/2),
			[]string{"randread: the disk did 150,000 operations for the engine's 100,000 (1.50 to 1): the filesystem's journal, or somebody else, used the disk as well"},
		},
		"split": {
			"the same bytes in smaller pieces: the disk's IOPS are twice those shown", "randread", device(200_000, bytes),
			[]string{"randread: the disk did 200,000 operations for the engine's 100,000 (2.00 to 1): they were split on their way, and it counts the parts"},
		},
		"split by the disk": {
			"1 MiB is more than it takes at once", "seqread", device(200_000, bytes),
			[]string{"seqread: the disk did 200,000 operations for the engine's 100,000 (2.00 to 1): they were split on their way, since it takes 512Ki in one piece, and it counts the parts"},
		},
		"merged": {
			"the same bytes in larger pieces", "randread", device(25_000, bytes),
			[]string{"randread: the disk did 25,000 operations for the engine's 100,000 (0.25 to 1): neighbors were merged on their way, and it counts each group as one"},
		},
		"buffered": {
			"the page cache gathers writes: the ratio means nothing, and the writes' figures little", "postgres-wal", device(5, 5),
			[]string{"postgres-wal: directIO is Disabled: reads and writes include the page cache; the flushes are the disk's"},
		},
		"too slow": {
			"the time was over first", "etcd", func(r *report.Workload) { r.Total = report.NewFigures(8120, 1, 1, report.Latency{}) },
			[]string{
				"etcd: directIO is Disabled: reads and writes include the page cache; the flushes are the disk's",
				"etcd: 8,120 of 10,000 operations within durationSeconds (300): raise it, or ask for fewer",
			},
		},
		"burst": {
			"the mean of two levels is neither; the variation is the step's", "randread",
			func(r *report.Workload) {
				r.Steady.VariationPercent = 70
				r.Step = &report.Step{AtSeconds: 31, BeforeIOPS: 3500, AfterIOPS: 500}
			},
			[]string{"randread: fell from 3,500 to 500 IOPS at second 31"},
		},
		"rise": {"a step is one in either direction", "randread", func(r *report.Workload) { r.Step = &report.Step{AtSeconds: 1, BeforeIOPS: 5, AfterIOPS: 50} },
			[]string{"randread: rose from 5 to 50 IOPS at second 1"}},
		"unsteady": {"a mean of what varies so much says little", "randread", func(r *report.Workload) { r.Steady.VariationPercent = 20.6 },
			[]string{"randread: not steady: from second to second the IOPS vary by 21% of their mean"}},
		"drained": {"the figure is there", "randread", func(r *report.Workload) { r.Drained = &report.Drained{Seconds: 200, Step: &report.Step{}} }, nil},
		"not drained": {"the base may still be lower", "randread", func(r *report.Workload) { r.Drained = &report.Drained{Seconds: 2700} },
			[]string{"randread: no fall within 2,700 s of draining: the disk has no burst credits, or more than that uses up"}},
		"the load generator": {"each share that is too high is named", "randread",
			func(r *report.Workload) {
				r.CPU = report.CPU{BusiestWorkerPercent: 90, ThrottledPercent: 2, RunDelayPercent: 6, StealPercent: 3}
			},
			[]string{"randread: the load generator was the limit: a worker used 90% of a core, its CPU limit held it back for 2% of the time, " +
				"a worker waited for a core for 6% of the time, the VM's host took 3% of its processor time; use more threads or a larger VM"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(presetNamed(c.preset))
			p, err := Build(spec)
			if err != nil {
				t.Fatal(err)
			}
			r := &report.Report{
				Target:    report.Target{Queue: &report.Queue{MaxIOBytes: 512 << 10}},
				Workloads: []report.Workload{resultOf(p.Workloads[0], c.vary)},
			}
			if diff := cmp.Diff(c.want, Warnings(spec, p, r)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestDrainingIsToldBeforeTheRun(t *testing.T) {
	spec := specOf(presetNamed("profile"))
	spec.Sustained, spec.Repetitions = ptr.To(v1alpha1.SustainedDrain), ptr.To[int32](2)
	p, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	// Four of profile's six workloads saturate, twice each.
	got := strings.Join(SpecWarnings(spec, p), "")
	if !strings.Contains(got, "may go on for 45 minutes after its window, in each repetition, 360 minutes in all") {
		t.Errorf("warnings: %q", got)
	}
}
