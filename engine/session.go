// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// garbageLimit is far above what the engine needs beside the I/O buffers, which are not Go's.
	garbageLimit = 128 << 20

	// spareProcs is for the goroutines beside the workers. The workers' waits are raw system calls,
	// which keep the scheduler's processor: without spare ones, tails of 20 to 40 ms appear.
	spareProcs = 2
)

// session is a target that is ready to be measured.
type session struct {
	plan workload.Plan
	sets []*volume.Set
	// workloads have their effective file sizes.
	workloads []workload.Workload
	ioEngine  workload.IOEngine
	fallbacks []report.Fallback
	// stuck says that I/O never came back: what the kernel still uses must stay.
	stuck bool
}

// naming says whether the file is one for a later process.
type naming bool

const (
	named naming = true
	// nameless files are freed by the kernel, however the process ends.
	nameless naming = false
)

// prepare lays out the target.
func prepare(ctx context.Context, plan workload.Plan, options Options, file naming) (*session, error) {
	return open(ctx, plan, func(s *session) error {
		for _, set := range s.sets {
			if err := create(set, plan.OverwriteDevice, file); err != nil {
				return err
			}
		}
		size, err := s.fit(false)
		if err != nil {
			return err
		}
		for _, set := range s.sets {
			if err := set.Allocate(size); err != nil {
				return err
			}
		}
		// Before the long part, so that an I/O engine that does not work shows at once.
		if err := s.choose(); err != nil {
			return err
		}
		return s.layOut(ctx, size, options)
	})
}

func create(set *volume.Set, overwriteDevice bool, file naming) error {
	if err := set.Create(overwriteDevice); err != nil {
		return err
	}
	if file == nameless {
		if err := set.Unlink(); err != nil {
			return err
		}
	}
	return set.ProveDirectIO()
}

// layOut writes the sets one after another.
func (s *session) layOut(ctx context.Context, size int64, options Options) error {
	fill := volume.FillOptions{Seed: s.plan.Workloads[0].Seed, Seal: s.plan.Verifies()}
	progress := preparing(options.Progress, size*int64(len(s.sets)))
	for i, set := range s.sets {
		before := size * int64(i)
		if err := set.Fill(ctx, size, fill, func(done int64) { progress(before + done) }); err != nil {
			return err
		}
	}
	return nil
}

// resume opens what Prepare left, and takes its name away.
func resume(ctx context.Context, plan workload.Plan) (*session, error) {
	return open(ctx, plan, func(s *session) error {
		for _, set := range s.sets {
			if err := set.OpenPrepared(); err != nil {
				return err
			}
			if err := set.AgreeOnSeals(s.plan.Verifies()); err != nil {
				return err
			}
			if err := set.Unlink(); err != nil {
				return err
			}
			if err := set.ProveDirectIO(); err != nil {
				return err
			}
		}
		if _, err := s.fit(true); err != nil {
			return err
		}
		return s.choose()
	})
}

// open opens the target, makes it ready, and leaves nothing of it after an error. Told to stop, it waits
// for a target that does not answer no longer than for I/O in flight.
func open(ctx context.Context, plan workload.Plan, makeReady func(*session) error) (*session, error) {
	if err := plan.Validate(); err != nil {
		return nil, report.Failf(report.ReasonInvalidPlan, "%v", err)
	}
	s := &session{plan: plan}
	var failure error
	ended, ok := answered(ctx, func() { failure = s.open(makeReady) })
	if !ok {
		go func() { // should the target answer after all
			<-ended
			s.discard()
		}()
		return nil, report.Failf(report.ReasonInterrupted,
			"told to stop while preparing; the target still did not answer %s later", drainGrace)
	}
	if failure != nil {
		s.discard()
		return nil, failure
	}
	return s, nil
}

// answered does what a target may never answer. Told to stop, it waits for the end no longer than for I/O in
// flight, and says false then: what is done goes on until ended is closed.
func answered(ctx context.Context, do func()) (ended <-chan struct{}, ok bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return done, true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return done, true
	case <-time.After(drainGrace):
		return done, false
	}
}

func (s *session) open(makeReady func(*session) error) error {
	for _, paths := range s.plan.Sets {
		set, err := volume.OpenSet(s.plan.Target, paths, s.plan.StripeSizeBytes)
		if err != nil {
			return err
		}
		s.sets = append(s.sets, set)
	}
	return makeReady(s)
}

// keep leaves the files of all sets for a later process.
func (s *session) keep() error {
	if err := volume.Keep(s.sets...); err != nil {
		s.discard()
		return err
	}
	return nil
}

func (s *session) discard() {
	if s.stuck {
		return
	}
	for _, set := range s.sets {
		set.Discard()
	}
}

// fit finds file sizes with which all sets can be measured alike.
func (s *session) fit(prepared bool) (int64, error) {
	var room volume.Room
	var sector int64
	for i, set := range s.sets {
		r, err := set.Room(prepared)
		if err != nil {
			return 0, err
		}
		if i == 0 || r.Available < room.Available {
			room = r
		}
		sector = max(sector, r.Sector)
	}
	room.Sector = sector
	var size int64
	var err error
	s.workloads, size, err = volume.Fit(s.plan.Workloads, room)
	return size, err
}

