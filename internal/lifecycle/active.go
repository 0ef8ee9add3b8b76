// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

const (
	// selectedNode is set on a claim when the scheduler has picked the node for its first consumer.
	selectedNode = "volume.kubernetes.io/selected-node"

	// almostDone is what starting and ending take beside the planned time, in the message for people.
	almostDone = 5 * time.Second
)

// decideActive follows the children from their creation to the outcome. The pod's own word comes
// first: an engine that ended has a result, whatever became of the Job since.
func decideActive(o Observation) Decision {
	pod := o.pod()
	if pod != nil {
		if outcome := podOutcome(pod, o.Node, o.Now); outcome != nil {
			return concludeWith(*outcome)
		}
	}
	if outcome := lost(o, pod); outcome != nil {
		return concludeWith(*outcome)
	}
	if suspendedJob(o.Job) {
		return Decision{
			Action: ActionNone, State: Held, Phase: o.run().Phase, Reason: v1alpha1.ReasonSuspended,
			Message: fmt.Sprintf("Job %s is suspended, by a queueing controller or by hand; the time limits stand still", o.Job.Name),
		}
	}
	if pod == nil {
		if b := podRefused(o); b != nil {
			return blocked(o, *b)
		}
	}
	return follow(o, pod)
}

// follow names the phase that the children show, within the phase's limit.
func follow(o Observation, pod *corev1.Pod) Decision {
	phase := phaseOf(o, pod)
	start := o.phaseStart()
	if phase != o.run().Phase {
		start = o.Now
	}
	last := lastWords(o, pod, phase)
	allowed := limit(phase, o.spec(), o.Plan)
	if !o.Now.Before(start.Add(allowed)) {
		return timedOut(phase, allowed, last)
	}
	return Decision{
		Action: ActionNone, State: Working, Phase: phase, Reason: string(phase),
		Message: join(phaseMessage(o, phase), last), Deadline: start.Add(allowed),
	}
}

// lost says why there can be no result any more.
func lost(o Observation, pod *corev1.Pod) *Outcome {
	run := o.run()
	switch {
	case pod == nil && run.PodUID != "":
		return vanished(o)
	case pod == nil && jobEnded(o.Job) != nil:
		return endedWithoutPod(o)
	case o.Job == nil:
		return &Outcome{Reason: v1alpha1.ReasonInterrupted,
			Message: fmt.Sprintf("Job %s was deleted during the run", run.Name)}
	case o.Job.DeletionTimestamp != nil && pod == nil:
		return &Outcome{Reason: v1alpha1.ReasonInterrupted,
			Message: fmt.Sprintf("Job %s is being deleted by somebody during the run", run.Name)}
	case suspendedJob(o.Job) && run.PodUID != "":
		return &Outcome{Reason: v1alpha1.ReasonInterrupted,
			Message: fmt.Sprintf("Job %s was suspended after its pod had started: what it measured is void", run.Name)}
	default:
		return lostClaim(o, pod)
	}
}

func suspendedJob(j *batchv1.Job) bool { return j.Spec.Suspend != nil && *j.Spec.Suspend }

// lostClaim is about a claim that went away before the pod could use it; a running pod keeps its
// claim from going.
func lostClaim(o Observation, pod *corev1.Pod) *Outcome {
	if pod != nil && o.run().PodUID != "" {
		return nil
	}
	claims := o.measuredClaims()
	for _, name := range resources.ClaimNames(o.Benchmark, o.run()) {
		i := slices.IndexFunc(claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == name })
		switch {
		case i < 0:
			return &Outcome{Reason: v1alpha1.ReasonInterrupted,
				Message: fmt.Sprintf("PersistentVolumeClaim %s was deleted during the run", name)}
		case claims[i].Status.Phase == corev1.ClaimLost:
			return &Outcome{Reason: v1alpha1.ReasonInterrupted,
				Message: fmt.Sprintf("PersistentVolumeClaim %s has lost its PersistentVolume", name)}
		}
	}
	return nil
}

// vanished is about a pod that had started and is no longer there.
func vanished(o Observation) *Outcome {
	if ended := jobEnded(o.Job); ended != nil && ended.Type == batchv1.JobComplete {
		return &Outcome{Reason: v1alpha1.ReasonResultLost, Message: fmt.Sprintf(
			"Pod %s completed and was deleted before its result was read", o.run().PodName)}
	}
	message := fmt.Sprintf("Pod %s was deleted before it had a result", o.run().PodName)
	if ended := jobEnded(o.Job); ended != nil {
		message += ": " + jobWords(ended)
	}
	return &Outcome{Reason: v1alpha1.ReasonInterrupted, Message: message}
}

// endedWithoutPod is about a Job that ended before a pod of it was seen to start.
func endedWithoutPod(o Observation) *Outcome {
	ended := jobEnded(o.Job)
	switch {
	case ended.Type == batchv1.JobComplete:
		return &Outcome{Reason: v1alpha1.ReasonResultLost, Message: fmt.Sprintf(
			"Job %s completed and its pod was deleted before its result was read", o.Job.Name)}
	case ended.Reason == batchv1.JobReasonDeadlineExceeded:
		return &Outcome{Reason: reasonOfLimit(o.run().Phase), Message: fmt.Sprintf(
			"%s lasted until Job %s reached its activeDeadlineSeconds, while the operator was away", o.run().Phase, o.Job.Name)}
	default:
		return &Outcome{Reason: v1alpha1.ReasonInterrupted, Message: fmt.Sprintf(
			"Job %s failed and its pod is gone: %s", o.Job.Name, jobWords(ended))}
	}
}

