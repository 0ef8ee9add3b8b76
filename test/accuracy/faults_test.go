// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
)

// Targets that fail while they are measured: the command ends with the reason and its exit code, prints
// no figures, and leaves no file. The exit codes are those of docs/engine.md.

// command is a running engine command.
type command struct {
	*exec.Cmd
	out, log output
}

// output is a buffer to write to and to read from at the same time.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// binary is the path of the command.
func binary(t *testing.T) string {
	t.Helper()
	path, err := engineBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs the engine on a target for up to half a minute.
func start(t *testing.T, target string, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.Command(binary(t), append([]string{"run", "--path", target, "--pattern", "random", "--block-size", "4Ki",
		"--file-size", "16Mi", "--warmup", "0s", "--duration", "30s", "--progress", "json", "-o", "json"}, args...)...)}
	c.Stdout, c.Stderr = &c.out, &c.log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// await waits until standard error has the text.
func (c *command) await(t *testing.T, text string, patience time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(c.log.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %q within %s: %s", text, patience, c.log.String())
		}
	}
}

var notANumber = regexp.MustCompile(`(?i)\bnan\b|\binf`)

// fails waits for the command's end and checks how it ended.
func (c *command) fails(t *testing.T, code int, texts ...string) {
	t.Helper()
	err := c.Wait()
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("%v, want exit code %d", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(c.log.String(), text) {
			t.Errorf("no %q in: %s", text, c.log.String())
		}
	}
	if all := c.out.String() + c.log.String(); notANumber.MatchString(all) {
		t.Errorf("a figure that is no number: %s", all)
	}
	if code != exitInterrupted && c.out.String() != "" {
		t.Errorf("figures beside a failure: %s", c.out.String())
	}
}

const exitNoSpace, exitIOError, exitInterrupted = 9, 10, 130

func TestFailingFilesystem(t *testing.T) {
	const layoutBlock = 1 << 20
	tests := []struct {
		name, why string
		behavior  Behavior
		args      []string
		code      int
		texts     []string
	}{
		{"EIO of a read", "a disk that begins to fail", Behavior{OnlySize: block4Ki, After: 500, Errno: unix.EIO},
			[]string{"--read-percent", "100", "--queue-depth", "8", "--io-engine", "libaio"}, exitIOError, []string{"IOError", "read of 4096 bytes at offset ", "EIO"}},
		{"EIO of a write", "the same for writes, through the other interface", Behavior{OnlySize: block4Ki, After: 500, Errno: unix.EIO},
			[]string{"--read-percent", "0", "--queue-depth", "8", "--io-engine", "io_uring"}, exitIOError, []string{"IOError", "write of 4096 bytes at offset ", "EIO"}},
		{"EIO, sync", "the same for the plain system calls", Behavior{OnlySize: block4Ki, After: 500, Errno: unix.EIO},
			[]string{"--read-percent", "50", "--queue-depth", "1", "--io-engine", "sync"}, exitIOError, []string{"IOError", " of 4096 bytes at offset ", "EIO"}},
		{"ENOSPC while measuring", "a thin volume that runs full under the load", Behavior{OnlySize: block4Ki, After: 500, Errno: unix.ENOSPC},
			[]string{"--read-percent", "0", "--queue-depth", "8"}, exitNoSpace, []string{"NoSpace", "write of 4096 bytes at offset ", "ENOSPC"}},
		{"ENOSPC in the layout", "one that runs full before", Behavior{OnlySize: layoutBlock, After: 5, Errno: unix.ENOSPC},
			[]string{"--read-percent", "100"}, exitNoSpace, []string{"NoSpace"}},
		{"EIO in the layout", "a disk that fails at once", Behavior{OnlySize: layoutBlock, After: 5, Errno: unix.EIO},
			[]string{"--read-percent", "100"}, exitIOError, []string{"IOError"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Log(tt.why)
			m := newMount(t)
			m.set(t, tt.behavior)
			start(t, m.dir, tt.args...).fails(t, tt.code, tt.texts...)
			if left := m.files(t); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// A target that answers nothing more: told to stop, the command says so within 15 seconds, half of what
// Kubernetes gives a container to end. Its process is gone as soon as the kernel lets it go, which for
// I/O that a filesystem has already taken may not be before the answer.
//
//nolint:tparallel // its filesystems would disturb the measurements that run in parallel
func TestHangingTarget(t *testing.T) {
	tests := []struct {
		name, why       string
		behavior        Behavior
		ioEngine, depth string
	}{
		{"io_uring", "under the load", Behavior{OnlySize: block4Ki, After: 500}, "io_uring", "8"},
		{"libaio", "the same, through the other interface", Behavior{OnlySize: block4Ki, After: 500}, "libaio", "8"},
		{"sync", "the same, in a system call", Behavior{OnlySize: block4Ki, After: 500}, "sync", "1"},
		{"in the layout", "while the file is written", Behavior{OnlySize: 1 << 20, After: 5}, "libaio", "8"},
		{"at the first read", "while the engine tries the interface", Behavior{OnlySize: block4Ki}, "libaio", "8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // it is nothing but waiting
			t.Log(tt.why)
			m := newMount(t)
			tt.behavior.Hang = true
			m.set(t, tt.behavior)
			c := start(t, m.dir, "--read-percent", "100", "--io-engine", tt.ioEngine, "--queue-depth", tt.depth)
			// Even a killed process is not gone before its I/O is.
			t.Cleanup(func() { m.set(t, Behavior{}) })
			m.awaitStuck(t)
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			told := time.Now()
			c.await(t, "Interrupted", 15*time.Second)
			said := time.Since(told)
			m.set(t, Behavior{})
			c.fails(t, exitInterrupted, "Interrupted", " 10s later")
			t.Logf("it said so after %.1f s", said.Seconds())
			if left := m.files(t); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// A device that goes away under the load: its backing file is gone from one moment to the next.
func TestVanishingDevice(t *testing.T) {
	needRoot(t)
	dir := disktest.MemoryDir(t)
	device := disktest.Loop(t, dir, 16<<20, "--direct-io=on")
	c := start(t, device, "--read-percent", "100", "--queue-depth", "8")
	c.await(t, "Measuring", 10*time.Second)
	if err := os.Truncate(filepath.Join(dir, "backing"), 0); err != nil {
		t.Fatal(err)
	}
	c.fails(t, exitIOError, "IOError", "read of 4096 bytes at offset ")
}
