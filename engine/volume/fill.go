// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
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
)

// Allocate reserves the file's space, so that a full volume shows at once.
func (v *Volume) Allocate(size int64) error {
	if v.kind != workload.Directory || size == 0 {
		return nil
	}
	return v.allocate(v.data, size)
}

func (v *Volume) allocate(fd int, size int64) error {
	err := ignoringEINTR(func() error { return unix.Fallocate(fd, 0, 0, size) })
	switch {
	case err == nil, errors.Is(err, unix.EOPNOTSUPP):
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		return report.Failf(report.ReasonNoSpace, "a file of %d bytes does not fit on %s: %v: ask for less or take a larger volume",
			size, v.Describe(), err)
	default:
		return v.failure("allocate a file in", err)
	}
}

// fill writes the data and makes it durable.
func (v *Volume) fill(ctx context.Context, f *filler) error {
	if v.kind == workload.NullDevice {
		return nil
	}
	if err := f.run(ctx); err != nil {
		return err
	}
	if err := v.sync(); err != nil {
		return err
	}
	if v.kind == workload.BlockDevice {
		return v.writeMark(f.size)
	}
	return nil
}

func (v *Volume) sync() error {
	if err := ignoringEINTR(func() error { return unix.Fsync(v.data) }); err != nil {
		return v.failure("fsync", err)
	}
	return nil
}

// filler hands out chunks of the file to its writers.
type filler struct {
	volume     *Volume
	size, seed int64
	// logical gives the offset in the set's address space.
	logical func(at int64) int64
	// sector is the unit of seals; 0 for data without.
	sector int
	// progress gets the bytes of each chunk.
	progress   func(int64)
	next, done atomic.Int64
}

func (f *filler) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writers sync.WaitGroup
	for range fillWriters {
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
		return report.Failf(report.ReasonInterrupted, "told to stop while writing the file, at %d of %d bytes", f.done.Load(), f.size)
	}
	return nil
}

func (f *filler) write(ctx context.Context) error {
	buffers, err := ioengine.NewBuffers(1, fillChunk)
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	for ctx.Err() == nil {
		at := f.next.Add(fillChunk) - fillChunk
		if at >= f.size {
			return nil
		}
		chunk := buffers.Slot(0, int(min(fillChunk, f.size-at)))
		source := prng.New(f.seed, f.logical(at))
		source.Fill(chunk)
		for unit := 0; f.sector > 0 && unit < len(chunk); unit += f.sector {
			seal.Seal(chunk[unit:unit+f.sector], f.logical(at+int64(unit)), f.sector)
		}
		if err := f.volume.writeAll(chunk, at); err != nil {
			return err
		}
		f.done.Add(int64(len(chunk)))
		f.progress(int64(len(chunk)))
	}
	return nil
}

// writeAll continues short writes, which signals can cause.
func (v *Volume) writeAll(b []byte, at int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(v.data, b, at)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return v.failure("lay out the file on", err)
		}
		n = max(n, 0)
		b, at = b[n:], at+int64(n)
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
