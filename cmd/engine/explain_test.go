// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/test/golden"
)

func TestExplainGolden(t *testing.T) {
	device := presetPlan(t, "oltp")
	device.Target, device.Sets, device.IOEngine, device.OverwriteDevice = workload.BlockDevice, [][]string{{"/dev/sdc"}, {"/dev/sdd"}}, workload.LibAIO, true
	device.Repetitions, device.Workloads[0].Drain, device.Workloads[0].ShrinkToFit = 2, true, false
	striped := presetPlan(t, "seqwrite")
	striped.Sets, striped.StripeSizeBytes = [][]string{{"/mnt/a", "/mnt/b"}}, 64<<10
	null := presetPlan(t, "randread")
	null.Target, null.Sets = workload.NullDevice, [][]string{{workload.NullPath}}
	for _, tt := range []struct {
		why, name string
		plan      workload.Plan
		prepared  bool
	}{
		{"a preset, as most are", "vdi", presetPlan(t, "vdi"), false},
		{"streams with rates, a hotspot and parts", "sql", presetPlan(t, "sql"), true},
		{"files of their own, flushes and a number of operations", "journals", presetPlan(t, "etcd", "redis-aof", "postgres-wal"), false},
		{"jumps in a sequential stream", "vdi-fleet", presetPlan(t, "vdi-fleet"), false},
		{"devices, one for each repetition, drained", "device", device, false},
		{"a stripe, for which no other tool has a line", "striped", striped, false},
		{"no disk at all", "null", null, false},
	} {
		t.Run(tt.why, func(t *testing.T) {
			golden.Compare(t, "testdata/"+tt.name+".explain", explanation(tt.plan, tt.prepared))
		})
	}
}

// The plan that --explain prints is the one that --plan takes.
func TestExplainedPlan(t *testing.T) {
	dir := disktest.Dir(t)
	args := []string{"run", "--path", dir, "--preset", "sql", "--repetitions", "2", "--explain", "-o", "json"}
	o := diskbench(t, args...)
	if o.code != 0 {
		t.Fatal(o.stderr)
	}
	again := diskbench(t, "run", "--plan", o.stdout, "--explain", "-o", "json")
	if diff := cmp.Diff(o.stdout, again.stdout); diff != "" {
		t.Error(diff)
	}
	var p workload.Plan
	if err := json.Unmarshal([]byte(o.stdout), &p); err != nil {
		t.Fatal(err)
	}
	if p.Repetitions != 2 || len(p.Workloads) != 1 || len(p.Workloads[0].Streams) != 2 || p.Sets[0][0] != dir {
		t.Errorf("%+v", p)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

// The published study's command line, to the letter, beside what is needed to see latencies.
func TestDiskSpdLineOfTheStudy(t *testing.T) {
	p := presetPlan(t, "vdi")
	const want = "diskspd -c4G -d60 -W3 -b4K -r -o8 -t2 -w50 -Sh -L testfile.dat"
	if got := diskSpd(p, p.Workloads[0]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// fio itself accepts every line that is said to be fio's.
func TestFioTakesItsLines(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("fio is not installed")
	}
	lines := 0
	for _, preset := range workload.Presets() {
		p := presetPlan(t, preset)
		for _, w := range p.Workloads {
			line := fio(p, w)
			if line == "" {
				continue
			}
			lines++
			args := append([]string{"--parse-only"}, strings.Fields(line)[1:]...)
			if out, err := exec.Command("fio", args...).CombinedOutput(); err != nil || strings.Contains(string(out), "unrecognized") {
				t.Errorf("%s: %v: %s", line, err, out)
			}
		}
	}
	if lines < 10 {
		t.Errorf("only %d lines of all presets", lines)
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"/mnt/disk-1": "/mnt/disk-1", "/mnt/my disk": "'/mnt/my disk'", "/mnt/it's": `'/mnt/it'\''s'`} {
		if got := quoted(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}
