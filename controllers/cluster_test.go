// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/plan"
	"github.com/diskbench/diskbench/internal/resources"
)

// This file plays the rest of a cluster, one step at a time: the Job controller, the scheduler, the
// provisioner and the kubelet; and, all the time, the garbage collector and the protection of claims
// in use. envtest has none of them.

// collectGarbage plays the garbage collector and the claim protection until the test ends.
func collectGarbage(namespace string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	DeferCleanup(func() { cancel(); <-done })
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for ctx.Err() == nil {
			sweep(ctx, namespace)
			time.Sleep(2 * polling)
		}
	}()
}

// sweep takes one look. Errors are left to the next look: an object may go meanwhile.
func sweep(ctx context.Context, namespace string) {
	in := client.InNamespace(namespace)
	var jobs batchv1.JobList
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	if k8s.List(ctx, &jobs, in) != nil || k8s.List(ctx, &pods, in) != nil || k8s.List(ctx, &claims, in) != nil {
		return
	}
	for i := range jobs.Items {
		sweepJob(ctx, &jobs.Items[i], pods.Items)
	}
	for i := range pods.Items {
		if !ownerLives(ctx, &pods.Items[i], &batchv1.Job{}) {
			_ = k8s.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
		}
	}
	for i := range claims.Items {
		sweepClaim(ctx, &claims.Items[i], pods.Items)
	}
}

func sweepJob(ctx context.Context, job *batchv1.Job, pods []corev1.Pod) {
	if !benchmarkLives(ctx, job) {
		_ = k8s.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
		return
	}
	if job.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(job, metav1.FinalizerDeleteDependents) {
		return
	}
	left := 0
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], job) {
			left++
			_ = k8s.Delete(ctx, &pods[i], client.GracePeriodSeconds(0))
		}
	}
	if left == 0 {
		controllerutil.RemoveFinalizer(job, metav1.FinalizerDeleteDependents)
		_ = k8s.Update(ctx, job)
	}
}

func sweepClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, pods []corev1.Pod) {
	if !benchmarkLives(ctx, claim) {
		_ = k8s.Delete(ctx, claim)
	}
	if claim.DeletionTimestamp == nil || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return mounts(&p, claim.Name) }) {
		return
	}
	if claim.Spec.VolumeName != "" {
		sweepVolume(ctx, claim.Spec.VolumeName)
	}
	controllerutil.RemoveFinalizer(claim, "kubernetes.io/pvc-protection")
	_ = k8s.Update(ctx, claim)
}

func sweepVolume(ctx context.Context, name string) {
	pv := &corev1.PersistentVolume{}
	if k8s.Get(ctx, types.NamespacedName{Name: name}, pv) != nil ||
		pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return
	}
	controllerutil.RemoveFinalizer(pv, "kubernetes.io/pv-protection")
	_ = k8s.Update(ctx, pv)
	_ = k8s.Delete(ctx, pv)
}

func benchmarkLives(ctx context.Context, o client.Object) bool {
	return metav1.GetControllerOf(o) == nil || ownerLives(ctx, o, newBenchmark(o.GetNamespace(), ""))
}

// ownerLives says whether the controller of an object exists; true when that is unknown.
func ownerLives(ctx context.Context, o, owner client.Object) bool {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return true
	}
	err := k8s.Get(ctx, types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Name}, owner)
	return err == nil && owner.GetUID() == ref.UID || err != nil && !apierrors.IsNotFound(err)
}

func mounts(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// newClass creates a StorageClass for one test.
func newClass(ctx context.Context, vary ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{GenerateName: "class-"},
		Provisioner:       "disk.example.test",
		Parameters:        map[string]string{"skuName": "Premium_LRS"},
		ReclaimPolicy:     ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate),
	}
	for _, v := range vary {
		v(c)
	}
	Expect(k8s.Create(ctx, c)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(k8s.Delete(ctx, c))).To(Succeed())
	})
	return c
}

// newNode creates a node with the labels that a cloud provider sets.
func newNode(ctx context.Context) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "node-",
		Labels: map[string]string{
			corev1.LabelHostname:           "host-of-" + strconv.FormatInt(time.Now().UnixNano(), 36),
			corev1.LabelInstanceTypeStable: "Standard_D8s_v5",
			corev1.LabelTopologyRegion:     "westeurope",
			corev1.LabelTopologyZone:       "westeurope-1",
		},
	}}
	Expect(k8s.Create(ctx, n)).To(Succeed())
	n.Status.NodeInfo.Architecture = "arm64"
	n.Status.NodeInfo.KernelVersion = "6.12.0-test"
	Expect(k8s.Status().Update(ctx, n)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(k8s.Delete(ctx, n)).To(Succeed()) })
	return n
}

