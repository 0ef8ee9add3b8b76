// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ioengine issues the I/O of one worker through io_uring(7), Linux native AIO or plain
// system calls, behind one small interface.
package ioengine

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/workload"
)

// Request is one I/O to issue.
type Request struct {
	// Offset in the file, in bytes.
	Offset int64
	// File is the file's index in Config.Files.
	File int32
	// Slot names the buffer, 0 to Depth-1. It is free again when its completion is taken.
	Slot uint32
	// Write is false for a read.
	Write bool
}

// Completion is one finished I/O.
type Completion struct {
	// Slot is that of the request.
	Slot uint32
	// Result is the number of bytes moved, or a negative errno.
	Result int32
}

// Engine keeps the I/Os of one worker in flight. All calls come from the OS thread that opened it.
type Engine interface {
	// Exchange takes all requests, and stores finished I/Os in done, oldest first. It blocks until
	// at least one is there, at most for wait, or MaxWait if that is less; it may still return none,
	// also after a signal, so that the caller can look what to do. An error is one of the interface
	// itself; a failed I/O is a completion. Its caller never has more than Depth I/Os in flight.
	Exchange(requests []Request, done []Completion, wait time.Duration) (int, error)
	// Close frees what the kernel holds. It waits for I/Os still in flight.
	Close() error
}

// MaxWait bounds how long Exchange blocks, on kernels that can bound it.
const MaxWait = 100 * time.Millisecond

// bounded is the time to wait as nanoseconds below a second.
func bounded(wait time.Duration) int64 { return min(wait, MaxWait).Nanoseconds() }

// Config is what an engine needs of its worker.
type Config struct {
	// Files are the open files. What O_DIRECT and O_DSYNC say of them holds for every I/O.
	Files []int
	// Depth is the most I/Os in flight.
	Depth int
	// BlockSize is the size of every I/O, in bytes.
	BlockSize int
	// Buffers gives the I/O memory.
	Buffers Buffers
}

// Buffers is I/O memory outside the Go heap: one buffer for each slot, each at a page boundary,
// which every known device's alignment divides.
type Buffers struct {
	Memory []byte
	Stride int
}

// Slot is the buffer of a slot.
func (b Buffers) Slot(slot uint32, size int) []byte {
	at := int(slot) * b.Stride
	return b.Memory[at : at+size : at+size]
}

// NewBuffers maps the buffers for depth I/Os of size bytes. Free them with Free.
func NewBuffers(depth, size int) (Buffers, error) {
	page := unix.Getpagesize()
	stride := (size + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, depth*stride, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return Buffers{}, fmt.Errorf("mmap of %d bytes of I/O buffers: %w", depth*stride, err)
	}
	return Buffers{Memory: memory, Stride: stride}, nil
}

// Free unmaps the buffers. No I/O may be in flight.
func (b Buffers) Free() error { return unix.Munmap(b.Memory) }

// Open starts the engine of the given kind, never Auto, for the calling OS thread.
func Open(kind workload.IOEngine, c Config) (Engine, error) {
	switch kind {
	case workload.IOUring:
		return openURing(c)
	case workload.LibAIO:
		return openAIO(c)
	case workload.Sync:
		return openSync(c)
	default:
		return nil, fmt.Errorf("no I/O engine %q", kind)
	}
}

// maxRefusals is how often in a row the kernel may take nothing while nothing is in flight, with
// refusalPause between: a second in all. Then it is not busy but out of a resource.
const (
	maxRefusals  = 1000
	refusalPause = time.Millisecond
)

// errRefused is the kernel's lasting refusal.
var errRefused = errors.New("the kernel took no I/O for a second although none was in flight")

// refusals counts submissions of which the kernel took nothing.
type refusals int

// taken notes that the kernel took n I/Os.
func (r *refusals) taken(n uintptr) {
	if n > 0 {
		*r = 0
	}
}

// refused notes one and, when nothing is in flight whose completion could help, pauses.
func (r *refusals) refused(inFlight int) error {
	if inFlight > 0 {
		return nil
	}
	if *r++; *r > maxRefusals {
		return errRefused
	}
	time.Sleep(refusalPause)
	return nil
}

// transient says whether a system call that failed with e is just to be made again.
func transient(e syscall.Errno) bool {
	return e == unix.EAGAIN || e == unix.EINTR || e == unix.EBUSY
}
