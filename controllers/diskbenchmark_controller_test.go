// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/internal/resources"
)

type spec = v1alpha1.DiskBenchmarkSpec

var _ = Describe("A DiskBenchmark", func() {
	It("goes from its manifest to measured status, and leaves nothing behind", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx)
		b := w.create(ctx, class.Name)

		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		job, claim := w.job(ctx), w.claim(ctx)
		Expect(claim.Name).To(Equal(job.Name))
		volume := w.bind(ctx, claim, corev1.PersistentVolumeReclaimDelete)
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)
		pod, node := w.createPod(ctx, job), newNode(ctx)
		w.place(ctx, pod, node)
		w.prepare(ctx, pod)
		w.reaches(ctx, b, v1alpha1.ReasonPreparing)
		w.measure(ctx, pod)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		w.end(ctx, pod, 0, result(pod))

		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(is(got, v1alpha1.ConditionReady)).To(BeTrue())
		Expect(got.Status.Summary).To(Equal(&v1alpha1.Summary{
			Workloads: "randread", IOPS: "500", Throughput: "2.05", P99: "3.00 ms", LimitedBy: "Unknown", Cost: "unknown",
		}))
		run := got.Status.Run
		Expect(run.Number).To(BeEquivalentTo(1))
		Expect(run.StorageClassName).To(Equal(class.Name))
		Expect(run.Parameters).To(Equal(class.Parameters))
		Expect(run.VMSize).To(Equal("Standard_D8s_v5"))
		Expect(run.Region).To(Equal("westeurope"))
		Expect(run.NodeName).To(Equal(node.Name))
		Expect(run.PodUID).To(Equal(pod.UID))
		Expect(run.Image).To(Equal(testImage))
		Expect(run.IOEngine).To(BeEquivalentTo("LibAIO"))
		Expect(run.Volumes).To(Equal([]v1alpha1.Volume{{
			ClaimName: claim.Name, VolumeName: volume.Name, Driver: "disk.example.test",
			VolumeHandle: "/disks/" + claim.Name, ReclaimPolicy: "Delete",
		}}))
		Expect(run.MeasuringSeconds).To(HaveValue(BeEquivalentTo(63)))
		w.expectNothingLeft(ctx)
		err := k8s.Get(ctx, client.ObjectKeyFromObject(volume), volume)
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the volume is there: %v", err)

		By("telling it in events")
		Eventually(func(g Gomega) {
			var events eventsv1.EventList
			g.Expect(k8s.List(ctx, &events, client.InNamespace(w.namespace))).To(Succeed())
			var reasons []string
			for i := range events.Items {
				reasons = append(reasons, events.Items[i].Reason)
			}
			g.Expect(reasons).To(ContainElements(
				v1alpha1.ReasonProvisioning, v1alpha1.ReasonPreparing, v1alpha1.ReasonRunning, v1alpha1.ReasonCompleted))
		}).Should(Succeed())
	})

	It("shows streams and flushes, and judges a journal by its flushes", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, func(s *spec) {
			s.Workloads = []v1alpha1.Workload{{Preset: ptr.To("etcd")}, {Preset: ptr.To("sql")}}
			s.Targets = &v1alpha1.Targets{MaxFlushP99Micros: ptr.To[int64](10_000)}
		})
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(got.Status.Summary.P99).To(Equal("8.00 ms (flush) / 3.00 ms"))
		Expect(is(got, v1alpha1.ConditionTargetsMet)).To(BeTrue())
		etcd, sql := got.Status.Measurements[0], got.Status.Measurements[1]
		Expect(etcd.Flush.P99Nanos).To(HaveValue(BeNumerically("~", 8_000_000, 8_000)))
		Expect(etcd.Parameters.DirectIO).To(Equal(v1alpha1.DirectIODisabled))
		Expect(sql.Parameters.Pattern).To(BeEmpty(), "of which of the two streams")
		Expect(sql.Streams).To(HaveLen(2))
		Expect(sql.Streams[1].Name).To(Equal("log"))
		Expect(sql.Streams[1].Parameters.Range).To(HaveValue(Equal(v1alpha1.ByteRange{EndBytes: 5 << 30})))
		Expect(sql.Streams[1].Write.IOPS).To(BeEquivalentTo(500))
	})

	It("creates claim and Job together for a class that waits for its first consumer, and names no node", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx, func(c *storagev1.StorageClass) {
			c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
		})
		b := w.create(ctx, class.Name)
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)
		Expect(w.job(ctx).Spec.Template.Spec.NodeName).To(BeEmpty())
		Expect(w.claim(ctx).Spec.StorageClassName).To(HaveValue(Equal(class.Name)))
	})

	It("takes the newest default class, and records its name", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, "", func(s *spec) { s.StorageClassName = nil })
		got := w.reaches(ctx, b, v1alpha1.ReasonNoDefaultStorageClass)
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())
		w.expectNothingLeft(ctx)

		class := newClass(ctx, func(c *storagev1.StorageClass) {
			c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		})
		got = w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(got.Status.Run.StorageClassName).To(Equal(class.Name))
		Expect(w.claim(ctx).Spec.StorageClassName).To(HaveValue(Equal(class.Name)))
	})
})

