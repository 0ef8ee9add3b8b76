// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package ioengine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	blockSize = 4096
	blocks    = 64
)

var kinds = []workload.IOEngine{workload.IOUring, workload.LibAIO, workload.Sync}

// directFile is a file of random blocks, open for direct I/O, and its content.
func directFile(t *testing.T) (int, []byte) {
	t.Helper()
	content := make([]byte, blocks*blockSize)
	source := prng.New(1)
	source.Fill(content)
	path := filepath.Join(disktest.Dir(t), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	})
	return fd, content
}

// open gives an engine on this test's own thread, or skips where the kernel has none.
func open(t *testing.T, kind workload.IOEngine, fd, depth int) (Engine, Buffers) {
	t.Helper()
	if err := Probe(kind, Need{FD: fd, BlockSize: blockSize, Threads: 1, Depth: depth}); err != nil {
		t.Skipf("%s does not work here: %v", kind, err)
	}
	runtime.LockOSThread()
	buffers, err := NewBuffers(depth, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(kind, Config{Files: []int{fd}, Depth: depth, BlockSize: blockSize, Buffers: buffers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), buffers.Free()); err != nil {
			t.Error(err)
		}
	})
	return e, buffers
}

// depthOf is what an engine is tested with.
func depthOf(kind workload.IOEngine) int {
	if kind == workload.Sync {
		return 1
	}
	return 16
}

// exchangeAll passes the requests through the engine, never more than a few at a time, and hands
// each completion to check.
func exchangeAll(t *testing.T, e Engine, depth int, requests []Request, check func(Completion)) {
	t.Helper()
	const batch = 4
	free := make([]uint32, depth)
	for i := range free {
		free[i] = uint32(i)
	}
	var done [batch]Completion
	for inFlight := 0; len(requests) > 0 || inFlight > 0; {
		n := min(batch, len(free), len(requests))
		for i := range n {
			requests[i].Slot = free[i]
		}
		free = free[n:]
		wait := time.Duration(0)
		if len(free) == 0 || len(requests) == n {
			wait = MaxWait
		}
		taken, err := e.Exchange(requests[:n], done[:], wait)
		if err != nil {
			t.Fatal(err)
		}
		requests = requests[n:]
		inFlight += n - taken
		for _, c := range done[:taken] {
			check(c)
			free = append(free, c.Slot)
		}
	}
}

func TestEnginesReadWhatIsThere(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			fd, content := directFile(t)
			depth := depthOf(kind)
			e, buffers := open(t, kind, fd, depth)
			var requests []Request
			for i := range 8 * blocks { // more than any completion ring has entries, so that it wraps
				requests = append(requests, Request{Offset: int64(i*37%blocks) * blockSize})
			}
			seen := map[int]bool{}
			exchangeAll(t, e, depth, requests, func(c Completion) {
				if c.Result != blockSize {
					t.Fatalf("slot %d: result %d", c.Slot, c.Result)
				}
				at := bytes.Index(content, buffers.Slot(c.Slot, blockSize))
				if at%blockSize != 0 {
					t.Fatalf("slot %d holds no block of the file", c.Slot)
				}
				seen[at/blockSize] = true
			})
			if len(seen) != blocks {
				t.Errorf("%d different blocks were read, want %d", len(seen), blocks)
			}
		})
	}
}

func TestEnginesWriteWhereTheyAreTold(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			fd, want := directFile(t)
			depth := depthOf(kind)
			e, buffers := open(t, kind, fd, depth)
			for slot := range depth {
				copy(buffers.Slot(uint32(slot), blockSize), bytes.Repeat([]byte{byte('a' + slot)}, blockSize))
			}
			// One at a time, so that the slot, and with it the content, is known.
			for i := range depth {
				var done [1]Completion
				offset := int64(blocks-1-i) * blockSize
				copy(want[offset:], bytes.Repeat([]byte{byte('a' + i)}, blockSize))
				n, err := e.Exchange([]Request{{Offset: offset, Slot: uint32(i), Write: true}}, done[:], MaxWait)
				for n == 0 && err == nil {
					n, err = e.Exchange(nil, done[:], MaxWait)
				}
				if err != nil || done[0].Result != blockSize || done[0].Slot != uint32(i) {
					t.Fatalf("write %d: %+v, %v", i, done[0], err)
				}
			}
			path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("the file does not hold what was written")
			}
		})
	}
}

// A failed I/O is a completion with its errno, a short one with its bytes.
func TestEnginesReportFailedIO(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			fd, _ := directFile(t)
			e, _ := open(t, kind, fd, depthOf(kind))
			for _, tt := range []struct {
				why    string
				offset int64
				want   int32
			}{
				{"misaligned", 100, -int32(unix.EINVAL)},
				{"beyond the end", blocks * blockSize, 0},
				{"partly beyond the end", blocks*blockSize - 512, 512},
			} {
				exchangeAll(t, e, 1, []Request{{Offset: tt.offset}}, func(c Completion) {
					if c.Result != tt.want {
						t.Errorf("%s: result %d, want %d", tt.why, c.Result, tt.want)
					}
				})
			}
		})
	}
}

