// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"encoding/binary"
	"hash/crc32"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/ioengine"
	"github.com/diskbench/diskbench/engine/report"
)

// A prepared device carries a mark in its first sector, written last: magic, the number of bytes
// written (64 bits, little endian), and the CRC-32 of both. The rest of the sector is zero, so
// that random data can never look like a partition table there.
const (
	markMagic = "diskbench layout"
	markBytes = len(markMagic) + 8 + 4
)

func makeMark(size int64) []byte {
	mark := binary.LittleEndian.AppendUint64([]byte(markMagic), uint64(size))
	return binary.LittleEndian.AppendUint32(mark, crc32.ChecksumIEEE(mark))
}

// parseMark gives the number of bytes written, and false without a mark.
func parseMark(head []byte) (int64, bool) {
	if len(head) < markBytes || string(head[:len(markMagic)]) != markMagic {
		return 0, false
	}
	body, sum := head[:markBytes-4], head[markBytes-4:markBytes]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(body[len(markMagic):])), true
}

func (v *Volume) writeMark(size int64) error {
	buffers, err := ioengine.NewBuffers(1, int(v.sector))
	if err != nil {
		return report.Failf(report.ReasonInternal, "%v", err)
	}
	defer buffers.Free() //nolint:errcheck // nothing to be done about it
	sector := buffers.Slot(0, int(v.sector))
	copy(sector, makeMark(size))
	if _, err := unix.Pwrite(v.data, sector, 0); err != nil {
		return v.failure("write to", err)
	}
	return v.sync()
}

// readMark checks that the device was prepared.
func (v *Volume) readMark() error {
	head, err := v.readHead()
	if err != nil {
		return err
	}
	if _, ok := parseMark(head); !ok {
		return report.Failf(report.ReasonTargetNotFound,
			"%s was not prepared: lay it out with diskbench-engine prepare, or run without --prepared", v.path)
	}
	return nil
}
