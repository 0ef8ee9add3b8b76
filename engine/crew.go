// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// drainGrace is how long an interrupted run waits for I/O in flight: less than the 30 seconds
	// that Kubernetes gives a container to end, more than a throttled disk needs.
	drainGrace = 10 * time.Second

	progressInterval = time.Second

	// maxPoints bounds the series of a worker: a point is a second in windows of up to an hour.
	maxPoints = 3600
)

// measured is what one window gave.
type measured struct {
	// window is its length in nanoseconds.
	window int64
	// streams has an entry for each stream.
	streams []streamFigures
	// series counts the completions of each interval nanoseconds; the last may cover less.
	series   []int64
	interval int64
	cpu      report.CPU
	device   *report.DeviceCounters
	drained  *report.Drained
}

// streamFigures are the latencies of one stream. A histogram is nil for what was not asked for.
type streamFigures struct{ reads, writes, flushes *histogram.Histogram }

// assignment is what a crew has to do.
type assignment struct {
	workload   workload.Workload
	repetition int
	set        *volume.Set
	stripe     int64
	// sector is the set's logical block; sealed says whether written blocks carry a checksum.
	sector int64
	sealed bool
	// ioEngine is the one for direct I/O.
	ioEngine workload.IOEngine
	drain    drainRules
	// progress is told once a second what has completed since the start.
	progress func(tick)
}

// tick is the sum of all that has completed.
type tick struct {
	operations, bytes int64
	// waited is the sum of the latencies in nanoseconds, elapsed the time since the start.
	waited  int64
	elapsed time.Duration
	// draining says that the window is over.
	draining bool
}

// crew is the workers of one repetition of one workload.
type crew struct {
	assignment
	window window

	shared shared
	// offsets are those that the threads of a stream share.
	offsets  []atomic.Uint64
	workers  []*worker
	flushers []*flusher
	own      *volume.File
	files    []*os.File
	// opened has an entry for each worker whose engine is open, or is not; release lets them loop;
	// ended is closed after the last has ended, and the flushers.
	opened  chan error
	release chan struct{}
	ended   chan struct{}
	clock   func() int64
}

// newCrew opens the files and makes the buffers for each worker. Errors are *report.Failure.
func newCrew(a assignment) (*crew, error) {
	base := time.Now()
	c := &crew{
		assignment: a,
		offsets:    make([]atomic.Uint64, len(a.workload.Streams)),
		opened:     make(chan error, a.workload.Threads()),
		release:    make(chan struct{}),
		ended:      make(chan struct{}),
		// The cheapest clock there is: 27 ns, against 47 of time.Now.
		clock: func() int64 { return int64(time.Since(base)) },
	}
	c.shared.budget.Store(a.workload.Operations)
	if err := c.recruit(); err != nil {
		c.free()
		return nil, err
	}
	return c, nil
}

// recruit makes the workers and flushers of all streams.
func (c *crew) recruit() error {
	if c.workload.OwnFile() {
		own, err := c.set.NewFile(c.workload.Layout, c.workload.FileSizeBytes)
		if err != nil {
			return err
		}
		c.own = own
	}
	for stream, s := range c.workload.Streams {
		for thread := range s.Threads {
			if err := c.add(stream, thread); err != nil {
				return err
			}
		}
		if s.FlushInterval > 0 {
			files, err := c.open(s)
			if err != nil {
				return err
			}
			c.flushers = append(c.flushers, &flusher{
				stream: stream, interval: s.FlushInterval.Std(), clock: c.clock,
				fdatasync: func() error { return fdatasyncAll(files) }, flushes: histogram.New(), stop: &c.shared.stop,
			})
		}
	}
	return nil
}

func (c *crew) add(stream, thread int) error {
	s := c.workload.Streams[stream]
	files, err := c.open(s)
	if err != nil {
		return err
	}
	p := c.place(s, files)
	buffers, err := ioengine.NewBuffers(s.QueueDepth*int(p.parts), p.part)
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	data := prng.New(c.workload.Seed, int64(c.repetition), int64(stream), int64(thread), dataSeed)
	data.Fill(buffers.Memory)
	w := newWorker(c.workload, stream, newGenerator(c.workload, stream, c.repetition, thread, &c.offsets[stream]), p, &c.shared, buffers)
	w.pacer = newPacer(s.RateLimitIOPS, thread, s.Threads)
	w.clock, w.sleep = c.clock, sleep
	w.fdatasync = func() error { return fdatasyncAll(files) }
	if c.workload.Layout == workload.Append {
		w.restart = c.own.Truncate
	}
	c.workers = append(c.workers, w)
	return nil
}

// dataSeed keeps the data apart from the offsets.
const dataSeed = 0x64617461

