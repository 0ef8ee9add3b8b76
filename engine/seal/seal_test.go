// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/seal"
)

// random gives a block that no other seed gives.
func random(size int, seed int64) []byte {
	block := make([]byte, size)
	source := prng.New(seed)
	source.Fill(block)
	return block
}

func sealed(size int, offset int64, unit int) []byte {
	block := random(size, offset+1)
	seal.Seal(block, offset, unit)
	return block
}

func TestSealedBlocksPass(t *testing.T) {
	tests := []struct {
		size   int
		offset int64
		unit   int
		why    string
	}{
		{512, 0, 512, "the first sector of a file"},
		{4096, 4096, 512, "a block of eight sectors"},
		{4096, 4096, 4096, "a block of one sector, of a disk with 4,096-byte sectors"},
		{1 << 20, 3 << 40, 4096, "a large block far into a large device"},
		{2300, 2300, 2300, "an odd block of a buffered workload, sealed as a whole"},
		{seal.Bytes, 0, seal.Bytes, "a unit that is nothing but seal"},
		{512, math.MaxInt64 - 512, 512, "the last offset of all"},
		{0, 0, 512, "no block at all"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if err := seal.Check(sealed(tt.size, tt.offset, tt.unit), tt.offset, tt.unit); err != nil {
				t.Errorf("a sealed block does not pass: %v", err)
			}
		})
	}
}

// The format is a promise to files that are laid out once and read later.
func TestFormat(t *testing.T) {
	block := bytes.Repeat([]byte{0xee}, 1024)
	seal.Seal(block, 0x0102030405060000, 512)
	for i, low := range []byte{0x00, 0x02} {
		unit := block[i*512 : (i+1)*512]
		want := append([]byte("diskseal"), 0x00, low+0x00, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01)
		covered := slices.Concat(want, bytes.Repeat([]byte{0xee}, 512-seal.Bytes))
		sum := crc32.Checksum(covered, crc32.MakeTable(crc32.Castagnoli))
		want = append(want, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		if !bytes.Equal(unit[:seal.Bytes], want) {
			t.Errorf("unit %d begins with % x, want % x", i, unit[:seal.Bytes], want)
		}
		if !bytes.Equal(unit[seal.Bytes:], bytes.Repeat([]byte{0xee}, 512-seal.Bytes)) {
			t.Errorf("the content of unit %d was changed", i)
		}
	}
}

func TestCheckFinds(t *testing.T) {
	const unit = 512
	tests := []struct {
		why string
		// harm is done to a block of four units that was sealed at 8192.
		harm func(block []byte)
		want seal.Error
		says string
	}{
		{
			"a hole of a sparse file, or a discarded range",
			func(b []byte) { clear(b) },
			seal.Error{Finding: seal.Zeros, Offset: 8192},
			"the 512 bytes at offset 8192 are all zero: they were never written, or the write was lost",
		},
		{
			"a lost sector in the middle of a block",
			func(b []byte) { clear(b[unit : 2*unit]) },
			seal.Error{Finding: seal.Zeros, Offset: 8704},
			"the 512 bytes at offset 8704 are all zero: they were never written, or the write was lost",
		},
		{
			"a file that was laid out without seals, or another writer",
			func(b []byte) { copy(b, "PGDMP 16") },
			seal.Error{Finding: seal.Unsealed, Offset: 8192, Head: [8]byte{'P', 'G', 'D', 'M', 'P', ' ', '1', '6'}},
			"the 512 bytes at offset 8192 carry no seal, they start with 50 47 44 4d 50 20 31 36: " +
				"something else wrote there, or they were overwritten",
		},
		{
			"zeros where the seal was, but data behind: not a hole",
			func(b []byte) { clear(b[:seal.Bytes]) },
			seal.Error{Finding: seal.Unsealed, Offset: 8192},
			"the 512 bytes at offset 8192 carry no seal, they start with 00 00 00 00 00 00 00 00: " +
				"something else wrote there, or they were overwritten",
		},
		{
			"a misdirected write or read: a whole block of elsewhere",
			func(b []byte) { copy(b, sealed(len(b), 1<<40, unit)) },
			seal.Error{Finding: seal.Misplaced, Offset: 8192, BelongsAt: 1 << 40},
			"the 512 bytes at offset 8192 belong at offset 1099511627776: a write or this read was misdirected",
		},
		{
			"two sectors of a block in each other's place",
			func(b []byte) {
				second := slices.Clone(b[unit : 2*unit])
				copy(b[unit:], b[2*unit:3*unit])
				copy(b[2*unit:], second)
			},
			seal.Error{Finding: seal.Misplaced, Offset: 8704, BelongsAt: 9216},
			"the 512 bytes at offset 8704 belong at offset 9216: a write or this read was misdirected",
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			block := sealed(4*unit, 8192, unit)
			tt.harm(block)
			err := seal.Check(block, 8192, unit)
			tt.want.UnitBytes = unit
			if diff := cmp.Diff(&tt.want, found(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err.Error() != tt.says {
				t.Errorf("the error is\n%s\nwant\n%s", err, tt.says)
			}
		})
	}
}

func found(t *testing.T, err error) *seal.Error {
	t.Helper()
	var e *seal.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %v, want a *seal.Error", err)
	}
	return e
}

// A torn write leaves the start of the new data and the rest of what was there before, itself sealed
// for the same place.
func TestCheckFindsEveryTear(t *testing.T) {
	const unit = 4096
	before, after := random(unit, 1), random(unit, 2)
	seal.Seal(before, 0, unit)
	seal.Seal(after, 0, unit)
	for at := 512; at < unit; at += 512 {
		e := found(t, seal.Check(slices.Concat(after[:at], before[at:]), 0, unit))
		if e.Finding != seal.Corrupt || e.Computed == e.Checksum {
			t.Errorf("torn after %d bytes: %+v, want Corrupt with two checksums", at, e)
		}
		want := fmt.Sprintf("the 4096 bytes at offset 0 are torn or corrupt: their checksum is %08x, sealed as %08x",
			e.Computed, e.Checksum)
		if e.Error() != want {
			t.Errorf("the error is %q, want %q", e, want)
		}
	}
}

// A flip in the magic reads as no seal; anywhere else it is corruption, even in the offset, which must
// not be taken for a misdirected write.
func TestCheckFindsEveryFlippedBit(t *testing.T) {
	const unit = 512
	block := sealed(unit, 4096, unit)
	for bit := range unit * 8 {
		block[bit/8] ^= 1 << (bit % 8)
		want := seal.Corrupt
		if bit/8 < len("diskseal") {
			want = seal.Unsealed
		}
		if e := found(t, seal.Check(block, 4096, unit)); e.Finding != want || e.Offset != 4096 {
			t.Fatalf("bit %d of byte %d flipped: %+v, want finding %d", bit%8, bit/8, e, want)
		}
		block[bit/8] ^= 1 << (bit % 8)
	}
	if err := seal.Check(block, 4096, unit); err != nil {
		t.Fatalf("the block without a flip does not pass: %v", err)
	}
}

func TestFits(t *testing.T) {
	tests := []struct {
		block     int
		offset    int64
		unit      int
		says, why string
	}{
		{512, 0, 0, "no room for a seal", "a sector size that was never read"},
		{512, 0, seal.Bytes - 1, "no room for a seal", "one byte short"},
		{512, 0, -512, "no room for a seal", "a negative unit"},
		{2300, 0, 512, "not whole units", "a buffered block of odd length in sectors"},
		{511, 0, 512, "not whole units", "a short read"},
		{512, -512, 512, "outside of what a file can have", "a negative offset"},
		{1024, math.MaxInt64 - 1023, 512, "outside of what a file can have", "the second unit's offset overflows"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			block := make([]byte, tt.block)
			err := seal.Check(block, tt.offset, tt.unit)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check = %v, want an error with %q", err, tt.says)
			}
			defer func() {
				if recover() == nil || !bytes.Equal(block, make([]byte, tt.block)) {
					t.Error("Seal neither refuses nor leaves the block alone")
				}
			}()
			seal.Seal(block, tt.offset, tt.unit)
		})
	}
}

