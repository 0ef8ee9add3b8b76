// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
	"github.com/diskbench/diskbench/engine/workload"
)

// content is what a device holds, as far as n bytes from an offset.
func content(t *testing.T, device string, at, n int64) []byte {
	t.Helper()
	f, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	data := make([]byte, n)
	if _, err := f.ReadAt(data, at); err != nil {
		t.Fatal(err)
	}
	return data
}

// scribble writes to a device through a descriptor of a set, as a worker does.
func scribble(t *testing.T, s *Set, member int, data string, at int64) {
	t.Helper()
	files, err := s.Open(OpenOptions{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if i == member {
			_, err = f.WriteAt([]byte(data), at)
		}
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// expectSealed verifies the first bytes of each member, those under the mark included.
func expectSealed(t *testing.T, s *Set, devices []string, share int64, sector int) {
	t.Helper()
	for i, device := range devices {
		data := content(t, device, 0, share)
		for at := int64(0); at < share; at += int64(sector) {
			if err := seal.Check(data[at:at+int64(sector)], s.logical(int64(i), at), sector); err != nil {
				t.Fatalf("member %d: %v", i, err)
			}
		}
	}
}

func marks(t *testing.T, devices []string) []mark {
	t.Helper()
	var found []mark
	for _, device := range devices {
		m, _ := parseMark(content(t, device, 0, 512))
		found = append(found, m)
	}
	return found
}

// The mark is there while no engine is at work, and data in its place, which can be verified, while one
// is; whatever that writes there, the device stays ours, and prepared.
func TestMarkGivesWayToData(t *testing.T) {
	const share, stripe = 2 * mib, 64 << 10
	// Members of different sectors: the larger one is the unit of seals on both.
	devices := []string{
		disktest.Loop(t, disktest.MemoryDir(t), 8*mib),
		disktest.Loop(t, disktest.MemoryDir(t), 8*mib, "--sector-size", "4096"),
	}
	s := openedSet(t, workload.BlockDevice, stripe, devices...)
	layOut(t, s, 2*share, FillOptions{Seed: 1, Seal: true})
	expectSealed(t, s, devices, share, 4096)
	if err := Keep(s); err != nil {
		t.Fatal(err)
	}
	want := mark{size: share, sector: 4096, sealed: true}
	if diff := cmp.Diff([]mark{want, want}, marks(t, devices), cmp.AllowUnexported(mark{})); diff != "" {
		t.Fatal(diff)
	}
	for range 2 { // a run leaves the devices as it found them
		s = openedSet(t, workload.BlockDevice, stripe, devices...)
		if err := errors.Join(s.OpenPrepared(), s.ProveDirectIO()); err != nil {
			t.Fatal(err)
		}
		if room, err := s.Room(true); err != nil || room.Available != 2*share || room.Sector != 4096 {
			t.Errorf("%+v, %v; want the %d bytes that were prepared", room, err, 2*share)
		}
		if diff := cmp.Diff([]mark{{}, {}}, marks(t, devices), cmp.AllowUnexported(mark{})); diff != "" {
			t.Error(diff)
		}
		expectSealed(t, s, devices, share, 4096)
		s.Discard()
		if diff := cmp.Diff([]mark{want, want}, marks(t, devices), cmp.AllowUnexported(mark{})); diff != "" {
			t.Error(diff)
		}
	}
	s = openedSet(t, workload.BlockDevice, stripe, devices...)
	if err := s.OpenPrepared(); err != nil {
		t.Fatal(err)
	}
	scribble(t, s, 1, "\x55\xaa", 510)
	scribble(t, s, 1, "XFSB", 0)
	s.Discard()
	s = openedSet(t, workload.BlockDevice, stripe, devices...)
	if err := errors.Join(s.OpenPrepared(), s.Create(false)); err != nil {
		t.Errorf("after writes that look like other data: %v", err)
	}
}

// A run that lays out itself leaves the device as one that was prepared: all of it has been written.
func TestRunLeavesAMark(t *testing.T) {
	devices := []string{disktest.Loop(t, disktest.MemoryDir(t), 8*mib)}
	s := laidOut(t, workload.BlockDevice, devices[0], 4*mib)
	if m := marks(t, devices)[0]; m != (mark{}) {
		t.Errorf("%+v is in the place of data", m)
	}
	s.Discard()
	if m := marks(t, devices)[0]; m != (mark{size: 4 * mib, sector: 512}) {
		t.Errorf("%+v", m)
	}
}

// One that is refused is left as it is, to the last bit.
func TestRefusedDeviceIsUntouched(t *testing.T) {
	devices := []string{disktest.Loop(t, disktest.MemoryDir(t), 8*mib), disktest.Loop(t, disktest.MemoryDir(t), 8*mib)}
	s := laidOut(t, workload.BlockDevice, devices[0], mib)
	if err := Keep(s); err != nil {
		t.Fatal(err)
	}
	disktest.Run(t, "mkfs.ext4", "-q", devices[1])
	before := [][]byte{content(t, devices[0], 0, 8*mib), content(t, devices[1], 0, 8*mib)}
	s = openedSet(t, workload.BlockDevice, 64<<10, devices...)
	expectFailure(t, s.OpenPrepared(), report.ReasonTargetNotFound, devices[1]+" was not prepared")
	expectFailure(t, s.Create(false), report.ReasonDeviceInUse, devices[1]+" carries an ext2, ext3 or ext4 filesystem, which")
	s.Discard()
	for i, device := range devices {
		if !slices.Equal(before[i], content(t, device, 0, 8*mib)) {
			t.Errorf("%s has been written to", device)
		}
	}
}

func TestZeroDevice(t *testing.T) {
	s := opened(t, workload.NullDevice, workload.NullPath)
	if err := errors.Join(s.Create(false), s.Unlink(), s.ProveDirectIO(), s.Allocate(mib),
		s.Fill(t.Context(), mib, FillOptions{Seal: true}, func(int64) {})); err != nil {
		t.Error(err)
	}
	if room, err := s.Room(false); err != nil || room.Available < 1<<50 || room.Sector != 512 {
		t.Errorf("room %+v, %v", room, err)
	}
	if diff := cmp.Diff(report.Target{LogicalBlockBytes: 512}, s.Info()); diff != "" {
		t.Error(diff)
	}
	if _, ok := s.Counters(); ok {
		t.Error("it has no counters")
	}
	files, err := s.Open(OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(files[0].Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_DIRECT != 0 {
		t.Errorf("opened with flags %#x, %v", flags, err)
	}
	if err := errors.Join(files[0].Close(), Keep(s), opened(t, workload.NullDevice, workload.NullPath).OpenPrepared()); err != nil {
		t.Error(err)
	}
	_, err = OpenSet(workload.NullDevice, []string{"/dev/null"}, 0)
	expectFailure(t, err, report.ReasonTargetNotFound, "/dev/null is not the kernel's zero device")
}

// Members are filled at the same time, and one that fails stops all.
func TestMembersAreFilledTogether(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t), disktest.Dir(t)}
	s := openedSet(t, workload.Directory, 64<<10, dirs...)
	if err := errors.Join(s.Create(false), s.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Fill(ctx, 300*mib, FillOptions{}, func(done int64) {
		if done >= 6*mib {
			cancel()
		}
	})
	expectFailure(t, err, report.ReasonInterrupted, "of 314572800 bytes")
	for _, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, partialName)); err != nil || info.Size() == 0 {
			t.Errorf("%s has nothing: %v", dir, err)
		}
	}
}

// A set is kept as a whole, or nothing of it.
func TestKeepIsAllOrNothing(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t)}
	s := openedSet(t, workload.Directory, 64<<10, dirs...)
	layOut(t, s, mib, FillOptions{})
	if err := os.Remove(filepath.Join(dirs[1], partialName)); err != nil {
		t.Fatal(err)
	}
	expectFailure(t, Keep(s), report.ReasonTargetNotFound, "cannot name the file in "+dirs[1])
	s.Discard()
	for _, dir := range dirs {
		if names := entries(t, dir); len(names) > 0 {
			t.Errorf("%v are left", names)
		}
	}
}

