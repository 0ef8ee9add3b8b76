// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package accuracy holds the engine's figures against a truth that does not come from the engine:
// caps that the kernel enforces, the kernel's own counters, fio, and a filesystem that knows when and
// where each I/O came and how long it took. Run it with make test-accuracy; docs/accuracy.md says
// what is compared with what.
package accuracy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/diskbench/diskbench/engine/disktest"
)

// The test binary plays more roles than one: each measurement is a process of its own, and so is the
// filesystem.
const (
	roleVariable      = "DISKBENCH_ACCURACY_ROLE"
	directoryVariable = "DISKBENCH_ACCURACY_DIRECTORY"
	engineRole        = "engine"
	filesystemRole    = "filesystem"
)

// tableVariable names a file that the figures are appended to, as rows of a Markdown table.
const tableVariable = "DISKBENCH_ACCURACY_TABLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVariable) {
	case engineRole:
		err = measureAsChild()
	case filesystemRole:
		err = serveFilesystem(os.Getenv(directoryVariable))
	default:
		code := m.Run()
		if binaryDir != "" {
			err = os.RemoveAll(binaryDir)
		}
		if err == nil {
			os.Exit(code)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	disktest.NeedRoot(t, "a test against the kernel's own figures")
}

// needProgram skips a test that compares with, or makes use of, a program that is not here.
func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
}

// binaryDir is where engineBinary puts the command; empty before.
var binaryDir string

// engineBinary builds the command once.
var engineBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "diskbench-accuracy-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	path := filepath.Join(dir, "diskbench-engine")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/engine").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// memoryDisk is a fast and quiet block device: a loop device over a file in memory.
func memoryDisk(t *testing.T, size int64) string {
	t.Helper()
	needRoot(t)
	return disktest.Loop(t, disktest.MemoryDir(t), size, "--direct-io=on")
}