// The hot path of a load runs it for each I/O.
func TestNothingIsAllocated(t *testing.T) {
	block := random(4096, 1)
	allocations := testing.AllocsPerRun(100, func() {
		seal.Seal(block, 4096, 512)
		if err := seal.Check(block, 4096, 512); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations for a block, want none", allocations)
	}
}

// FuzzCheck: whatever was read, Check does not panic, and passes only what Seal makes.
func FuzzCheck(f *testing.F) {
	f.Add(sealed(1024, 512, 512), int64(512), 512)
	f.Add(sealed(40, 0, seal.Bytes), int64(0), seal.Bytes)
	f.Add(make([]byte, 512), int64(0), 512)
	f.Add([]byte("diskseal"), int64(-1), 0)
	f.Fuzz(func(t *testing.T, block []byte, offset int64, unit int) {
		if seal.Check(block, offset, unit) != nil {
			return
		}
		again := slices.Clone(block)
		seal.Seal(again, offset, unit)
		if !bytes.Equal(again, block) {
			t.Error("a block passes that Seal would have made otherwise")
		}
	})
}

// FuzzSeal: a sealed block passes at its own offset and nowhere else, whatever it holds, and a burst of
// changed bits is found.
func FuzzSeal(f *testing.F) {
	f.Add([]byte("content"), int64(4096), int64(8192), uint16(9), uint32(1))
	f.Add([]byte{}, int64(0), int64(1), uint16(0), uint32(0x80000001))
	f.Fuzz(func(t *testing.T, content []byte, offset, other int64, at uint16, burst uint32) {
		const unit = 64
		block := slices.Concat(content, make([]byte, (unit-len(content)%unit)%unit+unit))
		if seal.Fits(len(block), offset, unit) != nil {
			return
		}
		seal.Seal(block, offset, unit)
		if err := seal.Check(block, offset, unit); err != nil {
			t.Fatalf("a sealed block does not pass: %v", err)
		}
		if other != offset && seal.Check(block, other, unit) == nil {
			t.Errorf("a block of offset %d passes at %d", offset, other)
		}
		i := int(at) % (len(block) - 3)
		if i%unit < seal.Bytes || i%unit > unit-4 || burst == 0 {
			return // over the edge of a unit's content
		}
		for k := range 4 {
			block[i+k] ^= byte(burst >> (8 * k))
		}
		if seal.Check(block, offset, unit) == nil {
			t.Errorf("a burst %08x at byte %d goes unseen", burst, i)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	benchmark(b, func(block []byte, unit int) { seal.Seal(block, 1<<30, unit) })
}

func BenchmarkCheck(b *testing.B) {
	benchmark(b, func(block []byte, unit int) {
		if err := seal.Check(block, 1<<30, unit); err != nil {
			b.Fatal(err)
		}
	})
}

func benchmark(b *testing.B, do func(block []byte, unit int)) {
	b.Helper()
	for _, unit := range []int{512, 4096} {
		for _, size := range []int{4096, 1 << 20} {
			b.Run(fmt.Sprintf("block=%d/unit=%d", size, unit), func(b *testing.B) {
				block := sealed(size, 1<<30, unit)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					do(block, unit)
				}
			})
		}
	}
}
