// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// leftPrefix begins the warnings about what goes on costing after a run. They outlive the run: the
// next one does not take the disk away.
const leftPrefix = "left behind: "

// decideCleanup deletes the Job, waits for its pod, deletes the claim, and waits for it and, unless
// it is to be retained, for the volume. A pod, even a finished one, pins its claim.
func decideCleanup(o Observation) Decision {
	if keepsChildren(o) {
		return finish(o, keptWarnings(o))
	}
	left := leftovers(o)
	switch {
	case len(left) == 0:
		return finish(o, retainedWarnings(o))
	case !o.Now.Before(o.run().PhaseTime.Add(cleanupLimit(o))):
		return finish(o, append(retainedWarnings(o), fmt.Sprintf(
			"%safter timeouts.cleanupSeconds (%d) there is still %s: see why it is not deleted, it may go on costing",
			leftPrefix, int64(cleanupLimit(o)/time.Second), strings.Join(left, ", "))))
	case o.Job != nil && o.Job.DeletionTimestamp == nil:
		return cleaning(o, ActionDeleteJob, "deleting Job "+o.Job.Name+" and its pod")
	case o.Job != nil || len(o.Pods) > 0:
		return cleaning(o, ActionNone, "waiting for the Job and its pod to go away")
	case o.Claim != nil && o.Claim.DeletionTimestamp == nil:
		return cleaning(o, ActionDeleteClaim, "deleting PersistentVolumeClaim "+o.Claim.Name)
	default:
		return cleaning(o, ActionNone, "waiting for "+strings.Join(left, ", ")+" to go away")
	}
}

func cleanupLimit(o Observation) time.Duration {
	return limit(v1alpha1.PhaseCleaningUp, o.spec(), o.Plan)
}

func cleaning(o Observation, a Action, message string) Decision {
	start := o.run().PhaseTime.Time
	if o.run().Phase != v1alpha1.PhaseCleaningUp {
		start = o.Now
	}
	return Decision{
		Action: a, State: Working, Phase: v1alpha1.PhaseCleaningUp,
		Reason: v1alpha1.ReasonCleaningUp, Message: message, Deadline: start.Add(cleanupLimit(o)),
	}
}

// finish ends the cleanup. After a superseded or suspended run the next one follows.
func finish(o Observation, warnings []string) Decision {
	var d Decision
	switch o.run().Outcome {
	case v1alpha1.ReasonSuperseded, v1alpha1.ReasonSuspended:
		d = startOrHold(o)
	default:
		d = Decision{Action: ActionNone, State: Ended, Phase: v1alpha1.PhaseDone, Reason: o.run().Outcome}
	}
	d.Warnings = warnings
	return d
}

// keepsChildren says that the policy keeps the Job and the volume after this outcome. A superseded
// run's make room for the next, and suspending is asking for the room.
func keepsChildren(o Observation) bool {
	switch o.run().Outcome {
	case v1alpha1.ReasonSuperseded, v1alpha1.ReasonSuspended:
		return false
	}
	policy := v1alpha1.CleanupAlways
	if p := o.spec().Cleanup; p != nil {
		policy = *p
	}
	return policy == v1alpha1.CleanupNever ||
		policy == v1alpha1.CleanupOnSuccess && o.run().Outcome != v1alpha1.ReasonCompleted
}

func keptWarnings(o Observation) []string {
	if o.Job == nil && o.Claim == nil {
		return nil
	}
	var kept []string
	if o.Job != nil {
		kept = append(kept, "Job "+o.Job.Name)
	}
	if o.Claim != nil {
		kept = append(kept, "PersistentVolumeClaim "+o.Claim.Name)
	}
	return []string{fmt.Sprintf("spec.cleanup is %s: %s kept until the DiskBenchmark is deleted, and may go on costing",
		*o.spec().Cleanup, strings.Join(kept, " and "))}
}

// leftovers names what cleanup still has to wait for.
func leftovers(o Observation) []string {
	var left []string
	if o.Job != nil {
		left = append(left, "Job "+o.Job.Name)
	}
	for i := range o.Pods {
		left = append(left, "Pod "+o.Pods[i].Name)
	}
	if o.Claim != nil {
		left = append(left, "PersistentVolumeClaim "+o.Claim.Name)
	}
	if v := ownVolume(o); v != nil && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		left = append(left, "PersistentVolume "+volumeWords(v))
	}
	return left
}

// retainedWarnings names the volume that stays because its class says so.
func retainedWarnings(o Observation) []string {
	v := ownVolume(o)
	if v == nil || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
		return nil
	}
	return []string{fmt.Sprintf("%sPersistentVolume %s has reclaimPolicy Retain: it and its disk go on costing until you delete both",
		leftPrefix, volumeWords(v))}
}

// ownVolume is the volume of the run's own claim; that of an existing claim is nobody's to clean up.
func ownVolume(o Observation) *corev1.PersistentVolume {
	v := o.Volume
	if v == nil || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.Name != o.run().Name {
		return nil
	}
	return v
}

func volumeWords(v *corev1.PersistentVolume) string {
	if v.Spec.CSI != nil {
		return fmt.Sprintf("%s (%s)", v.Name, v.Spec.CSI.VolumeHandle)
	}
	return v.Name
}
