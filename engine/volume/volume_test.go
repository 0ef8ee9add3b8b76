// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

const mib = 1 << 20

// laidOut is a set with size completely written bytes.
func laidOut(t *testing.T, kind workload.TargetKind, path string, size int64) *Set {
	t.Helper()
	s := opened(t, kind, path)
	layOut(t, s, size, FillOptions{Seed: 1})
	return s
}

func layOut(t *testing.T, s *Set, size int64, o FillOptions) {
	t.Helper()
	for _, step := range []func() error{
		func() error { return s.Create(false) },
		s.ProveDirectIO,
		func() error { return s.Allocate(size) },
		func() error { return s.Fill(t.Context(), size, o, func(int64) {}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// opened is a set of one, not laid out.
func opened(t *testing.T, kind workload.TargetKind, path string) *Set {
	t.Helper()
	return openedSet(t, kind, 0, path)
}

func expectFailure(t *testing.T, err error, reason report.Reason, text string) {
	t.Helper()
	f := (*report.Failure)(nil)
	if !errors.As(err, &f) || f.Reason != reason || !strings.Contains(f.Message, text) {
		t.Errorf("%v, want %s: ...%s...", err, reason, text)
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestLayoutWritesEveryBlock(t *testing.T) {
	dir := disktest.Dir(t)
	const size = 5*mib + 4096 // the tail is no whole chunk
	v := laidOut(t, workload.Directory, dir, size)
	if diff := cmp.Diff([]string{partialName}, entries(t, dir)); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(filepath.Join(dir, partialName))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != size {
		t.Errorf("%d bytes, want %d", len(data), size)
	}
	seen := map[string]bool{}
	for block := range slices.Chunk(data, 4096) {
		if bytes.Count(block, []byte{0}) > 64 { // of random bytes 16 are zero, and 64 are 12 deviations more
			t.Fatal("a block was not written")
		}
		if seen[string(block)] {
			t.Fatal("a block is there twice")
		}
		seen[string(block)] = true
	}
	if err := Keep(v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{FileName}, entries(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestPreparedFileIsFoundAndThenGone(t *testing.T) {
	dir := disktest.Dir(t)
	if err := Keep(laidOut(t, workload.Directory, dir, 2*mib)); err != nil {
		t.Fatal(err)
	}
	v := opened(t, workload.Directory, dir)
	if err := errors.Join(v.OpenPrepared(), v.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	room, err := v.Room(true)
	if err != nil || room.Available != 2*mib || room.Shrunk != 2*mib {
		t.Errorf("room %+v, %v; want the file's 2 MiB", room, err)
	}
	if err := v.Unlink(); err != nil {
		t.Fatal(err)
	}
	if names := entries(t, dir); len(names) != 0 {
		t.Errorf("%v are left while running: a killed run would leave them for ever", names)
	}
	files, err := v.Open(OpenOptions{DSync: true})
	if err != nil {
		t.Fatal(err)
	}
	f := files[0]
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if flags&unix.O_NOATIME == 0 {
		t.Error("each read may write the time of access")
	}
	if err != nil || flags&unix.O_DIRECT == 0 || flags&unix.O_DSYNC == 0 {
		t.Errorf("reopened with flags %#x, %v; want O_DIRECT and O_DSYNC", flags, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestPreparedFileIsMissing(t *testing.T) {
	dir := disktest.Dir(t)
	v := laidOut(t, workload.Directory, dir, mib) // not kept: only partly there as far as anybody knows
	v.Discard()
	expectFailure(t, opened(t, workload.Directory, dir).OpenPrepared(), report.ReasonTargetNotFound, "has no "+FileName)
	if names := entries(t, dir); len(names) != 0 {
		t.Errorf("%v are left", names)
	}
}

// Blocks that were never written are read at the speed of memory.
func TestPreparedFileWithUnwrittenBlocksIsRefused(t *testing.T) {
	for why, change := range map[string]func(file string) error{
		"sparse":    func(file string) error { return errors.Join(os.Truncate(file, mib), os.Truncate(file, 2*mib)) },
		"allocated": func(file string) error { return errors.Join(os.Truncate(file, mib), allocate(file, 2*mib)) },
	} {
		t.Run(why, func(t *testing.T) {
			dir := disktest.Dir(t)
			if err := Keep(laidOut(t, workload.Directory, dir, 2*mib)); err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			expectFailure(t, opened(t, workload.Directory, dir).OpenPrepared(), report.ReasonTargetNotFound,
				"is unwritten from byte 1048576 of 2097152 on")
		})
	}
}

func allocate(file string, size int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, size), f.Close())
}

// What an earlier run left, or somebody put there to catch the engine, is replaced and not followed.
func TestLeftoversAreReplaced(t *testing.T) {
	dir := disktest.Dir(t)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, FileName), make([]byte, 100), 0o400),
		os.Symlink(victim, filepath.Join(dir, partialName)),
		os.WriteFile(filepath.Join(dir, "users.db"), []byte("keep"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	v := laidOut(t, workload.Directory, dir, mib)
	if err := v.Unlink(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"users.db"}, entries(t, dir)); diff != "" {
		t.Error(diff)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("the link's target is now %q, %v", got, err)
	}
}

func TestASecondEngineIsRefused(t *testing.T) {
	dir := disktest.Dir(t)
	v := opened(t, workload.Directory, dir)
	_, err := OpenSet(workload.Directory, []string{dir}, 0)
	expectFailure(t, err, report.ReasonTargetBusy, "another diskbench-engine is at work in "+dir)
	v.Discard()
	opened(t, workload.Directory, dir)
}

func TestMemoryIsNoDisk(t *testing.T) {
	dir := disktest.MemoryDir(t)
	v := opened(t, workload.Directory, dir)
	err := v.Create(false) // older kernels refuse here
	if err == nil {
		err = v.ProveDirectIO()
	}
	expectFailure(t, err, report.ReasonDirectIOUnsupported, dir+" has no direct I/O")
	v.Discard()
	if names := entries(t, dir); len(names) != 0 {
		t.Errorf("%v are left", names)
	}
}

// The probe for kernels that do not state the alignment must agree with those that do.
func TestProbedSectorAgreesWithTheStatedOne(t *testing.T) {
	dir := disktest.Dir(t)
	v := opened(t, workload.Directory, dir)
	if err := v.Create(false); err != nil {
		t.Fatal(err)
	}
	stated, err := v.members[0].statedSector()
	if err != nil {
		t.Fatal(err)
	}
	if stated == 0 {
		t.Skip("this kernel or filesystem does not state it")
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(v.members[0].data, &fs); err != nil {
		t.Fatal(err)
	}
	probed, err := v.members[0].probedSector(int64(fs.Type))
	if err != nil || probed != stated {
		t.Errorf("probed %d, %v; stated %d", probed, err, stated)
	}
	if size, err := v.members[0].preparedSize(); err != nil || size != 0 {
		t.Errorf("the probe has left %d bytes, %v", size, err)
	}
}

func TestProbeSeesThroughMemory(t *testing.T) {
	dir := disktest.MemoryDir(t)
	v := opened(t, workload.Directory, dir)
	if err := v.Create(false); err != nil {
		t.Skipf("this kernel refuses O_DIRECT there: %v", err)
	}
	_, err := v.members[0].probedSector(unix.TMPFS_MAGIC)
	expectFailure(t, err, report.ReasonDirectIOUnsupported, "it accepts a misaligned read")
}

func TestMissingTargets(t *testing.T) {
	dir := disktest.Dir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		why  string
		kind workload.TargetKind
		path string
		text string
	}{
		{"a directory that does not exist", workload.Directory, filepath.Join(dir, "none"), "give an existing Directory"},
		{"a file in place of a directory", workload.Directory, file, "give an existing Directory"},
		{"a device that does not exist", workload.BlockDevice, filepath.Join(dir, "none"), "give an existing BlockDevice"},
		{"a file in place of a device", workload.BlockDevice, file, "is no block device"},
		{"a character device", workload.BlockDevice, "/dev/null", "is no block device"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := OpenSet(tt.kind, []string{tt.path}, 0)
			expectFailure(t, err, report.ReasonTargetNotFound, tt.text)
		})
	}
}

func TestInterruptedLayoutSaysHowFarItWas(t *testing.T) {
	v := opened(t, workload.Directory, disktest.Dir(t))
	if err := errors.Join(v.Create(false), v.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := v.Fill(ctx, 64*mib, FillOptions{Seed: 1}, func(done int64) {
		if done >= 4*mib {
			cancel()
		}
	})
	expectFailure(t, err, report.ReasonInterrupted, "of 67108864 bytes")
}

func TestFullVolume(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 32*mib)
	disktest.Run(t, "mkfs.ext4", "-q", device)
	dir := disktest.Mount(t, device)
	v := opened(t, workload.Directory, dir)
	if err := errors.Join(v.Create(false), v.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	expectFailure(t, v.Allocate(64*mib), report.ReasonNoSpace, "a file of 67108864 bytes does not fit on "+dir)
	// Without the reservation the layout itself must notice.
	expectFailure(t, v.Fill(t.Context(), 64*mib, FillOptions{Seed: 1}, func(int64) {}), report.ReasonNoSpace, "no space left on device")
	v.Discard()
	if names := entries(t, dir); slices.Contains(names, partialName) {
		t.Errorf("%v are left", names)
	}
}

func TestFilesystemOnALoopDevice(t *testing.T) {
	device := disktest.Loop(t, disktest.Dir(t), 64*mib)
	disktest.Run(t, "mkfs.ext4", "-q", device)
	dir := disktest.Mount(t, device)
	info := opened(t, workload.Directory, dir).Info()
	if info.Filesystem != "ext4" || info.Device != filepath.Base(device) || info.SizeBytes < 32*mib || info.SizeBytes > 64*mib {
		t.Errorf("found %+v, want ext4 on %s of nearly 64 MiB", info, filepath.Base(device))
	}
}

// A device of 4,096-byte sectors: smaller blocks are refused, the device named.
func TestSectorIsFound(t *testing.T) {
	device := disktest.Loop(t, disktest.Dir(t), 16*mib, "--sector-size", "4096")
	v := opened(t, workload.BlockDevice, device)
	if err := v.ProveDirectIO(); err != nil {
		t.Fatal(err)
	}
	room, err := v.Room(false)
	if err != nil || room.Sector != 4096 || room.Available != 16*mib {
		t.Fatalf("room %+v, %v; want 16 MiB of 4096-byte sectors", room, err)
	}
	small := workload.Workload{Name: "small", Layout: workload.Written, FileSizeBytes: mib, Streams: []workload.Stream{{BlockSizeBytes: 512, Threads: 1, Range: workload.Whole}}}
	_, _, err = Fit([]workload.Workload{small}, room)
	expectFailure(t, err, report.ReasonInvalidPlan,
		"blockSize 512 is below the logical block size 4096 of "+device+": use a multiple of 4096")
}

func TestDevice(t *testing.T) {
	device := disktest.Loop(t, disktest.Dir(t), 16*mib)

	v := opened(t, workload.BlockDevice, device)
	if info := v.Info(); info.SizeBytes != 16*mib || info.Device != filepath.Base(device) || info.Filesystem != "" {
		t.Errorf("found %+v", info)
	}
	expectFailure(t, v.OpenPrepared(), report.ReasonTargetNotFound, "was not prepared")
	_, err := OpenSet(workload.BlockDevice, []string{device}, 0)
	expectFailure(t, err, report.ReasonDeviceInUse, "is mounted or held")
	v.Discard()

	if err := Keep(laidOut(t, workload.BlockDevice, device, 8*mib)); err != nil {
		t.Fatal(err)
	}
	v = opened(t, workload.BlockDevice, device)
	if err := errors.Join(v.OpenPrepared(), v.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	if room, err := v.Room(true); err != nil || room.Available != 8*mib {
		t.Errorf("room %+v, %v; want the 8 MiB that were prepared", room, err)
	}
	// What the engine itself has written is no one's data.
	if err := v.Create(false); err != nil {
		t.Error(err)
	}
}

func TestDeviceInUseIsRefused(t *testing.T) {
	device := disktest.Loop(t, disktest.Dir(t), 32*mib)
	disktest.Run(t, "mkfs.ext4", "-q", device)
	v := opened(t, workload.BlockDevice, device)
	expectFailure(t, v.Create(false), report.ReasonDeviceInUse, device+" carries an ext2, ext3 or ext4 filesystem")
	if err := v.Create(true); err != nil {
		t.Errorf("asked to overwrite: %v", err)
	}
	v.Discard()

	disktest.Mount(t, device)
	_, err := OpenSet(workload.BlockDevice, []string{device}, 0)
	expectFailure(t, err, report.ReasonDeviceInUse, device+" is mounted or held")
}