var _ = Describe("A blocked DiskBenchmark", func() {
	It("creates nothing without its class, and goes on when that appears", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, "late-"+w.namespace)
		got := w.reaches(ctx, b, v1alpha1.ReasonStorageClassNotFound)
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())
		w.expectNothingLeft(ctx)

		newClass(ctx, func(c *storagev1.StorageClass) { c.GenerateName, c.Name = "", "late-"+w.namespace })
		got = w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeFalse())
	})

	It("ends after timeouts.blockedSeconds", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, "never")
		w.reaches(ctx, b, v1alpha1.ReasonStorageClassNotFound)
		w.clock.step(10 * time.Minute)
		got := w.ends(ctx, b, v1alpha1.ReasonBlockedTimedOut)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("StorageClass never does not exist"))
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())
	})

	It("shows a quota's words, and goes on when there is room", func(ctx SpecContext) {
		w := newWorld(ctx)
		hard := corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("1Gi")}
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "disks", Namespace: w.namespace}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
		}
		Expect(k8s.Create(ctx, quota)).To(Succeed())
		quota.Status = corev1.ResourceQuotaStatus{ // as the quota controller counts
			Hard: hard, Used: corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("0")},
		}
		Expect(k8s.Status().Update(ctx, quota)).To(Succeed())
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		got := w.reaches(ctx, b, v1alpha1.ReasonQuotaExceeded)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("exceeded quota: disks, requested: requests.storage=32Gi"))
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())

		Expect(k8s.Delete(ctx, quota)).To(Succeed())
		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
	})

	It("says why the Job controller may not create the pod, and goes on when it may", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		job := w.job(ctx)
		w.warn(ctx, "Job", job, "FailedCreate", `pods "x" is forbidden: violates PodSecurity "restricted:latest"`)
		got := w.reaches(ctx, b, v1alpha1.ReasonPodRejected)
		Expect(message(got, v1alpha1.ConditionStalled)).To(ContainSubstring("violates PodSecurity"))
		w.createPod(ctx, job)
		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
	})

	It("waits for an existing claim, and never deletes it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, "", func(s *spec) { s.StorageClassName, s.Size, s.ClaimName = nil, nil, ptr.To("data") })
		w.reaches(ctx, b, v1alpha1.ReasonClaimNotFound)
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: w.namespace},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: ptr.To(newClass(ctx).Name),
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
				},
			},
		}
		Expect(k8s.Create(ctx, claim)).To(Succeed())
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)
		pod := w.runPod(ctx)
		Expect(pod.Spec.SecurityContext.FSGroup).To(BeNil())
		w.end(ctx, pod, 0, result(pod))
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(got.Status.Run.StorageClassName).To(Equal(*claim.Spec.StorageClassName))
		Expect(got.Status.Run.Size.String()).To(Equal("10Gi"))
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
		Expect(claim.DeletionTimestamp).To(BeNil())
	})

	It("waits for its turn, and starts when the run before it is over", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx)
		first := w.create(ctx, class.Name)
		w.reaches(ctx, first, v1alpha1.ReasonProvisioning)
		second := w.create(ctx, class.Name)
		got := w.reaches(ctx, second, v1alpha1.ReasonQueued)
		Expect(message(got, v1alpha1.ConditionReady)).To(Equal("limit 1 (--max-concurrent-runs), 0 ahead when queued"))
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		w.ends(ctx, first, v1alpha1.ReasonCompleted)
		w.reaches(ctx, second, v1alpha1.ReasonProvisioning)
		Expect(w.job(ctx).Name).To(Equal(got.Status.Run.Name))
	})

	It("starts one of many that come at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		class := newClass(ctx)
		for range 5 {
			w.create(ctx, class.Name)
		}
		w.startOperator()
		w.job(ctx)
		Consistently(func(g Gomega) {
			var jobs batchv1.JobList
			g.Expect(k8s.List(ctx, &jobs, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(jobs.Items).To(HaveLen(1))
		}).Should(Succeed())
	})
})

