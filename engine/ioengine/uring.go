// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package ioengine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's interface, from include/uapi/linux/io_uring.h.
const (
	setupClamp        = 1 << 4
	setupSubmitAll    = 1 << 7
	setupCoopTaskrun  = 1 << 8
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	featureExtArg = 1 << 8

	enterGetEvents      = 1 << 0
	enterExtArg         = 1 << 3
	enterRegisteredRing = 1 << 4

	registerBuffers = 0
	registerFiles   = 2
	registerRingFDs = 20

	opReadFixed  = 4
	opWriteFixed = 5
	opRead       = 22
	opWrite      = 23

	sqeFixedFile = 1 << 0

	offsetSQRing = 0
	offsetSQEs   = 0x10000000
)

// setupFlags are tried in order, since older kernels answer EINVAL to flags they do not know.
// With SINGLE_ISSUER and DEFER_TASKRUN (6.1) completions are handled when the worker asks for
// them and interrupt nothing. COOP_TASKRUN (5.19) spares the interrupt alone. SQPOLL is left out:
// its thread competes for the processor and costs three quarters of the IOPS.
var setupFlags = []uint32{
	setupClamp | setupSubmitAll | setupSingleIssuer | setupDeferTaskrun,
	setupClamp | setupSubmitAll | setupCoopTaskrun,
	0,
}

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, reserved uint32
	userAddress                                                uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, reserved uint32
	userAddress                                                uint64
}

type uringParams struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	reserved                                                               [3]uint32
	sq                                                                     sqOffsets
	cq                                                                     cqOffsets
}

type submission struct {
	opcode, flags  uint8
	ioPriority     uint16
	fd             int32
	offset         uint64
	address        uint64
	length         uint32
	rwFlags        uint32
	userData       uint64
	bufferIndex    uint16
	personality    uint16
	spliceFD       int32
	address3, pad2 uint64
}

type uringCompletion struct {
	userData uint64
	result   int32
	flags    uint32
}

// extArg bounds a wait.
type extArg struct {
	signalMask      uint64
	signalMaskBytes uint32
	reserved        uint32
	timespec        uint64
}

// uring is io_uring with one ring.
type uring struct {
	fd         int
	enterFD    uintptr
	enterFlags uintptr
	canTimeOut bool

	ringMemory, sqeMemory []byte

	sqTail *uint32
	sqMask uint32
	sqes   []submission
	cqHead *uint32
	cqTail *uint32
	cqMask uint32
	cqes   []uringCompletion

	// tail is the next submission's place; pending of those before it the kernel has yet to take.
	tail     uint32
	pending  uint32
	inFlight int
	refusals refusals

	size            uint32
	files           []int32
	fileFlags       uint8
	readOp, writeOp uint8
	buffers         Buffers

	wait    extArg
	timeout unix.Timespec
}

func openURing(c Config) (Engine, error) {
	var p uringParams
	fd, err := setupURing(uint32(c.Depth), &p)
	if err != nil {
		return nil, err
	}
	u := &uring{
		fd: fd, enterFD: uintptr(fd), canTimeOut: p.features&featureExtArg != 0,
		size: uint32(c.BlockSize), readOp: opRead, writeOp: opWrite, buffers: c.Buffers,
	}
	for _, fd := range c.Files {
		u.files = append(u.files, int32(fd))
	}
	if err := u.mapRings(&p); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	// u is on the heap and the Go heap does not move: the address stays good.
	u.wait = extArg{timespec: uint64(uintptr(unsafe.Pointer(&u.timeout)))}
	u.registerAll()
	return u, nil
}

func setupURing(depth uint32, p *uringParams) (int, error) {
	var e syscall.Errno
	for _, flags := range setupFlags {
		*p = uringParams{flags: flags}
		var fd uintptr
		fd, _, e = syscall.Syscall(unix.SYS_IO_URING_SETUP, uintptr(depth), uintptr(unsafe.Pointer(p)), 0)
		if e == 0 {
			return int(fd), nil
		}
		if e != unix.EINVAL {
			break
		}
	}
	return 0, fmt.Errorf("io_uring_setup: %w", e)
}

// mapRings maps both rings at once, as every kernel since 5.4 allows, and the submissions.
func (u *uring) mapRings(p *uringParams) error {
	const protection, sharing = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	size := max(p.sq.array+p.sqEntries*4, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(uringCompletion{})))
	var err error
	if u.ringMemory, err = unix.Mmap(u.fd, offsetSQRing, int(size), protection, sharing); err != nil {
		return fmt.Errorf("mmap of the io_uring: %w", err)
	}
	sqeBytes := int(p.sqEntries) * int(unsafe.Sizeof(submission{}))
	if u.sqeMemory, err = unix.Mmap(u.fd, offsetSQEs, sqeBytes, protection, sharing); err != nil {
		return fmt.Errorf("mmap of the io_uring submissions: %w", err)
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&u.ringMemory[offset])) }
	u.sqTail, u.sqMask = at(p.sq.tail), *at(p.sq.mask)
	u.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&u.sqeMemory[0])), p.sqEntries)
	u.cqHead, u.cqTail, u.cqMask = at(p.cq.head), at(p.cq.tail), *at(p.cq.mask)
	u.cqes = unsafe.Slice((*uringCompletion)(unsafe.Pointer(&u.ringMemory[p.cq.cqes])), p.cqEntries)
	order := unsafe.Slice(at(p.sq.array), p.sqEntries)
	for i := range order {
		order[i] = uint32(i)
	}
	return nil
}

