// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/diskbench/diskbench/hack/cluster/internal/cgroup"
	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
	"github.com/diskbench/diskbench/hack/cluster/internal/network"
	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

// stopTimeout bounds how long killed processes may take to leave: file systems are unmounted on their way.
const stopTimeout = 30 * time.Second

func down(c *layout.Cluster) error {
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	if c, err = loadCluster(c.Name); err != nil {
		return err
	}
	return step("stop cluster "+c.Name, func() error { return clean(c) })
}

// clean removes every trace of the cluster, whatever is left of it, and succeeds when there is none.
// Each part is found by itself, so that the loss of one does not hide the others.
func clean(c *layout.Cluster) error {
	if isRunning(c) {
		if err := syscall.Kill(c.Init.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("kill the node's first process, %d: %w", c.Init.PID, err)
		}
	}
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := hierarchies.Destroy(c.Cgroup(), c.RootControllers, stopTimeout); err != nil {
		return err
	}
	if err := (volume.Store{Dir: c.Path("volumes")}).DeleteAll(); err != nil {
		return err
	}
	if err := network.Disconnect(c); err != nil {
		return err
	}
	return removeState(c)
}

// removeState refuses while something is mounted below it: it would remove what is in there, too.
func removeState(c *layout.Cluster) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	if mount, ok := mountBelow(string(mounts), c.Path()); ok {
		return fmt.Errorf("%s is a mount point: unmount it, then run `down` again", mount)
	}
	if err := os.RemoveAll(c.Path()); err != nil {
		return err
	}
	// The folder of all clusters goes with the last one, and stays while it holds another.
	if err := os.Remove(filepath.Dir(c.Path())); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return nil
}

// mountBelow finds a mount point at or below dir in the text of a mountinfo file.
func mountBelow(mountinfo, dir string) (string, bool) {
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		// Blanks and backslashes are written in octal.
		mount := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if mount == dir || strings.HasPrefix(mount, dir+"/") {
			return mount, true
		}
	}
	return "", false
}

// isRunning tells whether the node's first process lives.
func isRunning(c *layout.Cluster) bool {
	if c.Init == nil {
		return false
	}
	startTime, err := processStartTime(c.Init.PID)
	return err == nil && startTime == c.Init.StartTime
}

func processStartTime(pid int) (string, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", err
	}
	return parseStartTime(string(data))
}

// parseStartTime returns field 22 of proc_pid_stat(5). The second field, the command in parentheses,
// may itself hold blanks and parentheses, so fields are counted from the last one.
func parseStartTime(stat string) (string, error) {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	const startTime = 22 - 3 // the first one here is field 3
	if len(fields) <= startTime {
		return "", fmt.Errorf("process status %q has too few fields", stat)
	}
	return fields[startTime], nil
}
