// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what to do next about a DiskBenchmark. It is pure: an Observation goes
// in, exactly one Decision comes out, and Status computes the status that belongs to both.
//
// # The course of a run
//
//	Pending ─▶ Provisioning ⇄ Scheduling ─▶ Preparing ─▶ Running ─▶ CleaningUp ─▶ Done
//
// A run gets its number in Pending, before anything is created. Claims and Job are created together:
// with a WaitForFirstConsumer class the scheduler picks the node first (Scheduling), then the volumes
// are made (Provisioning), attached and mounted (Scheduling again); Provisioning, once reached, lasts
// until every claim is bound. The outcome and the figures are stored with the step to CleaningUp, and
// only a stored CleaningUp deletes anything. status.run is always the run whose children may exist:
// an edit ends it as Superseded and cleans up before the next number is given.
//
// # The conditions
//
//	             Ready             Reconciling  Stalled  Finished
//	working      False, the phase  True
//	blocked      False, why                     True
//	suspended    False, Suspended
//	cleaning up  the outcome       True
//	succeeded    True, Completed                         True
//	failed       False, why                     True     True
//
// Ready turns True as soon as the figures are stored. Finished turns True when the benchmark leaves
// nothing more to wait for: its Job and volumes are gone, are kept on purpose, or outlasted
// timeouts.cleanupSeconds and are named in warnings. Stalled of a failed run waits for that too, so
// Stalled and Reconciling never meet. Blocked runs go on by themselves, and are the only ones that
// are Stalled and not Finished.
package lifecycle

import (
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Action is what is done at the API before the status is stored.
type Action string

// The actions.
const (
	// ActionNone: only the status is stored.
	ActionNone Action = "None"
	// ActionStart stores a new run number.
	ActionStart Action = "Start"
	// ActionCreate creates the run's claims and Job where they are missing.
	ActionCreate Action = "Create"
	// ActionDeleteJob deletes the run's Job, and its pod before it.
	ActionDeleteJob Action = "DeleteJob"
	// ActionDeleteClaims deletes the run's own claims.
	ActionDeleteClaims Action = "DeleteClaims"
	// ActionIgnore does nothing at all: the DiskBenchmark is going away.
	ActionIgnore Action = "Ignore"
)

// State is what the conditions tell of a decision.
type State string

// The states.
const (
	// Working: the operator, or something it set off, is at work.
	Working State = "Working"
	// Blocked: something outside has to be put right; then the run goes on by itself.
	Blocked State = "Blocked"
	// Held: somebody suspended the run.
	Held State = "Held"
	// Ended: nothing is left to do.
	Ended State = "Ended"
)

// Decision is what to do next, and how the status tells it.
type Decision struct {
	Action Action
	State  State
	// Phase of the run after the action.
	Phase v1alpha1.Phase
	// Reason and Message are Ready's while there is no outcome, and Reconciling's afterwards.
	Reason, Message string
	// Outcome ends the run; nil while it goes on, and when it is stored already.
	Outcome *Outcome
	// Warnings are added to status.
	Warnings []string
	// Deadline is when to decide again if nothing happens; zero: no time matters.
	Deadline time.Time
}

// Outcome is how a run ended.
type Outcome struct {
	Reason, Message string
	// Report and Plan are there when the run succeeded.
	Report *report.Report
	Plan   workload.Plan
}

// Decide gives the one next step.
func Decide(o Observation) Decision {
	run := o.run()
	switch {
	case o.Benchmark.DeletionTimestamp != nil:
		return Decision{Action: ActionIgnore}
	case run == nil:
		return startOrHold(o)
	case run.Outcome != v1alpha1.ReasonSuperseded && o.edited():
		return supersede()
	case run.Phase == v1alpha1.PhaseDone:
		return decideDone(o)
	case run.Outcome != "":
		return decideCleanup(o)
	case o.suspended():
		return decideSuspended(o)
	case run.Phase == v1alpha1.PhasePending:
		return decidePending(o)
	default:
		return decideActive(o)
	}
}

// startOrHold gives the next run its number, unless the spec is suspended.
func startOrHold(o Observation) Decision {
	if o.suspended() {
		return Decision{
			Action: ActionNone, State: Held, Phase: v1alpha1.PhaseDone, Reason: v1alpha1.ReasonSuspended,
			Message: "spec.suspend is true: a run starts when it is false",
		}
	}
	return Decision{
		Action: ActionStart, State: Working, Phase: v1alpha1.PhasePending,
		Reason: v1alpha1.ReasonPending, Message: "the run is about to start",
	}
}

func supersede() Decision {
	return conclude(v1alpha1.ReasonSuperseded,
		"spec was edited: the old run's Job and volumes go away before the next run starts")
}

// decideSuspended holds a run that has created nothing, and stops any other.
func decideSuspended(o Observation) Decision {
	if o.run().Phase == v1alpha1.PhasePending && len(o.Claims) == 0 && o.Job == nil {
		return Decision{
			Action: ActionNone, State: Held, Phase: v1alpha1.PhasePending, Reason: v1alpha1.ReasonSuspended,
			Message: "spec.suspend is true: the run goes on when it is false",
		}
	}
	return conclude(v1alpha1.ReasonSuspended,
		"spec.suspend became true during the run: it was stopped, and a new one starts when suspend is false")
}

// decideDone leaves a finished run alone, except that suspended and superseded ones are followed by
// another, and that a new cleanup policy may let the kept children go.
func decideDone(o Observation) Decision {
	run := o.run()
	if run.Outcome == v1alpha1.ReasonSuspended || run.Outcome == v1alpha1.ReasonSuperseded {
		return startOrHold(o)
	}
	unseen := o.Benchmark.Generation != o.Benchmark.Status.ObservedGeneration
	if unseen && !keepsChildren(o) && (o.Job != nil || len(o.Claims) > 0) {
		return cleaning(o, ActionNone, "spec.cleanup was edited: the kept Job and volumes are being deleted")
	}
	return Decision{Action: ActionNone, State: Ended, Phase: v1alpha1.PhaseDone, Reason: run.Outcome}
}

// conclude ends the run; the cleanup follows once that is stored.
func conclude(reason, message string) Decision {
	return Decision{
		Action: ActionNone, State: Working, Phase: v1alpha1.PhaseCleaningUp,
		Reason: v1alpha1.ReasonCleaningUp, Message: "the outcome is known; the Job and the volumes go away next",
		Outcome: &Outcome{Reason: reason, Message: message},
	}
}

func concludeWith(outcome Outcome) Decision {
	d := conclude("", "")
	d.Outcome = &outcome
	return d
}
