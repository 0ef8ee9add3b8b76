// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
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
	case lifecycle.ActionDeleteClaims:
		return r.deleteClaims(ctx, o.Claims)
	default:
		return nil
	}
}

// create makes the claims and the Job where they are missing. A DiskBenchmark read from a cache that
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
	if o.Benchmark.Spec.ClaimName == nil {
		if err := r.createClaims(ctx, o); err != nil {
			return err
		}
	}
	if o.Job != nil {
		return nil
	}
	busy, err := r.hostnames(ctx, o.Slot.BusyNodes)
	if err != nil {
		return err
	}
	return r.createChild(ctx, o, resources.Job(o.Benchmark, run, resources.JobOptions{
		Image: r.EngineImage, Plan: encoded, BusyHosts: busy,
		BackstopSeconds: lifecycle.BackstopSeconds(&o.Benchmark.Spec, o.Plan),
	}))
}

func (r *DiskBenchmarkReconciler) createClaims(ctx context.Context, o lifecycle.Observation) error {
	for _, claim := range resources.Claims(o.Benchmark, o.Benchmark.Status.Run, o.Class.Name) {
		if slices.ContainsFunc(o.Claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == claim.Name }) {
			continue
		}
		if err := r.createChild(ctx, o, claim); err != nil {
			return err
		}
	}
	return nil
}

// hostnames are the labels by which the scheduler tells nodes apart. A node that is gone, or that the
// operator may not read, has the name that most do.
func (r *DiskBenchmarkReconciler) hostnames(ctx context.Context, nodes []string) ([]string, error) {
	var out []string
	for _, name := range nodes {
		node := &corev1.Node{}
		_, err := r.getLive(ctx, "", name, node)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		out = append(out, cmp.Or(node.Labels[corev1.LabelHostname], name))
	}
	return out, nil
}

// createChild creates an object. One of the name that was not there when this step was decided is a
// stranger's, or our own, which the next look will see.
func (r *DiskBenchmarkReconciler) createChild(ctx context.Context, o lifecycle.Observation, child client.Object) error {
	err := r.Create(ctx, child)
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.existing(ctx, o, child)
	case err != nil:
		return fmt.Errorf("create: %w", err)
	default:
		return nil
	}
}

// existing tells whose the object is that has the name of a child. What the API server answers decides:
// a stranger's is not in our cache.
func (r *DiskBenchmarkReconciler) existing(ctx context.Context, o lifecycle.Observation, child client.Object) error {
	ok, err := r.getLive(ctx, child.GetNamespace(), child.GetName(), child)
	if err != nil {
		return err
	}
	if !ok || resources.Owned(child, o.Benchmark, o.Benchmark.Status.Run.Number) {
		return errStale
	}
	kind, err := r.GroupVersionKindFor(child)
	if err != nil {
		return fmt.Errorf("name the kind of %s: %w", child.GetName(), err)
	}
	return strangerError{kind.Kind + " " + child.GetName()}
}

// strangerError names somebody else's object that has the name of a child.
type strangerError struct{ object string }

func (e strangerError) Error() string { return e.object + " exists and is not ours" }

func (r *DiskBenchmarkReconciler) deleteClaims(ctx context.Context, claims []corev1.PersistentVolumeClaim) error {
	for i := range claims {
		if claims[i].DeletionTimestamp != nil {
			continue
		}
		if err := r.delete(ctx, &claims[i], metav1.DeletePropagationBackground); err != nil {
			return err
		}
	}
	return nil
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
