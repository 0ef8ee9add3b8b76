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
	v.info.Filesystem = mount.fsType
	if source, ok := strings.CutPrefix(mount.source, "/dev/"); ok && v.info.Device == "" {
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

// mount is a line of /proc/self/mountinfo.
type mount struct{ point, fsType, source string }

func mountOf(path string) (mount, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return mount{}, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return mount{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return findMount(f, resolved)
}

// findMount gives the mount that holds path: the longest mount point above it, and among several
// at the same place the last, which covers the others.
func findMount(mountinfo io.Reader, path string) (mount, error) {
	var best mount
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		m, ok := parseMount(lines.Text())
		if ok && len(m.point) >= len(best.point) && isUnder(path, m.point) {
			best = m
		}
	}
	return best, lines.Err()
}

// parseMount reads "id parent major:minor root point options [tags] - type source superoptions".
func parseMount(line string) (mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	// The kernel escapes spaces and leaves other white space as it is.
	left, right := strings.Split(before, " "), strings.Split(after, " ")
	if !ok || len(left) < 6 || len(right) < 2 {
		return mount{}, false
	}
	return mount{point: unescape(left[4]), fsType: right[0], source: unescape(right[1])}, true
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
