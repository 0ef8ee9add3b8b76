// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
)

// now is near enough to the embedded prices' dates.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func embeddedPrices(t *testing.T) Prices {
	t.Helper()
	c := catalogtest.Load(t)
	return Prices{Catalog: c, Source: "catalog " + c.Version()}
}

// benchmark is a finished one: 4 KiB random reads at 600 IOPS on a 128 GiB Standard SSD in East US.
type benchmark struct {
	spec   v1alpha1.DiskBenchmarkSpec
	status v1alpha1.DiskBenchmarkStatus
}

func (b *benchmark) evaluated(t *testing.T) *run {
	t.Helper()
	return newRun(&b.spec, &b.status, embeddedPrices(t))
}

func standardSSD(vary ...func(*benchmark)) *benchmark {
	finished := metav1.NewTime(now)
	b := &benchmark{
		spec: v1alpha1.DiskBenchmarkSpec{Size: ptr.To(resource.MustParse("128Gi")), Workloads: []v1alpha1.Workload{{Preset: ptr.To("randread")}}},
		status: v1alpha1.DiskBenchmarkStatus{
			Run: &v1alpha1.Run{
				Provisioner: "disk.csi.azure.com", Parameters: map[string]string{"skuName": "StandardSSD_LRS"},
				Size: ptr.To(resource.MustParse("128Gi")), VMSize: "Standard_D8s_v5", Region: "eastus", Device: "sdc",
				Volumes: []v1alpha1.Volume{{Driver: "disk.csi.azure.com"}},
				Phase:   v1alpha1.PhaseDone, FinishTime: &finished, PhaseTime: metav1.NewTime(now.Add(time.Minute)),
				AttachingSeconds: ptr.To[int64](20), PreparingSeconds: ptr.To[int64](30), MeasuringSeconds: ptr.To[int64](70),
			},
			Measurements: []v1alpha1.Measurement{measurement("randread", 4<<10, 600)},
		},
	}
	for _, v := range vary {
		v(b)
	}
	return b
}

func measurement(name string, block, iops int64) v1alpha1.Measurement {
	figures := v1alpha1.Figures{Operations: 60 * iops, Bytes: 60 * iops * block, IOPS: iops, ThroughputBytesPerSecond: iops * block, MeanNanos: 128e9 / iops}
	return v1alpha1.Measurement{
		Name: name, WindowNanos: 60e9, Total: figures, Read: &figures, ProbeMeanNanos: ptr.To[int64](2e6),
		Repetitions: []v1alpha1.Repetition{{WindowNanos: 60e9, IOPS: iops}},
		Parameters: v1alpha1.Parameters{
			StreamParameters: v1alpha1.StreamParameters{ReadPercent: ptr.To[int32](100), BlockSizeBytes: block, Threads: 4, QueueDepth: 32},
			FileSizeBytes:    4 << 30, WarmupSeconds: 3, DurationSeconds: 60, DirectIO: v1alpha1.DirectIORequired, Layout: "Written",
		},
	}
}

func priced(o v1alpha1.CostOptions) func(*benchmark) {
	return func(b *benchmark) { b.spec.Cost = &o }
}

func with(vary func(*v1alpha1.Run)) func(*benchmark) {
	return func(b *benchmark) { vary(b.status.Run) }
}

// premium has no host cache, so that its reads are the disk's.
func premium(b *benchmark) {
	b.status.Run.Parameters = map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"}
}

func otherDriver(b *benchmark) {
	b.status.Run.Provisioner, b.status.Run.Volumes[0].Driver = "local.example.test", "local.example.test"
}

