// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

const (
	operatorNamespace = "diskbench-system"
	cappedIOPS        = 500
)

// A load that takes seconds, and one that lasts long enough to be disturbed.
const (
	brief = `{name: brief, pattern: Random, readPercent: 50, blockSize: 4Ki, queueDepth: 8, fileSize: 128Mi, warmupSeconds: 0, durationSeconds: 2}`
	long  = `{name: long, pattern: Random, readPercent: 100, blockSize: 4Ki, queueDepth: 4, fileSize: 64Mi, warmupSeconds: 0, durationSeconds: 20}`
)

func spec(class, workload, more string) string {
	return fmt.Sprintf("{storageClassName: %s, size: 1Gi, workloads: [%s]%s}", class, workload, more)
}

var _ = Describe("a benchmark that succeeds", func() {
	DescribeTable("measures a new volume",
		func(ctx SpecContext, mode, filesystem string) {
			b := apply(ctx, "new-volume", spec("standard", brief, ", repetitions: 2, volumeMode: "+mode))
			awaitSuccess(ctx, b)

			By("giving figures that agree with each other")
			Expect(b.Status.Measurements).To(HaveLen(1))
			m := b.Status.Measurements[0]
			Expect(m.Name).To(Equal("brief"))
			Expect(m.Parameters.DirectIO).To(Equal(v1alpha1.DirectIORequired))
			Expect(m.Read.Operations + m.Write.Operations).To(Equal(m.Total.Operations))
			Expect(m.Total.Bytes).To(Equal(m.Total.Operations * 4096))
			seconds := float64(m.WindowNanos) / 1e9
			Expect(seconds).To(BeNumerically("~", 4, 0.1), "two repetitions of 2 s")
			Expect(float64(m.Total.IOPS)).To(BeNumerically("~", float64(m.Total.Operations)/seconds, 1))
			outstanding := float64(m.Total.IOPS) * float64(m.Total.MeanNanos) / 1e9
			crossing := float64(m.Total.MaxNanos) / 2e9 // I/Os that cross a bound of the 2 s window
			Expect(outstanding).To(BeNumerically("~", 8, 8*(0.05+crossing)), "mean latency times IOPS is the queue depth")
			Expect(*m.Total.P50Nanos).To(BeNumerically("<=", *m.Total.P99Nanos))
			Expect(m.Repetitions).To(HaveLen(2))
			Expect(m.Spread.MinIOPS).To(BeNumerically("<=", m.Spread.MaxIOPS))
			Expect(m.Series.IOPS).NotTo(BeEmpty())
			Expect(m.CPU.SystemMillis).To(BeNumerically(">", 0))

			By("recording what they belong to")
			run := b.Status.Run
			Expect(run.StorageClassName).To(Equal("standard"))
			Expect(run.Filesystem).To(Equal(filesystem))
			Expect(run.NodeName).NotTo(BeEmpty())
			Expect(run.Kernel).NotTo(BeEmpty())
			Expect(run.EngineVersion).NotTo(BeEmpty())
			Expect(run.IOEngine).To(Equal(v1alpha1.IOEngine("LibAIO")), "the runtime's default seccomp profile blocks io_uring and allows libaio")
			Expect(run.IOEngineFallbacks).To(ContainElement(ContainSubstring("io_uring")))
			Expect(run.Volumes).To(HaveLen(1))
			Expect(run.ProvisioningSeconds).NotTo(BeNil())
			Expect(run.AttachingSeconds).NotTo(BeNil())
			Expect(run.PreparingSeconds).NotTo(BeNil())

			By("leaving nothing")
			expectNothingLeft(ctx)

			By("showing it in a table")
			table := kubectl("get", "dbm", "-n", namespace, "-o", "wide")
			Expect(table).To(MatchRegexp(`(?m)^NAME +CLASS +SIZE +STATE +IOPS +MB/S +P99 +AGE`))
			Expect(table).To(MatchRegexp(`(?m)^new-volume +standard +1Gi +Completed +[0-9,]+ +[0-9.,]+ +[0-9.]+ (µs|ms|s) `))
		},
		Entry("with a filesystem", "Filesystem", "ext4"),
		Entry("as a block device", "Block", ""),
	)

	It("resolves the default class and records it", func(ctx SpecContext) {
		b := apply(ctx, "default-class", "{size: 1Gi, workloads: ["+brief+"]}")
		awaitSuccess(ctx, b)
		Expect(b.Status.Run.StorageClassName).To(Equal("standard"))
	})

	It("waits for no binding, so that classes of both binding modes work", func(ctx SpecContext) {
		b := apply(ctx, "immediate", spec("immediate", brief, ""))
		awaitSuccess(ctx, b)
	})

	// The queue is deep enough that a stall of the disk below, which others use too, leaves I/O for the
	// throttle to let through: what it cannot let through in time is lost. A stall of more than half a
	// second takes another try; an engine that counts wrongly fails all of them.
	It("reports the cap that the kernel enforces, within 2%", FlakeAttempts(3), func(ctx SpecContext) {
		b := apply(ctx, "capped", spec("capped-500", `{name: capped, pattern: Random, readPercent: 100, blockSize: 4Ki, queueDepth: 256, fileSize: 64Mi, warmupSeconds: 2, durationSeconds: 15},
			{name: capped-write, pattern: Random, readPercent: 0, blockSize: 4Ki, queueDepth: 256, fileSize: 64Mi, warmupSeconds: 2, durationSeconds: 15}`, ""))
		awaitSuccess(ctx, b)
		for _, m := range b.Status.Measurements {
			Expect(m.Total.IOPS).To(BeNumerically("~", cappedIOPS, cappedIOPS*0.02), m.Name)
		}
	})

	It("uses an existing claim, removes its own file and keeps the claim", func(ctx SpecContext) {
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: namespace},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To("standard"),
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
		Expect(k8s.Create(ctx, claim)).To(Succeed())

		By("failing in words where the engine's user may not write")
		b := apply(ctx, "existing", "{claimName: mine, workloads: ["+brief+"]}")
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b).To(haveReason("PermissionDenied"))
		Expect(message(b)).To(ContainSubstring("65532"), "the message names the user")

		By("measuring once that user may")
		giveToGroup(ctx, claim.Name, 2000)
		b.Spec.Pod = &v1alpha1.PodOptions{SupplementalGroups: []int64{2000}}
		Expect(k8s.Update(ctx, b)).To(Succeed())
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonCompleted))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b.Status.History).To(HaveLen(1))
		Eventually(jobs).WithContext(ctx).Should(BeEmpty())
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
		Expect(claim.DeletionTimestamp).To(BeNil())
	})

	It("judges targets without failing, unless asked to", func(ctx SpecContext) {
		b := apply(ctx, "targets", spec("capped-500", `{name: t, pattern: Random, readPercent: 100, blockSize: 4Ki, queueDepth: 4, fileSize: 64Mi, warmupSeconds: 0, durationSeconds: 3}`, ", targets: {minIOPS: 5000}"))
		awaitSuccess(ctx, b)
		Expect(b).NotTo(haveTrue(v1alpha1.ConditionTargetsMet))

		By("judging an edit of the targets anew, without another run")
		b.Spec.Targets.MinIOPS = ptr.To(int64(300))
		Expect(k8s.Update(ctx, b)).To(Succeed())
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionTargetsMet))
		Expect(b.Status.Run.Number).To(Equal(int64(1)))
	})
})