// job waits for the one Job of the namespace.
func (w *world) job(ctx context.Context) *batchv1.Job {
	GinkgoHelper()
	var job *batchv1.Job
	Eventually(func(g Gomega) {
		var jobs batchv1.JobList
		g.Expect(k8s.List(ctx, &jobs, client.InNamespace(w.namespace))).To(Succeed())
		g.Expect(jobs.Items).To(HaveLen(1))
		job = &jobs.Items[0]
	}).Should(Succeed())
	return job
}

// claim waits for the one claim of the namespace.
func (w *world) claim(ctx context.Context) *corev1.PersistentVolumeClaim {
	GinkgoHelper()
	return &w.claims(ctx, 1)[0]
}

// claims waits for so many claims, which come in the order of their names.
func (w *world) claims(ctx context.Context, n int) []corev1.PersistentVolumeClaim {
	GinkgoHelper()
	var claims corev1.PersistentVolumeClaimList
	Eventually(func(g Gomega) {
		g.Expect(k8s.List(ctx, &claims, client.InNamespace(w.namespace))).To(Succeed())
		g.Expect(claims.Items).To(HaveLen(n))
	}).Should(Succeed())
	return claims.Items
}

// jobOf waits for the Job of a benchmark's run.
func (w *world) jobOf(ctx context.Context, b *v1alpha1.DiskBenchmark) *batchv1.Job {
	GinkgoHelper()
	job := &batchv1.Job{}
	Eventually(func() error {
		return k8s.Get(ctx, types.NamespacedName{Namespace: w.namespace, Name: resources.Name(b.Name, b.UID, 1)}, job)
	}).Should(Succeed())
	return job
}

// createPod plays the Job controller.
func (w *world) createPod(ctx context.Context, job *batchv1.Job) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.GenerateName = job.Namespace, job.Name+"-"
	pod.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")),
	}
	Expect(k8s.Create(ctx, pod)).To(Succeed())
	return pod
}

// pod creates somebody else's pod that uses a claim.
func (w *world) pod(ctx context.Context, name, claim string) {
	GinkgoHelper()
	Expect(k8s.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{Name: "c", Image: testImage, SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}},
		},
	})).To(Succeed())
}

// bind plays the provisioner: the claim gets a volume of its own.
func (w *world) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, policy corev1.PersistentVolumeReclaimPolicy) *corev1.PersistentVolume {
	GinkgoHelper()
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: policy,
			StorageClassName:              ptr.Deref(claim.Spec.StorageClassName, ""),
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: cmp.Or(w.driver, "disk.example.test"), VolumeHandle: "/disks/" + claim.Name, VolumeAttributes: w.attributes,
			}},
		},
	}
	Expect(k8s.Create(ctx, pv)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		sweepVolume(ctx, pv.Name)
		Expect(client.IgnoreNotFound(k8s.Delete(ctx, pv))).To(Succeed())
	})
	pv.Status.Phase = corev1.VolumeBound
	Expect(k8s.Status().Update(ctx, pv)).To(Succeed())
	claim.Spec.VolumeName = pv.Name
	Expect(k8s.Update(ctx, claim)).To(Succeed())
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.Capacity = claim.Spec.Resources.Requests
	Expect(k8s.Status().Update(ctx, claim)).To(Succeed())
	return pv
}

// place plays the scheduler.
func (w *world) place(ctx context.Context, pod *corev1.Pod, node *corev1.Node) {
	GinkgoHelper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}
	Expect(k8s.SubResource("binding").Create(ctx, pod, binding)).To(Succeed())
	Expect(k8s.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
}

// patchPod plays the kubelet.
func (w *world) patchPod(ctx context.Context, pod *corev1.Pod, vary func(*corev1.PodStatus)) {
	GinkgoHelper()
	before := pod.DeepCopy()
	vary(&pod.Status)
	Expect(k8s.Status().Patch(ctx, pod, client.MergeFrom(before))).To(Succeed())
}

func (w *world) prepare(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
		s.InitContainerStatuses = []corev1.ContainerStatus{running("prepare")}
	})
}

func (w *world) measure(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		s.InitContainerStatuses = []corev1.ContainerStatus{ended("prepare", 0, "")}
		s.ContainerStatuses = []corev1.ContainerStatus{running("engine")}
	})
}

func (w *world) end(ctx context.Context, pod *corev1.Pod, exitCode int32, message string) {
	GinkgoHelper()
	w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodSucceeded
		if exitCode != 0 {
			s.Phase = corev1.PodFailed
		}
		s.InitContainerStatuses = []corev1.ContainerStatus{ended("prepare", 0, "")}
		s.ContainerStatuses = []corev1.ContainerStatus{ended("engine", exitCode, message)}
	})
}

