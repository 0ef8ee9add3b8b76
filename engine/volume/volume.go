// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volume prepares the place that a run measures: a file of its own in a directory, a block
// device, or several of them as one. It proves direct I/O, fits sizes to the room there is, really
// writes the data, tells what the kernel knows and counts, and leaves nothing behind.
package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// FileName is the measured file, in the plan's directory. It has this name only once it is
	// completely written.
	FileName = ".diskbench-load.dat"
	// partialName is its name until then.
	partialName = ".diskbench-load.partial.dat"

	// shrinkPercent is the share of the free space that a size nobody asked for may take: a
	// filesystem that is nearly full measures its allocator.
	shrinkPercent = 80
)

// member is an opened directory or device. Its errors are *report.Failure.
type member struct {
	kind workload.TargetKind
	path string
	// dir is the directory, locked against other engines; -1 for a device.
	dir int
	// data is the file or the device, open for direct reads and writes; -1 before that.
	data int
	// name is the file's current name in the directory; empty when it has none.
	name string
	// device is the number of the block device under it; 0 where there is none.
	device uint64
	// sector is the alignment that direct I/O asks for.
	sector int64
	// mark is what a device is to say once the engine has ended; of sector 0 for one that the engine
	// has not written to.
	mark mark
	info report.Target
}

// openMember opens the target for one engine alone.
func openMember(kind workload.TargetKind, path string) (*member, error) {
	v := &member{kind: kind, path: path, dir: -1, data: -1}
	var err error
	switch kind {
	case workload.BlockDevice:
		err = v.openDevice()
	case workload.NullDevice:
		err = v.openNull()
	default:
		err = v.openDirectory()
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *member) openDirectory() error {
	fd, err := unix.Open(v.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return v.failure("open", err)
	}
	v.dir = fd
	// A filesystem without flock (some network ones) goes unlocked.
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return report.Failf(report.ReasonTargetBusy, "another diskbench-engine is at work in %s: wait for its end", v.path)
	}
	return v.describeDirectory()
}

