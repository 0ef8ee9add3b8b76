// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prng is the generator behind offsets and data: small, fast and repeatable from a seed.
package prng

import (
	"encoding/binary"
	"math/bits"
)

// Source is a wyrand generator (Wang Yi, public domain). It costs about a nanosecond a number,
// which is why the hot path uses it in place of math/rand.
type Source struct{ state uint64 }

// New gives a generator that depends on every one of the seeds and on their order.
func New(seeds ...int64) Source {
	var s Source
	for _, seed := range seeds {
		s.state ^= uint64(seed)
		s.state = s.Uint64()
	}
	return s
}

// Uint64 is the next number, uniform over all 64 bits.
func (s *Source) Uint64() uint64 {
	s.state += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(s.state, s.state^0xe7037ed1a0b428db)
	return hi ^ lo
}

// Fill overwrites b with random bytes, which neither compress nor repeat.
func (s *Source) Fill(b []byte) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, s.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(s.Uint64())
	}
}
