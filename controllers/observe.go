// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/lifecycle"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

// defaultClassAnnotations mark a default class; the second is older and still honored by Kubernetes.
var defaultClassAnnotations = []string{
	"storageclass.kubernetes.io/is-default-class",
	"storageclass.beta.kubernetes.io/is-default-class",
}

// observe reads everything that the next decision may depend on.
func (r *DiskBenchmarkReconciler) observe(ctx context.Context, b *v1alpha1.DiskBenchmark) (lifecycle.Observation, error) {
	o := lifecycle.Observation{Now: r.Clock.Now().Truncate(time.Second), Benchmark: b}
	if b.DeletionTimestamp != nil {
		return o, nil
	}
	var err error
	if o.Hash, err = plan.Hash(&b.Spec); err != nil {
		return o, err
	}
	o.Plan, o.PlanErr = plan.Build(&b.Spec)
	if o.Prices, err = r.prices(ctx, b); err != nil {
		return o, err
	}
	if settled(b) || b.Status.Run == nil {
		return o, nil
	}
	for _, read := range []func(context.Context, *lifecycle.Observation) error{
		r.observeJob, r.observeClaims, r.observeClass, r.observeAttributesClass, r.observePods, r.observeVolumes, r.observeNode,
		r.observeEvents, r.observeSlot, r.observeClaimUsers,
	} {
		if err := read(ctx, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// settled says that the run is over and nobody has edited anything since.
func settled(b *v1alpha1.DiskBenchmark) bool {
	run := b.Status.Run
	return run != nil && run.Phase == v1alpha1.PhaseDone && b.Generation == b.Status.ObservedGeneration
}

// get reads from the cache, and what is not there from the API server: a cache may lag, and holds
// none but our own objects. It returns false for what does not exist.
func (r *DiskBenchmarkReconciler) get(ctx context.Context, namespace, name string, into client.Object) (bool, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	err := r.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, into)
	}
	return found(err)
}

// getLive reads from the API server.
func (r *DiskBenchmarkReconciler) getLive(ctx context.Context, namespace, name string, into client.Object) (bool, error) {
	return found(r.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, into))
}

// getIfAllowed reads an object of the cluster's. In namespaced mode the right to may be missing: then it
// notes what remains unknown.
func (r *DiskBenchmarkReconciler) getIfAllowed(ctx context.Context, o *lifecycle.Observation, name string, into client.Object, lack string) (bool, error) {
	ok, err := r.getLive(ctx, "", name, into)
	if apierrors.IsForbidden(err) {
		o.Notes = append(o.Notes, lack)
		return false, nil
	}
	return ok, err
}

func found(err error) (bool, error) {
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read: %w", err)
	default:
		return true, nil
	}
}

func (r *DiskBenchmarkReconciler) observeJob(ctx context.Context, o *lifecycle.Observation) error {
	run, job := o.Benchmark.Status.Run, &batchv1.Job{}
	ok, err := r.get(ctx, o.Benchmark.Namespace, run.Name, job)
	switch {
	case err != nil || !ok:
		return err
	case resources.Owned(job, o.Benchmark, run.Number):
		o.Job = job
	default:
		o.Stranger = "Job " + job.Name
	}
	return nil
}

// observeClaims reads the run's own claims by their labels, whatever their number: an edit may have
// changed how many the spec asks for. Missing ones are looked for at the API server.
func (r *DiskBenchmarkReconciler) observeClaims(ctx context.Context, o *lifecycle.Observation) error {
	claims, err := ownClaims(ctx, r.Client, o.Benchmark)
	if err != nil {
		return err
	}
	cleaning := o.Benchmark.Status.Run.Outcome != ""
	if cleaning || o.Benchmark.Spec.ClaimName == nil && len(claims) < plan.Volumes(&o.Benchmark.Spec) {
		if claims, err = ownClaims(ctx, r.Live, o.Benchmark); err != nil {
			return err
		}
	}
	o.Claims = claims
	if o.Benchmark.Spec.ClaimName == nil {
		return nil
	}
	existing := &corev1.PersistentVolumeClaim{}
	ok, err := r.getLive(ctx, o.Benchmark.Namespace, *o.Benchmark.Spec.ClaimName, existing)
	if ok {
		o.ExistingClaim = existing
	}
	return err
}

