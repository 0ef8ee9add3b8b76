// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
)

func measured(block, iops int64) func(*benchmark) {
	return func(b *benchmark) {
		b.status.Measurements = []v1alpha1.Measurement{measurement("randread", block, iops)}
	}
}

func TestAssessHoldsFiguresAgainstLimits(t *testing.T) {
	of := func(iops, bytes int64) v1alpha1.Rate {
		return v1alpha1.Rate{IOPS: iops, ThroughputBytesPerSecond: bytes}
	}
	drained := func(b *benchmark) {
		b.status.Measurements[0].Drained = &v1alpha1.Drained{Seconds: 1900, Step: &v1alpha1.Step{AtSeconds: 1800}, IOPS: 507, ThroughputBytesPerSecond: 507 << 12}
	}
	for _, c := range []struct {
		why       string
		verdict   string
		of        *benchmark
		expected  *v1alpha1.ExpectedRate
		sustained *v1alpha1.SustainedRate
	}{
		{"P10 in its burst, which is gone after half an hour", "DiskBurstIOPS", standardSSD(premium, measured(4<<10, 3500)),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(500, 500<<12), Basis: v1alpha1.BasisCatalog}},
		{"2% above the base, as disks are", "DiskIOPS", standardSSD(premium, measured(4<<10, 510)),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(510, 510<<12), Basis: v1alpha1.BasisMeasured}},
		{"what was measured without credits goes before what is published", "DiskBurstIOPS", standardSSD(premium, measured(4<<10, 3500), drained),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(507, 507<<12), Basis: v1alpha1.BasisDrained}},
		{"no fall, no level without credits", "DiskBurstIOPS", standardSSD(premium, measured(4<<10, 3500), drained, func(b *benchmark) { b.status.Measurements[0].Drained.Step = nil }),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(500, 500<<12), Basis: v1alpha1.BasisCatalog}},
		{"two disks of a striped set do twice as much", "DiskBurstIOPS", standardSSD(premium, measured(4<<10, 7000), func(b *benchmark) { b.spec.VolumeCount = ptr.To[int32](2) }),
			&v1alpha1.ExpectedRate{Rate: of(7000, 7000<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(1000, 1000<<12), Basis: v1alpha1.BasisCatalog}},
		{"P40 has more than the VM takes", "VMIOPS", standardSSD(premium, measured(4<<10, 3200), with(func(r *v1alpha1.Run) {
			r.Size, r.VMSize = ptr.To(resource.MustParse("2Ti")), "Standard_D2s_v3"
		})), &v1alpha1.ExpectedRate{Rate: of(4000, 4000<<12), LimitedBy: "VMBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(3200, 3200<<12), Basis: v1alpha1.BasisMeasured}},
		{"the page cache answers, and no disk", "Unknown Buffered", standardSSD(premium, measured(4<<10, 3500), func(b *benchmark) { b.status.Measurements[0].Parameters.DirectIO = v1alpha1.DirectIODisabled }), nil, nil},
		{"there is no catalog of other drivers' disks", "Unknown NoCatalog", standardSSD(otherDriver), nil, nil},
	} {
		got := c.of.evaluated(t).assess().Workloads[0]
		if words := strings.TrimSpace(got.Verdict + " " + got.Reason); words != c.verdict || got.Message == "" {
			t.Errorf("%s: %s, want %s: %s", c.why, words, c.verdict, got.Message)
		}
		if diff := cmp.Diff(c.expected, got.Expected); diff != "" {
			t.Errorf("%s: expected (-want +got):\n%s", c.why, diff)
		}
		if diff := cmp.Diff(c.sustained, got.Sustained); diff != "" {
			t.Errorf("%s: sustained (-want +got):\n%s", c.why, diff)
		}
	}
}

// The facts have to reach the rules, each of which is tested with them.
func TestInputHasWhatVerdictsNeed(t *testing.T) {
	b := standardSSD(premium, with(func(r *v1alpha1.Run) { r.Queue = &v1alpha1.Queue{MaxIOBytes: 512 << 10} }))
	m := &b.status.Measurements[0]
	m.Parameters.Pattern, m.Parameters.Sync, m.Parameters.RateLimitIOPS = "Sequential", "WriteThrough", 100
	m.Steady = &v1alpha1.Steady{VariationPermille: 31}
	m.Step = &v1alpha1.Step{AtSeconds: 30, BeforeIOPS: 3500, AfterIOPS: 500}
	m.Device = &v1alpha1.DeviceCounters{OperationsPermille: ptr.To[int64](1001), ReadBytes: 148e6, OtherOperations: 600, OtherBytes: 60e6}
	m.CPU = &v1alpha1.CPU{BusiestWorkerPercent: 1, RunDelayPercent: 2, ThrottledPercent: 3, StealPercent: 4}
	d, _ := describe(embeddedPrices(t).Catalog, &b.spec, b.status.Run)
	want := verdict.Input{
		Name: "randread", Disk: d, Volumes: 1,
		Load: verdict.Load{
			BlockSizeBytes: 4 << 10, ReadPercent: 100, Outstanding: 128, RateIOPS: 400, Sequential: true, SyncWrites: true, Streams: 1,
			Variant: variant(m),
		},
		Total: catalog.Rate{IOPS: 600, BytesPerSecond: 600 << 12}, Read: catalog.Rate{IOPS: 600, BytesPerSecond: 600 << 12},
		MeanNanos: 213_333_333, ProbeMeanNanos: ptr.To[int64](2e6), ProbeSeconds: 5, VariationPermille: ptr.To[int64](31),
		Step:   &verdict.Step{AtSeconds: 30, BeforeIOPS: 3500, AfterIOPS: 500},
		Device: verdict.Device{OperationsPermille: ptr.To[int64](1001), BytesPermille: ptr.To[int64](1004), MaxIOBytes: 512 << 10, OtherIOPS: 10, OtherBytesPerSecond: 1e6},
		CPU:    verdict.CPU{BusiestWorkerPercent: 1, RunDelayPercent: 2, ThrottledPercent: 3, StealPercent: 4},

		WarmupSeconds: 3, WindowSeconds: 60, Repetitions: 1, RepetitionIOPS: []int64{600},
	}
	if diff := cmp.Diff(want, input(&b.spec, b.status.Run, m, d), cmp.AllowUnexported(catalog.Date{})); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func TestCreditsThatAreLeft(t *testing.T) {
	b := standardSSD(premium, measured(4<<10, 3500))
	got := b.evaluated(t).assess().Workloads[0].CreditsLeft
	i := slices.IndexFunc(got, func(c v1alpha1.BurstCredits) bool { return c.Limit == "DiskBurstIOPS" })
	// 63 of 1,800 seconds at the full burst.
	if i < 0 || got[i].Percent < 95 || got[i].Percent > 97 || got[i].Seconds < 1700 || got[i].Seconds > 1737 {
		t.Errorf("%+v", got)
	}
}

// A reader has to see what was assumed to be able to object.
func TestAssessSaysWhichDiskItAssumed(t *testing.T) {
	b := standardSSD(premium, with(func(r *v1alpha1.Run) {
		r.VolumeAttributes = map[string]string{"skuname": "Premium_ZRS", "cachingmode": "None"}
		r.Device, r.VMSize = "nvme0n2", "Standard_D8s_v5"
	}))
	p := embeddedPrices(t)
	got := newRun(&b.spec, &b.status, p).assess()
	want := v1alpha1.AssumedDisk{
		Coverage: "Covered", SKU: "Premium_ZRS", Tier: "P10", Redundancy: "ZRS", Caching: "None", SizeGiB: 128,
		Base: &v1alpha1.Rate{IOPS: 500, ThroughputBytesPerSecond: 100e6}, Bursting: "credit",
		Burst: &v1alpha1.Rate{IOPS: 3500, ThroughputBytesPerSecond: 170e6}, VMSize: "Standard_D8s_v5", Controller: "NVMe",
	}
	if diff := cmp.Diff(want, got.Disk); diff != "" {
		t.Errorf("disk (-want +got):\n%s", diff)
	}
	if got.CatalogVersion != p.Catalog.Version() || len(got.Warnings) != 1 || got.Warnings[0].Reason != "ConflictingParameters" {
		t.Errorf("catalog %q, warnings %v: class and volume disagree", got.CatalogVersion, got.Warnings)
	}

	b = standardSSD(otherDriver)
	if got := newRun(&b.spec, &b.status, p).assess(); got.Disk.Coverage != "OtherDriver" || got.CatalogVersion != "" {
		t.Errorf("another driver's disk: %+v", got)
	}
}

// Only the same load at other depths tells whether depth is what is missing.
func TestVariant(t *testing.T) {
	base := measurement("randread", 4<<10, 600)
	for _, c := range []struct {
		why  string
		same bool
		vary func(*v1alpha1.Parameters)
	}{
		{"a rung of a ladder", true, func(p *v1alpha1.Parameters) { p.QueueDepth, p.Threads = 1, 1 }},
		{"a longer one", true, func(p *v1alpha1.Parameters) { p.DurationSeconds, p.WarmupSeconds = 300, 30 }},
		{"a hot spot", false, func(p *v1alpha1.Parameters) { p.Distribution = &v1alpha1.Distribution{Type: "Hotspot"} }},
		{"a part of the file", false, func(p *v1alpha1.Parameters) { p.Range = &v1alpha1.ByteRange{EndBytes: 1 << 20} }},
		{"a smaller file", false, func(p *v1alpha1.Parameters) { p.FileSizeBytes >>= 1 }},
		{"a file without data", false, func(p *v1alpha1.Parameters) { p.Layout = v1alpha1.LayoutPreallocated }},
		{"jumps", false, func(p *v1alpha1.Parameters) { p.RandomPercent = 10 }},
	} {
		other := measurement("other", 4<<10, 900)
		c.vary(&other.Parameters)
		if same := variant(&base) == variant(&other); same != c.same {
			t.Errorf("%s: the same load: %v", c.why, same)
		}
	}
}

// What was written before the first workload spends credits and transactions.
func TestLayoutBytes(t *testing.T) {
	for _, c := range []struct {
		why  string
		want int64
		of   *benchmark
	}{
		{"one file", 4 << 30, standardSSD()},
		{"workloads share it", 4 << 30, standardSSD(func(b *benchmark) {
			b.status.Measurements = append(b.status.Measurements, measurement("randwrite", 4<<10, 600))
		})},
		{"each repetition has a volume of its own", 12 << 30, standardSSD(func(b *benchmark) {
			b.spec.Repetitions, b.spec.RepetitionScope = ptr.To[int32](3), ptr.To(v1alpha1.RepetitionScopeNewVolume)
		})},
		{"a striped set carries one file", 4 << 30, standardSSD(func(b *benchmark) { b.spec.VolumeCount = ptr.To[int32](2) })},
		{"one that grows with the load", 0, standardSSD(func(b *benchmark) { b.status.Measurements[0].Parameters.Layout = v1alpha1.LayoutAppend })},
	} {
		if got := layoutBytes(&c.of.spec, &c.of.status); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.why, got, c.want)
		}
	}
}

func TestLoadOfStreams(t *testing.T) {
	m := v1alpha1.Measurement{
		Total: v1alpha1.Figures{Operations: 1000, Bytes: 1000 * 14 << 10}, Read: &v1alpha1.Figures{Operations: 700},
		Streams: []v1alpha1.StreamMeasurement{
			{Parameters: v1alpha1.StreamParameters{BlockSizeBytes: 8 << 10, Threads: 4, QueueDepth: 32}},
			{Parameters: v1alpha1.StreamParameters{BlockSizeBytes: 32 << 10, Threads: 1, QueueDepth: 1}},
		},
	}
	if l := loadOf(&m); l.BlockSizeBytes != 14<<10 || l.ReadPercent != 70 || l.Outstanding != 129 {
		t.Errorf("%+v: limits count the I/Os and bytes of all streams together", l)
	}
}
