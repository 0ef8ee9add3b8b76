// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package series

import "math"

const (
	// MinimumSide is how many values each level of a step has at least. At one value a second it is the
	// 20 seconds of the verdict's rule.
	MinimumSide = 20

	// MinimumStep is the least difference of the levels, as a fraction of the larger: the verdict's rule.
	MinimumStep = 0.10

	// significance is how often the variance of the values around their levels goes into what the step
	// explains. What a step explains of pure noise is 1 at a given place; the largest over all places
	// of a day is about 15. Telling a step from a drift of the same size is what needs 100. Judgment,
	// from simulation.
	significance = 100

	// longRunSignificance is the same for the variance that goes into the means of many values where the
	// noise has a memory, as that of a drift or a wave has. Judgment, from simulation.
	longRunSignificance = 50

	// mostMemory bounds the autocorrelation that is taken for one.
	mostMemory = 0.99

	// leastJump is the least jump at the step, as a fraction of the difference of the levels. A drift has
	// next to none. Judgment: half way.
	leastJump = 0.5

	// The jump is that of the medians of the values next to the step: of enough of them to know it
	// within a fifth, and of five at least, which two stalled seconds cannot move.
	jumpPrecision = 64
	leastJumpSide = 5

	// A side is level when splitting it in two explains at most a sixteenth of what the step does.
	// Splitting one side of a straight drift explains an eighth. Judgment: half of that.
	levelShare = 16
)

// Step is a change of level.
type Step struct {
	// Index is that of the first value of the second level.
	Index int
	// Before and After are the levels: the means of the values on each side, without the value next to
	// the step, since the interval in which the change came has both levels in it.
	Before, After float64
}

// FindStep finds the change of level of a series that changed its level once, up or down, and false
// for any other: without a change, with several, with a drift, with a wave. The step is at least
// MinimumStep and each level at least MinimumSide values long. A change takes less than ten
// intervals. A single period of a wave that fills the whole series counts as the step it looks like. It
// takes time linear in the number of values.
//
// Splitting n values after the first k, and giving each side its mean, explains
//
//	gain(k) = k (n-k) / n x (mean of the first - mean of the rest)^2
//
// of the sum of squares around the common mean; what is left is the sum of squares around the two
// means. The split that explains most is therefore the least-squares fit of two levels, and with
// running sums each k costs a constant. It is a step if it explains much more than chance does, and
// more than a straight line does, with a jump where the line is split and sides that are level.
//
// A step of size d between sides of a and b values in noise of standard deviation s is found from
// a b / (a+b) x (d/s)^2 = 100: a step of 10% in noise of 2% from 20 values a side, in noise of 5% from
// 50, in noise of 10% from 200.
func FindStep(values []float64) (Step, bool) {
	var f fitter
	return f.find(values)
}

// fitter fits levels to a series. It keeps its memory from one series to the next.
type fitter struct {
	// sums[i] is the sum of the first i values, in units and less their mean.
	sums []float64
	// line is how much of their squares a straight line explains.
	line float64
	// window is room for a median.
	window []float64
}

func (f *fitter) find(values []float64) (Step, bool) {
	n := len(values)
	unit, ok := unitOf(values)
	if !ok || n < 2*MinimumSide {
		return Step{}, false
	}
	f.load(values, unit)
	k, gain := f.split(0, n, 1)
	if k < MinimumSide || n-k < MinimumSide {
		return Step{}, false
	}
	step := Step{Index: k, Before: mean(values[:k], unit), After: mean(values[k:], unit)}
	size := math.Abs(step.After - step.Before)
	if size < MinimumStep*max(step.Before, step.After) {
		return Step{}, false
	}
	noise, longRun := noise(values, unit, step)
	found := gain >= significance*noise && gain >= longRunSignificance*longRun &&
		gain > f.line &&
		f.sharp(values, unit, step, noise/(size*size)) &&
		f.level(0, k, gain) && f.level(k, n, gain)
	if !found {
		return Step{}, false
	}
	step.Before = mean(values[:k-1], unit) * unit
	step.After = mean(values[k+1:], unit) * unit
	return step, true
}

// load takes the values in units, less their mean, so that little is lost to rounding.
func (f *fitter) load(values []float64, unit float64) {
	n := float64(len(values))
	average := mean(values, unit)
	f.sums = append(f.sums[:0], 0)
	sum, moment := 0.0, 0.0
	for i, v := range values {
		y := v/unit - average
		sum += y
		moment += y * (float64(i) - (n-1)/2)
		f.sums = append(f.sums, sum)
	}
	f.line = moment * moment / (n * (n*n - 1) / 12)
}

// split gives the index that splits the values from begin up to end best, with at least so many values
// on each side, and what it explains.
func (f *fitter) split(begin, end, side int) (index int, gain float64) {
	total := f.sums[end] - f.sums[begin]
	n := float64(end - begin)
	for k := begin + side; k <= end-side; k++ {
		// With S the sum of a values of n, and T that of all, the difference of the means is
		// (S n - T a) / (a b); its square times a b / n is what the split explains.
		a := float64(k - begin)
		d := (f.sums[k]-f.sums[begin])*n - total*a
		if g := d * d / (a * (n - a) * n); g > gain {
			index, gain = k, g
		}
	}
	return index, gain
}

// noise gives the variance of the values around the levels of a step, and the long-run variance: as far
// as it goes into means of many values, (1 + r) / (1 - r) times as much with a first-order
// autocorrelation r. Both, and the step, are in units.
func noise(values []float64, unit float64, s Step) (variance, longRun float64) {
	squares, products, last := 0.0, 0.0, 0.0
	for i, v := range values {
		level := s.Before
		if i >= s.Index {
			level = s.After
		}
		e := v/unit - level
		squares += e * e
		products += e * last
		last = e
	}
	if squares == 0 {
		return 0, 0
	}
	r := min(max(products/squares, 0), mostMemory)
	variance = squares / float64(len(values)-2)
	return variance, variance * (1 + r) / (1 - r)
}

// sharp says whether the series jumps at the step. The noise is the variance as a fraction of the
// squared size of the step.
func (f *fitter) sharp(values []float64, unit float64, s Step, noise float64) bool {
	side := float64(min(s.Index, len(values)-s.Index))
	w := int(min(max(math.Ceil(jumpPrecision*noise), leastJumpSide), side))
	f.window = append(f.window[:0], values[s.Index-w:s.Index]...)
	before := median(f.window)
	f.window = append(f.window[:0], values[s.Index:s.Index+w]...)
	return (median(f.window)/unit-before/unit)/(s.After-s.Before) >= leastJump
}

// level says whether the values from begin up to end have one level, seen from a step that explains so
// much. A stall or a spike shorter than a level is none.
func (f *fitter) level(begin, end int, gain float64) bool {
	_, rest := f.split(begin, end, MinimumSide)
	return rest <= gain/levelShare
}