// Waiting for I/O that does not come must end, or nobody could stop the worker. A read of an empty
// pipe never comes; only io_uring can have one in flight.
func TestWaitEndsWithoutCompletions(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	file, _ := directFile(t)
	if err := Probe(workload.IOUring, Need{FD: file, BlockSize: blockSize, Threads: 1, Depth: 1}); err != nil {
		t.Skipf("io_uring does not work here: %v", err)
	}
	runtime.LockOSThread()
	buffers, err := NewBuffers(1, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(workload.IOUring, Config{Files: []int{pipe[0]}, Depth: 1, BlockSize: blockSize, Buffers: buffers})
	if err != nil {
		t.Fatal(err)
	}
	var done [1]Completion
	start := time.Now()
	if n, err := e.Exchange([]Request{{}}, done[:], MaxWait); n != 0 || err != nil {
		t.Fatalf("%d completions (%+v), %v", n, done[0], err)
	}
	if waited := time.Since(start); waited > 20*MaxWait {
		t.Errorf("waited %s", waited)
	}
	if _, err := unix.Write(pipe[1], []byte("end")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for deadline := time.Now().Add(10 * time.Second); n == 0 && time.Now().Before(deadline); {
		if n, err = e.Exchange(nil, done[:], MaxWait); err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 || done[0].Result != 3 {
		t.Errorf("%d completions, %+v, want one of 3 bytes", n, done[0])
	}
	if err := errors.Join(e.Close(), buffers.Free(), unix.Close(pipe[0]), unix.Close(pipe[1])); err != nil {
		t.Error(err)
	}
}

func TestSelectOfNothingThatWorks(t *testing.T) {
	need := Need{FD: -1, BlockSize: blockSize, Threads: 1, Depth: 1}
	for _, asked := range append([]workload.IOEngine{workload.Auto}, kinds...) {
		kind, _, err := Select(asked, need)
		f := (*report.Failure)(nil)
		if !errors.As(err, &f) || f.Reason != report.ReasonIOEngineUnavailable {
			t.Errorf("%s on no file: %s, %v", asked, kind, err)
		}
	}
}

// Sync in place of a queue would be another measurement.
func TestAutoDoesNotTurnAQueueIntoSync(t *testing.T) {
	kind, _, err := Select(workload.Auto, Need{FD: -1, BlockSize: blockSize, Threads: 1, Depth: 2})
	if err == nil || !strings.Contains(err.Error(), "Sync: keeps one I/O outstanding for each thread, 2 are asked for") {
		t.Errorf("%s, %v", kind, err)
	}
}

// blockedEnv makes this test binary a process in which the kernel refuses what a container
// runtime's seccomp profile does.
const blockedEnv = "DISKBENCH_TEST_BLOCKED_SYSCALLS"

// TestSelectUnderSeccomp looks at the choice where io_uring, and then native AIO too, are blocked.
func TestSelectUnderSeccomp(t *testing.T) {
	if blocked := os.Getenv(blockedEnv); blocked != "" {
		selectWhileBlocked(t, blocked)
		return
	}
	for _, blocked := range []string{"io_uring", "io_uring,libaio"} {
		c := exec.Command(os.Args[0], "-test.run=^TestSelectUnderSeccomp$", "-test.v")
		c.Env = append(os.Environ(), blockedEnv+"="+blocked)
		out, err := c.CombinedOutput()
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		if err != nil {
			t.Errorf("with %s blocked: %v\n%s", blocked, err, out)
		}
	}
}

func selectWhileBlocked(t *testing.T, blocked string) {
	t.Helper()
	fd, _ := directFile(t)
	need := Need{FD: fd, BlockSize: blockSize, Threads: 2, Depth: 1}
	if err := Probe(workload.LibAIO, need); err != nil {
		t.Skipf("native AIO does not work here: %v", err)
	}
	calls, want := []uint32{unix.SYS_IO_URING_SETUP}, workload.LibAIO
	if blocked == "io_uring,libaio" {
		calls, want = append(calls, unix.SYS_IO_SETUP), workload.Sync
	}
	block(t, calls)

	kind, fallbacks, err := Select(workload.Auto, need)
	if err != nil || kind != want || len(fallbacks) != len(calls) {
		t.Fatalf("Auto took %s, passed over %v, %v; want %s", kind, fallbacks, err, want)
	}
	if f := fallbacks[0]; f.IOEngine != workload.IOUring || f.Reason != "io_uring_setup: operation not permitted" {
		t.Errorf("passed over %+v", f)
	}
	_, _, err = Select(workload.IOUring, need)
	if f := (*report.Failure)(nil); !errors.As(err, &f) || f.Reason != report.ReasonIOEngineUnavailable ||
		!strings.Contains(f.Message, "ioEngine IOUring does not work here: io_uring_setup: operation not permitted") {
		t.Errorf("an explicit io_uring: %v", err)
	}
}

// block makes the system calls fail with EPERM in all threads of this process.
func block(t *testing.T, calls []uint32) {
	t.Helper()
	const (
		load        = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jumpIfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		give        = unix.BPF_RET | unix.BPF_K
	)
	filter := []unix.SockFilter{{Code: load, K: 0}} // offset 0 of struct seccomp_data is the call's number
	for _, call := range calls {
		filter = append(filter,
			unix.SockFilter{Code: jumpIfEqual, K: call, Jf: 1},
			unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	filter = append(filter, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // both calls have to come from one thread; it passes the filter to the others
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skipf("no seccomp here: %v", err)
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		t.Skipf("no seccomp here: %v", e)
	}
}
