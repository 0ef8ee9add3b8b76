// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package histogram collects latencies: percentiles within 0.1%, and count, sum, sum of squares,
// minimum and maximum exactly, so that merging the histograms of several workers gives the very
// figures of one histogram of all their samples.
package histogram

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/diskbench/diskbench/engine/report"
)

const (
	// MaxTrackableNanos is the largest latency with a bucket of its own; one above it is counted in
	// the last bucket, and the maximum stays exact. An hour is beyond every kernel I/O timeout.
	MaxTrackableNanos = int64(3_600_000_000_000)

	// Three significant digits: an error of at most 0.1%, in about 250 KB a histogram.
	significantDigits = 3

	// samplesBeyond is how many samples a percentile needs beyond it before it says more about the
	// disk than about chance.
	samplesBeyond = 10
)

// Histogram is the latencies of one direction. It is not safe for concurrent use.
type Histogram struct {
	buckets      *hdrhistogram.Histogram
	count        uint64
	sum          uint64
	sumsqHi      uint64
	sumsqLo      uint64
	minNs, maxNs int64
}

// New gives an empty histogram.
func New() *Histogram {
	return &Histogram{
		buckets: hdrhistogram.New(1, MaxTrackableNanos, significantDigits),
		minNs:   math.MaxInt64,
	}
}

// Record adds a latency in nanoseconds; a negative one, which a clock must not give, counts as 0.
// It allocates nothing.
func (h *Histogram) Record(nanos int64) {
	nanos = max(nanos, 0)
	h.count++
	h.sum += uint64(nanos)
	hi, lo := bits.Mul64(uint64(nanos), uint64(nanos))
	var carry uint64
	h.sumsqLo, carry = bits.Add64(h.sumsqLo, lo, 0)
	h.sumsqHi, _ = bits.Add64(h.sumsqHi, hi, carry)
	h.minNs, h.maxNs = min(h.minNs, nanos), max(h.maxNs, nanos)
	// Within the range the library cannot refuse a value.
	_ = h.buckets.RecordValue(min(nanos, MaxTrackableNanos))
}

// Merge adds all samples of other.
func (h *Histogram) Merge(other *Histogram) {
	h.count += other.count
	h.sum += other.sum
	var carry uint64
	h.sumsqLo, carry = bits.Add64(h.sumsqLo, other.sumsqLo, 0)
	h.sumsqHi, _ = bits.Add64(h.sumsqHi, other.sumsqHi, carry)
	h.minNs, h.maxNs = min(h.minNs, other.minNs), max(h.maxNs, other.maxNs)
	h.buckets.Merge(other.buckets)
}

// Count is the number of samples.
func (h *Histogram) Count() int64 { return int64(h.count) }

// Latency summarizes the samples. Without any, it is all zero.
func (h *Histogram) Latency() report.Latency {
	if h.count == 0 {
		return report.Latency{}
	}
	return report.Latency{
		MeanNanos:   int64(math.Round(float64(h.sum) / float64(h.count))),
		StddevNanos: h.stddev(),
		MinNanos:    h.minNs,
		MaxNanos:    h.maxNs,
		P50Nanos:    h.Percentile(50),
		P90Nanos:    h.Percentile(90),
		P95Nanos:    h.Percentile(95),
		P99Nanos:    h.Percentile(99),
		P999Nanos:   h.Percentile(99.9),
		P9999Nanos:  h.Percentile(99.99),
	}
}

// Percentile is the p-th percentile (0 < p < 100) in nanoseconds, or nil when fewer than ten
// samples are expected beyond it: p99 needs 1,000 samples, p99.99 needs 100,000. The value is the
// upper end of its bucket, at most 0.1% above the true one and never above the maximum.
func (h *Histogram) Percentile(p float64) *int64 {
	// The tolerance is for 100 - 99.9, which is not exactly 0.1 in binary.
	if float64(h.count)*(100-p) < samplesBeyond*100*(1-1e-9) {
		return nil
	}
	v := min(h.buckets.ValueAtPercentile(p), h.maxNs)
	return &v
}

// stddev is the population's standard deviation. The difference n*sumsq - sum^2 is taken in
// integers: in floating point it would cancel to noise when the spread is small.
func (h *Histogram) stddev() int64 {
	n, sum := new(big.Int).SetUint64(h.count), new(big.Int).SetUint64(h.sum)
	sumsq := new(big.Int).SetUint64(h.sumsqHi)
	sumsq.Lsh(sumsq, 64).Add(sumsq, new(big.Int).SetUint64(h.sumsqLo))
	spread, _ := sumsq.Mul(sumsq, n).Sub(sumsq, sum.Mul(sum, sum)).Float64()
	return int64(math.Round(math.Sqrt(spread) / float64(h.count)))
}
