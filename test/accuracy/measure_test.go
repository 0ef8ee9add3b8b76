// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// order is what a measuring process is to do.
type order struct {
	Plan workload.Plan
	// Group is the control group to join, empty for none.
	Group string
}

// answer is a line of its output: progress, or at the end a report, a failure or both.
type answer struct {
	Event   *engine.Event
	Report  *report.Report
	Failure *report.Failure
}

// measureAsChild carries out the order on standard input.
func measureAsChild() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	if o.Group != "" {
		if err := joinGroup(o.Group); err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	r, err := engine.Run(context.Background(), o.Plan, engine.Options{
		Prepared: true, Progress: func(e engine.Event) { _ = out.Encode(answer{Event: &e}) },
	})
	last := answer{Report: r}
	if err != nil {
		last.Failure = engine.AsFailure(err)
	}
	return out.Encode(last)
}

// prepare lays out the plan's target, in this process, which no control group holds back.
func prepare(t *testing.T, p workload.Plan) {
	t.Helper()
	if err := engine.Prepare(context.Background(), p, engine.Options{}); err != nil {
		t.Fatal(err)
	}
}

// try measures a prepared plan in a process of its own, as a member of the control group if there is
// one, and tells progress.
func try(t *testing.T, o order, progress func(engine.Event)) (*report.Report, *report.Failure) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVariable+"="+engineRole)
	c.Stderr = os.Stderr
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut, c.Start()); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(json.NewEncoder(in).Encode(o), in.Close())
	last, readErr := lastAnswer(out, progress)
	if err := errors.Join(err, readErr, c.Wait()); err != nil {
		t.Fatalf("the measuring process: %v", err)
	}
	return last.Report, last.Failure
}

func lastAnswer(from io.Reader, progress func(engine.Event)) (answer, error) {
	var last answer
	decoder := json.NewDecoder(bufio.NewReader(from))
	for {
		var a answer
		err := decoder.Decode(&a)
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		if a.Event != nil && progress != nil {
			progress(*a.Event)
		}
		last = a
	}
}

// measure is try for a plan that must succeed.
func measure(t *testing.T, o order) *report.Report {
	t.Helper()
	r, failure := try(t, o, nil)
	if failure != nil {
		t.Fatal(failure)
	}
	return r
}

// prepareAndMeasure lays out the plan's target and measures it.
func prepareAndMeasure(t *testing.T, o order) *report.Report {
	t.Helper()
	prepare(t, o.Plan)
	return measure(t, o)
}

// plan is one of a raw device, for libaio: every kernel and container has it.
func plan(device string, ws ...workload.Workload) workload.Plan {
	return workload.Plan{
		Target: workload.BlockDevice, Sets: [][]string{{device}}, IOEngine: workload.LibAIO, Repetitions: 1,
		OverwriteDevice: true, Workloads: ws,
	}
}

// directoryPlan is one of a directory.
func directoryPlan(dir string, ws ...workload.Workload) workload.Plan {
	p := plan(dir, ws...)
	p.Target, p.OverwriteDevice = workload.Directory, false
	return p
}

// load is a workload of one stream of random reads.
func load(name string, block int64, depth int, size int64, seconds float64) workload.Workload {
	return workload.Workload{
		Name: name, FileSizeBytes: size, Layout: workload.Written, DirectIO: workload.DirectRequired, Seed: 1,
		Streams: []workload.Stream{{
			Pattern: workload.Random, ReadPercent: 100, BlockSizeBytes: block, Threads: 1, QueueDepth: depth,
			Range: workload.Whole, Distribution: workload.Distribution{Type: workload.Uniform}, Sync: workload.SyncNone,
		}},
		Warmup: workload.Seconds(1), Duration: workload.Duration(time.Duration(seconds * float64(time.Second))),
	}
}

// outstanding is the number of I/Os in flight that follows from rate and latency.
func outstanding(f *report.Figures) float64 {
	return f.IOPS * float64(f.Latency.MeanNanos) / 1e9
}

// sizeName is 4Ki for 4096.
func sizeName(bytes int64) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%dMi", bytes>>20)
	}
	return fmt.Sprintf("%dKi", bytes>>10)
}
