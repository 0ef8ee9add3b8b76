// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
)

// decidePending creates the children once nothing stands in the way.
func decidePending(o Observation) Decision {
	if outcome := hopeless(o); outcome != nil {
		return concludeWith(*outcome)
	}
	if b := blockedBy(o); b != nil {
		return blocked(o, *b)
	}
	if !o.Slot.Admitted {
		return Decision{
			Action: ActionNone, State: Working, Phase: v1alpha1.PhasePending,
			Reason: v1alpha1.ReasonQueued, Message: queuedMessage(o),
		}
	}
	if name := dyingChild(o); name != "" {
		return Decision{
			Action: ActionNone, State: Working, Phase: v1alpha1.PhasePending, Reason: v1alpha1.ReasonPending,
			Message: fmt.Sprintf("waiting for %s, which is being deleted", name),
		}
	}
	return create(o)
}

// create makes the claims and the Job together. Waiting for the claims first would wait for ever with
// a class that binds for its first consumer.
func create(o Observation) Decision {
	phase := v1alpha1.PhaseProvisioning
	if o.spec().ClaimName != nil || waitsForConsumer(o) {
		phase = v1alpha1.PhaseScheduling
	}
	d := Decision{
		Action: ActionCreate, State: Working, Phase: phase, Reason: string(phase),
		Message:  "the Job is created",
		Warnings: startWarnings(o),
	}
	switch n := plan.Volumes(o.spec()); {
	case o.spec().ClaimName != nil:
	case n == 1:
		d.Message = "the claim and the Job are created"
	default:
		d.Message = fmt.Sprintf("%d claims and the Job are created", n)
	}
	d.Deadline = o.Now.Add(limit(phase, o.spec(), o.Plan))
	return d
}

func startWarnings(o Observation) []string {
	out := plan.SpecWarnings(o.spec(), o.Plan)
	if c := o.Class; o.spec().ClaimName == nil && c != nil && c.ReclaimPolicy != nil &&
		*c.ReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
		what := "the volume and its disk stay"
		if n := plan.Volumes(o.spec()); n > 1 {
			what = fmt.Sprintf("the %d volumes and their disks stay", n)
		}
		out = append(out, fmt.Sprintf(
			"StorageClass %s has reclaimPolicy Retain: %s after the run and go on costing", c.Name, what))
	}
	if len(o.ClaimUsers) > 0 {
		out = append(out, fmt.Sprintf("PersistentVolumeClaim %s is used by %s as well: each disturbs the other, and the figures are not the volume's alone",
			*o.spec().ClaimName, listed("Pod", o.ClaimUsers)))
	}
	return out
}

// hopeless says why the run can never start.
func hopeless(o Observation) *Outcome {
	switch {
	case o.PlanErr != nil:
		return &Outcome{Reason: v1alpha1.ReasonInvalidSpec, Message: o.PlanErr.Error()}
	case o.Stranger != "":
		return &Outcome{Reason: v1alpha1.ReasonNameConflict, Message: o.Stranger +
			" is not of this DiskBenchmark and has the name of its child: delete it, then set spec.runToken to start again"}
	case o.Refusal != nil && o.Refusal.Kind == RefusedAsInvalid:
		return &Outcome{Reason: v1alpha1.ReasonInvalidSpec, Message: o.Refusal.Message}
	case o.ExistingClaim != nil:
		if why := unusable(o.ExistingClaim); why != "" {
			return &Outcome{Reason: v1alpha1.ReasonClaimInvalid, Message: fmt.Sprintf(
				"PersistentVolumeClaim %s %s", o.ExistingClaim.Name, why)}
		}
	}
	return nil
}

func unusable(c *corev1.PersistentVolumeClaim) string {
	writable := func(m corev1.PersistentVolumeAccessMode) bool { return m != corev1.ReadOnlyMany }
	switch {
	case c.Spec.VolumeMode != nil && *c.Spec.VolumeMode == corev1.PersistentVolumeBlock:
		return "has volumeMode Block: measuring would overwrite it; only Filesystem claims can be measured"
	case !slices.ContainsFunc(c.Spec.AccessModes, writable):
		return "is ReadOnlyMany: the engine has to write its file"
	case c.Status.Phase == corev1.ClaimLost:
		return "has lost its PersistentVolume"
	default:
		return ""
	}
}

// block is something outside that has to be put right.
type block struct{ reason, message string }

func blockedBy(o Observation) *block {
	switch {
	case o.spec().ClaimName != nil && (o.ExistingClaim == nil || o.ExistingClaim.DeletionTimestamp != nil):
		return &block{v1alpha1.ReasonClaimNotFound, fmt.Sprintf(
			"PersistentVolumeClaim %s does not exist in namespace %s, or is being deleted",
			*o.spec().ClaimName, o.Benchmark.Namespace)}
	case o.spec().ClaimName == nil && o.Class == nil && o.spec().StorageClassName != nil:
		return &block{v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf(
			"StorageClass %s does not exist: create it, or set spec.storageClassName to one that does",
			*o.spec().StorageClassName)}
	case o.spec().ClaimName == nil && o.Class == nil:
		return &block{v1alpha1.ReasonNoDefaultStorageClass,
			"the cluster has no default StorageClass: set spec.storageClassName, or mark a class as the default"}
	case o.Refusal != nil && o.Refusal.Kind == RefusedByQuota:
		return &block{v1alpha1.ReasonQuotaExceeded, o.Refusal.Message}
	case o.Refusal != nil:
		return &block{v1alpha1.ReasonCreationRefused, o.Refusal.Message}
	default:
		return nil
	}
}

// blocked waits for something outside, up to timeouts.blockedSeconds over all that blocked the run
// without a break.
func blocked(o Observation, b block) Decision {
	allowed := blockedLimit(o.spec())
	deadline := o.blockedSince().Add(allowed)
	if !o.Now.Before(deadline) {
		return conclude(v1alpha1.ReasonBlockedTimedOut, fmt.Sprintf(
			"blocked for longer than timeouts.blockedSeconds (%d): %s: %s", int64(allowed/time.Second), b.reason, b.message))
	}
	return Decision{
		Action: ActionNone, State: Blocked, Phase: o.run().Phase,
		Reason: b.reason, Message: b.message, Deadline: deadline,
	}
}

func dyingChild(o Observation) string {
	switch {
	case o.Job != nil && o.Job.DeletionTimestamp != nil:
		return "Job " + o.Job.Name
	case slices.ContainsFunc(o.Claims, going):
		return "PersistentVolumeClaim " + o.Claims[slices.IndexFunc(o.Claims, going)].Name
	default:
		return ""
	}
}

func going(c corev1.PersistentVolumeClaim) bool { return c.DeletionTimestamp != nil }
