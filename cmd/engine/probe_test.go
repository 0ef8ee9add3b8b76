// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/test/golden"
)

// probed runs the command for a path.
func probed(t *testing.T, path string) (probeResult, outcome) {
	t.Helper()
	o := diskbench(t, "probe", path, "-o", "json")
	var r probeResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, o)
	}
	return r, o
}

// A probe changes nothing in the directory, not even what 'prepare' left for a run.
func TestProbeDirectory(t *testing.T) {
	dir := disktest.Dir(t)
	if o := diskbench(t, "prepare", "--path", dir, "--preset", "vdi", "--file-size", "16Mi"); o.code != 0 {
		t.Fatal(o.stderr)
	}
	before := listing(t, dir)
	r, o := probed(t, dir)
	if o.code != 0 || !r.Usable || r.Reason != "" || r.Kind != workload.Directory || r.Path != dir {
		t.Errorf("exit code %d: %+v", o.code, r)
	}
	if r.Target.Filesystem == "" || r.Target.LogicalBlockBytes < 512 || r.Target.SizeBytes == 0 || *r.Target.FreeBytes == 0 || len(r.Target.Mounts) != 1 {
		t.Errorf("target %+v", r.Target)
	}
	var names []string
	for _, trial := range r.IOEngines {
		names = append(names, trial.IOEngine)
		if trial.Works != (trial.Reason == "") {
			t.Errorf("a reason, and only a reason, is against it: %+v", trial)
		}
	}
	if !slices.Equal(names, []string{"io_uring", "libaio", "sync"}) || !r.IOEngines[2].Works {
		t.Errorf("I/O engines %+v: plain system calls work everywhere", r.IOEngines)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the directory changed: %s", diff)
	}
	if o := diskbench(t, "run", "--prepared", "--path", dir, "--preset", "vdi", "--file-size", "16Mi", "--duration", "200ms", "--warmup", "0s"); o.code != 0 {
		t.Errorf("the prepared file is not what it was: %s", o.stderr)
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fs.FormatFileInfo(info))
	}
	return lines
}

func TestProbeRefusals(t *testing.T) {
	mounted := disktest.Loop(t, disktest.Dir(t), 64<<20)
	disktest.Run(t, "mkfs.ext4", "-q", mounted)
	disktest.Mount(t, mounted)
	formatted := disktest.Loop(t, disktest.Dir(t), 64<<20)
	disktest.Run(t, "mkfs.ext4", "-q", formatted)
	for _, tt := range []struct {
		why, path string
		reason    report.Reason
		text      string
		trials    int
	}{
		{"memory is no disk", disktest.MemoryDir(t), report.ReasonDirectIOUnsupported, "it is tmpfs", 0},
		{"a mounted device", mounted, report.ReasonDeviceInUse, "unmount it first", 0},
		{"a device with data, on which I/O works all the same", formatted, report.ReasonDeviceInUse, "--overwrite-device", 3},
	} {
		t.Run(tt.why, func(t *testing.T) {
			r, o := probed(t, tt.path)
			if o.code != tt.reason.ExitCode() || r.Usable || r.Reason != tt.reason || !strings.Contains(r.Message, tt.text) ||
				!strings.Contains(o.stderr, r.Message) || strings.Contains(r.Message, "diskbench-probe") {
				t.Errorf("exit code %d, %+v, %s", o.code, r, o.stderr)
			}
			if len(r.IOEngines) != tt.trials {
				t.Errorf("I/O engines %+v", r.IOEngines)
			}
		})
	}
	if r, _ := probed(t, mounted); len(r.Target.Mounts) != 1 {
		t.Errorf("mounts %+v", r.Target.Mounts)
	}
	expect(t, diskbench(t, "probe", "/dev/zero"), report.ReasonInvalidPlan, "is no disk")
	expect(t, diskbench(t, "probe", "/none"), report.ReasonTargetNotFound, "no such file")
	expect(t, diskbench(t, "probe"), report.ReasonInvalidPlan, "accepts 1 arg")
}

// A probe leaves every byte of a device as it was.
func TestProbeReadsADevice(t *testing.T) {
	dir := disktest.Dir(t)
	device := disktest.Loop(t, dir, 16<<20)
	r, o := probed(t, device)
	if o.code != 0 || !r.Usable || r.Kind != workload.BlockDevice || r.Target.SizeBytes != 16<<20 || r.Target.Queue == nil {
		t.Errorf("exit code %d: %+v", o.code, r)
	}
	disk, err := os.ReadFile(filepath.Join(dir, "backing"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(disk, make([]byte, 16<<20)) {
		t.Error("the device has been written to")
	}
}

// The kernel's own answer stands against an I/O engine that does not work, and a run would use the next.
func TestProbeTellsWhyNot(t *testing.T) {
	disktest.NeedRoot(t, "running as another user")
	dir := disktest.Dir(t)
	for p := dir; p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(p) == os.TempDir() {
			break
		}
	}
	binary := filepath.Join(dir, "engine")
	copyFile(t, os.Args[0], binary)
	c := command("sh", "-c", `ulimit -l 0 && exec "$0" "$@"`, binary, "probe", dir, "-o", "json")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	o := finish(t, c)
	var r probeResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, o)
	}
	if o.code != 0 || !r.Usable || *r.Host.MemoryLockBytes != 0 || r.Host.UID != 65532 {
		t.Errorf("exit code %d: %+v", o.code, r)
	}
	if uring := r.IOEngines[0]; uring.Works || !strings.HasPrefix(uring.Reason, "io_uring_setup: ") {
		t.Errorf("io_uring without memory to lock: %+v", uring)
	}
}

