// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// saturating keeps so much outstanding that a stall of the disk below leaves I/O for the throttle to
// let through.
const saturating = `{name: saturating, pattern: Random, readPercent: 100, blockSize: 4Ki, queueDepth: 256, fileSize: 64Mi, warmupSeconds: 2, durationSeconds: 15}`

var _ = Describe("the workload model", func() {
	It("stripes over two capped volumes and gives their sum", FlakeAttempts(3), func(ctx SpecContext) {
		b := apply(ctx, "striped", spec("capped-500", saturating, ", volumeCount: 2, stripeSize: 64Ki"))
		awaitSuccess(ctx, b)
		Expect(b.Status.Run.Volumes).To(HaveLen(2))
		Expect(b.Status.Measurements[0].Total.IOPS).To(BeNumerically("~", 2*cappedIOPS, 2*cappedIOPS*0.02))
		expectNothingLeft(ctx)
	})

	It("gives each repetition a volume of its own", func(ctx SpecContext) {
		b := apply(ctx, "volumes", spec("standard", brief, ", repetitions: 2, repetitionScope: NewVolume"))
		awaitSuccess(ctx, b)
		Expect(b.Status.Run.Volumes).To(HaveLen(2))
		Expect(b.Status.Run.Volumes[0].VolumeName).NotTo(Equal(b.Status.Run.Volumes[1].VolumeName))
		Expect(b.Status.Measurements[0].Repetitions).To(HaveLen(2))
		expectNothingLeft(ctx)
	})

	It("measures the flushes of a log, and shows them", func(ctx SpecContext) {
		b := apply(ctx, "log", spec("standard", "{preset: etcd, operations: 1000}", ", targets: {maxFlushP99Micros: 10000000}"))
		awaitSuccess(ctx, b)
		m := b.Status.Measurements[0]
		Expect(m.Write.Operations).To(BeNumerically("==", 1000))
		Expect(m.Flush.Operations).To(BeNumerically("==", 1000))
		Expect(m.Parameters.DirectIO).To(Equal(v1alpha1.DirectIODisabled))
		Expect(m.Parameters.Layout).To(Equal(v1alpha1.LayoutPreallocated))
		Expect(b.Status.Summary.P99).To(ContainSubstring("flush"))
		Expect(b).To(haveTrue(v1alpha1.ConditionTargetsMet))
	})

	It("runs streams at once, each at its rate", func(ctx SpecContext) {
		b := apply(ctx, "streams", spec("standard", `{name: mixed, fileSize: 128Mi, warmupSeconds: 1, durationSeconds: 10, verification: Checksum, streams: [
			{name: data, pattern: Random, readPercent: 80, blockSize: 8Ki, queueDepth: 8, rateLimitIOPS: 200, range: {startPercent: 25}},
			{name: log, pattern: Sequential, readPercent: 0, blockSize: 32Ki, rateLimitIOPS: 50, range: {endPercent: 25}, sync: WriteThrough}]}`, ""))
		awaitSuccess(ctx, b)
		m := b.Status.Measurements[0]
		Expect(m.Streams).To(HaveLen(2))
		data, log := m.Streams[0], m.Streams[1]
		Expect(data.Read.Operations + data.Write.Operations).To(BeNumerically("~", 2000, 20))
		Expect(log.Write.Operations).To(BeNumerically("~", 500, 5))
		Expect(log.Write.Bytes).To(Equal(log.Write.Operations * 32 << 10))
		Expect(m.Total.Operations).To(Equal(data.Read.Operations + data.Write.Operations + log.Write.Operations))
	})
})

// The ground truth of test/accuracy, through the whole path.
var _ = Describe("accuracy", func() {
	It("reports the caps that the kernel enforces, within 1%", FlakeAttempts(3), func(ctx SpecContext) {
		const megabytes = 50
		capped := &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: "capped-50mb"},
			Provisioner: "loop.diskbench.dev",
			Parameters:  map[string]string{"readBPS": "50000000", "writeBPS": "50000000"},
		}
		Expect(k8s.Create(ctx, capped)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(k8s.Delete(ctx, capped)).To(Succeed()) })

		b := apply(ctx, "capped-mbps", spec("capped-50mb", `{name: large, pattern: Random, readPercent: 100, blockSize: 256Ki, queueDepth: 32, fileSize: 256Mi, warmupSeconds: 2, durationSeconds: 20}`, ""))
		awaitSuccess(ctx, b)
		Expect(b.Status.Measurements[0].Total.ThroughputBytesPerSecond).To(BeNumerically("~", megabytes*1e6, megabytes*1e6*0.01))

		b = apply(ctx, "capped-iops", spec("capped-5000", saturating, ""))
		awaitSuccess(ctx, b)
		m := b.Status.Measurements[0]
		Expect(m.Total.IOPS).To(BeNumerically("~", 5000, 50))
		Expect(float64(m.Total.IOPS)*float64(m.Total.MeanNanos)/1e9).To(BeNumerically("~", 256, 2.56), "mean latency times IOPS is the queue depth")
	})
})
