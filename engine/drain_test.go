// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"testing"
	"time"
)

// drained runs the rules over a load whose rate in each second is given, and says how long it went on.
func drained(rules drainRules, windowSeconds int, rate func(second int) int64) (*drain, int) {
	d := newDrain(rules, window{end: int64(windowSeconds) * int64(time.Second)}, tick{})
	t := tick{elapsed: 5 * time.Second, operations: 12345} // the warm-up
	d.begin(t)
	for second := range 4000 {
		t.elapsed += time.Second
		t.operations += rate(second)
		t.bytes = t.operations * blockSize
		if d.done(t) {
			return d, second + 1
		}
	}
	return d, -1
}

var quickDrain = drainRules{after: 120 * time.Second, longest: 45 * time.Minute}

func TestDrainEndsTwoMinutesAfterTheFall(t *testing.T) {
	tests := []struct {
		why     string
		window  int
		rate    func(int) int64
		at, ran int
	}{
		{"a burst of thirty minutes", 60, func(s int) int64 {
			if s < 1800 {
				return 3500
			}
			return 500
		}, 1800, 1920},
		{"a fall inside the window", 300, func(s int) int64 {
			if s < 40 {
				return 3500
			}
			return 500
		}, 40, 300},
		{"a fall shortly before the window's end", 100, func(s int) int64 {
			if s < 90 {
				return 3500
			}
			return 500
		}, 90, 210},
	}
	for _, tt := range tests {
		d, ran := drained(quickDrain, tt.window, tt.rate)
		r := d.result()
		if r.Step == nil || math.Abs(r.Step.AtSeconds-float64(tt.at)) > 1 || math.Abs(r.Step.BeforeIOPS-3500) > 35 ||
			math.Abs(r.Step.AfterIOPS-500) > 5 {
			t.Errorf("%s: step %+v, want 3,500 to 500 at %d", tt.why, r.Step, tt.at)
		}
		if math.Abs(float64(ran-tt.ran)) > 1 {
			t.Errorf("%s: ended after %d s, want %d", tt.why, ran, tt.ran)
		}
		if r.IOPS != 500 || r.BytesPerSecond != 500*blockSize || int(r.Seconds) != ran-tt.window {
			t.Errorf("%s: drained %+v after %d s", tt.why, r, ran)
		}
	}
}

// A disk without credits is told as one: no fall, and its level.
func TestDrainGivesUp(t *testing.T) {
	d, ran := drained(quickDrain, 60, func(int) int64 { return 5000 })
	if r := d.result(); ran != 2700 || r.Step != nil || r.IOPS != 5000 || r.Seconds != 2640 {
		t.Errorf("after %d s: %+v", ran, r)
	}
}

// The window begins between two ticks: in what is left until the first of them, a throttle that works in
// slices may have let through nothing.
func TestDrainIgnoresAFractionOfASecond(t *testing.T) {
	d := newDrain(quickDrain, window{end: int64(10 * time.Second)}, tick{})
	at := tick{}
	d.begin(at)
	at.elapsed = 50 * time.Millisecond
	d.done(at)
	for second := range 200 {
		at.elapsed += time.Second
		rate := int64(3500)
		if second >= 30 {
			rate = 500
		}
		at.operations += rate
		if d.done(at) {
			break
		}
	}
	if r := d.result(); r.Step == nil || math.Abs(r.Step.BeforeIOPS-3500) > 10 || r.IOPS != 500 {
		t.Errorf("%+v, step %+v", r, r.Step)
	}
}
