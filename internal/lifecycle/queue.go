// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// Slot is a run's place among the others. Two runs at a time may share a node, a VM's limits or a
// storage backend, and then measure each other.
type Slot struct {
	// Admitted says that the run may start now.
	Admitted bool
	// Limit is how many runs may go on at a time.
	Limit int
	// Ahead is how many queued runs come first.
	Ahead int
}

// Place gives a run its slot: it may start when fewer runs than the limit go on, counting those
// queued before it. Namespaces with fewer runs going on come first, then who waited longer.
// holding are runs that were admitted just now and do not show it in their status yet.
func Place(limit int, self *v1alpha1.DiskBenchmark, all []v1alpha1.DiskBenchmark, holding func(types.UID) bool) Slot {
	taken, byNamespace := 0, map[string]int{}
	var queue []*v1alpha1.DiskBenchmark
	for i := range all {
		b := &all[i]
		switch {
		case b.UID == self.UID:
		case HoldsSlot(b) || holding(b.UID):
			taken++
			byNamespace[b.Namespace]++
		case Queued(b):
			queue = append(queue, b)
		}
	}
	ahead := 0
	for _, b := range queue {
		if before(b, self, byNamespace) {
			ahead++
		}
	}
	return Slot{Admitted: taken+ahead < limit, Limit: limit, Ahead: ahead}
}

func before(a, b *v1alpha1.DiskBenchmark, byNamespace map[string]int) bool {
	return cmp.Or(
		cmp.Compare(byNamespace[a.Namespace], byNamespace[b.Namespace]),
		a.Status.Run.PhaseTime.Compare(b.Status.Run.PhaseTime.Time),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
	) < 0
}

// HoldsSlot says that a run is going on: its children exist or are going away. A suspended one is
// not: somebody else decides when it goes on.
func HoldsSlot(b *v1alpha1.DiskBenchmark) bool {
	active := []v1alpha1.Phase{
		v1alpha1.PhaseProvisioning, v1alpha1.PhaseScheduling, v1alpha1.PhasePreparing,
		v1alpha1.PhaseRunning, v1alpha1.PhaseCleaningUp,
	}
	run := b.Status.Run
	return run != nil && b.DeletionTimestamp == nil && slices.Contains(active, run.Phase) &&
		!(run.Outcome == "" && readyReason(b) == v1alpha1.ReasonSuspended)
}

// Queued says that a run would start if it had a slot.
func Queued(b *v1alpha1.DiskBenchmark) bool {
	run := b.Status.Run
	return run != nil && b.DeletionTimestamp == nil && run.Phase == v1alpha1.PhasePending &&
		!meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionStalled) &&
		readyReason(b) != v1alpha1.ReasonSuspended
}

func readyReason(b *v1alpha1.DiskBenchmark) string {
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}

// queuedMessage is written once: a live position would change the status of everybody in the queue
// whenever one leaves it.
func queuedMessage(o Observation) string {
	ready := meta.FindStatusCondition(o.Benchmark.Status.Conditions, v1alpha1.ConditionReady)
	if ready != nil && ready.Reason == v1alpha1.ReasonQueued {
		return ready.Message
	}
	return fmt.Sprintf("limit %d (--max-concurrent-runs), %d ahead when queued", o.Slot.Limit, o.Slot.Ahead)
}
