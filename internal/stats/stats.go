// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stats compares repetitions of a measurement without assuming how they are distributed.
// A sample is a figure of one repetition, such as IOPS: finite and not negative. No result is ever NaN
// or infinite.
//
// Two rules are kept apart, because together they would fail each other. A comparison is Different when
// the repetitions tell the two sides apart; that a true change of 5% is found is what this is for, and
// with six repetitions a side it is, in noise of up to 2%. A comparison is Relevant when the change of
// the medians is at least 5%; a true change of just 5% is measured as less every second time, so
// asking for both would find only half of such changes. Who decides by a gain asks for both, who looks
// for a change asks for Different.
//
// All of it takes repetitions to be independent of each other. Where the disk or the node drifts, two
// runs one after the other differ, and the samples alone cannot tell why: let the sides take turns.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

const (
	// Significance is the largest share of comparisons of the same thing that are called Different, over
	// all pairs that are compared together.
	Significance = 0.05

	// Relevance is the least change of a median, as a fraction of the smaller one, that is worth acting
	// on. Judgment.
	Relevance = 0.05
)

// Interval is a median with bounds on what it estimates.
type Interval struct {
	// Median is that of the samples.
	Median float64
	// Low and High are the smallest and the largest sample.
	Low, High float64
	// Confidence is the probability that samples like these have the true median between them: 0.875 of
	// four, 0.9375 of five, 0.96875 of six.
	Confidence float64
}

// MedianInterval gives the interval from the smallest to the largest of n samples. It misses the true
// median only when all samples lie on one side of it, each with probability 1/2 whatever the
// distribution: with 2 x 2^-n. It is false of fewer than two samples, and of any that is no figure.
func MedianInterval(samples []float64) (Interval, bool) {
	if len(samples) < 2 || !valid(samples) {
		return Interval{}, false
	}
	return Interval{
		Median:     median(samples),
		Low:        slices.Min(samples),
		High:       slices.Max(samples),
		Confidence: 1 - math.Ldexp(1, 1-len(samples)),
	}, true
}

// Pair is the samples of two sides, which are compared because the plan says so. Pairs that were chosen
// for their figures would make the significance mean nothing.
type Pair struct{ A, B []float64 }

// Comparison is what the samples say of a pair.
type Comparison struct {
	// PValue is the probability of samples that differ as much as these, or more, if both sides were the
	// same: of the two-sided Mann-Whitney test, adjusted by Holm's method to the number of pairs.
	PValue float64
	// RatioOfMedians is the median of B as a multiple of that of A; 0 where that of A is 0.
	RatioOfMedians float64
	// Different says that the sides are distinguishable: PValue is at most Significance.
	Different bool
	// Relevant says that the larger median exceeds the smaller by Relevance or more, whether or not that
	// could be chance.
	Relevant bool
	// Warnings say what keeps the comparison from meaning more.
	Warnings []Warning
}

// WarningCode is a kind of warning.
type WarningCode string

const (
	// InvalidSamples says that a side has no samples, or one that is negative or not finite.
	InvalidSamples WarningCode = "InvalidSamples"
	// TooFewSamples says that the samples could not be called Different, however they differed.
	TooFewSamples WarningCode = "TooFewSamples"
)

// Warning is a limit of a comparison.
type Warning struct {
	Code WarningCode
	// Message says it in a sentence, with what to do.
	Message string
}

// Compare compares the samples of two sides, which are planned to be compared with no others.
func Compare(a, b []float64) Comparison { return CompareAll([]Pair{{a, b}})[0] }

// CompareAll compares several planned pairs, so that the probability of calling any of them Different
// where all are the same is still at most Significance. The answers are in the order of the pairs.
func CompareAll(pairs []Pair) []Comparison {
	comparisons := make([]Comparison, len(pairs))
	p := make([]float64, len(pairs))
	for i, pair := range pairs {
		comparisons[i] = describe(pair, len(pairs))
		p[i] = mannWhitney(pair)
	}
	for i, adjusted := range Holm(p) {
		comparisons[i].PValue = adjusted
		comparisons[i].Different = adjusted <= Significance
	}
	return comparisons
}

