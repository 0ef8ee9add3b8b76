// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package ioengine

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// preference is the order of Auto: the fastest first.
var preference = []workload.IOEngine{workload.IOUring, workload.LibAIO, workload.Sync}

// Need is what the engines of a run have to be able to do at once.
type Need struct {
	// FD is the target, open with O_DIRECT and with at least BlockSize bytes in it, or none.
	FD int
	// BlockSize is the size of a trial read, in bytes.
	BlockSize int
	// Threads and Depth are the most of any workload.
	Threads, Depth int
}

// Select gives the engine to use: the one asked for if it works on the target, and for Auto the
// first of io_uring, libaio and sync that does, with the reasons against those before it. Sync is
// no substitute when more than one I/O per thread is asked for: that would be another measurement.
// The error is a *report.Failure.
func Select(asked workload.IOEngine, need Need) (workload.IOEngine, []report.Fallback, error) {
	if asked != workload.Auto {
		if err := Probe(asked, need); err != nil {
			return "", nil, report.Failf(report.ReasonIOEngineUnavailable,
				"ioEngine %s does not work here: %v: choose another or %s", asked, err, workload.Auto)
		}
		return asked, nil, nil
	}
	var passed []report.Fallback
	for _, kind := range preference {
		err := Probe(kind, need)
		if err == nil {
			return kind, passed, nil
		}
		passed = append(passed, report.Fallback{IOEngine: kind, Reason: err.Error()})
	}
	return "", nil, report.Failf(report.ReasonIOEngineUnavailable, "no ioEngine works here: %s", list(passed))
}

func list(passed []report.Fallback) string {
	var parts []string
	for _, f := range passed {
		parts = append(parts, fmt.Sprintf("%s: %s", f.IOEngine, f.Reason))
	}
	return strings.Join(parts, "; ")
}

// Probe opens as many engines as the run needs at once, since the kernel's limits count them all,
// and makes each read a block. The error is the kernel's answer.
func Probe(kind workload.IOEngine, need Need) error {
	if kind == workload.Sync && need.Depth > 1 {
		return fmt.Errorf("keeps one I/O outstanding for each thread, %d are asked for", need.Depth)
	}
	result := make(chan error, 1)
	go func() {
		// The thread ends with this goroutine, and takes its registrations with the kernel along.
		runtime.LockOSThread()
		result <- probe(kind, need)
	}()
	return <-result
}

func probe(kind workload.IOEngine, need Need) error {
	buffers, err := NewBuffers(need.Depth, need.BlockSize)
	if err != nil {
		return err
	}
	engines := make([]Engine, 0, need.Threads)
	for range need.Threads {
		e, openErr := Open(kind, Config{Files: []int{need.FD}, Depth: need.Depth, BlockSize: need.BlockSize, Buffers: buffers})
		if err = openErr; err != nil {
			break
		}
		engines = append(engines, e)
		if err = readOnce(e, need.BlockSize); err != nil {
			break
		}
	}
	for _, e := range engines {
		err = errors.Join(err, e.Close())
	}
	return errors.Join(err, buffers.Free())
}

func readOnce(e Engine, size int) error {
	var done [1]Completion
	n, err := e.Exchange([]Request{{}}, done[:], MaxWait)
	for n == 0 && err == nil {
		n, err = e.Exchange(nil, done[:], MaxWait)
	}
	switch {
	case err != nil:
		return err
	case done[0].Result < 0:
		return fmt.Errorf("trial read of %d bytes: %w", size, syscall.Errno(-done[0].Result))
	case done[0].Result != 0 && int(done[0].Result) != size: // an empty file gives nothing
		return fmt.Errorf("trial read of %d bytes gave %d", size, done[0].Result)
	}
	return nil
}
