// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"strconv"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// A cap that falls from 3,500 to 500 IOPS, as a small Premium SSD's does when its burst credits run out.

const (
	burst, base = 3500, 500
	levelDepth  = 768 // two slices of the burst
)

// fallingCap measures a workload of which the cap falls so long after the window's start.
func fallingCap(t *testing.T, w workload.Workload, after time.Duration) report.Workload {
	t.Helper()
	device := memoryDisk(t, diskSize)
	g := disktest.NewGroup(t)
	g.Limit(t, device, caps{iops: burst}.each())
	p := plan(device, w)
	prepare(t, p)
	fall := func() { g.Limit(t, device, caps{iops: base}.each()) }
	var timer *time.Timer
	r, failure := try(t, order{Plan: p, Group: g.Dir}, func(e engine.Event) {
		if timer == nil && e.Phase == engine.Measuring { // it came e.ElapsedSeconds after the start
			elapsed := time.Duration(e.ElapsedSeconds * float64(time.Second))
			timer = time.AfterFunc(w.Warmup.Std()+after-elapsed, fall)
		}
	})
	if failure != nil {
		t.Fatal(failure)
	}
	return r.Workloads[0]
}

// stepFindings are both levels and the second. The queue still holds what was let through at the old
// level, and the step is found to the second.
func stepFindings(t *testing.T, s *report.Step, at float64) []finding {
	t.Helper()
	if s == nil {
		t.Fatal("no step was found")
	}
	return []finding{
		{what: "level before", got: s.BeforeIOPS, want: burst, tolerance: 0.01, unit: "IOPS"},
		{what: "level after", got: s.AfterIOPS, want: base, tolerance: 0.02, unit: "IOPS"},
		{what: "second of the fall", got: s.AtSeconds, want: at, tolerance: 1.5 / at, unit: "s"},
	}
}

// steady is whether the window counts as steady, as a finding: 1 if it does as it should.
func steady(t *testing.T, r report.Workload, want bool) finding {
	t.Helper()
	if r.Steady == nil {
		t.Fatal("nothing is said of how steady it was")
	}
	f := finding{what: "steady state is " + strconv.FormatBool(want), want: 1}
	if r.Steady.State == want {
		f.got = 1
	}
	return f
}

func TestFallingCap(t *testing.T) {
	t.Parallel()
	judge(t, func() ([]finding, report.CPU) {
		r := fallingCap(t, load("falling", block4Ki, levelDepth, diskSize, 50), 25*time.Second)
		t.Logf("IOPS of each second: %.0f", r.Series.IOPS)
		return append(stepFindings(t, r.Step, 25), steady(t, r, false)), r.CPU
	})
}

// A burst's plateau is steady for as long as it lasts: steady is not sustained. The load goes on until two
// minutes after the fall, and gives the level that is.
func TestDrain(t *testing.T) {
	t.Parallel()
	judge(t, func() ([]finding, report.CPU) {
		w := load("drained", block4Ki, levelDepth, diskSize, 10)
		w.Drain = true
		r := fallingCap(t, w, 30*time.Second)
		if r.Drained == nil {
			t.Fatal("nothing was drained")
		}
		return append(stepFindings(t, r.Drained.Step, 30), steady(t, r, true),
			finding{what: "in the window", got: r.Total.IOPS, want: burst, tolerance: 0.01, unit: "IOPS"},
			finding{what: "drained level", got: r.Drained.IOPS, want: base, tolerance: 0.01, unit: "IOPS"},
			finding{what: "drained throughput", got: r.Drained.BytesPerSecond, want: base * block4Ki, tolerance: 0.01, unit: "B/s"},
			// 120 s from the fall at 30 s, less the window of 10 s.
			finding{what: "time of draining", got: r.Drained.Seconds, want: 140, tolerance: 0.02, unit: "s"},
		), r.CPU
	})
}
