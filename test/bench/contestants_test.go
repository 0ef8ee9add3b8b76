// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"
)

// Abridged output of fio 3.33.
const fioOutput = `note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
{
  "fio version" : "fio-3.33",
  "jobs" : [
    {
      "jobname" : "bench",
      "error" : 0,
      "read" : {
        "iops" : 3000.5,
        "total_ios" : 6001,
        "slat_ns" : { "mean" : 1000.0 },
        "clat_ns" : { "mean" : 9000.0 },
        "lat_ns" : { "min" : 1, "mean" : 10000.0 }
      },
      "write" : {
        "iops" : 1000.0,
        "total_ios" : 2000,
        "lat_ns" : { "mean" : 50000.0 }
      }
    }
  ]
}
`

func TestParseFio(t *testing.T) {
	got, err := parseFio([]byte(fioOutput))
	if err != nil {
		t.Fatal(err)
	}
	// (6001 x 10 µs + 2000 x 50 µs) / 8001
	if want := (figures{4000.5, 19998 * time.Nanosecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, tt := range []struct{ why, output, message string }{
		{"fio says what is wrong in place of figures", "fio: destination does not support O_DIRECT\n", "no JSON: fio: destination"},
		{"two jobs are two halves", "{\n\"jobs\":[{},{}]}", "2 jobs"},
		{"a failed job has figures too", "{\n\"jobs\":[{\"error\":5,\"read\":{\"total_ios\":7}}]}", "error 5"},
		{"no I/O has no latency", "{\n\"jobs\":[{}]}", "completed no I/O"},
		{"a cut output", fioOutput[:200], "unexpected end"},
	} {
		if _, err := parseFio([]byte(tt.output)); err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

func TestParseEngine(t *testing.T) {
	got, err := parseEngine([]byte(`{"workloads":[{"read":{"iops":1},"total":{"iops":4000.5,"latencyMicros":{"mean":12.5}}}]}`))
	if want := (figures{4000.5, 12500 * time.Nanosecond}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := parseEngine([]byte(`{"workloads":[]}`)); err == nil {
		t.Error("no workload is taken for figures")
	}
}

// The contestants are only comparable while these hold.
func TestFioArguments(t *testing.T) {
	at, timing := located{path: "/dev/x", size: 1 << 30}, timing{500 * time.Millisecond, 2 * time.Second}
	c := Case{Place: Zram, IOEngine: "libaio", Pattern: "randrw", Depth: 32, Threads: 2}
	plain := strings.Join(fioDefault(c, at, timing), " ")
	for _, want := range []string{
		"--filename=/dev/x", "--size=1073741824", "--rw=randrw", "--ioengine=libaio", "--iodepth=32", "--numjobs=2",
		"--ramp_time=500ms", "--runtime=2000ms", "--direct=1",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("fio's defaults %q lack %s", plain, want)
		}
	}
	if same := strings.Join(fioSame(c, at, timing), " "); !strings.HasPrefix(same, plain) || !strings.Contains(same, "--iodepth_batch=8 ") {
		t.Errorf("fio of the same work is %q", same)
	}
	candidates := fioCandidates(c, at, timing)
	seen := map[string]bool{}
	for _, args := range candidates {
		seen[strings.Join(args, " ")] = true
	}
	if len(seen) != len(candidates) {
		t.Errorf("candidates of fio at its best share memory or settings: %q", candidates)
	}
	sync := Case{Place: Zero, IOEngine: "sync", Pattern: "randread", Depth: 1, Threads: 1}
	if args := strings.Join(fioSame(sync, at, timing), " "); strings.Contains(args, "batch") || strings.Contains(args, "--direct") || !strings.Contains(args, "=psync") {
		t.Errorf("fio's arguments without a queue on /dev/zero are %q", args)
	}
}
