// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/ioengine/scripted"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
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
	s := w.Streams[0]
	return scriptedWorkerAt(t, w, place{files: []int{0}, part: int(s.BlockSizeBytes), parts: 1}, bounds, script)
}

func scriptedWorkerAt(t *testing.T, w workload.Workload, p place, bounds window, script scripted.Script) (*worker, *scripted.Engine) {
	t.Helper()
	depth := w.Streams[0].QueueDepth * int(p.parts)
	buffers, err := ioengine.NewBuffers(depth, p.part)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := buffers.Free(); err != nil {
			t.Error(err)
		}
	})
	clock := &scripted.Clock{}
	engine := scripted.New(clock, depth, script)
	s := &shared{}
	s.budget.Store(w.Operations)
	worker := newWorker(w, 0, newGenerator(w, 0, 0, 0, nil), p, s, buffers)
	worker.pacer = newPacer(w.Streams[0].RateLimitIOPS, 0, 1)
	worker.engine, worker.clock, worker.sleep = engine, clock.Now, clock.Sleep
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

func TestBatchSize(t *testing.T) {
	for depth, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 8: 4, 16: 4, 24: 6, 32: 8, 64: 16, 1024: 16} {
		if got := BatchSize(depth); got != want {
			t.Errorf("depth %d: batches of %d, want %d", depth, got, want)
		}
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

// A worker with a rate keeps to it, whatever the depth allows, and its latency is the disk's.
func TestWorkerKeepsToARate(t *testing.T) {
	w := reads(8)
	w.Streams[0].RateLimitIOPS = 500
	worker, engine := scriptedWorker(t, w, whole(10*time.Second), steady(time.Millisecond))
	worker.loop()
	if n := worker.reads.Count(); n < 4999 || n > 5001 {
		t.Errorf("%d I/Os in 10 s, want 5,000", n)
	}
	if l := worker.reads.Latency(); l.MaxNanos != int64(time.Millisecond) {
		t.Errorf("the slowest took %d ns, want the disk's 1 ms", l.MaxNanos)
	}
	if engine.MostInFlight != 1 {
		t.Errorf("%d were in flight at once", engine.MostInFlight)
	}
}

// Coordinated omission: during a stall of a second, 500 I/Os fall due. Each is timed from when it was
// due, so that one stall shows as what 500 clients would have seen, not as one slow I/O.
func TestAStallShowsInTheTailOfARate(t *testing.T) {
	const stallAt = 2500
	w := reads(1)
	w.Streams[0].RateLimitIOPS = 500
	worker, _ := scriptedWorker(t, w, whole(10*time.Second), taking(func(n int) time.Duration {
		if n == stallAt {
			return time.Second
		}
		return 100 * time.Microsecond
	}))
	worker.loop()
	l := worker.reads.Latency()
	if n := worker.reads.Count(); n < 4999 || n > 5001 {
		t.Errorf("%d I/Os, want 5,000: what fell due in the stall has to be made up for", n)
	}
	if l.MaxNanos < int64(time.Second) || l.MaxNanos > int64(time.Second+time.Millisecond) {
		t.Errorf("the slowest took %d ns, want a second", l.MaxNanos)
	}
	// Of 5,000 I/Os the 500 of the stall wait between 0 and 1 s, and those until the backlog of 95% of
	// the time is gone: the 99th percentile lies near 0.9 s, and the 95th near 0.5 s.
	if p := *l.P99Nanos; p < int64(850*time.Millisecond) || p > int64(time.Second) {
		t.Errorf("p99 is %d ns, want about 0.9 s", p)
	}
	if p := *l.P95Nanos; p < int64(400*time.Millisecond) || p > int64(600*time.Millisecond) {
		t.Errorf("p95 is %d ns, want about 0.5 s", p)
	}
}

// A number of operations is exact, and ends the window.
func TestOperationsAreCountedExactly(t *testing.T) {
	const ms = time.Millisecond
	for _, depth := range []int{1, 7, 32} {
		w := reads(depth)
		w.Operations = 1001
		bounds := window{begin: int64(50 * ms), end: int64(time.Hour), interval: int64(time.Hour)}
		worker, _ := scriptedWorker(t, w, bounds, steady(ms))
		worker.loop()
		if n := worker.reads.Count(); n != 1001 {
			t.Errorf("depth %d: %d operations, want 1001", depth, n)
		}
		// Those in flight at the start of the window are the warm-up's.
		rounds := (1001 + depth - 1) / depth
		took := time.Duration(worker.lastCounted - bounds.begin)
		if took < time.Duration(rounds)*ms || took > time.Duration(rounds+2)*ms {
			t.Errorf("depth %d: the last came after %s, want %d rounds of 1 ms", depth, took, rounds)
		}
	}
}

// A disk too slow for the number of operations gives what it did in the longest time.
func TestOperationsEndWithTheWindow(t *testing.T) {
	w := reads(2)
	w.Operations = 1_000_000
	worker, _ := scriptedWorker(t, w, whole(time.Second), steady(time.Millisecond))
	worker.loop()
	if n := worker.reads.Count(); n < 1998 || n > 2002 {
		t.Errorf("%d operations in a second, want 2,000", n)
	}
}

// fdatasync after every so many writes, none of which is in flight meanwhile; its time is no write's.
func TestFlushAfterWrites(t *testing.T) {
	for _, depth := range []int{1, 4} {
		w := reads(depth)
		s := &w.Streams[0]
		s.ReadPercent, s.Sync, s.FlushEvery = 0, workload.SyncFlush, 3
		w.Operations = 300
		worker, _ := scriptedWorker(t, w, whole(time.Hour), steady(time.Millisecond))
		flushed := 0
		worker.fdatasync = func() error {
			if worker.inFlight > 0 {
				t.Errorf("depth %d: flushed with %d in flight", depth, worker.inFlight)
			}
			flushed++
			worker.sleep(5 * time.Millisecond)
			return nil
		}
		worker.loop()
		if n := worker.writes.Count(); n != 300 || flushed != 100 || worker.flushes.Count() != 100 {
			t.Errorf("depth %d: %d writes, %d flushes of which %d counted; want 300 and 100", depth, n, flushed, worker.flushes.Count())
		}
		if l := worker.flushes.Latency(); l.MinNanos != l.MaxNanos || l.MinNanos != int64(5*time.Millisecond) {
			t.Errorf("depth %d: flushes took %d to %d ns, want 5 ms", depth, l.MinNanos, l.MaxNanos)
		}
		if l := worker.writes.Latency(); l.MaxNanos != int64(time.Millisecond) {
			t.Errorf("depth %d: a write took %d ns", depth, l.MaxNanos)
		}
	}
}

// A disk that cannot flush has lost data: that is no result.
func TestAFailedFlushEndsTheRun(t *testing.T) {
	w := reads(1)
	s := &w.Streams[0]
	s.ReadPercent, s.Sync, s.FlushEvery = 0, workload.SyncFlush, 1
	worker, _ := scriptedWorker(t, w, whole(time.Second), steady(time.Millisecond))
	worker.fdatasync = func() error { return unix.EIO }
	worker.loop()
	if f := worker.failure; f == nil || f.Reason != report.ReasonIOError || !strings.Contains(f.Message, "fdatasync: input/output error") {
		t.Errorf("failure %v", f)
	}
	if f := flushFailure(unix.ENOSPC); f.Reason != report.ReasonNoSpace {
		t.Errorf("a full disk is told as %v", f)
	}
}

// What comes after a failed flush is lost as well, however long the window still is.
func TestAFailedFlushInTheBackgroundEndsTheRun(t *testing.T) {
	var stop atomic.Bool
	base := time.Now()
	f := flusher{
		interval: time.Millisecond, clock: func() int64 { return int64(time.Since(base)) }, window: whole(time.Hour),
		fdatasync: func() error { return unix.EIO }, flushes: histogram.New(), stop: &stop,
	}
	f.run(nil)
	if f.failure == nil || !stop.Load() {
		t.Errorf("failure %v, stopped is %t", f.failure, stop.Load())
	}
}

// RAID 0: consecutive stripes lie on consecutive volumes, each in ascending order.
func TestStripesSpreadOverFiles(t *testing.T) {
	tests := []struct {
		why           string
		stripe, block int64
		want          []ioengine.Request
	}{
		{"several blocks in a stripe", 8192, 4096, []ioengine.Request{
			{File: 0, Offset: 0}, {File: 0, Offset: 4096}, {File: 1, Offset: 0}, {File: 1, Offset: 4096},
			{File: 2, Offset: 0}, {File: 2, Offset: 4096}, {File: 0, Offset: 8192}, {File: 0, Offset: 12288},
		}},
		{"a block of four stripes", 4096, 16384, []ioengine.Request{
			{File: 0, Offset: 0}, {File: 1, Offset: 0}, {File: 2, Offset: 0}, {File: 0, Offset: 4096},
			{File: 1, Offset: 4096}, {File: 2, Offset: 4096}, {File: 0, Offset: 8192}, {File: 1, Offset: 8192},
		}},
	}
	for _, tt := range tests {
		w := reads(1)
		w.Streams[0].Pattern, w.Streams[0].BlockSizeBytes = workload.Sequential, tt.block
		p := place{files: []int{0, 1, 2}, stripe: tt.stripe, part: int(min(tt.block, tt.stripe)), parts: uint32(max(1, tt.block/tt.stripe))}
		var got []ioengine.Request
		worker, _ := scriptedWorkerAt(t, w, p, whole(time.Second), func(_ int, r ioengine.Request) (time.Duration, int32) {
			got = append(got, ioengine.Request{File: r.File, Offset: r.Offset})
			return time.Millisecond, int32(p.part)
		})
		worker.loop()
		if diff := cmp.Diff(tt.want, got[:len(tt.want)]); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

// A block of several stripes takes as long as its slowest part, and counts once.
func TestABlockIsDoneWithItsLastPart(t *testing.T) {
	w := reads(2)
	w.Streams[0].BlockSizeBytes = 4 * blockSize
	p := place{files: []int{0, 1}, stripe: blockSize, part: blockSize, parts: 4}
	worker, engine := scriptedWorkerAt(t, w, p, whole(time.Second), func(n int, _ ioengine.Request) (time.Duration, int32) {
		return time.Duration(1+n%4) * time.Millisecond, blockSize
	})
	worker.loop()
	if l := worker.reads.Latency(); l.MinNanos != l.MaxNanos || l.MinNanos != int64(4*time.Millisecond) {
		t.Errorf("blocks took %d to %d ns, want 4 ms", l.MinNanos, l.MaxNanos)
	}
	if n := worker.reads.Count(); n < 490 || n > 500 {
		t.Errorf("%d blocks in a second at depth 2, want 500", n)
	}
	if engine.MostInFlight != 8 {
		t.Errorf("%d parts in flight, want 8", engine.MostInFlight)
	}
}

// What is read has to be what was written there.
func TestVerifyFindsWhatIsWrong(t *testing.T) {
	tests := []struct {
		why    string
		spoil  func(block []byte, offset int64)
		reason report.Reason
	}{
		{"good data", func([]byte, int64) {}, ""},
		{"a flipped bit", func(b []byte, _ int64) { b[3000] ^= 1 }, report.ReasonDataCorruption},
		{"zeros of a block that was lost", func(b []byte, _ int64) { clear(b) }, report.ReasonDataCorruption},
		{"another block's data", func(b []byte, at int64) { seal.Seal(b, at+blockSize, 512) }, report.ReasonDataCorruption},
	}
	for _, tt := range tests {
		w := reads(4)
		w.Verify = true
		var worker *worker
		worker, _ = scriptedWorkerAt(t, w, place{files: []int{0}, part: blockSize, parts: 1, sector: 512}, whole(100*time.Millisecond),
			func(n int, r ioengine.Request) (time.Duration, int32) {
				block := worker.buffers.Slot(r.Slot, blockSize)
				seal.Seal(block, r.Offset, 512)
				if n == 50 {
					tt.spoil(block, r.Offset)
				}
				return time.Millisecond, blockSize
			})
		worker.loop()
		switch f := worker.failure; {
		case tt.reason == "" && f != nil, tt.reason != "" && (f == nil || f.Reason != tt.reason):
			t.Errorf("%s: failure %v, want %q", tt.why, f, tt.reason)
		case f != nil && !strings.HasPrefix(f.Message, "read of 4096 bytes at offset "):
			t.Errorf("%s: %s", tt.why, f.Message)
		}
	}
}

// Under Drain the load goes on after the window, outside the figures, until it is told to stop.
func TestDrainGoesOnUncounted(t *testing.T) {
	w := reads(4)
	w.Drain = true
	var worker *worker
	worker, _ = scriptedWorker(t, w, whole(time.Second), taking(func(n int) time.Duration {
		if n == 20_000 {
			worker.shared.stop.Store(true)
		}
		return time.Millisecond
	}))
	worker.loop()
	if n := worker.reads.Count(); n < 3990 || n > 4000 {
		t.Errorf("%d counted, want the 4,000 of the window", n)
	}
	if n := worker.completed.Load(); n < 20_000 || n > 20_010 {
		t.Errorf("%d completed, want 20,000", n)
	}
}
