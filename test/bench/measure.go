// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// timing is that of each run.
type timing struct {
	warmup, duration time.Duration
}

// Sample is one run of one contestant.
type Sample struct {
	IOPS float64 `json:"iops"`
	// BusyCores is the processor time of the whole machine in each second.
	BusyCores float64 `json:"busyCores"`
	// PerCPUSecond is I/Os per second of processor time.
	PerCPUSecond float64 `json:"iosPerCPUSecond"`
	MeanMicros   float64 `json:"meanMicros"`
	// OtherCores is the part of BusyCores that programs beside the contestant took, kernel threads
	// left out.
	OtherCores float64 `json:"otherCores"`
}

func (s Sample) value(m Metric) float64 {
	switch m {
	case Efficiency:
		return s.PerCPUSecond
	case Rate:
		return s.IOPS
	case Quickness:
		return 1 / s.MeanMicros
	default:
		panic("no metric " + m)
	}
}

// contestant is one way to run a case.
type contestant struct {
	variant Variant
	command []string
	parse   func([]byte) (figures, error)
	// before runs first.
	before func() error
}

// measure runs a contestant once. The load starts some time after the process, and so ends that
// much after warm-up and duration: between those two instants, counted from the start of the
// process, it surely runs, as long as starting takes less than the warm-up. There the processors
// are looked at. The IOPS are the contestant's own, over its whole window; the load is steady.
func measure(ctx context.Context, who contestant, t timing) (Sample, error) {
	if err := who.before(); err != nil {
		return Sample{}, err
	}
	c := exec.CommandContext(ctx, who.command[0], who.command[1:]...)
	// Both end their jobs and remove what they made when they are told to stop.
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	start := time.Now()
	if err := c.Start(); err != nil {
		return Sample{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()

	begin, err := readAt(ended, start.Add(t.warmup), c.Process.Pid)
	var end reading
	if err == nil {
		end, err = readAt(ended, start.Add(t.warmup+t.duration), c.Process.Pid)
	}
	if err == nil {
		err = <-ended
	}
	if err != nil {
		_ = c.Cancel() // where it did not end by itself
		return Sample{}, fmt.Errorf("%s: %w: %s", c, err, lastLine(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	f, err := who.parse(stdout.Bytes())
	if err != nil {
		return Sample{}, fmt.Errorf("%s: %w", c, err)
	}
	return newSample(f, begin, end), nil
}

// errEarly is the end of a contestant before that of its window.
var errEarly = errors.New("it ended early")

// readAt waits for an instant and then looks at the processors.
func readAt(ended <-chan error, at time.Time, contestant int) (reading, error) {
	select {
	case err := <-ended:
		return reading{}, errors.Join(errEarly, err)
	case <-time.After(time.Until(at)):
		return readProcessors(contestant)
	}
}

func newSample(f figures, begin, end reading) Sample {
	busy := busyCores(begin, end)
	return Sample{
		IOPS: f.iops, BusyCores: busy, PerCPUSecond: f.iops / busy,
		MeanMicros: float64(f.mean) / float64(time.Microsecond),
		OtherCores: otherCores(begin, end),
	}
}

// bench runs cases.
type bench struct {
	engine, fio string
	places      *places
	timing      timing
	rounds      int
	// quiet is the most that other programs may take of a core in a run, or it is made again.
	quiet float64
	say   func(format string, args ...any)
}

// maxRepeats is how often a disturbed run is made again, before it counts all the same.
const maxRepeats = 5

// awaitQuiet waits until other programs are quiet, half a minute at most.
func (b *bench) awaitQuiet(ctx context.Context) error {
	const look, looks = 100 * time.Millisecond, 300
	before, err := readProcessors(0)
	for range looks {
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		var now reading
		if now, err = readProcessors(0); err == nil && otherCores(before, now) <= b.quiet {
			return nil
		}
		before = now
	}
	return err
}

// measureQuietly measures until other programs were quiet meanwhile.
func (b *bench) measureQuietly(ctx context.Context, who contestant) (Sample, error) {
	for i := 0; ; i++ {
		if err := b.awaitQuiet(ctx); err != nil {
			return Sample{}, err
		}
		s, err := measure(ctx, who, b.timing)
		if err != nil || s.OtherCores <= b.quiet || i == maxRepeats {
			return s, err
		}
		b.say("%s: again, since other programs took %.2f cores", who.variant, s.OtherCores)
	}
}

// run measures a case in rounds. In each every contestant has its turn, every second round in
// reverse order.
func (b *bench) run(ctx context.Context, c Case) (*Result, error) {
	at, err := b.places.find(ctx, c.Place)
	if err != nil {
		return nil, err
	}
	result := newResult(c, time.Now())
	contestants, err := b.contestants(ctx, c, at, result)
	if err != nil {
		return nil, err
	}
	for i := range b.rounds {
		round := map[Variant]Sample{}
		for j := range contestants {
			who := contestants[j]
			if i%2 == 1 {
				who = contestants[len(contestants)-1-j]
			}
			s, err := b.measureQuietly(ctx, who)
			if err != nil {
				return nil, err
			}
			round[who.variant] = s
			if s.OtherCores > b.quiet {
				result.Disturbed++
			}
		}
		result.Rounds = append(result.Rounds, round)
		b.say("%s: round %d of %d", c.Name, i+1, b.rounds)
	}
	result.evaluate(c)
	return result, nil
}

func (b *bench) contestants(ctx context.Context, c Case, at located, result *Result) ([]contestant, error) {
	all := []contestant{{
		variant: Diskbench, command: append([]string{b.engine}, engineRun(c, at, b.timing)...),
		parse: parseEngine, before: at.renew,
	}}
	for _, v := range c.Against {
		var args []string
		switch v {
		case FioSame:
			args = fioSame(c, at, b.timing)
		case FioBest:
			var err error
			if args, err = b.searchBest(ctx, c, at); err != nil {
				return nil, err
			}
		default:
			args = fioDefault(c, at, b.timing)
		}
		all = append(all, b.contestant(v, args))
	}
	for _, who := range all {
		result.Commands[who.variant] = who.command
	}
	return all, nil
}

func (b *bench) contestant(v Variant, args []string) contestant {
	return contestant{
		variant: v, command: append([]string{b.fio}, args...), parse: parseFio,
		before: func() error { return nil },
	}
}

// searchBest runs each candidate once, and takes the one with the most I/Os per CPU-second.
func (b *bench) searchBest(ctx context.Context, c Case, at located) ([]string, error) {
	var best []string
	most := 0.0
	for _, args := range fioCandidates(c, at, b.timing) {
		s, err := b.measureQuietly(ctx, b.contestant(FioBest, args))
		if err != nil {
			return nil, err
		}
		if s.PerCPUSecond > most {
			most, best = s.PerCPUSecond, args
		}
	}
	return best, nil
}
