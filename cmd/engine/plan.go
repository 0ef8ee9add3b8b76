// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// planFlags are the two ways to say what to do: a whole plan, or a flag for each field.
type planFlags struct {
	plan, messagePath string

	path, name      string
	presets         []string
	ioEngine        choice[workload.IOEngine]
	repetitions     int
	overwriteDevice bool
	override        workload.Override
}

// alongsidePlan are the flags that go with --plan, which says everything else.
var alongsidePlan = map[string]bool{"plan": true, "prepared": true, "termination-message-path": true, "output": true}

func (f *planFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.plan, "plan", "", "a whole plan as JSON, in place of the flags for its fields")
	flags.StringVar(&f.messagePath, "termination-message-path", defaultMessagePath, "with --plan: file for the compact result")
	flags.StringVar(&f.path, "path", "", "directory, or block device to overwrite")
	flags.StringSliceVar(&f.presets, "preset", nil, "preset, may be repeated: "+strings.Join(workload.Presets(), ", "))
	flags.StringVar(&f.name, "name", "", "name of the workload in the result")
	f.ioEngine = choice[workload.IOEngine]{value: workload.Auto, spellings: ioEngines}
	flags.Var(&f.ioEngine, "io-engine", "kernel interface: "+f.ioEngine.names())
	flags.IntVar(&f.repetitions, "repetitions", 1, "how often each workload is measured")
	flags.BoolVar(&f.overwriteDevice, "overwrite-device", false, "overwrite a block device that carries a filesystem or partitions")

	o := &f.override
	flags.Var(&optional[workload.Pattern]{&o.Stream.Pattern, spelled(patterns), "random|sequential"}, "pattern", "order of offsets")
	flags.Var(&optional[int]{&o.Stream.ReadPercent, wholeNumber, "percent"}, "read-percent", "share of reads, 0 to 100")
	flags.Var(&optional[int64]{&o.Stream.BlockSizeBytes, bytesize.Parse, "size"}, "block-size", "size of each I/O, such as 4Ki")
	flags.Var(&optional[int]{&o.Stream.Threads, wholeNumber, "int"}, "threads", "threads that issue I/O")
	flags.Var(&optional[int]{&o.Stream.QueueDepth, wholeNumber, "int"}, "queue-depth", "outstanding I/Os of each thread")
	flags.Var(&optional[bool]{&o.Stream.SharedOffset, spelled(sequentialOffsets), "shared|per-thread"}, "sequential-offset",
		"whether the threads of a sequential workload share one offset")
	flags.Var(&optional[workload.SyncMode]{&o.Stream.Sync, spelled(syncModes), "none|write-through"}, "sync", "how far a write has to get")
	flags.Var(&optional[int64]{&o.FileSizeBytes, bytesize.Parse, "size"}, "file-size", "size of the file, such as 4Gi")
	flags.Var(&optional[workload.Duration]{&o.Warmup, parseDuration, "duration"}, "warmup", "load before the window, such as 3s")
	flags.Var(&optional[workload.Duration]{&o.Duration, parseDuration, "duration"}, "duration", "length of the window, such as 60s")
	flags.Var(&optional[int64]{&o.Seed, parseSeed, "int"}, "seed", "start of the random offsets and data")
}

func (f *planFlags) inPod() bool { return f.plan != "" }

// build makes the plan. Its errors name the flag, or the field of the plan.
func (f *planFlags) build(c *cobra.Command) (workload.Plan, error) {
	if f.inPod() {
		return f.parsePlan(c)
	}
	p, err := f.assemble()
	if err != nil {
		return p, invalid(err)
	}
	return p, nil
}

func (f *planFlags) parsePlan(c *cobra.Command) (workload.Plan, error) {
	for _, flag := range changed(c) {
		if !alongsidePlan[flag] {
			return workload.Plan{}, invalid(fmt.Errorf("--%s with --plan, which says that already: leave one out", flag))
		}
	}
	var p workload.Plan
	d := json.NewDecoder(bytes.NewReader([]byte(f.plan)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, invalid(fmt.Errorf("--plan: %w", err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, invalid(errors.New("--plan: something follows the plan: give one JSON object alone"))
	}
	return p, nil
}

func (f *planFlags) assemble() (workload.Plan, error) {
	p := workload.Plan{IOEngine: f.ioEngine.value, Repetitions: f.repetitions, OverwriteDevice: f.overwriteDevice}
	path, target, err := detect(f.path)
	if err != nil {
		return p, err
	}
	p.Target, p.Sets = target, [][]string{{path}}
	if len(f.presets) == 0 {
		name := f.name
		if name == "" {
			name = "custom"
		}
		p.Workloads, err = workload.Resolve("", name, f.override)
		if err != nil {
			return p, fmt.Errorf("%w: give --preset, or --pattern, --read-percent and --block-size", err)
		}
		return p, nil
	}
	for _, preset := range f.presets {
		ws, err := workload.Resolve(preset, f.name, f.override)
		if err != nil {
			return p, err
		}
		p.Workloads = append(p.Workloads, ws...)
	}
	return p, nil
}

// detect tells a directory from a block device.
func detect(path string) (string, workload.TargetKind, error) {
	if path == "" {
		return "", "", errors.New("--path is missing: give a directory on the disk to measure, or a block device")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", "", fmt.Errorf("--path %s: %w", path, err)
	}
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, os.ErrPermission):
		return "", "", report.Failf(report.ReasonPermissionDenied, "--path %s: permission denied to uid %d", path, os.Getuid())
	case err != nil:
		return "", "", report.Failf(report.ReasonTargetNotFound, "--path %s: %v: give an existing directory or block device", path, err)
	case info.IsDir():
		return absolute, workload.Directory, nil
	case info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0:
		return absolute, workload.BlockDevice, nil
	default:
		return "", "", report.Failf(report.ReasonTargetNotFound, "--path %s is neither a directory nor a block device", path)
	}
}

// invalid leaves a failure as it is, and makes one of any other error.
func invalid(err error) error {
	if failure := (*report.Failure)(nil); errors.As(err, &failure) {
		return failure
	}
	return report.Failf(report.ReasonInvalidPlan, "%v", err)
}

func parseDuration(s string) (workload.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New("write a number with a unit, such as 60s or 1m30s")
	}
	return workload.Duration(d), nil
}

func wholeNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, errors.New("write a whole number, such as 4")
	}
	return n, nil
}

func parseSeed(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, errors.New("write a whole number below 2^63")
	}
	return n, nil
}
