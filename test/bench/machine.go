// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what figures depend on.
type Machine struct {
	Fio    string `json:"fio"`
	Engine string `json:"engine"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
}

// describe asks the programs for their versions, and the kernel for the rest.
func describe(ctx context.Context, fio, engine string) (Machine, error) {
	m := Machine{Cores: runtime.NumCPU()}
	var err error
	if m.Fio, err = output(ctx, fio, "--version"); err != nil {
		return m, fmt.Errorf("%w: install fio, or name it with --fio", err)
	}
	if m.Engine, err = output(ctx, engine, "version"); err != nil {
		return m, fmt.Errorf("%w: build it with make bench-engine, or name it with --engine", err)
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return m, fmt.Errorf("uname: %w", err)
	}
	m.Kernel = unix.ByteSliceToString(u.Release[:])
	info, err := os.ReadFile("/proc/cpuinfo")
	m.CPU = processorModel(string(info))
	return m, err
}

func output(ctx context.Context, name string, arg string) (string, error) {
	out, err := exec.CommandContext(ctx, name, arg).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, arg, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// processorModel finds the name in /proc/cpuinfo. Arm machines give none: there it is the
// architecture.
func processorModel(info string) string {
	for line := range strings.Lines(info) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, engine %s, kernel %s, %s, %d cores", m.Fio, m.Engine, m.Kernel, m.CPU, m.Cores)
}
