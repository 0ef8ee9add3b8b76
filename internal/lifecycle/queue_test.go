// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// entry is a DiskBenchmark as the queue sees it: namespace/name, whose UID is the same.
func entry(namespace, name string, phase v1alpha1.Phase, waited time.Duration, condition ...metav1.Condition) v1alpha1.DiskBenchmark {
	return v1alpha1.DiskBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)},
		Status: v1alpha1.DiskBenchmarkStatus{
			Run:        &v1alpha1.Run{Phase: phase, PhaseTime: metav1.NewTime(now.Add(-waited))},
			Conditions: condition,
		},
	}
}

func onNode(b v1alpha1.DiskBenchmark, node string) v1alpha1.DiskBenchmark {
	b.Status.Run.NodeName = node
	return b
}

func failed(b v1alpha1.DiskBenchmark) v1alpha1.DiskBenchmark {
	b.Status.Run.Outcome = v1alpha1.ReasonImagePullFailed
	return b
}

func deleted(b v1alpha1.DiskBenchmark) v1alpha1.DiskBenchmark {
	b.DeletionTimestamp = ptr.To(metav1.NewTime(now))
	return b
}

// podOf is a running pod on node n9 of the DiskBenchmark with a UID.
func podOf(uid string, vary func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelBenchmarkUID: uid}}}
	p.Spec.NodeName, p.Status.Phase = "n9", corev1.PodRunning
	if vary != nil {
		vary(&p)
	}
	return p
}

