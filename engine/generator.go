// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"

	"github.com/diskbench/diskbench/engine/prng"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// zipfExponent is fio's customary theta.
	zipfExponent = 1.1

	// scatter is a prime above every number of blocks: multiplying a rank by it, modulo the number of
	// blocks, gives every block once, in no order.
	scatter = 0xffffffffffffffc5 // 2^64 - 59
)

// order is how the next block is found.
type order uint8

const (
	uniform order = iota
	// drawn is from a distribution that is not uniform.
	drawn
	// ascending is through the worker's own part of the range.
	ascending
	// ascendingShared is through the range together with the stream's other workers.
	ascendingShared
	// jumping is ascending with jumps to drawn blocks.
	jumping
)

// generator gives the offsets and directions of one worker. The same seed gives the same sequence.
type generator struct {
	source    prng.Source
	blockSize int64
	order     order
	// The range has blocks blocks, the first of which is number base of the file.
	base, blocks uint64
	// next is the worker's own block, counted from base; it goes round from first to before end.
	next, first, end uint64
	// shared replaces next where the threads share one offset.
	shared *atomic.Uint64
	// readsBelow and jumpsBelow are shares in 2^-32.
	readsBelow, jumpsBelow uint64
	distribution           distribution
}

// newGenerator is for one thread of a stream in the given repetition, all counted from 0. Repetitions
// differ, or the second would find the first's blocks in a cache. shared is the stream's own offset.
func newGenerator(w workload.Workload, stream, repetition, thread int, shared *atomic.Uint64) generator {
	s := w.Streams[stream]
	base, end := s.Range.Blocks(w.FileSizeBytes, s.BlockSizeBytes)
	blocks, threads := uint64(end-base), uint64(s.Threads)
	g := generator{
		source:       prng.New(w.Seed, int64(repetition), int64(stream), int64(thread)),
		blockSize:    s.BlockSizeBytes,
		order:        orderOf(s),
		base:         uint64(base),
		blocks:       blocks,
		first:        blocks * uint64(thread) / threads,
		end:          blocks * uint64(thread+1) / threads,
		shared:       shared,
		readsBelow:   share(s.ReadPercent),
		jumpsBelow:   share(s.RandomPercent),
		distribution: newDistribution(s.Distribution, blocks, prng.New(w.Seed, int64(repetition), int64(stream), int64(thread), drawSeed)),
	}
	g.next = g.first
	if g.order == jumping {
		g.first, g.end = 0, blocks
	}
	return g
}

// drawSeed keeps the draws of a distribution apart from those of the directions.
const drawSeed = 0x64726177

func share(percent int) uint64 { return (1 << 32) * uint64(percent) / 100 }

func orderOf(s workload.Stream) order {
	switch {
	case s.Pattern == workload.Random && s.Distribution.Type == workload.Uniform:
		return uniform
	case s.Pattern == workload.Random:
		return drawn
	case s.RandomPercent > 0:
		return jumping
	case s.SharedOffset:
		return ascendingShared
	default:
		return ascending
	}
}

// draw gives the next offset and whether to write there. The high bits of one random number choose
// the block and the low ones the direction.
func (g *generator) draw() (offset int64, write bool) {
	r := g.source.Uint64()
	return int64(g.base+g.block(r)) * g.blockSize, r&0xffffffff >= g.readsBelow
}

func (g *generator) block(r uint64) uint64 {
	switch g.order {
	case uniform:
		return below(r, g.blocks)
	case drawn:
		return g.distribution.draw()
	case ascendingShared:
		return (g.shared.Add(1) - 1) % g.blocks
	case jumping:
		if r>>32 < g.jumpsBelow {
			g.next = g.distribution.draw()
		}
	case ascending:
	}
	block := g.next
	if g.next++; g.next == g.end {
		g.next = g.first
	}
	return block
}

// below is uniform below n: the high word of the product, without a division.
func below(r, n uint64) uint64 {
	high, _ := bits.Mul64(r, n)
	return high
}

// distribution draws blocks.
type distribution struct {
	source prng.Source
	blocks uint64
	// Of a hotspot: the share of draws, in 2^-32, from the first hot blocks.
	hotBelow, hot uint64
	zipf          *rand.Zipf
}

func newDistribution(d workload.Distribution, blocks uint64, source prng.Source) distribution {
	out := distribution{source: source, blocks: blocks}
	switch d.Type {
	case workload.Hotspot:
		out.hotBelow, out.hot = share(d.IOPercent), max(1, blocks*uint64(d.RangePercent)/100)
		if out.hot == blocks { // so few blocks that the hot ones are all
			out.hotBelow = 0
		}
	case workload.Zipf:
		out.zipf = rand.NewZipf(rand.New(&source), zipfExponent, 1, blocks-1)
	case workload.Uniform:
	}
	return out
}

func (d *distribution) draw() uint64 {
	if d.zipf != nil {
		high, low := bits.Mul64(d.zipf.Uint64(), scatter)
		return bits.Rem64(high, low, d.blocks)
	}
	r := d.source.Uint64()
	switch {
	case d.hotBelow == 0:
		return below(r, d.blocks)
	case r&0xffffffff < d.hotBelow:
		return below(r, d.hot)
	default:
		return d.hot + below(r, d.blocks-d.hot)
	}
}
