// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/lifecycle"
)

// slots remembers the runs that were admitted and whose stored status, as the cache has it, does not
// show it yet. Everything else about who may run is in the stored status, so a restart loses nothing:
// a new cache has what the old process stored.
type slots struct {
	mu      sync.Mutex
	assumed map[types.UID]bool
}

// place gives a run its slot among the others, and holds it until the run's status does, or release.
func (s *slots) place(self *v1alpha1.DiskBenchmark, others lifecycle.Others) lifecycle.Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetVisible(others.Benchmarks)
	others.Holding = func(uid types.UID) bool { return s.assumed[uid] }
	slot := lifecycle.Place(self, others)
	if slot.Admitted {
		s.assumed[self.UID] = true
	}
	return slot
}

// release gives back the slot of a run that did not start after all.
func (s *slots) release(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.assumed, uid)
}

// forgetVisible drops what the statuses show by themselves, and the runs that are gone.
func (s *slots) forgetVisible(all []v1alpha1.DiskBenchmark) {
	kept := map[types.UID]bool{}
	for i := range all {
		b := &all[i]
		if s.assumed[b.UID] && b.Status.Run != nil && b.Status.Run.Phase == v1alpha1.PhasePending {
			kept[b.UID] = true
		}
	}
	s.assumed = kept
}
