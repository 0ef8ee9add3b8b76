// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// probeResult is what a run would meet at a path.
type probeResult struct {
	Path string              `json:"path"`
	Kind workload.TargetKind `json:"kind"`
	// Usable says whether a run can measure there; Reason and Message are what it would end with.
	Usable    bool          `json:"usable"`
	Reason    report.Reason `json:"reason,omitempty"`
	Message   string        `json:"message,omitempty"`
	Target    place         `json:"target"`
	IOEngines []trial       `json:"ioEngines,omitempty"`
	Host      host          `json:"host"`
}

func newProbe(stdout io.Writer) *cobra.Command {
	output := newOutput()
	c := &cobra.Command{
		Use:   "probe PATH",
		Short: "Say whether a directory or device can be measured, and by which I/O engines",
		Long: "Probe says whether a directory or a block device can be measured and by which I/O engines, with the\n" +
			"kernel's answer against each that does not work, and shows the filesystem, the device, its queue and\n" +
			"the limits of this process. It only reads from a device, and leaves nothing in a directory.",
		Example: "  diskbench-engine probe /mnt/disk\n  diskbench-engine probe /dev/sdc -o yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := probeUntil(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := write(stdout, output.value, r, func(w io.Writer) error { return writeProbe(w, r) }); err != nil || r.Usable {
				return err
			}
			return report.Failf(r.Reason, "%s", r.Message)
		},
	}
	g := newGroup("Output")
	g.flags.VarP(&output, "output", "o", "form of the result")
	addGroups(c, g)
	return c
}

// probeGrace is how long a target that answers has to be left as it was, once the program is told to stop.
const probeGrace = 2 * time.Second

// probeUntil gives up on a target that does not answer.
func probeUntil(ctx context.Context, path string) (r probeResult, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, err = probe(path)
	}()
	select {
	case <-ended:
		return r, err
	case <-ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(probeGrace):
	}
	return probeResult{}, report.Failf(report.ReasonInterrupted, "told to stop while looking at %s", path)
}

// probe looks at the path. The error is that there is nothing to look at.
func probe(path string) (probeResult, error) {
	absolute, kind, err := detect(path)
	switch {
	case err != nil:
		return probeResult{}, invalid(err)
	case kind == workload.NullDevice:
		return probeResult{}, report.Failf(report.ReasonInvalidPlan, "%s is no disk: give a directory on one, or a block device", path)
	}
	root := os.DirFS("/")
	r := probeResult{Path: absolute, Kind: kind, Target: locate(root, kind, absolute), Host: inspectHost(root)}
	sector, trials, err := tryTarget(kind, absolute)
	r.IOEngines, r.Usable = trials, err == nil
	if sector > 0 { // what was proven counts, not what the disk states
		r.Target.LogicalBlockBytes = sector
	}
	if err != nil {
		failure := engine.AsFailure(err) // of several the first, as in a run
		r.Reason, r.Message = failure.Reason, failure.Message
	}
	return r, nil
}