func TestPlace(t *testing.T) {
	stalled := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue}
	suspended := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonSuspended}
	self := entry("a", "self", v1alpha1.PhasePending, time.Minute)
	for name, c := range map[string]struct {
		reason  string
		limit   int
		others  []v1alpha1.DiskBenchmark
		holding types.UID
		pods    []corev1.Pod
		want    Slot
	}{
		"alone":    {"nobody else", 1, nil, "", nil, Slot{Admitted: true, Limit: 1}},
		"one runs": {"two disturb each other", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseRunning, 0)}, "", nil, Slot{Limit: 1}},
		"two allowed": {
			"the limit is the administrator's", 2, []v1alpha1.DiskBenchmark{onNode(entry("b", "x", v1alpha1.PhaseRunning, 0), "n1")}, "", nil,
			Slot{Admitted: true, Limit: 2, BusyNodes: []string{"n1"}},
		},
		"cleaning up": {
			"its pod may still be there", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseCleaningUp, 0)}, "", nil, Slot{Limit: 1},
		},
		"done": {"it holds nothing", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseDone, 0)}, "", nil, Slot{Admitted: true, Limit: 1}},
		"waited longer": {
			"first come, first served", 1, []v1alpha1.DiskBenchmark{entry("a", "x", v1alpha1.PhasePending, time.Hour)}, "", nil, Slot{Limit: 1, Ahead: 1},
		},
		"came later": {
			"first come, first served", 1, []v1alpha1.DiskBenchmark{entry("a", "x", v1alpha1.PhasePending, 0)}, "", nil, Slot{Admitted: true, Limit: 1},
		},
		"same second": {
			"a total order, or nobody would start", 1, []v1alpha1.DiskBenchmark{entry("a", "aaa", v1alpha1.PhasePending, time.Minute)}, "", nil, Slot{Limit: 1, Ahead: 1},
		},
		"a busy namespace": {
			"a hundred benchmarks of one team must not hold up another's first", 2,
			[]v1alpha1.DiskBenchmark{onNode(entry("b", "x", v1alpha1.PhaseRunning, 0), "n1"), entry("b", "y", v1alpha1.PhasePending, time.Hour)}, "", nil,
			Slot{Admitted: true, Limit: 2, BusyNodes: []string{"n1"}},
		},
		"blocked": {
			"it cannot use a slot", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, time.Hour, stalled)}, "", nil, Slot{Admitted: true, Limit: 1},
		},
		"suspended before the start": {
			"it does not want one", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, time.Hour, suspended)}, "", nil, Slot{Admitted: true, Limit: 1},
		},
		"its Job suspended": {
			"a queueing controller may hold it for days", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseScheduling, 0, suspended)}, "", nil, Slot{Admitted: true, Limit: 1},
		},
		"admitted just now": {
			"its status does not show it yet", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, 0)}, "b/x", nil, Slot{Limit: 1},
		},
		"itself": {
			"a run that is looked at again does not stand in its own way", 1, []v1alpha1.DiskBenchmark{self}, self.UID, nil, Slot{Admitted: true, Limit: 1},
		},
		"no node yet": {
			"both pods might go to one node, and only the second can be told to keep off", 2,
			[]v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseScheduling, 0)}, "", nil, Slot{Limit: 2, Placing: true},
		},
		"no node any more": {
			"a run that failed before it had a node gets none", 2,
			[]v1alpha1.DiskBenchmark{failed(entry("b", "x", v1alpha1.PhaseCleaningUp, 0))}, "", nil, Slot{Admitted: true, Limit: 2},
		},
		"two nodes": {
			"each that is in use, once", 4, []v1alpha1.DiskBenchmark{
				onNode(entry("b", "x", v1alpha1.PhaseRunning, 0), "n2"), onNode(entry("b", "y", v1alpha1.PhaseCleaningUp, 0), "n1"),
				onNode(entry("b", "z", v1alpha1.PhaseRunning, 0), "n2"),
			}, "", nil, Slot{Admitted: true, Limit: 4, BusyNodes: []string{"n1", "n2"}},
		},
		"deleted": {
			"its pod is still being ended, and may write until then", 1, nil, "", []corev1.Pod{podOf("gone", nil)}, Slot{Limit: 1, BusyNodes: []string{"n9"}},
		},
		"being deleted": {
			"with its pod before it", 1, []v1alpha1.DiskBenchmark{deleted(onNode(entry("b", "x", v1alpha1.PhaseRunning, 0), "n9"))}, "",
			[]corev1.Pod{podOf("b/x", nil)}, Slot{Limit: 1, BusyNodes: []string{"n9"}},
		},
		"deleted, pod ended": {
			"a finished pod does nothing", 1, nil, "", []corev1.Pod{podOf("gone", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })}, Slot{Admitted: true, Limit: 1},
		},
		"deleted, pod hangs": {
			"a dead node must not stop the queue for ever", 1, nil, "",
			[]corev1.Pod{podOf("gone", func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(-defaultCleanup))) })}, Slot{Admitted: true, Limit: 1},
		},
		"done, pod kept": {
			"a run that was given up holds nothing", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseDone, 0)}, "",
			[]corev1.Pod{podOf("b/x", nil)}, Slot{Admitted: true, Limit: 1},
		},
		"its own pod": {
			"it is counted once", 2, []v1alpha1.DiskBenchmark{onNode(entry("b", "x", v1alpha1.PhaseRunning, 0), "n9")}, "",
			[]corev1.Pod{podOf("b/x", nil)}, Slot{Admitted: true, Limit: 2, BusyNodes: []string{"n9"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Place(&self, Others{
				Now: now, Limit: c.limit, Benchmarks: c.others, Pods: c.pods,
				Holding: func(uid types.UID) bool { return uid == c.holding },
			})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestRunsOfOneClaimFollowEachOther(t *testing.T) {
	of := func(b v1alpha1.DiskBenchmark, claim string) v1alpha1.DiskBenchmark {
		b.Spec.ClaimName = &claim
		return b
	}
	running := func(namespace, name, claim string) v1alpha1.DiskBenchmark {
		return of(onNode(entry(namespace, name, v1alpha1.PhaseRunning, 0), "n1"), claim)
	}
	self := of(entry("a", "self", v1alpha1.PhasePending, time.Minute), "data")
	for name, c := range map[string]struct {
		reason string
		others []v1alpha1.DiskBenchmark
		want   Slot
	}{
		"same claim": {
			"the second would find the engine's file of the first",
			[]v1alpha1.DiskBenchmark{running("a", "x", "data")}, Slot{Limit: 3, ClaimHolder: "x", BusyNodes: []string{"n1"}},
		},
		"another namespace": {
			"it is another claim", []v1alpha1.DiskBenchmark{running("b", "x", "data")}, Slot{Admitted: true, Limit: 3, BusyNodes: []string{"n1"}},
		},
		"another claim": {
			"they share nothing but the limit", []v1alpha1.DiskBenchmark{running("a", "x", "other")}, Slot{Admitted: true, Limit: 3, BusyNodes: []string{"n1"}},
		},
		"one that waits for its claim": {
			"who cannot start holds up nobody",
			[]v1alpha1.DiskBenchmark{
				running("a", "x", "other"), running("b", "y", "more"), of(entry("a", "z", v1alpha1.PhasePending, time.Hour), "other"),
				of(entry("a", "w", v1alpha1.PhaseDone, 0), "data"),
			},
			Slot{Admitted: true, Limit: 3, BusyNodes: []string{"n1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Place(&self, Others{Now: now, Limit: 3, Benchmarks: c.others, Holding: func(types.UID) bool { return false }})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
