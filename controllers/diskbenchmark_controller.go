// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers holds the reconcilers. They observe, let a pure function decide, act, and
// store one status; nothing is calculated here.
package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/lifecycle"
)

const (
	// defaultPollInterval is how often a run is looked at whose next step no watch announces: events,
	// quotas, existing claims and volumes are read, not watched, to keep a cluster's worth of them out
	// of memory.
	defaultPollInterval = 10 * time.Second
	// cleanupPollInterval is shorter, since the next run waits and the disk costs: volumes are not
	// watched either, and most go within seconds.
	cleanupPollInterval = 2 * time.Second
	// conflictRetry is how soon to look again when the cache lagged behind.
	conflictRetry = 200 * time.Millisecond
	// concurrentReconciles let one slow API call hold up few others; runs are limited elsewhere.
	concurrentReconciles = 4
)

// DiskBenchmarkReconciler reconciles DiskBenchmarks.
type DiskBenchmarkReconciler struct {
	client.Client
	// Live reads from the API server. What decides that something is gone is read there.
	Live client.Reader
	// Recorder records events.
	Recorder events.EventRecorder
	// Clock tells the time of the deadlines.
	Clock clock.PassiveClock
	// EngineImage is the image of the engine where the spec names none.
	EngineImage string
	// MaxConcurrentRuns is how many runs may go on at a time in the whole cluster; at least 1.
	MaxConcurrentRuns int
	// Catalogs tell what is known of disks and prices; nil leaves costs and limits out.
	Catalogs *Catalogs
	// PollInterval replaces the intervals of this package when it is set.
	PollInterval time.Duration
	// SkipNameValidation lets several managers of one process have the controller.
	SkipNameValidation bool

	slots slots
}

// +kubebuilder:rbac:groups=diskbench.dev,resources=diskbenchmarks,verbs=get;list;watch
// +kubebuilder:rbac:groups=diskbench.dev,resources=diskbenchmarks/status,verbs=get;patch
// +kubebuilder:rbac:groups=diskbench.dev,resources=diskbenchmarks/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=nodes;persistentvolumes,verbs=get
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=volumeattributesclasses,verbs=get

// Reconcile takes a DiskBenchmark one step further.
func (r *DiskBenchmarkReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	b := &v1alpha1.DiskBenchmark{}
	if err := r.Get(ctx, req.NamespacedName, b); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	o, err := r.observe(ctx, b)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := lifecycle.Decide(o)
	if d.Action == lifecycle.ActionIgnore {
		return ctrl.Result{}, nil
	}
	err = r.act(ctx, o, d)
	if d.Action != lifecycle.ActionCreate || err != nil {
		r.slots.release(b.UID)
	}
	if refusal, stranger := refusalOf(err), (strangerError{}); refusal != nil || errors.As(err, &stranger) {
		o.Refusal, o.Stranger = refusal, cmp.Or(stranger.object, o.Stranger)
		d, err = lifecycle.Decide(o), nil
	}
	if again(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return r.store(ctx, o, d)
}

// store writes the status of a decision, in one patch that fails if anything was written since the
// DiskBenchmark was read, and then tells events.
func (r *DiskBenchmarkReconciler) store(ctx context.Context, o lifecycle.Observation, d lifecycle.Decision) (ctrl.Result, error) {
	before := o.Benchmark
	after := before.DeepCopy()
	after.Status = lifecycle.Status(o, d)
	result := ctrl.Result{RequeueAfter: r.nextLook(o.Now, d)}
	if result.RequeueAfter == 0 && o.Prices != nil && len(after.Status.Measurements) > 0 {
		result.RequeueAfter = o.Prices.NewerAfter
		if r.PollInterval > 0 {
			result.RequeueAfter = min(result.RequeueAfter, r.PollInterval)
		}
	}
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return result, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Status().Patch(ctx, after, patch)
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("store the status of DiskBenchmark %s: %w", client.ObjectKeyFromObject(before), err)
	}
	r.tell(ctx, before, after)
	return result, nil
}

// nextLook is when to decide again if no watch says so earlier; 0: never.
func (r *DiskBenchmarkReconciler) nextLook(now time.Time, d lifecycle.Decision) time.Duration {
	if d.State != lifecycle.Working && d.State != lifecycle.Blocked {
		return 0
	}
	next := defaultPollInterval
	if d.Phase == v1alpha1.PhaseCleaningUp {
		next = cleanupPollInterval
	}
	if r.PollInterval > 0 {
		next = r.PollInterval
	}
	if !d.Deadline.IsZero() {
		next = min(next, max(d.Deadline.Sub(now), conflictRetry))
	}
	return next
}

// SetupWithManager adds the reconciler to a manager.
func (r *DiskBenchmarkReconciler) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.DiskBenchmark{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(benchmarkOfPod)).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(r.pendingBenchmarks)).
		Watches(&v1alpha1.DiskBenchmark{}, handler.EnqueueRequestsFromMapFunc(r.queuedBenchmarks)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrentReconciles,
			SkipNameValidation:      &r.SkipNameValidation,
		})
	if r.Catalogs != nil && r.Catalogs.Overlay.Name != "" {
		b = b.Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.measuredBenchmarks))
	}
	return b.Complete(r)
}

// measuredBenchmarks have figures, from which costs and limits follow with the catalog.
func (r *DiskBenchmarkReconciler) measuredBenchmarks(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx, func(b *v1alpha1.DiskBenchmark) bool { return len(b.Status.Measurements) > 0 })
}

// benchmarkOfPod finds a pod's DiskBenchmark by label: its owner is the Job.
func benchmarkOfPod(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelBenchmark]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// pendingBenchmarks may be waiting for a class that has come.
func (r *DiskBenchmarkReconciler) pendingBenchmarks(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx, func(b *v1alpha1.DiskBenchmark) bool {
		return b.Status.Run != nil && b.Status.Run.Phase == v1alpha1.PhasePending
	})
}

// queuedBenchmarks may be waiting for the slot of one that does not hold it any more, or for the node of
// one that has found it.
func (r *DiskBenchmarkReconciler) queuedBenchmarks(ctx context.Context, o client.Object) []reconcile.Request {
	b, ok := o.(*v1alpha1.DiskBenchmark)
	if !ok || lifecycle.HoldsSlot(b) && (r.MaxConcurrentRuns <= 1 || b.Status.Run.NodeName == "") {
		return nil
	}
	return r.requests(ctx, func(b *v1alpha1.DiskBenchmark) bool {
		return b.UID != o.GetUID() && lifecycle.Queued(b)
	})
}

func (r *DiskBenchmarkReconciler) requests(ctx context.Context, fits func(*v1alpha1.DiskBenchmark) bool) []reconcile.Request {
	var list v1alpha1.DiskBenchmarkList
	if err := r.List(ctx, &list); err != nil {
		log.FromContext(ctx).Error(err, "cannot list DiskBenchmarks; those that wait look again by themselves")
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if b := &list.Items[i]; fits(b) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b)})
		}
	}
	return out
}
