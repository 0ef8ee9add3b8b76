// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

func newBenchmark(namespace, class string, vary ...func(*v1alpha1.DiskBenchmarkSpec)) *v1alpha1.DiskBenchmark {
	b := &v1alpha1.DiskBenchmark{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "b-", Namespace: namespace},
		Spec: v1alpha1.DiskBenchmarkSpec{
			StorageClassName: &class,
			Size:             ptr.To(resource.MustParse("32Gi")),
			Workloads:        []v1alpha1.Workload{{Preset: ptr.To("randread")}},
		},
	}
	for _, v := range vary {
		v(&b.Spec)
	}
	return b
}

// create creates a DiskBenchmark in the world.
func (w *world) create(ctx context.Context, class string, vary ...func(*v1alpha1.DiskBenchmarkSpec)) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	b := newBenchmark(w.namespace, class, vary...)
	Expect(k8s.Create(ctx, b)).To(Succeed())
	return b
}

// edit changes the spec of a DiskBenchmark.
func (w *world) edit(ctx context.Context, b *v1alpha1.DiskBenchmark, vary func(*v1alpha1.DiskBenchmarkSpec)) {
	GinkgoHelper()
	Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
	before := b.DeepCopy()
	vary(&b.Spec)
	Expect(k8s.Patch(ctx, b, client.MergeFrom(before))).To(Succeed())
}

// state waits until Ready has a reason and the benchmark is finished or not, and returns it.
func (w *world) state(ctx context.Context, b *v1alpha1.DiskBenchmark, reason string, finished bool) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	got := &v1alpha1.DiskBenchmark{}
	Eventually(func(g Gomega) {
		g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), got)).To(Succeed())
		g.Expect(got.Status.ObservedGeneration).To(Equal(got.Generation))
		ready := meta.FindStatusCondition(got.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(ready.Reason).To(Equal(reason), "%s: %s", ready.Reason, ready.Message)
		g.Expect(is(got, v1alpha1.ConditionFinished)).To(Equal(finished), "Finished")
	}).Should(Succeed())
	return got
}

// ends waits for the end with a reason, success or failure.
func (w *world) ends(ctx context.Context, b *v1alpha1.DiskBenchmark, reason string) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	return w.state(ctx, b, reason, true)
}

// reaches waits for a reason before the end.
func (w *world) reaches(ctx context.Context, b *v1alpha1.DiskBenchmark, reason string) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	return w.state(ctx, b, reason, false)
}

func is(b *v1alpha1.DiskBenchmark, condition string) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, condition)
}

func message(b *v1alpha1.DiskBenchmark, condition string) string {
	c := meta.FindStatusCondition(b.Status.Conditions, condition)
	if c == nil {
		return ""
	}
	return c.Message
}

// keepInvariants watches the namespace until the test ends, and holds every status to what must be
// true of any.
func keepInvariants(namespace string) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := k8s.Watch(ctx, &v1alpha1.DiskBenchmarkList{}, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	seen := 0
	DeferCleanup(func() {
		cancel()
		<-done
		Expect(seen).To(BeNumerically(">", 0), "no status was seen")
	})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for e := range w.ResultChan() {
			if b, ok := e.Object.(*v1alpha1.DiskBenchmark); ok && e.Type != watch.Deleted {
				seen++
				Expect(violations(b)).To(BeEmpty(), "%+v", b.Status)
			}
		}
	}()
}

// violations are what is wrong with a status, after kstatus and our own promises.
func violations(b *v1alpha1.DiskBenchmark) []string {
	s := &b.Status
	if s.ObservedGeneration == -1 {
		return nil // as created: no operator has seen it
	}
	var out []string
	wrong := func(when bool, what string) {
		if when {
			out = append(out, what)
		}
	}
	ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
	wrong(ready == nil, "Ready is absent")
	wrong(is(b, v1alpha1.ConditionReady) && is(b, v1alpha1.ConditionStalled), "Ready with Stalled")
	wrong(is(b, v1alpha1.ConditionReconciling) && is(b, v1alpha1.ConditionStalled), "Reconciling with Stalled")
	wrong(is(b, v1alpha1.ConditionReconciling) && is(b, v1alpha1.ConditionFinished), "Reconciling with Finished")
	wrong(is(b, v1alpha1.ConditionReady) && len(s.Measurements) == 0, "Ready without figures")
	wrong(is(b, v1alpha1.ConditionFinished) && !is(b, v1alpha1.ConditionReady) && !is(b, v1alpha1.ConditionStalled),
		"Finished, and neither Ready nor Stalled")
	done := s.Run != nil && s.Run.Phase == v1alpha1.PhaseDone
	wrong(is(b, v1alpha1.ConditionFinished) && !done, "Finished before phase Done")
	wrong(s.ObservedGeneration > b.Generation, "observedGeneration is ahead")
	for _, c := range s.Conditions {
		wrong(c.ObservedGeneration != s.ObservedGeneration, fmt.Sprintf("%s has observedGeneration %d", c.Type, c.ObservedGeneration))
		wrong(c.Message == "", c.Type+" has no message")
		absentUnlessTrue := c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled
		wrong(absentUnlessTrue && c.Status != metav1.ConditionTrue, c.Type+" is there and not True")
	}
	return out
}