// choose finds the I/O engine for all workloads with direct I/O together: results that are to be
// compared come from the same one.
func (s *session) choose() error {
	need := ioengine.Need{}
	for _, w := range s.workloads {
		if w.Buffered() {
			continue
		}
		need.Threads = max(need.Threads, w.Threads())
		for _, stream := range w.Streams {
			need.Depth = max(need.Depth, stream.QueueDepth)
			need.BlockSize = max(need.BlockSize, int(stream.BlockSizeBytes))
		}
	}
	if need.Threads == 0 {
		s.ioEngine = workload.Sync
		return nil
	}
	return s.probe(need)
}

func (s *session) probe(need ioengine.Need) error {
	// The kernel may hold on to a file that a ring used for some time after both were closed. If
	// that were the one that claims a device, the next run would find the device in use.
	files, err := s.sets[0].Open(volume.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			_ = f.Close() // nothing was written through it
		}
	}()
	need.FD = int(files[0].Fd())
	if stripe := int(s.plan.StripeSizeBytes); stripe > 0 && need.BlockSize > stripe {
		need.Depth, need.BlockSize = need.Depth*(need.BlockSize/stripe), stripe
	}
	s.ioEngine, s.fallbacks, err = ioengine.Select(s.plan.IOEngine, need)
	return err
}

// measure runs the workloads. The runtime's settings are put back only when no worker is stuck in a
// system call: setting them waits for every thread.
func (s *session) measure(ctx context.Context, options Options) (*report.Report, error) {
	restore := s.prepareRuntime()
	defer func() {
		if !s.stuck {
			restore()
		}
	}()
	result := &report.Report{
		EngineVersion: options.Version,
		IOEngine:      s.ioEngine,
		Fallbacks:     s.fallbacks,
		DirectIO:      s.plan.Target != workload.NullDevice,
		Kernel:        KernelRelease(),
		Target:        s.sets[0].Info(),
	}
	for _, w := range s.workloads {
		r, err := s.measureWorkload(ctx, w, options.Progress)
		if r != nil {
			result.Workloads = append(result.Workloads, *r)
		}
		if err != nil && len(result.Workloads) > 0 && AsFailure(err).Reason == report.ReasonInterrupted {
			return result, err
		}
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// prepareRuntime keeps garbage from being collected while measuring, which would cost IOPS and triple
// p99; each window collects before. The limit is for windows of many hours, in which progress adds up.
func (s *session) prepareRuntime() (restore func()) {
	threads := 0
	for _, w := range s.workloads {
		threads = max(threads, w.Threads())
	}
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(procs, threads+spareProcs))
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(garbageLimit)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// measureWorkload gives the workload's result, and for one that was interrupted that of the
// repetitions so far beside the error.
func (s *session) measureWorkload(ctx context.Context, w workload.Workload, progress func(Event)) (*report.Workload, error) {
	probed, err := s.probeLatency(ctx, w, progress)
	if err != nil {
		return nil, err
	}
	var results []*measured
	for i := range s.plan.Repetitions {
		m, err := s.measureOnce(ctx, w, i, progress)
		if m != nil && !m.empty() {
			results = append(results, m)
		}
		if err != nil && len(results) == 0 {
			return nil, err
		}
		if err != nil {
			partial := summary(w, results)
			partial.ProbeMeanNanos = probed
			return &partial, err
		}
	}
	r := summary(w, results)
	r.ProbeMeanNanos = probed
	return &r, nil
}

// probeLatency gives the mean latency of one outstanding I/O; nil where none is asked for.
func (s *session) probeLatency(ctx context.Context, w workload.Workload, progress func(Event)) (*int64, error) {
	if w.Probe == 0 {
		return nil, nil
	}
	probe := w
	stream := w.Streams[0]
	stream.Threads, stream.QueueDepth, stream.RateLimitIOPS = 1, 1, 0
	probe.Streams, probe.Operations, probe.Drain = []workload.Stream{stream}, 0, false
	probe.Warmup, probe.Duration = 0, w.Probe
	m, err := s.measureOnce(ctx, probe, 0, progress)
	if err != nil {
		return nil, err
	}
	mean := summary(probe, []*measured{m}).Total.Latency.MeanNanos
	return &mean, nil
}

func (s *session) measureOnce(ctx context.Context, w workload.Workload, repetition int, progress func(Event)) (*measured, error) {
	set := s.sets[s.plan.Set(repetition)]
	var c *crew
	var err error
	_, ok := answered(ctx, func() {
		c, err = newCrew(assignment{
			workload: w, repetition: repetition, set: set, stripe: s.plan.StripeSizeBytes,
			sector: set.Info().LogicalBlockBytes, sealed: s.plan.Verifies(), ioEngine: s.ioEngine, drain: defaultDrain,
			progress: measuring(progress, w, repetition+1, s.plan.Repetitions),
		})
	})
	if !ok {
		s.stuck = true
		return nil, report.Failf(report.ReasonInterrupted,
			"told to stop while opening the target; it still did not answer %s later", drainGrace)
	}
	if err != nil {
		return nil, err
	}
	m, stuck, err := c.measure(ctx)
	s.stuck = s.stuck || stuck
	return m, err
}
