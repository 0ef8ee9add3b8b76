// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/evaluate"
	"github.com/diskbench/diskbench/internal/resources"
)

// Observation is everything that a decision may depend on. Absent objects are nil, and then they
// were looked for at the API server, not only in a cache that may lag.
type Observation struct {
	// Now is the time of the decision.
	Now time.Time
	// Benchmark is the DiskBenchmark with its stored status.
	Benchmark *v1alpha1.DiskBenchmark
	// Hash identifies the measured part of the present spec.
	Hash string
	// Plan is what the present spec asks of the engine; PlanErr says why there is none.
	Plan    workload.Plan
	PlanErr error

	// Class is the named class, or the default one where the spec names none.
	Class *storagev1.StorageClass
	// AttributesClass is the VolumeAttributesClass of the claims.
	AttributesClass *storagev1.VolumeAttributesClass
	// ExistingClaim is the claim that spec.claimName names.
	ExistingClaim *corev1.PersistentVolumeClaim
	// ClaimUsers are other pods that use that claim; read when the run is about to start.
	ClaimUsers []string
	// Claims, Job and Pods are the children of status.run; the claims in the order of their names.
	Claims []corev1.PersistentVolumeClaim
	Job    *batchv1.Job
	Pods   []corev1.Pod
	// Volumes are the PersistentVolumes behind the measured claims, as far as they are there.
	Volumes []corev1.PersistentVolume
	// Node is the node of the pod.
	Node *corev1.Node
	// Events are the warnings about the children.
	Events []corev1.Event

	// Refusal is the API server's answer when it refused to create a child just now.
	Refusal *Refusal
	// Stranger names an object of somebody else that has the name of a child.
	Stranger string
	// Slot says whether the run may start beside the others.
	Slot Slot
	// Prices are what costs and limits are computed from; nil leaves both as they are stored.
	Prices *evaluate.Prices
	// Notes say which facts could not be read, for lack of rights.
	Notes []string
}

// RefusalKind says what kind of answer a refusal is.
type RefusalKind string

// The kinds of refusal.
const (
	// RefusedByQuota: a ResourceQuota has no room.
	RefusedByQuota RefusalKind = "Quota"
	// RefusedByPolicy: an admission policy or plugin says no; it may say yes later.
	RefusedByPolicy RefusalKind = "Policy"
	// RefusedAsInvalid: the object can never be created as it is.
	RefusedAsInvalid RefusalKind = "Invalid"
)

// Refusal is an answer of the API server that asking again at once would not change.
type Refusal struct {
	Kind RefusalKind
	// Message is the API server's, with the object's name.
	Message string
}

func (o *Observation) spec() *v1alpha1.DiskBenchmarkSpec { return &o.Benchmark.Spec }

func (o *Observation) run() *v1alpha1.Run { return o.Benchmark.Status.Run }

func (o *Observation) suspended() bool {
	return o.spec().Suspend != nil && *o.spec().Suspend
}

// measuredClaims are those that the pod mounts, in the order of the volumes, as far as they are there.
func (o *Observation) measuredClaims() []corev1.PersistentVolumeClaim {
	available := o.Claims
	if o.spec().ClaimName != nil {
		if o.ExistingClaim == nil {
			return nil
		}
		available = []corev1.PersistentVolumeClaim{*o.ExistingClaim}
	}
	var out []corev1.PersistentVolumeClaim
	for _, name := range resources.ClaimNames(o.Benchmark, o.run()) {
		if i := slices.IndexFunc(available, func(c corev1.PersistentVolumeClaim) bool { return c.Name == name }); i >= 0 {
			out = append(out, available[i])
		}
	}
	return out
}

// volumeOf is the PersistentVolume of a claim; nil when it is not there, or may not be read.
func (o *Observation) volumeOf(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	i := slices.IndexFunc(o.Volumes, func(v corev1.PersistentVolume) bool { return v.Name == c.Spec.VolumeName })
	if i < 0 {
		return nil
	}
	return &o.Volumes[i]
}

// edited says that the measured part of the spec is not that of the run. Only a generation that was
// never seen can be an edit: a new field default may change what is read, and so the hash, without
// anybody having edited anything.
func (o *Observation) edited() bool {
	return o.Benchmark.Generation != o.Benchmark.Status.ObservedGeneration && o.Hash != o.run().SpecHash
}

// pod is the pod of the run: the one whose start was recorded, and before that the newest. Another
// pod than the recorded one never counts.
func (o *Observation) pod() *corev1.Pod {
	if uid := o.run().PodUID; uid != "" {
		i := slices.IndexFunc(o.Pods, func(p corev1.Pod) bool { return p.UID == uid })
		if i < 0 {
			return nil
		}
		return &o.Pods[i]
	}
	var newest *corev1.Pod
	for i := range o.Pods {
		p := &o.Pods[i]
		if newest == nil || newest.CreationTimestamp.Before(&p.CreationTimestamp) {
			newest = p
		}
	}
	return newest
}

func (o *Observation) condition(kind string) bool {
	return meta.IsStatusConditionTrue(o.Benchmark.Status.Conditions, kind)
}

// blockedSince is when the run came to wait for something outside, now if it did not wait before.
func (o *Observation) blockedSince() time.Time {
	c := meta.FindStatusCondition(o.Benchmark.Status.Conditions, v1alpha1.ConditionStalled)
	if c == nil || !o.condition(v1alpha1.ConditionStalled) {
		return o.Now
	}
	return c.LastTransitionTime.Time
}

// clockStood says that the clock of the phase was stopped until now: the run was suspended, or
// blocked on something outside, which has a limit of its own.
func (o *Observation) clockStood() bool {
	ready := meta.FindStatusCondition(o.Benchmark.Status.Conditions, v1alpha1.ConditionReady)
	return o.condition(v1alpha1.ConditionStalled) ||
		ready != nil && ready.Reason == v1alpha1.ReasonSuspended
}

// phaseStart is when the clock of the present phase began.
func (o *Observation) phaseStart() time.Time {
	if o.clockStood() {
		return o.Now
	}
	return o.run().PhaseTime.Time
}
