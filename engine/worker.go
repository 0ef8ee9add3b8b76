// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// leastBatch and mostBatch bound BatchSize.
	leastBatch, mostBatch = 4, 16

	// A stamp in every stampEvery bytes makes each written block unlike all others: that is the
	// granularity at which storage looks for duplicates. It lies behind a seal.
	stampEvery  = 4096
	stampOffset = 64
	stampBytes  = 8
)

// BatchSize is the most I/Os that a thread with a queue of that depth submits, and the most that it
// takes, before it turns to the other. Larger batches cost fewer system calls. But handling the whole
// queue at once locks step with the device: a batch of 32 at depth 32 cost a fifth of the IOPS, and
// read latency 10 to 20% low. A quarter of the queue keeps it within 0.5% of full; of a short one it is
// half, so that the device always has work.
func BatchSize(queueDepth int) int {
	batch := max(leastBatch, min(mostBatch, queueDepth/4))
	return max(1, min(batch, queueDepth/2))
}

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
	// parts are still in flight; more than one where a block covers several stripes.
	parts uint32
	write bool
	// counted marks one that belongs to a number of operations.
	counted bool
}

// shared is what the workers of one window have in common.
type shared struct {
	// stop tells them to submit nothing more.
	stop atomic.Bool
	// budget is what is left of the number of operations.
	budget atomic.Int64
}

// claim takes one operation of the budget, if there is one left.
func (s *shared) claim() bool { return s.budget.Add(-1) >= 0 }

// place is where a worker's I/O goes: a file, or several with stripes of one address space.
type place struct {
	files []int
	// stripe is the bytes on one file before the next one follows; 0 for a single file.
	stripe int64
	// part is the size of each I/O: the block's, or the stripe's where that is less.
	part int
	// parts of a block.
	parts uint32
	// sector is the unit of seals; 0 where blocks carry none.
	sector int
}

// locate gives the file and the offset in it.
func (p *place) locate(offset int64) (file int32, at int64) {
	if p.stripe == 0 {
		return 0, offset
	}
	stripe, n := offset/p.stripe, int64(len(p.files))
	return int32(stripe % n), stripe/n*p.stripe + offset%p.stripe
}

// worker keeps one thread's queue full, or keeps to its rate, and counts what completes. Nothing in
// its loop allocates or locks.
type worker struct {
	engine    ioengine.Engine
	clock     func() int64
	sleep     func(time.Duration)
	generator generator
	pacer     pacer
	shared    *shared
	window    window
	place     place
	blockSize int
	buffers   ioengine.Buffers
	// stream is the index of the worker's stream.
	stream int
	// limited means that a number of operations ends the window; drains that the load goes on after it.
	limited, drains bool
	// verify checks the seals of what is read.
	verify bool

	slots    []slot
	free     []uint32
	requests []ioengine.Request
	done     []ioengine.Completion
	inFlight int

	// flushEvery is the number of writes between flushes, 0 for none; unflushed counts them.
	flushEvery, unflushed int
	// fdatasync flushes the worker's files.
	fdatasync func() error
	// restart empties a growing file before its first block is written again; nil for others.
	restart func() error

	// reads, writes and flushes are the latencies inside the window; nil for what is not asked for.
	reads, writes, flushes *histogram.Histogram
	// series counts the completions of each interval.
	series []int64
	// point is the current one, and mark where something else begins: the window, the next point
	// or the end.
	point int
	mark  int64
	// lastCounted is when the last counted operation completed.
	lastCounted int64
	// completed and waited, the sum of their latencies, are of all so far, for progress.
	completed, waited atomic.Int64
	// cpuBegin and cpuEnd are readings at the first look at the clock after the window's bounds.
	cpu              threadClock
	cpuBegin, cpuEnd threadCPU

	failure *report.Failure
	_       [64]byte // keeps the next worker's counters in another cache line
}

