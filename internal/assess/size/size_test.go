// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package size_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/assess/size"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/cost"
)

// line is an option as one line: group, disks, what they sustain and what they cost.
func line(o size.Option) string {
	name := o.Tier
	if name == "" {
		name = fmt.Sprintf("v2 %d GiB", o.SizeGiB)
	}
	if o.Parameters["enablePerformancePlus"] != "" {
		name += "+"
	}
	price := "?"
	if o.Estimate.PerMonth != nil {
		price = cost.Format(*o.Estimate.PerMonth)
	} else if o.Estimate.PerMonthAtCap != nil {
		price = "at most " + cost.Format(*o.Estimate.PerMonthAtCap)
	}
	second := ""
	if o.RunnerUp {
		second = " (runner-up)"
	}
	return fmt.Sprintf("%s: %d x %s, %d IOPS, %d MB/s, %s%s", o.Group, o.Count, name, o.Sustained.IOPS, o.Sustained.BytesPerSecond/1_000_000, price, second)
}

func lines(r size.Result) []string {
	var all []string
	for _, o := range r.Options {
		all = append(all, line(o))
	}
	return all
}

// The closed form gives the documented prices of the v2 that can do what a Premium SSD can.
func TestEquivalents(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why                     string
		capacityGiB, iops, mbps int64
		wantPremium, wantV2     string
	}{
		{"P10", 128, 500, 100, "19.71", "10.28"},
		{"P20: 25 MB/s above the free ones", 512, 2300, 150, "73.22", "42.12"},
		{"P30: 2,000 IOPS and 75 MB/s", 1024, 5000, 200, "135.17", "95.46"},
		{"P40", 2048, 7500, 250, "259.05", "192.47"},
		{"P50", 4096, 7500, 250, "495.57", "356.92"},
	} {
		r := size.Size(c, size.Need{CapacityGiB: tc.capacityGiB, IOPS: tc.iops, MBps: tc.mbps, Price: cost.Options{Region: "eastus"}})
		for group, want := range map[size.Group]string{size.Premium: tc.wantPremium, size.V2: tc.wantV2} {
			i := slices.IndexFunc(r.Options, func(o size.Option) bool { return o.Group == group && !o.RunnerUp })
			if i < 0 || r.Options[i].Estimate.PerMonth == nil || cost.Format(*r.Options[i].Estimate.PerMonth) != want {
				t.Errorf("%s: %s is not %s in %v", tc.why, group, want, lines(r))
			}
		}
	}
}