// open opens the file, or the files of all volumes, for one worker. Those of the crew are closed by free.
func (c *crew) open(s workload.Stream) ([]int, error) {
	options := volume.OpenOptions{Buffered: c.workload.Buffered(), DSync: s.Sync == workload.SyncWriteThrough}
	var opened []*os.File
	var err error
	if c.own != nil {
		var f *os.File
		f, err = c.own.Open(options)
		opened = []*os.File{f}
	} else {
		opened, err = c.set.Open(options)
	}
	if err != nil {
		return nil, err
	}
	c.files = append(c.files, opened...)
	fds := make([]int, len(opened))
	for i, f := range opened {
		fds[i] = int(f.Fd())
	}
	return fds, nil
}

func (c *crew) place(s workload.Stream, files []int) place {
	p := place{files: files, part: int(s.BlockSizeBytes), parts: 1}
	if len(files) > 1 {
		p.stripe = c.stripe
		if s.BlockSizeBytes > c.stripe {
			p.part, p.parts = int(c.stripe), uint32(s.BlockSizeBytes/c.stripe)
		}
	}
	if c.sealed && c.own == nil && !c.workload.Buffered() {
		p.sector = int(c.sector)
	}
	return p
}

// sleep is that of a worker's own thread, which has asked for short timer slack.
func sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // cut short by a signal, the worker looks again
}

// free gives back what recruit took, once no I/O is in flight.
func (c *crew) free() {
	for _, w := range c.workers {
		_ = w.buffers.Free()
	}
	for _, f := range c.files {
		_ = f.Close()
	}
	if c.own != nil {
		c.own.Close()
	}
}

// measure runs the workers through warm-up and window. Errors are *report.Failure. An interrupted
// window gives both, its figures so far and the failure; stuck says that I/O still is in flight.
func (c *crew) measure(ctx context.Context) (m *measured, stuck bool, err error) {
	openFailure := c.launch()
	runtime.GC() // the garbage of the preparation; none is made until the workers end
	begin := c.clock() + c.workload.Warmup.Std().Nanoseconds()
	duration := c.workload.Duration.Std()
	c.window = window{begin: begin, end: begin + duration.Nanoseconds(), interval: pointInterval(duration).Nanoseconds()}
	for _, w := range c.workers {
		w.start(c.window)
	}
	for _, f := range c.flushers {
		f.window = c.window
	}
	if openFailure != nil {
		c.shared.stop.Store(true)
	}
	close(c.release)

	seen, ended := c.watch(ctx)
	if !ended {
		// The kernel still writes to the buffers and reads the files: they stay.
		return nil, true, report.Failf(report.ReasonInterrupted, "told to stop; I/O was still in flight %s later", drainGrace)
	}
	defer c.free()
	if failure := c.failure(openFailure); failure != nil {
		return nil, false, failure
	}
	if ctx.Err() != nil {
		return c.collect(seen), false, report.Failf(report.ReasonInterrupted, "told to stop while measuring %s", c.workload.Name)
	}
	m = c.collect(seen)
	if m.empty() {
		return nil, false, report.Failf(report.ReasonNoOperations, "%s: no I/O completed in the window of %s: "+
			"the volume hangs, or is too slow for so short a duration", c.workload.Name, c.workload.Duration)
	}
	return m, false, nil
}

// pointInterval is the length of a point of the workers' series: a second, more in very long windows,
// and the whole window where that is shorter.
func pointInterval(duration time.Duration) time.Duration {
	const longest = maxPoints * time.Second
	seconds := int64((duration + longest - 1) / longest)
	return min(duration, workload.Seconds(max(1, seconds)).Std())
}

// launch starts a thread for each worker and waits until all have their engine, or could not.
func (c *crew) launch() *report.Failure {
	var workers, flushers sync.WaitGroup
	for _, w := range c.workers {
		workers.Go(func() {
			// The thread is never unlocked: it ends with the goroutine, and with it what it
			// registered with the kernel.
			runtime.LockOSThread()
			c.work(w)
		})
	}
	done := make(chan struct{})
	for _, f := range c.flushers {
		flushers.Go(func() {
			<-c.release
			f.run(done)
		})
	}
	go func() {
		workers.Wait()
		close(done)
		flushers.Wait()
		close(c.ended)
	}()
	var failure *report.Failure
	for range c.workers {
		if err := <-c.opened; err != nil {
			failure = report.Failf(report.ReasonIOEngineUnavailable, "ioEngine %s: %v", c.engineKind(), err)
		}
	}
	return failure
}

// engineKind is the kernel interface of the workload: buffered I/O is plain system calls.
func (c *crew) engineKind() workload.IOEngine {
	if c.workload.Buffered() {
		return workload.Sync
	}
	return c.ioEngine
}

// work is the life of a worker's thread.
func (c *crew) work(w *worker) {
	// With the customary slack of 50 µs a rate would be kept that much late.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.cpu.open()
	defer w.cpu.close()
	engine, err := ioengine.Open(c.engineKind(), ioengine.Config{
		Files: w.place.files, Depth: len(w.slots) * int(w.place.parts), BlockSize: w.place.part, Buffers: w.buffers,
	})
	c.opened <- err
	if err != nil {
		return
	}
	w.engine = engine
	<-c.release
	w.loop()
	if err := engine.Close(); err != nil {
		w.fail(report.Failf(report.ReasonInternal, "%v", err))
	}
}