var _ = Describe("A run of several volumes", func() {
	striped := func(s *spec) {
		s.VolumeCount, s.Repetitions = ptr.To[int32](2), ptr.To[int32](2)
		s.RepetitionScope = ptr.To(v1alpha1.RepetitionScopeNewVolume)
	}

	It("attaches all of them to one pod, waits for each, and leaves none behind", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, striped)
		claims, job := w.claims(ctx, 4), w.job(ctx)
		for i := range claims {
			Expect(claims[i].Name).To(Equal(fmt.Sprintf("%s-%d", job.Name, i)))
			Expect(claims[i].Spec.Resources.Requests.Storage().String()).To(Equal("32Gi"))
		}
		var volumes []*corev1.PersistentVolume
		for i := range claims[:3] {
			volumes = append(volumes, w.bind(ctx, &claims[i], corev1.PersistentVolumeReclaimDelete))
		}
		Eventually(func() string {
			return message(w.reaches(ctx, b, v1alpha1.ReasonProvisioning), v1alpha1.ConditionReady)
		}).Should(ContainSubstring("3 of 4 are"))
		volumes = append(volumes, w.bind(ctx, &claims[3], corev1.PersistentVolumeReclaimDelete))
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)

		pod := w.createPod(ctx, job)
		for i := range claims {
			Expect(mounts(pod, claims[i].Name)).To(BeTrue(), "the pod has no %s", claims[i].Name)
		}
		w.place(ctx, pod, newNode(ctx))
		w.measure(ctx, pod)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		w.end(ctx, pod, 0, result(pod))
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(got.Status.Run.StripeSizeBytes).To(BeEquivalentTo(64 << 10))
		var handles []string
		for _, v := range got.Status.Run.Volumes {
			handles = append(handles, v.VolumeHandle)
		}
		Expect(handles).To(Equal([]string{
			"/disks/" + claims[0].Name, "/disks/" + claims[1].Name, "/disks/" + claims[2].Name, "/disks/" + claims[3].Name,
		}))
		w.expectNothingLeft(ctx)
		for _, v := range volumes {
			err := k8s.Get(ctx, client.ObjectKeyFromObject(v), v)
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), "volume %s is there: %v", v.Name, err)
		}
	})

	It("waits for a quota that has room for some of them, and goes on when it has for all", func(ctx SpecContext) {
		w := newWorld(ctx)
		hard := corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: resource.MustParse("3")}
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "disks", Namespace: w.namespace}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
		}
		Expect(k8s.Create(ctx, quota)).To(Succeed())
		quota.Status = corev1.ResourceQuotaStatus{ // as the quota controller counts
			Hard: hard, Used: corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: resource.MustParse("0")},
		}
		Expect(k8s.Status().Update(ctx, quota)).To(Succeed())
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, striped)
		got := w.reaches(ctx, b, v1alpha1.ReasonQuotaExceeded)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("exceeded quota: disks"))
		before := w.claims(ctx, 3)

		Expect(k8s.Delete(ctx, quota)).To(Succeed())
		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		after := w.claims(ctx, 4)
		for i := range before {
			Expect(after[i].UID).To(Equal(before[i].UID), "a claim was made again")
		}
	})

	It("deletes the claims of a quota that never had room for all", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.client = interceptor.NewClient(k8s, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if strings.HasSuffix(o.GetName(), "-2") {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, o.GetName(), errors.New("exceeded quota: disks"))
				}
				return c.Create(ctx, o, opts...)
			},
		})
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, striped)
		w.reaches(ctx, b, v1alpha1.ReasonQuotaExceeded)
		w.claims(ctx, 2)
		w.clock.step(10 * time.Minute)
		w.ends(ctx, b, v1alpha1.ReasonBlockedTimedOut)
		w.expectNothingLeft(ctx)
	})

	It("takes all of them away when fewer are asked for", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, striped)
		old := w.claims(ctx, 4)
		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		w.edit(ctx, b, func(s *spec) { s.VolumeCount, s.RepetitionScope = nil, nil })
		Eventually(func() int64 { return w.reaches(ctx, b, v1alpha1.ReasonProvisioning).Status.Run.Number }).Should(BeEquivalentTo(2))
		Expect(w.claim(ctx).Name).To(Equal(w.job(ctx).Name))
		Expect(w.claim(ctx).Name).NotTo(HavePrefix(old[0].Name[:len(old[0].Name)-len("-0")]))
	})

	It("does not touch a stranger's object that has the name of one of its claims", func(ctx SpecContext) {
		w := newWorld(ctx)
		b := w.create(ctx, newClass(ctx).Name, striped)
		stranger := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: resources.Name(b.Name, b.UID, 1) + "-2", Namespace: w.namespace},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		}
		Expect(k8s.Create(ctx, stranger)).To(Succeed())
		w.startOperator()
		got := w.ends(ctx, b, v1alpha1.ReasonNameConflict)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("PersistentVolumeClaim " + stranger.Name))
		Expect(w.claim(ctx).UID).To(Equal(stranger.UID), "the others are gone, the stranger's stays")
		Expect(w.claim(ctx).DeletionTimestamp).To(BeNil())
	})
})

