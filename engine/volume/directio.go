// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	minSector = 512
	maxSector = 65536
)

// memoryFilesystems accept O_DIRECT and ignore it: their data is the page cache itself.
var memoryFilesystems = []int64{unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.HUGETLBFS_MAGIC}

// serverFilesystems send direct I/O to their server, whatever its alignment.
var serverFilesystems = []int64{unix.NFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
	unix.CEPH_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC}

// proveDirectIO makes sure that I/O bypasses the page cache, and finds the sector. The kernel's
// own statement (statx, Linux 6.1) counts; where there is none, real direct I/O shows itself by
// refusing a misaligned read.
func (v *member) proveDirectIO() error {
	if v.kind == workload.NullDevice {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(v.data, &fs); err != nil {
		return v.failure("statfs", err)
	}
	if v.kind == workload.Directory && slices.Contains(memoryFilesystems, int64(fs.Type)) {
		return v.noDirectIO("it is " + v.info.Filesystem + ", which keeps its data in memory")
	}
	sector, err := v.statedSector()
	if err == nil && sector == 0 {
		sector, err = v.probedSector(int64(fs.Type))
	}
	if err != nil {
		return err
	}
	v.sector, v.info.LogicalBlockBytes = sector, sector
	return nil
}

// statedSector is what the kernel says: 0 when it says nothing.
func (v *member) statedSector() (int64, error) {
	var st unix.Statx_t
	if err := unix.Statx(v.data, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st); err != nil {
		if errors.Is(err, unix.ENOSYS) {
			return 0, nil
		}
		return 0, v.failure("statx", err)
	}
	if st.Mask&unix.STATX_DIOALIGN == 0 {
		return 0, nil
	}
	if st.Dio_offset_align == 0 {
		return 0, v.noDirectIO("statx says so")
	}
	return max(int64(st.Dio_offset_align), int64(st.Dio_mem_align), minSector), nil
}

// probedSector tries reads, and for a file writes to have something to read.
func (v *member) probedSector(fsType int64) (int64, error) {
	buffers, err := ioengine.NewBuffers(2, maxSector)
	if err != nil {
		return 0, report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	shorten, err := v.extend(buffers.Slot(0, maxSector))
	if err != nil {
		return 0, err
	}
	defer shorten()
	if _, err := unix.Pread(v.data, buffers.Slot(0, maxSector)[:minSector-1], 1); !errors.Is(err, unix.EINVAL) &&
		!slices.Contains(serverFilesystems, fsType) {
		return 0, v.noDirectIO("it accepts a misaligned read, which direct I/O does not")
	}
	for sector := int64(minSector); sector <= maxSector; sector *= 2 {
		n, err := unix.Pread(v.data, buffers.Slot(1, int(sector)), sector)
		if err == nil && int64(n) == sector {
			return sector, nil
		}
	}
	return 0, v.noDirectIO("no aligned read succeeds")
}

// extend gives a file without content something to read, until it is shortened again.
func (v *member) extend(block []byte) (shorten func(), err error) {
	var st unix.Stat_t
	if err := unix.Fstat(v.data, &st); err != nil {
		return nil, v.failure("stat", err)
	}
	if v.kind == workload.BlockDevice || st.Size > 0 {
		return func() {}, nil
	}
	for at := int64(0); at < 2*maxSector; at += maxSector {
		if _, err := unix.Pwrite(v.data, block, at); err != nil {
			if errors.Is(err, unix.EINVAL) {
				return nil, v.noDirectIO("no aligned write succeeds")
			}
			return nil, v.failure("write to", err)
		}
	}
	return func() { _ = unix.Ftruncate(v.data, 0) }, nil // of no use, it is overwritten all the same
}

func (v *member) noDirectIO(why string) *report.Failure {
	return report.Failf(report.ReasonDirectIOUnsupported,
		"%s has no direct I/O: %s: use a volume on a disk", v.describe(), why)
}
