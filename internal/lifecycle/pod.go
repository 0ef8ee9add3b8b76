// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

const (
	prepareContainer = resources.PrepareContainer
	engineContainer  = resources.EngineContainer

	// pullGrace lets a registry's hiccup pass: the kubelet tries again after 10 and 20 seconds.
	pullGrace = time.Minute

	// maxForeignText is how much of somebody else's text goes into a message, such as the end of a
	// log. A condition's message has 32 KiB at most; people read the first lines.
	maxForeignText = 1000

	// maxKubeletLog is how much of a log's end the kubelet gives as a termination message, in bytes:
	// kubecontainer.MaxContainerTerminationMessageLogLength.
	maxKubeletLog = 2048
)

// podOutcome is the outcome that a pod shows, nil while it may still have one. Only the terminated
// state of our own containers counts: sidecars may keep the pod running long after.
func podOutcome(pod *corev1.Pod, node *corev1.Node, now time.Time) *Outcome {
	if t := terminated(pod, engineContainer); t != nil {
		return engineOutcome(pod, node, t)
	}
	if t := terminated(pod, prepareContainer); t != nil && t.ExitCode != 0 {
		return failureOutcome(pod, node, prepareContainer, t)
	}
	if pod.Status.Phase == corev1.PodFailed {
		return failedPod(pod)
	}
	return pullFailure(pod, node, now)
}

// engineOutcome reads the result. Exit code 0 without a whole result is a failure too.
func engineOutcome(pod *corev1.Pod, node *corev1.Node, t *corev1.ContainerStateTerminated) *Outcome {
	if t.ExitCode != 0 {
		return failureOutcome(pod, node, engineContainer, t)
	}
	p, err := planOf(pod)
	if err != nil {
		return &Outcome{Reason: v1alpha1.ReasonResultLost, Message: err.Error()}
	}
	r, err := report.Decode([]byte(t.Message), p.Workloads)
	var failure *report.Failure
	switch {
	case errors.As(err, &failure):
		return &Outcome{Reason: string(failure.Reason), Message: failure.Message}
	case err != nil:
		return &Outcome{Reason: v1alpha1.ReasonResultLost,
			Message: fmt.Sprintf("the engine ended with exit code 0, but its result cannot be read: %v", err)}
	default:
		return &Outcome{Reason: v1alpha1.ReasonCompleted, Report: r, Plan: p}
	}
}

// planOf is the plan that the pod was given.
func planOf(pod *corev1.Pod) (workload.Plan, error) {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == engineContainer })
	if i < 0 {
		return workload.Plan{}, fmt.Errorf("Pod %s has no container %s", pod.Name, engineContainer) //nolint:staticcheck // A kind's name is capitalized.
	}
	return plan.FromArguments(pod.Spec.Containers[i].Args)
}

// failureOutcome says why a container failed. A disruption explains whatever the container says; the
// engine's own words explain more than an exit code.
func failureOutcome(pod *corev1.Pod, node *corev1.Node, name string, t *corev1.ContainerStateTerminated) *Outcome {
	if why := disruption(pod); why != "" {
		return &Outcome{Reason: v1alpha1.ReasonInterrupted, Message: why}
	}
	var failure *report.Failure
	if _, err := report.Decode([]byte(t.Message), nil); errors.As(err, &failure) {
		return &Outcome{Reason: string(failure.Reason), Message: failure.Message}
	}
	switch {
	case t.Reason == "OOMKilled":
		return &Outcome{Reason: v1alpha1.ReasonOutOfMemory, Message: fmt.Sprintf(
			"container %s was killed for its memory use: raise pod.resources.limits.memory", name)}
	case isWrongPlatform(t.Message):
		return &Outcome{Reason: v1alpha1.ReasonEngineFailed, Message: wrongPlatform(pod, node)}
	}
	message := fmt.Sprintf("container %s ended with exit code %d", name, t.ExitCode)
	if signal := signalOf(t); signal != 0 {
		message = fmt.Sprintf("container %s was ended by signal %d", name, signal)
	}
	if t.Reason != "" && t.Reason != "Error" {
		message += " (" + t.Reason + ")"
	}
	return &Outcome{Reason: v1alpha1.ReasonEngineFailed, Message: join(message, foreign(lastLog(t.Message)))}
}

