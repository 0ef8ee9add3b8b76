// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
)

const (
	// attempts is how often a measurement is made at most, if the machine was disturbed each time.
	attempts = 3

	// The machine was disturbed if other programs took more than a twentieth of a core, if the
	// hypervisor took more than 2% of it, or if a worker waited for a core for more than 5% of the
	// time. The last two are those by which the assessment blames the load generator. All are judgment.
	mostOthers, mostSteal, mostRunDelay = 0.05, 2, 5
)

// finding is a figure beside the truth.
type finding struct {
	what      string
	got, want float64
	// tolerance is a fraction of what is wanted.
	tolerance float64
	unit      string
}

func (f finding) deviation() float64 { return (f.got - f.want) / f.want }

func (f finding) holds() bool { return math.Abs(f.deviation()) <= f.tolerance } // not so for NaN

func (f finding) String() string {
	return fmt.Sprintf("%s: %s %s, want %s within %g%%: %+.2f%%",
		f.what, number(f.got), f.unit, number(f.want), 100*f.tolerance, 100*f.deviation())
}

// number has four digits or more.
func number(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// judge makes a measurement and holds its findings against their tolerances. One that fails is made
// again only when something beside the engine's own figures shows that the machine was disturbed,
// and then the log says so.
func judge(t *testing.T, run func() ([]finding, report.CPU)) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		before := readOthers(t)
		findings, cpu := run()
		disturbed := disturbance(readOthers(t).since(before), cpu)
		missed := misses(findings)
		if missed == nil || disturbed == "" || attempt == attempts {
			if disturbed != "" {
				t.Logf("the machine was disturbed: %s", disturbed)
			}
			conclude(t, findings)
			return
		}
		t.Logf("attempt %d: the machine was disturbed, %s; out of tolerance: %s; measured again", attempt, disturbed, missed)
	}
}

func misses(findings []finding) []finding {
	var missed []finding
	for _, f := range findings {
		if !f.holds() {
			missed = append(missed, f)
		}
	}
	return missed
}

// conclude logs the findings, fails the test for those that do not hold, and adds all to the table.
func conclude(t *testing.T, findings []finding) {
	t.Helper()
	for _, f := range findings {
		if f.holds() {
			t.Log(f)
		} else {
			t.Error(f)
		}
		tabulate(t, f)
	}
}

// check is conclude for findings that no disturbance can change.
func check(t *testing.T, findings ...finding) {
	t.Helper()
	conclude(t, findings)
}

var table sync.Mutex

func tabulate(t *testing.T, f finding) {
	t.Helper()
	path := os.Getenv(tableVariable)
	if path == "" {
		return
	}
	table.Lock()
	defer table.Unlock()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(file, "| %s | %s | %s %s | %s | %+.2f%% | %g%% |\n", t.Name(), f.what, number(f.want), f.unit,
		number(f.got), 100*f.deviation(), 100*f.tolerance)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// disturbance says what disturbed the machine, given the cores that others took; empty for nothing.
func disturbance(others float64, cpu report.CPU) string {
	switch {
	case others > mostOthers:
		return fmt.Sprintf("other programs took %.2f cores", others)
	case cpu.StealPercent > mostSteal:
		return fmt.Sprintf("the hypervisor took %d%% of the processors", cpu.StealPercent)
	case cpu.RunDelayPercent > mostRunDelay:
		return fmt.Sprintf("a worker waited for a core for %d%% of the time", cpu.RunDelayPercent)
	}
	return ""
}

// others is the processor time, since boot, of programs that are not of this test: neither in its
// process group, nor of the kernel.
type others struct {
	at   time.Time
	used time.Duration
}

// ticksPerSecond is the unit of /proc/stat and /proc/PID/stat: 100 on every architecture that Go
// runs on.
const ticksPerSecond = 100

// kernelThread is PF_KTHREAD of include/linux/sched.h.
const kernelThread = 0x00200000

// readOthers takes what all programs used, and takes off what it finds of this test and of the
// kernel. So it also counts programs that come and go meanwhile.
func readOthers(t *testing.T) others {
	t.Helper()
	all, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(all), "\n")
	fields := strings.Fields(line)
	if len(fields) < 4 {
		t.Fatalf("/proc/stat begins with %q", line)
	}
	o := others{at: time.Now(), used: ticks(fields[1:4])} // user, nice and system
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if stat, err := os.ReadFile(path); err == nil { // else it has ended
			o.used -= ours(string(stat))
		}
	}
	return o
}

// ours gives the processor time of a process of this test, with that of its children that have ended,
// or of a kernel thread, and 0 for others. The fields are those of proc_pid_stat(5); the name may hold
// spaces.
func ours(stat string) time.Duration {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0
	}
	group, _ := strconv.Atoi(fields[5-3])
	flags, _ := strconv.ParseUint(fields[9-3], 10, 32)
	if group != unix.Getpgrp() && flags&kernelThread == 0 {
		return 0
	}
	return ticks(fields[14-3 : 18-3]) // utime, stime, cutime, cstime
}

func ticks(fields []string) time.Duration {
	sum := time.Duration(0)
	for _, field := range fields {
		n, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(n) * time.Second / ticksPerSecond
	}
	return sum
}

// since is the number of cores that others took since the earlier reading. The kernel counts in
// ticks, so that nothing may look like a little less than nothing.
func (o others) since(before others) float64 {
	return max(0, (o.used-before.used).Seconds()/o.at.Sub(before.at).Seconds())
}
