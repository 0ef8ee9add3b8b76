// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/cgroup"
)

// host is what the machine and the container allow the engine. Absent values are not limited, or
// not known.
type host struct {
	Kernel string `json:"kernel"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Cores  int    `json:"cores"`
	// CPULimit is the control group's, in cores.
	CPULimit *float64 `json:"cpuLimit,omitempty"`
	// MemoryLockBytes is the limit of locked memory, which io_uring's rings and buffers count against.
	MemoryLockBytes *int64 `json:"memoryLockBytes,omitempty"`
	// AIORequests of AIOMaxRequests are taken, by all programs of the machine (fs.aio-nr, fs.aio-max-nr).
	AIORequests    *int64 `json:"aioRequests,omitempty"`
	AIOMaxRequests *int64 `json:"aioMaxRequests,omitempty"`
	// IOURingDisabled is kernel.io_uring_disabled: 0 for nobody, 1 for all but a group, 2 for all.
	IOURingDisabled *int64 `json:"ioURingDisabled,omitempty"`
	// Seccomp says whether a filter of system calls is in place, as in most containers.
	Seccomp bool `json:"seccomp"`
}

// inspectHost asks the kernel, and reads the files of root, which is that of the filesystem.
func inspectHost(root fs.FS) host {
	h := host{
		Kernel: engine.KernelRelease(), UID: os.Getuid(), GID: os.Getgid(), Cores: runtime.NumCPU(),
		CPULimit:        cpuLimit(root),
		AIORequests:     numberIn(root, "proc/sys/fs/aio-nr"),
		AIOMaxRequests:  numberIn(root, "proc/sys/fs/aio-max-nr"),
		IOURingDisabled: numberIn(root, "proc/sys/kernel/io_uring_disabled"),
		Seccomp:         filtered(textOf(root, "proc/self/status")),
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err == nil && limit.Cur != unix.RLIM_INFINITY {
		h.MemoryLockBytes = new(int64(limit.Cur))
	}
	return h
}

// filtered reads "Seccomp:\t2" of a process' status: 2 is a filter.
func filtered(status string) bool {
	return slices.ContainsFunc(strings.Split(status, "\n"), func(line string) bool {
		return slices.Equal(strings.Fields(line), []string{"Seccomp:", "2"})
	})
}

// cpuLimit is the tightest of the limits of this process' control group and those above it.
func cpuLimit(root fs.FS) *float64 {
	var tightest *float64
	for _, dir := range cgroup.Dirs(root, "cpu") {
		if limit, ok := groupLimit(root, dir); ok && (tightest == nil || limit < *tightest) {
			tightest = &limit
		}
	}
	return tightest
}

// groupLimit reads cpu.max ("150000 100000", or "max 100000") or version 1's pair of files, of which
// the quota is -1 without a limit.
func groupLimit(root fs.FS, dir string) (cores float64, ok bool) {
	fields := strings.Fields(textOf(root, path.Join(dir, "cpu.max")))
	if len(fields) == 0 {
		fields = append(strings.Fields(textOf(root, path.Join(dir, "cpu.cfs_quota_us"))),
			strings.Fields(textOf(root, path.Join(dir, "cpu.cfs_period_us")))...)
	}
	if len(fields) != 2 {
		return 0, false
	}
	quota, err1 := strconv.ParseFloat(fields[0], 64)
	period, err2 := strconv.ParseFloat(fields[1], 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0, false
	}
	return quota / period, true
}

func numberIn(root fs.FS, name string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(textOf(root, name)), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// textOf is the file's content, empty where it cannot be read.
func textOf(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(text)
}
