// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup finds the control group of this process.
package cgroup

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Dirs gives where the files of a controller of this process' control group may be, below the root of
// the filesystem: those of the group, and then of each group above it. In a container the group's own
// path is not there, and its root is the group. Version 2 has one hierarchy for all controllers.
func Dirs(root fs.FS, controller string) []string {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base := "sys/fs/cgroup"
		switch {
		case parts[1] == "": // version 2
		case slices.Contains(strings.Split(parts[1], ","), controller):
			base = path.Join(base, parts[1])
		default:
			continue
		}
		for dir := path.Join(base, parts[2]); strings.HasPrefix(dir, base); dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
