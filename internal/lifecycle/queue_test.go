// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

func TestPlace(t *testing.T) {
	stalled := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue}
	suspended := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonSuspended}
	self := entry("a", "self", v1alpha1.PhasePending, time.Minute)
	for name, c := range map[string]struct {
		reason  string
		limit   int
		others  []v1alpha1.DiskBenchmark
		holding types.UID
		want    Slot
	}{
		"alone":    {"nobody else", 1, nil, "", Slot{Admitted: true, Limit: 1}},
		"one runs": {"two disturb each other", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseRunning, 0)}, "", Slot{Limit: 1}},
		"two allowed": {
			"the limit is the administrator's", 2, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseRunning, 0)}, "", Slot{Admitted: true, Limit: 2},
		},
		"cleaning up": {
			"its pod may still be there", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseCleaningUp, 0)}, "", Slot{Limit: 1},
		},
		"done": {"it holds nothing", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseDone, 0)}, "", Slot{Admitted: true, Limit: 1}},
		"waited longer": {
			"first come, first served", 1, []v1alpha1.DiskBenchmark{entry("a", "x", v1alpha1.PhasePending, time.Hour)}, "", Slot{Limit: 1, Ahead: 1},
		},
		"came later": {
			"first come, first served", 1, []v1alpha1.DiskBenchmark{entry("a", "x", v1alpha1.PhasePending, 0)}, "", Slot{Admitted: true, Limit: 1},
		},
		"same second": {
			"a total order, or nobody would start", 1, []v1alpha1.DiskBenchmark{entry("a", "aaa", v1alpha1.PhasePending, time.Minute)}, "", Slot{Limit: 1, Ahead: 1},
		},
		"a busy namespace": {
			"a hundred benchmarks of one team must not hold up another's first", 2,
			[]v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseRunning, 0), entry("b", "y", v1alpha1.PhasePending, time.Hour)}, "",
			Slot{Admitted: true, Limit: 2},
		},
		"blocked": {
			"it cannot use a slot", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, time.Hour, stalled)}, "", Slot{Admitted: true, Limit: 1},
		},
		"suspended before the start": {
			"it does not want one", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, time.Hour, suspended)}, "", Slot{Admitted: true, Limit: 1},
		},
		"its Job suspended": {
			"a queueing controller may hold it for days", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhaseScheduling, 0, suspended)}, "", Slot{Admitted: true, Limit: 1},
		},
		"admitted just now": {
			"its status does not show it yet", 1, []v1alpha1.DiskBenchmark{entry("b", "x", v1alpha1.PhasePending, 0)}, "b/x", Slot{Limit: 1},
		},
		"itself": {
			"a run that is looked at again does not stand in its own way", 1, []v1alpha1.DiskBenchmark{self}, self.UID, Slot{Admitted: true, Limit: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Place(c.limit, &self, c.others, func(uid types.UID) bool { return uid == c.holding })
			if got != c.want {
				t.Errorf("got %+v, want %+v (%s)", got, c.want, c.reason)
			}
		})
	}
}
