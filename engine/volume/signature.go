// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"

	"github.com/diskbench/diskbench/engine/report"
)

const (
	// headBytes covers every signature at the start and is a multiple of every sector.
	headBytes = 256 << 10
	// tailBytes covers every signature at the end, wherever the size lets it lie.
	tailBytes = 256 << 10
)

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
	{"a Linux RAID member", 0, mdMagic},
	{"a Linux RAID member", 4096, mdMagic},
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

// weakBytes is the length of a magic that random data happens to have.
const weakBytes = 2

// mdMagic is that of Linux' software RAID; mdMagicBig as version 0.90 has it on big-endian machines.
const (
	mdMagic    = "\xfc\x4e\x2b\xa9"
	mdMagicBig = "\xa9\x2b\x4e\xfc"
)

// tailSignatures are what the last bytes of a device in use look like: the magic is so many bytes before
// the end, after the size was rounded down. Sectors are of 512 or of 4096 bytes.
var tailSignatures = []struct {
	what            string
	before, rounded int64
	magic           string
}{
	{"a GPT partition table at its end", 512, 512, "EFI PART"},
	{"a GPT partition table at its end", 4096, 4096, "EFI PART"},
	{"a Linux RAID member's metadata at its end", 64 << 10, 64 << 10, mdMagic},    // 0.90
	{"a Linux RAID member's metadata at its end", 64 << 10, 64 << 10, mdMagicBig}, // 0.90
	{"a Linux RAID member's metadata at its end", 8 << 10, 4 << 10, mdMagic},      // 1.0
	{"a DDF RAID member's metadata at its end", 512, 512, "\xde\x11\xde\x11"},
	{"a DDF RAID member's metadata at its end", 512, 512, "\x11\xde\x11\xde"},
	{"a DDF RAID member's metadata at its end", 257 * 512, 512, "\xde\x11\xde\x11"},
	{"a DDF RAID member's metadata at its end", 257 * 512, 512, "\x11\xde\x11\xde"},
	{"an Intel RAID member's metadata at its end", 2 * 512, 512, "Intel Raid ISM Cfg Sig. "},
	{"an Intel RAID member's metadata at its end", 2 * 4096, 4096, "Intel Raid ISM Cfg Sig. "},
	{"an LSI RAID member's metadata at its end", 512, 512, "$XIDE$"},
}

// refuseSignature protects data: a device that carries any of the signatures is not overwritten
// unless that was asked for.
func (v *member) refuseSignature(overwrite bool) error {
	if overwrite {
		return nil
	}
	head, err := v.readAt(0, headBytes)
	if err != nil {
		return err
	}
	what := signatureOf(head)
	// At the end of a device of ours, an earlier run that was allowed to overwrite the device may have
	// left what was there; and what is put there leaves the start, and the mark, to data.
	if _, ours := parseMark(head); !ours && what == "" {
		what, err = v.tailSignature()
	}
	if err != nil {
		return err
	}
	if what != "" {
		return report.Failf(report.ReasonDeviceInUse,
			"%s carries %s, which would be destroyed: use an empty device, or --overwrite-device", v.path, what)
	}
	return nil
}

func (v *member) tailSignature() (string, error) {
	size := v.info.SizeBytes
	start := tailStart(size)
	tail, err := v.readAt(start, tailBytes+maxSector)
	if err != nil {
		return "", err
	}
	return tailSignatureOf(tail, start, size), nil
}

// tailStart is a multiple of every sector.
func tailStart(size int64) int64 { return max(0, size-tailBytes) &^ (maxSector - 1) }

// signatureOf names what the head of a device says it carries, empty if nothing known. A device with
// our mark is free to use, unless somebody has put a format there since that leaves the mark alone
// (RAID 1.2, bcache, a partition table by parted). The one whose magic of two bytes our own data
// behind the mark may happen to have, ext4, overwrites the mark.
func signatureOf(head []byte) string {
	m, ours := parseMark(head)
	for _, s := range signatures {
		if ours && len(s.magic) <= weakBytes && s.offset >= m.sector {
			continue
		}
		if hasAt(head, int64(s.offset), s.magic) {
			return s.what
		}
	}
	return ""
}

// tailSignatureOf names what the tail, which starts at an offset of a device of size bytes, says that
// the device carries.
func tailSignatureOf(tail []byte, start, size int64) string {
	for _, s := range tailSignatures {
		if hasAt(tail, size/s.rounded*s.rounded-s.before-start, s.magic) {
			return s.what
		}
	}
	return ""
}

func hasAt(b []byte, at int64, magic string) bool {
	return at >= 0 && at < int64(len(b)) && bytes.HasPrefix(b[at:], []byte(magic))
}
