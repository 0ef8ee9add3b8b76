// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"encoding/binary"

	"github.com/diskbench/diskbench/engine/report"
)

const (
	// headBytes covers every signature at the start and is a multiple of every sector.
	headBytes = 256 << 10
	// tailBytes covers every signature at the end, wherever the size lets it lie.
	tailBytes = 256 << 10
)

// signatures are what the first bytes of a device in use look like, from the formats' own
// descriptions (as in util-linux's libblkid). An engine that is killed leaves random data there, which has
// the magic of two bytes once in 2^16 devices: these hold only if the kernel would take the rest as well.
// Of the others the shortest have four bytes.
var signatures = append([]signature{
	{"an XFS filesystem", 0, "XFSB", nil},
	{"a Btrfs filesystem", 0x10040, "_BHRfS_M", nil},
	{"an F2FS filesystem", 1024, "\x10\x20\xF5\xF2", nil},
	{"a SquashFS filesystem", 0, "hsqs", nil},
	{"an NTFS filesystem", 3, "NTFS    ", nil},
	{"an exFAT filesystem", 3, "EXFAT   ", nil},
	{"an ISO 9660 filesystem", 32769, "CD001", nil},
	{"a LUKS volume", 0, "LUKS\xba\xbe", nil},
	{"an LVM physical volume", 0, "LABELONE", nil},
	{"an LVM physical volume", 512, "LABELONE", nil},
	{"an LVM physical volume", 1024, "LABELONE", nil},
	{"an LVM physical volume", 1536, "LABELONE", nil},
	{"a Linux RAID member", 0, mdMagic, nil},
	{"a Linux RAID member", 4096, mdMagic, nil},
	{"swap space", 4096 - 10, "SWAPSPACE2", nil},
	{"swap space", 65536 - 10, "SWAPSPACE2", nil},
	{"a bcache device", 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", nil},
	{"a bcachefs filesystem", 4096 + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", nil},
	{"a Ceph OSD", 0, "bluestore block device", nil},
	{"an Oracle ASM disk", 32, "ORCLDISK", nil},
	{"an EROFS filesystem", 1024, "\xe2\xe1\xf5\xe0", nil},
	{"a JFS filesystem", 32768, "JFS1", nil},
	{"a GFS2 filesystem", 0x10000, "\x01\x16\x19\x70", nil},
	{"an OCFS2 filesystem", 1024, "OCFSV2", nil},
	{"an OCFS2 filesystem", 2048, "OCFSV2", nil},
	{"an OCFS2 filesystem", 4096, "OCFSV2", nil},
	{"an OCFS2 filesystem", 8192, "OCFSV2", nil},
	{"a NILFS2 filesystem", 1024, "\x02\x00\x00\x00\x00\x00\x34\x34", nil}, // revision 2.0, the only one
	{"a UDF filesystem", 32769, "BEA01", nil},
	{"a ReiserFS filesystem", 0x10034, "ReIsEr", nil},
	{"a ReiserFS filesystem", 0x2034, "ReIsEr", nil},
	{"a Reiser4 filesystem", 0x10000, "ReIsEr4", nil},
	{"an HFS+ filesystem", 1024, "H+\x00\x04", nil},
	{"an HFS+ filesystem", 1024, "HX\x00\x05", nil},
	{"an APFS container", 32, "NXSB", nil},
	{"a ReFS filesystem", 3, "ReFS\x00", nil},
	{"a BitLocker volume", 3, "-FVE-FS-", nil},
	{"a Stratis pool", 512 + 4, "!Stra0tis", nil},
	{"a Stratis pool", 9*512 + 4, "!Stra0tis", nil},
	{"a VDO volume", 0, "dmvdo001", nil},
	{"dm-verity hashes", 0, "verity\x00\x00", nil},
	{"a dm-integrity volume", 0, "integrt\x00", nil},
	{"a hibernated system", 4096 - 10, "S1SUSPEND", nil},
	{"a GPT partition table", 512, "EFI PART", nil},
	{"a GPT partition table", 4096, "EFI PART", nil},
	{"an ext2, ext3 or ext4 filesystem", 0x438, "\x53\xEF", holdsExt},
	{"an MBR partition table or a FAT filesystem", 510, "\x55\xAA", holdsBootSector},
}, zfsRing()...)

type signature struct {
	what   string
	offset int
	magic  string
	// holds looks at the rest; nil for a magic that is long enough.
	holds func(head []byte) bool
}

// zfsRing are the places of the first label's uberblocks, 1 KiB each, in either byte order: which of them is
// in use says the number of the transaction.
func zfsRing() []signature {
	var ring []signature
	for at := 128 << 10; at < 256<<10; at += 1 << 10 {
		ring = append(ring,
			signature{"a ZFS pool", at, "\x0c\xb1\xba\x00\x00\x00\x00\x00", nil},
			signature{"a ZFS pool", at, "\x00\x00\x00\x00\x00\xba\xb1\x0c", nil})
	}
	return ring
}

// holdsExt knows that Linux mounts no ext2, ext3 or ext4 with blocks above 64 KiB: the binary logarithm of
// their KiB is 32 bits at 24 of the superblock, which is at 1024.
func holdsExt(head []byte) bool { return binary.LittleEndian.Uint32(head[1024+24:]) <= 6 }

// holdsBootSector knows what Linux' block/partitions/msdos.c and fs/fat/inode.c ask of a sector that ends
// with 55 AA. In a partition table the first byte of each of the four entries is 0, or 80 hex for the one to
// boot from. FAT has a sector of 512 to 4096 bytes, reserved sectors, tables, and a kind of medium.
func holdsBootSector(head []byte) bool {
	table := true
	for entry := 446; entry < 510; entry += 16 {
		table = table && head[entry]&^0x80 == 0
	}
	sector, reserved, tables, medium := binary.LittleEndian.Uint16(head[11:]), binary.LittleEndian.Uint16(head[14:]), head[16], head[21]
	return table || sector >= 512 && sector <= 4096 && sector&(sector-1) == 0 &&
		reserved > 0 && tables > 0 && (medium == 0xf0 || medium >= 0xf8)
}

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

// signatureOf names what the head of a device says it carries, empty if nothing known. Our mark makes no
// difference: what is put on a marked device may leave the first sector alone (RAID 1.2, bcache, a
// partition table by parted).
func signatureOf(head []byte) string {
	for _, s := range signatures {
		if hasAt(head, int64(s.offset), s.magic) && (s.holds == nil || s.holds(head)) {
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
