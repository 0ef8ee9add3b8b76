// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/ioengine/scripted"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

const blockSize = 4096

func reads(depth int) workload.Workload {
	return workload.Workload{
		Name: "reads", FileSizeBytes: 1 << 20, Layout: workload.Written, DirectIO: workload.DirectRequired, Seed: 1,
		Streams: []workload.Stream{{
			Pattern: workload.Random, ReadPercent: 100, BlockSizeBytes: blockSize, Threads: 1, QueueDepth: depth,
			Range: workload.Whole, Distribution: workload.Distribution{Type: workload.Uniform}, Sync: workload.SyncNone,
		}},
	}
}

// scriptedWorker is the real worker on a scripted engine and clock.
func scriptedWorker(t *testing.T, w workload.Workload, bounds window, script scripted.Script) (*worker, *scripted.Engine) {
	t.Helper()
	buffers, err := ioengine.NewBuffers(w.Streams[0].QueueDepth, int(w.Streams[0].BlockSizeBytes))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := buffers.Free(); err != nil {
			t.Error(err)
		}
	})
	clock := &scripted.Clock{}
	engine := scripted.New(clock, w.Streams[0].QueueDepth, script)
	s := &shared{}
	worker := newWorker(w, newGenerator(w, 0, 0, nil), s, buffers)
	worker.engine, worker.clock = engine, clock.Now
	worker.start(bounds)
	return worker, engine
}

func taking(latency func(n int) time.Duration) scripted.Script {
	return func(n int, _ ioengine.Request) (time.Duration, int32) { return latency(n), blockSize }
}

func steady(d time.Duration) scripted.Script { return taking(func(int) time.Duration { return d }) }

func whole(d time.Duration) window { return window{end: d.Nanoseconds(), interval: d.Nanoseconds()} }

func nanos(n int64) *int64 { return &n }

// Latencies of 1 to 1,000 ns, each 100 times, have percentiles that anybody can tell: the real loop
// and histogram must give just these.
func TestWorkerGivesExactPercentiles(t *testing.T) {
	const samples = 100_000
	latency := func(n int) time.Duration { return time.Duration(n*7919%1000 + 1) } // 7919 is prime: every value in turn
	total := time.Duration(samples / 1000 * 500_500)
	w, _ := scriptedWorker(t, reads(1), whole(total+1), taking(latency))
	w.loop()
	want := report.Latency{
		MeanNanos: 501, StddevNanos: 289, MinNanos: 1, MaxNanos: 1000, // 500.5 and 288.7
		P50Nanos: nanos(500), P90Nanos: nanos(900), P95Nanos: nanos(950), P99Nanos: nanos(990),
		P999Nanos: nanos(999), P9999Nanos: nanos(1000),
	}
	if w.reads.Count() != samples {
		t.Errorf("counted %d I/Os, want %d", w.reads.Count(), samples)
	}
	if diff := cmp.Diff(want, w.reads.Latency()); diff != "" {
		t.Error(diff)
	}
}

// Little's law holds for any closed loop: what the worker reports has to obey it.
func TestWorkerKeepsTheQueueFull(t *testing.T) {
	for _, depth := range []int{1, 3, 4, 5, 32, 256} {
		const second = time.Second
		var w *worker
		var engine *scripted.Engine
		w, engine = scriptedWorker(t, reads(depth), whole(second), taking(func(n int) time.Duration {
			if n < depth && w.clock() != 0 {
				t.Errorf("depth %d: I/O %d waited for others although there was room", depth, n)
			}
			return time.Duration(200+n*7919%800) * time.Microsecond
		}))
		w.loop()
		outstanding := report.PerSecond(w.reads.Count(), int64(second)) * float64(w.reads.Latency().MeanNanos) / 1e9
		if math.Abs(outstanding-float64(depth)) > 0.01*float64(depth) {
			t.Errorf("depth %d: mean latency x IOPS is %.2f", depth, outstanding)
		}
		if engine.MostInFlight != depth {
			t.Errorf("depth %d: at most %d were in flight", depth, engine.MostInFlight)
		}
	}
}

// A slow start and the drain after the end are no part of the figures.
func TestOnlyCompletionsInsideTheWindowCount(t *testing.T) {
	const ms = time.Millisecond
	// 10 I/Os of 10 ms fill a warm-up of 100 ms; then each takes 1 ms.
	script := taking(func(n int) time.Duration {
		if n < 10 {
			return 10 * ms
		}
		return ms
	})
	// Completions at 101, 102, ... 149 ms lie inside [100.5, 150) ms.
	bounds := window{begin: (100*ms + ms/2).Nanoseconds(), end: (150 * ms).Nanoseconds(), interval: (20 * ms).Nanoseconds()}
	w, _ := scriptedWorker(t, reads(1), bounds, script)
	w.loop()
	if got := w.reads.Count(); got != 49 {
		t.Errorf("counted %d I/Os, want 49", got)
	}
	if got := w.reads.Latency().MaxNanos; got != ms.Nanoseconds() {
		t.Errorf("the slowest took %d ns: the warm-up was counted", got)
	}
	// 101..120, 121..140, 141..149.
	if diff := cmp.Diff([]int64{20, 20, 9}, w.series); diff != "" {
		t.Error(diff)
	}
	if w.inFlight != 0 {
		t.Errorf("%d I/Os still in flight at the end", w.inFlight)
	}
}

