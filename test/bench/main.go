// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench compares the engine with fio: both do the same I/O on the same target in turn.
// See docs/benchmark.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/diskbench/diskbench/engine/bytesize"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// minRounds is the fewest of which a median has a 95% confidence interval, see medianInterval.
const minRounds = 6

// leastWarmup is longer than fio takes to start, which with its calibration of clocks is 0.3 s. A shorter
// one would count that time as processor time that fio spared.
const leastWarmup, leastDuration = 500 * time.Millisecond, 100 * time.Millisecond

type options struct {
	engine, fio string
	run         *regexp.Regexp
	list        bool
	check       bool
	output      string
	directory   string
	fileSize    int64
	rounds      int
	quiet       float64
	timing      timing
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	var pattern, size string
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.engine, "engine", "bin/diskbench-engine", "the engine's binary")
	f.StringVar(&o.fio, "fio", "fio", "fio's binary")
	f.StringVar(&pattern, "run", "", "measure only the cases whose name matches this regular expression")
	f.BoolVar(&o.list, "list", false, "print the cases' names and measure nothing")
	f.BoolVar(&o.check, "check", false, "fail when a goal is not met")
	f.StringVarP(&o.output, "output", "o", "", "file for the results as JSON; cases that are in it and not measured now stay")
	f.StringVar(&o.directory, "directory", os.TempDir(), "directory on a disk, for the cases with a file")
	f.StringVar(&size, "file-size", "1Gi", "size of that file")
	f.IntVar(&o.rounds, "rounds", 12, "runs of each contestant in each case")
	f.DurationVar(&o.timing.warmup, "warmup", 500*time.Millisecond, "warm-up of each run; longer than any contestant takes to start")
	f.DurationVar(&o.timing.duration, "duration", 2*time.Second, "measured part of each run")
	f.Float64Var(&o.quiet, "quiet", 0.03, "cores that other programs may take during a run, which is made again if they take more")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", f.Arg(0))
	}
	if o.rounds < minRounds {
		return o, fmt.Errorf("--rounds %d: a confidence interval takes at least %d", o.rounds, minRounds)
	}
	if o.timing.warmup < leastWarmup || o.timing.duration < leastDuration {
		return o, fmt.Errorf("--warmup has to be at least %v, in which fio surely starts, and --duration %v", leastWarmup, leastDuration)
	}
	var err error
	if o.run, err = regexp.Compile(pattern); err != nil {
		return o, fmt.Errorf("--run: %w", err)
	}
	if o.fileSize, err = bytesize.Parse(size); err != nil {
		return o, fmt.Errorf("--file-size: %w", err)
	}
	return o, nil
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	cases := selectCases(matrix(), o.run)
	if o.list {
		for _, c := range cases {
			fmt.Fprintln(stdout, c.Name) //nolint:errcheck // there is nowhere else to say it
		}
		return nil
	}
	results, err := readResults(o.output)
	if err != nil {
		return err
	}
	if err := measureAll(ctx, o, cases, results, stderr); err != nil {
		return err
	}
	return conclude(o, results, stdout)
}

func selectCases(all []Case, run *regexp.Regexp) []Case {
	var selected []Case
	for _, c := range all {
		if run.MatchString(c.Name) {
			selected = append(selected, c)
		}
	}
	return selected
}

// measureAll measures the cases and writes the results after each. A case that cannot be measured
// is one without figures; the others go on.
func measureAll(ctx context.Context, o options, cases []Case, results *Results, stderr io.Writer) (err error) {
	machine, err := describe(ctx, o.fio, o.engine)
	if err != nil {
		return err
	}
	p := &places{engine: o.engine, directory: o.directory, fileSize: o.fileSize, made: map[Place]located{}}
	defer func() { err = errors.Join(err, p.removeAll()) }()
	b := &bench{
		engine: o.engine, fio: o.fio, places: p, timing: o.timing, rounds: o.rounds, quiet: o.quiet,
		say: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }, //nolint:errcheck // as above
	}
	for _, c := range cases {
		result, caseErr := b.run(ctx, c)
		if ctx.Err() != nil {
			return fmt.Errorf("told to stop while measuring %s", c.Name)
		}
		if caseErr != nil {
			result = newResult(c, time.Now())
			result.Error = caseErr.Error()
			b.say("%s: %v", c.Name, caseErr)
		}
		result.Machine = machine
		result.WarmupSeconds, result.DurationSeconds = o.timing.warmup.Seconds(), o.timing.duration.Seconds()
		results.add(result)
		if o.output != "" {
			if err := results.write(o.output); err != nil {
				return err
			}
		}
	}
	return nil
}

// conclude prints everything, and what was missed.
func conclude(o options, results *Results, stdout io.Writer) error {
	if err := results.writeTable(stdout); err != nil {
		return err
	}
	var machines []string
	for _, c := range results.Cases {
		line := fmt.Sprintf("%s: %s", c.Date.Format(time.DateOnly), c.Machine)
		if len(machines) == 0 || machines[len(machines)-1] != line {
			machines = append(machines, line)
		}
	}
	for _, line := range machines {
		fmt.Fprintln(stdout, "\n"+line) //nolint:errcheck // the table was written
	}
	for _, line := range results.disturbed() {
		fmt.Fprintln(stdout, "DISTURBED "+line) //nolint:errcheck // the table was written
	}
	missed := results.missed()
	for _, line := range missed {
		fmt.Fprintln(stdout, "MISSED "+line) //nolint:errcheck // the table was written
	}
	if o.check && len(missed) > 0 {
		return fmt.Errorf("%d goals were missed", len(missed))
	}
	return nil
}