func TestCost(t *testing.T) {
	v2 := with(func(r *v1alpha1.Run) {
		r.Parameters = map[string]string{"skuName": "PremiumV2_LRS"}
		r.VolumeAttributes = map[string]string{"skuname": "PremiumV2_LRS", "DiskMBpsReadWrite": "125"}
		r.VolumeAttributesParameters = map[string]string{"DiskMBpsReadWrite": "150"}
		r.Size = ptr.To(resource.MustParse("512Gi"))
	})
	buffered := func(b *benchmark) { b.status.Measurements[0].Parameters.DirectIO = v1alpha1.DirectIODisabled }
	for _, c := range []struct {
		why    string
		of     *benchmark
		month  string
		capped string
		lines  string
	}{
		{"every hour busy at its sustained 500 IOPS passes the cap of billed transactions", standardSSD(), "31.09 USD", "31.09", "Capacity 9.60, Transactions 21.49"},
		{"busy in 20% of the hours", standardSSD(priced(v1alpha1.CostOptions{BusyHoursPercent: ptr.To[int32](20)})), "13.90 USD", "31.09", "Capacity 9.60, Transactions 4.30"},
		{"at 20% of the rate in every hour, which is still above the cap", standardSSD(priced(v1alpha1.CostOptions{RateWhenBusyPercent: ptr.To[int32](20)})), "31.09 USD", "31.09", "Capacity 9.60, Transactions 21.49"},
		{"Premium has no transactions", standardSSD(premium), "19.71 USD", "19.71", "Capacity 19.71"},
		{"a discount is off the list price", standardSSD(premium, priced(v1alpha1.CostOptions{DiscountPercent: ptr.To[int32](10)})), "17.74 USD", "17.74", "Capacity 17.74"},
		{"a reservation is for large disks", standardSSD(premium, with(func(r *v1alpha1.Run) { r.Size = ptr.To(resource.MustParse("2Ti")) }), priced(v1alpha1.CostOptions{Reservation: ptr.To("OneYear")})),
			"246.08 USD", "246.08", "Reservation 246.08"},
		{"two disks of a striped set", standardSSD(premium, func(b *benchmark) { b.spec.VolumeCount = ptr.To[int32](2) }), "39.42 USD", "39.42", "Capacity 39.42"},
		{"the attributes class goes before the volume's attributes", standardSSD(v2), "42.12 USD", "42.12", "Capacity 41.11, ProvisionedThroughput 1.01"},
		{"a region of the user's, where E10 has no known price", standardSSD(priced(v1alpha1.CostOptions{Region: ptr.To("germanynorth")})), "unknown", "", ""},
		// 1 MiB a second is billed as 4: 14,400 an hour at 0.002 for 10,000.
		{"buffered I/O is billed as the disk did it", standardSSD(buffered, func(b *benchmark) {
			b.status.Measurements[0].Device = &v1alpha1.DeviceCounters{WriteOperations: 60, WriteBytes: 60 << 20}
		}), "11.70 USD", "31.09", "Capacity 9.60, Transactions 2.10"},
		{"and the page cache's reads cost nothing", standardSSD(buffered, func(b *benchmark) { b.status.Measurements[0].Device = &v1alpha1.DeviceCounters{} }), "9.60 USD", "31.09", "Capacity 9.60, Transactions 0.00"},
		{"where nothing counted the disk's I/O, its bill is not known", standardSSD(buffered), "unknown", "31.09", "Capacity 9.60"},
		{"a driver without prices", standardSSD(otherDriver), "unknown", "", ""},
		{"a price of the user's for it", standardSSD(otherDriver, priced(v1alpha1.CostOptions{CostPerMonth: ptr.To("12.50"), Currency: ptr.To("EUR")})), "12.50 EUR", "12.50", "UserFigure 12.50"},
	} {
		got := c.of.evaluated(t).cost(now)
		var lines []string
		sum := decimal.Zero
		for _, l := range got.Lines {
			lines = append(lines, l.Item+" "+l.Amount)
			sum = sum.Add(decimal.RequireFromString(l.Amount))
		}
		if words := CostWords(got); words != c.month || got.PerMonthAtCap != c.capped || strings.Join(lines, ", ") != c.lines {
			t.Errorf("%s: %q, %q at the cap, of %q; want %q, %q, %q", c.why, words, got.PerMonthAtCap, lines, c.month, c.capped, c.lines)
		}
		if got.PerMonth != "" && sum.StringFixed(2) != got.PerMonth {
			t.Errorf("%s: lines add up to %s, and the month is %s", c.why, sum, got.PerMonth)
		}
		warned := strings.Contains(reasons(got.Warnings), "PriceUnknown")
		if unknown := got.PerMonth == ""; unknown != warned || unknown != (len(got.Unknown) > 0) {
			t.Errorf("%s: unknown %v, warnings %v", c.why, got.Unknown, got.Warnings)
		}
	}
}

// An existing disk can be of a higher performance tier, and billed as such.
func TestCostOfAnExistingDisk(t *testing.T) {
	got := standardSSD(premium, func(b *benchmark) { b.spec.ClaimName, b.spec.Size = ptr.To("c"), nil }).evaluated(t).cost(now)
	if got.PerMonth != "19.71" || reasons(got.Warnings) != "HiddenProperties" {
		t.Errorf("%s, %v", got.PerMonth, got.Warnings)
	}
}

func reasons(ws []v1alpha1.StatusWarning) string {
	var out []string
	for _, w := range ws {
		out = append(out, w.Reason)
	}
	return strings.Join(out, " ")
}

