// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// A cap that the kernel enforces on a device in memory is what the engine must report, and mean
// latency x IOPS the number of outstanding I/Os. The kernel lets through what a slice of 100 ms
// allows, at its beginning: windows are whole slices, and long enough that one slice more or less is
// below 1%.

const (
	diskSize = 64 << 20

	// capTolerance is that of the caps and of Little's law.
	capTolerance = 0.01

	// The largest request that the test allows a loop device. Its own limit on scattered memory is
	// 128 pages: a block of 1 MiB goes in two or more requests, depending on how its pages happen to
	// lie, which a limit of 512 KiB makes two in any case.
	largestRequest = 512 << 10

	// mostBuffers bounds the memory of the outstanding I/Os, in bytes.
	mostBuffers = 256 << 20
)

// capCase is a cap and the blocks that are tried under it.
type capCase struct {
	why    string
	caps   caps
	blocks []int64
	// seconds is the window of each block.
	seconds []float64
}

const (
	block4Ki, block8Ki, block64Ki, block256Ki, block1Mi = 4 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20
)

// lightCaps ask so little of the processors that they are measured at the same time.
var lightCaps = []capCase{
	{"the smallest standard disks", caps{iops: 120},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki, block1Mi}, []float64{20, 20, 20, 20, 20}},
	{"P10's IOPS", caps{iops: 500},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki, block1Mi}, []float64{20, 20, 20, 20, 20}},
	{"the smallest premium disks' throughput", caps{bytes: 25e6},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki, block1Mi}, []float64{10, 10, 20, 20, 30}},
}

// heavyCaps are measured one after another. Left out is what the loop device cannot reach with a
// margin on two cores: 5,000 blocks of 1 MiB, and 200 MB/s in blocks of 4 KiB.
var heavyCaps = []capCase{
	{"P20's IOPS", caps{iops: 2300},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki, block1Mi}, []float64{3, 3, 3, 3, 3}},
	{"P30's IOPS", caps{iops: 5000},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki}, []float64{3, 3, 3, 3}},
	{"P10's throughput", caps{bytes: 100e6},
		[]int64{block4Ki, block8Ki, block64Ki, block256Ki, block1Mi}, []float64{3, 3, 3, 5, 10}},
	{"P30's throughput", caps{bytes: 200e6},
		[]int64{block8Ki, block64Ki, block256Ki, block1Mi}, []float64{3, 3, 3, 5}},
}

func TestLightCaps(t *testing.T) {
	t.Parallel()
	for _, c := range lightCaps {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

func TestHeavyCaps(t *testing.T) {
	for _, c := range heavyCaps {
		t.Run(c.name(), func(t *testing.T) { c.test(t) })
	}
}

func (c capCase) name() string {
	if c.caps.iops > 0 {
		return fmt.Sprintf("%d IOPS", c.caps.iops)
	}
	return fmt.Sprintf("%d MB per s", c.caps.bytes/1e6)
}

func (c capCase) test(t *testing.T) {
	t.Helper()
	t.Log(c.why)
	device := memoryDisk(t, diskSize)
	limitRequests(t, device, largestRequest)
	g := disktest.NewGroup(t)
	g.Limit(t, device, c.caps.each())
	for i, block := range c.blocks {
		w := c.workload(block, c.seconds[i])
		// Reads and writes alternate over the matrix.
		if i%2 == 1 {
			w.Streams[0].ReadPercent = 0
		}
		judge(t, func() ([]finding, report.CPU) {
			// Each time, since writes may hit the mark of the layout.
			r := prepareAndMeasure(t, order{Plan: plan(device, w), Group: g.Dir}).Workloads[0]
			return c.findings(w, r), r.CPU
		})
	}
}

// workload has so many I/Os outstanding that the throttle is never without any for two slices, even
// if the worker is late, as far as the memory goes.
func (c capCase) workload(block int64, seconds float64) workload.Workload {
	allowed := c.blocksPerSecond(block)
	depth := int(min(max(allowed*0.25, 16), workload.MaxQueueDepth, float64(mostBuffers/block)))
	w := load(sizeName(block), block, depth, diskSize, seconds)
	w.Name = "cap"
	return w
}

// blocksPerSecond is what the cap allows. The kernel counts requests, and a block above the largest
// request is several.
func (c capCase) blocksPerSecond(block int64) float64 {
	if c.caps.iops > 0 {
		return float64(c.caps.iops) / float64(max(1, block/largestRequest))
	}
	return float64(c.caps.bytes) / float64(block)
}

func (c capCase) findings(w workload.Workload, r report.Workload) []finding {
	s := w.Streams[0]
	direction := "reads"
	if !s.Reads() {
		direction = "writes"
	}
	what := sizeName(s.BlockSizeBytes) + " " + direction
	return []finding{
		{what: what, got: r.Total.IOPS, want: c.blocksPerSecond(s.BlockSizeBytes), tolerance: capTolerance, unit: "IOPS"},
		{what: what + ", mean latency x IOPS", got: outstanding(r.Total), want: float64(w.Outstanding()), tolerance: capTolerance, unit: "outstanding"},
	}
}

// limitRequests sets the largest request that the kernel sends to the device, in bytes.
func limitRequests(t *testing.T, device string, bytes int) {
	t.Helper()
	path := filepath.Join("/sys/block", filepath.Base(device), "queue/max_sectors_kb")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(bytes>>10)), 0o644); err != nil {
		t.Fatal(err)
	}
	// The device's number may serve somebody else later.
	t.Cleanup(func() {
		if err := os.WriteFile(path, before, 0o644); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
			t.Error(err)
		}
	})
}
