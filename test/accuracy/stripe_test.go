// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"testing"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
)

// Two volumes of 500 IOPS each give 1,000 to what is striped over them, and the counters are those of both.
func TestStriping(t *testing.T) {
	const each, stripe = 500, 64 << 10
	first, second := memoryDisk(t, diskSize), memoryDisk(t, diskSize)
	g := disktest.NewGroup(t)
	for _, device := range []string{first, second} {
		g.Limit(t, device, caps{iops: each}.each())
	}
	tests := []struct {
		name, why string
		block     int64
		want      float64
	}{
		{"4Ki blocks", "each lies on one volume", block4Ki, 2 * each},
		{"128Ki blocks", "each takes an I/O of both volumes", 128 << 10, each},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Log(tt.why)
			// Deep enough that, of offsets drawn at random, neither volume is ever without any.
			w := load("striped", tt.block, 512, diskSize, 10)
			w.Warmup *= 2
			p := plan(first, w)
			p.Sets, p.StripeSizeBytes = [][]string{{first, second}}, stripe
			judge(t, func() ([]finding, report.CPU) {
				r := prepareAndMeasure(t, order{Plan: p, Group: g.Dir}).Workloads[0]
				return []finding{
					{what: "both volumes", got: r.Total.IOPS, want: tt.want, tolerance: capTolerance, unit: "IOPS"},
					{what: "mean latency x IOPS", got: outstanding(r.Total), want: float64(w.Outstanding()), tolerance: capTolerance, unit: "outstanding"},
				}, r.CPU
			})
		})
	}
}
