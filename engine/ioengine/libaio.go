// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package ioengine

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's interface, from include/uapi/linux/aio_abi.h. The layout is that of little-endian
// machines, which are the only ones Go's linux/amd64 and linux/arm64 run on.
const (
	iocbCmdPread  = 0
	iocbCmdPwrite = 1

	// aioRingMagic marks the completion ring that io_setup(2) maps into the process, laid out as
	// fs/aio.c's struct aio_ring since Linux 2.6.
	aioRingMagic = 0xa10a10a1
)

type iocb struct {
	data     uint64
	key      uint32
	rwFlags  uint32
	opcode   uint16
	priority int16
	fd       uint32
	buffer   uint64
	bytes    uint64
	offset   int64
	reserved uint64
	flags    uint32
	eventFD  uint32
}

type ioEvent struct {
	data, object    uint64
	result, result2 int64
}

type aioRing struct {
	id, entries, head, tail               uint32
	magic, compat, incompat, headerLength uint32
}

// aioEngine is Linux native AIO.
type aioEngine struct {
	context uintptr
	files   []uint32
	blocks  []iocb

	// pending are the blocks the kernel has yet to take.
	pending  []*iocb
	refusals refusals
	inFlight int

	// ring and slots are the completion ring; ring is nil where it cannot be read directly.
	ring  *aioRing
	slots []ioEvent

	events []ioEvent
	wait   unix.Timespec
}

func openAIO(c Config) (Engine, error) {
	a := &aioEngine{
		blocks:  make([]iocb, c.Depth),
		pending: make([]*iocb, 0, c.Depth),
		events:  make([]ioEvent, c.Depth),
	}
	for _, fd := range c.Files {
		a.files = append(a.files, uint32(fd))
	}
	for i := range a.blocks {
		buffer := unsafe.Pointer(&c.Buffers.Memory[i*c.Buffers.Stride])
		a.blocks[i] = iocb{
			data: uint64(i), buffer: uint64(uintptr(buffer)), bytes: uint64(c.BlockSize),
		}
	}
	_, _, e := syscall.Syscall(unix.SYS_IO_SETUP, uintptr(c.Depth), uintptr(unsafe.Pointer(&a.context)), 0)
	if e == unix.EAGAIN {
		return nil, fmt.Errorf("io_setup for %d I/Os: %w (fs.aio-max-nr is used up on this node)", c.Depth, e)
	}
	if e != 0 {
		return nil, fmt.Errorf("io_setup: %w", e)
	}
	a.mapRing()
	return a, nil
}

// mapRing finds the completion ring: the context's number is its address.
func (a *aioEngine) mapRing() {
	ring := *(**aioRing)(unsafe.Pointer(&a.context))
	if ring.magic != aioRingMagic || ring.incompat != 0 {
		return
	}
	a.ring = ring
	a.slots = unsafe.Slice((*ioEvent)(unsafe.Add(unsafe.Pointer(ring), ring.headerLength)), ring.entries)
}

func (a *aioEngine) Exchange(requests []Request, done []Completion, wait time.Duration) (int, error) {
	for i := range requests {
		a.queue(&requests[i])
	}
	if len(a.pending) > 0 {
		if err := a.submit(); err != nil {
			return 0, err
		}
	}
	n := a.takeFromRing(done)
	if n == 0 && a.inFlight > 0 && (wait > 0 || a.ring == nil) {
		var err error
		if n, err = a.getEvents(done, wait); err != nil {
			return 0, err
		}
	}
	a.inFlight -= n
	return n, nil
}

func (a *aioEngine) queue(r *Request) {
	b := &a.blocks[r.Slot]
	b.opcode = iocbCmdPread
	if r.Write {
		b.opcode = iocbCmdPwrite
	}
	b.fd, b.offset = a.files[r.File], r.Offset
	a.pending = append(a.pending, b)
}

func (a *aioEngine) submit() error {
	n, _, e := syscall.RawSyscall(unix.SYS_IO_SUBMIT, a.context,
		uintptr(len(a.pending)), uintptr(unsafe.Pointer(&a.pending[0])))
	switch {
	case e == 0:
		a.refusals.taken(n)
		a.inFlight += int(n)
		a.pending = a.pending[:copy(a.pending, a.pending[n:])]
		return nil
	case transient(e):
		return a.refusals.refused(a.inFlight)
	default:
		return fmt.Errorf("io_submit: %w", e)
	}
}

// takeFromRing reads completions without a system call.
func (a *aioEngine) takeFromRing(done []Completion) int {
	if a.ring == nil {
		return 0
	}
	head, tail := a.ring.head, atomic.LoadUint32(&a.ring.tail)
	n := 0
	for ; head != tail && n < len(done); n++ {
		done[n] = a.slots[head].completion()
		if head++; head == a.ring.entries {
			head = 0
		}
	}
	if n > 0 {
		atomic.StoreUint32(&a.ring.head, head)
	}
	return n
}

// getEvents uses a raw system call: handing the processor to the Go scheduler at each wait costs
// a fifth of the IOPS at depth 1.
func (a *aioEngine) getEvents(done []Completion, wait time.Duration) (int, error) {
	least, room := uintptr(0), min(len(done), len(a.events))
	if wait > 0 {
		least = 1
		a.wait.Nsec = bounded(wait)
	}
	n, _, e := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, a.context, least, uintptr(room),
		uintptr(unsafe.Pointer(&a.events[0])), uintptr(unsafe.Pointer(&a.wait)), 0)
	if e == unix.EINTR {
		return 0, nil
	}
	if e != 0 {
		return 0, fmt.Errorf("io_getevents: %w", e)
	}
	for i := range int(n) {
		done[i] = a.events[i].completion()
	}
	return int(n), nil
}

func (e *ioEvent) completion() Completion {
	return Completion{Slot: uint32(e.data), Result: int32(e.result)}
}

func (a *aioEngine) Close() error {
	if _, _, e := syscall.Syscall(unix.SYS_IO_DESTROY, a.context, 0, 0); e != 0 {
		return fmt.Errorf("io_destroy: %w", e)
	}
	return nil
}
