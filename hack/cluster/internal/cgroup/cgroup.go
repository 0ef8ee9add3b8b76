// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes and removes a cluster's cgroups, on cgroup v1 and v2.
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemons is the child that the node's own processes live in. On v2 a cgroup
// that hands controllers to its children must have no process itself.
const daemons = "daemons"

// needed are the controllers that kubelet and the volume caps work with;
// wanted are those that kubelet insists on as soon as the kernel has them.
var (
	needed = []string{"cpuset", "cpu", "io", "memory", "pids"}
	wanted = []string{"hugetlb"}
)

// Hierarchies are the cgroup file systems mounted on this host.
type Hierarchies struct {
	V1 []string // mount points of v1 hierarchies
	V2 string   // mount point of the unified hierarchy; "" if there is none
}

// Unified tells whether kubelet and runc use v2, which they do when /sys/fs/cgroup itself is v2.
// With "hybrid" mounts, v2 is elsewhere and v1 is what limits.
func (h Hierarchies) Unified() bool { return h.V2 == "/sys/fs/cgroup" }

// IO is the folder whose files cap the I/O of a cluster's containers.
func (h Hierarchies) IO(name string) (string, error) {
	if h.Unified() {
		return filepath.Join(h.V2, name), nil
	}
	for _, mount := range h.V1 {
		if slices.Contains(strings.Split(filepath.Base(mount), ","), "blkio") {
			return filepath.Join(mount, name), nil
		}
	}
	return "", errors.New("no cgroup file system with blkio is mounted")
}

// Mounted reads this process's mount table.
func Mounted() (Hierarchies, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Hierarchies{}, err
	}
	h := parseMountinfo(string(data))
	if len(h.V1) == 0 && h.V2 == "" {
		return h, errors.New("no cgroup file system is mounted: mount cgroup2 at /sys/fs/cgroup")
	}
	return h, nil
}

// parseMountinfo reads the format of proc_pid_mountinfo(5):
// "36 35 98:0 /root /mount/point options optional... - fstype source super-options".
func parseMountinfo(text string) Hierarchies {
	var h Hierarchies
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 || !strings.HasPrefix(fields[4], "/sys/fs/cgroup") {
			continue
		}
		switch fstype, _, _ := strings.Cut(after, " "); fstype {
		case "cgroup":
			h.V1 = append(h.V1, fields[4])
		case "cgroup2":
			h.V2 = fields[4]
		}
	}
	return h
}

// Create makes the cluster's cgroup wherever kubelet expects it. On v2 it returns the controllers that
// the root cgroup handed down before, for Destroy to restore; on v1, where there is no such thing, nil.
func (h Hierarchies) Create(name string) (before []string, err error) {
	if h.Unified() {
		return h.createV2(name)
	}
	for _, mount := range h.V1 {
		for _, dir := range []string{filepath.Join(mount, name), filepath.Join(mount, name, daemons)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, err
			}
			if err := inheritCpuset(dir); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// inheritCpuset copies the parent's CPUs and memory nodes: on v1 they start empty,
// and no process can enter the cgroup until they are set.
func inheritCpuset(dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(dir, "..", file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not the cpuset hierarchy
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (h Hierarchies) createV2(name string) (before []string, err error) {
	before, err = handedDown(h.V2)
	if err != nil {
		return nil, err
	}
	if err := enableControllers(h.V2); err != nil {
		return before, err
	}
	dir := filepath.Join(h.V2, name)
	if err := os.MkdirAll(filepath.Join(dir, daemons), 0o755); err != nil {
		return before, err
	}
	return before, enableControllers(dir)
}

const subtreeControl = "cgroup.subtree_control"

// handedDown returns the controllers that dir hands to its children.
func handedDown(dir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, subtreeControl))
	return strings.Fields(string(data)), err
}

// enableControllers hands the controllers to the children of dir.
func enableControllers(dir string) error {
	available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	have, err := handedDown(dir)
	if err != nil {
		return err
	}
	todo, missing := controllersToEnable(strings.Fields(string(available)), have)
	if len(missing) > 0 {
		return fmt.Errorf("cgroup %s lacks the controllers %s: boot with them, or delegate them to this container", dir, strings.Join(missing, ", "))
	}
	for _, controller := range todo {
		if err := os.WriteFile(filepath.Join(dir, subtreeControl), []byte("+"+controller), 0o644); err != nil {
			return fmt.Errorf("enable the %s controller: %w (in a container, its processes must first move to a child cgroup)", controller, err)
		}
	}
	return nil
}

func controllersToEnable(available, have []string) (todo, missing []string) {
	for _, controller := range slices.Concat(needed, wanted) {
		switch {
		case slices.Contains(have, controller):
		case slices.Contains(available, controller):
			todo = append(todo, controller)
		case slices.Contains(needed, controller):
			missing = append(missing, controller)
		}
	}
	return todo, missing
}

// Join moves the calling process into the cluster's cgroup for daemons, in every hierarchy.
func (h Hierarchies) Join(name string) error {
	mounts := h.V1
	if h.Unified() {
		mounts = []string{h.V2}
	}
	for _, mount := range mounts {
		procs := filepath.Join(mount, name, daemons, "cgroup.procs")
		if err := os.WriteFile(procs, []byte("0"), 0o644); err != nil { // 0 is the writer itself
			return err
		}
	}
	return nil
}

// Destroy kills every process in the cluster's cgroups and removes them,
// then takes back the controllers that the root cgroup has come to hand down since Create, which returned before:
// Create enabled some, and runc enables all that there are. With a before of nil, they stay.
// It gives up after the timeout, naming what is left.
func (h Hierarchies) Destroy(name string, before []string, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	h.thaw(name)
	mounts := h.V1
	if h.V2 != "" {
		mounts = append(slices.Clone(mounts), h.V2) // also when hybrid: runc makes cgroups there too
	}
	for _, mount := range mounts {
		dir := filepath.Join(mount, name)
		for {
			err := killAndRemove(dir)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("cgroup %s is still in use: %w; see its cgroup.procs", dir, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	if before == nil || !h.Unified() {
		return nil
	}
	return h.takeBack(before)
}

func (h Hierarchies) takeBack(before []string) error {
	now, err := handedDown(h.V2)
	if err != nil {
		return err
	}
	for _, controller := range now {
		if !slices.Contains(before, controller) {
			// It fails when somebody else has come to use it meanwhile, who then keeps it.
			_ = os.WriteFile(filepath.Join(h.V2, subtreeControl), []byte("-"+controller), 0o644)
		}
	}
	return nil
}

// thaw lets frozen processes go on: on v1, a frozen one does not even die.
func (h Hierarchies) thaw(name string) {
	for _, mount := range h.V1 {
		_ = filepath.WalkDir(filepath.Join(mount, name), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Base(path) == "freezer.state" {
				_ = os.WriteFile(path, []byte("THAWED"), 0o644)
			}
			return nil
		})
	}
}

// killAndRemove makes one attempt, children first; processes take a moment to leave.
func killAndRemove(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := killAndRemove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(procs) {
		// PID 0 stands for a process of another PID namespace: not ours to see, so not ours.
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone already
		}
	}
	return syscall.Rmdir(dir)
}
