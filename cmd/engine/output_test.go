// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/test/golden"
)

// presetPlan is a plan of presets, on a directory that need not exist.
func presetPlan(t *testing.T, presets ...string) workload.Plan {
	t.Helper()
	p := workload.Plan{Target: workload.Directory, Sets: [][]string{{"/mnt/disk"}}, IOEngine: workload.Auto, Repetitions: 1}
	for _, preset := range presets {
		ws, err := workload.Resolve(preset, "", workload.Override{})
		if err != nil {
			t.Fatal(err)
		}
		p.Workloads = append(p.Workloads, ws...)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}

// made are figures of so many operations in a window of 60 s.
func made(operations, blockSize, meanNanos int64) *report.Figures {
	l := report.Latency{MeanNanos: meanNanos, StddevNanos: meanNanos / 4, MinNanos: meanNanos / 2, MaxNanos: meanNanos * 9}
	l.P50Nanos = new(meanNanos)
	if operations >= 1000 {
		l.P90Nanos, l.P95Nanos, l.P99Nanos = new(meanNanos*2), new(meanNanos*3), new(meanNanos*4)
	}
	return report.NewFigures(operations, operations*blockSize, 60e9, l)
}

func reported(p workload.Plan, ws ...report.Workload) *report.Report {
	for i := range ws {
		w := &ws[i]
		w.Name, w.WindowNanos = p.Workloads[i].Name, 60e9
		if w.FileSizeBytes == 0 {
			w.FileSizeBytes = p.Workloads[i].FileSizeBytes
		}
		if w.Repetitions == nil {
			w.Repetitions = []report.Repetition{{IOPS: w.Total.IOPS}}
		}
		w.Series = report.Series{IntervalNanos: 1e9, IOPS: []float64{w.Total.IOPS}}
	}
	return &report.Report{
		EngineVersion: "v1.0.0", IOEngine: workload.LibAIO, DirectIO: true, Kernel: "6.8.0",
		Fallbacks: []report.Fallback{{IOEngine: workload.IOUring, Reason: "io_uring_setup: operation not permitted"}},
		Target: report.Target{
			Filesystem: "ext4", Device: "sdc", SizeBytes: 32 << 30, LogicalBlockBytes: 4096,
			Queue: &report.Queue{Scheduler: "none", Requests: 64, DeviceDepth: 2048, MaxIOBytes: 512 << 10, WriteBack: true},
		},
		Workloads: ws,
	}
}

// everything is a result in which each field of a report has a value, and each note its reason.
func everything(t *testing.T) (workload.Plan, *report.Report) {
	t.Helper()
	p := presetPlan(t, "vdi", "sql", "etcd")
	p.Repetitions = 3
	r := reported(p,
		report.Workload{
			FileSizeBytes: 3 << 30,
			Read:          made(90_000, 4096, 5_000_000), Write: made(90_000, 4096, 5_500_000), Total: made(180_000, 4096, 5_250_000),
			Repetitions: []report.Repetition{{IOPS: 3100}, {IOPS: 2900}, {IOPS: 3000, P99Nanos: new(int64(7_000_000))}},
			Steady:      &report.Steady{VariationPercent: 31.25},
			Step:        &report.Step{AtSeconds: 41, BeforeIOPS: 3500, AfterIOPS: 500},
			Drained:     &report.Drained{Seconds: 300, Step: &report.Step{AtSeconds: 200, BeforeIOPS: 3500, AfterIOPS: 500}, IOPS: 500, BytesPerSecond: 2_048_000},
			Device: &report.DeviceCounters{ReadOperations: 90_000, WriteOperations: 180_000, ReadBytes: 90_000 * 4096,
				WriteBytes: 180_000 * 4096, OtherOperations: 12, OtherBytes: 49_152},
			CPU: report.CPU{UserNanos: 2e9, SystemNanos: 3e9, BusiestWorkerPercent: 95, RunDelayPercent: 6, ThrottledPercent: 2, StealPercent: 3},
		},
		report.Workload{
			Read: made(200_000, 8192, 900_000), Write: made(95_000, 8192, 1_100_000), Total: made(295_000, 8192, 1_000_000),
			Streams: []report.Stream{
				{Name: "data", Read: made(200_000, 8192, 900_000), Write: made(85_000, 8192, 1_100_000)},
				{Name: "log", Write: made(10_000, 32768, 2_000_000)},
			},
			Steady: &report.Steady{State: true, VariationPercent: 1},
		},
		report.Workload{
			Write: made(10_000, 2300, 12_000), Total: made(10_000, 2300, 12_000), Flush: made(10_000, 0, 3_000_000),
			Device: &report.DeviceCounters{WriteOperations: 30_000, WriteBytes: 120_000_000},
		},
	)
	return p, r
}

func TestTableGolden(t *testing.T) {
	p, r := everything(t)
	null := workload.Plan{Target: workload.NullDevice, Sets: [][]string{{workload.NullPath}}, Repetitions: 1, Workloads: presetPlan(t, "randread").Workloads}
	atCeiling := reported(null, report.Workload{
		Read: made(60e6, 4096, 1_000), Total: made(60e6, 4096, 1_000), CPU: report.CPU{BusiestWorkerPercent: 100},
	})
	atCeiling.Target, atCeiling.Fallbacks = report.Target{}, nil
	partial := reported(presetPlan(t, "quick"), report.Workload{Read: made(500, 4096, 2_000_000), Total: made(500, 4096, 2_000_000)})
	striped := presetPlan(t, "seqread")
	striped.Sets, striped.StripeSizeBytes = [][]string{{"/mnt/a", "/mnt/b"}}, 64<<10
	for _, tt := range []struct {
		why, name   string
		plan        workload.Plan
		report      *report.Report
		interrupted bool
	}{
		{"streams, flushes and every note", "everything.table", p, r, false},
		{"what is no disk must not look like one", "null.table", null, atCeiling, false},
		{"a part must not look like the whole", "partial.table", presetPlan(t, "quick"), partial, true},
		{"several volumes, whose I/Os the kernel splits", "striped.table", striped, reported(striped, report.Workload{
			Read: made(30_000, 1<<20, 60_000_000), Total: made(30_000, 1<<20, 60_000_000),
			Device: &report.DeviceCounters{ReadOperations: 60_000, ReadBytes: 30_000 << 20},
		}), false},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var b bytes.Buffer
			if err := writeResult(&b, outputTable, newResult(tt.plan, tt.report, tt.interrupted)); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", tt.name), b.String())
		})
	}
}

