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

// Throttle makes a control group that the kernel holds to the caps at a device until the test ends, and gives
// the file that processes join by, writing their ID to it: children of the test, which have to have ended
// before it. It is of whichever version governs block I/O here; where none does, the test is skipped.
func Throttle(t testing.TB, device string, c Caps) (procs string) {
	t.Helper()
	NeedRoot(t, "a control group")
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		t.Fatal(err)
	}
	number := fmt.Sprintf("%d:%d ", unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev)))
	for _, version := range []struct {
		root   string
		limits map[string]string
	}{
		{"/sys/fs/cgroup/blkio", map[string]string{
			"blkio.throttle.read_iops_device":  number + strconv.FormatInt(c.ReadIOPS, 10),
			"blkio.throttle.write_iops_device": number + strconv.FormatInt(c.WriteIOPS, 10),
			"blkio.throttle.read_bps_device":   number + strconv.FormatInt(c.ReadBPS, 10),
			"blkio.throttle.write_bps_device":  number + strconv.FormatInt(c.WriteBPS, 10),
		}},
		{"/sys/fs/cgroup", map[string]string{"io.max": number + fmt.Sprintf("riops=%s wiops=%s rbps=%s wbps=%s",
			orMax(c.ReadIOPS), orMax(c.WriteIOPS), orMax(c.ReadBPS), orMax(c.WriteBPS))}},
	} {
		group := filepath.Join(version.root, fmt.Sprintf("diskbench-test-%d-%d", os.Getpid(), groups.Add(1)))
		if err := os.Mkdir(group, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { removeGroup(t, group) })
		if writeAll(group, version.limits) == nil {
			return filepath.Join(group, "cgroup.procs")
		}
	}
	t.Skip("no control group can throttle block I/O here")
	return ""
}

func orMax(limit int64) string {
	if limit == 0 {
		return "max"
	}
	return strconv.FormatInt(limit, 10)
}

func writeAll(dir string, contents map[string]string) error {
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
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
