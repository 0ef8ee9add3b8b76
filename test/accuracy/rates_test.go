// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"testing"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// rateTolerance is that of a rate that was asked for, and that the device can give.
const rateTolerance = 0.005

// A stream with a rate delivers it, below what the device allows; at a rate above that, what it allows.
func TestRates(t *testing.T) {
	tests := []struct {
		name, why string
		rate      int64
		threads   int
		want      float64
	}{
		{"100 a second", "a service's load on a small disk", 100, 1, 100},
		{"1,000 a second of each of two threads", "the rate is each thread's", 1000, 2, 2000},
		{"2,900 a second", "just below the cap", 2900, 1, 2900},
		{"4,000 a second", "above the cap: the cap", 4000, 1, 3000},
	}
	device := memoryDisk(t, diskSize)
	g := disktest.NewGroup(t)
	g.Limit(t, device, caps{iops: 3000}.each())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Log(tt.why)
			w := load("rate", block4Ki, 512, diskSize, 4)
			w.Streams[0].RateLimitIOPS, w.Streams[0].Threads = tt.rate, tt.threads
			judge(t, func() ([]finding, report.CPU) {
				r := prepareAndMeasure(t, order{Plan: plan(device, w), Group: g.Dir}).Workloads[0]
				return []finding{{what: "delivered", got: r.Total.IOPS, want: tt.want, tolerance: rateTolerance, unit: "IOPS"}}, r.CPU
			})
		})
	}
}

// Streams at the same time keep their own rates, directions, sizes and figures.
func TestTwoStreams(t *testing.T) {
	device := memoryDisk(t, diskSize)
	w := load("both", block4Ki, 32, diskSize, 4)
	write := w.Streams[0]
	w.Streams[0].Name, w.Streams[0].RateLimitIOPS = "reader", 600
	write.Name, write.RateLimitIOPS, write.ReadPercent, write.BlockSizeBytes = "writer", 250, 0, block64Ki
	write.Range = workload.Range{StartPercent: 50, EndPercent: 100}
	w.Streams[0].Range = workload.Range{EndPercent: 50}
	w.Streams = append(w.Streams, write)
	judge(t, func() ([]finding, report.CPU) {
		r := prepareAndMeasure(t, order{Plan: plan(device, w)}).Workloads[0]
		if len(r.Streams) != 2 || r.Streams[0].Name != "reader" || r.Streams[1].Name != "writer" ||
			r.Streams[0].Write != nil || r.Streams[1].Read != nil {
			t.Fatalf("streams %+v", r.Streams)
		}
		reader, writer := r.Streams[0].Read, r.Streams[1].Write
		return []finding{
			{what: "reader", got: reader.IOPS, want: 600, tolerance: rateTolerance, unit: "IOPS"},
			{what: "reader", got: reader.BytesPerSecond, want: 600 * block4Ki, tolerance: rateTolerance, unit: "B/s"},
			{what: "writer", got: writer.IOPS, want: 250, tolerance: rateTolerance, unit: "IOPS"},
			{what: "writer", got: writer.BytesPerSecond, want: 250 * block64Ki, tolerance: rateTolerance, unit: "B/s"},
			{what: "both", got: r.Total.IOPS, want: 850, tolerance: rateTolerance, unit: "IOPS"},
			{what: "reads of the device", got: float64(reader.Operations), want: float64(r.Device.ReadOperations), tolerance: rateTolerance, unit: "I/Os"},
			{what: "writes of the device", got: float64(writer.Operations), want: float64(r.Device.WriteOperations), tolerance: rateTolerance, unit: "I/Os"},
		}, r.CPU
	})
}