// newWorker makes a worker of one of the workload's streams; engine, clocks and window are set
// before it loops.
func newWorker(w workload.Workload, stream int, g generator, p place, common *shared, buffers ioengine.Buffers) *worker {
	s := w.Streams[stream]
	batch := BatchSize(int(s.QueueDepth))
	perBatch := max(1, batch/int(p.parts))
	worker := &worker{
		generator: g, shared: common, place: p, blockSize: int(s.BlockSizeBytes), buffers: buffers, stream: stream,
		limited: w.Operations > 0, drains: w.Drain, verify: w.Verify, flushEvery: s.FlushEvery,
		slots: make([]slot, s.QueueDepth), free: make([]uint32, s.QueueDepth),
		requests: make([]ioengine.Request, perBatch*int(p.parts)),
		done:     make([]ioengine.Completion, batch),
	}
	for i := range worker.free {
		worker.free[i] = uint32(i)
	}
	if s.Reads() {
		worker.reads = histogram.New()
	}
	if s.Writes() {
		worker.writes = histogram.New()
	}
	if s.FlushEvery > 0 {
		worker.flushes = histogram.New()
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
	w.pacer.start(now)
	for {
		if now >= w.mark {
			w.passMark(now)
		}
		issuing := w.issuing(now)
		n := 0
		if issuing {
			n = w.prepare(now)
		}
		if n == 0 && w.inFlight == 0 {
			switch {
			case w.flushDue():
				w.flush()
			case !issuing || !w.pacer.active() || w.exhausted(now):
				return
			default:
				w.sleep(min(time.Duration(w.pacer.due()-now), ioengine.MaxWait))
			}
			now = w.clock()
			continue
		}
		w.inFlight += n
		taken, err := w.engine.Exchange(w.requests[:n*int(w.place.parts)], w.done, w.patience(n, issuing, now))
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

// issuing says whether new I/O may still begin.
func (w *worker) issuing(now int64) bool {
	return (now < w.window.end || w.drains) && !w.shared.stop.Load()
}

// counting says whether a number of operations is being counted down.
func (w *worker) counting(now int64) bool { return w.limited && now >= w.window.begin }

// exhausted says whether a number of operations is used up.
func (w *worker) exhausted(now int64) bool { return w.counting(now) && w.shared.budget.Load() <= 0 }

// patience is how long to wait for a completion: not while the queue still fills, and under a rate
// not beyond the time at which the next I/O is due.
func (w *worker) patience(n int, issuing bool, now int64) time.Duration {
	switch {
	case len(w.free) == 0:
		return ioengine.MaxWait
	case n > 0:
		return 0
	case issuing && w.pacer.active() && !w.flushDue():
		return max(time.Duration(w.pacer.due()-now), time.Microsecond)
	default:
		return ioengine.MaxWait
	}
}

// prepare draws the next requests, as many as there are free slots, at most a batch, and gives their
// number. Unless a rate says when they were due, they start when the clock is read once for all of
// them, last: the engine's own work is no latency.
func (w *worker) prepare(now int64) int {
	most := min(len(w.free), len(w.requests)/int(w.place.parts))
	counting := w.counting(now)
	prepared := 0
	for ; prepared < most && !w.flushDue() && (!w.pacer.active() || w.pacer.due() <= now); prepared++ {
		if counting && !w.shared.claim() {
			break
		}
		s := w.free[len(w.free)-1-prepared]
		w.fill(s, w.requests[prepared*int(w.place.parts):])
		w.slots[s].counted = counting
	}
	started := w.free[len(w.free)-prepared:]
	w.free = w.free[:len(w.free)-prepared]
	if !w.pacer.active() {
		now = w.clock()
		for _, s := range started {
			w.slots[s].started = now
		}
	}
	return prepared
}

// fill makes the next I/O, in slot s, and its requests, one for each part.
func (w *worker) fill(s uint32, requests []ioengine.Request) {
	offset, write := w.generator.draw()
	slot := &w.slots[s]
	slot.offset, slot.write, slot.parts = offset, write, w.place.parts
	if w.pacer.active() {
		slot.started = w.pacer.due()
		w.pacer.issued++
	}
	if write {
		w.stamp(s, offset)
		w.unflushed++
		if offset == 0 && w.restart != nil {
			if err := w.restart(); err != nil {
				w.fail(report.Failf(report.ReasonIOError, "cannot empty the file to start over: %v", err))
			}
		}
	}
	for i := range w.place.parts {
		file, at := w.place.locate(offset + int64(i)*int64(w.place.part))
		requests[i] = ioengine.Request{Offset: at, File: file, Slot: s*w.place.parts + i, Write: write}
	}
}

// block is the memory of a slot, all of its parts together.
func (w *worker) block(s uint32) []byte {
	at := int(s*w.place.parts) * w.buffers.Stride
	return w.buffers.Memory[at : at+w.blockSize : at+w.blockSize]
}

// stamp makes the block unique; the rest of it is random since the start.
func (w *worker) stamp(s uint32, offset int64) {
	block := w.block(s)
	for at := stampOffset; at+stampBytes <= len(block); at += stampEvery {
		binary.LittleEndian.PutUint64(block[at:], w.generator.source.Uint64())
	}
	if w.place.sector > 0 {
		seal.Seal(block, offset, w.place.sector)
	}
}

func (w *worker) complete(now int64, done []ioengine.Completion) {
	inWindow := now >= w.window.begin && now < w.window.end
	operations, waited := int64(0), int64(0)
	counted := int64(0)
	for i := range done {
		c := &done[i]
		s := c.Slot
		if w.place.parts > 1 {
			s /= w.place.parts
		}
		slot := &w.slots[s]
		if int(c.Result) != w.place.part {
			w.fail(w.describe(slot, c.Result))
		}
		if slot.parts--; slot.parts > 0 {
			continue
		}
		w.free = append(w.free, s) // within its capacity
		latency := now - slot.started
		operations++
		waited += latency
		if w.verify && !slot.write && w.failure == nil {
			w.check(s, slot.offset)
		}
		if w.limited {
			inWindow = slot.counted
		}
		if !inWindow || w.failure != nil {
			continue
		}
		counted++
		if slot.write {
			w.writes.Record(latency)
		} else {
			w.reads.Record(latency)
		}
	}
	w.inFlight -= int(operations)
	if counted > 0 {
		w.lastCounted = now
		w.series[w.point] += counted
	}
	w.completed.Store(w.completed.Load() + operations)
	w.waited.Store(w.waited.Load() + waited)
}

// check verifies the seals of a block that was read.
func (w *worker) check(s uint32, offset int64) {
	if err := seal.Check(w.block(s), offset, w.place.sector); err != nil {
		w.fail(report.Failf(report.ReasonDataCorruption, "read of %d bytes at offset %d: %v", w.blockSize, offset, err))
	}
}

// passMark moves on to the point of the series that now lies in. Operations of a limited number that
// complete after the longest time are in the last point.
func (w *worker) passMark(now int64) {
	if w.point < 0 {
		w.cpuBegin = w.cpu.read(now)
	}
	if now >= w.window.end {
		w.cpuEnd = w.cpu.read(now)
		w.point, w.mark = len(w.series)-1, math.MaxInt64
		return
	}
	w.point = int((now - w.window.begin) / w.window.interval)
	w.mark = min(w.window.begin+int64(w.point+1)*w.window.interval, w.window.end)
}

// flushDue says whether to flush before the next write.
func (w *worker) flushDue() bool { return w.flushEvery > 0 && w.unflushed >= w.flushEvery }

// flush makes what was written durable. No I/O is in flight, so that the wait is nobody's latency.
func (w *worker) flush() {
	began := w.clock()
	err := w.fdatasync()
	ended := w.clock()
	w.unflushed = 0
	if err != nil {
		w.fail(flushFailure(err))
		return
	}
	if ended >= w.window.begin && (ended < w.window.end || w.limited) {
		w.flushes.Record(ended - began)
		w.lastCounted = ended
	}
}

func flushFailure(err error) *report.Failure {
	return report.Failf(reasonOf(err), "fdatasync: %v: the disk did not keep what was written", err)
}

func reasonOf(err error) report.Reason {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return report.ReasonNoSpace
	}
	return report.ReasonIOError
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
		cause := ""
		if s.write {
			cause = ": is the volume full?"
		}
		return report.Failf(report.ReasonIOError, "%s of %d bytes at offset %d moved only %d%s",
			direction, w.place.part, s.offset, result, cause)
	}
	errno := syscall.Errno(-result)
	return report.Failf(reasonOf(errno), "%s of %d bytes at offset %d: %v (%s)",
		direction, w.place.part, s.offset, errno, unix.ErrnoName(errno))
}
