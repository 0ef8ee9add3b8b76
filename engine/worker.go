// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// batch is the most I/Os a worker submits, and the most it takes, before it turns to the other.
	// Handling the whole queue at once locks step with the device: at depth 32 that cost a fifth of
	// the IOPS, and read latency 10 to 20% low.
	batch = 4

	// stampEvery is the distance of the words that make each written block unlike all others: the
	// granularity at which storage looks for duplicates.
	stampEvery = 4096
)

// window is the time in which completions count, in nanoseconds of the workers' clock.
type window struct {
	begin, end int64
	// interval is the length of a point of the series.
	interval int64
}

// points is the length of the series; the last point may cover less than the interval.
func (w window) points() int { return int((w.end - w.begin + w.interval - 1) / w.interval) }

// slot is the state of one I/O.
type slot struct {
	started int64
	offset  int64
	write   bool
}

// shared is what the workers of one window have in common.
type shared struct {
	// stop tells them to submit nothing more.
	stop atomic.Bool
	// offset is the next block, where the threads share it.
	offset atomic.Uint64
}

// worker keeps one thread's queue full and counts what completes. Nothing in its loop allocates
// or locks.
type worker struct {
	engine    ioengine.Engine
	clock     func() int64
	generator generator
	shared    *shared
	window    window
	blockSize int
	buffers   ioengine.Buffers

	slots    []slot
	free     []uint32
	requests [batch]ioengine.Request
	done     [batch]ioengine.Completion
	inFlight int

	// reads and writes are the latencies inside the window; nil for a direction that is not asked for.
	reads, writes *histogram.Histogram
	// series counts the completions of each interval.
	series []int64
	// point is the current one, and mark where something else begins: the window, the next point
	// or the end.
	point int
	mark  int64
	// completed is all so far, for progress.
	completed atomic.Int64
	// cpuBegin and cpuEnd are readings at the first look at the clock after the window's bounds.
	cpuBegin, cpuEnd threadCPU

	failure *report.Failure
	_       [64]byte // keeps the next worker's counters in another cache line
}

// newWorker makes a worker; engine, window and clock are set before it loops.
func newWorker(w workload.Workload, g generator, s *shared, buffers ioengine.Buffers) *worker {
	worker := &worker{
		generator: g, shared: s, blockSize: int(w.Streams[0].BlockSizeBytes), buffers: buffers,
		slots: make([]slot, w.Streams[0].QueueDepth), free: make([]uint32, w.Streams[0].QueueDepth),
	}
	for i := range worker.free {
		worker.free[i] = uint32(i)
	}
	if w.Reads() {
		worker.reads = histogram.New()
	}
	if w.Writes() {
		worker.writes = histogram.New()
	}
	return worker
}

// start sets the window, before the loop.
func (w *worker) start(window window) {
	w.window = window
	w.series = make([]int64, window.points())
	w.point, w.mark = -1, window.begin
}

// loop runs until the window has ended, or it is told to stop, and all I/O is back. Only
// completions inside the window count; those after it are waited for uncounted.
func (w *worker) loop() {
	now := w.clock()
	for {
		if now >= w.mark {
			w.passMark(now)
		}
		n := 0
		if now < w.window.end && !w.shared.stop.Load() {
			n = w.prepare()
		}
		if n == 0 && w.inFlight == 0 {
			return
		}
		w.inFlight += n
		// The queue is filled before anything is waited for.
		wait := time.Duration(0)
		if len(w.free) == 0 || n == 0 {
			wait = ioengine.MaxWait
		}
		taken, err := w.engine.Exchange(w.requests[:n], w.done[:], wait)
		if err != nil {
			w.fail(report.Failf(report.ReasonIOError, "%v", err))
			return
		}
		now = w.clock()
		if now >= w.mark {
			w.passMark(now)
		}
		w.complete(now, w.done[:taken])
	}
}

// prepare draws the next requests, as many as there are free slots, at most a batch. The clock is
// read once for all of them, last: the engine's own work is no latency.
func (w *worker) prepare() int {
	n := min(len(w.free), batch)
	for i := range n {
		s := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		offset, write := w.generator.draw()
		w.slots[s].offset, w.slots[s].write = offset, write
		w.requests[i] = ioengine.Request{Offset: offset, Slot: s, Write: write}
		if write {
			w.stamp(s)
		}
	}
	started := w.clock()
	for i := range n {
		w.slots[w.requests[i].Slot].started = started
	}
	return n
}

// stamp makes the block unique; the rest of it is random since the start.
func (w *worker) stamp(s uint32) {
	block := w.buffers.Slot(s, w.blockSize)
	for at := 0; at < len(block); at += stampEvery {
		binary.LittleEndian.PutUint64(block[at:], w.generator.source.Uint64())
	}
}

func (w *worker) complete(now int64, done []ioengine.Completion) {
	counts := now >= w.window.begin && now < w.window.end
	for i := range done {
		c := &done[i]
		s := &w.slots[c.Slot]
		w.free = append(w.free, c.Slot) // within its capacity
		if int(c.Result) != w.blockSize {
			w.fail(w.describe(s, c.Result))
			continue
		}
		if !counts {
			continue
		}
		if s.write {
			w.writes.Record(now - s.started)
		} else {
			w.reads.Record(now - s.started)
		}
	}
	w.inFlight -= len(done)
	if counts {
		w.series[w.point] += int64(len(done))
	}
	w.completed.Store(w.completed.Load() + int64(len(done)))
}

// passMark moves on to the point of the series that now lies in.
func (w *worker) passMark(now int64) {
	if w.point < 0 {
		w.cpuBegin = readThreadCPU(now)
	}
	if now >= w.window.end {
		w.cpuEnd = readThreadCPU(now)
		w.mark = math.MaxInt64
		return
	}
	w.point = int((now - w.window.begin) / w.window.interval)
	w.mark = min(w.window.begin+int64(w.point+1)*w.window.interval, w.window.end)
}

// fail keeps the first failure and stops everybody: figures beside failed I/O mean nothing.
func (w *worker) fail(f *report.Failure) {
	if w.failure == nil {
		w.failure = f
	}
	w.shared.stop.Store(true)
}

func (w *worker) describe(s *slot, result int32) *report.Failure {
	direction := "read"
	if s.write {
		direction = "write"
	}
	if result >= 0 {
		return report.Failf(report.ReasonIOError, "%s of %d bytes at offset %d moved only %d",
			direction, w.blockSize, s.offset, result)
	}
	errno := syscall.Errno(-result)
	reason := report.ReasonIOError
	if errno == unix.ENOSPC || errno == unix.EDQUOT {
		reason = report.ReasonNoSpace
	}
	return report.Failf(reason, "%s of %d bytes at offset %d: %v (%s)",
		direction, w.blockSize, s.offset, errno, unix.ErrnoName(errno))
}
