// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine is a load generator with direct I/O for disks. It lays out a file of random data,
// keeps a queue of reads and writes full for a fixed time, and reports what completed and how long
// each took. It knows nothing of Kubernetes.
package engine

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

// Options are what a run needs beside its plan.
type Options struct {
	// Version is written into the report.
	Version string
	// Prepared says that Prepare has laid out the same plan's target.
	Prepared bool
	// Progress, where set, is told what goes on, about once a second, one call at a time.
	Progress func(Event)
}

// Phase is what the engine does.
type Phase string

// The phases of a run.
const (
	// Preparing writes the file.
	Preparing Phase = "Preparing"
	// Measuring runs the load, with its warm-up.
	Measuring Phase = "Measuring"
)

// Event is progress.
type Event struct {
	Phase Phase `json:"phase"`
	// BytesDone and BytesTotal are there while Preparing.
	BytesDone  int64 `json:"bytesDone,omitempty"`
	BytesTotal int64 `json:"bytesTotal,omitempty"`
	// Workload and the rest are there while Measuring. Repetition counts from 1.
	Workload    string `json:"workload,omitempty"`
	Repetition  int    `json:"repetition,omitempty"`
	Repetitions int    `json:"repetitions,omitempty"`
	// ElapsedSeconds of TotalSeconds, both with the warm-up.
	ElapsedSeconds float64 `json:"elapsedSeconds,omitempty"`
	TotalSeconds   float64 `json:"totalSeconds,omitempty"`
	// IOPS since the previous event.
	IOPS float64 `json:"iops,omitempty"`
}

// Prepare lays out the target of the plan and leaves it for a Run with Prepared. After an error,
// always a *report.Failure, nothing is left.
func Prepare(ctx context.Context, plan workload.Plan, options Options) error {
	s, err := prepare(ctx, plan, options, named)
	if err != nil {
		return err
	}
	return s.volume.Keep()
}

// Run lays out the target, unless that is done, and measures the plan's workloads one after
// another. However it ends, even killed, the file is gone. The error is a *report.Failure.
func Run(ctx context.Context, plan workload.Plan, options Options) (*report.Report, error) {
	var s *session
	var err error
	if options.Prepared {
		s, err = resume(plan)
	} else {
		s, err = prepare(ctx, plan, options, nameless)
	}
	if err != nil {
		return nil, err
	}
	defer s.volume.Discard()
	return s.measure(ctx, plan, options)
}

// garbageLimit is far above what the engine needs beside the I/O buffers, which are not Go's.
const garbageLimit = 128 << 20

// session is a target that is ready to be measured.
type session struct {
	volume    *volume.Volume
	workloads []workload.Workload
	ioEngine  workload.IOEngine
	fallbacks []report.Fallback
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
	return open(plan, func(s *session) error {
		if err := s.volume.Create(plan.OverwriteDevice); err != nil {
			return err
		}
		if file == nameless {
			if err := s.volume.Unlink(); err != nil {
				return err
			}
		}
		if err := s.volume.ProveDirectIO(); err != nil {
			return err
		}
		size, err := s.fit(plan.Workloads, false)
		if err != nil {
			return err
		}
		if err := s.volume.Allocate(size); err != nil {
			return err
		}
		// Before the long part, so that an I/O engine that does not work shows at once.
		if err := s.choose(plan.IOEngine); err != nil {
			return err
		}
		return s.volume.Fill(ctx, size, plan.Workloads[0].Seed, preparing(options.Progress, size))
	})
}

// resume opens what Prepare left, and takes its name away.
func resume(plan workload.Plan) (*session, error) {
	return open(plan, func(s *session) error {
		if err := s.volume.OpenPrepared(); err != nil {
			return err
		}
		if err := s.volume.Unlink(); err != nil {
			return err
		}
		if err := s.volume.ProveDirectIO(); err != nil {
			return err
		}
		if _, err := s.fit(plan.Workloads, true); err != nil {
			return err
		}
		return s.choose(plan.IOEngine)
	})
}

// open opens the target, makes it ready, and leaves nothing of it after an error.
func open(plan workload.Plan, makeReady func(*session) error) (*session, error) {
	if err := plan.Validate(); err != nil {
		return nil, report.Failf(report.ReasonInvalidPlan, "%v", err)
	}
	if failure := notYet(plan); failure != nil {
		return nil, failure
	}
	v, err := volume.Open(plan.Target, plan.Sets[0][0])
	if err != nil {
		return nil, err
	}
	s := &session{volume: v}
	if err := makeReady(s); err != nil {
		v.Discard()
		return nil, err
	}
	return s, nil
}

