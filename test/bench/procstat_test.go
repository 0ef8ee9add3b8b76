// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

const stat = `cpu  46125 4 24041 2751094 3377 0 338 5170 0 0
cpu0 23100 1 12014 1375400 1700 0 200 2600 0 0
cpu1 23025 3 12027 1375694 1677 0 138 2570 0 0
intr 5121431 0 9 0
ctxt 9031412
procs_running 1
`

func TestParseStat(t *testing.T) {
	got, err := parseStat(stat)
	if err != nil {
		t.Fatal(err)
	}
	// Idle and waiting for I/O both count as idle.
	if want := (2751094 + 3377) * 10 * time.Millisecond; got.idle != want || got.cores != 2 {
		t.Errorf("%d cores idle for %s, want 2 and %s", got.cores, got.idle, want)
	}
	for _, tt := range []struct{ why, stat, message string }{
		{"an empty file is no idle machine", "", "no line for all processors"},
		{"kernels before 2.5.41 have no iowait", "cpu 1 2 3 4\ncpu0 1 2 3 4\n", "has no idle and iowait"},
		{"a field that is no number", "cpu 1 2 3 x 5\ncpu0 1 2 3 x 5\n", "invalid syntax"},
	} {
		if _, err := parseStat(tt.stat); err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

func TestParseProcess(t *testing.T) {
	for _, tt := range []struct {
		why, stat string
		want      process
	}{
		{
			"a name with spaces and parentheses shifts no field",
			"4711 (a) b (c) R 1 4700 1463 0 -1 4194304 99 0 0 0 150 50 7 3 20 0 1 0 1496798 3133440 414",
			process{parent: 1, used: 2100 * time.Millisecond},
		},
		{
			"a kernel thread works for the contestants",
			"22 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 9 0 0 20 0 1 0 5 0 0",
			process{parent: 2, kernel: true, used: 90 * time.Millisecond},
		},
	} {
		if got, err := parseProcess(tt.stat); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.why, got, err, tt.want)
		}
	}
	if _, err := parseProcess("4711 (short) R 1"); err == nil {
		t.Error("a line that ends early is taken")
	}
}

func TestOthers(t *testing.T) {
	got := others(map[int]process{
		1:  {used: time.Second},
		10: {parent: 1, used: time.Second},  // this program
		11: {parent: 10, used: time.Second}, // the contestant
		12: {parent: 11, used: time.Second}, // its job
		13: {parent: 99, used: time.Second}, // whose parent has ended
		14: {parent: 2, kernel: true, used: time.Second},
	}, 10, 11)
	if want := map[int]time.Duration{1: time.Second, 13: time.Second}; !maps.Equal(got, want) {
		t.Errorf("others are %v, want %v", got, want)
	}
}

func TestShares(t *testing.T) {
	at := time.Now()
	begin := reading{at: at, cores: 4, idle: 100 * time.Second, others: map[int]time.Duration{1: 5 * time.Second, 2: time.Second}}
	end := reading{
		at: at.Add(2 * time.Second), cores: 4, idle: 105 * time.Second,
		// 2 has ended, which its parent 1 was charged for; 3 is new.
		others: map[int]time.Duration{1: 6 * time.Second, 3: 500 * time.Millisecond},
	}
	if got := busyCores(begin, end); math.Abs(got-1.5) > 1e-9 {
		t.Errorf("%g busy cores, want 1.5: 3 of 8 seconds", got)
	}
	if got := otherCores(begin, end); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("%g cores of others, want 0.75", got)
	}
}

// The figures rest on what this kernel writes.
func TestReadProcessors(t *testing.T) {
	r, err := readProcessors(0)
	if err != nil {
		t.Fatal(err)
	}
	if r.cores == 0 || r.idle <= 0 {
		t.Errorf("%+v", r)
	}
	if _, self := r.others[os.Getpid()]; self {
		t.Error("this program counts itself among the others")
	}
}
