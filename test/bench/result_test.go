// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rounds are n rounds in which the engine has the given multiple of fio's figures, while the
// machine's speed varies from round to round.
func rounds(n int, multiple func(round int) float64) []map[Variant]Sample {
	var all []map[Variant]Sample
	for i := range n {
		speed := float64(1 + i%3)
		m := multiple(i)
		all = append(all, map[Variant]Sample{
			FioDefault: {IOPS: 1000 * speed, BusyCores: 1, PerCPUSecond: 1000 * speed, MeanMicros: 32 / speed},
			Diskbench:  {IOPS: 1000 * speed * m, BusyCores: 1, PerCPUSecond: 1000 * speed * m, MeanMicros: 32 / speed / m},
		})
	}
	return all
}

func constant(m float64) func(int) float64 { return func(int) float64 { return m } }

func TestEvaluate(t *testing.T) {
	median := Goal{Against: FioDefault, Metric: Efficiency, AtLeast: 1.5}
	lower := Goal{Against: FioDefault, Metric: Quickness, AtLeast: 0.97, LowerBound: true}
	for _, tt := range []struct {
		why  string
		goal Goal
		m    func(int) float64
		want bool
	}{
		{"the ratio is that of each round, whatever the machine's speed", median, constant(1.5), true},
		{"short of the goal", median, constant(1.49), false},
		{"a lower latency is more, and so better", lower, constant(0.98), true},
		{"a higher latency", lower, constant(0.96), false},
		{"a median above the goal does not prove equality", lower, func(i int) float64 { return []float64{0.9, 1.1, 1.2}[i%3] }, false},
	} {
		r := newResult(Case{}, time.Now())
		r.Rounds = rounds(12, tt.m)
		r.evaluate(Case{Against: []Variant{FioDefault}, Goals: []Goal{tt.goal}})
		if r.Goals[0].Met != tt.want {
			t.Errorf("%s: met is %t of %+v", tt.why, r.Goals[0].Met, r.Goals[0].Ratio)
		}
	}
}

func TestResultsAreKeptFromPieceToPiece(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	first, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	goals := Case{Name: "a", Against: []Variant{FioDefault}, Goals: []Goal{{Against: FioDefault, Metric: Rate, AtLeast: 2}}}
	a := newResult(goals, time.Now())
	a.Rounds = rounds(6, constant(1))
	a.evaluate(goals)
	a.Disturbed = 3
	first.add(a)
	first.add(&Result{Name: "b", Error: "no zram"})
	if err := first.write(path); err != nil {
		t.Fatal(err)
	}
	second, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
	}
	want := []string{"a: IOPS against fio: median of at least 2.00", "b: no zram"}
	if diff := cmp.Diff(want, second.missed()); diff != "" {
		t.Errorf("missed (-want +got):\n%s", diff)
	}
	want = []string{"a: other programs took processor time in 3 of 12 runs"}
	if diff := cmp.Diff(want, second.disturbed()); diff != "" {
		t.Errorf("disturbed (-want +got):\n%s", diff)
	}
	second.add(&Result{Name: "b"})
	if len(second.Cases) != 2 || len(second.missed()) != 1 {
		t.Errorf("a case measured again is in the results twice: %+v", second.missed())
	}
	var table bytes.Buffer
	if err := second.writeTable(&table); err != nil || !strings.Contains(table.String(), "IOPS ≥ 2.00 MISSED") {
		t.Errorf("%v, the table is\n%s", err, table.String())
	}
}

// A case that no run can name would never be measured.
func TestMatrix(t *testing.T) {
	names := map[string]bool{}
	for _, c := range matrix() {
		if names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		for _, g := range c.Goals {
			if len(c.Against) == 0 || g.AtLeast <= 0 {
				t.Errorf("%s has a goal that cannot be missed: %+v", c.Name, g)
			}
		}
	}
	if got := selectCases(matrix(), regexp.MustCompile("^depth-one/file/sync/randread$")); len(got) != 1 {
		t.Errorf("a name selects %d cases", len(got))
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct{ why, flag, message string }{
		{"too few for an interval", "--rounds=5", "takes at least 6"},
		{"a warm-up in which fio does not start", "--warmup=400ms", "at least 500ms"},
		{"a run shorter than a tick says nothing", "--duration=1ms", "100ms"},
		{"an unclosed group", "--run=(", "--run"},
		{"a size of nothing", "--file-size=1X", "--file-size"},
		{"an argument is a flag without dashes", "check", "is no flag"},
	} {
		if _, err := parseOptions([]string{tt.flag}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