// notYet refuses what a plan can ask for and the engine does not do.
func notYet(p workload.Plan) *report.Failure {
	single := p.Target != workload.NullDevice && len(p.Sets) == 1 && len(p.Sets[0]) == 1
	for _, w := range p.Workloads {
		s := w.Streams[0]
		single = single && len(w.Streams) == 1 && !w.OwnFile() && !w.Buffered() && !w.Verify && !w.Drain && w.Operations == 0 &&
			s.RandomPercent == 0 && s.RateLimitIOPS == 0 && s.Range == workload.Whole &&
			s.Distribution.Type == workload.Uniform && !s.Flushes()
	}
	if single {
		return nil
	}
	return report.Failf(report.ReasonInvalidPlan, "the plan asks for what this engine does not do")
}

func (s *session) fit(ws []workload.Workload, prepared bool) (int64, error) {
	room, err := s.volume.Room(prepared)
	if err != nil {
		return 0, err
	}
	var size int64
	s.workloads, size, err = volume.Fit(ws, room)
	return size, err
}

// choose finds the I/O engine for all workloads together: results that are to be compared come
// from the same one.
func (s *session) choose(asked workload.IOEngine) error {
	// The kernel may hold on to a file that a ring used for some time after both were closed. If
	// that were the one that claims a device, the next run would find the device in use.
	file, err := s.volume.Reopen(false)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written through it
	need := ioengine.Need{FD: int(file.Fd())}
	for _, w := range s.workloads {
		stream := w.Streams[0]
		need.Threads, need.Depth = max(need.Threads, stream.Threads), max(need.Depth, stream.QueueDepth)
		need.BlockSize = max(need.BlockSize, int(stream.BlockSizeBytes))
	}
	s.ioEngine, s.fallbacks, err = ioengine.Select(asked, need)
	return err
}

func (s *session) measure(ctx context.Context, plan workload.Plan, options Options) (*report.Report, error) {
	// Collecting garbage while measuring costs IOPS and triples p99; each window collects before.
	// The limit is for windows of many hours, in which progress adds up.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(garbageLimit))
	result := &report.Report{
		EngineVersion: options.Version,
		IOEngine:      s.ioEngine,
		Fallbacks:     s.fallbacks,
		DirectIO:      true,
		Kernel:        kernelRelease(),
		Target:        s.volume.Info(),
	}
	for _, w := range s.workloads {
		r, err := s.measureWorkload(ctx, w, plan.Repetitions, options.Progress)
		if err != nil {
			return nil, err
		}
		result.Workloads = append(result.Workloads, r)
	}
	return result, nil
}

func (s *session) measureWorkload(ctx context.Context, w workload.Workload, repetitions int, progress func(Event)) (report.Workload, error) {
	interval := seriesInterval(w.Duration.Std(), repetitions)
	var results []*measured
	for i := range repetitions {
		c, err := newCrew(s.volume, s.ioEngine, w, i)
		if err != nil {
			return report.Workload{}, err
		}
		c.interval = interval
		c.progress = measuring(progress, w, i+1, repetitions)
		m, err := c.measure(ctx)
		if err != nil {
			return report.Workload{}, err
		}
		results = append(results, m)
	}
	return summary(w, interval, results), nil
}

// preparing reports the bytes written, once a second.
func preparing(progress func(Event), total int64) func(done int64) {
	if progress == nil {
		return func(int64) {}
	}
	limit := newLimiter(progressInterval)
	return func(done int64) {
		limit.do(done == total, func() {
			progress(Event{Phase: Preparing, BytesDone: done, BytesTotal: total})
		})
	}
}

// measuring reports the rate since its last call.
func measuring(progress func(Event), w workload.Workload, repetition, repetitions int) func(int64, time.Duration) {
	if progress == nil {
		return func(int64, time.Duration) {}
	}
	var before int64
	var at time.Duration
	return func(completed int64, elapsed time.Duration) {
		progress(Event{
			Phase: Measuring, Workload: w.Name, Repetition: repetition, Repetitions: repetitions,
			ElapsedSeconds: elapsed.Seconds(),
			TotalSeconds:   (w.Warmup.Std() + w.Duration.Std()).Seconds(),
			IOPS:           report.PerSecond(completed-before, int64(elapsed-at)),
		})
		before, at = completed, elapsed
	}
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// AsFailure gives the failure that err is; an error of another kind, which would be a mistake of
// the engine, becomes an internal one.
func AsFailure(err error) *report.Failure {
	if f := (*report.Failure)(nil); errors.As(err, &f) {
		return f
	}
	return report.Failf(report.ReasonInternal, "%v", err)
}
