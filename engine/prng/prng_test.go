// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package prng

import (
	"bytes"
	"compress/flate"
	"testing"
)

func TestSeeds(t *testing.T) {
	first := func(seeds ...int64) uint64 {
		s := New(seeds...)
		return s.Uint64()
	}
	seen := map[uint64][]int64{}
	for _, seeds := range [][]int64{{}, {0}, {1}, {-1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 1}, {1, 2, 3}} {
		v := first(seeds...)
		if other, ok := seen[v]; ok {
			t.Errorf("seeds %v and %v begin alike", seeds, other)
		}
		seen[v] = seeds
		if first(seeds...) != v {
			t.Errorf("seeds %v are not repeatable", seeds)
		}
	}
}

// Storage that compresses must find nothing to gain.
func TestFillDoesNotCompress(t *testing.T) {
	data := make([]byte, 1<<20+5) // not a whole number of words
	s := New(1)
	s.Fill(data)
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() < len(data) {
		t.Errorf("%d bytes compress to %d", len(data), out.Len())
	}
	if bytes.Equal(data[len(data)-5:], make([]byte, 5)) {
		t.Error("the tail was not filled")
	}
}