func TestCostOfAFleetAndOfIOPS(t *testing.T) {
	b := standardSSD(premium, priced(v1alpha1.CostOptions{FleetSize: ptr.To[int32](100)}), func(b *benchmark) { b.status.Measurements[0] = measurement("randread", 4<<10, 3500) })
	got := b.evaluated(t).cost(now)
	// P10 bursts to 3,500 and sustains 500.
	if got.FleetPerMonth != "1971.00" || got.PerThousandSustainedIOPS != "39.42" || got.Region != "eastus" || got.PriceDate == "" || !strings.HasPrefix(got.Source, "catalog 2") {
		t.Errorf("%+v", got)
	}
}

func TestOneWorkloadCounts(t *testing.T) {
	two := func(b *benchmark) {
		b.spec.Workloads = []v1alpha1.Workload{{Preset: ptr.To("seqread")}, {Preset: ptr.To("randread")}}
		b.status.Measurements = []v1alpha1.Measurement{measurement("seqread", 1<<20, 60), measurement("randread", 4<<10, 500)}
	}
	for _, c := range []struct {
		why, want string
		of        *benchmark
	}{
		{"500 I/Os are more than 60 of four units each", "randread", standardSSD(two)},
		{"who has targets for one, has it in mind", "seqread", standardSSD(two, func(b *benchmark) { b.spec.Targets = &v1alpha1.Targets{Workload: ptr.To("seqread")} })},
	} {
		if got := c.of.evaluated(t).cost(now); got.Workload != c.want {
			t.Errorf("%s: %s counts, want %s", c.why, got.Workload, c.want)
		}
	}
}

func TestCostOfTheRun(t *testing.T) {
	for _, c := range []struct {
		why  string
		of   *benchmark
		want *v1alpha1.RunCost
	}{
		// 180 s are 0.00135 of P10's 19.71; an hour is 0.027.
		{"attaching, preparing, measuring and a minute of cleanup", standardSSD(premium), &v1alpha1.RunCost{Prorated: "0.0014", AtMost: "0.03"}},
		{"a volume for each of four repetitions", standardSSD(premium, func(b *benchmark) {
			b.spec.Repetitions, b.spec.RepetitionScope = ptr.To[int32](4), ptr.To(v1alpha1.RepetitionScopeNewVolume)
		}), &v1alpha1.RunCost{Prorated: "0.0054", AtMost: "0.11"}},
		// 36,000 I/Os in the window, 1,800 while warming up, 2,500 of the probe, and 16,384 units of 256 KiB
		// that wrote the file: 56,684 at 0.002 for 10,000.
		{"transactions of all that the run did", standardSSD(), &v1alpha1.RunCost{Prorated: "0.01", AtMost: "0.02"}},
		{"a figure of the user's", standardSSD(otherDriver, priced(v1alpha1.CostOptions{CostPerMonth: ptr.To("730")})), &v1alpha1.RunCost{Prorated: "0.05", AtMost: "1.00"}},
		{"an existing disk is paid for anyway", standardSSD(premium, func(b *benchmark) { b.spec.ClaimName, b.spec.Size = ptr.To("c"), nil }), nil},
		{"nobody counted what a buffered workload made the disk do", standardSSD(func(b *benchmark) { b.status.Measurements[0].Parameters.DirectIO = v1alpha1.DirectIODisabled }), nil},
		{"nobody knows how long", standardSSD(premium, with(func(r *v1alpha1.Run) { r.MeasuringSeconds = nil })), nil},
		{"no price", standardSSD(premium, with(func(r *v1alpha1.Run) { r.Region = "" })), nil},
	} {
		got := c.of.evaluated(t).cost(now).Run
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
	transactions, _ := runIOs([]v1alpha1.Measurement{measurement("randread", 4<<10, 600)}, 4<<30, 256<<10)
	if transactions != 56_684 {
		t.Errorf("%d transactions", transactions)
	}
}

func TestPricesGrowOld(t *testing.T) {
	b := standardSSD(premium)
	rows := map[string]string{"prices.csv": "region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate\n" +
		"eastus,USD,Premium_LRS,P10,Capacity,1/Month,15.00,high,contract,2026-03-01\n"}
	p := embeddedPrices(t)
	var bad []catalog.RowError
	if p.Catalog, bad = catalog.Overlay(p.Catalog, rows); len(bad) > 0 {
		t.Fatal(bad)
	}
	for _, c := range []struct {
		why  string
		at   time.Time
		want string
	}{
		{"a price of the user's, of today", now, ""},
		{"four months later", now.AddDate(0, 4, 0), "PricesOld"},
	} {
		got := newRun(&b.spec, &b.status, p).cost(c.at)
		if got.PerMonth != "15.00" || got.PriceDate != "2026-03-01" || reasons(got.Warnings) != c.want {
			t.Errorf("%s: %s of %s, warnings %v", c.why, got.PerMonth, got.PriceDate, got.Warnings)
		}
	}
}
