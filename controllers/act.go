// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/lifecycle"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

// errStale says that the decision was made on something that is no longer so.
var errStale = errors.New("the DiskBenchmark or its children changed meanwhile")

// again says that the same step is to be tried anew on what is there now.
func again(err error) bool { return errors.Is(err, errStale) }

// act does what was decided.
func (r *DiskBenchmarkReconciler) act(ctx context.Context, o lifecycle.Observation, d lifecycle.Decision) error {
	switch d.Action {
	case lifecycle.ActionCreate:
		return r.create(ctx, o)
	case lifecycle.ActionDeleteJob:
		return r.delete(ctx, o.Job, metav1.DeletePropagationForeground)
	case lifecycle.ActionDeleteClaim:
		return r.delete(ctx, o.Claim, metav1.DeletePropagationBackground)
	default:
		return nil
	}
}

// create makes the claim and the Job where they are missing. A DiskBenchmark read from a cache that
// lags may be past that, its Job done and deleted, so the API server is asked first.
func (r *DiskBenchmarkReconciler) create(ctx context.Context, o lifecycle.Observation) error {
	live := &v1alpha1.DiskBenchmark{}
	if ok, err := r.getLive(ctx, o.Benchmark.Namespace, o.Benchmark.Name, live); err != nil {
		return err
	} else if !ok || live.ResourceVersion != o.Benchmark.ResourceVersion {
		return errStale
	}
	run := o.Benchmark.Status.Run
	encoded, err := plan.Encode(o.Plan)
	if err != nil {
		return err
	}
	if o.Benchmark.Spec.ClaimName == nil && o.Claim == nil {
		if err := r.createChild(ctx, resources.Claim(o.Benchmark, run, o.Class.Name)); err != nil {
			return err
		}
	}
	if o.Job != nil {
		return nil
	}
	return r.createChild(ctx, resources.Job(o.Benchmark, run, resources.JobOptions{
		Image: r.EngineImage, Plan: encoded, BackstopSeconds: lifecycle.BackstopSeconds(&o.Benchmark.Spec, o.Plan),
	}))
}

// createChild creates an object. One that exists already was not there when this step was decided:
// the next look tells whether it is ours.
func (r *DiskBenchmarkReconciler) createChild(ctx context.Context, child client.Object) error {
	err := r.Create(ctx, child)
	switch {
	case apierrors.IsAlreadyExists(err):
		return errStale
	case err != nil:
		return fmt.Errorf("create: %w", err)
	default:
		return nil
	}
}

// delete asks for a child's deletion. The UID makes sure that it is that very child. A Job goes in
// the foreground, after its pod: with no propagation set the pod would stay, orphaned, and hold on to
// the claim.
func (r *DiskBenchmarkReconciler) delete(ctx context.Context, child client.Object, how metav1.DeletionPropagation) error {
	uid := child.GetUID()
	err := r.Delete(ctx, child, client.PropagationPolicy(how), client.Preconditions{UID: &uid})
	if err = client.IgnoreNotFound(err); err == nil || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("delete: %w", err)
}

// refusalOf tells an answer that trying again at once would not change; nil for any other.
func refusalOf(err error) *lifecycle.Refusal {
	switch {
	case apierrors.IsForbidden(err) && lifecycle.IsQuotaMessage(err.Error()):
		return &lifecycle.Refusal{Kind: lifecycle.RefusedByQuota, Message: answer(err)}
	case apierrors.IsInvalid(err):
		return &lifecycle.Refusal{Kind: lifecycle.RefusedAsInvalid, Message: answer(err)}
	case apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return &lifecycle.Refusal{Kind: lifecycle.RefusedByPolicy, Message: answer(err)}
	default:
		return nil
	}
}

// answer is the API server's message, which names the object.
func answer(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}
