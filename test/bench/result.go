// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Results is all that was measured, the content of the file of -o.
type Results struct {
	Cases []*Result `json:"cases"`
}

// Result is one case. Each carries where and how it was measured, since a file may hold cases of
// several runs.
type Result struct {
	Name    string  `json:"name"`
	Machine Machine `json:"machine"`
	// Date is when it was measured.
	Date            time.Time            `json:"date"`
	WarmupSeconds   float64              `json:"warmupSeconds"`
	DurationSeconds float64              `json:"durationSeconds"`
	Commands        map[Variant][]string `json:"commands"`
	Rounds          []map[Variant]Sample `json:"rounds"`
	Medians         map[Variant]Sample   `json:"medians"`
	Ratios          map[Variant]RatioSet `json:"ratios"`
	Goals           []Verdict            `json:"goals"`
	// Disturbed is the number of runs in which other programs did not keep quiet.
	Disturbed int `json:"disturbed"`
	// Error is why there are no figures.
	Error string `json:"error,omitempty"`
}

// RatioSet is the engine's figures divided by fio's.
type RatioSet map[Metric]Interval

// Verdict is what became of a goal.
type Verdict struct {
	Goal
	Ratio Interval `json:"ratio"`
	Met   bool     `json:"met"`
}

func newResult(c Case, now time.Time) *Result {
	return &Result{Name: c.Name, Date: now.UTC().Truncate(time.Second), Commands: map[Variant][]string{}}
}

// evaluate draws medians, ratios and verdicts from the rounds.
func (r *Result) evaluate(c Case) {
	r.Medians, r.Ratios, r.Goals = map[Variant]Sample{}, map[Variant]RatioSet{}, nil
	for _, v := range append([]Variant{Diskbench}, c.Against...) {
		r.Medians[v] = Sample{
			IOPS:         r.medianOf(v, func(s Sample) float64 { return s.IOPS }),
			BusyCores:    r.medianOf(v, func(s Sample) float64 { return s.BusyCores }),
			PerCPUSecond: r.medianOf(v, func(s Sample) float64 { return s.PerCPUSecond }),
			MeanMicros:   r.medianOf(v, func(s Sample) float64 { return s.MeanMicros }),
		}
		if v == Diskbench {
			continue
		}
		r.Ratios[v] = RatioSet{}
		for _, m := range []Metric{Efficiency, Rate, Quickness} {
			r.Ratios[v][m] = r.ratio(v, m)
		}
	}
	for _, g := range c.Goals {
		ratio := r.Ratios[g.Against][g.Metric]
		r.Goals = append(r.Goals, Verdict{Goal: g, Ratio: ratio, Met: g.met(ratio)})
	}
}

func (r *Result) medianOf(v Variant, f func(Sample) float64) float64 {
	var values []float64
	for _, round := range r.Rounds {
		values = append(values, f(round[v]))
	}
	return median(values)
}

// ratio compares within each round, where both saw the same neighbors and the same disk.
func (r *Result) ratio(against Variant, m Metric) Interval {
	var ratios []float64
	for _, round := range r.Rounds {
		ratios = append(ratios, round[Diskbench].value(m)/round[against].value(m))
	}
	return medianInterval(ratios)
}

func (g Goal) met(ratio Interval) bool {
	if g.LowerBound {
		return ratio.Low >= g.AtLeast
	}
	return ratio.Median >= g.AtLeast
}

// readResults reads a file of an earlier run; one that does not exist is empty.
func readResults(path string) (*Results, error) {
	var r Results
	content, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return &r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("%s is no result of this benchmark: %w", path, err)
	}
	return &r, nil
}

// add puts a case in the place of its earlier result.
func (r *Results) add(c *Result) {
	at := slices.IndexFunc(r.Cases, func(old *Result) bool { return old.Name == c.Name })
	if at < 0 {
		r.Cases = append(r.Cases, c)
		return
	}
	r.Cases[at] = c
}

func (r *Results) write(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

// missed lists the goals that were not met, and the cases without figures.
func (r *Results) missed() []string {
	var missed []string
	for _, c := range r.Cases {
		if c.Error != "" {
			missed = append(missed, c.Name+": "+c.Error)
		}
		for _, v := range c.Goals {
			if !v.Met {
				missed = append(missed, c.Name+": "+v.String())
			}
		}
	}
	return missed
}

func (v Verdict) String() string {
	which := "median"
	if v.LowerBound {
		which = "lower bound"
	}
	return fmt.Sprintf("%s against %s: %s of at least %.2f", v.Metric, v.Against, which, v.AtLeast)
}

// disturbed lists the cases in which other programs did not keep quiet.
func (r *Results) disturbed() []string {
	var lines []string
	for _, c := range r.Cases {
		if runs := len(c.Rounds) * len(c.Medians); c.Disturbed > 0 {
			lines = append(lines, fmt.Sprintf("%s: other programs took processor time in %d of %d runs", c.Name, c.Disturbed, runs))
		}
	}
	return lines
}

// writeTable prints a line for each contestant of each case, in Markdown.
func (r *Results) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	row := func(cells ...string) {
		fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| ")) //nolint:errcheck // Flush says
	}
	row("case", "who", "IOPS", "busy cores", "I/Os per CPU-s", "mean µs", "× I/Os per CPU-s", "× IOPS", "× 1/latency", "goals")
	row("---", "---", "---:", "---:", "---:", "---:", "---", "---", "---", "---")
	for _, c := range r.Cases {
		if c.Error != "" {
			row(c.Name, "", "", "", "", "", "", "", "", "FAILED")
			continue
		}
		for _, v := range []Variant{Diskbench, FioDefault, FioSame, FioBest} {
			m, measured := c.Medians[v]
			if !measured {
				continue
			}
			cells := []string{
				c.Name, string(v), fmt.Sprintf("%.0f", m.IOPS), fmt.Sprintf("%.2f", m.BusyCores),
				fmt.Sprintf("%.0f", m.PerCPUSecond), fmt.Sprintf("%.1f", m.MeanMicros),
			}
			row(append(cells, c.comparison(v)...)...)
		}
	}
	return t.Flush()
}

// comparison is the cells of the ratios against a variant, and of its goals.
func (r *Result) comparison(v Variant) []string {
	cells := []string{"", "", "", ""}
	for i, m := range []Metric{Efficiency, Rate, Quickness} {
		if ratio, ok := r.Ratios[v][m]; ok {
			cells[i] = fmt.Sprintf("%.2f (%.2f-%.2f)", ratio.Median, ratio.Low, ratio.High)
		}
	}
	var goals []string
	for _, g := range r.Goals {
		if g.Against == v {
			goals = append(goals, g.short())
		}
	}
	cells[3] = strings.Join(goals, ", ")
	return cells
}

// short is a goal and whether it is met, for the table.
func (v Verdict) short() string {
	name := map[Metric]string{Efficiency: "CPU", Rate: "IOPS", Quickness: "latency"}[v.Metric]
	outcome := "met"
	if !v.Met {
		outcome = "MISSED"
	}
	return fmt.Sprintf("%s ≥ %.2f %s", name, v.AtLeast, outcome)
}
