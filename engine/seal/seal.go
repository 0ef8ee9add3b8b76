// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package seal makes blocks that say where they belong and whether they are whole, so that a read
// can be verified without a copy of what was written.
//
// A block is a run of units, each of which a disk writes as a whole or tears (a sector). A unit
// begins with a seal of 20 bytes, its numbers little endian; the other bytes are the writer's own,
// such as random data:
//
//	byte 0   magic, "diskseal"
//	byte 8   offset of the unit in the file, in bytes, 64 bits signed
//	byte 16  CRC-32C (Castagnoli) of bytes 0 to 15 and of bytes 20 to the end of the unit
//
// The checksum finds each change of up to three bits, and each burst of up to 32 bits of content; of
// other changes one in 2^32 goes unseen. A seal holds no version: what was written earlier to the
// same place passes, so a lost overwrite is not found.
//
// CRC-32C is the checksum that amd64 and arm64 have instructions for.
package seal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Bytes is the length of a seal: the first bytes of a unit, which Seal overwrites.
const Bytes = 20

const (
	magic      = "diskseal"
	offsetAt   = len(magic)
	checksumAt = offsetAt + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Finding is what is wrong with a unit.
type Finding int

const (
	// Zeros is a unit of nothing but zeros: never written, discarded, or the write was lost.
	Zeros Finding = iota + 1
	// Unsealed is other data without a seal's magic.
	Unsealed
	// Misplaced is a whole unit that belongs at another offset: its write, or this read, went astray.
	Misplaced
	// Corrupt is a seal whose checksum is wrong: a torn write, or changed bytes.
	Corrupt
)

// Error is a unit that is not as it was sealed, the first one in its block.
type Error struct {
	// Finding is what is wrong.
	Finding Finding
	// Offset is where the unit was read, in bytes from the start of the file.
	Offset int64
	// UnitBytes is the length of the unit.
	UnitBytes int
	// BelongsAt is the offset in the seal; set for Misplaced alone.
	BelongsAt int64
	// Checksum is that of the seal and Computed that of what was read; set for Corrupt alone.
	Checksum, Computed uint32
	// Head is the first bytes of what was read; set for Unsealed alone.
	Head [len(magic)]byte
}

// Error names the place and what was found there.
func (e *Error) Error() string {
	place := fmt.Sprintf("the %d bytes at offset %d", e.UnitBytes, e.Offset)
	switch e.Finding {
	case Zeros:
		return place + " are all zero: they were never written, or the write was lost"
	case Unsealed:
		return fmt.Sprintf("%s carry no seal, they start with % x: something else wrote there, or they were overwritten", place, e.Head)
	case Misplaced:
		return fmt.Sprintf("%s belong at offset %d: a write or this read was misdirected", place, e.BelongsAt)
	default:
		return fmt.Sprintf("%s are torn or corrupt: their checksum is %08x, sealed as %08x", place, e.Computed, e.Checksum)
	}
}

// Seal seals each unit of a block that is about to be written at an offset, in bytes from the start
// of the file. The first Bytes of each unit are overwritten, the others stay. It allocates nothing,
// and panics on a block that is not whole units: see Fits.
func Seal(block []byte, offset int64, unit int) {
	if err := Fits(len(block), offset, unit); err != nil {
		panic(err)
	}
	for ; len(block) > 0; block, offset = block[unit:], offset+int64(unit) {
		u := block[:unit:unit]
		copy(u, magic)
		binary.LittleEndian.PutUint64(u[offsetAt:], uint64(offset))
		binary.LittleEndian.PutUint32(u[checksumAt:], checksum(u))
	}
}

// Carries tells whether a unit begins with the magic of a seal, whatever the rest says.
func Carries(unit []byte) bool { return bytes.HasPrefix(unit, []byte(magic)) }

// Check verifies a block that was read at an offset, in bytes from the start of the file. The error is
// an *Error that tells the first unit that is not as Seal left it, or what Fits says. It allocates
// nothing unless it finds something.
func Check(block []byte, offset int64, unit int) error {
	if err := Fits(len(block), offset, unit); err != nil {
		return err
	}
	for ; len(block) > 0; block, offset = block[unit:], offset+int64(unit) {
		u := block[:unit:unit]
		if string(u[:offsetAt]) != magic ||
			binary.LittleEndian.Uint64(u[offsetAt:]) != uint64(offset) ||
			binary.LittleEndian.Uint32(u[checksumAt:]) != checksum(u) {
			return explain(u, offset)
		}
	}
	return nil
}

// Fits says what keeps a block from being whole units that each have room for a seal.
func Fits(blockBytes int, offset int64, unit int) error {
	switch {
	case unit < Bytes:
		return fmt.Errorf("a unit of %d bytes has no room for a seal of %d bytes: use the sector size of the disk", unit, Bytes)
	case blockBytes%unit != 0:
		return fmt.Errorf("a block of %d bytes is not whole units of %d bytes: use a multiple", blockBytes, unit)
	case offset < 0 || offset > math.MaxInt64-int64(blockBytes):
		return fmt.Errorf("offset %d is outside of what a file can have: use 0 or more, below 8 EiB", offset)
	}
	return nil
}

// explain finds out what is wrong with a unit. An offset is believed only under a good checksum: a
// flipped bit in it is corruption, and no sign of a misdirected write.
func explain(u []byte, offset int64) *Error {
	e := &Error{Offset: offset, UnitBytes: len(u)}
	switch stored, computed := binary.LittleEndian.Uint32(u[checksumAt:]), checksum(u); {
	case isZero(u):
		e.Finding = Zeros
	case string(u[:offsetAt]) != magic:
		e.Finding = Unsealed
		copy(e.Head[:], u)
	case stored != computed:
		e.Finding, e.Checksum, e.Computed = Corrupt, stored, computed
	default:
		e.Finding, e.BelongsAt = Misplaced, int64(binary.LittleEndian.Uint64(u[offsetAt:]))
	}
	return e
}

// checksum is that of a unit without the place of the checksum itself.
func checksum(u []byte) uint32 {
	return crc32.Update(crc32.Checksum(u[:checksumAt], castagnoli), castagnoli, u[Bytes:])
}

func isZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
