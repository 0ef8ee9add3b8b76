// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
)

// sysfsOf is the directory of a block device in sysfs, such as /sys/devices/.../block/sdc/sdc1; empty for a
// number that is none, such as that of an overlay.
func sysfsOf(device uint64) string {
	dir, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(device), unix.Minor(device)))
	if err != nil {
		return ""
	}
	return dir
}

// wholeDisk is the directory of the disk that a partition is part of, or the disk's own.
func wholeDisk(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		return filepath.Dir(dir)
	}
	return dir
}

// disksUnder names the disk of a device and all those that device mapper or md made it of, at any depth.
func disksUnder(dir string) []string {
	disk := wholeDisk(dir)
	names := []string{filepath.Base(disk)}
	below, err := os.ReadDir(filepath.Join(disk, "slaves"))
	if err != nil {
		return names
	}
	for _, entry := range below {
		target, err := filepath.EvalSymlinks(filepath.Join(disk, "slaves", entry.Name()))
		if err == nil {
			names = append(names, disksUnder(target)...)
		}
	}
	return names
}

// classify finds what a device is that has nothing to do with the set. Disks alone have an entry in
// block; that of a disk without hardware of its own leads to devices/virtual/block; one of several paths
// to an NVMe disk is hidden, and counts at the disk.
func classify(sysfs, name string) class {
	// The kernel writes a slash in a name as an exclamation mark here (cciss/c0d0).
	entry := filepath.Join(sysfs, "block", strings.ReplaceAll(name, "/", "!"))
	dir, err := filepath.EvalSymlinks(entry)
	if err != nil || strings.HasPrefix(dir, filepath.Join(sysfs, "devices/virtual/block")+"/") || textIn(os.DirFS(dir), "hidden") == "1" {
		return apart
	}
	return other
}

// queueOf is how the kernel drives a device, which for a partition is its disk's affair; nil where there is
// no such device.
func queueOf(dir string) *report.Queue { return ReadQueue(os.DirFS(wholeDisk(dir))) }

// ReadQueue reads how the kernel drives a disk from the disk's directory in sysfs; nil where that is none.
func ReadQueue(disk fs.FS) *report.Queue {
	requests, err := strconv.ParseInt(textIn(disk, "queue/nr_requests"), 10, 64)
	if err != nil {
		return nil
	}
	return &report.Queue{
		Scheduler:   chosenScheduler(textIn(disk, "queue/scheduler")),
		Requests:    requests,
		DeviceDepth: numberIn(disk, "device/queue_depth"),
		MaxIOBytes:  numberIn(disk, "queue/max_sectors_kb") << 10,
		WriteBack:   textIn(disk, "queue/write_cache") == "write back",
		FUA:         textIn(disk, "queue/fua") == "1",
	}
}

// chosenScheduler is the one in brackets of "none [mq-deadline] kyber".
func chosenScheduler(schedulers string) string {
	_, after, _ := strings.Cut(schedulers, "[")
	name, _, ok := strings.Cut(after, "]")
	if !ok {
		return "none" // of a device that has no choice
	}
	return name
}

// textIn is a file's content without white space around it, empty where it cannot be read.
func textIn(dir fs.FS, name string) string {
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// numberIn is the number in a file, 0 without one.
func numberIn(dir fs.FS, name string) int64 {
	n, err := strconv.ParseInt(textIn(dir, name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
