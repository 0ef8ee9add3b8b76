// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
)

// headBytes covers every signature below and is a multiple of every sector.
const headBytes = 256 << 10

// signatures are what the first bytes of a device in use look like, from the formats' own
// descriptions (as in util-linux's libblkid). Those of two bytes come last.
var signatures = []struct {
	what   string
	offset int
	magic  string
}{
	{"an XFS filesystem", 0, "XFSB"},
	{"a Btrfs filesystem", 0x10040, "_BHRfS_M"},
	{"an F2FS filesystem", 1024, "\x10\x20\xF5\xF2"},
	{"a SquashFS filesystem", 0, "hsqs"},
	{"an NTFS filesystem", 3, "NTFS    "},
	{"an exFAT filesystem", 3, "EXFAT   "},
	{"an ISO 9660 filesystem", 32769, "CD001"},
	{"a LUKS volume", 0, "LUKS\xba\xbe"},
	{"an LVM physical volume", 0, "LABELONE"},
	{"an LVM physical volume", 512, "LABELONE"},
	{"an LVM physical volume", 1024, "LABELONE"},
	{"an LVM physical volume", 1536, "LABELONE"},
	{"a Linux RAID member", 0, "\xfc\x4e\x2b\xa9"},
	{"a Linux RAID member", 4096, "\xfc\x4e\x2b\xa9"},
	{"swap space", 4096 - 10, "SWAPSPACE2"},
	{"swap space", 65536 - 10, "SWAPSPACE2"},
	{"a bcache device", 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
	{"a bcachefs filesystem", 4096 + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
	{"a Ceph OSD", 0, "bluestore block device"},
	{"an Oracle ASM disk", 32, "ORCLDISK"},
	{"an EROFS filesystem", 1024, "\xe2\xe1\xf5\xe0"},
	{"a JFS filesystem", 32768, "JFS1"},
	{"a ZFS pool", 131072, "\x0c\xb1\xba\x00\x00\x00\x00\x00"},
	{"a GPT partition table", 512, "EFI PART"},
	{"a GPT partition table", 4096, "EFI PART"},
	{"an ext2, ext3 or ext4 filesystem", 0x438, "\x53\xEF"},
	{"an MBR partition table or a FAT filesystem", 510, "\x55\xAA"},
}

// refuseSignature protects data: a device that carries any of the signatures is not overwritten
// unless that was asked for. One that an earlier run marked as its own is free to use.
func (v *Volume) refuseSignature(overwrite bool) error {
	if overwrite {
		return nil
	}
	head, err := v.readHead()
	if err != nil {
		return err
	}
	if _, ours := parseMark(head); ours {
		return nil
	}
	if what := signatureOf(head); what != "" {
		return report.Failf(report.ReasonDeviceInUse,
			"%s carries %s, which would be destroyed: use an empty device, or --overwrite-device", v.path, what)
	}
	return nil
}

// signatureOf names what the head of a device says it carries, empty if nothing known.
func signatureOf(head []byte) string {
	for _, s := range signatures {
		if s.offset < len(head) && bytes.HasPrefix(head[s.offset:], []byte(s.magic)) {
			return s.what
		}
	}
	return ""
}

// readHead reads the first bytes of the device, fewer from a smaller one.
func (v *Volume) readHead() ([]byte, error) {
	buffers, err := ioengine.NewBuffers(1, headBytes)
	if err != nil {
		return nil, report.Failf(report.ReasonInternal, "%v", err)
	}
	n, err := unix.Pread(v.data, buffers.Slot(0, headBytes), 0)
	head := bytes.Clone(buffers.Memory[:max(n, 0)])
	if err := errors.Join(err, buffers.Free()); err != nil {
		return nil, v.failure("read the start of", err)
	}
	return head, nil
}
