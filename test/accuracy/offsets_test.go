// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"math"
	"slices"
	"testing"

	"github.com/diskbench/diskbench/engine/workload"
)

// Where the I/O goes is recorded by the filesystem that serves it. The seed and the number of operations
// are fixed, so that a thread's draws are the same each time.

const offsetOperations = 40_000

// visits measures so many operations and gives them as the filesystem saw them, having checked what
// is true of every workload: aligned, inside the file, of the block's size, and as many as reported.
func visits(t *testing.T, m *mount, w workload.Workload) []Operation {
	t.Helper()
	w.Warmup, w.Operations, w.Duration = 0, offsetOperations, workload.Seconds(60)
	r, log := filesystemFigures(t, m, w, workload.LibAIO, Behavior{})
	reads := 0
	for _, o := range log {
		if !o.Write {
			reads++
		}
		if o.Offset%int64(o.Size) != 0 || o.Offset < 0 || o.Offset+int64(o.Size) > w.FileSizeBytes {
			t.Fatalf("an I/O of %d bytes at %d in a file of %d", o.Size, o.Offset, w.FileSizeBytes)
		}
		if !slices.ContainsFunc(w.Streams, func(s workload.Stream) bool { return s.BlockSizeBytes == int64(o.Size) }) {
			t.Fatalf("an I/O of %d bytes", o.Size)
		}
	}
	reported := 0
	if r.Read != nil {
		reported = int(r.Read.Operations)
	}
	check(t, finding{what: "operations", got: float64(r.Total.Operations), want: float64(len(log)), unit: "I/Os"},
		finding{what: "operations asked for", got: float64(len(log)), want: offsetOperations, unit: "I/Os"})
	if reported != reads {
		t.Errorf("%d reads reported, the filesystem saw %d", reported, reads)
	}
	return log
}

// share is that of operations which are so, in percent.
func share(log []Operation, is func(Operation) bool) float64 {
	n := 0
	for _, o := range log {
		if is(o) {
			n++
		}
	}
	return 100 * float64(n) / float64(len(log))
}

// points checks a share in percent against what was asked for, within half a percentage point.
func points(t *testing.T, what string, got, want float64) {
	t.Helper()
	check(t, finding{what: what, got: got, want: want, tolerance: 0.5 / want, unit: "%"})
}

// chiSquare of the visits to 64 parts of the blocks from first up to end, as the number of standard
// deviations from what is expected of uniform ones (Wilson and Hilferty's normal approximation).
func chiSquare(log []Operation, first, end int64) float64 {
	const parts, free = 64, 64 - 1
	part := func(block int64) int64 { return (block - first) * parts / (end - first) }
	counts, expected := make([]float64, parts), make([]float64, parts)
	for _, o := range log {
		counts[part(o.Offset/int64(o.Size))]++
	}
	for block := first; block < end; block++ { // parts may differ by a block
		expected[part(block)] += float64(len(log)) / float64(end-first)
	}
	sum := 0.0
	for i := range counts {
		sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i]
	}
	return (math.Cbrt(sum/free) - (1 - 2.0/(9*free))) / math.Sqrt(2.0/(9*free))
}

// uniformly fails if uniform visits were like this once in 10,000 times, too even ones included.
func uniformly(t *testing.T, log []Operation, first, end int64) {
	t.Helper()
	z := chiSquare(log, first, end)
	t.Logf("chi-square lies %+.2f standard deviations from that of uniform offsets", z)
	if math.Abs(z) > 3.9 {
		t.Errorf("the offsets are not uniform: chi-square lies %+.2f standard deviations away", z)
	}
}

const blocks = fileSize / block4Ki

func TestUniformOffsetsAndMix(t *testing.T) {
	m := newMount(t)
	for _, percent := range []int{30, 70, 95} {
		w := load("mix", block4Ki, 8, fileSize, 1)
		w.Streams[0].ReadPercent = percent
		log := visits(t, m, w)
		points(t, "share of reads", share(log, func(o Operation) bool { return !o.Write }), float64(percent))
		uniformly(t, log, 0, blocks)
	}
}

