// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// openedSet is a set of any kind, not laid out.
func openedSet(t *testing.T, kind workload.TargetKind, stripe int64, paths ...string) *Set {
	t.Helper()
	s, err := OpenSet(kind, paths, stripe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Discard)
	return s
}

// use makes direct reads and writes of 4 KiB each at the start of a file or device.
func use(t *testing.T, path string, reads, writes int) {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_DIRECT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd) //nolint:errcheck // the test is over
	buffers, err := ioengine.NewBuffers(1, 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer buffers.Free() //nolint:errcheck // the test is over
	for range writes {
		if _, err := unix.Pwrite(fd, buffers.Slot(0, 4096), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range reads {
		if _, err := unix.Pread(fd, buffers.Slot(0, 4096), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// counted is what is added to a set's counters meanwhile.
func counted(t *testing.T, s *Set, meanwhile func()) report.DeviceCounters {
	t.Helper()
	before, ok := s.Counters()
	if !ok {
		t.Fatal("the kernel counts nothing here")
	}
	meanwhile()
	after, _ := s.Counters()
	return after.Minus(before)
}

// Of several members all count; what a loop device does is not the work of another disk.
func TestCountersOfSeveralDevices(t *testing.T) {
	var devices [3]string
	for i := range devices {
		devices[i] = disktest.Loop(t, disktest.MemoryDir(t), 16*mib)
	}
	s := openedSet(t, workload.BlockDevice, 65536, devices[:2]...)
	got := counted(t, s, func() {
		for _, device := range devices { // the third is not of the set
			use(t, device, 2, 3)
		}
	})
	want := report.DeviceCounters{ReadOperations: 4, WriteOperations: 6, ReadBytes: 4 * 4096, WriteBytes: 6 * 4096}
	want.OtherOperations, want.OtherBytes = got.OtherOperations, got.OtherBytes
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := s.counters.class[filepath.Base(devices[2])]; c != apart {
		t.Errorf("the third loop device is of class %d", c)
	}
}

// A partition has counters of its own, which the disk's other partition leaves alone.
func TestCountersOfAPartition(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib, "--partscan")
	first, second := disktest.Partition(t, device, 4*mib)
	s := openedSet(t, workload.BlockDevice, 0, first)
	got := counted(t, s, func() {
		use(t, first, 1, 2)
		use(t, second, 10, 10)
	})
	if got.ReadOperations != 1 || got.WriteOperations != 2 {
		t.Errorf("%+v, want one read and two writes", got)
	}
	if c := s.counters.class[filepath.Base(device)]; c != ours {
		t.Errorf("the partition's disk is of class %d", c)
	}
	disk, part := opened(t, workload.BlockDevice, second).Info().Queue, s.Info().Queue
	if part == nil || !cmp.Equal(disk, part) {
		t.Errorf("queue %+v, and of the other partition %+v", part, disk)
	}
}

func TestCountersOfOtherDisks(t *testing.T) {
	dir := disktest.Dir(t)
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	disk := sysfsOf(st.Dev)
	if disk == "" || classify("/sys", filepath.Base(wholeDisk(disk))) != other {
		t.Skipf("%s is on no disk of the machine's own", dir)
	}
	memory := openedSet(t, workload.BlockDevice, 0, disktest.Loop(t, disktest.MemoryDir(t), 16*mib))
	got := counted(t, memory, func() { use(t, filepath.Join(dir, "file"), 5, 6) })
	if got.OtherOperations < 11 || got.OtherBytes < 11*4096 || got.ReadOperations+got.WriteOperations > 0 {
		t.Errorf("%+v after 11 operations on another disk", got)
	}
	there := openedSet(t, workload.Directory, 0, dir)
	got = counted(t, there, func() { use(t, filepath.Join(dir, "file"), 5, 6) })
	if got.ReadOperations < 5 || got.WriteOperations < 6 || there.counters.class[filepath.Base(wholeDisk(disk))] != ours {
		t.Errorf("%+v after 11 operations on the disk itself", got)
	}
}

func TestMemoryHasNoCounters(t *testing.T) {
	if c, ok := openedSet(t, workload.Directory, 0, disktest.MemoryDir(t)).Counters(); ok {
		t.Errorf("%+v", c)
	}
}

// sysfs makes files, and links where the content begins with "->".
func sysfs(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := cutArrow(content); ok {
			err = os.Symlink(target, file)
		} else {
			err = os.WriteFile(file, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func cutArrow(content string) (string, bool) {
	if len(content) < 2 || content[:2] != "->" {
		return "", false
	}
	return content[2:], true
}

func TestClassify(t *testing.T) {
	const nvme = "devices/virtual/nvme-subsystem/nvme-subsys0"
	root := sysfs(t, map[string]string{
		"block/sdc":                               "->../devices/pci/block/sdc",
		"devices/pci/block/sdc/sdc1/stat":         "",
		"block/dm-0":                              "->../devices/virtual/block/dm-0",
		"devices/virtual/block/dm-0/stat":         "",
		"block/nvme0n1":                           "->../" + nvme + "/nvme0n1",
		nvme + "/nvme0n1/hidden":                  "0\n",
		"block/nvme0c0n1":                         "->../devices/pci/nvme/nvme0/nvme0c0n1",
		"devices/pci/nvme/nvme0/nvme0c0n1/hidden": "1\n",
		"block/cciss!c0d0":                        "->../devices/pci/block/cciss!c0d0",
		"devices/pci/block/cciss!c0d0/stat":       "",
	})
	for _, tt := range []struct {
		why, name string
		want      class
	}{
		{"a disk", "sdc", other},
		{"a partition counts in its disk", "sdc1", apart},
		{"a mapped device counts in the disks below", "dm-0", apart},
		{"an NVMe disk with several paths is virtual, but no virtual block device", "nvme0n1", other},
		{"and each path is hidden", "nvme0c0n1", apart},
		{"a slash in a name", "cciss/c0d0", other},
		{"what is gone by now", "sdz", apart},
	} {
		if got := classify(root, tt.name); got != tt.want {
			t.Errorf("%s: %s is of class %d, want %d", tt.why, tt.name, got, tt.want)
		}
	}
}

// The disks that a logical volume over an array of partitions lies on.
func TestDisksUnder(t *testing.T) {
	root := sysfs(t, map[string]string{
		"dm-0/slaves/md0":    "->../../md0",
		"md0/slaves/sdc1":    "->../../sdc/sdc1",
		"md0/slaves/sdd":     "->../../sdd",
		"sdc/sdc1/partition": "1\n",
		"sdd/stat":           "",
	})
	if diff := cmp.Diff([]string{"dm-0", "md0", "sdc", "sdd"}, disksUnder(filepath.Join(root, "dm-0"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"sdc"}, disksUnder(filepath.Join(root, "sdc/sdc1"))); diff != "" {
		t.Error(diff)
	}
}

func TestOthersOnlyGrow(t *testing.T) {
	c := &counters{class: map[string]class{"sda": other, "sdb": other, "sdc": ours}, seen: map[string]work{}}
	line := func(disk string, reads, writes int) string { // of 8 sectors each
		return fmt.Sprintf(" 8 0 %s %d 0 %d 1 %d 0 %d 1 0 1 2\n", disk, reads, 8*reads, writes, 8*writes)
	}
	for _, step := range []struct {
		why, table string
		want       int64
	}{
		{"both", line("sda", 10, 5) + line("sdb", 100, 1) + line("sdc", 1000, 1000), 116},
		{"one works on", line("sda", 12, 6) + line("sdb", 100, 1), 119},
		{"one is detached: what it did was done", line("sda", 12, 6), 119},
		{"another one takes its name", line("sda", 12, 6) + line("sdb", 1, 2), 122},
		{"a line of another kind", "8 0 sda 1 2\n" + "8\n" + "\n" + "8 0 sda x 0 0 0 x 0 0\n", 122},
	} {
		c.addOthers([]byte(step.table))
		if want := (work{operations: step.want, bytes: step.want * 4096}); c.others != want {
			t.Errorf("%s: %+v, want %+v", step.why, c.others, want)
		}
	}
}

func TestQueueOf(t *testing.T) {
	root := sysfs(t, map[string]string{
		"sdc/sdc1/partition":           "1\n",
		"sdc/queue/nr_requests":        "64\n",
		"sdc/queue/scheduler":          "none [mq-deadline] kyber\n",
		"sdc/queue/max_sectors_kb":     "512\n",
		"sdc/queue/write_cache":        "write back\n",
		"sdc/queue/fua":                "1\n",
		"sdc/device/queue_depth":       "2048\n",
		"nvme0n1/queue/nr_requests":    "1023\n",
		"nvme0n1/queue/scheduler":      "none\n",
		"nvme0n1/queue/max_sectors_kb": "256\n",
		"nvme0n1/queue/write_cache":    "write through\n",
		"nvme0n1/queue/fua":            "0\n",
	})
	sdc := &report.Queue{Scheduler: "mq-deadline", Requests: 64, DeviceDepth: 2048, MaxIOBytes: 512 << 10, WriteBack: true, FUA: true}
	for _, tt := range []struct {
		why, dir string
		want     *report.Queue
	}{
		{"a disk", "sdc", sdc},
		{"a partition has its disk's", "sdc/sdc1", sdc},
		{"without a choice of scheduler, and a depth of its own", "nvme0n1", &report.Queue{Scheduler: "none", Requests: 1023, MaxIOBytes: 256 << 10}},
		{"nothing is known", "sdz", nil},
	} {
		if diff := cmp.Diff(tt.want, queueOf(filepath.Join(root, tt.dir))); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}
