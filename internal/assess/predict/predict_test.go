// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package predict_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/assess/published"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

const kib = 1024

// describe is a disk of a class with the parameters, of a size in GiB.
func describe(t *testing.T, sizeGiB int64, parameters map[string]string) disk.Disk {
	t.Helper()
	d, warnings := disk.Describe(catalogtest.Load(t), disk.Facts{Driver: disk.Driver, ClassParameters: parameters, CapacityBytes: sizeGiB << 30})
	if d.Coverage != disk.Covered || len(warnings) > 0 {
		t.Fatalf("%d GiB of %v: %s, %v", sizeGiB, parameters, d.Coverage, warnings)
	}
	return d
}

func vm(t *testing.T, size string) *catalog.VM {
	t.Helper()
	v, _, ok := catalogtest.Load(t).VM(size, "")
	if !ok {
		t.Fatalf("no VM size %s", size)
	}
	return &v
}

// Every row of the published table within 2.1%: disks sit up to 2% above their documented cap.
func TestPublishedTable(t *testing.T) {
	for _, row := range published.PremiumDisks(t) {
		d := describe(t, row.SizeGiB, map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"})
		p, ok := predict.Predict(d, row.Disks, predict.Load{BlockSizeBytes: row.BlockSizeBytes}, vm(t, row.VMSize))
		if off := math.Abs(row.IOPS/p.Sustained.IOPS - 1); !ok || off > 0.021 {
			t.Errorf("%v: predicted %.0f IOPS, %.2f%% off", row, p.Sustained.IOPS, off*100)
		}
	}
}

func TestPredict(t *testing.T) {
	premium := map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"}
	onDemand := map[string]string{"skuName": "Premium_LRS", "cachingMode": "None", "enableBursting": "true"}
	v2 := map[string]string{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "80000", "DiskMBpsReadWrite": "2000"}
	standard := map[string]string{"cachingMode": "None"}
	for _, tc := range []struct {
		why         string
		sizeGiB     int64
		class       map[string]string
		count       int
		block       int64
		vm          string
		now, later  float64
		nowBy, by   predict.Limit
		also        []predict.Limit
		burst, last float64
	}{
		{why: "P10: 3,500 IOPS for 30 minutes, then 500", sizeGiB: 128, class: premium, count: 1, block: 4 * kib,
			now: 3500, later: 500, nowBy: predict.DiskBurstIOPS, by: predict.DiskIOPS, burst: 1800, last: 1800},
		{why: "MB/s are decimal: 3,052, not 3,200", sizeGiB: 1024, class: premium, count: 1, block: 64 * kib,
			now: 3051.76, later: 3051.76, nowBy: predict.DiskThroughput, by: predict.DiskThroughput},
		{why: "two buckets run out one after the other: MB/s after 1,800 s, IOPS later", sizeGiB: 128, class: premium, count: 1, block: 64 * kib,
			now: 2593.99, later: 500, nowBy: predict.DiskBurstThroughput, by: predict.DiskIOPS, burst: 1800, last: 3389.67},
		{why: "an I/O of 1 MiB counts as four, and MB/s bind all the same", sizeGiB: 1024, class: premium, count: 1, block: 1024 * kib,
			now: 190.73, later: 190.73, nowBy: predict.DiskThroughput, by: predict.DiskThroughput},
		{why: "where a disk has few IOPS, four I/Os bind first: 120/4 against 25 MB/s", sizeGiB: 32, class: premium, count: 1, block: 1024 * kib,
			now: 162.12, later: 23.84, nowBy: predict.DiskBurstThroughput, by: predict.DiskThroughput, burst: 1800, last: 1800},
		{why: "257 KiB are two", sizeGiB: 128, class: standard, count: 1, block: 257 * kib,
			now: 300, later: 250, nowBy: predict.DiskBurstIOPS, by: predict.DiskIOPS, burst: 1800, last: 1800},
		{why: "on-demand bursting has no end", sizeGiB: 1024, class: onDemand, count: 1, block: 4 * kib,
			now: 30000, later: 30000, nowBy: predict.DiskBurstIOPS, by: predict.DiskBurstIOPS},
		{why: "the study: P40 at 7,500, with the VM's 7,600 too near to tell", sizeGiB: 2048, class: premium, count: 1, block: 4 * kib, vm: "Standard_D4as_v6",
			now: 7500, later: 7500, nowBy: predict.DiskIOPS, by: predict.DiskIOPS, also: []predict.Limit{predict.VMIOPS}},
		{why: "v2 has the VM's own limit for it, whose credits end", sizeGiB: 160, class: v2, count: 1, block: 4 * kib, vm: "Standard_E2bs_v5",
			now: 15000, later: 8000, nowBy: predict.VMBurstIOPS, by: predict.VMIOPS, burst: 1800, last: 1800},
		{why: "a VM below the disk's burst makes its credits last: 5,400,000 at 2,600 a second", sizeGiB: 128, class: premium, count: 1, block: 4 * kib, vm: "Standard_DS1",
			now: 3200, later: 500, nowBy: predict.VMIOPS, by: predict.DiskIOPS, burst: 2000, last: 2000},
		{why: "four striped E10 have four times everything, and the same time", sizeGiB: 128, class: standard, count: 4, block: 4 * kib,
			now: 2400, later: 2000, nowBy: predict.DiskBurstIOPS, by: predict.DiskIOPS, burst: 1800, last: 1800},
		{why: "a tie of IOPS and MB/s: P20 at 64 KiB", sizeGiB: 512, class: premium, count: 1, block: 64 * kib,
			now: 2593.99, later: 2288.82, nowBy: predict.DiskBurstThroughput, by: predict.DiskThroughput, also: []predict.Limit{predict.DiskIOPS}, burst: 1800, last: 1800},
		{why: "a tie with the VM: ten P30 on a DS14", sizeGiB: 1024, class: premium, count: 10, block: 8 * kib, vm: "Standard_DS14",
			now: 50000, later: 50000, nowBy: predict.DiskIOPS, by: predict.DiskIOPS, also: []predict.Limit{predict.VMIOPS}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var machine *catalog.VM
			if tc.vm != "" {
				machine = vm(t, tc.vm)
			}
			p, ok := predict.Predict(describe(t, tc.sizeGiB, tc.class), tc.count, predict.Load{BlockSizeBytes: tc.block, Outstanding: 64}, machine)
			if !ok || !near(p.Now.IOPS, tc.now) || !near(p.Sustained.IOPS, tc.later) || p.Now.LimitedBy != tc.nowBy || p.Sustained.LimitedBy != tc.by {
				t.Fatalf("%+v", p)
			}
			last := 0.0
			if len(p.Steps) > 0 {
				last = p.Steps[len(p.Steps)-1].AfterSeconds
			}
			if !near(p.BurstSeconds, tc.burst) || !near(last, tc.last) {
				t.Errorf("credits end after %.2f s, the last after %.2f: %+v", p.BurstSeconds, last, p.Steps)
			}
			if diff := cmp.Diff(tc.also, p.Sustained.AlsoAtLimit); diff != "" {
				t.Error(diff)
			}
			if !near(p.Now.BytesPerSecond, p.Now.IOPS*float64(tc.block)) || !near(p.Now.MeanLatencySeconds*p.Now.IOPS, 64) {
				t.Errorf("%+v does not agree with itself", p.Now)
			}
			if p.UnknownVM != (machine == nil) {
				t.Errorf("UnknownVM is %t", p.UnknownVM)
			}
		})
	}
}