func TestDeviceAt(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	root := fstest.MapFS{
		"sys/dev/block/8:33":                                   link("../../devices/pci/block/sdc/sdc1"),
		"sys/dev/block/8:32":                                   link("../../devices/pci/block/sdc"),
		"sys/dev/block/7:0":                                    link("../../devices/virtual/block/loop0"),
		"sys/devices/pci/block/sdc/size":                       file("67108864\n"),
		"sys/devices/pci/block/sdc/sdc1/size":                  file("2048\n"),
		"sys/devices/pci/block/sdc/sdc1/partition":             file("1\n"),
		"sys/devices/pci/block/sdc/queue/nr_requests":          file("64\n"),
		"sys/devices/pci/block/sdc/queue/scheduler":            file("none [mq-deadline] kyber\n"),
		"sys/devices/pci/block/sdc/queue/max_sectors_kb":       file("512\n"),
		"sys/devices/pci/block/sdc/queue/write_cache":          file("write back\n"),
		"sys/devices/pci/block/sdc/queue/fua":                  file("1\n"),
		"sys/devices/pci/block/sdc/queue/logical_block_size":   file("512\n"),
		"sys/devices/pci/block/sdc/queue/physical_block_size":  file("4096\n"),
		"sys/devices/pci/block/sdc/device/queue_depth":         file("2048\n"),
		"sys/devices/virtual/block/loop0/queue/nr_requests":    file("128\n"),
		"sys/devices/virtual/block/loop0/queue/scheduler":      file("none\n"),
		"sys/devices/virtual/block/loop0/queue/max_sectors_kb": file("1280\n"),
		"sys/devices/virtual/block/loop0/queue/write_cache":    file("write through\n"),
	}
	sdc := place{
		Device: "sdc", Disk: "sdc", SizeBytes: 32 << 30, LogicalBlockBytes: 512, PhysicalBlockBytes: 4096,
		Queue: &queue{Scheduler: "mq-deadline", Requests: 64, DeviceDepth: 2048, MaxIOBytes: 512 << 10, WriteBack: true, FUA: true},
	}
	sdc1 := sdc
	sdc1.Device, sdc1.SizeBytes = "sdc1", 1<<20
	for _, tt := range []struct {
		why          string
		major, minor uint32
		want         place
	}{
		{"a disk", 8, 32, sdc},
		{"a partition has the queue of its disk", 8, 33, sdc1},
		{"a device without a choice of scheduler, depth or cache", 7, 0,
			place{Device: "loop0", Disk: "loop0", Queue: &queue{Scheduler: "none", Requests: 128, MaxIOBytes: 1280 << 10}}},
		{"an overlay has no device", 0, 42, place{}},
	} {
		if diff := cmp.Diff(tt.want, deviceAt(root, tt.major, tt.minor)); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

func TestMountsWith(t *testing.T) {
	const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 8:32 / /mnt/disk rw,noatime - xfs /dev/sdc rw,attr2
41 22 8:32 /sub /mnt/other ro - xfs /dev/sdc rw,attr2
a line of another kind
`
	filesystem, mounts := mountsWith(mountinfo, withID("40"))
	if want := []mount{{"/dev/sdc", "/mnt/disk", "rw,noatime"}}; filesystem != "xfs" || !slices.Equal(mounts, want) {
		t.Errorf("by its number: %s %v", filesystem, mounts)
	}
	if _, mounts := mountsWith(mountinfo, onDevice("8:32")); len(mounts) != 2 {
		t.Errorf("a device that is mounted twice: %v", mounts)
	}
	if filesystem, mounts := mountsWith(mountinfo, onDevice("8:33")); filesystem != "" || mounts != nil {
		t.Errorf("a device that is not mounted: %s %v", filesystem, mounts)
	}
}

func TestRefusedDirectory(t *testing.T) {
	for _, tt := range []struct {
		why  string
		err  error
		want report.Reason
	}{
		{"a read-only mount", unix.EROFS, report.ReasonPermissionDenied},
		{"another user's directory", unix.EACCES, report.ReasonPermissionDenied},
		{"a full disk", unix.ENOSPC, report.ReasonNoSpace},
		{"a quota", unix.EDQUOT, report.ReasonNoSpace},
		{"a broken disk", unix.EIO, report.ReasonIOError},
	} {
		err := refusedDirectory("/mnt/disk", &os.PathError{Op: "mkdir", Path: "/mnt/disk/.diskbench-probe-1", Err: tt.err})
		if !strings.HasPrefix(err.Error(), string(tt.want)+": cannot write in /mnt/disk: "+tt.err.Error()) {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.want)
		}
	}
}

func TestProbeTable(t *testing.T) {
	r := probeResult{
		Path: "/mnt/disk", Kind: workload.Directory, Usable: true,
		Target: place{
			Filesystem: "ext4", Mounts: []mount{{"/dev/sdc1", "/mnt/disk", "rw,relatime"}}, Device: "sdc1", Disk: "sdc",
			SizeBytes: 32 << 30, FreeBytes: new(int64(30 << 30)), LogicalBlockBytes: 512, PhysicalBlockBytes: 4096,
			Queue: &queue{Scheduler: "none", Requests: 64, DeviceDepth: 2048, MaxIOBytes: 512 << 10, FUA: true},
		},
		IOEngines: []trial{{"io_uring", false, "io_uring_setup: operation not permitted"}, {"libaio", true, ""}, {"sync", true, ""}},
		Host: host{
			Kernel: "6.8.0", UID: 65532, GID: 65532, Cores: 8, CPULimit: new(1.5), MemoryLockBytes: new(int64(64 << 10)),
			AIORequests: new(int64(128)), AIOMaxRequests: new(int64(65536)), IOURingDisabled: new(int64(2)), Seccomp: true,
		},
	}
	var b bytes.Buffer
	if err := writeProbe(&b, r); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/probe.table", b.String())
}
