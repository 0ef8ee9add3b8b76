// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMountinfo(t *testing.T) {
	for _, tc := range []struct {
		why         string
		text        string
		want        Hierarchies
		wantUnified bool
	}{
		{
			why:         "pure v2, as systemd mounts it",
			text:        "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:        Hierarchies{V2: "/sys/fs/cgroup"},
			wantUnified: true,
		},
		{
			why: "hybrid: v1 limits, v2 only tracks processes; mounts may have no optional fields",
			text: "24 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
				"25 24 0:23 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n" +
				"26 24 0:24 / /sys/fs/cgroup/memory rw shared:3 master:1 - cgroup cgroup rw,memory\n" +
				"27 24 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			want: Hierarchies{V1: []string{"/sys/fs/cgroup/blkio", "/sys/fs/cgroup/memory"}, V2: "/sys/fs/cgroup/unified"},
		},
		{
			why:  "a cgroup file system that somebody mounted elsewhere is theirs",
			text: "40 24 0:30 / /var/lib/other/cgroup rw - cgroup2 cgroup2 rw\n",
			want: Hierarchies{},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := parseMountinfo(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Unified() != tc.wantUnified {
				t.Errorf("unified %v, want %v", got.Unified(), tc.wantUnified)
			}
		})
	}
}

func TestControllersToEnable(t *testing.T) {
	for _, tc := range []struct {
		why             string
		available, have string
		todo, missing   []string
	}{
		{
			why:       "systemd enables some by itself; only the others are ours to take back",
			available: "cpuset cpu io memory hugetlb pids rdma misc\n", have: "cpu memory pids\n",
			todo: []string{"cpuset", "io", "hugetlb"},
		},
		{
			why:       "a kernel without huge pages lacks nothing that is needed",
			available: "cpuset cpu io memory pids\n", have: "cpuset cpu io memory pids\n",
		},
		{
			why:       "without the io controller there is no cap",
			available: "cpuset cpu memory pids\n", have: "cpuset cpu memory pids\n",
			missing: []string{"io"},
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			todo, missing := controllersToEnable(strings.Fields(tc.available), strings.Fields(tc.have))
			if diff := cmp.Diff(tc.todo, todo); diff != "" {
				t.Errorf("to enable (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

// A folder stands in for the hierarchy: what is written where is the same.
func TestCreateV2(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.controllers", "cpuset cpu io memory pids\n")
	write("cgroup.subtree_control", "cpuset cpu memory pids\n")
	write("x/cgroup.controllers", "cpuset cpu io memory pids\n")
	write("x/cgroup.subtree_control", "")

	before, err := Hierarchies{V2: dir}.createV2("x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cpuset", "cpu", "memory", "pids"}, before); diff != "" {
		t.Errorf("handed down before (-want +got):\n%s", diff)
	}
	// The kernel takes each write as a command; a file keeps the last one.
	for file, want := range map[string]string{"cgroup.subtree_control": "+io", "x/cgroup.subtree_control": "+pids"} {
		got, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s holds %q, want %q", file, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x", daemons)); err != nil {
		t.Errorf("no cgroup for the daemons: %v", err)
	}

	write("cgroup.subtree_control", "cpuset cpu io memory pids\n") // what the kernel would show by now
	if err := (Hierarchies{V2: dir}).takeBack(before); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); err != nil || string(got) != "-io" {
		t.Errorf("took back %q, %v, want -io alone", got, err)
	}
}