func ownClaims(ctx context.Context, from client.Reader, b *v1alpha1.DiskBenchmark) ([]corev1.PersistentVolumeClaim, error) {
	var list corev1.PersistentVolumeClaimList
	number := b.Status.Run.Number
	if err := from.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingLabels(resources.RunLabels(b, number))); err != nil {
		return nil, fmt.Errorf("list the claims of run %d: %w", number, err)
	}
	claims := slices.DeleteFunc(list.Items, func(c corev1.PersistentVolumeClaim) bool { return !resources.Owned(&c, b, number) })
	slices.SortFunc(claims, func(a, b corev1.PersistentVolumeClaim) int { return cmp.Compare(a.Name, b.Name) })
	return claims, nil
}

// claimsInUse are the existing claim, or the run's own.
func claimsInUse(o *lifecycle.Observation) []corev1.PersistentVolumeClaim {
	if o.ExistingClaim != nil {
		return []corev1.PersistentVolumeClaim{*o.ExistingClaim}
	}
	return o.Claims
}

// observeClass reads the class that is or will be used: the claim's, the spec's or the default.
func (r *DiskBenchmarkReconciler) observeClass(ctx context.Context, o *lifecycle.Observation) error {
	name := o.Benchmark.Spec.StorageClassName
	if claims := claimsInUse(o); len(claims) > 0 {
		name = claims[0].Spec.StorageClassName
	} else if name == nil {
		var err error
		o.Class, err = r.defaultClass(ctx)
		return err
	}
	if name == nil || *name == "" {
		return nil
	}
	class := &storagev1.StorageClass{}
	ok, err := r.get(ctx, "", *name, class)
	if ok {
		o.Class = class
	}
	return err
}

// observeAttributesClass reads the VolumeAttributesClass of the claims, until its parameters are recorded.
// A cluster may be too old to know of any.
func (r *DiskBenchmarkReconciler) observeAttributesClass(ctx context.Context, o *lifecycle.Observation) error {
	claims, run := claimsInUse(o), o.Benchmark.Status.Run
	if len(claims) == 0 || run.VolumeAttributesParameters != nil || run.Outcome != "" {
		return nil
	}
	name := lifecycle.AttributesClassInEffect(&claims[0])
	if name == "" {
		return nil
	}
	class := &storagev1.VolumeAttributesClass{}
	ok, err := r.getIfAllowed(ctx, o, name, class,
		"the operator may not read VolumeAttributesClasses: what they change of the disk is unknown")
	if meta.IsNoMatchError(err) {
		return nil
	}
	if ok {
		o.AttributesClass = class
	}
	return err
}

// defaultClass is the newest class marked as the default, as Kubernetes chooses among several.
func (r *DiskBenchmarkReconciler) defaultClass(ctx context.Context) (*storagev1.StorageClass, error) {
	for _, reader := range []client.Reader{r.Client, r.Live} {
		var list storagev1.StorageClassList
		if err := reader.List(ctx, &list); err != nil {
			return nil, fmt.Errorf("list storage classes: %w", err)
		}
		defaults := slices.DeleteFunc(list.Items, func(c storagev1.StorageClass) bool { return !isDefault(&c) })
		if len(defaults) > 0 {
			newest := slices.MinFunc(defaults, newestFirst)
			return &newest, nil
		}
	}
	return nil, nil
}

func isDefault(c *storagev1.StorageClass) bool {
	return slices.ContainsFunc(defaultClassAnnotations, func(a string) bool { return c.Annotations[a] == "true" })
}

func newestFirst(a, b storagev1.StorageClass) int {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// observePods reads the pods of the run. A missing pod may end the run, so it is looked for at the
// API server before that is believed.
func (r *DiskBenchmarkReconciler) observePods(ctx context.Context, o *lifecycle.Observation) error {
	run := o.Benchmark.Status.Run
	pods, err := listPods(ctx, r.Client, o.Benchmark)
	if err != nil {
		return err
	}
	missing := len(pods) == 0
	if run.PodUID != "" {
		missing = !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == run.PodUID })
	}
	if missing && run.Phase != v1alpha1.PhasePending {
		pods, err = listPods(ctx, r.Live, o.Benchmark)
	}
	o.Pods = pods
	return err
}

func listPods(ctx context.Context, from client.Reader, b *v1alpha1.DiskBenchmark) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := from.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingLabels(resources.RunLabels(b, b.Status.Run.Number)))
	if err != nil {
		return nil, fmt.Errorf("list the pods of run %d: %w", b.Status.Run.Number, err)
	}
	return list.Items, nil
}

