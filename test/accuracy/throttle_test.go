// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// caps are what the kernel allows a control group at a device, per second and for reads and writes
// each; 0 is no limit.
type caps struct{ iops, bytes int64 }

// group is a control group that can be held to caps. Only measuring processes join it.
type group struct {
	dir string
	// unified says that it is one of cgroup v2.
	unified bool
}

// groups counts the control groups of this process.
var groups atomic.Int64

// newGroup makes a control group until the test ends.
func newGroup(t *testing.T) group {
	t.Helper()
	needRoot(t)
	for _, g := range []group{{dir: "/sys/fs/cgroup/blkio"}, {dir: "/sys/fs/cgroup", unified: true}} {
		if _, err := os.Stat(filepath.Join(g.dir, "cgroup.procs")); err != nil {
			continue
		}
		dir := filepath.Join(g.dir, fmt.Sprintf("diskbench-accuracy-%d-%d", os.Getpid(), groups.Add(1)))
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		g.dir = dir
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		if _, err := os.Stat(filepath.Join(dir, g.file("read_iops"))); err == nil {
			return g
		}
	}
	t.Skip("no control group can throttle block I/O here")
	return group{}
}

func (g group) file(limit string) string {
	if g.unified {
		return "io.max"
	}
	return "blkio.throttle." + limit + "_device"
}

// limit holds reads and writes of the device to the caps each, from now on.
func (g group) limit(t *testing.T, device string, c caps) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct {
		v1, v2 string
		value  int64
	}{
		{"read_iops", "riops", c.iops}, {"write_iops", "wiops", c.iops},
		{"read_bps", "rbps", c.bytes}, {"write_bps", "wbps", c.bytes},
	} {
		setting := strconv.FormatInt(l.value, 10)
		if g.unified {
			setting = l.v2 + "=" + unifiedLimit(l.value)
		}
		line := fmt.Sprintf("%d:%d %s", unix.Major(st.Rdev), unix.Minor(st.Rdev), setting)
		if err := os.WriteFile(filepath.Join(g.dir, g.file(l.v1)), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func unifiedLimit(value int64) string {
	if value == 0 {
		return "max"
	}
	return strconv.FormatInt(value, 10)
}

// joinGroup makes this process a member.
func joinGroup(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644)
}
