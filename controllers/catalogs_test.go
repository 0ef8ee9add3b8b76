// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

const azureDriver = "disk.csi.azure.com"

// azureBenchmark measures an Azure disk of 32 GiB, a P4, in West Europe, to the end.
func (w *world) azureBenchmark(ctx context.Context, vary ...func(*v1alpha1.DiskBenchmarkSpec)) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	w.driver = azureDriver
	class := newClass(ctx, func(c *storagev1.StorageClass) { c.Provisioner = azureDriver })
	b := w.create(ctx, class.Name, vary...)
	pod := w.runPod(ctx)
	w.end(ctx, pod, 0, result(pod))
	return w.ends(ctx, b, v1alpha1.ReasonCompleted)
}

// costs waits until a benchmark costs so much.
func (w *world) costs(ctx context.Context, b *v1alpha1.DiskBenchmark, words string) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	got := &v1alpha1.DiskBenchmark{}
	Eventually(func(g Gomega) {
		g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), got)).To(Succeed())
		g.Expect(got.Status.ObservedGeneration).To(Equal(got.Generation))
		g.Expect(got.Status.Summary).NotTo(BeNil())
		g.Expect(got.Status.Summary.Cost).To(Equal(words))
	}).Should(Succeed())
	return got
}

// unwritten holds that nothing is written to a benchmark for a while.
func (w *world) unwritten(ctx context.Context, b *v1alpha1.DiskBenchmark) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		got := &v1alpha1.DiskBenchmark{}
		g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), got)).To(Succeed())
		g.Expect(got.ResourceVersion).To(Equal(b.ResourceVersion))
	}).Should(Succeed())
}

