// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/stats"
)

// repetitions of a load on a device with this cap.
func repetitions(t *testing.T, device string, g disktest.Group, iops int64) []float64 {
	t.Helper()
	g.Limit(t, device, caps{iops: iops}.each())
	w := load("repeated", block4Ki, 128, diskSize, 1)
	w.Warmup = workload.Duration(500 * time.Millisecond)
	p := plan(device, w)
	p.Repetitions = 6
	prepare(t, p)
	r := measure(t, order{Plan: p, Group: g.Dir})
	var out []float64
	for _, one := range r.Workloads[0].Repetitions {
		out = append(out, one.IOPS)
	}
	return out
}

// Real repetitions of the same are told to be the same, and those of a disk that allows a tenth more are
// told apart.
func TestRepetitions(t *testing.T) {
	device := memoryDisk(t, diskSize)
	g := disktest.NewGroup(t)
	judge(t, func() ([]finding, report.CPU) {
		a, again, more := repetitions(t, device, g, 500), repetitions(t, device, g, 500), repetitions(t, device, g, 550)
		t.Logf("500 IOPS: %.1f, %.1f; 550 IOPS: %.1f", a, again, more)
		// Five in a hundred of the same count as different by chance, next to none also as relevant.
		if c := stats.Compare(a, again); c.Different && c.Relevant {
			t.Errorf("the same measured twice counts as different: %+v", c)
		}
		if c := stats.Compare(a, more); !c.Different || !c.Relevant {
			t.Errorf("a tenth more does not count as different: %+v", c)
		}
		middle, found := stats.MedianInterval(append(a, again...))
		if !found {
			t.Fatal("twelve repetitions have no median")
		}
		return []finding{{what: "median of twelve repetitions", got: middle.Median, want: 500, tolerance: capTolerance, unit: "IOPS"}}, report.CPU{}
	})
}
