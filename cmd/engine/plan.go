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
	"strings"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// defaultStripeSizeBytes is what Microsoft advises for transactional loads on striped data disks.
const defaultStripeSizeBytes = 64 << 10

// planFlags are the two ways to say what to do: a whole plan, or a flag for each field.
type planFlags struct {
	plan            string
	paths           []string
	stripeSize      *int64
	name            string
	presets         []string
	ioEngine        choice[workload.IOEngine]
	repetitions     int
	overwriteDevice bool
	override        workload.Override
}

// alongsidePlan are the flags that go with --plan, which says everything else.
var alongsidePlan = map[string]bool{
	"plan": true, "prepared": true, "termination-message-path": true, "output": true, "explain": true,
}

// groups registers the flags, in the groups of the help.
func (f *planFlags) groups() []flagGroup {
	return []flagGroup{f.targetGroup(), f.workloadGroup(), f.streamGroup()}
}

func (f *planFlags) targetGroup() flagGroup {
	g := newGroup("Target")
	g.flags.StringArrayVar(&f.paths, "path", nil, "`directory`, block device to overwrite, or "+workload.NullPath+
		", which answers at once and shows the load generator's own ceiling; several are striped over")
	g.flags.Var(&optional[int64]{&f.stripeSize, bytesize.Parse, "size"}, "stripe-size",
		"with several paths: how much lies on one before the next ("+bytesize.Format(defaultStripeSizeBytes)+")")
	g.flags.BoolVar(&f.overwriteDevice, "overwrite-device", false, "overwrite a block device that carries a filesystem or partitions")
	f.ioEngine = choice[workload.IOEngine]{value: workload.Auto, spellings: ioEngines}
	g.flags.Var(&f.ioEngine, "io-engine", "kernel interface; only auto falls back to another")
	return g
}

func (f *planFlags) workloadGroup() flagGroup {
	g, o := newGroup("Workload"), &f.override
	g.flags.StringSliceVar(&f.presets, "preset", nil, "`preset`, may be repeated: "+strings.Join(workload.Presets(), ", "))
	g.flags.StringVar(&f.name, "name", "", "`name` of the workload in the result")
	g.flags.IntVar(&f.repetitions, "repetitions", 1, "how often each workload is measured")
	g.flags.Var(&optional[workload.Duration]{&o.Probe, parseDuration, "duration"}, "probe",
		"time with a single outstanding I/O before everything else, which shows the latency without queueing (none)")
	g.flags.Var(&optional[workload.Duration]{&o.Warmup, parseDuration, "duration"}, "warmup",
		"load before the window (3s without a preset)")
	g.flags.Var(&optional[workload.Duration]{&o.Duration, parseDuration, "duration"}, "duration",
		"length of the window (60s without a preset)")
	g.flags.Var(&optional[int64]{&o.Operations, largeNumber, "int"}, "operations",
		"end the window after so many operations; --duration is then the longest it takes")
	drain := g.flags.VarPF(&optional[bool]{&o.Drain, parseBool, "bool"}, "drain", "",
		"go on after the window until burst credits are used up, at most 45 minutes")
	drain.NoOptDefVal = "true"
	g.flags.Var(&optional[int64]{&o.FileSizeBytes, bytesize.Parse, "size"}, "file-size",
		"size of the file, such as 4Gi, the default without a preset; a default shrinks to the room there is")
	g.flags.Var(optionalWord(&o.Layout, layouts), "layout",
		"whether the file is written before, only allocated, or grows with each write")
	g.flags.Var(optionalWord(&o.DirectIO, directIOs), "direct-io", "bypass the page cache, or go through it")
	verify := g.flags.VarPF(&optional[bool]{&o.Verify, parseBool, "bool"}, "verify", "",
		"check on each read that the block is the one that was written there")
	verify.NoOptDefVal = "true"
	g.flags.Var(&optional[int64]{&o.Seed, largeNumber, "int"}, "seed", "start of the random offsets and data")
	return g
}

func (f *planFlags) streamGroup() flagGroup {
	g := newGroup("Stream")
	registerStream(g.flags, &f.override.Stream)
	g.flags.Var(&streamList{&f.override.Streams}, "stream",
		"one of several streams that run at the same time, may be repeated; the keys are name and the flags above: "+
			"'name=log,pattern=sequential,read-percent=0,block-size=32Ki'")
	return g
}

// build makes the plan. Its errors name the flag, or the field of the plan.
func (f *planFlags) build(c *cobra.Command) (workload.Plan, error) {
	plan := f.assemble
	if c.Flags().Changed("plan") {
		plan = func() (workload.Plan, error) { return f.parsePlan(c) }
	}
	p, err := plan()
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return p, invalid(err)
	}
	return p, nil
}

func (f *planFlags) parsePlan(c *cobra.Command) (workload.Plan, error) {
	var p workload.Plan
	for _, flag := range changed(c) {
		if !alongsidePlan[flag] {
			return p, fmt.Errorf("--%s with --plan, which says that already: leave one out", flag)
		}
	}
	if strings.TrimSpace(f.plan) == "" {
		return p, errors.New("--plan is empty: give a plan as JSON, or leave it out for the flags of its fields")
	}
	d := json.NewDecoder(bytes.NewReader([]byte(f.plan)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("--plan: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, errors.New("--plan: something follows the plan: give one JSON object alone")
	}
	return p, nil
}

func (f *planFlags) assemble() (workload.Plan, error) {
	p := workload.Plan{IOEngine: f.ioEngine.value, Repetitions: f.repetitions, OverwriteDevice: f.overwriteDevice}
	if err := f.assembleTarget(&p); err != nil {
		return p, err
	}
	if len(f.presets) == 0 {
		name := f.name
		if name == "" {
			name = "custom"
		}
		ws, err := workload.Resolve("", name, f.override)
		if err != nil {
			return p, fmt.Errorf("%w: give --preset, or --pattern, --read-percent and --block-size", err)
		}
		p.Workloads = ws
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

func (f *planFlags) assembleTarget(p *workload.Plan) error {
	if len(f.paths) == 0 {
		return errors.New("--path is missing: give a directory on the disk to measure, or a block device")
	}
	var set []string
	for _, path := range f.paths {
		absolute, kind, err := detect(path)
		if err != nil {
			return err
		}
		if p.Target != "" && kind != p.Target {
			return fmt.Errorf("--path %s is a %s, the one before a %s: stripe over volumes of one kind", path, kind, p.Target)
		}
		p.Target, set = kind, append(set, absolute)
	}
	p.Sets = [][]string{set}
	switch {
	case f.stripeSize != nil:
		p.StripeSizeBytes = *f.stripeSize
	case len(set) > 1:
		p.StripeSizeBytes = defaultStripeSizeBytes
	}
	return nil
}

// detect tells a directory from a block device.
func detect(path string) (string, workload.TargetKind, error) {
	if path == "" {
		return "", "", errors.New("--path is empty: give a directory on the disk to measure, or a block device")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", "", fmt.Errorf("--path %s: %w", path, err)
	}
	if absolute == workload.NullPath {
		return absolute, workload.NullDevice, nil
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
