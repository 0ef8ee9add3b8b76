// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/cgroup"
	"github.com/diskbench/diskbench/engine/report"
)

// threadCPU is a thread's processor time at an instant of the workers' clock.
type threadCPU struct {
	// at is the instant, used the time on a core, delayed the time of waiting for one.
	at, used, delayed int64
}

// threadClock reads the processor time of the thread that opened it. It allocates nothing.
type threadClock struct {
	schedstat int
	buffer    [64]byte
}

// open is called by the thread itself. Where the kernel keeps no delays, they are 0.
func (c *threadClock) open() {
	fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	c.schedstat = fd
}

func (c *threadClock) close() {
	if c.schedstat > 0 {
		_ = unix.Close(c.schedstat)
	}
}

func (c *threadClock) read(now int64) threadCPU {
	u := usage(unix.RUSAGE_THREAD)
	t := threadCPU{at: now, used: u.UserNanos + u.SystemNanos}
	if c.schedstat > 0 {
		n, _ := unix.Pread(c.schedstat, c.buffer[:], 0)
		t.delayed = secondNumber(c.buffer[:max(n, 0)])
	}
	return t
}

// secondNumber is that of "time on a core, time waiting for one, slices": /proc/*/schedstat.
func secondNumber(line []byte) int64 {
	_, rest, _ := bytes.Cut(line, []byte(" "))
	n := int64(0)
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// percent is a share of the time between two readings, 0 to 100, rounded down: it is held against what
// it must reach.
func percent(part, whole int64) int32 {
	if whole <= 0 {
		return 0
	}
	return int32(max(0, min(100*part/whole, 100)))
}

// lostPercent is a share of the time that was lost, rounded up: it is held against what it must not be
// above.
func lostPercent(part, whole int64) int32 {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return int32(min((100*part+whole-1)/whole, 100))
}

// usage is the processor time of this thread or process. The call cannot fail with these arguments.
func usage(who int) report.CPU {
	var u unix.Rusage
	_ = unix.Getrusage(who, &u)
	return report.CPU{UserNanos: u.Utime.Nano(), SystemNanos: u.Stime.Nano()}
}

// hostCPU is what the engine can see of the processors around it.
type hostCPU struct {
	at time.Time
	// used is the engine's own processor time.
	used report.CPU
	// throttled is how long the container's CPU limit has held it back.
	throttled time.Duration
	// stolen and all are the machine's ticks: those its hypervisor took, and all of them.
	stolen, all int64
}

func readHostCPU() hostCPU {
	h := hostCPU{at: time.Now(), used: usage(unix.RUSAGE_SELF), throttled: throttledTime()}
	if f, err := os.Open("/proc/stat"); err == nil {
		line, _ := bufio.NewReader(f).ReadString('\n')
		h.stolen, h.all = parseCPUTicks(line)
		_ = f.Close()
	}
	return h
}

// since is the processor time between two readings.
func (h hostCPU) since(before hostCPU) report.CPU {
	return report.CPU{
		UserNanos:        h.used.UserNanos - before.used.UserNanos,
		SystemNanos:      h.used.SystemNanos - before.used.SystemNanos,
		ThrottledPercent: lostPercent(int64(h.throttled-before.throttled), int64(h.at.Sub(before.at))),
		StealPercent:     lostPercent(h.stolen-before.stolen, h.all-before.all),
	}
}

// parseCPUTicks reads "cpu user nice system idle iowait irq softirq steal guest guest_nice". The
// guests' are part of user and nice.
func parseCPUTicks(line string) (stolen, all int64) {
	fields := strings.Fields(line)
	for i := 1; i < min(len(fields), 9); i++ {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		all += n
		if i == 8 {
			stolen = n
		}
	}
	return stolen, all
}

// throttledTime is that of this process' control group: throttled_usec on cgroup v2, throttled_time
// in nanoseconds on v1. It is 0 without a limit.
func throttledTime() time.Duration {
	root := os.DirFS("/")
	for _, dir := range cgroup.Dirs(root, "cpu") {
		stat, err := fs.ReadFile(root, path.Join(dir, "cpu.stat"))
		if err != nil {
			continue
		}
		if d, ok := parseThrottled(string(stat)); ok {
			return d
		}
	}
	return 0
}

func parseThrottled(stat string) (time.Duration, bool) {
	for line := range strings.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case name == "throttled_usec":
			return time.Duration(n) * time.Microsecond, true
		case name == "throttled_time":
			return time.Duration(n), true
		}
	}
	return 0, false
}