// registerAll registers the buffers, the files and the ring, which saves the kernel a look-up for
// each I/O (about 10% of its cost each). Every one may be refused (the limit on locked memory, an
// older kernel), and then is done without.
func (u *uring) registerAll() {
	memory := unix.Iovec{Base: &u.buffers.Memory[0]}
	memory.SetLen(len(u.buffers.Memory))
	if u.register(registerBuffers, unsafe.Pointer(&memory), 1) {
		u.readOp, u.writeOp = opReadFixed, opWriteFixed
	}
	if u.register(registerFiles, unsafe.Pointer(&u.files[0]), len(u.files)) {
		u.fileFlags = sqeFixedFile
		for i := range u.files {
			u.files[i] = int32(i)
		}
	}
	ring := struct {
		index, reserved uint32
		fd              uint64
	}{^uint32(0), 0, uint64(u.fd)}
	if u.register(registerRingFDs, unsafe.Pointer(&ring), 1) {
		u.enterFD, u.enterFlags = uintptr(ring.index), enterRegisteredRing
	}
}

func (u *uring) register(what uintptr, arg unsafe.Pointer, n int) bool {
	_, _, e := syscall.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(u.fd), what, uintptr(arg), uintptr(n), 0, 0)
	return e == 0
}

func (u *uring) Exchange(requests []Request, done []Completion, wait time.Duration) (int, error) {
	for i := range requests {
		u.queue(&requests[i])
	}
	if len(requests) > 0 {
		atomic.StoreUint32(u.sqTail, u.tail)
	}
	// Where a completion is there already, there is nothing to wait for.
	if atomic.LoadUint32(u.cqTail) != *u.cqHead {
		wait = 0
	}
	if u.pending > 0 || wait > 0 {
		if err := u.enter(u.pending, wait); err != nil {
			return 0, err
		}
	}
	// The kernel does not wait when it could not take all submissions.
	if wait > 0 && u.pending > 0 && u.inFlight > 0 {
		if err := u.enter(0, wait); err != nil {
			return 0, err
		}
	}
	return u.take(done), nil
}

func (u *uring) queue(r *Request) {
	s := &u.sqes[u.tail&u.sqMask]
	s.opcode = u.readOp
	if r.Write {
		s.opcode = u.writeOp
	}
	s.flags, s.fd = u.fileFlags, u.files[r.File]
	s.offset, s.length = uint64(r.Offset), u.size
	s.address = uint64(uintptr(unsafe.Pointer(&u.buffers.Memory[int(r.Slot)*u.buffers.Stride])))
	s.userData = uint64(r.Slot)
	u.tail++
	u.pending++
}

// enter submits and, with a time to wait, waits, in one system call. It is a raw one: handing the processor
// to the Go scheduler at each wait costs a fifth of the IOPS at depth 1.
func (u *uring) enter(submit uint32, wait time.Duration) error {
	flags, least := u.enterFlags, uintptr(0)
	var arg unsafe.Pointer
	var argBytes uintptr
	if wait > 0 {
		flags, least = flags|enterGetEvents, 1
		if u.canTimeOut {
			u.timeout.Nsec = bounded(wait)
			flags |= enterExtArg
			arg, argBytes = unsafe.Pointer(&u.wait), unsafe.Sizeof(u.wait)
		}
	}
	n, _, e := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER,
		u.enterFD, uintptr(submit), least, flags, uintptr(arg), argBytes)
	switch {
	case e == 0:
		u.refusals.taken(n)
		u.pending -= uint32(n)
		u.inFlight += int(n)
		return nil
	case e == unix.ETIME:
		return nil
	case transient(e):
		return u.refusals.refused(u.inFlight)
	default:
		return fmt.Errorf("io_uring_enter: %w", e)
	}
}

func (u *uring) take(done []Completion) int {
	head, tail := *u.cqHead, atomic.LoadUint32(u.cqTail)
	n := 0
	for ; head != tail && n < len(done); n++ {
		c := &u.cqes[head&u.cqMask]
		done[n] = Completion{Slot: uint32(c.userData), Result: c.result}
		head++
	}
	if n > 0 {
		atomic.StoreUint32(u.cqHead, head)
		u.inFlight -= n
	}
	return n
}

// Close closes the ring first: it ends what the memory is used for.
func (u *uring) Close() error {
	err := unix.Close(u.fd)
	for _, m := range [][]byte{u.ringMemory, u.sqeMemory} {
		if m != nil {
			err = errors.Join(err, unix.Munmap(m))
		}
	}
	if err != nil {
		return fmt.Errorf("closing the io_uring: %w", err)
	}
	return nil
}