// observeVolumes reads the PersistentVolumes, by the names that the claims give or gave. Without the
// right to, a run goes on and says what it lacks.
func (r *DiskBenchmarkReconciler) observeVolumes(ctx context.Context, o *lifecycle.Observation) error {
	for _, name := range volumeNames(o) {
		volume := &corev1.PersistentVolume{}
		ok, err := r.getIfAllowed(ctx, o, name, volume,
			"the operator may not read PersistentVolumes: the disk's handle and reclaim policy are unknown")
		if err != nil {
			return err
		}
		if ok {
			o.Volumes = append(o.Volumes, *volume)
		}
	}
	return nil
}

// volumeNames are those to read: all while they are made and while they go, and in between those of
// which nothing is known yet.
func volumeNames(o *lifecycle.Observation) []string {
	run := o.Benchmark.Status.Run
	settled := run.Phase == v1alpha1.PhasePreparing || run.Phase == v1alpha1.PhaseRunning
	known := map[string]bool{}
	var names []string
	for _, v := range run.Volumes {
		known[v.VolumeName] = settled && v.ReclaimPolicy != ""
		names = append(names, v.VolumeName)
	}
	for _, c := range claimsInUse(o) {
		names = append(names, c.Spec.VolumeName)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" || known[name] })
}

func (r *DiskBenchmarkReconciler) observeNode(ctx context.Context, o *lifecycle.Observation) error {
	i := slices.IndexFunc(o.Pods, func(p corev1.Pod) bool { return p.Spec.NodeName != "" })
	if i < 0 || o.Benchmark.Status.Run.Outcome != "" {
		return nil
	}
	node := &corev1.Node{}
	ok, err := r.getIfAllowed(ctx, o, o.Pods[i].Spec.NodeName, node,
		"the operator may not read Nodes: VM size, region and zone are unknown")
	if ok {
		o.Node = node
	}
	return err
}

// maxClaimsAsked is for how many unbound claims warnings are read at a time: what keeps one of many
// alike from being bound mostly keeps the others, too.
const maxClaimsAsked = 4

// observeEvents reads the warnings about the children while they are waited for.
func (r *DiskBenchmarkReconciler) observeEvents(ctx context.Context, o *lifecycle.Observation) error {
	phase := o.Benchmark.Status.Run.Phase
	if phase != v1alpha1.PhaseProvisioning && phase != v1alpha1.PhaseScheduling {
		return nil
	}
	var about []types.UID
	for i := range o.Claims {
		if c := &o.Claims[i]; c.Status.Phase != corev1.ClaimBound && len(about) < maxClaimsAsked {
			about = append(about, c.UID)
		}
	}
	if o.Job != nil {
		about = append(about, o.Job.UID)
	}
	for i := range o.Pods {
		about = append(about, o.Pods[i].UID)
	}
	for _, uid := range about {
		var list corev1.EventList
		err := r.Live.List(ctx, &list, client.InNamespace(o.Benchmark.Namespace), client.MatchingFields{
			"involvedObject.uid": string(uid), "type": corev1.EventTypeWarning,
		})
		if err != nil {
			return fmt.Errorf("list the warnings about %s: %w", uid, err)
		}
		o.Events = append(o.Events, list.Items...)
	}
	return nil
}

func (r *DiskBenchmarkReconciler) observeSlot(ctx context.Context, o *lifecycle.Observation) error {
	if o.Benchmark.Status.Run.Phase != v1alpha1.PhasePending {
		return nil
	}
	var list v1alpha1.DiskBenchmarkList
	if err := r.List(ctx, &list); err != nil {
		return fmt.Errorf("list DiskBenchmarks: %w", err)
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.MatchingLabels{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}); err != nil {
		return fmt.Errorf("list the pods of all runs: %w", err)
	}
	o.Slot = r.slots.place(o.Benchmark, lifecycle.Others{
		Now: o.Now, Limit: max(r.MaxConcurrentRuns, 1), Benchmarks: list.Items, Pods: pods.Items,
	})
	return nil
}

// observeClaimUsers looks for other pods that use an existing claim, once: when the run is about to
// start. Theirs are not in the cache.
func (r *DiskBenchmarkReconciler) observeClaimUsers(ctx context.Context, o *lifecycle.Observation) error {
	if o.ExistingClaim == nil || o.Benchmark.Status.Run.Phase != v1alpha1.PhasePending || !o.Slot.Admitted {
		return nil
	}
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.InNamespace(o.Benchmark.Namespace)); err != nil {
		return fmt.Errorf("list the pods that may use claim %s: %w", o.ExistingClaim.Name, err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		ours := p.Labels[v1alpha1.LabelBenchmarkUID] == string(o.Benchmark.UID)
		if !ended && !ours && uses(p, o.ExistingClaim.Name) {
			o.ClaimUsers = append(o.ClaimUsers, p.Name)
		}
	}
	return nil
}

func uses(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}