var _ = Describe("a benchmark that fails", func() {
	It("waits for a missing class, and runs once it is there", func(ctx SpecContext) {
		class := namespace + "-class"
		b := apply(ctx, "missing", spec(class, brief, ""))
		Eventually(refreshed(b)).WithContext(ctx).WithTimeout(10 * time.Second).Should(haveTrue(v1alpha1.ConditionStalled))
		Expect(b).To(haveReason(v1alpha1.ReasonStorageClassNotFound))
		Expect(message(b)).To(ContainSubstring(class))
		Expect(claims(ctx)).To(BeEmpty())

		var standard storagev1.StorageClass
		Expect(k8s.Get(ctx, client.ObjectKey{Name: "standard"}, &standard)).To(Succeed())
		created := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: standard.Provisioner, Parameters: standard.Parameters,
			ReclaimPolicy: standard.ReclaimPolicy, VolumeBindingMode: standard.VolumeBindingMode,
		}
		Expect(k8s.Create(ctx, created)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(k8s.Delete(ctx, created)).To(Succeed()) })
		awaitSuccess(ctx, b)
	})

	It("finishes when the missing class does not come", func(ctx SpecContext) {
		b := apply(ctx, "missing", spec("no-such", brief, ", timeouts: {blockedSeconds: 3}"))
		Eventually(refreshed(b)).WithContext(ctx).WithTimeout(20 * time.Second).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b).To(haveTrue(v1alpha1.ConditionStalled))
		Expect(message(b)).To(ContainSubstring("no-such"))
	})

	It("says why the engine failed, and leaves nothing", func(ctx SpecContext) {
		b := apply(ctx, "too-large", spec("standard", `{preset: vdi, fileSize: 1000Mi}`, ""))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b).To(haveReason("NoSpace"))
		Expect(b).To(haveTrue(v1alpha1.ConditionStalled))
		Expect(b).NotTo(haveTrue(v1alpha1.ConditionReady))
		Expect(b.Status.Measurements).To(BeEmpty())
		expectNothingLeft(ctx)
	})

	It("never falls back from an I/O engine that was asked for", func(ctx SpecContext) {
		b := apply(ctx, "io-uring", spec("standard", brief, ", engine: {ioEngine: IOUring}"))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b).To(haveReason("IOEngineUnavailable"))
	})

	It("says that an image cannot be pulled", func(ctx SpecContext) {
		b := apply(ctx, "no-image", spec("standard", brief, ", engine: {image: 'diskbench.invalid/engine:v1'}"))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonImagePullFailed))
		expectNothingLeft(ctx)
	})

	It("keeps the volume where cleanup says so", func(ctx SpecContext) {
		b := apply(ctx, "kept", spec("standard", `{preset: vdi, fileSize: 1000Mi}`, ", cleanup: OnSuccess"))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Consistently(claims).WithContext(ctx).WithTimeout(3 * time.Second).Should(HaveLen(1))
	})
})