// openDevice opens with O_EXCL, which on a block device means: not while it is mounted or
// otherwise held. The descriptor keeps others from mounting it meanwhile.
func (v *member) openDevice() error {
	var st unix.Stat_t
	if err := unix.Stat(v.path, &st); err != nil {
		return v.failure("stat", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return report.Failf(report.ReasonTargetNotFound, "%s is no block device", v.path)
	}
	fd, err := unix.Open(v.path, unix.O_RDWR|unix.O_EXCL|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return report.Failf(report.ReasonDeviceInUse,
			"%s is mounted or held by the kernel or another program: unmount it first", v.path)
	}
	if err != nil {
		return v.failure("open", err)
	}
	v.data = fd
	// Some kernels open a read-only device for writing, and refuse the writes.
	if readOnly, err := unix.IoctlGetInt(fd, unix.BLKROGET); err == nil && readOnly != 0 {
		return v.failure("open", unix.EROFS)
	}
	return v.describeDevice(uint64(st.Rdev))
}

// openNull makes sure that it is the device that answers at once.
func (v *member) openNull() error {
	fd, err := unix.Open(v.path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return v.failure("open", err)
	}
	v.data, v.sector = fd, minSector
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return v.failure("stat", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(st.Rdev) != unix.Mkdev(1, 5) {
		return report.Failf(report.ReasonTargetNotFound, "%s is not the kernel's zero device", v.path)
	}
	v.info.LogicalBlockBytes = minSector
	return nil
}

// create makes the empty file, in place of what an earlier run that crashed may have left, or
// checks that the device carries nothing that would be lost.
func (v *member) create(overwriteDevice bool) error {
	switch v.kind {
	case workload.BlockDevice:
		return v.refuseSignature(overwriteDevice)
	case workload.NullDevice:
		return nil
	case workload.Directory:
	}
	for _, name := range []string{FileName, partialName} {
		if err := unix.Unlinkat(v.dir, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return v.failure("remove the earlier "+name+" in", err)
		}
	}
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_DIRECT | unix.O_CLOEXEC
	fd, err := unix.Openat(v.dir, partialName, flags, 0o600)
	if errors.Is(err, unix.EINVAL) {
		// Some kernels make the file before they refuse O_DIRECT.
		_ = unix.Unlinkat(v.dir, partialName, 0)
		return v.noDirectIO("its filesystem refuses O_DIRECT")
	}
	if err != nil {
		return v.failure("make a file in", err)
	}
	v.data, v.name = fd, partialName
	return nil
}

// openPrepared opens what an earlier keep of the same target left.
func (v *member) openPrepared() error {
	switch v.kind {
	case workload.BlockDevice:
		return v.readMark()
	case workload.NullDevice:
		return nil
	case workload.Directory:
	}
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_DIRECT | unix.O_CLOEXEC
	fd, err := unix.Openat(v.dir, FileName, flags, 0)
	if errors.Is(err, unix.ENOENT) {
		return report.Failf(report.ReasonTargetNotFound,
			"%s has no %s: lay it out with diskbench-engine prepare, or run without --prepared", v.path, FileName)
	}
	if err != nil {
		return v.failure("open "+FileName+" in", err)
	}
	v.data, v.name = fd, FileName
	return v.refuseHoles()
}

// refuseHoles makes sure that the prepared file is still completely written. The filesystem
// answers reads of holes, and of blocks that are only allocated, from memory; SEEK_HOLE finds both.
// One that knows no holes says that there are none.
func (v *member) refuseHoles() error {
	size, err := unix.Seek(v.data, 0, unix.SEEK_END)
	if err != nil {
		return v.failure("find the size of "+FileName+" in", err)
	}
	hole, err := unix.Seek(v.data, 0, unix.SEEK_HOLE)
	if err == nil && hole < size {
		return report.Failf(report.ReasonTargetNotFound, "%s in %s is unwritten from byte %d of %d on, "+
			"something changed it since: lay it out again with diskbench-engine prepare", FileName, v.path, hole, size)
	}
	return nil
}

func (v *member) agreeOnSeals(verify bool) error {
	if !verify {
		v.mark.sealed = false
		return nil
	}
	sealed := v.mark.sealed
	if v.kind == workload.Directory {
		var err error
		if sealed, err = v.carriesSeals(); err != nil {
			return err
		}
	}
	if !sealed {
		return report.Failf(report.ReasonTargetNotFound, "%s was laid out without the checksums that a verification needs: "+
			"lay it out again with diskbench-engine prepare, for the same workloads", v.path)
	}
	return nil
}

// carriesSeals looks at some sectors from all over the file: should a disk have lost one, that is for
// the verification to tell. An empty file has none to lack.
func (v *member) carriesSeals() (bool, error) {
	size, err := unix.Seek(v.data, 0, unix.SEEK_END)
	if err != nil || size == 0 {
		return true, err
	}
	const samples = 8
	for i := range int64(samples) {
		sector, err := v.readAt(size/samples*i/maxSector*maxSector, maxSector)
		if err != nil {
			return false, err
		}
		if seal.Carries(sector) {
			return true, nil
		}
	}
	return false, nil
}

// keep gives the completely written file its name, for a later run; a device gets its mark.
func (v *member) keep() error {
	switch v.kind {
	case workload.BlockDevice:
		return v.writeMark()
	case workload.NullDevice:
		return nil
	case workload.Directory:
	}
	if err := unix.Renameat(v.dir, partialName, v.dir, FileName); err != nil {
		return v.failure("name the file in", err)
	}
	v.name = FileName
	return nil
}

// unlink takes the file's name away while it stays open: from then on the kernel frees it however
// this process ends, even when it is killed.
func (v *member) unlink() error {
	if v.name == "" {
		return nil
	}
	if err := unix.Unlinkat(v.dir, v.name, 0); err != nil {
		return v.failure("remove "+v.name+" in", err)
	}
	v.name = ""
	return nil
}

// discard removes the file, where there is one; a device that was written to is marked as ours.
func (v *member) discard() {
	_ = v.unlink()
	if v.data >= 0 && v.mark.sector > 0 {
		_ = v.writeMark()
	}
}

func (v *member) close() {
	for _, fd := range []int{v.data, v.dir} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	v.data, v.dir = -1, -1
}

// open opens the file or device once more for one worker, so that workers do not contend for one
// open file's counters. It works through /proc, since the file may have no name any more.
func (v *member) open(o OpenOptions) (*os.File, error) { return v.reopen(v.data, o) }

func (v *member) reopen(fd int, o OpenOptions) (*os.File, error) {
	flags := unix.O_RDWR | unix.O_CLOEXEC
	if !o.Buffered && v.kind != workload.NullDevice {
		flags |= unix.O_DIRECT
	}
	if o.DSync {
		flags |= unix.O_DSYNC
	}
	path := fmt.Sprintf("/proc/self/fd/%d", fd)
	// Reads need not look at, nor write, the time of the last access. Only the owner may ask for that.
	opened, err := unix.Open(path, flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		opened, err = unix.Open(path, flags, 0)
	}
	if err != nil {
		return nil, v.failure("reopen", err)
	}
	return os.NewFile(uintptr(opened), filepath.Base(v.path)), nil
}

// describe names the target in messages.
func (v *member) describe() string {
	if v.kind == workload.Directory && v.info.Device != "" {
		return fmt.Sprintf("%s (/dev/%s)", v.path, v.info.Device)
	}
	return v.path
}

// failure turns a system call's error into a reason and a sentence that says what to do.
func (v *member) failure(action string, err error) *report.Failure {
	what := fmt.Sprintf("cannot %s %s: %v", action, v.path, err)
	switch {
	case errors.Is(err, unix.EROFS):
		return v.readOnly()
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return report.Failf(report.ReasonPermissionDenied,
			"%s: the engine runs as uid %d, gid %d and has to be able to write there", what, os.Getuid(), os.Getgid())
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return report.Failf(report.ReasonTargetNotFound, "%s: give an existing %s", what, v.kind)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return report.Failf(report.ReasonNoSpace, "%s: make room, or take a larger volume", what)
	default:
		return report.Failf(report.ReasonIOError, "%s: the kernel's log may say more", what)
	}
}

func (v *member) readOnly() *report.Failure {
	if v.kind == workload.BlockDevice {
		return report.Failf(report.ReasonPermissionDenied, "%s is a read-only device: attach it for writing, or take another", v.path)
	}
	return report.Failf(report.ReasonPermissionDenied, "%s is mounted read-only: mount it for writing, or take another volume", v.path)
}
