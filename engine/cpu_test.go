// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"
	"time"
)

func TestParseThrottled(t *testing.T) {
	tests := []struct {
		why, stat string
		want      time.Duration
		known     bool
	}{
		{"cgroup v2", "usage_usec 5\nnr_periods 10\nnr_throttled 2\nthrottled_usec 1500\n", 1500 * time.Microsecond, true},
		{"cgroup v1", "nr_periods 10\nnr_throttled 2\nthrottled_time 1500\n", 1500, true},
		{"v2 without the cpu controller", "usage_usec 5\nuser_usec 3\n", 0, false},
		{"nothing", "", 0, false},
	}
	for _, tt := range tests {
		if got, known := parseThrottled(tt.stat); got != tt.want || known != tt.known {
			t.Errorf("%s: %s, %t; want %s, %t", tt.why, got, known, tt.want, tt.known)
		}
	}
}

func TestParseCPUTicks(t *testing.T) {
	tests := []struct {
		why, line   string
		stolen, all int64
	}{
		{"guest time is in user time already", "cpu  10 20 30 40 50 60 70 80 1000 2000\n", 80, 360},
		{"a kernel without steal", "cpu 10 20 30 40 50 60 70", 0, 280},
		{"nothing", "", 0, 0},
	}
	for _, tt := range tests {
		if stolen, all := parseCPUTicks(tt.line); stolen != tt.stolen || all != tt.all {
			t.Errorf("%s: %d of %d, want %d of %d", tt.why, stolen, all, tt.stolen, tt.all)
		}
	}
}

func TestSecondNumber(t *testing.T) {
	for line, want := range map[string]int64{"4045578 6580380 3\n": 6580380, "1 2": 2, "": 0, "7\n": 0} {
		if got := secondNumber([]byte(line)); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

// A thread that computes for a while shows it, without allocating.
func TestThreadClock(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var c threadClock
	c.open()
	defer c.close()
	before := c.read(0)
	for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
		before.at++
	}
	after := c.read(1)
	if after.used-before.used < int64(time.Millisecond) || after.delayed < before.delayed {
		t.Errorf("used %d ns, delayed from %d to %d", after.used-before.used, before.delayed, after.delayed)
	}
	if n := testing.AllocsPerRun(100, func() { c.read(0) }); n != 0 {
		t.Errorf("%v allocations a reading", n)
	}
}
