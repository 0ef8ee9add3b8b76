// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/workload"
)

// place is what the kernel says of a target. Absent values do not apply, or are not known.
type place struct {
	Filesystem string `json:"filesystem,omitempty"`
	// Mounts are where the filesystem of a directory, or the device itself, is mounted.
	Mounts []mount `json:"mounts,omitempty"`
	// Device is the kernel's name of the block device, Disk that of the disk whose part it is.
	Device    string `json:"device,omitempty"`
	Disk      string `json:"disk,omitempty"`
	SizeBytes int64  `json:"sizeBytes,omitempty"`
	// FreeBytes is what a file in a directory may take.
	FreeBytes          *int64 `json:"freeBytes,omitempty"`
	LogicalBlockBytes  int64  `json:"logicalBlockBytes,omitempty"`
	PhysicalBlockBytes int64  `json:"physicalBlockBytes,omitempty"`
	Queue              *queue `json:"queue,omitempty"`
}

type mount struct {
	Source  string `json:"source"`
	Point   string `json:"point"`
	Options string `json:"options"`
}

// sysfsSectorBytes is the unit of a size in sysfs, whatever the device's sector.
const sysfsSectorBytes = 512

// locate finds the place of a path, in the filesystem whose root is root.
func locate(root fs.FS, kind workload.TargetKind, target string) place {
	var p place
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, target, 0, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st); err != nil {
		return p
	}
	mountinfo := textOf(root, "proc/self/mountinfo")
	if kind == workload.BlockDevice {
		p = deviceAt(root, st.Rdev_major, st.Rdev_minor)
		_, p.Mounts = mountsWith(mountinfo, 2, number(st.Rdev_major, st.Rdev_minor))
		return p
	}
	p = deviceAt(root, st.Dev_major, st.Dev_minor)
	p.Filesystem, p.Mounts = mountsWith(mountinfo, 0, strconv.FormatUint(st.Mnt_id, 10))
	var statfs unix.Statfs_t
	if err := unix.Statfs(target, &statfs); err == nil {
		p.SizeBytes = int64(statfs.Blocks) * statfs.Frsize
		p.FreeBytes = new(int64(statfs.Bavail) * statfs.Frsize)
	}
	return p
}

func number(major, minor uint32) string {
	return strconv.FormatUint(uint64(major), 10) + ":" + strconv.FormatUint(uint64(minor), 10)
}

// mountsWith gives the mounts whose field has the value, and the filesystem of the last. A line of
// mountinfo is "id parent major:minor root point options [tags] - type source superoptions" (proc(5)).
func mountsWith(mountinfo string, field int, value string) (filesystem string, mounts []mount) {
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) < 6 || len(right) < 2 || left[field] != value {
			continue
		}
		filesystem = right[0]
		mounts = append(mounts, mount{Source: right[1], Point: left[4], Options: left[5]})
	}
	return filesystem, mounts
}

// deviceAt reads what sysfs knows of a block device. A partition has the queue of its disk.
func deviceAt(root fs.FS, major, minor uint32) place {
	const links = "sys/dev/block"
	link, err := fs.ReadLink(root, path.Join(links, number(major, minor)))
	if err != nil {
		return place{}
	}
	dir := path.Join(links, link)
	p := place{Device: path.Base(dir)}
	if sectors := numberIn(root, path.Join(dir, "size")); sectors != nil {
		p.SizeBytes = *sectors * sysfsSectorBytes
	}
	if numberIn(root, path.Join(dir, "partition")) != nil {
		dir = path.Dir(dir)
	}
	p.Disk = path.Base(dir)
	p.LogicalBlockBytes = valueIn(root, path.Join(dir, "queue/logical_block_size"))
	p.PhysicalBlockBytes = valueIn(root, path.Join(dir, "queue/physical_block_size"))
	p.Queue = queueAt(root, dir)
	return p
}

func queueAt(root fs.FS, disk string) *queue {
	requests := numberIn(root, path.Join(disk, "queue/nr_requests"))
	if requests == nil {
		return nil
	}
	return &queue{
		Scheduler:   chosen(textOf(root, path.Join(disk, "queue/scheduler"))),
		Requests:    *requests,
		DeviceDepth: valueIn(root, path.Join(disk, "device/queue_depth")),
		MaxIOBytes:  valueIn(root, path.Join(disk, "queue/max_sectors_kb")) << 10,
		WriteBack:   strings.TrimSpace(textOf(root, path.Join(disk, "queue/write_cache"))) == "write back",
		FUA:         valueIn(root, path.Join(disk, "queue/fua")) == 1,
	}
}

// chosen is the scheduler in use, "none" in "[none] mq-deadline".
func chosen(schedulers string) string {
	for name := range strings.FieldsSeq(schedulers) {
		if inner, ok := strings.CutPrefix(name, "["); ok {
			return strings.TrimSuffix(inner, "]")
		}
	}
	return "none" // of a device that has no choice
}

// valueIn is the number in a file, 0 without one.
func valueIn(root fs.FS, name string) int64 {
	if n := numberIn(root, name); n != nil {
		return *n
	}
	return 0
}