func TestSize(t *testing.T) {
	c := catalogtest.Load(t)
	eastus := cost.Options{Region: "eastus"}
	for _, tc := range []struct {
		why  string
		need size.Need
		want []string
	}{
		{"a P10 is dearer than the v2, and E10 at its cap dearer than both", size.Need{CapacityGiB: 128, IOPS: 500, MBps: 100, Price: eastus}, []string{
			"PremiumV2: 1 x v2 128 GiB, 3000 IOPS, 125 MB/s, 10.28",
			"Striped: 2 x v2 64 GiB, 6000 IOPS, 250 MB/s, 10.28",
			"Striped: 8 x P3, 960 IOPS, 200 MB/s, 19.20 (runner-up)",
			"PremiumSSD: 1 x P10, 500 IOPS, 100 MB/s, 19.71",
			"StandardSSD: 1 x E10, 500 IOPS, 100 MB/s, 31.09",
			"PremiumSSD: 1 x P15, 1100 IOPS, 125 MB/s, 38.01 (runner-up)",
			"StandardSSD: 1 x E15, 500 IOPS, 100 MB/s, 59.20 (runner-up)",
		}},
		{"a little I/O: Standard SSD without reaching its cap", size.Need{CapacityGiB: 128, IOPS: 5, Redundancy: catalog.LRS, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 128 GiB, 3000 IOPS, 125 MB/s, 10.28",
			"StandardSSD: 1 x E10, 500 IOPS, 100 MB/s, 12.23",
			"PremiumSSD: 1 x P10, 500 IOPS, 100 MB/s, 19.71",
			"StandardSSD: 1 x E15, 500 IOPS, 100 MB/s, 21.83 (runner-up)",
			"PremiumSSD: 1 x P15, 1100 IOPS, 125 MB/s, 38.01 (runner-up)",
		}},
		{"free IOPS of two v2 disks are cheaper than paid ones of one", size.Need{CapacityGiB: 100, IOPS: 6000, MaxDisks: 4, Price: eastus}, []string{
			"Striped: 2 x v2 50 GiB, 6000 IOPS, 250 MB/s, 8.03",
			"PremiumV2: 1 x v2 100 GiB, 6000 IOPS, 125 MB/s, 23.36",
			"PremiumSSD: 1 x P30+, 8000 IOPS, 300 MB/s, 135.17",
			"Striped: 3 x P20, 6900 IOPS, 450 MB/s, 219.66 (runner-up)",
			"PremiumSSD: 1 x P40, 7500 IOPS, 250 MB/s, 259.05 (runner-up)",
			"StandardSSD: 1 x E50+, 6000 IOPS, 600 MB/s, 537.65",
			"StandardSSD: 1 x E60+, 6000 IOPS, 750 MB/s, 1019.92 (runner-up)",
		}},
		{"zonal redundancy has no v2 and no known price of transactions; this VM takes one disk and holds back a P30", size.Need{
			CapacityGiB: 1024, IOPS: 400, Redundancy: catalog.ZRS, VMSize: "Standard_DC1s_v2", Price: eastus,
		}, []string{
			"PremiumSSD: 1 x P30, 1600 IOPS, 24 MB/s, 202.73",
			"PremiumSSD: 1 x P40, 1600 IOPS, 24 MB/s, 388.57 (runner-up)",
			"StandardSSD: 1 x E30, 500 IOPS, 24 MB/s, ?",
			"StandardSSD: 1 x E40, 500 IOPS, 24 MB/s, ? (runner-up)",
		}},
		{"a region where only some Premium SSD has a known price: what has none comes last", size.Need{CapacityGiB: 128, IOPS: 500, Price: cost.Options{Region: "westeurope"}}, []string{
			"PremiumSSD: 1 x P10, 500 IOPS, 100 MB/s, 21.68",
			"Striped: 5 x P4, 600 IOPS, 125 MB/s, 29.05",
			"PremiumSSD: 1 x P15, 1100 IOPS, 125 MB/s, 41.81 (runner-up)",
			"StandardSSD: 1 x E10, 500 IOPS, 100 MB/s, ?",
			"StandardSSD: 1 x E15, 500 IOPS, 100 MB/s, ? (runner-up)",
			"PremiumV2: 1 x v2 128 GiB, 3000 IOPS, 125 MB/s, ?",
			"Striped: 2 x E6, 1000 IOPS, 200 MB/s, ? (runner-up)",
		}},
		{"headroom of 10% is more than a P30 has without Performance Plus", size.Need{CapacityGiB: 1024, IOPS: 5000, HeadroomPercent: 10, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 1024 GiB, 5500 IOPS, 125 MB/s, 95.00",
			"PremiumSSD: 1 x P30+, 8000 IOPS, 300 MB/s, 135.17",
			"PremiumSSD: 1 x P40, 7500 IOPS, 250 MB/s, 259.05 (runner-up)",
			"StandardSSD: 1 x E50+, 6000 IOPS, 600 MB/s, 537.65",
			"StandardSSD: 1 x E60+, 6000 IOPS, 750 MB/s, 1019.92 (runner-up)",
		}},
		{"the rate of I/O is not known: Standard SSD is ranked by what it can cost at most", size.Need{CapacityGiB: 1024, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 1024 GiB, 3000 IOPS, 125 MB/s, 82.23",
			"PremiumSSD: 1 x P30, 5000 IOPS, 200 MB/s, 135.17",
			"StandardSSD: 1 x E30, 500 IOPS, 100 MB/s, at most 197.86",
			"PremiumSSD: 1 x P40, 7500 IOPS, 250 MB/s, 259.05 (runner-up)",
			"StandardSSD: 1 x E40, 500 IOPS, 100 MB/s, at most 283.98 (runner-up)",
		}},
		{"blocks make the throughput: 2,000 x 256 KiB are 525 MB/s", size.Need{CapacityGiB: 100, IOPS: 2000, BlockSizeBytes: 256 << 10, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 100 GiB, 3000 IOPS, 525 MB/s, 24.09",
			"PremiumSSD: 1 x P40+, 16000 IOPS, 600 MB/s, 259.05",
			"PremiumSSD: 1 x P50+, 20000 IOPS, 900 MB/s, 495.57 (runner-up)",
			"StandardSSD: 1 x E50+, 6000 IOPS, 600 MB/s, 537.65",
			"StandardSSD: 1 x E60+, 6000 IOPS, 750 MB/s, 1019.92 (runner-up)",
		}},
		{"100 IOPS that make 100 MB/s are billed as 400, which is above the cap", size.Need{CapacityGiB: 1024, IOPS: 100, MBps: 100, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 1024 GiB, 3000 IOPS, 125 MB/s, 82.23",
			"PremiumSSD: 1 x P30, 5000 IOPS, 200 MB/s, 135.17",
			"StandardSSD: 1 x E30, 500 IOPS, 100 MB/s, 197.86",
			"PremiumSSD: 1 x P40, 7500 IOPS, 250 MB/s, 259.05 (runner-up)",
			"StandardSSD: 1 x E40, 500 IOPS, 100 MB/s, 283.98 (runner-up)",
		}},
		{"throughput needs IOPS: 4 for each MB/s", size.Need{CapacityGiB: 100, MBps: 1000, MaxDisks: 1, Price: eastus}, []string{
			"PremiumV2: 1 x v2 100 GiB, 4000 IOPS, 1000 MB/s, 48.27",
		}},
		{"more than the largest disk of a tier", size.Need{CapacityGiB: 40000, IOPS: 3000, Price: eastus}, []string{
			"PremiumV2: 1 x v2 40000 GiB, 3000 IOPS, 125 MB/s, 3212.00",
			"Striped: 2 x v2 20000 GiB, 6000 IOPS, 250 MB/s, 3212.00",
			"Striped: 5 x E60, 10000 IOPS, 2000 MB/s, 4648.80 (runner-up)",
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			r := size.Size(c, tc.need)
			if diff := cmp.Diff(tc.want, lines(r)); diff != "" {
				t.Errorf("%s\n%v", diff, r.Rejected)
			}
			if r.UnknownVM != (tc.need.VMSize == "") {
				t.Errorf("UnknownVM is %t", r.UnknownVM)
			}
		})
	}
}

