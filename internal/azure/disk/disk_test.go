// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

const gib = 1 << 30

type params = map[string]string

// summary is what a case looks at.
type summary struct {
	Coverage disk.Coverage
	SKU      catalog.SKU
	Tier     string
	Caching  disk.Caching
	Base     catalog.Rate
	Bursting catalog.BurstModel
	Burst    catalog.Rate
	Warnings []string
}

func summarize(d disk.Disk, warnings []disk.Warning) summary {
	s := summary{Coverage: d.Coverage, SKU: d.SKU, Caching: d.Caching, Bursting: d.Bursting}
	if d.Tier != nil {
		s.Tier = d.Tier.Name
	}
	if d.Base != nil {
		s.Base = *d.Base
	}
	if d.Burst != nil {
		s.Burst = *d.Burst
	}
	for _, w := range warnings {
		s.Warnings = append(s.Warnings, string(w.Reason)+": "+w.Message)
	}
	return s
}

func rate(iops, mbps int64) catalog.Rate {
	return catalog.Rate{IOPS: iops, BytesPerSecond: mbps * 1_000_000}
}

func TestDescribe(t *testing.T) {
	c := catalogtest.Load(t)
	p10 := summary{
		Coverage: disk.Covered, SKU: catalog.PremiumLRS, Tier: "P10", Caching: disk.CachingReadOnly,
		Base: rate(500, 100), Bursting: catalog.BurstCredit, Burst: rate(3500, 170),
	}
	with := func(s summary, change func(*summary)) summary { change(&s); return s }
	for _, tc := range []struct {
		why   string
		facts disk.Facts
		want  summary
	}{
		{"a class without parameters has the driver's default SKU and cache", disk.Facts{CapacityBytes: 128 * gib}, summary{
			Coverage: disk.Covered, SKU: catalog.StandardSSDLRS, Tier: "E10", Caching: disk.CachingReadOnly,
			Base: rate(500, 100), Bursting: catalog.BurstCredit, Burst: rate(600, 150),
		}},
		{"names in any case", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"SKUNAME": "Premium_LRS", "CachingMode": "None"}},
			with(p10, func(s *summary) { s.Caching = disk.CachingNone })},
		{"the old name of skuName", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"storageAccountType": "Premium_LRS"}}, p10},
		{"values with case", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "premium_lrs"}}, summary{
			Coverage: disk.UnknownSKU, SKU: "premium_lrs",
			Warnings: []string{`InvalidParameter: skuName is "premium_lrs", which the driver refuses: did you mean Premium_LRS?`},
		}},
		{"a SKU of the future is measured, and has no limits", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "PremiumV3_LRS"}}, summary{
			Coverage: disk.UnknownSKU, SKU: "PremiumV3_LRS",
			Warnings: []string{`InvalidParameter: skuName is "PremiumV3_LRS", which the catalog does not have: limits and prices are unknown`},
		}},
		{"two names of one parameter that disagree", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "storageaccounttype": "StandardSSD_LRS"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{`ConflictingParameters: the StorageClass has skuName "Premium_LRS" and storageaccounttype "StandardSSD_LRS", of which the driver takes either: the first is assumed`}
			})},
		{"two names that agree", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "storageaccounttype": "Premium_LRS"}}, p10},
		{"a class that was made again after the volume", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "StandardSSD_LRS"}, VolumeAttributes: params{"skuName": "Premium_LRS", "requestedsizegib": "128"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{`ConflictingParameters: skuName is "Premium_LRS" in the PersistentVolume and "StandardSSD_LRS" in the StorageClass: the volume was created with the first, which counts`}
			})},
		{"a parameter that fails provisioning", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "sku": "x", "device-setting/queue/read_ahead_kb": "8", "csi.storage.k8s.io/fstype": "ext4"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{`UnknownParameter: the driver does not know the parameter "sku", and creates no disk of such a class`}
			})},
		{"the size is the volume's, rounded up to the next GiB", disk.Facts{CapacityBytes: 128*gib + 1, ClassParameters: params{"skuName": "Premium_LRS"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumLRS, Tier: "P15", Caching: disk.CachingReadOnly,
			Base: rate(1100, 125), Bursting: catalog.BurstCredit, Burst: rate(3500, 170),
		}},
		{"no size yet", disk.Facts{ClassParameters: params{"skuName": "Premium_LRS"}}, summary{Coverage: disk.UnknownSize, SKU: catalog.PremiumLRS, Caching: disk.CachingReadOnly}},
		{"on-demand bursting is off unless it is asked for", disk.Facts{CapacityBytes: 1024 * gib, ClassParameters: params{"skuName": "Premium_LRS"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumLRS, Tier: "P30", Caching: disk.CachingReadOnly, Base: rate(5000, 200), Bursting: catalog.BurstNone,
		}},
		{"and on when it is", disk.Facts{CapacityBytes: 1024 * gib, ClassParameters: params{"skuName": "Premium_ZRS", "enableBursting": "True"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumZRS, Tier: "P30", Caching: disk.CachingReadOnly, Base: rate(5000, 200),
			Bursting: catalog.BurstOnDemand, Burst: rate(30000, 1000),
		}},
		{"it has no effect on a small disk, which keeps its credits", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "enableBursting": "true"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{"InvalidParameter: enableBursting is for Premium SSD above 512 GiB: it has no effect on Premium_LRS of 128 GiB"}
			})},
		{"Performance Plus raises the base", disk.Facts{CapacityBytes: 513 * gib, ClassParameters: params{"enablePerformancePlus": "true"}}, summary{
			Coverage: disk.Covered, SKU: catalog.StandardSSDLRS, Tier: "E30", Caching: disk.CachingReadOnly, Base: rate(1500, 150), Bursting: catalog.BurstNone,
		}},
		{"but not of a disk that is too small for it", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "enablePerformancePlus": "true"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{"InvalidParameter: enablePerformancePlus needs a disk of 513 GiB or more, and this one has 128"}
			})},
		{"no host cache from 4,096 GiB", disk.Facts{CapacityBytes: 4096 * gib, ClassParameters: params{"skuName": "Premium_LRS", "cachingMode": "ReadOnly"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumLRS, Tier: "P50", Caching: disk.CachingNone, Base: rate(7500, 250), Bursting: catalog.BurstNone,
			Warnings: []string{"CachingNotInEffect: cachingMode is ReadOnly, and a disk of 4096 GiB or more is attached without host cache"},
		}},
		{"below that, the same tier has one", disk.Facts{CapacityBytes: 4095 * gib, ClassParameters: params{"skuName": "Premium_LRS", "cachingMode": "ReadWrite"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumLRS, Tier: "P50", Caching: disk.CachingReadWrite, Base: rate(7500, 250), Bursting: catalog.BurstNone,
		}},
		{"v2 without figures has what is free", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Base: rate(3000, 125), Bursting: catalog.BurstNone,
		}},
		{"a VolumeAttributesClass goes before class and volume", disk.Facts{
			CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "4000"},
			VolumeAttributes:          params{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "4000"},
			AttributesClassParameters: params{"diskiopsreadwrite": "8000", "DiskMBpsReadWrite": "500", "cachingMode": "ReadOnly"},
		}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Base: rate(8000, 500), Bursting: catalog.BurstNone,
			Warnings: []string{"InvalidParameter: the VolumeAttributesClass has cachingmode, which cannot be changed: it is ignored"},
		}},
		{"v2 beyond what Azure gives to its size", disk.Facts{CapacityBytes: 10 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "6000", "DiskMBpsReadWrite": "2000"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Base: rate(6000, 2000), Bursting: catalog.BurstNone,
			Warnings: []string{
				"InvalidParameter: 6000 IOPS are not from 3000 to 5000, which is what PremiumV2_LRS of 10 GiB takes: Azure refuses them",
				"InvalidParameter: 2000 MB/s are not from 125 to 1500, which is what PremiumV2_LRS with 6000 IOPS takes: Azure refuses them",
			},
		}},
		{"a figure that is none leaves limits unknown", disk.Facts{CapacityBytes: 10 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "4k"}}, summary{
			Coverage: disk.UnknownLimits, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Bursting: catalog.BurstNone,
			Warnings: []string{`InvalidParameter: DiskIOPSReadWrite is "4k", where the driver takes a whole number from 1 to 2147483647`},
		}},
		{"v2 refuses a host cache", disk.Facts{CapacityBytes: 10 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS", "cachingMode": "ReadOnly"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Base: rate(3000, 125), Bursting: catalog.BurstNone,
			Warnings: []string{"CachingNotInEffect: a Premium SSD v2 disk has no host cache: the driver refuses cachingMode: ReadOnly"},
		}},
		{"Ultra has the driver's defaults", disk.Facts{CapacityBytes: 1024 * gib, ClassParameters: params{"skuName": "UltraSSD_LRS", "cachingMode": "None"}}, summary{
			Coverage: disk.Covered, SKU: catalog.UltraSSDLRS, Caching: disk.CachingNone, Base: rate(1024, 100), Bursting: catalog.BurstNone,
		}},
		{"the driver's throughput grows with IOPS from 25,856", disk.Facts{CapacityBytes: 32768 * gib, ClassParameters: params{"skuName": "UltraSSD_LRS", "cachingMode": "None"}}, summary{
			Coverage: disk.Covered, SKU: catalog.UltraSSDLRS, Caching: disk.CachingNone, Base: rate(32768, 128), Bursting: catalog.BurstNone,
		}},
		{"half of Ultra's figures: Azure chooses the other", disk.Facts{CapacityBytes: 1024 * gib, ClassParameters: params{"skuName": "UltraSSD_LRS", "cachingMode": "None", "DiskIOPSReadWrite": "2000"}}, summary{
			Coverage: disk.UnknownLimits, SKU: catalog.UltraSSDLRS, Caching: disk.CachingNone, Bursting: catalog.BurstNone,
			Warnings: []string{"InvalidParameter: the class of an Ultra disk has only one of DiskIOPSReadWrite and DiskMBpsReadWrite: Azure chooses the other, and does not say what"},
		}},
		{"Ultra must ask for no cache", disk.Facts{CapacityBytes: 4 * gib, ClassParameters: params{"skuName": "UltraSSD_LRS"}}, summary{
			Coverage: disk.Covered, SKU: catalog.UltraSSDLRS, Caching: disk.CachingNone, Base: rate(500, 100), Bursting: catalog.BurstNone,
			Warnings: []string{"CachingNotInEffect: an Ultra disk has no host cache: its class must say cachingMode: None, or the disk cannot be attached"},
		}},
		{"IOPS of a tier cannot be provisioned", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "DiskIOPSReadWrite": "5000"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{"InvalidParameter: DiskIOPSReadWrite has no effect on Premium_LRS: only Premium SSD v2 and Ultra are provisioned"}
			})},
		{"a cache mode in another case", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "cachingMode": "readonly"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{`InvalidParameter: cachingMode is "readonly", where the driver takes None, ReadOnly or ReadWrite`}
			})},
		{"Performance Plus that is neither on nor off", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "enablePerformancePlus": "on"}},
			with(p10, func(s *summary) {
				s.Warnings = []string{`InvalidParameter: enablePerformancePlus is "on", where the driver takes true or false`}
			})},
		{"bursting is for tiers", disk.Facts{CapacityBytes: 10 * gib, ClassParameters: params{"skuName": "PremiumV2_LRS", "enableBursting": "true"}}, summary{
			Coverage: disk.Covered, SKU: catalog.PremiumV2LRS, Caching: disk.CachingNone, Base: rate(3000, 125), Bursting: catalog.BurstNone,
			Warnings: []string{"InvalidParameter: enableBursting and enablePerformancePlus are for disks with tiers: they have no effect on PremiumV2_LRS"},
		}},
		{"an Ultra disk that is too small", disk.Facts{CapacityBytes: 3 * gib, ClassParameters: params{"skuName": "UltraSSD_LRS", "cachingMode": "None"}}, summary{
			Coverage: disk.UnknownSize, SKU: catalog.UltraSSDLRS, Caching: disk.CachingNone, Bursting: catalog.BurstNone,
		}},
		{"an existing disk has what does not show", disk.Facts{CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS"}, ExistingClaim: true},
			with(p10, func(s *summary) {
				s.Warnings = []string{"HiddenProperties: the disk was there before the run: a performance tier, on-demand bursting that was switched on later, and burst credits that were spent do not show in Kubernetes"}
			})},
		{"a class that was made anew says nothing of an existing disk", disk.Facts{
			CapacityBytes: 128 * gib, ClassParameters: params{"skuName": "Premium_LRS", "cachingMode": "None"},
			VolumeAttributes: params{"skuName": "Premium_LRS", "requestedsizegib": "128"}, ExistingClaim: true,
		}, with(p10, func(s *summary) {
			s.Warnings = []string{"HiddenProperties: the disk was there before the run: a performance tier, on-demand bursting that was switched on later, and burst credits that were spent do not show in Kubernetes"}
		})},
	} {
		t.Run(tc.why, func(t *testing.T) {
			tc.facts.Driver = disk.Driver
			if diff := cmp.Diff(tc.want, summarize(disk.Describe(c, tc.facts))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDescribeOtherDriver(t *testing.T) {
	d, warnings := disk.Describe(catalogtest.Load(t), disk.Facts{
		Driver: "file.csi.azure.com", ClassParameters: params{"skuName": "Premium_LRS", "protocol": "nfs"}, CapacityBytes: 100 * gib,
		NodeLabels: params{"node.kubernetes.io/instance-type": "Standard_D4as_v6"},
	})
	if d.Coverage != disk.OtherDriver || d.Base != nil || d.SKU != "" || len(warnings) != 0 || d.SizeGiB != 100 || d.VMSize != "Standard_D4as_v6" {
		t.Errorf("%+v, %v", d, warnings)
	}
}

func TestMaxShares(t *testing.T) {
	for _, tc := range []struct {
		why, value string
		want       int64
	}{
		{"a disk of one node", "", 1},
		{"a shared disk", "3", 3},
		{"no number", "many", 1},
	} {
		d, _ := disk.Describe(catalogtest.Load(t), disk.Facts{Driver: disk.Driver, ClassParameters: params{"maxShares": tc.value}})
		if d.MaxShares != tc.want {
			t.Errorf("%s: %d", tc.why, d.MaxShares)
		}
	}
}

func TestLocation(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why                string
		labels, class      params
		wantRegion, wantAZ string
	}{
		{"a node in a zone", params{"topology.kubernetes.io/region": "westeurope", "topology.kubernetes.io/zone": "westeurope-2", "topology.disk.csi.azure.com/zone": "westeurope-2"}, nil, "westeurope", "westeurope-2"},
		{"outside zones, the zone label is a fault domain", params{"topology.kubernetes.io/region": "westeurope", "topology.kubernetes.io/zone": "0", "topology.disk.csi.azure.com/zone": ""}, nil, "westeurope", ""},
		{"the region from the zone, where its label is missing", params{"topology.disk.csi.azure.com/zone": "eastus2-1"}, nil, "eastus2", "eastus2-1"},
		{"a display name", params{"topology.kubernetes.io/region": "West Europe"}, nil, "westeurope", ""},
		{"the class says where the disk is", params{"topology.kubernetes.io/region": "westeurope"}, params{"location": "NorthEurope"}, "northeurope", ""},
		{"no labels", nil, nil, "", ""},
	} {
		d, _ := disk.Describe(c, disk.Facts{Driver: disk.Driver, NodeLabels: tc.labels, ClassParameters: tc.class})
		if d.Region != tc.wantRegion || d.Zone != tc.wantAZ {
			t.Errorf("%s: %q, %q", tc.why, d.Region, d.Zone)
		}
	}
}

func TestVM(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why, size  string
		controller catalog.Controller
		// IOPS of the VM's uncached limit; 0 for no VM.
		want      int64
		ambiguous bool
		warnings  int
	}{
		{"a size that has the same limits with each controller", "Standard_D4as_v6", "", 7600, false, 0},
		{"limits by controller, which is not known", "Standard_E8bs_v5", "", 24200, true, 0},
		{"and known", "Standard_E8bs_v5", catalog.NVMe, 33000, false, 0},
		{"published limits that disagree", "Standard_F8s_v2", "", 12800, false, 1},
		{"no such size", "Standard_Z1", "", 0, false, 0},
	} {
		d, warnings := disk.Describe(c, disk.Facts{Driver: disk.Driver, NodeLabels: params{"node.kubernetes.io/instance-type": tc.size}, Controller: tc.controller})
		got := int64(0)
		if d.VM != nil {
			got = d.VM.Uncached.IOPS
		}
		if got != tc.want || d.VMAmbiguous != tc.ambiguous || len(warnings) != tc.warnings {
			t.Errorf("%s: %d IOPS, ambiguous %t, %v", tc.why, got, d.VMAmbiguous, warnings)
		}
	}
}

// Whatever the parameters, a covered disk has limits, and others have none that would be believed.
func FuzzDescribe(f *testing.F) {
	f.Add("skuName", "PremiumV2_LRS", "DiskIOPSReadWrite", "8000", int64(128*gib), "westeurope-1")
	f.Add("SKUNAME", "Premium_LRS", "enableBursting", "true", int64(1024*gib), "0")
	f.Add("storageAccountType", "UltraSSD_LRS", "cachingMode", "None", int64(4*gib), "-")
	f.Add("skuName", "StandardSSD_ZRS", "enablePerformancePlus", "1", int64(1), "")
	f.Add("maxShares", "-1", "location", "West Europe", int64(-1), "a-b-c")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string, capacity int64, zone string) {
		c := catalogtest.Load(t)
		d, warnings := disk.Describe(c, disk.Facts{
			Driver: disk.Driver, ClassParameters: params{name1: value1, name2: value2}, AttributesClassParameters: params{name2: value1},
			CapacityBytes: capacity, NodeLabels: params{"topology.disk.csi.azure.com/zone": zone},
		})
		if (d.Coverage == disk.Covered) != (d.Base != nil) {
			t.Fatalf("coverage %s with limits %v", d.Coverage, d.Base)
		}
		if d.Base != nil && (d.Base.IOPS <= 0 || d.Base.BytesPerSecond <= 0 || d.SizeGiB < 1) {
			t.Fatalf("limits of %+v for %d GiB", *d.Base, d.SizeGiB)
		}
		if d.Burst != nil && (d.Burst.IOPS < d.Base.IOPS || d.Burst.BytesPerSecond < d.Base.BytesPerSecond) {
			t.Fatalf("a burst of %+v below %+v", *d.Burst, *d.Base)
		}
		for _, w := range warnings {
			// A message may quote what was given.
			broken := strings.Contains(w.Message, "%!") && !strings.Contains(name1+value1+name2+value2+zone, "%!")
			if w.Reason == "" || w.Message == "" || broken {
				t.Fatalf("a warning that says nothing: %+v", w)
			}
		}
	})
}
