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

// mustRun runs a plan and skips where the kernel lacks the I/O engine that it asks for.
func mustRun(t *testing.T, p workload.Plan, o Options) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), p, o)
	if f := AsFailure(err); err != nil && f.Reason == report.ReasonIOEngineUnavailable && p.IOEngine != workload.Auto {
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

// Every preset runs, in less time and space than it asks for, and gives what it is about.
func TestEveryPresetRuns(t *testing.T) {
	brief, size := workload.Duration(500*time.Millisecond), int64(64<<20)
	for _, preset := range workload.Presets() {
		if preset == "profile" { // made of the others
			continue
		}
		t.Run(preset, func(t *testing.T) {
			o := workload.Override{Duration: &brief, Warmup: &brief}
			ws, err := workload.Resolve(preset, "", o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range ws {
				ws[i].FileSizeBytes = min(ws[i].FileSizeBytes, size)
				for j := range ws[i].Streams {
					// At 6 IOPS nothing would come in so short a time.
					ws[i].Streams[j].RateLimitIOPS = max(ws[i].Streams[j].RateLimitIOPS, min(ws[i].Streams[j].RateLimitIOPS*100, 100))
					ws[i].Streams[j].FlushInterval = min(ws[i].Streams[j].FlushInterval, workload.Duration(100*time.Millisecond))
				}
			}
			dir := disktest.Dir(t)
			p := workload.Plan{Target: workload.Directory, Sets: [][]string{{dir}}, IOEngine: workload.Auto, Repetitions: 1, Workloads: ws}
			r := mustRun(t, p, Options{})
			for i, w := range ws {
				got := r.Workloads[i]
				if (got.Read != nil) != w.Reads() || (got.Write != nil) != w.Writes() || (got.Flush != nil) != w.Flushes() {
					t.Errorf("%s: reads %v, writes %v, flushes %v", w.Name, got.Read, got.Write, got.Flush)
				}
				if len(w.Streams) > 1 && len(got.Streams) != len(w.Streams) {
					t.Errorf("%s: %d streams of %d", w.Name, len(got.Streams), len(w.Streams))
				}
			}
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// Volumes that are striped over hold the stripes of one address space: what one engine wrote there,
// with checksums, another reads back, at blocks below and above the stripe.
func TestStripedVolumesVerify(t *testing.T) {
	for _, block := range []int64{8 << 10, 256 << 10} {
		dirs := []string{disktest.Dir(t), disktest.Dir(t), disktest.Dir(t)}
		p := small(dirs[0], workload.Auto)
		p.Sets, p.StripeSizeBytes = [][]string{dirs}, 64<<10
		p.Workloads[0].Verify = true
		s := &p.Workloads[0].Streams[0]
		s.BlockSizeBytes, s.Sync = block, workload.SyncNone
		r := mustRun(t, p, Options{})
		if total := r.Workloads[0].Total; total.Bytes != total.Operations*block {
			t.Errorf("block of %d: %+v", block, total)
		}
		for _, dir := range dirs {
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		}
	}
}

// A set for each repetition: each volume is written and measured.
func TestAVolumeForEachRepetition(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t)}
	p := small(dirs[0], workload.Auto)
	p.Sets = [][]string{{dirs[0]}, {dirs[1]}}
	if err := Prepare(context.Background(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if left := leftovers(t, dir); len(left) != 1 {
			t.Errorf("prepare left %v in %s", left, dir)
		}
	}
	if r := mustRun(t, p, Options{Prepared: true}); len(r.Workloads[0].Repetitions) != 2 {
		t.Errorf("%d repetitions", len(r.Workloads[0].Repetitions))
	}
	for _, dir := range dirs {
		if left := leftovers(t, dir); left != nil {
			t.Errorf("%v are left", left)
		}
	}
}

// A disk that gives back something else than was written is found out, and named.
func TestCorruptionIsFound(t *testing.T) {
	dir := disktest.Dir(t)
	p := small(dir, workload.Auto)
	p.Workloads[0].Verify, p.Workloads[0].Streams[0].ReadPercent = true, 100
	if err := Prepare(context.Background(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, volume.FileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < p.Workloads[0].FileSizeBytes; at += 1 << 20 {
		if _, err := f.WriteAt([]byte("rot"), at+100); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Run(context.Background(), p, Options{Prepared: true})
	if f := AsFailure(err); f.Reason != report.ReasonDataCorruption || !strings.HasPrefix(f.Message, "read of 8192 bytes at offset ") {
		t.Errorf("%v", err)
	}
}

// Good data without checksums is no corrupt data.
func TestVerificationOfWhatCarriesNoSeals(t *testing.T) {
	dir := disktest.Dir(t)
	p := small(dir, workload.Auto)
	if err := Prepare(context.Background(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	p.Workloads[0].Verify = true
	_, err := Run(context.Background(), p, Options{Prepared: true})
	if f := AsFailure(err); f.Reason != report.ReasonTargetNotFound || !strings.Contains(f.Message, "without the checksums") {
		t.Errorf("%v", err)
	}
}

// Nothing is laid out for files of the workload's own, and an I/O engine has to be found all the same.
func TestDirectIOToFilesOfTheirOwn(t *testing.T) {
	for _, layout := range []workload.Layout{workload.Preallocated, workload.Append} {
		for _, prepared := range []bool{false, true} {
			p := small(disktest.Dir(t), workload.Auto)
			w := &p.Workloads[0]
			w.Layout = layout
			s := &w.Streams[0]
			s.ReadPercent, s.Pattern, s.Threads, s.QueueDepth, s.Sync = 0, workload.Sequential, 1, 1, workload.SyncNone
			if prepared {
				if err := Prepare(context.Background(), p, Options{}); err != nil {
					t.Fatalf("%s: %v", layout, err)
				}
			}
			r := mustRun(t, p, Options{Prepared: prepared})
			if r.Workloads[0].Total.Operations == 0 || !r.DirectIO {
				t.Errorf("%s, prepared %t: %+v", layout, prepared, r)
			}
		}
	}
}

// Sets are left as a whole, or nothing of them.
func TestPrepareIsAllOrNothing(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t)}
	p := small(dirs[0], workload.Auto)
	p.Sets = [][]string{{dirs[0]}, {dirs[1]}}
	obstacle := filepath.Join(dirs[1], volume.FileName, "in the way")
	takePlace := func(e Event) {
		if e.BytesDone == e.BytesTotal {
			if err := os.MkdirAll(obstacle, 0o700); err != nil {
				t.Error(err)
			}
		}
	}
	if err := Prepare(context.Background(), p, Options{Progress: takePlace}); err == nil {
		t.Fatal("a folder has the file's name")
	}
	if left := leftovers(t, dirs[0]); left != nil {
		t.Errorf("%v are left in the first, and the second failed", left)
	}
}

// The load generator's own ceiling here, and nothing of a disk.
func TestNullDevice(t *testing.T) {
	p := small(workload.NullPath, workload.Auto)
	p.Target = workload.NullDevice
	p.Workloads[0].Streams[0].ReadPercent, p.Workloads[0].Streams[0].BlockSizeBytes = 100, 4096
	r := mustRun(t, p, Options{})
	if r.DirectIO || r.Target.Device != "" || r.Workloads[0].Device != nil || r.Workloads[0].Total.IOPS < 1000 {
		t.Errorf("direct %t, target %+v, %+v", r.DirectIO, r.Target, r.Workloads[0].Total)
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
	r, err := Run(ctx, p, Options{Progress: func(e Event) {
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
	// What was measured until then is there, over the time it took.
	if r == nil || len(r.Workloads) != 1 {
		t.Fatalf("partial report %+v", r)
	}
	if w := r.Workloads[0]; w.Total == nil || w.WindowNanos <= 0 || w.WindowNanos > int64(time.Minute) ||
		math.Abs(w.Total.IOPS-report.PerSecond(w.Total.Operations, w.WindowNanos)) > 1 {
		t.Errorf("partial figures %+v over %d ns", w.Total, w.WindowNanos)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

// Told to stop after the window, while burst credits are being used up: the window's figures are whole.
func TestInterruptedWhileDraining(t *testing.T) {
	dir := disktest.Dir(t)
	p := small(dir, workload.Auto)
	p.Repetitions, p.Workloads[0].Drain = 1, true
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Run(ctx, p, Options{Progress: func(e Event) {
		if e.Phase == Draining {
			cancel()
		}
	}})
	if f := AsFailure(err); f.Reason != report.ReasonInterrupted {
		t.Errorf("%v", err)
	}
	if r == nil || r.Workloads[0].WindowNanos != int64(400*time.Millisecond) || r.Workloads[0].Drained == nil ||
		r.Workloads[0].Drained.Step != nil {
		t.Errorf("%+v", r)
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
