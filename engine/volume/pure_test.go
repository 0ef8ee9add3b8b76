// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

func TestFit(t *testing.T) {
	const gib = int64(1) << 30
	load := func(block, size int64, shrink bool) workload.Workload {
		return workload.Workload{
			Name: "load", FileSizeBytes: size, ShrinkToFit: shrink, Layout: workload.Written,
			Streams: []workload.Stream{{BlockSizeBytes: block, Threads: 4, Range: workload.Whole}},
		}
	}
	roomy := Room{Available: 10 * gib, Shrunk: 8 * gib, Beside: 10 * gib, Sector: 512, Where: "/data"}
	tight := Room{Available: gib, Shrunk: gib / 100 * 80, Sector: 512, Where: "/data"}
	tests := []struct {
		why   string
		room  Room
		loads []workload.Workload
		sizes []int64
		file  int64
	}{
		{"there is room", roomy, []workload.Workload{load(4096, 4*gib, true)}, []int64{4 * gib}, 4 * gib},
		{"a default shrinks to 80%, in whole blocks", tight, []workload.Workload{load(1<<20, 4*gib, true)}, []int64{819 << 20}, 819 << 20},
		{"a size that was asked for may fill the volume", tight, []workload.Workload{load(4096, gib, false)}, []int64{gib}, gib},
		{"the file holds the largest", roomy, []workload.Workload{load(4096, gib, true), load(4096, 2*gib, false)}, []int64{gib, 2 * gib}, 2 * gib},
		{"a default leaves room for a file of its own that was asked for", roomy,
			[]workload.Workload{load(4096, 20*gib, true), ownFile(load(4096, 3*gib, false))}, []int64{7 * gib, 3 * gib}, 7 * gib},
		{"a size that is no whole number of blocks", roomy, []workload.Workload{load(4096, 10_000_000, false)}, []int64{9_998_336}, 9_998_336},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			fitted, file, err := Fit(tt.loads, tt.room)
			if err != nil {
				t.Fatal(err)
			}
			var sizes []int64
			for _, w := range fitted {
				sizes = append(sizes, w.FileSizeBytes)
			}
			if diff := cmp.Diff(tt.sizes, sizes); diff != "" || file != tt.file {
				t.Errorf("file of %d, want %d; %s", file, tt.file, diff)
			}
			// A later process finds only the file: it has to come to the same sizes.
			again, size, err := Fit(tt.loads, Room{Available: file, Shrunk: file, Beside: tt.room.Beside - file, Sector: 512, Prepared: true})
			if err != nil || size != file {
				t.Errorf("in the prepared file: %d, %v", size, err)
			}
			if diff := cmp.Diff(fitted, again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func ownFile(w workload.Workload) workload.Workload {
	w.Layout = workload.Preallocated
	return w
}

func TestFitRefuses(t *testing.T) {
	load := workload.Workload{Name: "load", Layout: workload.Written, FileSizeBytes: 2 << 30, Streams: []workload.Stream{{BlockSizeBytes: 6144, Threads: 4, Range: workload.Whole}}}
	small := load
	small.ShrinkToFit = true
	room := Room{Available: 1 << 30, Shrunk: 800 << 20, Sector: 512, Where: "/data (/dev/sdc)"}
	tests := []struct {
		why    string
		load   workload.Workload
		room   Room
		reason report.Reason
		text   string
	}{
		{"a size that was asked for", load, room, report.ReasonNoSpace,
			"fileSize 2147483648 does not fit on /data (/dev/sdc), which has room for 1073741824 bytes"},
		{"no room at all", small, Room{Shrunk: 8192, Available: 10240, Sector: 512, Where: "/data"}, report.ReasonNoSpace,
			"needs a file with at least 4 blocks of 6144 bytes in the range from 0 to 100 percent, /data has room for a file of 8192 bytes"},
		{"blocks across sectors", load, Room{Available: 1 << 40, Sector: 4096, Where: "/dev/sdc"}, report.ReasonInvalidPlan,
			"blockSize 6144 is not a multiple of the logical block size 4096 of /dev/sdc"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, _, err := Fit([]workload.Workload{tt.load}, tt.room)
			expectFailure(t, err, tt.reason, tt.text)
		})
	}
}

// The real tools' output has to be recognized, whichever of them are installed.
func TestSignaturesOfRealTools(t *testing.T) {
	tests := []struct {
		want string
		tool []string
	}{
		{"an ext2, ext3 or ext4 filesystem", []string{"mkfs.ext4", "-q", "-F"}},
		{"an XFS filesystem", []string{"mkfs.xfs", "-q"}},
		{"a Btrfs filesystem", []string{"mkfs.btrfs", "-q"}},
		{"swap space", []string{"mkswap"}},
		{"an MBR partition table or a FAT filesystem", []string{"mkfs.vfat"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tt.tool[0]); err != nil {
				t.Skipf("%s is not installed", tt.tool[0])
			}
			image := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, 512<<20); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(tt.tool[0], append(tt.tool[1:], image)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f, err := os.Open(image)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() //nolint:errcheck // only read from
			head := make([]byte, headBytes)
			if _, err := io.ReadFull(f, head); err != nil {
				t.Fatal(err)
			}
			if got := signatureOf(head); got != tt.want {
				t.Errorf("recognized as %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSignatures(t *testing.T) {
	for _, s := range signatures {
		head := make([]byte, headBytes)
		copy(head[s.offset:], s.magic)
		if got := signatureOf(head); got != s.what {
			t.Errorf("%s at %d is taken for %q", s.what, s.offset, got)
		}
		if got := signatureOf(head[:min(s.offset+1, 512)]); got != "" {
			t.Errorf("%s is seen in a device that ends before it", got)
		}
	}
	if got := signatureOf(make([]byte, headBytes)); got != "" {
		t.Errorf("zeros are taken for %q", got)
	}
}

func TestMark(t *testing.T) {
	want := mark{size: 8 << 30, sector: 4096, sealed: true}
	sector := make([]byte, 512)
	copy(sector, want.encode())
	if got, ok := parseMark(sector); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for i := range markBytes {
		damaged := slices.Clone(sector)
		damaged[i] ^= 0x40
		if _, ok := parseMark(damaged); ok {
			t.Errorf("with byte %d damaged it still counts", i)
		}
	}
	source := prng.New(1)
	source.Fill(sector)
	if _, ok := parseMark(sector); ok {
		t.Error("random data is no mark")
	}
	if _, ok := parseMark(sector[:10]); ok {
		t.Error("ten bytes are no mark")
	}
	for _, absurd := range []mark{{size: -1, sector: 512}, {size: 1, sector: 0}, {size: 1, sector: 1000}, {size: 1, sector: 2 * maxSector}} {
		if _, ok := parseMark(absurd.encode()); ok {
			t.Errorf("%+v is no mark", absurd)
		}
	}
}

// A device with our mark is free to use, until somebody puts something else there.
func TestSignaturesBesideAMark(t *testing.T) {
	for _, tt := range []struct {
		why    string
		offset int
		magic  string
		want   string
	}{
		{"RAID 1.2 leaves the first sector as it is", 4096, mdMagic, "a Linux RAID member"},
		{"parted keeps the start of the first sector", 510, "\x55\xaa", "an MBR partition table or a FAT filesystem"},
	} {
		head := make([]byte, headBytes)
		copy(head, mark{size: 8 << 20, sector: 512}.encode())
		copy(head[tt.offset:], tt.magic)
		if got := signatureOf(head); got != tt.want {
			t.Errorf("%s: taken for %q, want %q", tt.why, got, tt.want)
		}
	}
}

// A magic of two bytes is often there by chance, after an engine that was killed. Each byte that the
// kernel would look at as well has to make a difference.
func TestShortMagics(t *testing.T) {
	const ext, boot = "an ext2, ext3 or ext4 filesystem", "an MBR partition table or a FAT filesystem"
	fat := func(head []byte) {
		head[446] = 0x33 // no partition table
		copy(head[11:], "\x00\x02\x08\x20\x00\x02")
		head[21] = 0xf8
	}
	for _, tt := range []struct {
		why    string
		offset int
		magic  string
		change func(head []byte)
		want   string
	}{
		{"ext4 with blocks of 64 KiB", 0x438, "\x53\xef", func(h []byte) { h[1024+24] = 6 }, ext},
		{"of 128 KiB", 0x438, "\x53\xef", func(h []byte) { h[1024+24] = 7 }, ""},
		{"of no size that there is", 0x438, "\x53\xef", func(h []byte) { h[1024+27] = 1 }, ""},
		{"an empty partition table", 510, "\x55\xaa", func([]byte) {}, boot},
		{"one to boot from", 510, "\x55\xaa", func(h []byte) { h[446+16] = 0x80 }, boot},
		{"an entry that is none", 510, "\x55\xaa", func(h []byte) { h[446+3*16] = 0x81 }, ""},
		{"FAT with a boot program", 510, "\x55\xaa", fat, boot},
		{"on a floppy", 510, "\x55\xaa", func(h []byte) { fat(h); h[21] = 0xf0 }, boot},
		{"on no medium", 510, "\x55\xaa", func(h []byte) { fat(h); h[21] = 0xf1 }, ""},
		{"without tables", 510, "\x55\xaa", func(h []byte) { fat(h); h[16] = 0 }, ""},
		{"without reserved sectors", 510, "\x55\xaa", func(h []byte) { fat(h); h[14] = 0 }, ""},
		{"with sectors of 8 KiB", 510, "\x55\xaa", func(h []byte) { fat(h); h[12] = 0x20 }, ""},
		{"with sectors of 513 bytes", 510, "\x55\xaa", func(h []byte) { fat(h); h[11] = 1 }, ""},
		{"with sectors of 256 bytes", 510, "\x55\xaa", func(h []byte) { fat(h); h[12] = 1 }, ""},
	} {
		head := make([]byte, headBytes)
		copy(head[tt.offset:], tt.magic)
		tt.change(head)
		if got := signatureOf(head); got != tt.want {
			t.Errorf("%s: taken for %q, want %q", tt.why, got, tt.want)
		}
	}
}

// What a killed engine leaves is free to use, even where chance has put the short magics.
func TestRandomDataIsNobodys(t *testing.T) {
	head := make([]byte, headBytes)
	for seed := range int64(1000) {
		source := prng.New(seed)
		source.Fill(head[:8192])
		copy(head[0x438:], "\x53\xef")
		copy(head[510:], "\x55\xaa")
		if got := signatureOf(head); got != "" {
			t.Fatalf("of seed %d is taken for %q", seed, got)
		}
	}
}

// Metadata at the end of devices whose size is no multiple of what it is aligned to.
func TestTailSignatures(t *testing.T) {
	for _, size := range []int64{64 << 20, 64<<20 + 512, 64<<20 + 7*4096 + 512, 300 << 10, 1 << 40} {
		for _, s := range tailSignatures {
			start, tail := tailOf(size)
			at := size - s.before - size%s.rounded
			copy(tail[at-start:], s.magic)
			if got := tailSignatureOf(tail, start, size); got != s.what {
				t.Errorf("%s, %d bytes before the end of %d, is taken for %q", s.what, s.before, size, got)
			}
			tail[at-start] ^= 1
			if got := tailSignatureOf(tail, start, size); got != "" {
				t.Errorf("%s, damaged, is taken for %q", s.what, got)
			}
		}
	}
	if start, tail := tailOf(1024); tailSignatureOf(tail, start, 1024) != "" {
		t.Error("a tiny device has no room for metadata")
	}
}

func tailOf(size int64) (start int64, tail []byte) {
	start = tailStart(size)
	return start, make([]byte, size-start)
}

func TestFindMount(t *testing.T) {
	const mountinfo = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /dev/shm rw - tmpfs tmpfs rw
41 22 8:32 / /data rw,relatime - ext4 /dev/sdc rw
42 22 8:48 / /data rw,relatime shared:7 master:2 - xfs /dev/sdd rw
43 42 8:64 / /data/with\040space rw - btrfs /dev/sde rw
a broken line
`
	tests := []struct {
		why, path string
		want      Mount
	}{
		{"the root holds the rest", "/var/lib", Mount{"22", "254:0", "/", "/dev/vda", "ext4", "rw,relatime"}},
		{"the later mount covers the earlier", "/data/x", Mount{"42", "8:48", "/data", "/dev/sdd", "xfs", "rw,relatime"}},
		{"a name that begins alike is another directory", "/database", Mount{"22", "254:0", "/", "/dev/vda", "ext4", "rw,relatime"}},
		{"a space is escaped", "/data/with space/x", Mount{"43", "8:64", "/data/with space", "/dev/sde", "btrfs", "rw"}},
		{"the mount point itself", "/dev/shm", Mount{"30", "0:26", "/dev/shm", "tmpfs", "tmpfs", "rw"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := findMount(strings.NewReader(mountinfo), tt.path)
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}
