// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

// small is a plan that takes a second.
func small(dir string, kind workload.IOEngine) workload.Plan {
	depth := 8
	if kind == workload.Sync {
		depth = 1
	}
	return workload.Plan{
		Target: workload.Directory, Sets: [][]string{{dir}}, IOEngine: kind, Repetitions: 2,
		Workloads: []workload.Workload{{
			Name: "mixed", FileSizeBytes: 16 << 20, Layout: workload.Written, DirectIO: workload.DirectRequired,
			Streams: []workload.Stream{{
				Pattern: workload.Random, ReadPercent: 70, BlockSizeBytes: 8192, Threads: 2, QueueDepth: depth,
				Range: workload.Whole, Distribution: workload.Distribution{Type: workload.Uniform}, Sync: workload.SyncWriteThrough,
			}},
			Warmup: workload.Duration(100 * time.Millisecond), Duration: workload.Duration(400 * time.Millisecond), Seed: 1,
		}},
	}
}

func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".diskbench*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// mustRun runs a plan and skips where the kernel lacks the I/O engine.
func mustRun(t *testing.T, p workload.Plan, o Options) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), p, o)
	if f := AsFailure(err); err != nil && f.Reason == report.ReasonIOEngineUnavailable {
		t.Skip(f.Message)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunOnADisk(t *testing.T) {
	for _, kind := range []workload.IOEngine{workload.IOUring, workload.LibAIO, workload.Sync} {
		t.Run(string(kind), func(t *testing.T) {
			dir := disktest.Dir(t)
			p := small(dir, kind)
			r := mustRun(t, p, Options{Version: "v1"})
			if r.IOEngine != kind || !r.DirectIO || r.EngineVersion != "v1" || r.Kernel == "" || r.Target.LogicalBlockBytes < 512 {
				t.Errorf("report %+v", r)
			}
			checkFigures(t, p.Workloads[0], &r.Workloads[0])
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// checkFigures holds what is true of every closed loop.
func checkFigures(t *testing.T, w workload.Workload, r *report.Workload) {
	t.Helper()
	if r.FileSizeBytes != w.FileSizeBytes || r.WindowNanos != int64(800*time.Millisecond) {
		t.Errorf("file of %d bytes, window of %d ns", r.FileSizeBytes, r.WindowNanos)
	}
	if r.Read == nil || r.Write == nil || r.Total == nil {
		t.Fatalf("a direction is missing: %+v", r)
	}
	if r.Total.Operations != r.Read.Operations+r.Write.Operations || r.Total.Bytes != r.Total.Operations*w.Streams[0].BlockSizeBytes {
		t.Errorf("total %d operations, %d bytes; reads %d, writes %d",
			r.Total.Operations, r.Total.Bytes, r.Read.Operations, r.Write.Operations)
	}
	n, reads := float64(r.Total.Operations), float64(r.Read.Operations)
	if d := math.Abs(reads/n - 0.7); d > 5*math.Sqrt(0.21/n) {
		t.Errorf("%.3f of %v operations are reads, want 0.70", reads/n, n)
	}
	if len(r.Repetitions) != 2 || len(r.Series.IOPS) != 2 {
		t.Errorf("%d repetitions, %d points, want 2 and 2", len(r.Repetitions), len(r.Series.IOPS))
	}
	if mean := (r.Repetitions[0].IOPS + r.Repetitions[1].IOPS) / 2; math.Abs(mean-r.Total.IOPS) > 0.001*mean {
		t.Errorf("the repetitions' mean is %.1f IOPS, the total %.1f", mean, r.Total.IOPS)
	}
	if l := r.Total.Latency; l.MinNanos <= 0 || l.MinNanos > l.MeanNanos || l.MeanNanos > l.MaxNanos {
		t.Errorf("latency %+v", l)
	}
	if r.CPU.UserNanos+r.CPU.SystemNanos <= 0 {
		t.Errorf("processor time %+v", r.CPU)
	}
}

// Mean latency x IOPS is the number of outstanding I/Os: a check of the clock, of the window and
// of the queue against one another, on a real disk. The law holds but for the I/Os that cross a bound of
// the window: at most all outstanding ones, each by its latency. A scripted disk has none, see
// TestWorkerKeepsTheQueueFull.
func TestLittlesLawOnADisk(t *testing.T) {
	for _, kind := range []workload.IOEngine{workload.IOUring, workload.LibAIO} {
		t.Run(string(kind), func(t *testing.T) {
			p := small(disktest.Dir(t), kind)
			p.Repetitions = 1
			w := &p.Workloads[0]
			// Large blocks, so that the disk and not the test takes the time, also with the race detector.
			w.Streams[0].ReadPercent, w.Streams[0].QueueDepth, w.Streams[0].BlockSizeBytes, w.Duration = 100, 16, 128<<10, workload.Seconds(2)
			total := mustRun(t, p, Options{}).Workloads[0].Total
			got, want := total.IOPS*float64(total.Latency.MeanNanos)/1e9, float64(w.Outstanding())
			crossing := float64(total.Latency.MaxNanos) / float64(w.Duration.Std())
			if math.Abs(got-want) > (0.02+crossing)*want {
				t.Errorf("%.0f IOPS x %d ns = %.2f outstanding, want %.0f", total.IOPS, total.Latency.MeanNanos, got, want)
			}
		})
	}
}

func TestPrepareThenRun(t *testing.T) {
	dir := disktest.Dir(t)
	p := small(dir, workload.Auto)
	var phases []Phase
	o := Options{Progress: func(e Event) { phases = append(phases, e.Phase) }}
	if err := Prepare(context.Background(), p, o); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, dir); len(left) != 1 || filepath.Base(left[0]) != volume.FileName {
		t.Fatalf("prepare left %v", left)
	}
	if len(phases) == 0 || phases[len(phases)-1] != Preparing {
		t.Errorf("progress was %v, want Preparing at the end", phases)
	}
	o.Prepared, phases = true, nil
	mustRun(t, p, o)
	for _, phase := range phases {
		if phase == Preparing {
			t.Error("the file was written again")
		}
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

func TestSequentialWithSharedOffset(t *testing.T) {
	p := small(disktest.Dir(t), workload.Auto)
	p.Repetitions = 1
	w := &p.Workloads[0]
	w.Streams[0].Pattern, w.Streams[0].SharedOffset, w.Streams[0].BlockSizeBytes, w.Streams[0].ReadPercent = workload.Sequential, true, 1<<20, 0
	r := mustRun(t, p, Options{})
	if total := r.Workloads[0].Total; total.Bytes != total.Operations<<20 || r.Workloads[0].Read != nil {
		t.Errorf("%+v", r.Workloads[0])
	}
}

func TestFailuresLeaveNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		why    string
		ctx    context.Context
		change func(*workload.Plan)
		reason report.Reason
		text   string
	}{
		{"told to stop before the start", ctx, func(*workload.Plan) {}, report.ReasonInterrupted, "told to stop"},
		{"an invalid plan", context.Background(), func(p *workload.Plan) { p.Workloads[0].Streams[0].Threads = 0 },
			report.ReasonInvalidPlan, "workloads[0] (mixed): threads 0"},
		{"a file larger than the volume", context.Background(), func(p *workload.Plan) { p.Workloads[0].FileSizeBytes = 1 << 60 },
			report.ReasonNoSpace, "does not fit"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			dir := disktest.Dir(t)
			p := small(dir, workload.Auto)
			tt.change(&p)
			for name, do := range map[string]func() error{
				"prepare": func() error { return Prepare(tt.ctx, p, Options{}) },
				"run":     func() error { _, err := Run(tt.ctx, p, Options{}); return err },
			} {
				err := do()
				f := (*report.Failure)(nil)
				if !errors.As(err, &f) || f.Reason != tt.reason || !strings.Contains(f.Message, tt.text) {
					t.Errorf("%s: %v, want %s: ...%s...", name, err, tt.reason, tt.text)
				}
			}
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

func TestInterruptedWhileMeasuring(t *testing.T) {
	dir := disktest.Dir(t)
	p := small(dir, workload.Auto)
	p.Workloads[0].Duration = workload.Seconds(3600)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	_, err := Run(ctx, p, Options{Progress: func(e Event) {
		if e.Phase == Measuring {
			cancel()
		}
	}})
	if f := AsFailure(err); f.Reason != report.ReasonInterrupted || !strings.Contains(f.Message, "while measuring mixed") {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > drainGrace {
		t.Errorf("it took %s to stop", took)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

// A disk that begins to fail: the loop device loses the second half of its backing file.
func TestFailingDisk(t *testing.T) {
	backing := disktest.Dir(t)
	device := disktest.Loop(t, backing, 32<<20)
	p := small(device, workload.Auto)
	p.Target, p.Workloads[0].FileSizeBytes, p.Workloads[0].Streams[0].ReadPercent = workload.BlockDevice, 32<<20, 100
	if err := Prepare(context.Background(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(backing, "backing"), 16<<20); err != nil {
		t.Fatal(err)
	}
	_, err := Run(context.Background(), p, Options{Prepared: true})
	if f := AsFailure(err); f.Reason != report.ReasonIOError || !strings.Contains(f.Message, "read of 8192 bytes at offset ") ||
		!strings.Contains(f.Message, "EIO") {
		t.Errorf("%v", err)
	}
}

// A thin volume that runs full is no success, whatever was written before.
func TestThinVolumeRunsFull(t *testing.T) {
	backing := disktest.MemoryDir(t)
	disktest.NeedRoot(t, "a small tmpfs")
	disktest.Run(t, "mount", "-t", "tmpfs", "-o", "size=16m", "diskbench-test", backing)
	// The loop device lets go of its file only some time after it was detached.
	t.Cleanup(func() { disktest.Run(t, "umount", "--lazy", backing) })
	device := disktest.Loop(t, backing, 64<<20)
	p := small(device, workload.Auto)
	p.Target, p.Workloads[0].FileSizeBytes = workload.BlockDevice, 64<<20
	_, err := Run(context.Background(), p, Options{})
	if f := AsFailure(err); f.Reason != report.ReasonNoSpace {
		t.Errorf("%v", err)
	}
}
