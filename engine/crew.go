// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"os"
	"runtime"
	"sync"
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

	// spareProcs is for the goroutines beside the workers. The workers' waits are raw system calls,
	// which keep the scheduler's processor: without spare ones, tails of 20 to 40 ms appear.
	spareProcs = 2
)

// measured is what one window gave. A histogram is nil for a direction that was not asked for.
type measured struct {
	reads, writes *histogram.Histogram
	series        []int64
	cpu           report.CPU
}

// crew is the workers of one repetition of one workload.
type crew struct {
	workload workload.Workload
	ioEngine workload.IOEngine
	interval time.Duration
	// progress is told once a second how many I/Os have completed.
	progress func(completed int64, elapsed time.Duration)

	shared  shared
	workers []*worker
	files   []*os.File
	// opened has an entry for each worker whose engine is open, or is not; release lets them loop;
	// ended is closed after the last.
	opened  chan error
	release chan struct{}
	ended   chan struct{}
	clock   func() int64
}

// newCrew opens a file and makes buffers for each worker. Errors are *report.Failure.
func newCrew(v *volume.Volume, kind workload.IOEngine, w workload.Workload, repetition int) (*crew, error) {
	base := time.Now()
	c := &crew{
		workload: w, ioEngine: kind,
		opened:  make(chan error, w.Threads()),
		release: make(chan struct{}),
		ended:   make(chan struct{}),
		// The cheapest clock there is: 27 ns, against 47 of time.Now.
		clock: func() int64 { return int64(time.Since(base)) },
	}
	for thread := range w.Threads() {
		if err := c.add(v, repetition, thread); err != nil {
			c.free()
			return nil, err
		}
	}
	return c, nil
}

func (c *crew) add(v *volume.Volume, repetition, thread int) error {
	file, err := v.Reopen(c.workload.Streams[0].Sync == workload.SyncWriteThrough)
	if err != nil {
		return err
	}
	c.files = append(c.files, file)
	buffers, err := ioengine.NewBuffers(c.workload.Streams[0].QueueDepth, int(c.workload.Streams[0].BlockSizeBytes))
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	data := prng.New(c.workload.Seed, int64(repetition), int64(thread), dataSeed)
	data.Fill(buffers.Memory)
	g := newGenerator(c.workload, repetition, thread, nil)
	if c.workload.Streams[0].SharedOffset {
		g.shared = &c.shared.offset
	}
	w := newWorker(c.workload, g, &c.shared, buffers)
	w.clock = c.clock
	c.workers = append(c.workers, w)
	return nil
}

// dataSeed keeps the data apart from the offsets.
const dataSeed = 0x64617461

// free gives back what add took, once no I/O is in flight.
func (c *crew) free() {
	for _, w := range c.workers {
		_ = w.buffers.Free()
	}
	for _, f := range c.files {
		_ = f.Close()
	}
}

// measure runs the workers through warm-up and window. Errors are *report.Failure.
func (c *crew) measure(ctx context.Context) (*measured, error) {
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	runtime.GOMAXPROCS(max(procs, c.workload.Threads()+spareProcs))

	openFailure := c.launch()
	runtime.GC() // the garbage of the preparation; none is made until the workers end
	begin := c.clock() + c.workload.Warmup.Std().Nanoseconds()
	bounds := window{begin: begin, end: begin + c.workload.Duration.Std().Nanoseconds(), interval: c.interval.Nanoseconds()}
	for _, w := range c.workers {
		w.start(bounds)
	}
	if openFailure != nil {
		c.shared.stop.Store(true)
	}
	close(c.release)

	cpu, drained := c.watch(ctx, bounds)
	if !drained {
		// The kernel still writes to the buffers and reads the files: they stay.
		return nil, report.Failf(report.ReasonInterrupted, "told to stop; I/O was still in flight %s later", drainGrace)
	}
	defer c.free()
	if err := c.failure(ctx, openFailure); err != nil {
		return nil, err
	}
	return c.collect(cpu)
}

