// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

// ready is a set of new files, or of devices, that can be filled.
func ready(t *testing.T, kind workload.TargetKind, stripe int64, paths ...string) *volume.Set {
	t.Helper()
	s, err := volume.OpenSet(kind, paths, stripe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Discard)
	if err := errors.Join(s.Create(false), s.ProveDirectIO()); err != nil {
		t.Fatal(err)
	}
	return s
}

func failed(t *testing.T, err error, reason report.Reason, texts ...string) {
	t.Helper()
	f := (*report.Failure)(nil)
	if !errors.As(err, &f) || f.Reason != reason {
		t.Errorf("%v, want %s", err, reason)
		return
	}
	for _, text := range texts {
		if !strings.Contains(f.Message, text) {
			t.Errorf("%q does not say %q", f.Message, text)
		}
	}
}

// folders are directories on one disk.
func folders(t *testing.T, n int) []string {
	t.Helper()
	parent, paths := disktest.Dir(t), make([]string, n)
	for i := range paths {
		paths[i] = filepath.Join(parent, strconv.Itoa(i))
		if err := os.Mkdir(paths[i], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// filesystem makes one on a device of its own in memory.
func filesystem(t *testing.T, kind string, size int64, options ...string) string {
	t.Helper()
	device := disktest.Loop(t, disktest.MemoryDir(t), size)
	disktest.Run(t, "mkfs."+kind, append(append([]string{"-q"}, options...), device)...)
	return disktest.Mount(t, device)
}

// What is on the members says itself where it belongs. Offsets of the address space and places on
// members have to be in one-to-one correspondence, and where RAID 0 has them: stripe n on member n mod
// members, in order.
func TestFillCoversTheAddressSpaceOnce(t *testing.T) {
	for _, tt := range []struct {
		why           string
		members       int
		stripe, bytes int64
	}{
		{"one member", 1, 0, 3*mib + 8*kib},
		{"whole rows of stripes", 2, 64 * kib, 2 * mib},
		{"the last row is not whole, and is written whole all the same", 3, 64 * kib, 2*mib + 64*kib},
		{"nor is the last stripe", 2, 64 * kib, mib + 4*kib},
		{"stripes as small as there are", 4, 4 * kib, mib + 12*kib},
		{"stripes above the size in which members are written", 2, 4 * mib, 9 * mib},
		{"stripes that do not divide that size", 3, 68 * kib, 3 * mib},
		{"a size below a stripe", 2, 256 * kib, 8 * kib},
	} {
		t.Run(tt.why, func(t *testing.T) {
			paths := folders(t, tt.members)
			s := ready(t, workload.Directory, tt.stripe, paths...)
			room, err := s.Room(false)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Allocate(tt.bytes), fill(t, s, tt.bytes, volume.FillOptions{Seed: 1, Seal: true}), volume.Keep(s)); err != nil {
				t.Fatal(err)
			}
			seen := map[int64]bool{}
			for member, path := range paths {
				data, err := os.ReadFile(filepath.Join(path, volume.FileName))
				if err != nil {
					t.Fatal(err)
				}
				sector := room.Sector
				for at := int64(0); at < int64(len(data)); at += sector {
					unit := data[at : at+sector]
					want := at
					if tt.stripe > 0 {
						want = (at/tt.stripe*int64(tt.members)+int64(member))*tt.stripe + at%tt.stripe
					}
					if err := seal.Check(unit, want, int(sector)); err != nil {
						t.Fatalf("member %d at %d: %v", member, at, err)
					}
					offset := int64(binary.LittleEndian.Uint64(unit[8:]))
					if seen[offset] {
						t.Fatalf("offset %d is there twice", offset)
					}
					seen[offset] = true
				}
			}
			for offset := int64(0); offset < tt.bytes; offset += room.Sector {
				if !seen[offset] {
					t.Fatalf("offset %d is nowhere", offset)
				}
			}
		})
	}
}

// fill checks that progress goes up to the size, and not beyond.
func fill(t *testing.T, s *volume.Set, size int64, o volume.FillOptions) error {
	t.Helper()
	var lock sync.Mutex
	most := int64(0)
	err := s.Fill(t.Context(), size, o, func(done int64) {
		lock.Lock()
		defer lock.Unlock()
		most = max(most, done)
	})
	if err == nil && most != size {
		t.Errorf("progress went to %d of %d", most, size)
	}
	return err
}

// The smallest member decides, in whole stripes, and names itself.
func TestRoomOfASet(t *testing.T) {
	device := func(size int64, options ...string) string {
		return disktest.Loop(t, disktest.MemoryDir(t), size, options...)
	}
	const stripe = 48 * kib
	large, small := device(32*mib), device(16*mib, "--sector-size", "4096")
	s := ready(t, workload.BlockDevice, stripe, large, small)
	room, err := s.Room(false)
	if want := 16 * mib / stripe * stripe * 2; err != nil || room.Available != want || room.Shrunk != want || room.Sector != 4096 {
		t.Errorf("%+v, %v; want %d bytes in sectors of 4096", room, err, want)
	}
	if info := s.Info(); info.Device != filepath.Base(large) {
		t.Errorf("described as %+v, want the first", info)
	}
}

// Another process comes to the same sizes from what was prepared, whatever blocks and stripes do not
// divide.
func TestPreparedSetHasTheSameSizes(t *testing.T) {
	for _, tt := range []struct {
		why                  string
		members              int
		stripe, asked, block int64
	}{
		{"one file", 1, 0, 5 * mib, 8 * kib},
		{"blocks of several stripes", 3, 64 * kib, 5 * mib, 256 * kib},
		{"several blocks in a stripe", 3, 64 * kib, 5*mib + 4*kib, 4 * kib},
	} {
		t.Run(tt.why, func(t *testing.T) {
			paths := folders(t, tt.members)
			load := []workload.Workload{loadOf(workload.Written, tt.asked, true, tt.block)}
			s := ready(t, workload.Directory, tt.stripe, paths...)
			room, err := s.Room(false)
			if err != nil {
				t.Fatal(err)
			}
			first, size, err := volume.Fit(load, room)
			if err := errors.Join(err, s.Allocate(size), fill(t, s, size, volume.FillOptions{}), volume.Keep(s)); err != nil {
				t.Fatal(err)
			}
			again, err := volume.OpenSet(workload.Directory, paths, tt.stripe)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(again.Discard)
			if err := errors.Join(again.OpenPrepared(), again.Unlink(), again.ProveDirectIO()); err != nil {
				t.Fatal(err)
			}
			if room, err = again.Room(true); err != nil {
				t.Fatal(err)
			}
			second, _, err := volume.Fit(load, room)
			if diff := cmp.Diff(first, second); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func loadOf(layout workload.Layout, size int64, shrink bool, block int64) workload.Workload {
	w := workload.Workload{
		Name: strings.ToLower(string(layout)), Layout: layout, FileSizeBytes: size, ShrinkToFit: shrink, DirectIO: workload.DirectRequired,
		Streams: []workload.Stream{{BlockSizeBytes: block, Threads: 2, Range: workload.Whole}},
	}
	return w
}

// A workload with a file of its own needs room beside the file that the others share.
func TestFitBeside(t *testing.T) {
	empty := volume.Room{Available: 1000 * mib, Shrunk: 800 * mib, Beside: 1000 * mib, Sector: 512, Where: "/data"}
	prepared := volume.Room{Available: 600 * mib, Shrunk: 600 * mib, Beside: 400 * mib, Prepared: true, Sector: 512, Where: "/data"}
	shared := func(size int64) workload.Workload { return loadOf(workload.Written, size, false, 4*kib) }
	own := func(size int64, shrink bool) workload.Workload {
		return loadOf(workload.Preallocated, size, shrink, 4*kib)
	}
	buffered := loadOf(workload.Written, 1000*1001, false, 1001)
	buffered.DirectIO = workload.DirectDisabled
	for _, tt := range []struct {
		why    string
		room   volume.Room
		loads  []workload.Workload
		sizes  []int64
		shared int64
	}{
		{"what was asked for fills the rest exactly", empty, []workload.Workload{shared(600 * mib), own(400*mib, false)}, []int64{600 * mib, 400 * mib}, 600 * mib},
		{"a default takes 80 percent of the rest", empty, []workload.Workload{shared(600 * mib), own(4096*mib, true)}, []int64{600 * mib, 320 * mib}, 600 * mib},
		{"the shared file is there already: the free space is the rest", prepared, []workload.Workload{shared(600 * mib), own(4096*mib, true)}, []int64{600 * mib, 320 * mib}, 600 * mib},
		{"one after another, each has the rest to itself", empty, []workload.Workload{shared(600 * mib), own(400*mib, false), own(300*mib, false)}, []int64{600 * mib, 400 * mib, 300 * mib}, 600 * mib},
		{"the order makes no difference", empty, []workload.Workload{own(4096*mib, true), shared(600 * mib)}, []int64{320 * mib, 600 * mib}, 600 * mib},
		{"nothing is shared", empty, []workload.Workload{own(1000*mib, false)}, []int64{1000 * mib}, 0},
		{"a file that grows ends at its size", empty, []workload.Workload{loadOf(workload.Append, 4096*mib, true, 4*kib)}, []int64{800 * mib}, 0},
		{"buffered blocks of any size, in a file of whole sectors", empty, []workload.Workload{buffered}, []int64{1000 * 1001}, (1000*1001 + 511) / 512 * 512},
	} {
		t.Run(tt.why, func(t *testing.T) {
			fitted, file, err := volume.Fit(tt.loads, tt.room)
			if err != nil {
				t.Fatal(err)
			}
			var sizes []int64
			for _, w := range fitted {
				sizes = append(sizes, w.FileSizeBytes)
			}
			if diff := cmp.Diff(tt.sizes, sizes); diff != "" || file != tt.shared {
				t.Errorf("shared file of %d, want %d; %s", file, tt.shared, diff)
			}
		})
	}
	for _, tt := range []struct {
		why   string
		room  volume.Room
		loads []workload.Workload
		texts []string
	}{
		{"it would fit without the shared file", empty, []workload.Workload{shared(600 * mib), own(401*mib, false)},
			[]string{"workload preallocated: fileSize 420478976 does not fit", "has room for 419430400 bytes"}},
		{"beside one that was prepared", prepared, []workload.Workload{shared(600 * mib), own(401*mib, false)},
			[]string{"workload preallocated: fileSize 420478976 does not fit", "has room for 419430400 bytes"}},
		{"nothing is left", empty, []workload.Workload{shared(1000 * mib), own(400*mib, true)},
			[]string{"workload preallocated needs a file with at least 2 blocks of 4096 bytes", "room for a file of 0 bytes"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, _, err := volume.Fit(tt.loads, tt.room)
			failed(t, err, report.ReasonNoSpace, tt.texts...)
		})
	}
}

// ownFilesystems are what the cluster's volumes are formatted with.
var ownFilesystems = []struct {
	kind string
	size int64
}{{"ext4", 64 * mib}, {"xfs", 320 * mib}}

// A preallocated file has its space, and nothing is written: the first writes to it are what is measured.
func TestNewFile(t *testing.T) {
	for _, fs := range ownFilesystems {
		t.Run(fs.kind, func(t *testing.T) {
			dir := filesystem(t, fs.kind, fs.size)
			before := free(t, dir)
			// Of an earlier run that was killed, or put there to catch the engine.
			victim := filepath.Join(t.TempDir(), "victim")
			if err := errors.Join(os.WriteFile(victim, []byte("precious"), 0o600), os.Symlink(victim, filepath.Join(dir, ".diskbench-own.dat"))); err != nil {
				t.Fatal(err)
			}
			s, err := volume.OpenSet(workload.Directory, []string{dir}, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Discard()
			allocated, err := s.NewFile(workload.Preallocated, 16*mib)
			if err != nil {
				t.Fatal(err)
			}
			grows, err := s.NewFile(workload.Append, 16*mib)
			if err != nil {
				t.Fatal(err)
			}
			if names := list(t, dir); len(names) > 0 {
				t.Errorf("%v have names: a killed engine would leave them", names)
			}
			if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
				t.Errorf("the link's target is now %q, %v", got, err)
			}
			expectFile(t, allocated, 16*mib, 16*mib)
			expectFile(t, grows, 0, 0)
			expectTruncation(t, grows)
			allocated.Close()
			grows.Close()
			expectFree(t, dir, before-mib)
			tooLarge, err := s.NewFile(workload.Preallocated, 1<<40)
			if err == nil {
				tooLarge.Close()
			}
			failed(t, err, report.ReasonNoSpace, "a file of 1099511627776 bytes does not fit on "+dir)
		})
	}
}

func expectFile(t *testing.T, file *volume.File, size, allocated int64) {
	t.Helper()
	f := reopen(t, file)
	defer f.Close() //nolint:errcheck // nothing was written
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	if st.Size != size || st.Blocks*512 < allocated || st.Nlink != 0 {
		t.Errorf("%d bytes with %d allocated and %d names, want %d with %d and none", st.Size, st.Blocks*512, st.Nlink, size, allocated)
	}
	if at, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA); !errors.Is(err, unix.ENXIO) {
		t.Errorf("data at %d (%v), want none", at, err)
	}
}

func expectTruncation(t *testing.T, file *volume.File) {
	t.Helper()
	f := reopen(t, file)
	defer f.Close() //nolint:errcheck // what was written is of no use
	if _, err := unix.Pwrite(int(f.Fd()), make([]byte, 8192), 0); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(); err != nil {
		t.Error(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v after emptying it", info, err)
	}
}

func reopen(t *testing.T, file *volume.File) *os.File {
	t.Helper()
	f, err := file.Open(volume.OpenOptions{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// expectFree waits for a filesystem that frees space in the background.
func expectFree(t *testing.T, dir string, want int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); free(t, dir) < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%d bytes are free, want %d", free(t, dir), want)
			return
		}
	}
}

func free(t *testing.T, dir string) int64 {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	return int64(fs.Bavail) * fs.Frsize
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "lost+found" {
			names = append(names, e.Name())
		}
	}
	return names
}

const childDir = "DISKBENCH_TEST_VOLUME_DIR"

// TestChild is the part of tests that kill it.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("the other process of tests that kill it")
	}
	s := ready(t, workload.Directory, 0, dir)
	f, err := s.NewFile(workload.Preallocated, 16*mib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_ = s.Fill(context.Background(), 16*mib, volume.FillOptions{}, func(done int64) {
		if done == 16*mib {
			fmt.Println("laid out")
			select {} // until it is killed
		}
	})
}

// An engine that is killed while 'prepare' lays out leaves what it had of the file, under a name that no run
// takes for a prepared one, and a file of its own leaves nothing. The next engine replaces it.
func TestKilled(t *testing.T) {
	for _, fs := range ownFilesystems {
		t.Run(fs.kind, func(t *testing.T) {
			dir := filesystem(t, fs.kind, fs.size)
			before := free(t, dir)
			child := exec.Command(os.Args[0], "-test.run=^TestChild$")
			child.Env = append(os.Environ(), childDir+"="+dir)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			_ = child.Process.Kill()
			_ = child.Wait()
			if err != nil || line != "laid out\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if diff := cmp.Diff([]string{".diskbench-load.partial.dat"}, list(t, dir)); diff != "" {
				t.Error(diff)
			}
			expectFree(t, dir, before-17*mib) // the shared file alone has a name
			s, err := volume.OpenSet(workload.Directory, []string{dir}, 0)
			if err != nil {
				t.Fatal(err)
			}
			failed(t, s.OpenPrepared(), report.ReasonTargetNotFound, "has no "+volume.FileName)
			s.Discard()
			ready(t, workload.Directory, 0, dir).Discard()
			if names := list(t, dir); len(names) > 0 {
				t.Errorf("%v are left by the next engine", names)
			}
		})
	}
}

// What was prepared and never run is replaced by the next run, whether or not it is prepared anew.
func TestPreparedAndNeverRun(t *testing.T) {
	dir := filesystem(t, "ext4", 64*mib)
	s := ready(t, workload.Directory, 0, dir)
	if err := errors.Join(fill(t, s, 8*mib, volume.FillOptions{}), volume.Keep(s)); err != nil {
		t.Fatal(err)
	}
	before := free(t, dir)
	next := ready(t, workload.Directory, 0, dir)
	if room, err := next.Room(false); err != nil || room.Available < before+7*mib {
		t.Errorf("%+v, %v; the earlier file's space is not free", room, err)
	}
	next.Discard()
	if names := list(t, dir); len(names) > 0 {
		t.Errorf("%v are left", names)
	}
}
