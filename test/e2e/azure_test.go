// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// Premium SSD P10, which is 128 GiB, and its price in East US, from internal/azure/catalog.
const (
	p10Base, p10Burst = 500, 3500
	p10PerMonth       = "19.71"
)

// The cluster's provisioner takes the name and parameters of Azure's, and the kernel caps its volumes like
// the tier. A node in Azure carries the labels.
var _ = Describe("an emulated Azure disk", func() {
	const emulated = "diskbench.dev/emulated"

	BeforeEach(func(ctx SpecContext) {
		var nodes corev1.NodeList
		Expect(k8s.List(ctx, &nodes)).To(Succeed())
		for _, node := range nodes.Items {
			before := node.DeepCopy()
			node.Labels[corev1.LabelInstanceTypeStable] = "Standard_D8s_v5"
			node.Labels[corev1.LabelTopologyRegion] = "eastus"
			Expect(k8s.Patch(ctx, &node, client.MergeFrom(before))).To(Succeed())
			DeferCleanup(func(ctx SpecContext) {
				labeled := node.DeepCopy()
				delete(node.Labels, corev1.LabelInstanceTypeStable)
				delete(node.Labels, corev1.LabelTopologyRegion)
				Expect(k8s.Patch(ctx, &node, client.MergeFrom(labeled))).To(Succeed())
			})
		}
	})

	// assessed runs random reads on a P10 of the class and gives the assessment.
	assessed := func(ctx SpecContext, name, class, seconds string) (*v1alpha1.DiskBenchmark, v1alpha1.WorkloadAssessment) {
		GinkgoHelper()
		b := apply(ctx, name, "{storageClassName: "+class+", size: 128Gi, workloads: [{name: random, pattern: Random, readPercent: 100, "+
			"blockSize: 4Ki, queueDepth: 64, fileSize: 64Mi, warmupSeconds: 5, durationSeconds: "+seconds+"}]}")
		awaitSuccess(ctx, b)
		a := b.Status.Assessment
		Expect(a.Disk.SKU).To(Equal("Premium_LRS"))
		Expect(a.Disk.Tier).To(Equal("P10"))
		Expect(a.Disk.VMSize).To(Equal("Standard_D8s_v5"))
		Expect(a.Workloads).To(HaveLen(1))
		return b, a.Workloads[0]
	}

	It("bursts, and does not pass the burst for the disk", FlakeAttempts(3), func(ctx SpecContext) {
		b, w := assessed(ctx, "burst", "emulated-premium-ssd", "20")
		Expect(w.Verdict).To(Equal("DiskBurstIOPS"), w.Message)
		Expect(w.Measured.IOPS).To(BeNumerically("~", p10Burst, p10Burst*0.02))
		Expect(w.Expected.IOPS).To(BeNumerically("==", p10Burst))
		Expect(w.Sustained.IOPS).To(BeNumerically("==", p10Base))
		Expect(w.Sustained.Basis).To(Equal(v1alpha1.BasisCatalog))
		Expect(w.CreditsLeft).NotTo(BeEmpty())
		Expect(b.Status.Cost.PerMonth).To(Equal(p10PerMonth))
		expectNothingLeft(ctx)
	})

	It("falls from its burst to its base meanwhile, which is told", FlakeAttempts(3), func(ctx SpecContext) {
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		brief := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{
				Name: "emulated-brief-burst", Labels: map[string]string{emulated: "true"},
				Annotations: map[string]string{"diskbench.dev/emulated-burst-seconds": "50"},
			},
			Provisioner: "disk.csi.azure.com", VolumeBindingMode: &mode,
			Parameters: map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"},
		}
		Expect(k8s.Create(ctx, brief)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(k8s.Delete(ctx, brief)).To(Succeed()) })

		b, w := assessed(ctx, "fall", brief.Name, "100")
		Expect(w.Verdict).To(Equal("DiskBurst"), w.Message)
		Expect(w.Message).To(ContainSubstring("burst"))
		step := b.Status.Measurements[0].Step
		Expect(step).NotTo(BeNil())
		// The probe and the warm-up spend credits, too.
		Expect(step.AtSeconds).To(BeNumerically("~", 42, 8))
		Expect(step.BeforeIOPS).To(BeNumerically("~", p10Burst, p10Burst*0.02))
		Expect(step.AfterIOPS).To(BeNumerically("~", p10Base, p10Base*0.02))
		Expect(w.Sustained.IOPS).To(Equal(step.AfterIOPS))
		Expect(w.Sustained.Basis).To(Equal(v1alpha1.BasisMeasured))

		wide := kubectl("get", "diskbenchmark", b.Name, "-n", namespace, "-o", "wide")
		Expect(wide).To(And(ContainSubstring("DiskBurst"), ContainSubstring(p10PerMonth+" USD")))
		expectNothingLeft(ctx)
	})
})