var _ = Describe("a benchmark that is disturbed", func() {
	It("goes on when the operator is killed, with one Job in total", func(ctx SpecContext) {
		b := apply(ctx, "killed", spec("standard", long, ""))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonRunning))
		job := onlyJob(ctx)
		Expect(k8s.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(operatorNamespace), client.GracePeriodSeconds(0))).To(Succeed())
		awaitSuccess(ctx, b)
		Expect(b.Status.Run.Number).To(Equal(int64(1)))
		Expect(b.Status.Run.Name).To(Equal(job))
	})

	It("takes its pod, then its volume, along when it is deleted", func(ctx SpecContext) {
		b := apply(ctx, "deleted", spec("standard", long, ""))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonRunning))
		Expect(k8s.Delete(ctx, b)).To(Succeed())
		expectNothingLeft(ctx)
	})

	It("ends Interrupted when its pod is deleted", func(ctx SpecContext) {
		b := apply(ctx, "interrupted", spec("standard", long, ""))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonRunning))
		Expect(k8s.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(namespace))).To(Succeed())
		Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
		Expect(b).To(haveReason(v1alpha1.ReasonInterrupted))
		expectNothingLeft(ctx)
	})

	It("ignores a re-apply without change, and starts anew on a measured edit", func(ctx SpecContext) {
		b := apply(ctx, "edited", spec("standard", long, ""))
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonRunning))
		first := onlyJob(ctx)

		By("being applied again, and edited in what is not measured")
		b.Spec.Timeouts = &v1alpha1.Timeouts{CleanupSeconds: ptr.To(int32(300))}
		Expect(k8s.Update(ctx, b)).To(Succeed())
		Eventually(func(ctx context.Context) (int64, error) {
			_, err := refreshed(b)(ctx)
			return b.Status.ObservedGeneration, err
		}).WithContext(ctx).Should(Equal(b.Generation))
		Expect(onlyJob(ctx)).To(Equal(first))

		By("being edited in what is measured")
		b.Spec.Workloads[0].QueueDepth = ptr.To(int32(2))
		b.Spec.Workloads[0].DurationSeconds = ptr.To(int32(2))
		Expect(k8s.Update(ctx, b)).To(Succeed())
		Eventually(refreshed(b)).WithContext(ctx).Should(haveReason(v1alpha1.ReasonCompleted))
		Expect(b.Status.Run.Number).To(Equal(int64(2)))
		Expect(b.Status.Run.Name).NotTo(Equal(first))
		Expect(b.Status.Measurements[0].Parameters.QueueDepth).To(Equal(int32(2)))
		expectNothingLeft(ctx)
	})
})

// onlyJob is the name of the one Job in the test's namespace.
func onlyJob(ctx context.Context) string {
	GinkgoHelper()
	list, err := jobs(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(list).To(HaveLen(1))
	return list[0].Name
}
