// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package ioengine

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syncEngine is pread(2) and pwrite(2), one I/O at a time.
type syncEngine struct {
	files   []uintptr
	size    uintptr
	buffers Buffers
}

func openSync(c Config) (Engine, error) {
	s := &syncEngine{size: uintptr(c.BlockSize), buffers: c.Buffers}
	for _, fd := range c.Files {
		s.files = append(s.files, uintptr(fd))
	}
	return s, nil
}

func (s *syncEngine) Exchange(requests []Request, done []Completion, _ time.Duration) (int, error) {
	for i, r := range requests {
		done[i] = Completion{Slot: r.Slot, Result: s.transfer(r)}
	}
	return len(requests), nil
}

// transfer uses a raw system call, as the other engines do for their waits: giving the processor to
// the Go scheduler and getting it back costs a seventh of the I/Os per CPU-second on /dev/zero, and
// a quarter on a disk. A disk that hangs then holds up whatever stops all of Go's threads, such as a
// garbage collection; the engine does nothing of the kind while a worker may be waiting.
func (s *syncEngine) transfer(r Request) int32 {
	call := uintptr(unix.SYS_PREAD64)
	if r.Write {
		call = unix.SYS_PWRITE64
	}
	buffer := unsafe.Pointer(&s.buffers.Memory[int(r.Slot)*s.buffers.Stride])
	for {
		n, _, e := syscall.RawSyscall6(call, s.files[r.File], uintptr(buffer), s.size, uintptr(r.Offset), 0, 0)
		switch e {
		case 0:
			return int32(n)
		case unix.EINTR:
		default:
			return -int32(e)
		}
	}
}

func (s *syncEngine) Close() error { return nil }
