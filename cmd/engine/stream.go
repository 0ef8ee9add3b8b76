// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/workload"
)

// registerStream adds a flag for each field of a stream but its name.
func registerStream(flags *pflag.FlagSet, o *workload.StreamOverride) {
	flags.Var(optionalWord(&o.Pattern, patterns), "pattern", "order of offsets")
	flags.Var(&optional[int]{&o.RandomPercent, wholeNumber, "percent"}, "random-percent",
		"share of jumps in a sequential stream, 0 to 100")
	flags.Var(&optional[int]{&o.ReadPercent, wholeNumber, "percent"}, "read-percent", "share of reads, 0 to 100")
	flags.Var(&optional[int64]{&o.BlockSizeBytes, bytesize.Parse, "size"}, "block-size", "size of each I/O, such as 4Ki")
	flags.Var(&optional[int]{&o.Threads, wholeNumber, "int"}, "threads", "threads that issue I/O (1 without a preset)")
	flags.Var(&optional[int]{&o.QueueDepth, wholeNumber, "int"}, "queue-depth",
		"outstanding I/Os of each thread (1 without a preset)")
	flags.Var(optionalWord(&o.SharedOffset, sequentialOffsets), "sequential-offset",
		"whether the threads of a sequential stream share one offset, or have a part of the range each")
	flags.Var(&optional[int64]{&o.RateLimitIOPS, largeNumber, "iops"}, "rate-limit-iops",
		"operations per second of each thread, each timed from when it was due; 0: as fast as the queue allows")
	flags.Var(&optional[workload.Range]{&o.Range, parseRange, "from-to"}, "range", "part of the file in percent, such as 0-50")
	flags.Var(&optional[workload.Distribution]{&o.Distribution, parseDistribution, "uniform|zipf|hotspot:io/range"}, "distribution",
		"of random offsets; hotspot:95/5 sends 95% of the I/O to the first 5% of the range")
	flags.Var(optionalWord(&o.Sync, syncModes), "sync",
		"how far a write has to get: to the device, to durable storage (O_DSYNC), or there with the next fdatasync")
	flags.Var(&optional[int]{&o.FlushEvery, wholeNumber, "int"}, "flush-every",
		"with --sync flush: a thread's writes between fdatasyncs that it waits for")
	flags.Var(&optional[workload.Duration]{&o.FlushInterval, parseDuration, "duration"}, "flush-interval",
		"with --sync flush: time between fdatasyncs that run beside the writes")
}

// streamList is the flag --stream: the fields of one of several streams, as key=value.
type streamList struct{ to *[]workload.StreamOverride }

func (l *streamList) String() string { return "" }
func (l *streamList) Type() string   { return "key=value,..." }

func (l *streamList) Set(s string) error {
	stream, err := parseStream(s)
	if err == nil {
		*l.to = append(*l.to, stream)
	}
	return err
}

// parseStream reads "name=log,pattern=sequential,read-percent=0,block-size=32Ki". The keys are the
// flags of a stream, and name.
func parseStream(s string) (workload.StreamOverride, error) {
	var o workload.StreamOverride
	fields := pflag.NewFlagSet("", pflag.ContinueOnError)
	fields.Var(&optional[string]{&o.Name, func(s string) (string, error) { return s, nil }, "name"}, "name", "")
	registerStream(fields, &o)
	for pair := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(pair, "=")
		flag := fields.Lookup(key)
		switch {
		case !ok:
			return o, fmt.Errorf("%q: write key=value, such as block-size=4Ki", pair)
		case flag == nil:
			return o, fmt.Errorf("unknown key %q: use one of %s", key, keys(fields))
		case flag.Changed:
			return o, fmt.Errorf("%s is there twice: leave one out", key)
		}
		if err := fields.Set(key, value); err != nil {
			return o, fmt.Errorf("%s: %w", pair, cause(err))
		}
	}
	return o, nil
}

// cause leaves out what pflag says of a flag that nobody wrote as one.
func cause(err error) error {
	if e := (*pflag.InvalidValueError)(nil); errors.As(err, &e) {
		return e.Unwrap()
	}
	return err
}

func keys(fields *pflag.FlagSet) string {
	var names []string
	fields.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return strings.Join(names, ", ")
}
