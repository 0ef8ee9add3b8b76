// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

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
			Workloads: "randread", IOPS: "500", Throughput: "2.05", P99: "3.00 ms",
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
	})
})