// describe says all of a pair but its probability.
func describe(p Pair, pairs int) Comparison {
	if !usable(p) {
		return Comparison{Warnings: []Warning{{
			Code:    InvalidSamples,
			Message: "A side has no samples, or one that is negative or not finite: measure it again.",
		}}}
	}
	a, b := median(p.A), median(p.B)
	c := Comparison{Relevant: max(a, b) >= (1+Relevance)*min(a, b) && a != b}
	if ratio := b / a; a > 0 && ratio <= math.MaxFloat64 {
		c.RatioOfMedians = ratio
	}
	if leastP(len(p.A), len(p.B))*float64(pairs) > Significance {
		c.Warnings = append(c.Warnings, Warning{
			Code: TooFewSamples,
			Message: fmt.Sprintf("%d and %d repetitions cannot show a difference at %.0f%% significance in %s: measure at least %d of each.",
				len(p.A), len(p.B), 100*Significance, count(pairs), needed(pairs)),
		})
	}
	return c
}

func count(pairs int) string {
	if pairs == 1 {
		return "one comparison"
	}
	return fmt.Sprintf("%d comparisons", pairs)
}

// leastP is the smallest probability that the test can give: when each sample of one side is above all
// of the other, one of the two extremes of all ways to deal the samples out.
func leastP(a, b int) float64 {
	ways := 1.0
	for i := range a {
		ways *= float64(b+i+1) / float64(i+1)
	}
	return 2 / ways
}

// needed is the number of samples a side at which the test of so many pairs can call one Different.
func needed(pairs int) int {
	n := 1
	for leastP(n, n)*float64(pairs) > Significance {
		n++
	}
	return n
}

// mannWhitney is the two-sided probability: exact for small samples, also with ties, and else normal.
// Samples that are all the same, and those that cannot be compared, have 1.
func mannWhitney(p Pair) float64 {
	if !usable(p) {
		return 1
	}
	r, err := stats.MannWhitneyUTest(p.A, p.B, stats.LocationDiffers)
	if err == nil && r.U > float64(len(p.A)*len(p.B))/2 {
		// With ties and sides of unequal length the tails differ, and the library takes that of the side
		// named first.
		r, err = stats.MannWhitneyUTest(p.B, p.A, stats.LocationDiffers)
	}
	if err != nil {
		return 1
	}
	// Beyond 50 samples, 25 with ties, it is an approximation, which goes astray where a side is short.
	return min(max(r.P, leastP(len(p.A), len(p.B))), 1)
}

// Holm adjusts the probabilities of tests that are made together, in their order (Holm 1979): the
// smallest of m is multiplied by m, the next by m - 1 and so on, none becoming smaller than one before
// it. Whoever accepts those of at most 5% errs in any of them with at most 5%. One that is no
// probability counts as 1.
func Holm(pvalues []float64) []float64 {
	adjusted := make([]float64, len(pvalues))
	order := make([]int, len(pvalues))
	for i, p := range pvalues {
		order[i] = i
		adjusted[i] = 1
		if p >= 0 && p <= 1 {
			adjusted[i] = p
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(adjusted[i], adjusted[j]) })
	least := 0.0
	for rank, i := range order {
		least = min(1, max(least, adjusted[i]*float64(len(order)-rank)))
		adjusted[i] = least
	}
	return adjusted
}

func usable(p Pair) bool {
	return len(p.A) > 0 && len(p.B) > 0 && valid(p.A) && valid(p.B)
}

func valid(samples []float64) bool {
	return !slices.ContainsFunc(samples, func(s float64) bool { return !(s >= 0 && s <= math.MaxFloat64) })
}

// median is that of samples, of which there must be some.
func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	// Huge ones must not overflow, and tiny ones not vanish.
	return sorted[middle-1] + (sorted[middle]-sorted[middle-1])/2
}
