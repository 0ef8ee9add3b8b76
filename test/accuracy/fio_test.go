// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// fio and the engine take turns on the same target, with the same engine, depth and batches. What one
// round finds depends on the machine's mood in it: the figure is the median over the rounds of the engine's
// by fio's.

const (
	fioRounds   = 8
	fioWindow   = 2 * time.Second
	fioWarmup   = 500 * time.Millisecond
	fioMean     = 0.02
	fioQuantile = 0.05
)

// pair is what both say of the same load.
type pair struct{ mean, p50, p99 float64 }

// fioRun measures random reads of 4 KiB. fio leaves out the time in the system call from its clat: the
// engine's latency is its lat. It submits one by one, since it holds I/Os back until a batch is full, and
// comes too late for a slice of a throttle then.
func fioRun(t *testing.T, path string, size int64, depth int, join string) pair {
	t.Helper()
	args := []string{
		"--name=accuracy", "--filename=" + path, "--size=" + strconv.FormatInt(size, 10), "--rw=randread", "--bs=4k",
		"--ioengine=libaio", "--direct=1", "--iodepth=" + strconv.Itoa(depth), "--thread", "--norandommap",
		"--time_based", fmt.Sprintf("--ramp_time=%dms", fioWarmup.Milliseconds()), fmt.Sprintf("--runtime=%dms", fioWindow.Milliseconds()),
		"--disable_clat=1", "--disable_slat=1", "--lat_percentiles=1", "--percentile_list=50:99", "--output-format=json",
	}
	// The shell joins the group and becomes fio.
	c := exec.Command("sh", append([]string{"-c", `[ -z "$0" ] || echo $$ > "$0/cgroup.procs"; exec fio "$@"`, join}, args...)...)
	c.Dir = t.TempDir()
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("fio: %v: %s", err, out)
	}
	var result struct {
		Jobs []struct {
			Read struct {
				Latency struct {
					Mean       float64            `json:"mean"`
					Percentile map[string]float64 `json:"percentile"`
				} `json:"lat_ns"`
			} `json:"read"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(out, &result); err != nil || len(result.Jobs) != 1 {
		t.Fatalf("fio's result: %v: %s", err, out)
	}
	l := result.Jobs[0].Read.Latency
	return pair{mean: l.Mean, p50: l.Percentile["50.000000"], p99: l.Percentile["99.000000"]}
}

// alternate measures with both in turn, fio first and then the engine first, and gives the medians.
func alternate(t *testing.T, fio, ours func() pair) []finding {
	t.Helper()
	var means, p50s, p99s []float64
	for round := range fioRounds {
		var a, b pair
		if round%2 == 0 {
			a = fio()
			b = ours()
		} else {
			b = ours()
			a = fio()
		}
		means, p50s, p99s = append(means, b.mean/a.mean), append(p50s, b.p50/a.p50), append(p99s, b.p99/a.p99)
		t.Logf("round %d: mean %s of %s µs, p50 %s of %s, p99 %s of %s", round+1, number(b.mean/1e3), number(a.mean/1e3),
			number(b.p50/1e3), number(a.p50/1e3), number(b.p99/1e3), number(a.p99/1e3))
	}
	find := func(what string, ratios []float64, tolerance float64) finding {
		return finding{what: what + ", engine / fio", got: median(ratios), want: 1, tolerance: tolerance}
	}
	return []finding{find("mean", means, fioMean), find("p50", p50s, fioQuantile), find("p99", p99s, fioQuantile)}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func fioLoad(size int64, depth int) workload.Workload {
	w := load("fio", block4Ki, depth, size, fioWindow.Seconds())
	w.Warmup = workload.Duration(fioWarmup)
	return w
}

func pairOf(r report.Workload) pair {
	l := r.Total.Latency
	return pair{mean: float64(l.MeanNanos), p50: float64(*l.P50Nanos), p99: float64(*l.P99Nanos)}
}

// Under a cap: the queue is almost as deep as what a slice of 100 ms lets through, so that the latency is
// the throttle's. With exactly that depth, or more, some of fio's I/Os miss a slice: it delivers up to 4%
// less than the cap allows, and its p99 is a slice longer.
func TestFioUnderACap(t *testing.T) {
	needProgram(t, "fio")
	const iops, depth = 2300, 220
	device := memoryDisk(t, diskSize)
	g := disktest.NewGroup(t)
	g.Limit(t, device, caps{iops: iops}.each())
	p := plan(device, fioLoad(diskSize, depth))
	prepare(t, p)
	judge(t, func() ([]finding, report.CPU) {
		var cpu report.CPU
		return alternate(t, func() pair { return fioRun(t, device, diskSize, depth, g.Dir) }, func() pair {
			r := measure(t, order{Plan: p, Group: g.Dir}).Workloads[0]
			cpu = r.CPU
			return pairOf(r)
		}), cpu
	})
}

// diskDelays are 997 latencies of 1 ms and more that are distributed like a disk's: log-normally, with
// a tail. p99 is about four times p50.
func diskDelays() []time.Duration {
	source := rand.New(rand.NewPCG(1, 2))
	delays := make([]time.Duration, 997)
	for i := range delays {
		delays[i] = time.Millisecond + time.Duration(1e6*math.Exp(0.9*source.NormFloat64()))
	}
	return delays
}

// On a filesystem with delays like those of a disk.
func TestFioOnKnownDelays(t *testing.T) {
	needProgram(t, "fio")
	const depth = 4
	m := newMount(t)
	path := filepath.Join(m.dir, "fio")
	if err := os.WriteFile(path, make([]byte, fileSize), 0o600); err != nil {
		t.Fatal(err)
	}
	delays := Behavior{Delays: diskDelays()}
	judge(t, func() ([]finding, report.CPU) {
		var cpu report.CPU
		return alternate(t, func() pair {
			m.set(t, delays)
			return fioRun(t, path, fileSize, depth, "")
		}, func() pair {
			r, _ := filesystemFigures(t, m, fioLoad(fileSize, depth), workload.LibAIO, delays)
			cpu = r.CPU
			return pairOf(r)
		}), cpu
	})
}