// seen is what was observed beside the workers.
type seen struct {
	cpu     report.CPU
	device  *report.DeviceCounters
	drained *report.Drained
	// ended is when the last worker had ended.
	ended int64
}

// watch waits for the workers' end, reports progress, drains the burst credits and passes on the order
// to stop. It returns false if I/O is still in flight long after that order.
func (c *crew) watch(ctx context.Context) (seen, bool) {
	start := c.clock()
	ticks := time.NewTicker(progressInterval)
	defer ticks.Stop()
	begin := time.After(time.Duration(c.window.begin - start))
	end := time.After(time.Duration(c.window.end - start))
	interrupted := ctx.Done()
	var grace <-chan time.Time
	before, after := c.readGauges(), (*gauges)(nil)
	drain := newDrain(c.drain, c.window, c.sum(start))
	for {
		select {
		case <-begin:
			before = c.readGauges()
			drain.begin(c.sum(start))
		case <-end:
			g := c.readGauges()
			after = &g
		case <-ticks.C:
			t := c.sum(start)
			t.draining = c.workload.Drain && after != nil
			c.progress(t)
			if c.workload.Drain && drain.done(t) {
				c.shared.stop.Store(true)
			}
		case <-interrupted:
			c.shared.stop.Store(true)
			interrupted, grace = nil, time.After(drainGrace)
		case <-grace:
			return seen{}, false
		case <-c.ended:
			if after == nil {
				g := c.readGauges()
				after = &g
			}
			s := seen{ended: c.clock(), cpu: after.cpu.since(before.cpu), device: after.since(before)}
			if c.workload.Drain {
				s.drained = drain.result()
			}
			return s, true
		}
	}
}

// gauges are what is read at both ends of the window.
type gauges struct {
	cpu     hostCPU
	device  report.DeviceCounters
	counted bool
}

func (c *crew) readGauges() gauges {
	g := gauges{cpu: readHostCPU()}
	g.device, g.counted = c.set.Counters()
	return g
}

// since is what the devices counted between two readings; nil where they count nothing.
func (g gauges) since(before gauges) *report.DeviceCounters {
	if !g.counted || !before.counted {
		return nil
	}
	return new(g.device.Minus(before.device))
}

// sum is what all workers have completed so far.
func (c *crew) sum(start int64) tick {
	t := tick{elapsed: time.Duration(c.clock() - start)}
	for _, w := range c.workers {
		n := w.completed.Load()
		t.operations += n
		t.bytes += n * int64(w.blockSize)
		t.waited += w.waited.Load()
	}
	return t
}

// failure is the first reason not to use the figures.
func (c *crew) failure(openFailure *report.Failure) *report.Failure {
	if openFailure != nil {
		return openFailure
	}
	for _, w := range c.workers {
		if w.failure != nil {
			return w.failure
		}
	}
	for _, f := range c.flushers {
		if f.failure != nil {
			return f.failure
		}
	}
	return nil
}

// collect merges the workers' figures.
func (c *crew) collect(s seen) *measured {
	m := &measured{
		cpu: s.cpu, device: s.device, drained: s.drained, window: c.windowNanos(s.ended),
		streams: make([]streamFigures, len(c.workload.Streams)), interval: c.window.interval,
	}
	series := make([]int64, c.window.points())
	for _, w := range c.workers {
		of := &m.streams[w.stream]
		merge(&of.reads, w.reads)
		merge(&of.writes, w.writes)
		merge(&of.flushes, w.flushes)
		for i, n := range w.series {
			series[i] += n
		}
		m.cpu.BusiestWorkerPercent = max(m.cpu.BusiestWorkerPercent, percent(w.cpuEnd.used-w.cpuBegin.used, w.cpuEnd.at-w.cpuBegin.at))
		m.cpu.RunDelayPercent = max(m.cpu.RunDelayPercent, lostPercent(w.cpuEnd.delayed-w.cpuBegin.delayed, w.cpuEnd.at-w.cpuBegin.at))
	}
	for _, f := range c.flushers {
		merge(&m.streams[f.stream].flushes, f.flushes)
	}
	m.series = series[:min(len(series), int((m.window+m.interval-1)/m.interval))]
	return m
}

// windowNanos is the length of the window: what was asked for, and less when a number of operations
// was reached or the run was interrupted before.
func (c *crew) windowNanos(ended int64) int64 {
	last := c.window.end
	if c.workload.Operations > 0 {
		last = 0
		for _, w := range c.workers {
			last = max(last, w.lastCounted)
		}
	}
	return max(0, min(last, ended)-c.window.begin)
}

func merge(into **histogram.Histogram, from *histogram.Histogram) {
	if from == nil {
		return
	}
	if *into == nil {
		*into = histogram.New()
	}
	(*into).Merge(from)
}

// empty says whether nothing completed in the window.
func (m *measured) empty() bool {
	for _, s := range m.streams {
		if count(s.reads)+count(s.writes) > 0 {
			return false
		}
	}
	return true
}

func count(h *histogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.Count()
}