// launch starts a thread for each worker and waits until all have their engine, or could not.
func (c *crew) launch() *report.Failure {
	var running sync.WaitGroup
	for i, w := range c.workers {
		running.Go(func() {
			// The thread is never unlocked: it ends with the goroutine, and with it what it
			// registered with the kernel.
			runtime.LockOSThread()
			c.work(w, int(c.files[i].Fd()))
		})
	}
	go func() {
		running.Wait()
		close(c.ended)
	}()
	var failure *report.Failure
	for range c.workers {
		if err := <-c.opened; err != nil {
			failure = report.Failf(report.ReasonIOEngineUnavailable, "ioEngine %s: %v", c.ioEngine, err)
		}
	}
	return failure
}

// work is the life of a worker's thread.
func (c *crew) work(w *worker, fd int) {
	config := ioengine.Config{Files: []int{fd}, Depth: c.workload.Streams[0].QueueDepth, BlockSize: w.blockSize, Buffers: w.buffers}
	engine, err := ioengine.Open(c.ioEngine, config)
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

// watch waits for the workers' end, reports progress and passes on the order to stop. It returns
// the processor time of the window, and false if I/O is still in flight long after that order.
func (c *crew) watch(ctx context.Context, bounds window) (report.CPU, bool) {
	start := c.clock()
	ticks := time.NewTicker(progressInterval)
	defer ticks.Stop()
	begin := time.After(time.Duration(bounds.begin - start))
	end := time.After(time.Duration(bounds.end - start))
	interrupted := ctx.Done()
	var grace <-chan time.Time
	before := usage(unix.RUSAGE_SELF)
	var after *report.CPU
	for {
		select {
		case <-begin:
			before = usage(unix.RUSAGE_SELF)
		case <-end:
			u := usage(unix.RUSAGE_SELF)
			after = &u
		case <-ticks.C:
			c.progress(c.completed(), time.Duration(c.clock()-start))
		case <-interrupted:
			c.shared.stop.Store(true)
			interrupted, grace = nil, time.After(drainGrace)
		case <-grace:
			return report.CPU{}, false
		case <-c.ended:
			if after == nil {
				u := usage(unix.RUSAGE_SELF)
				after = &u
			}
			return report.CPU{UserNanos: after.UserNanos - before.UserNanos, SystemNanos: after.SystemNanos - before.SystemNanos}, true
		}
	}
}

func (c *crew) completed() int64 {
	sum := int64(0)
	for _, w := range c.workers {
		sum += w.completed.Load()
	}
	return sum
}

// failure is the first reason not to use the figures.
func (c *crew) failure(ctx context.Context, openFailure *report.Failure) error {
	if openFailure != nil {
		return openFailure
	}
	for _, w := range c.workers {
		if w.failure != nil {
			return w.failure
		}
	}
	if ctx.Err() != nil {
		return report.Failf(report.ReasonInterrupted, "told to stop while measuring %s", c.workload.Name)
	}
	return nil
}

// collect merges the workers' figures.
func (c *crew) collect(cpu report.CPU) (*measured, error) {
	m := &measured{cpu: cpu, series: make([]int64, len(c.workers[0].series))}
	if c.workload.Reads() {
		m.reads = histogram.New()
	}
	if c.workload.Writes() {
		m.writes = histogram.New()
	}
	for _, w := range c.workers {
		merge(m.reads, w.reads)
		merge(m.writes, w.writes)
		for i, n := range w.series {
			m.series[i] += n
		}
		m.cpu.BusiestWorkerPercent = max(m.cpu.BusiestWorkerPercent, busyPercent(w.cpuBegin, w.cpuEnd))
	}
	if count(m.reads)+count(m.writes) == 0 {
		return nil, report.Failf(report.ReasonNoOperations, "%s: no I/O completed in the window of %s: "+
			"the volume hangs, or is too slow for so short a duration", c.workload.Name, c.workload.Duration)
	}
	return m, nil
}

func merge(into, from *histogram.Histogram) {
	if from != nil {
		into.Merge(from)
	}
}

func count(h *histogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.Count()
}
