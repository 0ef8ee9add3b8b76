// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
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
		of        *benchmark
		expected  *v1alpha1.ExpectedRate
		sustained *v1alpha1.SustainedRate
	}{
		{"P10 in its burst, which is gone after half an hour", standardSSD(premium, measured(4<<10, 3500)),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(500, 500<<12), Basis: v1alpha1.BasisCatalog}},
		{"2% above the base, as disks are", standardSSD(premium, measured(4<<10, 510)),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(510, 510<<12), Basis: v1alpha1.BasisMeasured}},
		{"what was measured without credits goes before what is published", standardSSD(premium, measured(4<<10, 3500), drained),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(507, 507<<12), Basis: v1alpha1.BasisDrained}},
		{"no fall, no level without credits", standardSSD(premium, measured(4<<10, 3500), drained, func(b *benchmark) { b.status.Measurements[0].Drained.Step = nil }),
			&v1alpha1.ExpectedRate{Rate: of(3500, 3500<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(500, 500<<12), Basis: v1alpha1.BasisCatalog}},
		{"two disks of a striped set do twice as much", standardSSD(premium, measured(4<<10, 7000), func(b *benchmark) { b.spec.VolumeCount = ptr.To[int32](2) }),
			&v1alpha1.ExpectedRate{Rate: of(7000, 7000<<12), LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(1000, 1000<<12), Basis: v1alpha1.BasisCatalog}},
		{"P40 has more than the VM takes", standardSSD(premium, measured(4<<10, 3200), with(func(r *v1alpha1.Run) {
			r.Size, r.VMSize = ptr.To(resource.MustParse("2Ti")), "Standard_D2s_v3"
		})), &v1alpha1.ExpectedRate{Rate: of(4000, 4000<<12), LimitedBy: "VMBurstIOPS", BurstSeconds: 1800},
			&v1alpha1.SustainedRate{Rate: of(3200, 3200<<12), Basis: v1alpha1.BasisMeasured}},
		{"the page cache answers, and no disk", standardSSD(premium, measured(4<<10, 3500), func(b *benchmark) { b.status.Measurements[0].Parameters.DirectIO = v1alpha1.DirectIODisabled }), nil, nil},
		{"there is no catalog of other drivers' disks", standardSSD(otherDriver), nil, nil},
	} {
		got := Assess(&c.of.spec, &c.of.status, embeddedPrices(t))
		want := []v1alpha1.WorkloadAssessment{{Name: "randread", Expected: c.expected, Sustained: c.sustained, Measured: v1alpha1.Rate{
			IOPS: c.of.status.Measurements[0].Total.IOPS, ThroughputBytesPerSecond: c.of.status.Measurements[0].Total.ThroughputBytesPerSecond,
		}}}
		if diff := cmp.Diff(want, got.Workloads); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// A reader has to see what was assumed to be able to object.
func TestAssessSaysWhichDiskItAssumed(t *testing.T) {
	b := standardSSD(premium, with(func(r *v1alpha1.Run) {
		r.VolumeAttributes = map[string]string{"skuname": "Premium_ZRS", "cachingmode": "None"}
		r.Device, r.VMSize = "nvme0n2", "Standard_D8s_v5"
	}))
	p := embeddedPrices(t)
	got := Assess(&b.spec, &b.status, p)
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
	if got := Assess(&b.spec, &b.status, p); got.Disk.Coverage != "OtherDriver" || got.CatalogVersion != "" {
		t.Errorf("another driver's disk: %+v", got)
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
