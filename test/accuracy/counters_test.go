// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

// The kernel counts at the device what the engine counts in its window. On a quiet raw device both are
// the same; where they are not, the figures are not those of the device, and the ratio shows it. It is
// trusted from 0.98 to 1.05: the assessment's rule.

const (
	leastRatio, mostRatio = 0.98, 1.05
	counterTolerance      = 0.005
)

// ratio of the device's operations to the engine's.
func ratio(t *testing.T, r report.Workload) float64 {
	t.Helper()
	if r.Device == nil {
		t.Fatal("the report has no counters of the device")
	}
	return float64(r.Device.ReadOperations+r.Device.WriteOperations) / float64(r.Total.Operations)
}

func TestCountersAgree(t *testing.T) {
	for _, tt := range []struct {
		name, why   string
		block, rate int64
		readPercent int
		ioEngine    workload.IOEngine
	}{
		{"4Ki reads", "as fast as it goes", block4Ki, 0, 100, workload.LibAIO},
		{"4Ki mixed", "both directions, each in its own counter", block4Ki, 20_000, 70, workload.IOUring},
		{"256Ki writes", "the largest block that goes in one piece on any memory", block256Ki, 1000, 0, workload.LibAIO},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Log(tt.why)
			device := memoryDisk(t, diskSize)
			judge(t, func() ([]finding, report.CPU) {
				w := load("counted", tt.block, 16, diskSize, 3)
				w.Streams[0].ReadPercent, w.Streams[0].RateLimitIOPS = tt.readPercent, tt.rate
				p := plan(device, w)
				p.IOEngine = tt.ioEngine
				r := prepareAndMeasure(t, order{Plan: p}).Workloads[0]
				findings := []finding{{what: "operations of the device", got: float64(r.Total.Operations), tolerance: counterTolerance,
					want: ratio(t, r) * float64(r.Total.Operations), unit: "I/Os"}}
				for _, d := range []struct {
					name              string
					figures           *report.Figures
					operations, bytes int64
				}{
					{"read", r.Read, r.Device.ReadOperations, r.Device.ReadBytes},
					{"write", r.Write, r.Device.WriteOperations, r.Device.WriteBytes},
				} {
					if d.figures == nil {
						if d.operations > 0 {
							t.Errorf("%d operations of the device to %s, none were asked for", d.operations, d.name)
						}
						continue
					}
					findings = append(findings, finding{what: d.name + " bytes of the device", got: float64(d.figures.Bytes),
						want: float64(d.bytes), tolerance: counterTolerance, unit: "bytes"})
				}
				return findings, r.CPU
			})
		})
	}
}

// caught fails unless the ratio shows that the figures are not those of the device.
func caught(t *testing.T, r report.Workload, want, tolerance float64) {
	t.Helper()
	got := ratio(t, r)
	check(t, finding{what: "device operations / engine operations", got: got, want: want, tolerance: tolerance})
	if got >= leastRatio && got <= mostRatio {
		t.Errorf("a ratio of %.3f lets the figures pass", got)
	}
}

// A block above the largest request is split: the device's IOPS are not the engine's.
func TestSplitsAreCaught(t *testing.T) {
	device := memoryDisk(t, diskSize)
	limitRequests(t, device, 128<<10)
	w := load("split", block1Mi, 4, diskSize, 2)
	caught(t, prepareAndMeasure(t, order{Plan: plan(device, w)}).Workloads[0], 8, 0.01)
}

// Somebody else uses the device meanwhile: its figures are not the engine's alone.
func TestAnotherWriterIsCaught(t *testing.T) {
	device := memoryDisk(t, diskSize)
	w := load("shared", block4Ki, 1, diskSize/2, 2)
	w.Streams[0].RateLimitIOPS = 1000
	p := plan(device, w)
	prepare(t, p)
	stop := writeBeside(t, device, diskSize/2)
	r := measure(t, order{Plan: p}).Workloads[0]
	n := stop()
	caught(t, r, ratio(t, r), 0)
	if others := r.Device.WriteOperations; others < 500 || others > n {
		t.Errorf("the device counts %d writes, of %d in all of the other program", others, n)
	}
}

// writeBeside writes blocks of 4 KiB at an offset, at most about a thousand a second, until it is stopped,
// which gives their number.
func writeBeside(t *testing.T, device string, offset int64) (stop func() int64) {
	t.Helper()
	f, err := os.OpenFile(device, os.O_WRONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	block, err := unix.Mmap(-1, 0, block4Ki, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	done, n := make(chan struct{}), int64(0)
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond / 2):
			}
			if _, err := f.WriteAt(block, offset); err != nil {
				t.Error(err)
				return
			}
			n++
		}
	})
	return func() int64 {
		close(done)
		writer.Wait()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := unix.Munmap(block); err != nil {
			t.Error(err)
		}
		return n
	}
}

// Other disks of the node are counted apart: they are no part of the ratio, and can explain a figure that
// a VM's cap holds down.
func TestOtherDisksAreCountedApart(t *testing.T) {
	device := memoryDisk(t, diskSize)
	other := filepath.Join(disktest.Dir(t), "file")
	if err := os.WriteFile(other, make([]byte, block4Ki), 0o600); err != nil {
		t.Fatal(err)
	}
	w := load("apart", block4Ki, 1, diskSize, 3)
	w.Streams[0].RateLimitIOPS = 1000
	p := plan(device, w)
	prepare(t, p)
	stop := writeBeside(t, other, 0)
	r := measure(t, order{Plan: p}).Workloads[0]
	n := stop()
	check(t, finding{what: "operations of the device", got: float64(r.Total.Operations), want: float64(r.Device.ReadOperations),
		tolerance: counterTolerance, unit: "I/Os"})
	if r.Device.WriteOperations != 0 || r.Device.OtherOperations < n/3 {
		t.Errorf("%+v, with about %d writes to another disk", r.Device, n)
	}
}

// A filesystem answers reads of what it knows to be empty from memory, as fast as that goes. The engine
// refuses such a file before it measures. One whose blocks are taken away under the load, as a thin
// volume may, shows in the ratio: reads of the half that is gone never get to the device.
func TestUnwrittenBlocksAreCaught(t *testing.T) {
	device := memoryDisk(t, 256<<20)
	disktest.Run(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
	dir := disktest.Mount(t, device)
	w := load("holes", block4Ki, 4, diskSize, 4)
	w.Streams[0].RateLimitIOPS = 2000
	w.Warmup = workload.Seconds(3)
	p := directoryPlan(dir, w)
	prepare(t, p)
	f, err := os.OpenFile(filepath.Join(dir, volume.FileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written through it
	punch := sync.OnceFunc(func() {
		// In stripes of 1 MiB, so that the filesystem has something to look up.
		for at := int64(0); at < diskSize; at += 2 << 20 {
			if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, 1<<20); err != nil {
				t.Errorf("punch a hole: %v", err)
			}
		}
	})
	r, failure := try(t, order{Plan: p}, func(e engine.Event) {
		if e.Phase == engine.Measuring { // first in the warm-up
			punch()
		}
	})
	if failure != nil {
		t.Fatal(failure)
	}
	caught(t, r.Workloads[0], 0.5, 0.03)
}