func TestRejected(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why  string
		need size.Need
		// want is some of the shortfalls, none of options.
		want  []size.Shortfall
		empty bool
	}{
		{"the VM has 3,200 IOPS for all disks together, so that more disks do not help", size.Need{CapacityGiB: 1024, IOPS: 4000, VMSize: "Standard_D2s_v3"}, []size.Shortfall{
			{Group: size.Premium, Name: "P20", Why: "holds 512 of 1024 GiB"},
			{Group: size.Premium, Name: "P30", Why: "the VM Standard_D2s_v3 sustains 3200 of 4000 IOPS"},
			{Group: size.Standard, Name: "E30", Why: "sustains 1500 of 4000 IOPS"},
			{Group: size.V2, Name: "PremiumV2_LRS", Why: "the VM Standard_D2s_v3 sustains 3200 of 4000 IOPS"},
			{Group: size.Striped, Name: "2 to 4 disks of Premium_LRS", Why: "the VM Standard_D2s_v3 sustains 3200 of 4000 IOPS"},
		}, true},
		{"more throughput than one v2 disk has", size.Need{CapacityGiB: 128, MBps: 2001}, []size.Shortfall{
			{Group: size.V2, Name: "PremiumV2_LRS", Why: "sustains 2000 of 2001 MB/s"},
			{Group: size.Premium, Name: "P80", Why: "sustains 900 of 2001 MB/s"},
		}, false},
		{"more IOPS than one v2 disk has", size.Need{CapacityGiB: 128, IOPS: 70000, HeadroomPercent: 20}, []size.Shortfall{
			{Group: size.V2, Name: "PremiumV2_LRS", Why: "sustains 80000 of 84000 IOPS"},
		}, false},
		{"one disk is no set", size.Need{CapacityGiB: 128, VMSize: "Standard_DC1s_v2"}, []size.Shortfall{
			{Group: size.Striped, Name: "sets of disks", Why: "the VM, or the need, has one disk at most"},
		}, false},
		{"no v2 in three zones", size.Need{CapacityGiB: 128, Redundancy: catalog.ZRS}, []size.Shortfall{
			{Group: size.V2, Name: "PremiumV2_LRS", Why: "has no zonal redundancy"},
		}, false},
	} {
		r := size.Size(c, tc.need)
		for _, want := range tc.want {
			if !slices.Contains(r.Rejected, want) {
				t.Errorf("%s: no %+v in %+v", tc.why, want, r.Rejected)
			}
		}
		if (len(r.Options) == 0) != tc.empty {
			t.Errorf("%s: options %v", tc.why, lines(r))
		}
	}
}

// The capacity of a v2 disk grows when it must carry the IOPS: 500 for each GiB.
func TestCapacityForIOPS(t *testing.T) {
	r := size.Size(catalogtest.Load(t), size.Need{CapacityGiB: 4, IOPS: 20000, MBps: 300, MaxDisks: 1, Price: cost.Options{Region: "eastus"}})
	i := slices.IndexFunc(r.Options, func(o size.Option) bool { return o.Group == size.V2 })
	want := map[string]string{"skuName": "PremiumV2_LRS", "cachingMode": "None", "DiskIOPSReadWrite": "20000", "DiskMBpsReadWrite": "300"}
	if i < 0 || r.Options[i].SizeGiB != 40 {
		t.Fatalf("%v", lines(r))
	}
	if diff := cmp.Diff(want, r.Options[i].Parameters); diff != "" {
		t.Error(diff)
	}
	if got := r.Options[i].Estimate.PerThousandIOPS; got == nil || cost.Format(*got) != "4.86" {
		t.Errorf("1,000 sustained IOPS cost %v", got)
	}
	if r.Required != (catalog.Rate{IOPS: 20000, BytesPerSecond: 300_000_000}) {
		t.Errorf("required %+v", r.Required)
	}
}