var _ = Describe("Several runs at a time", func() {
	It("never share a node", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.limit = 2
		w.startOperator()
		class := newClass(ctx)
		first := w.create(ctx, class.Name)
		w.reaches(ctx, first, v1alpha1.ReasonProvisioning)
		second := w.create(ctx, class.Name)
		got := w.reaches(ctx, second, v1alpha1.ReasonQueued)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("waiting for the node of the run before"))

		node := newNode(ctx)
		job := w.jobOf(ctx, first)
		Expect(job.Spec.Template.Spec.Affinity).To(BeNil())
		w.place(ctx, w.createPod(ctx, job), node)
		w.reaches(ctx, second, v1alpha1.ReasonProvisioning)
		Expect(w.jobOf(ctx, second).Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms).To(
			Equal([]corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpNotIn, Values: []string{node.Labels["kubernetes.io/hostname"]},
			}}}}))
	})

	It("measure one existing claim one after the other, and name who else uses it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.limit = 3
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: w.namespace},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
				},
			},
		}
		Expect(k8s.Create(ctx, claim)).To(Succeed())
		w.pod(ctx, "db-0", "data")
		w.pod(ctx, "web-0", "other")
		w.startOperator()
		existing := func(s *spec) { s.StorageClassName, s.Size, s.ClaimName = nil, nil, ptr.To("data") }
		first := w.create(ctx, "", existing)
		got := w.reaches(ctx, first, v1alpha1.ReasonScheduling)
		Expect(got.Status.Warnings).To(ContainElement(ContainSubstring("PersistentVolumeClaim data is used by Pod db-0 as well")))
		pod := w.createPod(ctx, w.jobOf(ctx, first))
		w.place(ctx, pod, newNode(ctx))

		second := w.create(ctx, "", existing)
		got = w.reaches(ctx, second, v1alpha1.ReasonQueued)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("DiskBenchmark " + first.Name + " measures PersistentVolumeClaim data"))
		w.end(ctx, pod, 0, result(pod))
		w.ends(ctx, first, v1alpha1.ReasonCompleted)
		w.reaches(ctx, second, v1alpha1.ReasonScheduling)
	})

	It("leave a deleted run the time to end its pod", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx)
		first := w.create(ctx, class.Name)
		pod := w.runPod(ctx)
		w.reaches(ctx, first, v1alpha1.ReasonRunning)
		hold := func(finalizers string) {
			GinkgoHelper()
			Expect(client.IgnoreNotFound(k8s.Patch(ctx, pod, client.RawPatch("application/merge-patch+json",
				fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, finalizers))))).To(Succeed())
		}
		hold(`["example.test/ending"]`)
		second := w.create(ctx, class.Name)
		w.reaches(ctx, second, v1alpha1.ReasonQueued)
		Expect(k8s.Delete(ctx, first)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
			g.Expect(pod.DeletionTimestamp).NotTo(BeNil())
		}).Should(Succeed())
		Consistently(func() string {
			return w.reaches(ctx, second, v1alpha1.ReasonQueued).Status.Run.Name
		}).ShouldNot(BeEmpty())
		hold(`null`)
		w.reaches(ctx, second, v1alpha1.ReasonProvisioning)
	})
})