// YAML and JSON are the same document, with every field of the report in it.
func TestYAMLAndJSON(t *testing.T) {
	p, r := everything(t)
	var asJSON, asYAML bytes.Buffer
	for form, b := range map[outputForm]*bytes.Buffer{outputJSON: &asJSON, outputYAML: &asYAML} {
		if err := writeResult(b, form, newResult(p, r, true)); err != nil {
			t.Fatal(err)
		}
	}
	golden.Compare(t, "testdata/everything.yaml", asYAML.String())
	converted, err := yaml.YAMLToJSON(asYAML.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var one, other any
	if err := json.Unmarshal(asJSON.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(converted, &other); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Error(diff)
	}
}

func TestNotes(t *testing.T) {
	vdi := presetPlan(t, "vdi").Workloads[0]
	limited := vdi
	limited.Streams = []workload.Stream{vdi.Streams[0]}
	limited.Streams[0].RateLimitIOPS = 1000
	buffered := vdi
	buffered.DirectIO = workload.DirectDisabled
	total := newFigures(made(60_000, 4096, 1e6)) // 1,000 IOPS
	counted := func(operations, bytes float64) *device {
		return &device{OperationsRatio: &operations, BytesRatio: &bytes}
	}
	for _, tt := range []struct {
		why    string
		result workloadResult
		want   string // part of the only note; empty: none
	}{
		{"nothing to say", workloadResult{Parameters: vdi, Total: total, Device: counted(1, 1)}, ""},
		{"the edges of agreement", workloadResult{Parameters: vdi, Device: counted(0.98, 1.05)}, ""},
		{"just beyond", workloadResult{Parameters: vdi, Device: counted(1.06, 1.06)}, "added to them"},
		{"reads answered elsewhere", workloadResult{Parameters: vdi, Device: counted(0.5, 0.5)}, "such as a cache, answered the rest"},
		{"large I/Os in pieces", workloadResult{Parameters: vdi, Device: counted(2, 1)}, "the kernel split them"},
		{"neighbors in one", workloadResult{Parameters: vdi, Device: counted(0.5, 1)}, "the kernel joined them"},
		{"a run without I/O", workloadResult{Parameters: vdi, Device: &device{}}, ""},
		{"nothing reached the disk, or it does not count", workloadResult{Parameters: vdi, Device: counted(0, 0)}, "answered them all, or its counters are off"},
		{"the page cache delays and joins by design", workloadResult{Parameters: buffered, Device: counted(3, 3)}, "through the page cache"},
		{"half of the rate of two threads", workloadResult{Parameters: limited, Total: total}, "1000.0 of the 2000 IOPS"},
		{"no fall in the longest time", workloadResult{Parameters: vdi, Drained: &drained{Seconds: 2700, IOPS: 3500}}, "did not fall"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := strings.Join(workloadNotes(vdi, tt.result), "\n")
			if strings.Contains(got, "\n") || (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("notes %q, want %q", got, tt.want)
			}
		})
	}
}

func TestGeneratorNotes(t *testing.T) {
	for _, tt := range []struct {
		why  string
		cpu  cpu
		want bool
	}{
		{"at rest", cpu{}, false},
		{"just below every limit", cpu{BusiestWorkerPercent: 89, RunDelayPercent: 5, ThrottledPercent: 1, StealPercent: 2}, false},
		{"a busy worker", cpu{BusiestWorkerPercent: 90}, true},
		{"a full machine", cpu{RunDelayPercent: 6}, true},
		{"a CPU limit", cpu{ThrottledPercent: 2}, true},
		{"a busy host", cpu{StealPercent: 3}, true},
	} {
		if got := generatorNotes(tt.cpu); (len(got) == 1) != tt.want {
			t.Errorf("%s: notes %q", tt.why, got)
		}
	}
}
