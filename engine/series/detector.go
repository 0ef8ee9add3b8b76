// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package series

// memory is how many values a Detector looks at: an hour at one a second, which is longer than the 45
// minutes that a drain takes at most.
const memory = 3600

// Detector finds a step down while the series is being measured, such as burst credits that run out.
// The zero value is ready; it takes all of its memory, about 86 KB, with the first value.
type Detector struct {
	fitter fitter
	// values are the latest ones; dropped is how many came before them.
	values  []float64
	dropped int
	step    Step
	found   bool
}

// Add takes the next value, and says whether a step down is established: by the rules of FindStep,
// which is not before MinimumSide values of the lower level. The index counts from the first value
// ever added, the levels are those known when it was established; both stay from then on. A step up
// starts the series anew, so that a slow start does not hide what follows.
//
// It allocates nothing after the first value, and takes time linear in the number of values, a few microseconds for each
// thousand: it is meant to be called once a second.
func (d *Detector) Add(value float64) (Step, bool) {
	if d.found {
		return d.step, true
	}
	switch len(d.values) {
	case 0:
		d.reserve()
	case memory:
		d.drop(1)
	}
	d.values = append(d.values, value)
	step, ok := d.fitter.find(d.values)
	if !ok {
		return Step{}, false
	}
	if step.After > step.Before {
		d.drop(step.Index)
		return Step{}, false
	}
	step.Index += d.dropped
	d.step, d.found = step, true
	return step, true
}

func (d *Detector) reserve() {
	d.values = make([]float64, 0, memory)
	d.fitter = fitter{sums: make([]float64, 0, memory+1), window: make([]float64, 0, memory)}
}

// drop forgets the oldest values, in place.
func (d *Detector) drop(count int) {
	d.values = d.values[:copy(d.values, d.values[count:])]
	d.dropped += count
}
