// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// File is a new file of a workload's own, beside the one that others share. It has no name, so that
// the kernel frees it however the process ends.
type File struct {
	volume *member
	fd     int
}

// NewFile makes a file in the set's only directory: Preallocated with size bytes set aside and not
// written, or Append and empty.
func (s *Set) NewFile(layout workload.Layout, size int64) (*File, error) {
	v := s.members[0]
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	const name = ".diskbench-own.dat"
	_ = unix.Unlinkat(v.dir, name, 0) // of a run that was killed between the next two calls
	fd, err := unix.Openat(v.dir, name, flags, 0o600)
	if err != nil {
		return nil, v.failure("make a file in", err)
	}
	f := &File{volume: v, fd: fd}
	if err := unix.Unlinkat(v.dir, name, 0); err != nil {
		f.Close()
		return nil, v.failure("remove "+name+" in", err)
	}
	if layout == workload.Preallocated {
		if err := f.preallocate(size); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// preallocate sets the space aside, durably: that is no part of what is measured.
func (f *File) preallocate(size int64) error {
	err := f.volume.allocate(f.fd, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return report.Failf(report.ReasonInvalidPlan, "layout %s: %s (%s) cannot set space aside: use layout %s or %s",
			workload.Preallocated, f.volume.describe(), f.volume.info.Filesystem, workload.Written, workload.Append)
	}
	if err == nil {
		err = ignoringEINTR(func() error { return unix.Fsync(f.fd) })
	}
	return f.volume.allocateFailure(size, err)
}

// Open opens the file once more, for one worker.
func (f *File) Open(o OpenOptions) (*os.File, error) { return f.volume.reopen(f.fd, o) }

// Truncate empties the file.
func (f *File) Truncate() error {
	return ignoringEINTR(func() error { return unix.Ftruncate(f.fd, 0) })
}

// Close lets go of the file, whose space is free then.
func (f *File) Close() { _ = unix.Close(f.fd) }