var _ = Describe("A failing run", func() {
	noSpace := string(report.EncodeFailure(report.Failf(report.ReasonNoSpace, "the file does not fit")))

	DescribeTable("has a reason, is Stalled and Finished, and is cleaned up",
		func(ctx SpecContext, fail func(context.Context, *world, *corev1.Pod), reason, words string) {
			w := newWorld(ctx)
			w.startOperator()
			b := w.create(ctx, newClass(ctx).Name)
			pod := w.runPod(ctx)
			w.reaches(ctx, b, v1alpha1.ReasonRunning)
			fail(ctx, w, pod)
			got := w.ends(ctx, b, reason)
			Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())
			Expect(message(got, v1alpha1.ConditionFinished)).To(ContainSubstring(words))
			Expect(got.Status.Measurements).To(BeEmpty())
			w.expectNothingLeft(ctx)
		},
		Entry("the engine says why", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.end(ctx, pod, 9, noSpace)
		}, "NoSpace", "does not fit"),
		Entry("the engine ends without a result", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.end(ctx, pod, 0, "")
		}, v1alpha1.ReasonResultLost, "empty"),
		Entry("the result is cut", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.end(ctx, pod, 0, result(pod)[:100])
		}, v1alpha1.ReasonResultLost, "cut or damaged"),
		Entry("the engine fails without a word", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.end(ctx, pod, 1, "")
		}, v1alpha1.ReasonEngineFailed, "exit code 1"),
		Entry("the pod is evicted", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
				s.Phase, s.Reason = corev1.PodFailed, "Evicted"
				s.Conditions = []corev1.PodCondition{{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet", Message: "disk pressure",
				}}
			})
		}, v1alpha1.ReasonInterrupted, "disk pressure"),
		Entry("the pod is deleted", func(ctx context.Context, _ *world, pod *corev1.Pod) {
			Expect(k8s.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		}, v1alpha1.ReasonInterrupted, "was deleted before it had a result"),
		Entry("the Job is deleted", func(ctx context.Context, w *world, _ *corev1.Pod) {
			Expect(k8s.Delete(ctx, w.job(ctx), client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		}, v1alpha1.ReasonInterrupted, "deleted"),
		Entry("the phase lasts too long", func(_ context.Context, w *world, _ *corev1.Pod) {
			w.clock.step(time.Hour)
		}, v1alpha1.ReasonRunningTimedOut, "timeouts.runningSeconds (368)"),
	)

	DescribeTable("ends before the engine starts",
		func(ctx SpecContext, fail func(context.Context, *world, *corev1.Pod), reason, words string) {
			w := newWorld(ctx)
			w.startOperator()
			b := w.create(ctx, newClass(ctx).Name)
			claim, pod := w.claim(ctx), w.createPod(ctx, w.job(ctx))
			w.bind(ctx, claim, corev1.PersistentVolumeReclaimDelete)
			w.reaches(ctx, b, v1alpha1.ReasonScheduling)
			fail(ctx, w, pod)
			got := w.ends(ctx, b, reason)
			Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring(words))
			w.expectNothingLeft(ctx)
		},
		Entry("the layout fails", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
				s.Phase, s.InitContainerStatuses = corev1.PodFailed, []corev1.ContainerStatus{ended("prepare", 9, noSpace)}
			})
		}, "NoSpace", "does not fit"),
		Entry("the image has no valid name", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
				s.InitContainerStatuses = []corev1.ContainerStatus{waiting("prepare", "InvalidImageName", "couldn't parse")}
			})
		}, v1alpha1.ReasonImagePullFailed, "couldn't parse"),
		Entry("no node has room", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.patchPod(ctx, pod, func(s *corev1.PodStatus) {
				s.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "exceed max volume count",
				}}
			})
			w.clock.step(time.Hour)
		}, v1alpha1.ReasonSchedulingTimedOut, "exceed max volume count"),
		Entry("the volume cannot be attached", func(ctx context.Context, w *world, pod *corev1.Pod) {
			w.warn(ctx, "Pod", pod, "FailedAttachVolume", "AttachVolume.Attach failed for volume")
			w.clock.step(time.Hour)
		}, v1alpha1.ReasonSchedulingTimedOut, "FailedAttachVolume: AttachVolume.Attach failed"),
	)

	It("shows the provisioner's error, and ends with it", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		w.warn(ctx, "PersistentVolumeClaim", w.claim(ctx), "ProvisioningFailed", "rpc error: no capacity in zone 1")
		Eventually(func() string {
			return message(w.reaches(ctx, b, v1alpha1.ReasonProvisioning), v1alpha1.ConditionReady)
		}).Should(ContainSubstring("no capacity in zone 1"))
		w.clock.step(10 * time.Minute)
		got := w.ends(ctx, b, v1alpha1.ReasonProvisioningTimedOut)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("no capacity in zone 1"))
		w.expectNothingLeft(ctx)
	})

	It("does not touch a stranger's object that has the name of its child", func(ctx SpecContext) {
		w := newWorld(ctx)
		b := w.create(ctx, newClass(ctx).Name)
		stranger := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: resources.Name(b.Name, b.UID, 1), Namespace: w.namespace},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		}
		Expect(k8s.Create(ctx, stranger)).To(Succeed())
		w.startOperator()
		got := w.ends(ctx, b, v1alpha1.ReasonNameConflict)
		Expect(message(got, v1alpha1.ConditionReady)).To(ContainSubstring("PersistentVolumeClaim " + stranger.Name))
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(stranger), stranger)).To(Succeed())
		Expect(stranger.DeletionTimestamp).To(BeNil())
	})
})

