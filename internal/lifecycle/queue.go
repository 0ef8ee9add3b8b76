// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	// ClaimHolder is the DiskBenchmark that measures the same existing claim; empty for none.
	ClaimHolder string
	// Placing says that the limit would allow it, but that a run before it has no node yet: until then
	// that node cannot be avoided.
	Placing bool
	// BusyNodes are the nodes that other runs measure on, sorted.
	BusyNodes []string
}

// Others are what a run shares the cluster with.
type Others struct {
	// Now is the time of the decision.
	Now time.Time
	// Limit is how many runs may go on at a time.
	Limit int
	// Benchmarks are all there are, the run's own among them or not.
	Benchmarks []v1alpha1.DiskBenchmark
	// Pods are those of any run. One whose DiskBenchmark was deleted goes on for a while.
	Pods []corev1.Pod
	// Holding says whether a run was admitted just now and does not show it in its status yet.
	Holding func(types.UID) bool
}

// Place gives a run its slot: it may start when fewer runs than the limit go on, counting those
// queued before it. Namespaces with fewer runs going on come first, then who waited longer. Runs that
// measure one existing claim follow each other, and so do runs on one node: the next starts when the
// nodes of those before it are known, and keeps off them.
func Place(self *v1alpha1.DiskBenchmark, others Others) Slot {
	slot := Slot{Limit: others.Limit}
	var holders, queue []*v1alpha1.DiskBenchmark
	byNamespace, placed := map[string]int{}, true
	for i := range others.Benchmarks {
		b := &others.Benchmarks[i]
		switch {
		case b.UID == self.UID:
		case HoldsSlot(b) || others.Holding(b.UID):
			holders = append(holders, b)
			byNamespace[b.Namespace]++
			placed = placed && !placing(b)
		case Queued(b):
			queue = append(queue, b)
		}
	}
	if i := slices.IndexFunc(holders, func(b *v1alpha1.DiskBenchmark) bool { return sameClaim(b, self) }); i >= 0 {
		slot.ClaimHolder = holders[i].Name
	}
	for _, b := range queue {
		waits := slices.ContainsFunc(holders, func(h *v1alpha1.DiskBenchmark) bool { return sameClaim(h, b) })
		if !waits && before(b, self, byNamespace) {
			slot.Ahead++
		}
	}
	left := orphans(others)
	slot.BusyNodes = busyNodes(holders, left)
	room := len(holders)+len(left)+slot.Ahead < slot.Limit
	slot.Placing = room && !placed
	slot.Admitted = room && placed && slot.ClaimHolder == ""
	return slot
}

// placing says that a run's pod may still go to any node.
func placing(b *v1alpha1.DiskBenchmark) bool {
	return b.Status.Run == nil || b.Status.Run.NodeName == "" && b.Status.Run.Outcome == ""
}

func sameClaim(a, b *v1alpha1.DiskBenchmark) bool {
	return a.Namespace == b.Namespace && a.Spec.ClaimName != nil && b.Spec.ClaimName != nil && *a.Spec.ClaimName == *b.Spec.ClaimName
}

// orphans gives, by the DiskBenchmark's UID, the nodes of pods whose DiskBenchmark was deleted and that
// are still being ended. Those that hang for longer than a cleanup may last are given up, as a cleanup is.
func orphans(others Others) map[string]string {
	left := map[string]string{}
	for i := range others.Pods {
		p := &others.Pods[i]
		uid := p.Labels[v1alpha1.LabelBenchmarkUID]
		alive := slices.ContainsFunc(others.Benchmarks, func(b v1alpha1.DiskBenchmark) bool {
			return string(b.UID) == uid && b.DeletionTimestamp == nil
		})
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		hangs := p.DeletionTimestamp != nil && !others.Now.Before(p.DeletionTimestamp.Add(defaultCleanup))
		if uid != "" && !alive && !ended && !hangs && p.Spec.NodeName != "" {
			left[uid] = p.Spec.NodeName
		}
	}
	return left
}

func busyNodes(holders []*v1alpha1.DiskBenchmark, left map[string]string) []string {
	nodes := slices.Collect(maps.Values(left))
	for _, b := range holders {
		if run := b.Status.Run; run != nil && run.NodeName != "" {
			nodes = append(nodes, run.NodeName)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
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
	switch {
	case o.Slot.ClaimHolder != "":
		return fmt.Sprintf("DiskBenchmark %s measures PersistentVolumeClaim %s; two at a time would measure each other",
			o.Slot.ClaimHolder, *o.spec().ClaimName)
	case o.Slot.Placing:
		return fmt.Sprintf("limit %d (--max-concurrent-runs), waiting for the node of the run before: two on one node would measure each other", o.Slot.Limit)
	default:
		return fmt.Sprintf("limit %d (--max-concurrent-runs), %d ahead when queued", o.Slot.Limit, o.Slot.Ahead)
	}
}