// near compares to a hundredth, the precision of the figures above.
func near(got, want float64) bool { return math.Abs(got-want) <= 0.01 }

func TestPredictNothing(t *testing.T) {
	covered := describe(t, 128, map[string]string{"skuName": "Premium_LRS"})
	other, _ := disk.Describe(catalogtest.Load(t), disk.Facts{Driver: "file.csi.azure.com", CapacityBytes: 1 << 30})
	for _, tc := range []struct {
		why   string
		disk  disk.Disk
		count int
		block int64
	}{
		{"no catalog for the driver", other, 1, 4 * kib},
		{"no disk", covered, 0, 4 * kib},
		{"no block size", covered, 1, 0},
	} {
		load := predict.Load{BlockSizeBytes: tc.block}
		if p, ok := predict.Predict(tc.disk, tc.count, load, nil); ok || predict.Caps(tc.disk, tc.count, load, nil) != nil {
			t.Errorf("%s: %+v", tc.why, p)
		}
	}
}

func TestHostCache(t *testing.T) {
	for _, tc := range []struct {
		why, caching string
		readPercent  int
		want         bool
	}{
		{"reads can be answered by a ReadOnly cache", "ReadOnly", 50, true},
		{"writes cannot", "ReadOnly", 0, false},
		{"a ReadWrite cache answers writes", "ReadWrite", 0, true},
		{"no cache", "None", 100, false},
	} {
		d := describe(t, 128, map[string]string{"skuName": "Premium_LRS", "cachingMode": tc.caching})
		if p, _ := predict.Predict(d, 1, predict.Load{BlockSizeBytes: 4 * kib, ReadPercent: tc.readPercent}, nil); p.HostCache != tc.want {
			t.Errorf("%s: %t", tc.why, p.HostCache)
		}
	}
}

// GS2 allows 20,000 IOPS and 200 MB/s to cached disks.
func TestCachedCaps(t *testing.T) {
	load := predict.Load{BlockSizeBytes: 64 * kib}
	for caching, want := range map[string][]predict.Cap{
		"None":      nil,
		"ReadOnly":  {{Name: predict.HostCache, IOPS: 200e6 / 65536}, {Name: predict.HostCache, IOPS: 20000}},
		"ReadWrite": {{Name: predict.HostCache, IOPS: 200e6 / 65536}, {Name: predict.HostCache, IOPS: 20000}},
	} {
		d := describe(t, 1024, map[string]string{"skuName": "Premium_LRS", "cachingMode": caching})
		if diff := cmp.Diff(want, predict.CachedCaps(d, load, vm(t, "Standard_GS2"))); diff != "" {
			t.Errorf("%s: %s", caching, diff)
		}
		if got := predict.CachedCaps(d, load, nil); got != nil {
			t.Errorf("%s, on no VM: %v", caching, got)
		}
	}
}

func TestCaps(t *testing.T) {
	d := describe(t, 128, map[string]string{"skuName": "Premium_LRS"})
	caps := predict.Caps(d, 1, predict.Load{BlockSizeBytes: 4 * kib}, vm(t, "Standard_D4as_v6"))
	var names []predict.Limit
	for _, c := range caps {
		names = append(names, c.Name)
	}
	want := []predict.Limit{
		predict.DiskIOPS, predict.DiskBurstIOPS, predict.VMIOPS, predict.VMBurstIOPS, predict.DiskThroughput, predict.DiskBurstThroughput,
		predict.VMThroughput, predict.VMBurstThroughput,
	}
	if diff := cmp.Diff(want, names); diff != "" || !slices.IsSortedFunc(caps, func(a, b predict.Cap) int { return int(a.IOPS - b.IOPS) }) {
		t.Errorf("%v\n%s", caps, diff)
	}
}