func TestRange(t *testing.T) {
	m := newMount(t)
	w := load("range", block4Ki, 4, fileSize, 1)
	w.Streams[0].Range = workload.Range{StartPercent: 25, EndPercent: 62.5}
	log := visits(t, m, w)
	first, end := int64(blocks/4), int64(blocks*5/8)
	seen := map[int64]bool{}
	for _, o := range log {
		block := o.Offset / block4Ki
		if block < first || block >= end {
			t.Fatalf("block %d is outside the range from %d up to %d", block, first, end)
		}
		seen[block] = true
	}
	// 26 visits to each on average: none is missed, the first and the last included.
	if len(seen) != int(end-first) {
		t.Errorf("%d of %d blocks were visited", len(seen), end-first)
	}
	uniformly(t, log, first, end)
}

func TestHotspot(t *testing.T) {
	m := newMount(t)
	w := load("hotspot", block4Ki, 4, fileSize, 1)
	w.Streams[0].Distribution = workload.Distribution{Type: workload.Hotspot, IOPercent: 90, RangePercent: 10}
	log := visits(t, m, w)
	hot := int64(blocks / 10)
	in := func(o Operation) bool { return o.Offset/block4Ki < hot }
	points(t, "share of the hot tenth", share(log, in), 90)
	uniformly(t, slices.DeleteFunc(slices.Clone(log), func(o Operation) bool { return !in(o) }), 0, hot)
	uniformly(t, slices.DeleteFunc(log, in), hot, blocks)
}

// A share of a sequential stream's operations jumps; from there it goes on in order.
func TestJumps(t *testing.T) {
	m := newMount(t)
	w := load("jumps", block4Ki, 1, fileSize, 1)
	w.Streams[0].Pattern, w.Streams[0].RandomPercent = workload.Sequential, 20
	log := visits(t, m, w)
	var landings []Operation
	for i := 1; i < len(log); i++ {
		if log[i].Offset != (log[i-1].Offset+block4Ki)%fileSize {
			landings = append(landings, log[i])
		}
	}
	points(t, "share of jumps", 100*float64(len(landings))/float64(len(log)), 20)
	uniformly(t, landings, 0, blocks)
}

// Each thread of a sequential stream goes through its own part of the range, in order and over again.
func TestSequentialParts(t *testing.T) {
	m := newMount(t)
	const threads = 4
	w := load("parts", block4Ki, 1, fileSize, 1)
	w.Streams[0].Pattern, w.Streams[0].Threads = workload.Sequential, threads
	byHandle := map[uint64][]Operation{}
	for _, o := range visits(t, m, w) {
		byHandle[o.Handle] = append(byHandle[o.Handle], o)
	}
	if len(byHandle) != threads {
		t.Fatalf("%d files for %d threads", len(byHandle), threads)
	}
	starts := map[int64]bool{}
	for _, log := range byHandle {
		start := log[0].Offset
		starts[start] = true
		for i, o := range log {
			if want := start + int64(i)*block4Ki%(fileSize/threads); o.Offset != want {
				t.Fatalf("operation %d of a thread is at %d, want %d", i, o.Offset, want)
			}
		}
	}
	for i := range int64(threads) {
		if !starts[i*fileSize/threads] {
			t.Errorf("no thread began at %d: %v", i*fileSize/threads, starts)
		}
	}
}

// Threads that share an offset visit every block once before any block twice, and in order, as far as
// threads that run at the same time have one: an operation is overtaken by those of the other threads.
func TestSharedOffset(t *testing.T) {
	m := newMount(t)
	const threads = 4
	w := load("shared", block4Ki, 1, fileSize, 1)
	w.Streams[0].Pattern, w.Streams[0].SharedOffset, w.Streams[0].Threads = workload.Sequential, true, threads
	log := visits(t, m, w)
	// Rounds of the whole file, but for the last one. What is out of place near a bound belongs to the
	// other side: the rounds are told apart by counting the visits to each block.
	visited := make([]int, blocks)
	displaced := 0
	for i, o := range log {
		block := int(o.Offset / block4Ki)
		position := visited[block]*blocks + block
		visited[block]++
		if d := position - i; d > threads || d < -threads {
			displaced++
		}
	}
	rounds := len(log) / blocks
	for block, n := range visited {
		if n != rounds && n != rounds+1 {
			t.Errorf("block %d was visited %d times in %d rounds", block, n, rounds)
		}
	}
	// A thread that loses its core between drawing the offset and issuing the I/O is overtaken by many.
	if displaced > len(log)/20 {
		t.Errorf("%d of %d operations are out of order by more than the %d in flight", displaced, len(log), threads)
	}
	t.Logf("%d of %d operations are out of order by more than the %d in flight", displaced, len(log), threads)
}
