// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/volume"
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
		_, p.Mounts = mountsWith(mountinfo, onDevice(number(st.Rdev_major, st.Rdev_minor)))
		return p
	}
	p = deviceAt(root, st.Dev_major, st.Dev_minor)
	p.Filesystem, p.Mounts = mountsWith(mountinfo, withID(strconv.FormatUint(st.Mnt_id, 10)))
	var statfs unix.Statfs_t
	if err := unix.Statfs(target, &statfs); err == nil {
		p.SizeBytes = int64(statfs.Blocks) * statfs.Frsize
		p.FreeBytes = new(int64(statfs.Bavail) * statfs.Frsize)
	}
	return p
}

func onDevice(number string) func(volume.Mount) bool {
	return func(m volume.Mount) bool { return m.Device == number }
}

func withID(id string) func(volume.Mount) bool {
	return func(m volume.Mount) bool { return m.ID == id }
}

func number(major, minor uint32) string {
	return strconv.FormatUint(uint64(major), 10) + ":" + strconv.FormatUint(uint64(minor), 10)
}

// mountsWith gives the mounts of which is holds, and the filesystem of the last.
func mountsWith(mountinfo string, is func(volume.Mount) bool) (filesystem string, mounts []mount) {
	for line := range strings.Lines(mountinfo) {
		m, ok := volume.ParseMount(strings.TrimSuffix(line, "\n"))
		if !ok || !is(m) {
			continue
		}
		filesystem = m.Filesystem
		mounts = append(mounts, mount{Source: m.Source, Point: m.Point, Options: m.Options})
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
	if disk, err := fs.Sub(root, dir); err == nil {
		p.Queue = converted(volume.ReadQueue(disk), newQueue)
	}
	return p
}

// valueIn is the number in a file, 0 without one.
func valueIn(root fs.FS, name string) int64 {
	if n := numberIn(root, name); n != nil {
		return *n
	}
	return 0
}
