// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scripted is an I/O engine for tests: every I/O takes a known time on a clock of its own,
// so the figures that must come out are known exactly.
package scripted

import (
	"time"

	"github.com/diskbench/diskbench/engine/ioengine"
)

// Clock stands still until an engine waits.
type Clock struct{ nanos int64 }

// Now is the time in nanoseconds.
func (c *Clock) Now() int64 { return c.nanos }

// Sleep moves the clock.
func (c *Clock) Sleep(d time.Duration) { c.nanos += d.Nanoseconds() }

// Script says what becomes of the n-th I/O, counted from 0: its latency, and its result, the bytes
// moved or a negative errno.
type Script func(n int, r ioengine.Request) (latency time.Duration, result int32)

// Engine plays a script.
type Engine struct {
	clock    *Clock
	script   Script
	issued   int
	inFlight []flight
	// MostInFlight is the most I/Os that were out at once.
	MostInFlight int
}

type flight struct {
	due        int64
	completion ioengine.Completion
}

// New gives an engine whose waiting moves the clock.
func New(clock *Clock, depth int, script Script) *Engine {
	return &Engine{clock: clock, script: script, inFlight: make([]flight, 0, depth)}
}

// Exchange implements ioengine.Engine.
func (e *Engine) Exchange(requests []ioengine.Request, done []ioengine.Completion, wait time.Duration) (int, error) {
	for _, r := range requests {
		latency, result := e.script(e.issued, r)
		e.issued++
		e.inFlight = append(e.inFlight, flight{
			due:        e.clock.nanos + latency.Nanoseconds(),
			completion: ioengine.Completion{Slot: r.Slot, Result: result},
		})
	}
	e.MostInFlight = max(e.MostInFlight, len(e.inFlight))
	latest := e.clock.nanos + wait.Nanoseconds()
	n := 0
	for ; n < len(done) && len(e.inFlight) > 0; n++ {
		first := e.earliest()
		if due := e.inFlight[first].due; due > e.clock.nanos {
			if n > 0 {
				break
			}
			e.clock.nanos = min(due, latest)
			if due > latest {
				break
			}
		}
		done[n] = e.inFlight[first].completion
		e.inFlight = append(e.inFlight[:first], e.inFlight[first+1:]...)
	}
	return n, nil
}

func (e *Engine) earliest() int {
	first := 0
	for i := range e.inFlight {
		if e.inFlight[i].due < e.inFlight[first].due {
			first = i
		}
	}
	return first
}

// Close implements ioengine.Engine.
func (e *Engine) Close() error { return nil }
