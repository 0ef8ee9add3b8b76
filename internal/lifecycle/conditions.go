// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
)

// maxConditionMessage is the schema's limit of a condition's message.
const maxConditionMessage = 32768

// conditions are those of the package comment's table, computed anew from the status and the
// decision. A condition keeps its transition time while its status stays.
func conditions(o Observation, d Decision, s *v1alpha1.DiskBenchmarkStatus) []metav1.Condition {
	b := conditionBuilder{o: o, old: s.Conditions}
	judgment := plan.Judge(o.spec(), s.Measurements)

	ready, succeeded := readyOf(o, d, s, judgment)
	b.add(ready)
	switch d.State {
	case Held: // neither at work nor stuck: somebody wanted it so
	case Working:
		b.add(condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, d.Reason, d.Message))
	case Blocked:
		b.add(condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, d.Reason, d.Message))
	case Ended:
		if !succeeded {
			b.add(condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, ready.Reason, ready.Message))
		}
		b.add(condition(v1alpha1.ConditionFinished, metav1.ConditionTrue, ready.Reason, ready.Message))
	}
	if judgment != nil {
		b.add(targetsMet(judgment))
	}
	return b.conditions
}

// readyOf gives Ready, and whether the run succeeded in every sense that was asked for.
func readyOf(o Observation, d Decision, s *v1alpha1.DiskBenchmarkStatus, j *plan.Judgment) (metav1.Condition, bool) {
	if s.Run == nil || s.Run.Outcome == "" || d.State == Held {
		return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, d.Reason, d.Message), false
	}
	run := s.Run
	if run.Outcome != v1alpha1.ReasonCompleted {
		return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, run.Outcome, run.OutcomeMessage), false
	}
	onMiss := o.spec().Targets != nil && o.spec().Targets.OnMiss != nil && *o.spec().Targets.OnMiss == v1alpha1.OnMissFail
	if onMiss && j != nil && j.Verdict == plan.Missed {
		return condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTargetsMissed, j.Message), false
	}
	return condition(v1alpha1.ConditionReady, metav1.ConditionTrue, run.Outcome, run.OutcomeMessage), true
}

func targetsMet(j *plan.Judgment) metav1.Condition {
	switch j.Verdict {
	case plan.Met:
		return condition(v1alpha1.ConditionTargetsMet, metav1.ConditionTrue, v1alpha1.ReasonTargetsReached, j.Message)
	case plan.Missed:
		return condition(v1alpha1.ConditionTargetsMet, metav1.ConditionFalse, v1alpha1.ReasonTargetsMissed, j.Message)
	default:
		return condition(v1alpha1.ConditionTargetsMet, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSamples, j.Message)
	}
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: cut(message, maxConditionMessage),
	}
}

type conditionBuilder struct {
	o          Observation
	old        []metav1.Condition
	conditions []metav1.Condition
}

func (b *conditionBuilder) add(c metav1.Condition) {
	c.ObservedGeneration = b.o.Benchmark.Generation
	c.LastTransitionTime = metav1.NewTime(b.o.Now)
	if before := meta.FindStatusCondition(b.old, c.Type); before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	b.conditions = slices.DeleteFunc(b.conditions, func(x metav1.Condition) bool { return x.Type == c.Type })
	b.conditions = append(b.conditions, c)
}