var _ = Describe("What follows from the figures", func() {
	It("is computed again when spec.cost changes, without measuring again", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.attributes = map[string]string{"skuname": "Premium_LRS", "requestedsizegib": "32", "csi.storage.k8s.io/pvc/name": "secret"}
		w.startOperator()
		jobs := w.countJobs()
		b := w.azureBenchmark(ctx)
		Expect(b.Status.Run.VolumeAttributes).To(Equal(map[string]string{"skuname": "Premium_LRS", "requestedsizegib": "32"}))
		b = w.costs(ctx, b, "5.81 USD")
		Expect(b.Status.Cost.Region).To(Equal("westeurope"))
		Expect(b.Status.Cost.Lines).To(HaveLen(1))
		Expect(b.Status.Cost.Run).NotTo(BeNil())
		Expect(b.Status.Assessment.Disk.Tier).To(Equal("P4"))
		Expect(b.Status.Assessment.Disk.Controller).To(Equal("SCSI"))
		Expect(b.Status.Assessment.Workloads).To(HaveLen(1))
		Expect(b.Status.Assessment.Workloads[0].Expected.LimitedBy).To(Equal("DiskBurstIOPS"))

		w.edit(ctx, b, func(s *spec) { s.Cost = &v1alpha1.CostOptions{Region: ptr.To("eastus"), FleetSize: ptr.To[int32](10)} })
		b = w.costs(ctx, b, "5.28 USD")
		Expect(b.Status.Cost.FleetPerMonth).To(Equal("52.80"))

		w.edit(ctx, b, func(s *spec) { s.Cost.Currency = ptr.To("EUR") })
		b = w.costs(ctx, b, "unknown")
		Expect(b.Status.Cost.Unknown).NotTo(BeEmpty())
		Expect(b.Status.Run.Number).To(BeEquivalentTo(1))
		Expect(jobs()).To(Equal(1), "Jobs")
	})

	It("is written once, and not by an operator that starts again", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.costs(ctx, w.azureBenchmark(ctx), "5.81 USD")
		w.unwritten(ctx, b)
		w.restartOperator()
		w.unwritten(ctx, b)
	})

	It("has a price of the user's where there is no catalog", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.create(ctx, newClass(ctx).Name, func(s *spec) {
			s.Cost = &v1alpha1.CostOptions{CostPerMonth: ptr.To("12.50"), Currency: ptr.To("EUR")}
		})
		pod := w.runPod(ctx)
		w.end(ctx, pod, 0, result(pod))
		w.ends(ctx, b, v1alpha1.ReasonCompleted)
		Expect(w.costs(ctx, b, "12.50 EUR").Status.Cost.Source).To(Equal("spec.cost.costPerMonth"))
	})

	It("follows a user's catalog, whose bad rows are refused and whose good ones count", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.startOperator()
		b := w.costs(ctx, w.azureBenchmark(ctx), "5.81 USD")
		embedded := b.Status.Cost.Source

		By("laying a price over the embedded one, beside a row with a wrong tier")
		overlay := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.overlay().Namespace, Name: w.overlay().Name},
			Data: map[string]string{"prices.csv": "region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate\n" +
				"westeurope,USD,Premium_LRS,P4,Capacity,1/Month,4.20,high,contract,2026-09-01\n" +
				"westeurope,USD,Premium_LRS,P10,Capacity,1/Month,cheap,high,contract,2026-09-01\n"},
		}
		Expect(k8s.Create(ctx, overlay)).To(Succeed())
		b = w.costs(ctx, b, "4.20 USD")
		Expect(b.Status.Assessment.CatalogVersion).To(ContainSubstring("+"))
		Expect(b.Status.Cost.Source).NotTo(Equal(embedded))
		Expect(b.Status.Cost.PriceDate).To(Equal("2026-09-01"))
		Eventually(func(g Gomega) {
			var events eventsv1.EventList
			g.Expect(k8s.List(ctx, &events, client.InNamespace(w.namespace))).To(Succeed())
			var notes []string
			for i := range events.Items {
				if e := &events.Items[i]; e.Regarding.UID == overlay.UID && e.Type == corev1.EventTypeWarning {
					notes = append(notes, e.Note)
				}
			}
			g.Expect(notes).To(ConsistOf(And(ContainSubstring("prices.csv"), ContainSubstring("3"), ContainSubstring("cheap"))))
		}).Should(Succeed())

		By("writing nothing when the same rows are stored again")
		overlay.Labels = map[string]string{"touched": "yes"}
		Expect(k8s.Update(ctx, overlay)).To(Succeed())
		w.unwritten(ctx, b)

		By("taking it away")
		Expect(k8s.Delete(ctx, overlay)).To(Succeed())
		Expect(w.costs(ctx, b, "5.81 USD").Status.Cost.Source).To(Equal(embedded))
	})

	It("does without a price API that does not answer, and says so", func(ctx SpecContext) {
		var asked atomic.Int32
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			http.Error(w, "no", http.StatusForbidden)
		}))
		DeferCleanup(api.Close)
		w := newWorld(ctx)
		w.retail = api.URL
		w.startOperator()
		b := w.costs(ctx, w.azureBenchmark(ctx), "5.81 USD")
		Eventually(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.Cost.Source).To(And(HavePrefix("catalog "), ContainSubstring("cannot be read: ")))
		}).Should(Succeed())
		Expect(asked.Load()).To(BeNumerically(">", 0))
		w.unwritten(ctx, b)
	})

	It("takes the price API's price once it is there", func(ctx SpecContext) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			items := ""
			if strings.Contains(r.URL.RawQuery, "Premium%20SSD%20Managed%20Disks") {
				items = `{"currencyCode":"USD","tierMinimumUnits":0,"retailPrice":6.5,"unitPrice":6.5,"armRegionName":"westeurope",` +
					`"location":"EU West","effectiveStartDate":"2026-01-01T00:00:00Z","meterName":"P4 LRS Disk","productName":"Premium SSD Managed Disks",` +
					`"skuName":"P4 LRS","serviceName":"Storage","unitOfMeasure":"1/Month","type":"Consumption","isPrimaryMeterRegion":true,"armSkuName":"Premium_SSD_Managed_Disk_P4"}`
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"BillingCurrency":"USD","Items":[` + items + `],"NextPageLink":null}`))
		}))
		DeferCleanup(api.Close)
		w := newWorld(ctx)
		w.retail = api.URL
		w.startOperator()
		b := w.costs(ctx, w.azureBenchmark(ctx), "6.50 USD")
		Expect(b.Status.Cost.Source).To(HavePrefix("Azure Retail Prices API"))
	})
})
