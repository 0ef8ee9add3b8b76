// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// leftPrefix begins the warnings about what goes on costing after a run. They outlive the run: the
// next one does not take the disk away.
const leftPrefix = "left behind: "

// maxListed is how many objects of a kind a message names: of a disk the name may be 200 bytes long.
const maxListed = 4

// decideCleanup deletes the Job, waits for its pod, deletes the claims, and waits for them and, unless
// they are to be retained, for the volumes. A pod, even a finished one, pins its claims.
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
	case !allGoing(o.Claims):
		return cleaning(o, ActionDeleteClaims, "deleting "+listed("PersistentVolumeClaim", claimNames(o.Claims)))
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

func allGoing(claims []corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(claims, func(c corev1.PersistentVolumeClaim) bool { return !going(c) })
}

func claimNames(claims []corev1.PersistentVolumeClaim) []string {
	var out []string
	for i := range claims {
		out = append(out, claims[i].Name)
	}
	return out
}

// listed names objects of a kind, the first few of many.
func listed(kind string, names []string) string {
	text := kind + " " + strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func keptWarnings(o Observation) []string {
	if o.Job == nil && len(o.Claims) == 0 {
		return nil
	}
	var kept []string
	if o.Job != nil {
		kept = append(kept, "Job "+o.Job.Name)
	}
	if len(o.Claims) > 0 {
		kept = append(kept, listed("PersistentVolumeClaim", claimNames(o.Claims)))
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
	if len(o.Claims) > 0 {
		left = append(left, listed("PersistentVolumeClaim", claimNames(o.Claims)))
	}
	if words := ownVolumes(o, corev1.PersistentVolumeReclaimDelete); len(words) > 0 {
		left = append(left, listed("PersistentVolume", words))
	}
	return left
}

// retainedWarnings names the volumes that stay because their class says so.
func retainedWarnings(o Observation) []string {
	var out []string
	for words := range slices.Chunk(ownVolumes(o, corev1.PersistentVolumeReclaimRetain), maxListed) {
		have := "has reclaimPolicy Retain: it and its disk go on costing until you delete both"
		if len(words) > 1 {
			have = "have reclaimPolicy Retain: they and their disks go on costing until you delete both"
		}
		out = append(out, leftPrefix+listed("PersistentVolume", words)+" "+have)
	}
	return out
}

// ownVolumes are the volumes of the run's own claims with a reclaim policy; that of an existing claim
// is nobody's to clean up.
func ownVolumes(o Observation, policy corev1.PersistentVolumeReclaimPolicy) []string {
	var out []string
	for i := range o.Volumes {
		v := &o.Volumes[i]
		ref := v.Spec.ClaimRef
		if ref != nil && ofRun(o.run(), ref.Name) && v.Spec.PersistentVolumeReclaimPolicy == policy {
			out = append(out, volumeWords(v))
		}
	}
	return out
}

// ofRun says whether a claim's name is one that a run gives: its own, or that and a number. The spec
// may have been edited since, so how many there were is not in it.
func ofRun(run *v1alpha1.Run, claim string) bool {
	number, several := strings.CutPrefix(claim, run.Name+"-")
	_, err := strconv.Atoi(number)
	return claim == run.Name || several && err == nil
}

func volumeWords(v *corev1.PersistentVolume) string {
	if v.Spec.CSI != nil {
		return fmt.Sprintf("%s (%s)", v.Name, v.Spec.CSI.VolumeHandle)
	}
	return v.Name
}