// Where each workload has a file of its own, the shared one is empty, and goes through every step.
func TestEmptySharedFile(t *testing.T) {
	dir := disktest.Dir(t)
	s := laidOut(t, workload.Directory, dir, 0)
	if err := Keep(s); err != nil {
		t.Fatal(err)
	}
	s = opened(t, workload.Directory, dir)
	if err := errors.Join(s.OpenPrepared(), s.Unlink(), s.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	if room, err := s.Room(true); err != nil || room.Available != 0 || room.Beside == 0 {
		t.Errorf("room %+v, %v", room, err)
	}
}

// Without fallocate(2) a file would not be what the layout says.
func TestPreallocatedNeedsTheFilesystem(t *testing.T) {
	disktest.NeedRoot(t, "a filesystem without fallocate")
	dir := t.TempDir()
	disktest.Run(t, "mount", "-t", "ramfs", "diskbench-test", dir)
	t.Cleanup(func() { disktest.Run(t, "umount", dir) })
	s := opened(t, workload.Directory, dir)
	_, err := s.NewFile(workload.Preallocated, mib)
	expectFailure(t, err, report.ReasonInvalidPlan, "layout Preallocated: "+dir+" (ramfs) cannot set space aside: use layout Written or Append")
	if names := entries(t, dir); len(names) > 0 {
		t.Errorf("%v are left", names)
	}
	f, err := s.NewFile(workload.Append, mib)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
