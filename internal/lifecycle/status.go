// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/evaluate"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

const (
	// maxWarnings and maxHistory are the limits of the schema.
	maxWarnings = 32
	maxHistory  = 10
	// maxWarningText keeps the sum of them far below the size of an object.
	maxWarningText = 1024
)

// Status computes the whole status that belongs to an observation and its decision, from the stored
// one. It is the only place that does.
func Status(o Observation, d Decision) v1alpha1.DiskBenchmarkStatus {
	s := o.Benchmark.Status.DeepCopy()
	s.ObservedGeneration = o.Benchmark.Generation
	if d.Outcome != nil {
		recordOutcome(o, d.Outcome, s)
	}
	addWarnings(s, d.Warnings)
	if d.Action == ActionStart {
		startRun(o, s)
	} else if s.Run != nil {
		advance(o, d, s.Run)
		recordFacts(o, s.Run)
		addWarnings(s, o.Notes)
	}
	evaluateFigures(o, s)
	s.Conditions = conditions(o, d, s)
	return *s
}

// startRun gives the next run its number. Figures of an earlier run move to history.
func startRun(o Observation, s *v1alpha1.DiskBenchmarkStatus) {
	number := int64(1)
	if s.Run != nil {
		number = s.Run.Number + 1
		retire(s)
	}
	s.Run = &v1alpha1.Run{
		Number:    number,
		Name:      resources.Name(o.Benchmark.Name, o.Benchmark.UID, number),
		SpecHash:  o.Hash,
		Phase:     v1alpha1.PhasePending,
		PhaseTime: metav1.NewTime(o.Now),
	}
	recordRequest(o, s.Run)
}

// retire moves the run's figures to history, where they are not yet, and keeps the warnings about
// what it left behind. A run that was superseded before anything was created leaves no trace.
func retire(s *v1alpha1.DiskBenchmarkStatus) {
	run := s.Run
	if run.Outcome != v1alpha1.ReasonSuperseded {
		remember(s, run.Outcome)
	}
	s.Measurements, s.Summary, s.Assessment, s.Cost = nil, nil, nil, nil
	s.Warnings = slices.DeleteFunc(s.Warnings, func(w string) bool { return !strings.HasPrefix(w, leftPrefix) })
}

func remember(s *v1alpha1.DiskBenchmarkStatus, reason string) {
	entry := v1alpha1.HistoricRun{
		Number: s.Run.Number, Reason: reason, FinishTime: s.Run.FinishTime, Summary: s.Summary,
	}
	s.History = append([]v1alpha1.HistoricRun{entry}, s.History...)
	s.History = s.History[:min(len(s.History), maxHistory)]
}

// recordOutcome stores how the run ended, with its figures. An edit ends a finished run once more:
// its figures move to history with the reason it had.
func recordOutcome(o Observation, outcome *Outcome, s *v1alpha1.DiskBenchmarkStatus) {
	now := metav1.NewTime(o.Now)
	run := s.Run
	if outcome.Reason == v1alpha1.ReasonSuperseded {
		if run.FinishTime == nil {
			run.FinishTime = &now
		}
		if reason := run.Outcome; reason != "" || run.StartTime != nil {
			if reason == "" {
				reason = v1alpha1.ReasonSuperseded
			}
			remember(s, reason)
		}
		run.Outcome = v1alpha1.ReasonSuperseded // remembered above: retire leaves it out
		retire(s)
	}
	run.Outcome, run.OutcomeMessage = outcome.Reason, outcome.Message
	run.FinishTime = &now
	if outcome.Report == nil {
		return
	}
	s.Measurements = plan.Measurements(outcome.Plan, outcome.Report)
	s.Summary = plan.Summarize(s.Measurements)
	run.OutcomeMessage = completedMessage(s.Measurements)
	recordReport(run, outcome.Report)
	addWarnings(s, plan.Warnings(o.spec(), outcome.Plan, outcome.Report))
}

// evaluateFigures computes what follows from the figures, and anew whenever a price, the catalog or a field
// of spec.cost has changed since.
func evaluateFigures(o Observation, s *v1alpha1.DiskBenchmarkStatus) {
	if o.Prices == nil || len(s.Measurements) == 0 {
		return
	}
	s.Assessment, s.Cost = evaluate.Evaluate(o.spec(), s, *o.Prices, o.Now)
	s.Summary.LimitedBy, s.Summary.Cost = evaluate.LimitWords(s.Assessment), evaluate.CostWords(s.Cost)
}

func completedMessage(ms []v1alpha1.Measurement) string {
	var parts []string
	for i := range ms {
		sum := plan.Summarize(ms[i : i+1])
		parts = append(parts, fmt.Sprintf("%s: %s IOPS, %s MB/s, p99 %s", ms[i].Name, sum.IOPS, sum.Throughput, sum.P99))
	}
	return strings.Join(parts, "; ")
}

// advance moves the run to the decision's phase. The clock of a phase begins with it, and again
// when the run comes back from being suspended or blocked.
func advance(o Observation, d Decision, run *v1alpha1.Run) {
	now := metav1.NewTime(o.Now)
	resumed := run.Outcome == "" && d.State == Working && o.clockStood()
	if run.Phase != d.Phase || resumed {
		run.Phase, run.PhaseTime = d.Phase, now
	}
	if d.Action == ActionCreate && run.StartTime == nil {
		run.StartTime = &now
	}
}

func addWarnings(s *v1alpha1.DiskBenchmarkStatus, warnings []string) {
	for _, w := range warnings {
		w = cut(w, maxWarningText)
		if !slices.Contains(s.Warnings, w) && len(s.Warnings) < maxWarnings {
			s.Warnings = append(s.Warnings, w)
		}
	}
}
