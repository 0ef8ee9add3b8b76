// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/diskbench/diskbench/engine/workload"
)

func TestRandomOffsets(t *testing.T) {
	w := reads(1)
	w.FileSizeBytes = 100*blockSize + 512 // the tail is no whole block
	w.Streams[0].ReadPercent = 30
	const draws = 200_000
	g := newGenerator(w, 0, 0, 0, nil)
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
		g := newGenerator(w, 0, 0, 0, nil)
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
		g := newGenerator(w, 0, repetition, thread, nil)
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
		g := newGenerator(w, 0, 0, thread, nil)
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
	a, b := newGenerator(w, 0, 0, 0, &next), newGenerator(w, 0, 0, 1, &next)
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

// A stream stays in its range, whatever its order.
func TestOffsetsStayInTheRange(t *testing.T) {
	const blocks = 1000
	for _, change := range []func(*workload.Stream){
		func(*workload.Stream) {},
		func(s *workload.Stream) {
			s.Distribution = workload.Distribution{Type: workload.Hotspot, IOPercent: 95, RangePercent: 5}
		},
		func(s *workload.Stream) { s.Distribution.Type = workload.Zipf },
		func(s *workload.Stream) { s.Pattern = workload.Sequential },
		func(s *workload.Stream) { s.Pattern, s.RandomPercent = workload.Sequential, 20 },
		func(s *workload.Stream) { s.Pattern, s.SharedOffset = workload.Sequential, true },
	} {
		w := reads(1)
		w.FileSizeBytes = blocks * blockSize
		s := &w.Streams[0]
		s.Threads, s.Range = 3, workload.Range{StartPercent: 25, EndPercent: 75}
		change(s)
		var next atomic.Uint64
		first, last := int64(blocks), int64(0)
		for thread := range 3 {
			g := newGenerator(w, 0, 0, thread, &next)
			for range 20_000 {
				offset, _ := g.draw()
				first, last = min(first, offset/blockSize), max(last, offset/blockSize)
			}
		}
		if first != 250 || last != 749 {
			t.Errorf("%s %d%% %s: blocks %d to %d, want 250 to 749", s.Pattern, s.RandomPercent, s.Distribution.Type, first, last)
		}
	}
}

func TestHotspotTakesItsShare(t *testing.T) {
	w := reads(1)
	w.FileSizeBytes = 10_000 * blockSize
	w.Streams[0].Distribution = workload.Distribution{Type: workload.Hotspot, IOPercent: 95, RangePercent: 5}
	g := newGenerator(w, 0, 0, 0, nil)
	const draws = 200_000
	hot := 0
	var hits [10_000]int
	for range draws {
		offset, _ := g.draw()
		hits[offset/blockSize]++
		if offset < 500*blockSize {
			hot++
		}
	}
	// The standard deviation of the share is 0.05%.
	if share := float64(hot) / draws; math.Abs(share-0.95) > 0.003 {
		t.Errorf("%.4f of the offsets are hot, want 0.95", share)
	}
	if chi := chiSquare(hits[:500]); chi > 700 {
		t.Errorf("the hot blocks are not drawn alike: chi-square %.0f of 499 degrees", chi)
	}
	if chi := chiSquare(hits[500:]); chi > 10_200 {
		t.Errorf("the cold blocks are not drawn alike: chi-square %.0f of 9,499 degrees", chi)
	}
}

// chiSquare against the same number for each.
func chiSquare(hits []int) float64 {
	sum := 0
	for _, n := range hits {
		sum += n
	}
	want, chi := float64(sum)/float64(len(hits)), 0.0
	for _, n := range hits {
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	return chi
}

// The chi-square of n degrees has a standard deviation of sqrt(2n): 5 of them is no chance.
func TestUniformByChiSquare(t *testing.T) {
	const blocks = 4096
	w := reads(1)
	w.FileSizeBytes = blocks * blockSize
	g := newGenerator(w, 0, 0, 0, nil)
	hits := make([]int, blocks)
	for range 100 * blocks {
		offset, _ := g.draw()
		hits[offset/blockSize]++
	}
	if chi := chiSquare(hits); math.Abs(chi-(blocks-1)) > 5*math.Sqrt(2*(blocks-1)) {
		t.Errorf("chi-square %.0f, want about %d", chi, blocks-1)
	}
}

// Ranked by how often they were drawn, blocks fall off as k^-1.1, and the wanted ones are not neighbors.
func TestZipfFallsOff(t *testing.T) {
	const blocks, draws = 100_000, 1_000_000
	w := reads(1)
	w.FileSizeBytes = blocks * blockSize
	w.Streams[0].Distribution.Type = workload.Zipf
	g := newGenerator(w, 0, 0, 0, nil)
	hits := map[int64]int{}
	for range draws {
		offset, _ := g.draw()
		hits[offset/blockSize]++
	}
	ranked := slices.SortedFunc(maps.Keys(hits), func(a, b int64) int { return hits[b] - hits[a] })
	sum := 0.0
	for k := range blocks {
		sum += math.Pow(float64(k+1), -zipfExponent)
	}
	for _, k := range []int{1, 2, 10, 100} {
		want := draws * math.Pow(float64(k), -zipfExponent) / sum
		if got := float64(hits[ranked[k-1]]); math.Abs(got-want) > 0.05*want+5*math.Sqrt(want) {
			t.Errorf("rank %d was drawn %.0f times, want %.0f", k, got, want)
		}
	}
	if d := ranked[0] - ranked[1]; d == 1 || d == -1 {
		t.Errorf("the most wanted blocks %d and %d are neighbors", ranked[0], ranked[1])
	}
}

// DiskSpd's -rs20: a fifth of the operations jump, the others go on from where the last one was.
func TestJumpsHaveTheirShare(t *testing.T) {
	w := reads(1)
	w.FileSizeBytes = 1 << 40
	w.Streams[0].Pattern, w.Streams[0].RandomPercent = workload.Sequential, 20
	g := newGenerator(w, 0, 0, 0, nil)
	const draws = 100_000
	jumps, last := 0, int64(-blockSize)
	for range draws {
		offset, _ := g.draw()
		if offset != last+blockSize {
			jumps++
		}
		last = offset
	}
	if share := float64(jumps) / draws; math.Abs(share-0.20) > 0.006 {
		t.Errorf("%.4f of the operations jump, want 0.20", share)
	}
}

// Repetitions and streams differ, and a range of a single block is one.
func TestSmallestRange(t *testing.T) {
	for _, kind := range []workload.DistributionType{workload.Uniform, workload.Hotspot, workload.Zipf} {
		w := reads(1)
		w.FileSizeBytes = blockSize
		w.Streams[0].Distribution = workload.Distribution{Type: kind}
		if kind == workload.Hotspot {
			w.Streams[0].Distribution.IOPercent, w.Streams[0].Distribution.RangePercent = 95, 5
		}
		g := newGenerator(w, 0, 0, 0, nil)
		for range 1000 {
			if offset, _ := g.draw(); offset != 0 {
				t.Fatalf("%s: offset %d of a file of one block", kind, offset)
			}
		}
	}
}
