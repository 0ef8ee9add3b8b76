// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/bits"
	"sync/atomic"

	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/workload"
)

// generator gives the offsets and directions of one worker. The same seed gives the same sequence.
type generator struct {
	source    prng.Source
	blocks    uint64
	blockSize int64
	random    bool
	// next is the worker's own block of a sequential workload, which goes round its part of the
	// file, from first to before end; shared replaces it where the threads share one offset.
	next, first, end uint64
	shared           *atomic.Uint64
	// readsBelow is the share of reads, in 2^-32.
	readsBelow uint64
}

// newGenerator is for thread of the given repetition, both from 0. Repetitions differ, or the
// second would find the first's blocks in a cache. shared is nil unless the offset is.
func newGenerator(w workload.Workload, repetition, thread int, shared *atomic.Uint64) generator {
	s := w.Streams[0]
	blocks, threads := uint64(w.FileSizeBytes/s.BlockSizeBytes), uint64(s.Threads)
	first, end := blocks*uint64(thread)/threads, blocks*uint64(thread+1)/threads
	return generator{
		source:     prng.New(w.Seed, int64(repetition), int64(thread)),
		blocks:     blocks,
		blockSize:  s.BlockSizeBytes,
		random:     s.Pattern == workload.Random,
		next:       first,
		first:      first,
		end:        end,
		shared:     shared,
		readsBelow: (1 << 32) * uint64(s.ReadPercent) / 100,
	}
}

// draw gives the next offset and whether to write there. The high bits of one random number choose
// the block and the low ones the direction.
func (g *generator) draw() (offset int64, write bool) {
	r := g.source.Uint64()
	return int64(g.block(r)) * g.blockSize, r&0xffffffff >= g.readsBelow
}

func (g *generator) block(r uint64) uint64 {
	if g.random {
		// The high word of the product is uniform below blocks, without a division.
		block, _ := bits.Mul64(r, g.blocks)
		return block
	}
	if g.shared != nil {
		return (g.shared.Add(1) - 1) % g.blocks
	}
	block := g.next
	if g.next++; g.next == g.end {
		g.next = g.first
	}
	return block
}
