// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of /proc/stat, USER_HZ: 100 on every architecture that Go runs on.
const ticksPerSecond = 100

// reading is what /proc says of the processors at an instant.
type reading struct {
	at    time.Time
	cores int
	// idle is the time without work since boot, waiting for I/O or not, summed over the cores.
	idle time.Duration
	// others is the processor time, with that of ended children, of each process that is neither the
	// contestant's, nor this program, nor a kernel thread.
	others map[int]time.Duration
}

func readProcessors(contestant int) (reading, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return reading{}, err
	}
	at := time.Now()
	r, err := parseStat(string(stat))
	if err != nil {
		return r, err
	}
	r.at = at
	r.others, err = readOthers(contestant)
	return r, err
}

// parseStat finds the idle time in /proc/stat: the fields idle and iowait, the 4th and 5th, of the
// line cpu, see proc_stat(5).
func parseStat(stat string) (reading, error) {
	var r reading
	found := false
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu"):
		case fields[0] != "cpu":
			r.cores++
		case len(fields) < 6:
			return r, fmt.Errorf("/proc/stat: the line %q has no idle and iowait", strings.TrimSpace(line))
		default:
			idle, err := sumTicks(fields[4:6])
			if err != nil {
				return r, fmt.Errorf("/proc/stat: the line %q: %w", strings.TrimSpace(line), err)
			}
			r.idle, found = idle, true
		}
	}
	if !found || r.cores == 0 {
		return r, errors.New("/proc/stat has no line for all processors, or none for each")
	}
	return r, nil
}

func sumTicks(fields []string) (time.Duration, error) {
	sum := time.Duration(0)
	for _, field := range fields {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ticks) * (time.Second / ticksPerSecond)
	}
	return sum, nil
}

// process is what matters here of /proc/PID/stat.
type process struct {
	parent int
	kernel bool
	used   time.Duration
}

// kernelThread is PF_KTHREAD of include/linux/sched.h.
const kernelThread = 0x00200000

// parseProcess reads /proc/PID/stat. The name, in parentheses, may hold anything; what follows is
// counted from the state, the 3rd field of proc_pid_stat(5).
func parseProcess(stat string) (process, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return process{}, fmt.Errorf("%q is no /proc/PID/stat", stat)
	}
	parent, err := strconv.Atoi(fields[4-3])
	if err != nil {
		return process{}, fmt.Errorf("parent: %w", err)
	}
	flags, err := strconv.ParseUint(fields[9-3], 10, 32)
	if err != nil {
		return process{}, fmt.Errorf("flags: %w", err)
	}
	used, err := sumTicks(fields[14-3 : 18-3]) // utime, stime, cutime, cstime
	return process{parent: parent, kernel: flags&kernelThread != 0, used: used}, err
}

// readOthers leaves out what ends while it looks.
func readOthers(contestant int) (map[int]time.Duration, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	processes := map[int]process{}
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		if processes[pid], err = parseProcess(string(stat)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return others(processes, os.Getpid(), contestant), nil
}

// others leaves out kernel threads, this program, and the contestant with its descendants.
func others(processes map[int]process, self, contestant int) map[int]time.Duration {
	used := map[int]time.Duration{}
	for pid, p := range processes {
		if !p.kernel && pid != self && !descends(processes, pid, contestant) {
			used[pid] = p.used
		}
	}
	return used
}

// descends says whether a process is the ancestor or one of its descendants.
func descends(processes map[int]process, pid, ancestor int) bool {
	for pid != 0 && pid != ancestor {
		pid = processes[pid].parent
	}
	return pid == ancestor
}

// busyCores is the processor time of everything on the machine between two readings, by the time
// between them. It is what is not idle, since the kernel measures idle time exactly and samples the
// rest at its ticks.
func busyCores(begin, end reading) float64 {
	return float64(end.cores) - (end.idle-begin.idle).Seconds()/end.at.Sub(begin.at).Seconds()
}

// otherCores is the processor time of other programs between two readings, by the time between
// them. A child that ended meanwhile is counted where its parent waited for it.
func otherCores(begin, end reading) float64 {
	sum := time.Duration(0)
	for pid, used := range end.others {
		sum += used - begin.others[pid]
	}
	return sum.Seconds() / end.at.Sub(begin.at).Seconds()
}
