// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// fillChunk writes of a mebibyte, fillWriters of them at a time, saturate the throughput of
	// every disk the presets are meant for.
	fillChunk   = 1 << 20
	fillWriters = 8
	// maxFillWriters bounds the memory for several volumes.
	maxFillWriters = 32
)

// FillOptions say what is written.
type FillOptions struct {
	// Seed of the random data.
	Seed int64
	// Seal gives each sector its offset in the address space and a checksum, for reads that are verified.
	Seal bool
}

// Fill writes at least size bytes of random data over all members at the same time, and makes them
// durable: reads of blocks never written would be answered without the disk. Progress gets the bytes
// written so far, at most size, from any goroutine.
func (s *Set) Fill(ctx context.Context, size int64, o FillOptions, progress func(done int64)) error {
	if s.members[0].kind == workload.NullDevice {
		return nil
	}
	f := &filler{set: s, size: size, share: s.share(size), seed: o.Seed, progress: progress}
	if o.Seal {
		f.unit = s.sector()
	}
	if err := f.run(ctx); err != nil {
		return err
	}
	for _, v := range s.members {
		if err := v.sync(); err != nil {
			return err
		}
		v.mark.size = f.share
	}
	return nil
}

// filler hands out chunks of the members, of each in turn, to its writers.
type filler struct {
	set *Set
	// size is that of the address space, share that of each member.
	size, share, seed int64
	// unit of seals; 0 for data without.
	unit     int
	progress func(done int64)
	// next is the number of the next chunk, done the bytes that are written.
	next, done atomic.Int64
}

func (f *filler) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, v := range f.set.members {
		// From here on the device is ours, but not laid out.
		v.mark = mark{sector: max(f.unit, int(v.sector)), sealed: f.unit > 0}
	}
	var writers sync.WaitGroup
	for range min(fillWriters*len(f.set.members), maxFillWriters) {
		writers.Go(func() {
			if err := f.write(ctx); err != nil {
				cancel(err)
			}
		})
	}
	writers.Wait()
	if failure := (*report.Failure)(nil); errors.As(context.Cause(ctx), &failure) {
		return failure
	}
	if ctx.Err() != nil {
		return report.Failf(report.ReasonInterrupted, "told to stop while writing the file, at %d of %d bytes",
			min(f.done.Load(), f.size), f.size)
	}
	return nil
}

func (f *filler) write(ctx context.Context) error {
	buffers, err := ioengine.NewBuffers(1, fillChunk)
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	members := int64(len(f.set.members))
	for ctx.Err() == nil {
		n := f.next.Add(1) - 1
		member, at := n%members, n/members*fillChunk
		if at >= f.share {
			return nil
		}
		chunk := buffers.Slot(0, int(min(fillChunk, f.share-at)))
		f.fill(chunk, member, at)
		if err := f.set.members[member].writeAll(chunk, at); err != nil {
			return err
		}
		f.progress(min(f.done.Add(int64(len(chunk))), f.size))
	}
	return nil
}

// Allocate reserves the space of a file of size bytes, so that a full volume shows at once.
func (s *Set) Allocate(size int64) error {
	share := s.share(size)
	return s.each(func(v *member) error {
		if v.kind != workload.Directory || share == 0 {
			return nil
		}
		err := v.allocate(v.data, share)
		if errors.Is(err, unix.EOPNOTSUPP) {
			// The layout itself finds out whether it fits; the size is for what reads before.
			err = ignoringEINTR(func() error { return unix.Ftruncate(v.data, share) })
		}
		return v.allocateFailure(share, err)
	})
}

func (v *member) allocate(fd int, size int64) error {
	return ignoringEINTR(func() error { return unix.Fallocate(fd, 0, 0, size) })
}

func (v *member) allocateFailure(size int64, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		return report.Failf(report.ReasonNoSpace, "a file of %d bytes does not fit on %s: %v: ask for less or take a larger volume",
			size, v.describe(), err)
	default:
		return v.failure("allocate a file in", err)
	}
}

// fill makes the data of a chunk at an offset of a member.
func (f *filler) fill(chunk []byte, member, at int64) {
	source := prng.New(f.seed, f.set.logical(member, at))
	source.Fill(chunk)
	for i := 0; f.unit > 0 && i < len(chunk); i += f.unit {
		seal.Seal(chunk[i:i+f.unit], f.set.logical(member, at+int64(i)), f.unit)
	}
}

// writeAll continues short writes, which signals can cause.
func (v *member) writeAll(b []byte, at int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(v.data, b, at)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return v.writeFailure(at, err)
		case n <= 0:
			return v.writeFailure(at, io.ErrShortWrite)
		}
		b, at = b[n:], at+int64(n)
	}
	return nil
}

// writeFailure is that of a write which there should have been room for.
func (v *member) writeFailure(at int64, err error) *report.Failure {
	reason, advice := report.ReasonIOError, "the kernel's log says more. A thin volume whose pool is full may fail like this"
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		reason, advice = report.ReasonNoSpace, "it has less room than it says, as thin volumes and quotas have: ask for less or take another"
	}
	return report.Failf(reason, "cannot write at byte %d of %s: %v: %s", at, v.describe(), err, advice)
}

func (v *member) sync() error {
	if err := ignoringEINTR(func() error { return unix.Fsync(v.data) }); err != nil {
		return v.failure("fsync", err)
	}
	return nil
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