// signalOf is the signal that ended a container, 0 for none. Container runtimes leave it to the exit
// code, as shells do: 128 and the signal's number, of which Linux has 64.
func signalOf(t *corev1.ContainerStateTerminated) int32 {
	if n := t.ExitCode - 128; t.Signal == 0 && n > 0 && n <= 64 {
		return n
	}
	return t.Signal
}

// lastLog is what the end of the engine's log says of its end: progress, in lines of JSON, says only
// how far it came. A log of the kubelet's full length begins within a line.
func lastLog(log string) string {
	if len(log) >= maxKubeletLog {
		_, log, _ = strings.Cut(log, "\n")
	}
	lines := slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool {
		return json.Valid([]byte(line))
	})
	return strings.Join(lines, "\n")
}

// disruption says how somebody ended the pod from outside.
func disruption(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("Pod %s was disrupted: %s", pod.Name, join(c.Reason, foreign(c.Message)))
		}
	}
	return ""
}

// failedPod is about a pod that failed without one of its containers saying so: evicted, preempted,
// shut down with its node or refused by the kubelet.
func failedPod(pod *corev1.Pod) *Outcome {
	why := disruption(pod)
	if why == "" {
		why = fmt.Sprintf("Pod %s failed: %s", pod.Name, join(pod.Status.Reason, foreign(pod.Status.Message)))
	}
	return &Outcome{Reason: v1alpha1.ReasonInterrupted, Message: why}
}

// pullFailure ends a run whose image cannot be pulled, after a grace for what may pass.
func pullFailure(pod *corev1.Pod, node *corev1.Node, now time.Time) *Outcome {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := s.State.Waiting
		if w == nil || s.Name != prepareContainer && s.Name != engineContainer {
			continue
		}
		message := fmt.Sprintf("image %s: %s", s.Image, join(w.Reason, foreign(w.Message)))
		if isWrongPlatform(w.Message) {
			return &Outcome{Reason: v1alpha1.ReasonImagePullFailed, Message: wrongPlatform(pod, node)}
		}
		switch w.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			return &Outcome{Reason: v1alpha1.ReasonImagePullFailed, Message: message}
		case "ErrImagePull", "ImagePullBackOff":
			if now.Sub(pullStart(pod)) >= pullGrace {
				return &Outcome{Reason: v1alpha1.ReasonImagePullFailed, Message: message}
			}
		}
	}
	return nil
}

// pullStart is when the pod's sandbox was ready, just before its images are pulled.
func pullStart(pod *corev1.Pod) time.Time {
	start := pod.CreationTimestamp.Time
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers} {
		if t := conditionTime(pod, kind); t != nil {
			start = *t
		}
	}
	return start
}

// conditionTime is when a condition of the pod became True; nil while it is not.
func conditionTime(pod *corev1.Pod, kind corev1.PodConditionType) *time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return &c.LastTransitionTime.Time
		}
	}
	return nil
}

func isWrongPlatform(message string) bool {
	return strings.Contains(message, "exec format error") || strings.Contains(message, "no match for platform")
}

func wrongPlatform(pod *corev1.Pod, node *corev1.Node) string {
	architecture := "the node's architecture"
	if node != nil && node.Status.NodeInfo.Architecture != "" {
		architecture = node.Status.NodeInfo.Architecture
	}
	return fmt.Sprintf("image %s lacks %s: use a multi-architecture image, or pod.nodeSelector kubernetes.io/arch",
		pod.Spec.Containers[0].Image, architecture)
}

// waitingWords say what a pod waits for, in the scheduler's or the kubelet's words.
func waitingWords(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return join(c.Reason, foreign(c.Message))
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Message != "" {
			return join(w.Reason, foreign(w.Message))
		}
	}
	return ""
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

func terminated(pod *corev1.Pod, name string) *corev1.ContainerStateTerminated {
	if s := containerStatus(pod, name); s != nil {
		return s.State.Terminated
	}
	return nil
}

// started says that a container runs or has run.
func started(s *corev1.ContainerStatus) bool {
	return s != nil && (s.State.Running != nil || s.State.Terminated != nil)
}

// foreign is somebody else's text, cut.
func foreign(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxForeignText {
		return s
	}
	return cut(s, maxForeignText) + "..."
}

// cut is the beginning of a text, at most n bytes and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
