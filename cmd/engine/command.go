// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// defaultMessagePath is where Kubernetes looks for a container's last words.
const defaultMessagePath = "/dev/termination-log"

// execute runs the command line and gives the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	// What is no failure of the engine comes from cobra, and is about the command line.
	failure := (*report.Failure)(nil)
	if !errors.As(err, &failure) {
		failure = report.Failf(report.ReasonInvalidPlan, "%v", err)
	}
	fmt.Fprintln(stderr, "diskbench-engine:", failure) //nolint:errcheck // there is nowhere else to say it
	return failure.Reason.ExitCode()
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "diskbench-engine",
		Short:         "Measure a disk with direct I/O",
		Long:          "diskbench-engine measures the IOPS, throughput and latency of a disk with direct I/O.\n\n" + exitCodeHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		Version:       version,
		// A root that runs is one whose arguments are checked: an unknown command is refused.
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(newRun(stdout, stderr), newPrepare(stdout, stderr), newVersion(stdout))
	return root
}

func exitCodeHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n    0  Success\n")
	for _, r := range report.Reasons() {
		fmt.Fprintf(&b, "  %3d  %s\n", r.ExitCode(), r)
	}
	return b.String()
}

func newVersion(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, version)
			return err
		},
	}
}

func newRun(stdout, stderr io.Writer) *cobra.Command {
	var f planFlags
	var prepared bool
	output := outputTable
	c := &cobra.Command{
		Use:   "run",
		Short: "Lay out a file of random data, measure, and remove the file",
		Long: "Run lays out a file of random data in a directory, or on a block device, measures the workloads\n" +
			"one after another, and removes the file.\n\n" +
			"With --plan it runs in a pod: progress and the result go to standard output as JSON lines, the\n" +
			"compact result to the termination message. Otherwise the result goes to standard output and\n" +
			"progress to standard error.\n\n" + exitCodeHelp(),
		Example: "  diskbench-engine run --path /mnt/disk --preset latency --duration 10s --file-size 1Gi -o json\n" +
			"  diskbench-engine run --path /dev/sdc --pattern random --read-percent 70 --block-size 8Ki --threads 2 --queue-depth 32",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withPlan(c, stdout, stderr, func(p workload.Plan, progress func(engine.Event)) error {
				r, err := engine.Run(c.Context(), p, engine.Options{Version: version, Prepared: prepared, Progress: progress})
				if err != nil {
					return err
				}
				return f.deliver(stdout, output, newResult(p, r), r)
			})
		},
	}
	f.register(c)
	c.Flags().BoolVar(&prepared, "prepared", false, "the target was laid out by 'prepare' with the same plan")
	c.Flags().VarP(&output, "output", "o", "form of the result: table or json")
	return c
}

func newPrepare(stdout, stderr io.Writer) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "prepare",
		Short: "Lay out the file of random data and leave it for 'run --prepared'",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withPlan(c, stdout, stderr, func(p workload.Plan, progress func(engine.Event)) error {
				return engine.Prepare(c.Context(), p, engine.Options{Version: version, Progress: progress})
			})
		},
	}
	f.register(c)
	return c
}

// withPlan does the work and, in a pod, leaves a failure in the termination message.
func (f *planFlags) withPlan(c *cobra.Command, stdout, stderr io.Writer, work func(workload.Plan, func(engine.Event)) error) error {
	progress := stderr
	if f.inPod() {
		progress = stdout
	}
	p, err := f.build(c)
	if err == nil {
		err = work(p, func(e engine.Event) { _ = writeLine(progress, e) })
	}
	if err == nil {
		return nil
	}
	failure := engine.AsFailure(err)
	if f.inPod() {
		_ = writeLine(stdout, failureLine{Phase: "Failed", Reason: failure.Reason, Message: failure.Message})
		if err := os.WriteFile(f.messagePath, report.EncodeFailure(failure), 0o644); err != nil {
			fmt.Fprintln(stderr, "diskbench-engine: the termination message:", err) //nolint:errcheck // as above
		}
	}
	return failure
}

// deliver writes the result to where it is expected. In a pod the line comes first: it is complete,
// and there even when the message cannot be written.
func (f *planFlags) deliver(stdout io.Writer, output outputForm, result result, r *report.Report) error {
	if !f.inPod() {
		return writeResult(stdout, output, result)
	}
	if err := writeLine(stdout, resultLine{Phase: "Completed", Result: result}); err != nil {
		return err
	}
	message, err := report.Encode(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.messagePath, message, 0o644); err != nil {
		return fmt.Errorf("the termination message: %w", err)
	}
	return nil
}

type failureLine struct {
	Phase   string        `json:"phase"`
	Reason  report.Reason `json:"reason"`
	Message string        `json:"message"`
}

type resultLine struct {
	Phase  string `json:"phase"`
	Result result `json:"result"`
}

func writeLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
