// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine is a load generator with direct I/O for disks. It lays out a file of random data,
// keeps a queue of reads and writes full, or keeps to a rate, for a fixed time, and reports what
// completed and how long each took. It knows nothing of Kubernetes.
package engine

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
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
	// Draining goes on with the load after the window until burst credits are used up.
	Draining Phase = "Draining"
)

// Event is progress.
type Event struct {
	Phase Phase `json:"phase"`
	// BytesDone and BytesTotal are there while Preparing.
	BytesDone  int64 `json:"bytesDone,omitempty"`
	BytesTotal int64 `json:"bytesTotal,omitempty"`
	// Workload and the rest are there while Measuring and Draining. Repetition counts from 1.
	Workload    string `json:"workload,omitempty"`
	Repetition  int    `json:"repetition,omitempty"`
	Repetitions int    `json:"repetitions,omitempty"`
	// ElapsedSeconds of TotalSeconds, both with the warm-up. Draining has no total: it ends when the
	// level has fallen.
	ElapsedSeconds float64 `json:"elapsedSeconds,omitempty"`
	TotalSeconds   float64 `json:"totalSeconds,omitempty"`
	// IOPS, BytesPerSecond and the mean latency in microseconds are those since the previous event.
	IOPS           float64 `json:"iops,omitempty"`
	BytesPerSecond float64 `json:"bytesPerSecond,omitempty"`
	MeanMicros     float64 `json:"meanMicros,omitempty"`
}

// Prepare lays out the plan's target and leaves it for a later Run with Options.Prepared. The error
// is a *report.Failure, and then nothing is left.
func Prepare(ctx context.Context, plan workload.Plan, options Options) error {
	s, err := prepare(ctx, plan, options, named)
	if err != nil {
		return err
	}
	return s.keep()
}

// Run lays out the target, unless that is done, and measures the plan's workloads one after
// another. However it ends, even killed, the file is gone. The error is a *report.Failure. A run that
// was told to stop gives, beside the failure, a report of what it has measured so far, if anything.
func Run(ctx context.Context, plan workload.Plan, options Options) (*report.Report, error) {
	var s *session
	var err error
	if options.Prepared {
		s, err = resume(ctx, plan)
	} else {
		s, err = prepare(ctx, plan, options, nameless)
	}
	if err != nil {
		return nil, err
	}
	defer s.discard()
	return s.measure(ctx, options)
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

// measuring reports the rates since its last call.
func measuring(progress func(Event), w workload.Workload, repetition, repetitions int) func(tick) {
	if progress == nil {
		return func(tick) {}
	}
	var before tick
	return func(now tick) {
		e := Event{
			Phase: Measuring, Workload: w.Name, Repetition: repetition, Repetitions: repetitions,
			ElapsedSeconds: now.elapsed.Seconds(), TotalSeconds: (w.Warmup.Std() + w.Duration.Std()).Seconds(),
			IOPS:           report.PerSecond(now.operations-before.operations, int64(now.elapsed-before.elapsed)),
			BytesPerSecond: report.PerSecond(now.bytes-before.bytes, int64(now.elapsed-before.elapsed)),
		}
		if n := now.operations - before.operations; n > 0 {
			e.MeanMicros = float64(now.waited-before.waited) / float64(n) / float64(time.Microsecond)
		}
		if now.draining {
			e.Phase, e.TotalSeconds = Draining, 0
		}
		progress(e)
		before = now
	}
}

// KernelRelease is what uname -r prints, empty where it is not known.
func KernelRelease() string {
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
