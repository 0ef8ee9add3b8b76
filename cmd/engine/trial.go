// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

// A trial is made with the threads and the depth of the presets that ask for most at once, since the
// kernel's limits count all that is in use together.
const (
	trialThreads = 4
	trialDepth   = 32
)

// trialBytes is a multiple of every logical sector.
const trialBytes = 64 << 10

// trial is how an I/O engine did on the target.
type trial struct {
	IOEngine string `json:"ioEngine"`
	Works    bool   `json:"works"`
	// Reason is the kernel's answer where it does not.
	Reason string `json:"reason,omitempty"`
}

// tryTarget does what a run does before it writes, and gives the failure with which a run would end. In a
// directory it works in a new one of its own, so that what 'prepare' left stays. LogicalBlockBytes
// and the trials are there as far as it came.
func tryTarget(kind workload.TargetKind, path string) (sector int64, trials []trial, err error) {
	set, err := volume.OpenSet(kind, []string{path}, 0)
	if err != nil {
		return 0, nil, err
	}
	defer set.Discard()
	if kind == workload.BlockDevice {
		return trySet(kind, set)
	}
	own, err := os.MkdirTemp(path, ".diskbench-probe-")
	if err != nil {
		return 0, nil, refusedDirectory(path, err)
	}
	defer os.Remove(own) //nolint:errcheck // it is empty, and nothing could be done about it
	inner, err := volume.OpenSet(kind, []string{own}, 0)
	if err == nil {
		defer inner.Discard()
		sector, trials, err = trySet(kind, inner)
	}
	if err != nil { // which is about the directory, not about ours
		failure := engine.AsFailure(err)
		err = report.Failf(failure.Reason, "%s", strings.ReplaceAll(failure.Message, own, path))
	}
	return sector, trials, err
}

func trySet(kind workload.TargetKind, set *volume.Set) (sector int64, trials []trial, err error) {
	// A device that carries something is looked at all the same.
	refusal := set.Create(false)
	if refusal != nil && kind == workload.Directory {
		return 0, nil, refusal
	}
	if err := errors.Join(set.Unlink(), set.ProveDirectIO()); err != nil {
		return 0, nil, err
	}
	if err := set.Allocate(trialBytes); err != nil {
		return 0, nil, err
	}
	trials, err = tryEngines(set)
	return set.Info().LogicalBlockBytes, trials, errors.Join(refusal, err)
}

// refusedDirectory is a directory's refusal of a new entry.
func refusedDirectory(path string, err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	reason, advice := report.ReasonIOError, "see the kernel's log"
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		reason = report.ReasonPermissionDenied
		advice = fmt.Sprintf("the engine runs as uid %d, gid %d and has to be able to write there", os.Getuid(), os.Getgid())
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		reason, advice = report.ReasonNoSpace, "make room"
	}
	return report.Failf(reason, "cannot write in %s: %v: %s", path, err, advice)
}

// tryEngines makes each I/O engine read from the target, in Auto's order of preference. The failure
// is that none of them works.
func tryEngines(set *volume.Set) ([]trial, error) {
	files, err := set.Open(volume.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer files[0].Close() //nolint:errcheck // nothing of value was written
	var trials []trial
	var reasons []string
	for _, e := range []workload.IOEngine{workload.IOUring, workload.LibAIO, workload.Sync} {
		need := ioengine.Need{FD: int(files[0].Fd()), BlockSize: trialBytes, Threads: trialThreads, Depth: trialDepth}
		if e == workload.Sync {
			need.Depth = 1
		}
		t := trial{IOEngine: spell(ioEngines, e), Works: true}
		if err := ioengine.Probe(e, need); err != nil {
			t.Works, t.Reason = false, err.Error()
			reasons = append(reasons, t.IOEngine+": "+t.Reason)
		}
		trials = append(trials, t)
	}
	if len(reasons) == len(trials) {
		return trials, report.Failf(report.ReasonIOEngineUnavailable, "no I/O engine works on %s: %s", set.Describe(), strings.Join(reasons, "; "))
	}
	return trials, nil
}
