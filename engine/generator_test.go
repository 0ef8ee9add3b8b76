// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/diskbench/diskbench/engine/workload"
)

func TestRandomOffsets(t *testing.T) {
	w := reads(1)
	w.FileSizeBytes = 100*blockSize + 512 // the tail is no whole block
	w.Streams[0].ReadPercent = 30
	const draws = 200_000
	g := newGenerator(w, 0, 0, nil)
	var hits [100]int
	readOps := 0
	for range draws {
		offset, write := g.draw()
		if offset%blockSize != 0 || offset < 0 || offset+blockSize > w.FileSizeBytes {
			t.Fatalf("offset %d is not a block of the file", offset)
		}
		hits[offset/blockSize]++
		if !write {
			readOps++
		}
	}
	// Each block gets 2,000 on average with a standard deviation of 45: 6 of them is no chance.
	for block, n := range hits {
		if n < 1730 || n > 2270 {
			t.Errorf("block %d was drawn %d times, want about 2000", block, n)
		}
	}
	if share := float64(readOps) / draws; math.Abs(share-0.30) > 0.006 {
		t.Errorf("%.4f reads, want 0.30", share)
	}
}

func TestReadPercentEnds(t *testing.T) {
	for _, percent := range []int{0, 100} {
		w := reads(1)
		w.Streams[0].ReadPercent = percent
		g := newGenerator(w, 0, 0, nil)
		for range 100_000 {
			if _, write := g.draw(); write != (percent == 0) {
				t.Fatalf("readPercent %d drew the other direction", percent)
			}
		}
	}
}

func TestSequencesDependOnSeedThreadAndRepetition(t *testing.T) {
	first := func(seed int64, repetition, thread int) [8]int64 {
		w := reads(1)
		w.FileSizeBytes, w.Streams[0].Threads, w.Seed = 1<<40, 4, seed
		g := newGenerator(w, repetition, thread, nil)
		var offsets [8]int64
		for i := range offsets {
			offsets[i], _ = g.draw()
		}
		return offsets
	}
	base := first(1, 0, 0)
	if base != first(1, 0, 0) {
		t.Error("the same seed gave other offsets")
	}
	for name, other := range map[string][8]int64{
		"seed": first(2, 0, 0), "repetition": first(1, 1, 0), "thread": first(1, 0, 1),
	} {
		if base == other {
			t.Errorf("another %s gave the same offsets", name)
		}
	}
}

// Each thread stays in its part: one that read on into its neighbour's would find the blocks in a
// cache. The parts together are the whole file, also where it does not divide evenly.
func TestSequentialOffsets(t *testing.T) {
	w := reads(1)
	w.Streams[0].Pattern, w.Streams[0].Threads, w.FileSizeBytes = workload.Sequential, 3, 10*blockSize
	for thread, want := range [][]int64{{0, 1, 2, 0, 1}, {3, 4, 5, 3, 4}, {6, 7, 8, 9, 6, 7}} {
		g := newGenerator(w, 0, thread, nil)
		for i, block := range want {
			if offset, _ := g.draw(); offset != block*blockSize {
				t.Errorf("thread %d, I/O %d at %d, want block %d", thread, i, offset, block)
			}
		}
	}
}

// With DiskSpd's -si the threads together visit each block once in a round.
func TestSharedSequentialOffset(t *testing.T) {
	w := reads(1)
	w.Streams[0].Pattern, w.Streams[0].Threads, w.FileSizeBytes, w.Streams[0].SharedOffset = workload.Sequential, 2, 10*blockSize, true
	var next atomic.Uint64
	a, b := newGenerator(w, 0, 0, &next), newGenerator(w, 0, 1, &next)
	for round := range 3 {
		for block := int64(0); block < 10; block += 2 {
			first, _ := a.draw()
			second, _ := b.draw()
			if first != block*blockSize || second != (block+1)*blockSize {
				t.Errorf("round %d: offsets %d and %d, want blocks %d and %d", round, first, second, block, block+1)
			}
		}
	}
}
