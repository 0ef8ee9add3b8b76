// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

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
	root.AddCommand(newRun(stdout, stderr), newPrepare(stdout, stderr), newProbe(stdout), newVersion(stdout))
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

// job is what a command does with a plan, and where it says so.
type job struct {
	planFlags
	progress       choice[progressMode]
	output         choice[outputForm]
	prepared       bool
	explain        bool
	messagePath    string
	stdout, stderr io.Writer
}

func newRun(stdout, stderr io.Writer) *cobra.Command {
	j := job{stdout: stdout, stderr: stderr, output: newOutput()}
	c := &cobra.Command{
		Use:   "run",
		Short: "Lay out a file of random data, measure, and remove the file",
		Long: "Run lays out a file of random data in a directory, or on a block device, measures the workloads\n" +
			"one after another, and removes the file. The result goes to standard output, progress to standard\n" +
			"error.\n\n" +
			"With --plan it runs in a pod: progress and the result go to standard output as JSON lines, the\n" +
			"compact result to the termination message.",
		Example: "  diskbench-engine run --path /mnt/disk --preset latency --duration 10s --file-size 1Gi -o json\n" +
			"  diskbench-engine run --path /dev/sdc --pattern random --read-percent 70 --block-size 8Ki --threads 2 --queue-depth 32\n" +
			"  diskbench-engine run --path /mnt/disk --preset vdi --explain",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return j.run(c) },
	}
	out := j.outputGroup()
	out.flags.VarP(&j.output, "output", "o", "form of the result")
	out.flags.BoolVar(&j.explain, "explain", false, "say what would be done, touch nothing; with -o json or yaml: the plan")
	in := j.podGroup()
	in.flags.BoolVar(&j.prepared, "prepared", false, "the target was laid out by 'prepare' with the same plan")
	addGroups(c, append(j.groups(), out, in)...)
	return c
}

func newPrepare(stdout, stderr io.Writer) *cobra.Command {
	j := job{stdout: stdout, stderr: stderr}
	c := &cobra.Command{
		Use:   "prepare",
		Short: "Lay out the file of random data and leave it for 'run --prepared'",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return j.prepare(c) },
	}
	addGroups(c, append(j.groups(), j.outputGroup(), j.podGroup())...)
	return c
}

func (j *job) outputGroup() flagGroup {
	g := newGroup("Output")
	j.progress = choice[progressMode]{value: progressAuto, spellings: progressModes}
	g.flags.Var(&j.progress, "progress",
		"on standard error: auto is one live line on a terminal, plain lines elsewhere")
	return g
}

func (j *job) podGroup() flagGroup {
	g := newGroup("In a pod")
	g.flags.StringVar(&j.plan, "plan", "", "a whole plan as `JSON`, in place of the flags for its fields")
	g.flags.StringVar(&j.messagePath, "termination-message-path", defaultMessagePath, "with --plan: `file` for the compact result")
	return g
}

func (j *job) run(c *cobra.Command) error {
	if j.explain {
		p, err := j.build(c)
		if err != nil {
			return err
		}
		return explain(j.stdout, j.output.value, p, j.prepared)
	}
	return j.withPlan(c, func(p workload.Plan, w watcher) error {
		r, err := engine.Run(c.Context(), p, engine.Options{Version: version, Prepared: j.prepared, Progress: w.event})
		w.done()
		if err != nil && (r == nil || engine.AsFailure(err).Reason != report.ReasonInterrupted) {
			return err
		}
		result := newResult(p, r, err != nil)
		return errors.Join(err, j.deliver(c, result, r))
	})
}

func (j *job) prepare(c *cobra.Command) error {
	return j.withPlan(c, func(p workload.Plan, w watcher) error {
		err := engine.Prepare(c.Context(), p, engine.Options{Version: version, Progress: w.event})
		w.done()
		return err
	})
}

// withPlan does the work and, in a pod, leaves a failure in the termination message.
func (j *job) withPlan(c *cobra.Command, work func(workload.Plan, watcher) error) error {
	w := newWatcher(j.progress.value, j.stderr)
	if inPod(c) {
		w = jsonLines{j.stdout}
	}
	p, err := j.build(c)
	if err == nil {
		err = work(p, w)
	}
	if err == nil {
		return nil
	}
	if inPod(c) {
		j.pod().failure(err)
	}
	return engine.AsFailure(err)
}

// inPod says whether somebody reads the termination message: only the operator gives a plan.
func inPod(c *cobra.Command) bool { return c.Flags().Changed("plan") }

func (j *job) pod() pod { return pod{j.stdout, j.stderr, j.messagePath} }

// deliver writes the result to where it is expected.
func (j *job) deliver(c *cobra.Command, result result, r *report.Report) error {
	if inPod(c) {
		return j.pod().result(result, r)
	}
	return writeResult(j.stdout, j.output.value, result)
}