func reasonOfLimit(phase v1alpha1.Phase) string { return phaseLimits[phase].reason }

// jobEnded is the condition with which a Job has ended; nil while it goes on, and for no Job.
func jobEnded(j *batchv1.Job) *batchv1.JobCondition {
	if j == nil {
		return nil
	}
	for i := range j.Status.Conditions {
		c := &j.Status.Conditions[i]
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c
		}
	}
	return nil
}

func jobWords(c *batchv1.JobCondition) string { return join(c.Reason, c.Message) }

// podRefused says that the Job controller may not create the pod. Its tries go on, so the run does
// once the pod is let in.
func podRefused(o Observation) *block {
	e := latest(o.Events, func(e *corev1.Event) bool {
		return e.InvolvedObject.Kind == "Job" && e.Reason == "FailedCreate"
	})
	switch {
	case e == nil:
		return nil
	case IsQuotaMessage(e.Message):
		return &block{v1alpha1.ReasonQuotaExceeded, e.Message}
	default:
		return &block{v1alpha1.ReasonPodRejected, e.Message}
	}
}

// IsQuotaMessage says that a refusal is a ResourceQuota's. The API has no reason of its own for it.
func IsQuotaMessage(s string) bool {
	return strings.Contains(s, "exceeded quota") || strings.Contains(s, "failed quota")
}

// phaseOf tells the phase from the children.
func phaseOf(o Observation, pod *corev1.Pod) v1alpha1.Phase {
	if pod != nil {
		switch {
		case started(containerStatus(pod, engineContainer)):
			return v1alpha1.PhaseRunning
		case started(containerStatus(pod, prepareContainer)):
			return v1alpha1.PhasePreparing
		}
	}
	unbound := unboundClaims(o)
	if len(unbound) == 0 {
		return v1alpha1.PhaseScheduling
	}
	// The scheduler takes its choice back when provisioning fails there, and makes another. The clock
	// of Provisioning must not start over each time, so the phase stays.
	if o.run().Phase == v1alpha1.PhaseProvisioning || !waitsForConsumer(o) ||
		slices.ContainsFunc(unbound, func(c corev1.PersistentVolumeClaim) bool { return c.Annotations[selectedNode] != "" }) {
		return v1alpha1.PhaseProvisioning
	}
	return v1alpha1.PhaseScheduling
}

// unboundClaims are the run's own that still wait for their volume; what an existing claim waits for is
// its owner's affair.
func unboundClaims(o Observation) []corev1.PersistentVolumeClaim {
	if o.spec().ClaimName != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Claims), func(c corev1.PersistentVolumeClaim) bool {
		return c.Status.Phase == corev1.ClaimBound
	})
}

func waitsForConsumer(o Observation) bool {
	return o.Class != nil && o.Class.VolumeBindingMode != nil &&
		*o.Class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func phaseMessage(o Observation, phase v1alpha1.Phase) string {
	switch phase {
	case v1alpha1.PhaseProvisioning:
		if n := len(o.Claims); n > 1 {
			return fmt.Sprintf("waiting for the volumes to be provisioned and bound, %d of %d are", n-len(unboundClaims(o)), n)
		}
		return "waiting for the volume to be provisioned and bound"
	case v1alpha1.PhasePreparing:
		return "writing the file"
	case v1alpha1.PhaseRunning:
		about := "about"
		if plan.MayEndEarly(o.Plan) {
			about = "at most"
		}
		return fmt.Sprintf("measuring, %s %s", about, time.Duration(plan.Seconds(o.Plan))*time.Second+almostDone)
	default:
		return "waiting for the pod to be placed and started"
	}
}

// lastWords are the last thing known about what a phase waits for.
func lastWords(o Observation, pod *corev1.Pod, phase v1alpha1.Phase) string {
	var words string
	switch phase {
	case v1alpha1.PhaseProvisioning:
		// While its claim is unbound, the pod can only say that its claim is unbound.
		if words = eventWords(o, "PersistentVolumeClaim"); words == "" {
			words = waitingWords(pod)
		}
	case v1alpha1.PhaseScheduling:
		if words = waitingWords(pod); words == "" {
			words = eventWords(o, podKind(pod))
		}
	default:
		// The other phases wait for the engine, which tells its progress in its log.
	}
	if words == "" {
		return ""
	}
	return words + hint(words, o.classParameters())
}

// podKind is the kind whose events tell what a pod waits for: the Job's before there is a pod.
func podKind(pod *corev1.Pod) string {
	if pod == nil {
		return "Job"
	}
	return "Pod"
}

// eventWords is the newest warning about a child of a kind. Warnings of a scheduler that has found a
// node since are history.
func eventWords(o Observation, kind string) string {
	pod := o.pod()
	placed := pod != nil && pod.Spec.NodeName != ""
	e := latest(o.Events, func(e *corev1.Event) bool {
		return e.InvolvedObject.Kind == kind && !(placed && e.Reason == "FailedScheduling")
	})
	if e == nil {
		return ""
	}
	return join(e.Reason, foreign(e.Message))
}

func (o *Observation) classParameters() map[string]string {
	if o.Class != nil {
		return o.Class.Parameters
	}
	return o.run().Parameters
}

func join(head, tail string) string {
	switch {
	case head == "":
		return tail
	case tail == "":
		return head
	default:
		return head + ": " + tail
	}
}
