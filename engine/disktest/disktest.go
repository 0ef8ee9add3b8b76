// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disktest gives tests real places to do direct I/O in, and cleans up behind them.
package disktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Dir is a directory on a disk. A test whose temporary directory is in memory is skipped.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if slices.Contains([]int64{unix.TMPFS_MAGIC, unix.RAMFS_MAGIC}, int64(fs.Type)) {
		t.Skipf("%s is in memory: set TMPDIR to a directory on a disk", dir)
	}
	return dir
}

// MemoryDir is a directory in memory, backing for loop devices that are to be fast.
func MemoryDir(t testing.TB) string {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &fs); err != nil || int64(fs.Type) != unix.TMPFS_MAGIC {
		t.Skip("/dev/shm is no tmpfs here")
	}
	dir, err := os.MkdirTemp("/dev/shm", "diskbench-test-")
	if err != nil {
		t.Skipf("/dev/shm: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// NeedRoot skips a test that only root can do.
func NeedRoot(t testing.TB, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s needs root", why)
	}
}

// Loop is a block device of size bytes, backed by a file in dir.
func Loop(t testing.TB, dir string, size int64, options ...string) string {
	t.Helper()
	NeedRoot(t, "a loop device")
	backing := filepath.Join(dir, "backing")
	f, err := os.Create(backing)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--find", "--show"}, options...)
	out, err := exec.Command("losetup", append(args, backing)...).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device here: losetup: %v: %s", err, out)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { Run(t, "losetup", "--detach", device) })
	return device
}

// Partition divides a device that was made with "--partscan" into two partitions of bytes each, a mebibyte
// from its start. It tells the kernel alone, and writes no table.
func Partition(t testing.TB, device string, bytes int64) (first, second string) {
	t.Helper()
	const sector = 512
	for i := range int64(2) {
		Run(t, "addpart", device, strconv.FormatInt(i+1, 10),
			strconv.FormatInt((1<<20+i*bytes)/sector, 10), strconv.FormatInt(bytes/sector, 10))
	}
	return device + "p1", device + "p2"
}

// Mount mounts a device in a directory of its own until the test ends.
func Mount(t testing.TB, device string) string {
	t.Helper()
	dir := t.TempDir()
	Run(t, "mount", device, dir)
	t.Cleanup(func() { Run(t, "umount", dir) })
	return dir
}

// Run runs a command, and skips the test where it is not installed.
func Run(t testing.TB, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}
