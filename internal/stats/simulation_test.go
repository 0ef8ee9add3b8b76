// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/diskbench/diskbench/internal/stats"
)

// simulations is how often each comparison is made. A share of 5% is then known within 0.3%, one of 80%
// within 0.6% (one standard error).
const simulations = 4000

// beyondChance is three standard errors of a share that is estimated from all simulations.
func beyondChance(share float64) float64 {
	return 3 * math.Sqrt(share*(1-share)/simulations)
}

// repetitions are the measured samples of one setting, drawn with replacement: the population that a
// simulated run takes its repetitions from.
type repetitions []float64

func (p repetitions) draw(r *rand.Rand, n int) []float64 {
	samples := make([]float64, n)
	for i := range samples {
		samples[i] = p[r.IntN(len(p))]
	}
	return samples
}

func (p repetitions) times(factor float64) repetitions {
	out := slices.Clone(p)
	for i := range out {
		out[i] *= factor
	}
	return out
}

func (p repetitions) median() float64 {
	sorted := slices.Sorted(slices.Values(p))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func measured(t *testing.T) map[string]repetitions {
	t.Helper()
	data, err := os.ReadFile("testdata/repetitions.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sets map[string]struct{ IOPS repetitions }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	sets := map[string]repetitions{}
	for name, set := range file.Sets {
		if len(set.IOPS) < 50 {
			t.Fatalf("only %d repetitions %s: too few to draw from", len(set.IOPS), name)
		}
		sets[name] = set.IOPS
	}
	if len(sets) != 3 {
		t.Fatalf("there are %d sets of repetitions, want 3", len(sets))
	}
	return sets
}

// share is how often a simulated pair is Different, and how often it is both Different and Relevant.
func share(a, b repetitions, n int) (different, relevant float64) {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for range simulations {
		c := stats.Compare(a.draw(r, n), b.draw(r, n))
		if c.Different {
			different++
			if c.Relevant {
				relevant++
			}
		}
	}
	return different / simulations, relevant / simulations
}

// Two runs of the same thing are called different at most 5% of the time.
func TestTheSameIsSeldomDifferent(t *testing.T) {
	for name, p := range measured(t) {
		for _, n := range []int{3, 4, 5, 6, 8, 10} {
			t.Run(fmt.Sprintf("%s, %d repetitions", name, n), func(t *testing.T) {
				different, _ := share(p, p, n)
				t.Logf("different: %.4f", different)
				if different > stats.Significance+beyondChance(stats.Significance) {
					t.Errorf("%.4f of the comparisons of the same thing are different", different)
				}
			})
		}
	}
}

// Of several pairs of the same things, any is called different at most 5% of the time.
func TestSeveralPairsOfTheSameAreSeldomDifferent(t *testing.T) {
	for name, p := range measured(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 5))
			wrong := 0.0
			for range simulations {
				pairs := make([]stats.Pair, 5)
				for i := range pairs {
					pairs[i] = stats.Pair{A: p.draw(r, 6), B: p.draw(r, 6)}
				}
				if slices.ContainsFunc(stats.CompareAll(pairs), func(c stats.Comparison) bool { return c.Different }) {
					wrong++
				}
			}
			wrong /= simulations
			t.Logf("any different: %.4f", wrong)
			if wrong > stats.Significance+beyondChance(stats.Significance) {
				t.Errorf("one or more of five comparisons are different in %.4f of the cases", wrong)
			}
		})
	}
}

// A true change of 5% is found at least 80% of the time with six repetitions.
func TestAChangeIsFound(t *testing.T) {
	sets := measured(t)
	noise := func(deviation float64) repetitions {
		r := rand.New(rand.NewPCG(3, 3))
		p := make(repetitions, 10000)
		for i := range p {
			p[i] = 1 + deviation*r.NormFloat64()
		}
		return p
	}
	high, low := sets["capped at 3,500"], sets["capped at 3,325"]
	tests := []struct {
		why  string
		a, b repetitions
	}{
		{"two caps 5% apart, both measured", high, low},
		{"a cap and its repetitions 5% higher", high, high.times(1.05)},
		{"a cap and its repetitions 5% lower", high, high.times(0.95)},
		{"a cap under disturbance, and its repetitions 5% higher", low, low.times(1.05)},
		{"Gaussian noise of 1%", noise(0.01), noise(0.01).times(1.05)},
		{"Gaussian noise of 2%", noise(0.02), noise(0.02).times(1.05)},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			different, relevant := share(tt.a, tt.b, 6)
			t.Logf("different: %.4f, and relevant: %.4f", different, relevant)
			if different < 0.8 {
				t.Errorf("found in %.4f of the comparisons", different)
			}
		})
	}
}

// The intervals cover the median as they say: exactly so where no two repetitions are the same, and
// more often with ties.
func TestIntervalsCoverAsStated(t *testing.T) {
	for name, p := range measured(t) {
		for _, n := range []int{2, 4, 5, 6, 10} {
			t.Run(fmt.Sprintf("%s, %d repetitions", name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 2))
				truth, covered, stated := p.median(), 0.0, 0.0
				for range simulations {
					i, ok := stats.MedianInterval(p.draw(r, n))
					if !ok {
						t.Fatal("no interval")
					}
					stated = i.Confidence
					if i.Low <= truth && truth <= i.High {
						covered++
					}
				}
				covered /= simulations
				t.Logf("covered: %.4f, stated: %.4f", covered, stated)
				if covered < stated-beyondChance(stated) {
					t.Errorf("the median is covered in %.4f of the cases, stated are %.4f", covered, stated)
				}
				if name == "uncapped" && covered > stated+beyondChance(stated) {
					t.Errorf("the median is covered in %.4f of the cases, more than the %.4f that are stated", covered, stated)
				}
			})
		}
	}
}
