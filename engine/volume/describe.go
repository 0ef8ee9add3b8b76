// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func (v *member) describeDirectory() error {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if err := unix.Fstat(v.dir, &st); err != nil {
		return v.failure("stat", err)
	}
	if err := unix.Fstatfs(v.dir, &fs); err != nil {
		return v.failure("statfs", err)
	}
	v.info.SizeBytes = int64(fs.Blocks) * int64(fs.Frsize)
	v.describeDisk(uint64(st.Dev))
	mount, err := mountOf(v.path)
	if err != nil {
		return v.failure("find the mount of", err)
	}
	v.info.Filesystem = mount.Filesystem
	if source, ok := strings.CutPrefix(mount.Source, "/dev/"); ok && v.info.Device == "" {
		v.info.Device = source
	}
	return nil
}

func (v *member) describeDevice(rdev uint64) error {
	size, err := ioctlUint64(v.data, unix.BLKGETSIZE64)
	if err != nil {
		return v.failure("find the size of", err)
	}
	v.info.SizeBytes = int64(size)
	v.describeDisk(rdev)
	return nil
}

// describeDisk describes the block device under the target, where the number is that of one.
func (v *member) describeDisk(device uint64) {
	dir := sysfsOf(device)
	if dir == "" {
		return
	}
	v.device = device
	v.info.Device = filepath.Base(dir)
	v.info.Queue = queueOf(dir)
}

// ioctlUint64 is for requests that store 64 bits; those of package unix store an int.
func ioctlUint64(fd int, request uintptr) (uint64, error) {
	var value uint64
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&value)))
	if e != 0 {
		return 0, e
	}
	return value, nil
}

// Mount is a line of /proc/self/mountinfo.
type Mount struct {
	// ID is the mount's own number, and Device the filesystem's, as major:minor.
	ID, Device string
	// Point is where it is mounted, Source what, Filesystem its type (ext4, xfs), and Options are the mount's.
	Point, Source, Filesystem, Options string
}

func mountOf(path string) (Mount, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Mount{}, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Mount{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return findMount(f, resolved)
}

// findMount gives the mount that holds path: the longest mount point above it, and among several
// at the same place the last, which covers the others.
func findMount(mountinfo io.Reader, path string) (Mount, error) {
	var best Mount
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		m, ok := ParseMount(lines.Text())
		if ok && len(m.Point) >= len(best.Point) && isUnder(path, m.Point) {
			best = m
		}
	}
	return best, lines.Err()
}

// ParseMount reads "id parent major:minor root point options [tags] - type source superoptions" (proc(5)),
// and false for a line of another kind.
func ParseMount(line string) (Mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	// The kernel escapes spaces and leaves other white space as it is.
	left, right := strings.Split(before, " "), strings.Split(after, " ")
	if !ok || len(left) < 6 || len(right) < 2 {
		return Mount{}, false
	}
	return Mount{
		ID: left[0], Device: left[2], Point: unescape(left[4]), Options: left[5],
		Filesystem: right[0], Source: unescape(right[1]),
	}, true
}

func isUnder(path, point string) bool {
	return point == "/" || path == point || strings.HasPrefix(path, point+"/")
}

// unescape undoes the kernel's octal escapes of white space (a space is \040).
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		s = after
		if len(after) < 3 {
			b.WriteByte('\\')
			continue
		}
		code, err := strconv.ParseUint(after[:3], 8, 8)
		if err != nil {
			b.WriteByte('\\')
			continue
		}
		b.WriteByte(byte(code))
		s = after[3:]
	}
}