// A stall of several intervals must leave zeros in the series, not shift it.
func TestSeriesShowsAStall(t *testing.T) {
	const ms = time.Millisecond
	script := taking(func(n int) time.Duration {
		if n == 10 {
			return 35 * ms
		}
		return ms
	})
	w, _ := scriptedWorker(t, reads(1), window{end: (60 * ms).Nanoseconds(), interval: (10 * ms).Nanoseconds()}, script)
	w.loop()
	// Completions at 1..10 ms, 45 ms and 46..59 ms.
	if diff := cmp.Diff([]int64{9, 1, 0, 0, 5, 10}, w.series); diff != "" {
		t.Error(diff)
	}
}

func TestMixIsCountedByDirection(t *testing.T) {
	w := reads(4)
	w.Streams[0].ReadPercent = 70
	worker, _ := scriptedWorker(t, w, whole(time.Second), func(_ int, r ioengine.Request) (time.Duration, int32) {
		if r.Write {
			return 300 * time.Microsecond, blockSize
		}
		return 100 * time.Microsecond, blockSize
	})
	worker.loop()
	r, wr := worker.reads.Count(), worker.writes.Count()
	if share := float64(r) / float64(r+wr); math.Abs(share-0.70) > 0.01 {
		t.Errorf("%.3f of the I/Os were reads, want 0.70", share)
	}
	if got := worker.reads.Latency().MaxNanos; got != 100_000 {
		t.Errorf("slowest read %d ns, want 100000", got)
	}
	if got := worker.writes.Latency().MinNanos; got != 300_000 {
		t.Errorf("fastest write %d ns, want 300000", got)
	}
}

func TestWorkerStopsAtTheFirstFailedIO(t *testing.T) {
	tests := []struct {
		why    string
		result int32
		reason report.Reason
		text   string
	}{
		{"a bad sector", -int32(unix.EIO), report.ReasonIOError, "input/output error (EIO)"},
		{"a thin volume that fills up", -int32(unix.ENOSPC), report.ReasonNoSpace, "no space left on device (ENOSPC)"},
		{"a short transfer is none", 512, report.ReasonIOError, "moved only 512"},
		{"the end of a truncated file", 0, report.ReasonIOError, "moved only 0"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var offset int64
			w, _ := scriptedWorker(t, reads(8), whole(time.Second), func(n int, r ioengine.Request) (time.Duration, int32) {
				if n == 100 {
					offset = r.Offset
					return time.Millisecond, tt.result
				}
				return time.Millisecond, blockSize
			})
			w.loop()
			if w.failure == nil || w.failure.Reason != tt.reason {
				t.Fatalf("failure %v, want %s", w.failure, tt.reason)
			}
			if want := "read of 4096 bytes at offset " + strconv.FormatInt(offset, 10); !strings.HasPrefix(w.failure.Message, want) ||
				!strings.Contains(w.failure.Message, tt.text) {
				t.Errorf("message %q, want %q ... %q", w.failure.Message, want, tt.text)
			}
			if w.inFlight != 0 || w.completed.Load() > 120 {
				t.Errorf("%d in flight, %d completed: the worker went on", w.inFlight, w.completed.Load())
			}
		})
	}
}

func TestWorkerObeysStop(t *testing.T) {
	var w *worker
	w, _ = scriptedWorker(t, reads(8), whole(time.Hour), taking(func(n int) time.Duration {
		if n == 1000 {
			w.shared.stop.Store(true)
		}
		return time.Millisecond
	}))
	w.loop()
	if n := w.completed.Load(); w.inFlight != 0 || n < 1000 || n > 1008 {
		t.Errorf("%d in flight, %d completed, want 0 and about 1,000", w.inFlight, n)
	}
}

// Garbage made while measuring costs IOPS and triples p99.
func TestLoopAllocatesNothing(t *testing.T) {
	w := reads(32)
	w.Streams[0].ReadPercent = 50
	first, _ := scriptedWorker(t, w, whole(time.Second), steady(time.Millisecond))
	second, _ := scriptedWorker(t, w, whole(time.Second), steady(time.Millisecond))
	workers := []*worker{first, second} // AllocsPerRun makes one more call, to warm up
	n := testing.AllocsPerRun(1, func() {
		workers[0].loop()
		workers = workers[1:]
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if second.completed.Load() < 30_000 {
		t.Errorf("only %d I/Os: the loop did not run", second.completed.Load())
	}
}

// Storage that finds duplicates, in pieces of 4 KiB, would otherwise write nothing.
func TestEveryWrittenBlockDiffers(t *testing.T) {
	const pieces = 4
	w := reads(4)
	w.Streams[0].ReadPercent, w.Streams[0].BlockSizeBytes = 0, pieces*blockSize
	seen := map[string]bool{}
	var worker *worker
	worker, _ = scriptedWorker(t, w, whole(100*time.Millisecond), func(_ int, r ioengine.Request) (time.Duration, int32) {
		block := worker.buffers.Slot(r.Slot, pieces*blockSize)
		for piece := range slices.Chunk(block, blockSize) {
			if seen[string(piece)] {
				t.Fatal("the same piece was written twice")
			}
			seen[string(piece)] = true
		}
		return time.Millisecond, pieces * blockSize
	})
	worker.loop()
	if len(seen) < 1000 {
		t.Errorf("only %d pieces were written", len(seen))
	}
}