func running(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: testImage, State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()},
	}}
}

func waiting(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: testImage, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func ended(name string, exitCode int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: testImage, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Message: message,
			StartedAt: metav1.Now(), FinishedAt: metav1.NewTime(time.Now().Add(63 * time.Second)),
		},
	}}
}

// runPod takes the pod of a Job as far as measuring, its claim bound and its node found.
func (w *world) runPod(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	job := w.job(ctx)
	w.bind(ctx, w.claim(ctx), corev1.PersistentVolumeReclaimDelete)
	pod := w.createPod(ctx, job)
	w.place(ctx, pod, newNode(ctx))
	w.measure(ctx, pod)
	return pod
}

// result is the termination message of a run that measured 500 IOPS, and as many flushes where there are
// any, of each workload, and of each stream, of the pod's plan.
func result(pod *corev1.Pod) string {
	GinkgoHelper()
	p, err := plan.FromArguments(pod.Spec.Containers[0].Args)
	Expect(err).NotTo(HaveOccurred())
	r := &report.Report{
		EngineVersion: "v0", IOEngine: workload.LibAIO, DirectIO: true, Kernel: "6.12.0-test",
		Fallbacks: []report.Fallback{{IOEngine: workload.IOUring, Reason: "io_uring_setup: operation not permitted"}},
		Target:    report.Target{Filesystem: "ext4", Device: "sdc", SizeBytes: 32 << 30, LogicalBlockBytes: 512},
	}
	for _, w := range p.Workloads {
		window := w.Duration.Std().Nanoseconds()
		operations := 500 * int64(w.Duration.Std()/time.Second)
		total := report.NewFigures(operations, operations*w.Streams[0].BlockSizeBytes, window, report.Latency{
			MeanNanos: 2_000_000, StddevNanos: 100_000, MinNanos: 900_000, MaxNanos: 9_000_000,
			P50Nanos: ptr.To[int64](2_000_000), P99Nanos: ptr.To[int64](3_000_000),
		})
		figures := report.Workload{
			Name: w.Name, FileSizeBytes: w.FileSizeBytes, WindowNanos: window, Read: total, Total: total,
			Repetitions: []report.Repetition{{WindowNanos: window, IOPS: 500, P99Nanos: ptr.To[int64](3_000_000)}},
			Series:      report.Series{IntervalNanos: (window + 1) / 2, IOPS: []float64{500, 500}},
		}
		if !w.Reads() {
			figures.Read, figures.Write = nil, total
		}
		if w.Flushes() {
			figures.Flush = report.NewFigures(operations, 0, window, report.Latency{
				MeanNanos: 3_000_000, MinNanos: 1_000_000, MaxNanos: 12_000_000, P99Nanos: ptr.To[int64](8_000_000),
			})
		}
		if len(w.Streams) > 1 {
			for _, s := range w.Streams {
				figures.Streams = append(figures.Streams, report.Stream{Name: s.Name, Write: total})
			}
		}
		r.Workloads = append(r.Workloads, figures)
	}
	message, err := report.Encode(r)
	Expect(err).NotTo(HaveOccurred())
	return string(message)
}

// warn plays whoever records a warning about an object.
func (w *world) warn(ctx context.Context, kind string, about client.Object, reason, message string) {
	GinkgoHelper()
	Expect(k8s.Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "warning-", Namespace: w.namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: kind, Namespace: w.namespace, Name: about.GetName(), UID: about.GetUID(),
		},
		Type: corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.Now(),
	})).To(Succeed())
}

// expectNothingLeft holds that no Job, pod or claim is left in the world.
func (w *world) expectNothingLeft(ctx context.Context) {
	GinkgoHelper()
	in := client.InNamespace(w.namespace)
	for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}} {
		Expect(k8s.List(ctx, list, in)).To(Succeed())
		Expect(meta.LenList(list)).To(BeZero(), "%T", list)
	}
}

// countJobs counts the Jobs that are created in the world from now on.
func (w *world) countJobs() func() int {
	watching, stop := context.WithCancel(context.Background())
	jobs, err := k8s.Watch(watching, &batchv1.JobList{}, client.InNamespace(w.namespace))
	Expect(err).NotTo(HaveOccurred())
	var seen atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range jobs.ResultChan() {
			if e.Type == watch.Added {
				seen.Add(1)
			}
		}
	}()
	DeferCleanup(func() { stop(); <-done })
	return func() int { return int(seen.Load()) }
}
