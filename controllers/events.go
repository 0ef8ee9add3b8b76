// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

const (
	// maxEventNote is the API's limit of an event's note.
	maxEventNote = 1024
	// eventAction is what the events' API calls the action: what the controller did.
	eventAction = "Reconcile"
	// reasonWarning is the reason of an event about a warning in status.
	reasonWarning = "Warning"
)

// tell records what changed between two stored statuses as events, and in the log.
func (r *DiskBenchmarkReconciler) tell(ctx context.Context, before, after *v1alpha1.DiskBenchmark) {
	was := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionReady)
	is := meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionReady)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		kind := corev1.EventTypeNormal
		if meta.IsStatusConditionTrue(after.Status.Conditions, v1alpha1.ConditionStalled) || failed(after) {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(after, nil, kind, is.Reason, eventAction, "%s", note(is.Message))
		log.FromContext(ctx).Info("state changed", "reason", is.Reason, "message", is.Message)
	}
	for _, w := range after.Status.Warnings {
		if !slices.Contains(before.Status.Warnings, w) {
			r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, reasonWarning, eventAction, "%s", note(w))
		}
	}
}

// failed says that the run has ended otherwise than by success or by somebody's wish.
func failed(b *v1alpha1.DiskBenchmark) bool {
	run := b.Status.Run
	return run != nil && !slices.Contains([]string{
		"", v1alpha1.ReasonCompleted, v1alpha1.ReasonSuperseded, v1alpha1.ReasonSuspended,
	}, run.Outcome)
}

func note(s string) string {
	if len(s) <= maxEventNote {
		return s
	}
	return strings.ToValidUTF8(s[:maxEventNote-3], "") + "..."
}