var _ = Describe("Cleanup", func() {
	fail := func(ctx context.Context, w *world) { w.end(ctx, w.runPod(ctx), 1, "") }
	succeed := func(ctx context.Context, w *world) {
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
	}
	DescribeTable("obeys the policy",
		func(ctx SpecContext, policy v1alpha1.CleanupPolicy, end func(context.Context, *world), reason string, kept bool) {
			w := newWorld(ctx)
			w.startOperator()
			b := w.create(ctx, newClass(ctx).Name, func(s *spec) { s.Cleanup = &policy })
			end(ctx, w)
			got := w.ends(ctx, b, reason)
			if !kept {
				w.expectNothingLeft(ctx)
				return
			}
			Expect(w.job(ctx).DeletionTimestamp).To(BeNil())
			Expect(w.claim(ctx).DeletionTimestamp).To(BeNil())
			Expect(got.Status.Warnings).To(ContainElement(ContainSubstring("spec.cleanup is " + string(policy))))

			w.edit(ctx, b, func(s *spec) { s.Cleanup = nil })
			w.ends(ctx, b, reason)
			w.expectNothingLeft(ctx)
		},
		Entry("Never, after a success", v1alpha1.CleanupNever, succeed, v1alpha1.ReasonCompleted, true),
		Entry("OnSuccess, after a failure", v1alpha1.CleanupOnSuccess, fail, v1alpha1.ReasonEngineFailed, true),
		Entry("OnSuccess, after a success", v1alpha1.CleanupOnSuccess, succeed, v1alpha1.ReasonCompleted, false),
		Entry("Always, after a failure", v1alpha1.CleanupAlways, fail, v1alpha1.ReasonEngineFailed, false),
	)

	It("names a volume that its class retains, before and after", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx, func(c *storagev1.StorageClass) {
			c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRetain)
		})
		b := w.create(ctx, class.Name)
		got := w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(got.Status.Warnings).To(ContainElement(ContainSubstring("reclaimPolicy Retain")))
		volume := w.bind(ctx, w.claim(ctx), corev1.PersistentVolumeReclaimRetain)
		w.end(ctx, w.createPod(ctx, w.job(ctx)), 1, "")
		got = w.ends(ctx, b, v1alpha1.ReasonEngineFailed)
		Expect(got.Status.Warnings).To(ContainElement(ContainSubstring("left behind: PersistentVolume " + volume.Name)))
	})

	It("has a deadline, and names what is left", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		claim := w.claim(ctx)
		claim.Finalizers = append(claim.Finalizers, "example.test/stuck")
		Expect(k8s.Update(ctx, claim)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(k8s.Patch(ctx, claim, client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`))))).To(Succeed())
		})
		w.end(ctx, w.createPod(ctx, w.job(ctx)), 1, "")
		Eventually(func() string {
			return message(w.reaches(ctx, b, v1alpha1.ReasonEngineFailed), v1alpha1.ConditionReconciling)
		}).Should(ContainSubstring("waiting for PersistentVolumeClaim " + claim.Name))
		w.clock.step(10 * time.Minute)
		got := w.ends(ctx, b, v1alpha1.ReasonEngineFailed)
		Expect(got.Status.Warnings).To(ContainElement(ContainSubstring("left behind: after timeouts.cleanupSeconds (600) there is still PersistentVolumeClaim " + claim.Name)))
	})

	It("waits until the figures are stored, and deletes the Job in the foreground before the claim", func(ctx SpecContext) {
		w := newWorld(ctx)
		var broken atomic.Bool
		var refused atomic.Int32
		deleted := make(chan string, 100)
		w.client = interceptor.NewClient(k8s, interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				how := (&client.DeleteOptions{}).ApplyOptions(opts)
				Expect(how.Preconditions.UID).To(HaveValue(Equal(o.GetUID())))
				deleted <- fmt.Sprintf("%T %s", o, *how.PropagationPolicy)
				return c.Delete(ctx, o, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if broken.Load() {
					refused.Add(1)
					return errors.New("the API server is away")
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		})
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		pod := w.runPod(ctx)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		broken.Store(true)
		w.end(ctx, pod, 0, result(pod))
		Eventually(refused.Load).Should(BeNumerically(">=", 3))
		Expect(w.job(ctx).DeletionTimestamp).To(BeNil(), "deleted before its result was stored")
		Expect(deleted).To(BeEmpty())
		broken.Store(false)
		Expect(w.ends(ctx, b, v1alpha1.ReasonCompleted).Status.Measurements).To(HaveLen(1))
		Expect(deleted).To(Receive(Equal("*v1.Job Foreground")))
		w.stopOperator()
		close(deleted)
		var last string
		for d := range deleted {
			last = d
		}
		Expect(last).To(Equal("*v1.PersistentVolumeClaim Background"))
	})
})

var _ = Describe("An operator that restarts", func() {
	It("continues the run in every phase, with one Job in total", func(ctx SpecContext) {
		w := newWorld(ctx)
		created := w.countJobs()
		class := newClass(ctx)
		b := w.create(ctx, class.Name)
		restarted := func(reason string) {
			GinkgoHelper()
			w.reaches(ctx, b, reason)
			w.restartOperator()
			Consistently(func(g Gomega) { g.Expect(created()).To(Equal(1)) }, 3*polling).Should(Succeed())
		}
		w.startOperator()
		restarted(v1alpha1.ReasonProvisioning)
		job := w.job(ctx)
		w.bind(ctx, w.claim(ctx), corev1.PersistentVolumeReclaimDelete)
		restarted(v1alpha1.ReasonScheduling)
		pod := w.createPod(ctx, job)
		w.place(ctx, pod, newNode(ctx))
		w.prepare(ctx, pod)
		restarted(v1alpha1.ReasonPreparing)
		w.measure(ctx, pod)
		restarted(v1alpha1.ReasonRunning)

		By("missing the end of the engine")
		w.stopOperator()
		w.end(ctx, pod, 0, result(pod))
		w.startOperator()
		Eventually(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.Measurements).To(HaveLen(1))
		}).Should(Succeed())
		w.restartOperator()
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		w.restartOperator()
		Consistently(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status).To(Equal(got.Status))
			g.Expect(created()).To(Equal(1))
		}).Should(Succeed())
	})

	It("completes what was killed between claim and Job", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.client = interceptor.NewClient(k8s, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if _, ok := o.(*batchv1.Job); ok {
					return errors.New("killed")
				}
				return c.Create(ctx, o, opts...)
			},
		})
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		claim := w.claim(ctx)
		w.stopOperator()
		w.client = nil
		w.startOperator()
		w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(w.claim(ctx).UID).To(Equal(claim.UID))
		Expect(w.job(ctx).Name).To(Equal(claim.Name))
	})
})

var _ = Describe("An edit", func() {
	It("of nothing does nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		created := w.countJobs()
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		got.Annotations = map[string]string{"applied": "again"}
		got.Spec.Size = ptr.To(resource.MustParse("32768Mi")) // another spelling is a new generation
		Expect(k8s.Update(ctx, got)).To(Succeed())
		Consistently(func(g Gomega) {
			after := w.ends(ctx, b, v1alpha1.ReasonCompleted)
			g.Expect(after.Status.Run).To(Equal(got.Status.Run))
			g.Expect(after.Status.Measurements).To(Equal(got.Status.Measurements))
			g.Expect(created()).To(Equal(1))
		}).Should(Succeed())
	})

	It("of targets judges the figures anew, without a run", func(ctx SpecContext) {
		w := newWorld(ctx)
		created := w.countJobs()
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		w.ends(ctx, b, v1alpha1.ReasonCompleted)
		w.edit(ctx, b, func(s *spec) { s.Targets = &v1alpha1.Targets{MinIOPS: ptr.To[int64](7500)} })
		got := w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(message(got, v1alpha1.ConditionTargetsMet)).To(Equal("randread: 500 IOPS is below minIOPS 7,500"))
		w.edit(ctx, b, func(s *spec) { s.Targets.OnMiss = ptr.To(v1alpha1.OnMissFail) })
		got = w.ends(ctx, b, v1alpha1.ReasonTargetsMissed)
		Expect(is(got, v1alpha1.ConditionStalled)).To(BeTrue())
		Expect(created()).To(Equal(1))
	})

	It("of what is measured, mid-run, stops the run, cleans up, and starts the next", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		class := newClass(ctx)
		b := w.create(ctx, class.Name)
		w.runPod(ctx)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		old := w.job(ctx)
		w.edit(ctx, b, func(s *spec) { s.Size = ptr.To(resource.MustParse("64Gi")) })
		got := w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(got.Status.Run.Number).To(BeEquivalentTo(2))
		Expect(got.Status.History).To(HaveLen(1))
		Expect(got.Status.History[0].Reason).To(Equal(v1alpha1.ReasonSuperseded))
		job := w.job(ctx) // the only one: the old one is gone
		Expect(job.Name).NotTo(Equal(old.Name))
		Expect(w.claim(ctx).Spec.Resources.Requests.Storage().String()).To(Equal("64Gi"))

		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		w.ends(ctx, b, v1alpha1.ReasonCompleted)

		By("starting another run with a token")
		w.edit(ctx, b, func(s *spec) { s.RunToken = ptr.To("again") })
		got = w.reaches(ctx, b, v1alpha1.ReasonProvisioning)
		Expect(got.Status.Run.Number).To(BeEquivalentTo(3))
		Expect(got.Status.Measurements).To(BeEmpty())
		Expect(got.Status.History[0].Summary.IOPS).To(Equal("500"))
	})
})

var _ = Describe("Suspending", func() {
	It("holds a run that has not started", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, func(s *spec) { s.Suspend = ptr.To(true) })
		w.reaches(ctx, b, v1alpha1.ReasonSuspended)
		w.expectNothingLeft(ctx)
		w.edit(ctx, b, func(s *spec) { s.Suspend = nil })
		Expect(w.reaches(ctx, b, v1alpha1.ReasonProvisioning).Status.Run.Number).To(BeEquivalentTo(1))
	})

	It("stops a run that has, and resuming starts another", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		w.runPod(ctx)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		w.edit(ctx, b, func(s *spec) { s.Suspend = ptr.To(true) })
		Eventually(func(g Gomega) {
			got := w.reaches(ctx, b, v1alpha1.ReasonSuspended)
			g.Expect(got.Status.Run.Phase).To(Equal(v1alpha1.PhaseDone))
			g.Expect(is(got, v1alpha1.ConditionReconciling)).To(BeFalse())
		}).Should(Succeed())
		w.expectNothingLeft(ctx)
		w.edit(ctx, b, func(s *spec) { s.Suspend = ptr.To(false) })
		Expect(w.reaches(ctx, b, v1alpha1.ReasonProvisioning).Status.Run.Number).To(BeEquivalentTo(2))
	})

	It("of the Job by somebody else stops the clocks", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		w.bind(ctx, w.claim(ctx), corev1.PersistentVolumeReclaimDelete)
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)
		suspend := func(yes bool) {
			job := w.job(ctx)
			job.Spec.Suspend = &yes
			Expect(k8s.Update(ctx, job)).To(Succeed())
		}
		suspend(true)
		w.reaches(ctx, b, v1alpha1.ReasonSuspended)
		w.clock.step(24 * time.Hour)
		suspend(false)
		w.reaches(ctx, b, v1alpha1.ReasonScheduling)
		Consistently(func() *v1alpha1.Run { return w.reaches(ctx, b, v1alpha1.ReasonScheduling).Status.Run }).
			Should(HaveField("Outcome", BeEmpty()))
	})
})

var _ = Describe("Deleting a DiskBenchmark", func() {
	It("mid-run takes its pod, then its claim and volume, and nothing is made again", func(ctx SpecContext) {
		w := newWorld(ctx)
		created := w.countJobs()
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name)
		w.runPod(ctx)
		w.reaches(ctx, b, v1alpha1.ReasonRunning)
		Expect(k8s.Delete(ctx, b)).To(Succeed())
		Eventually(func(g Gomega) {
			var claims corev1.PersistentVolumeClaimList
			g.Expect(k8s.List(ctx, &claims, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(claims.Items).To(BeEmpty())
		}).Should(Succeed())
		w.expectNothingLeft(ctx)
		Consistently(created).Should(Equal(1))
	})
})
