// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/seal"
)

// mark is what the first sector of a device says while no engine is at work on it: that its data is
// nobody's, and how much was laid out. While an engine is at work the sector holds data like any
// other, so that all of the device can be written and verified; Discard puts the mark back. After an
// engine that was killed it is missing, and the device is not prepared then. It is free to use all the
// same: random data holds no signature.
//
// On the device it is the magic, size in bytes (64 bits), sector in bytes (32), sealed (32, 0 or 1),
// all little endian, and the CRC-32 of these. The rest of the sector is zero, so that it looks like
// nothing else.
type mark struct {
	// size is how much is laid out; 0 when the layout was not completed.
	size int64
	// sector is the unit in which sector 0 is written, and of seals.
	sector int
	// sealed says that each sector carries a seal.
	sealed bool
}

const (
	markMagic = "diskbench layout"
	markBytes = len(markMagic) + 8 + 4 + 4 + 4
)

func (m mark) encode() []byte {
	b := binary.LittleEndian.AppendUint64([]byte(markMagic), uint64(m.size))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.sector))
	sealed := uint32(0)
	if m.sealed {
		sealed = 1
	}
	b = binary.LittleEndian.AppendUint32(b, sealed)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// parseMark gives the mark at the head of a device, and false without one.
func parseMark(head []byte) (mark, bool) {
	if len(head) < markBytes {
		return mark{}, false
	}
	numbers := head[len(markMagic):]
	m := mark{
		size:   int64(binary.LittleEndian.Uint64(numbers)),
		sector: int(binary.LittleEndian.Uint32(numbers[8:])),
		sealed: binary.LittleEndian.Uint32(numbers[12:]) == 1,
	}
	if m.size < 0 || m.sector < minSector || m.sector > maxSector || m.sector&(m.sector-1) != 0 ||
		!bytes.Equal(head[:markBytes], m.encode()) {
		return mark{}, false
	}
	return m, true
}

// readMark checks that the device was prepared, and that nobody has put something else there since.
func (v *member) readMark() error {
	head, err := v.readAt(0, headBytes)
	if err != nil {
		return err
	}
	m, ok := parseMark(head)
	if !ok || m.size == 0 {
		return report.Failf(report.ReasonTargetNotFound,
			"%s was not prepared: lay it out with diskbench-engine prepare, or run without --prepared", v.path)
	}
	if what := signatureOf(head); what != "" {
		return report.Failf(report.ReasonDeviceInUse, "%s was prepared, and carries %s since, which would be destroyed: "+
			"use an empty device, or prepare it again with --overwrite-device", v.path, what)
	}
	v.mark = m
	return nil
}

// writeMark puts the mark in the place of the first sector's data.
func (v *member) writeMark() error {
	return v.writeSector(func(sector []byte) { copy(sector, v.mark.encode()) })
}

// unmark puts data in the place of the mark. logical is the sector's offset in the address space.
func (v *member) unmark(logical int64) error {
	return v.writeSector(func(sector []byte) {
		source := prng.New(v.mark.size, logical)
		source.Fill(sector)
		if v.mark.sealed {
			seal.Seal(sector, logical, len(sector))
		}
	})
}

// writeSector writes the first sector, which fill gets as zeros, and makes it durable.
func (v *member) writeSector(fill func(sector []byte)) error {
	buffers, err := ioengine.NewBuffers(1, v.mark.sector)
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	sector := buffers.Slot(0, v.mark.sector)
	fill(sector)
	if err := v.writeAll(sector, 0); err != nil {
		return err
	}
	return v.sync()
}

// readAt reads n bytes from a multiple of any sector on, fewer where the device ends before.
func (v *member) readAt(at int64, n int) ([]byte, error) {
	buffers, err := ioengine.NewBuffers(1, n)
	if err != nil {
		return nil, report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	got, err := unix.Pread(v.data, buffers.Slot(0, n), at)
	if err != nil {
		return nil, v.failure("read from", err)
	}
	return bytes.Clone(buffers.Memory[:got]), nil
}
