// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package disktest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Caps are what the kernel allows a control group at a device, per second; 0 is no limit.
type Caps struct{ ReadIOPS, WriteIOPS, ReadBPS, WriteBPS int64 }

// groups counts the control groups of this process.
var groups atomic.Int64

// Group is a control group that can be held to caps, of whichever version governs block I/O here.
type Group struct {
	Dir string
	// unified says that it is one of cgroup v2.
	unified bool
}

// NewGroup makes a control group until the test ends. Its members, children of the test, have to have ended
// before that. Where no control group can throttle block I/O, the test is skipped.
func NewGroup(t testing.TB) Group {
	t.Helper()
	NeedRoot(t, "a control group")
	for _, g := range []Group{{Dir: "/sys/fs/cgroup/blkio"}, {Dir: "/sys/fs/cgroup", unified: true}} {
		g.Dir = filepath.Join(g.Dir, fmt.Sprintf("diskbench-test-%d-%d", os.Getpid(), groups.Add(1)))
		if err := os.Mkdir(g.Dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { removeGroup(t, g.Dir) })
		if _, err := os.Stat(g.file("read_iops")); err == nil {
			return g
		}
	}
	t.Skip("no control group can throttle block I/O here")
	return Group{}
}

// Procs is the file that processes join by, writing their ID to it.
func (g Group) Procs() string { return filepath.Join(g.Dir, "cgroup.procs") }

func (g Group) file(limit string) string {
	if g.unified {
		return filepath.Join(g.Dir, "io.max")
	}
	return filepath.Join(g.Dir, "blkio.throttle."+limit+"_device")
}

// Limit holds the group to the caps at the device, from now on.
func (g Group) Limit(t testing.TB, device string, c Caps) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct {
		v1, v2 string
		value  int64
	}{
		{"read_iops", "riops", c.ReadIOPS}, {"write_iops", "wiops", c.WriteIOPS},
		{"read_bps", "rbps", c.ReadBPS}, {"write_bps", "wbps", c.WriteBPS},
	} {
		setting := strconv.FormatInt(l.value, 10)
		if g.unified {
			setting = l.v2 + "=" + orMax(l.value)
		}
		line := fmt.Sprintf("%d:%d %s", unix.Major(st.Rdev), unix.Minor(st.Rdev), setting)
		if err := os.WriteFile(g.file(l.v1), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func orMax(limit int64) string {
	if limit == 0 {
		return "max"
	}
	return strconv.FormatInt(limit, 10)
}

// removeGroup waits for processes that have ended, which the kernel lets go of a little later.
func removeGroup(t testing.TB, group string) {
	t.Helper()
	var err error
	for range 50 {
		if err = os.Remove(group); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error(err)
}

// Zram is a block device of size bytes in compressed memory, without a queue of its own. It never is one that
// was there before.
func Zram(t testing.TB, size int64) string {
	t.Helper()
	NeedRoot(t, "a memory disk")
	const control = "/sys/class/zram-control/"
	number, err := os.ReadFile(control + "hot_add") // reading it makes the device
	if err != nil {
		t.Skipf("no zram here: %v", err)
	}
	name := "zram" + strings.TrimSpace(string(number))
	sys := "/sys/block/" + name
	t.Cleanup(func() {
		var err error
		for range 50 { // while something like udev still looks at it
			if err = os.WriteFile(sys+"/reset", []byte("1"), 0); err == nil {
				err = os.WriteFile(control+"hot_remove", number, 0)
			}
			if err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error(err)
	})
	if err := os.WriteFile(sys+"/disksize", []byte(strconv.FormatInt(size, 10)), 0); err != nil {
		t.Fatal(err)
	}
	return "/dev/" + name
}
