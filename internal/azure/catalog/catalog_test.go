// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
)

func TestTierOf(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why     string
		sizeGiB int64
		// P, E and S, or empty for no tier.
		want [3]string
	}{
		{"no disk is that small", 0, [3]string{}},
		{"the smallest claim bills as the smallest tier, which is 32 GiB for HDD", 1, [3]string{"P1", "E1", "S4"}},
		{"the last GiB of P1", 4, [3]string{"P1", "E1", "S4"}},
		{"one more is the next tier, but for HDD", 5, [3]string{"P2", "E2", "S4"}},
		{"the first GiB above 32", 33, [3]string{"P6", "E6", "S6"}},
		{"exactly P10", 128, [3]string{"P10", "E10", "S10"}},
		{"a GiB more costs twice as much", 129, [3]string{"P15", "E15", "S15"}},
		{"between two tiers, the next one up", 200, [3]string{"P15", "E15", "S15"}},
		{"the size to which the driver raises a request for Performance Plus", 513, [3]string{"P30", "E30", "S30"}},
		{"the largest disk", 32767, [3]string{"P80", "E80", "S80"}},
		{"32 TiB is too large by a GiB", 32768, [3]string{}},
	} {
		for i, sku := range []catalog.SKU{catalog.PremiumLRS, catalog.StandardSSDZRS, catalog.StandardLRS} {
			tier, ok := c.TierOf(sku, tc.sizeGiB)
			if tier.Name != tc.want[i] || ok != (tc.want[i] != "") {
				t.Errorf("%s: TierOf(%s, %d) = %q, %t; want %q", tc.why, sku, tc.sizeGiB, tier.Name, ok, tc.want[i])
			}
		}
	}
}

// Every boundary of every tier: its size is still the tier, and a GiB more is the next one.
func TestTierBoundaries(t *testing.T) {
	c := catalogtest.Load(t)
	for family, want := range map[catalog.Family]int{catalog.PremiumSSD: 14, catalog.StandardSSD: 14, catalog.StandardHDD: 11} {
		tiers := c.Tiers(family)
		if len(tiers) != want {
			t.Errorf("%s has %d tiers, want %d", family, len(tiers), want)
		}
		for i, tier := range tiers {
			if got, _ := c.TierOf(tier.SKUs[0], tier.SizeGiB); got.Name != tier.Name {
				t.Errorf("%d GiB is %s, want %s", tier.SizeGiB, got.Name, tier.Name)
			}
			next := ""
			if i+1 < len(tiers) {
				next = tiers[i+1].Name
			}
			if got, _ := c.TierOf(tier.SKUs[0], tier.SizeGiB+1); got.Name != next {
				t.Errorf("%d GiB is %q, want %q", tier.SizeGiB+1, got.Name, next)
			}
		}
	}
}

func TestNoTierOf(t *testing.T) {
	c := catalogtest.Load(t)
	for why, sku := range map[string]catalog.SKU{
		"v2 bills by GiB":             catalog.PremiumV2LRS,
		"Ultra bills by GiB":          catalog.UltraSSDLRS,
		"HDD has no zonal redundancy": "Standard_ZRS",
		"values are case-sensitive":   "premium_lrs",
	} {
		if tier, ok := c.TierOf(sku, 128); ok {
			t.Errorf("%s: TierOf(%s, 128) = %s", why, sku, tier.Name)
		}
	}
}

func TestProvisioned(t *testing.T) {
	c := catalogtest.Load(t)
	v2, ok := c.Provisioned(catalog.PremiumV2)
	if !ok {
		t.Fatal("no rules of Premium SSD v2")
	}
	for _, tc := range []struct {
		why           string
		sizeGiB, want int64
	}{
		{"the free IOPS need no size", 1, 3000},
		{"500 IOPS per GiB begin to bind above 6 GiB", 6, 3000},
		{"7 x 500", 7, 3500},
		{"a GiB short of the most", 159, 79500},
		{"the size of the most IOPS", 160, 80000},
		{"more GiB give no more", 65536, 80000},
	} {
		if got := v2.MaxIOPS(tc.sizeGiB); got != tc.want {
			t.Errorf("%s: MaxIOPS(%d) = %d, want %d", tc.why, tc.sizeGiB, got, tc.want)
		}
	}
	if got := v2.MaxBytesPerSecond(3000); got != 750_000_000 {
		t.Errorf("3,000 IOPS allow %d bytes per second, want 750 MB/s", got)
	}
	if got := v2.MaxBytesPerSecond(80000); got != 2_000_000_000 {
		t.Errorf("80,000 IOPS allow %d bytes per second, want 2,000 MB/s", got)
	}
	if _, ok := c.Provisioned(catalog.PremiumSSD); ok {
		t.Error("Premium SSD is not provisioned")
	}
}

func TestUltraMax(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why     string
		sizeGiB int64
		want    catalog.Rate
		ok      bool
	}{
		{"a published row", 16, catalog.Rate{IOPS: 16000, BytesPerSecond: 4_000_000_000}, true},
		{"between two rows, the closed form", 20, catalog.Rate{IOPS: 20000, BytesPerSecond: 5_000_000_000}, true},
		{"the most", 400, catalog.Rate{IOPS: 400000, BytesPerSecond: 10_000_000_000}, true},
		{"too small for an Ultra disk", 3, catalog.Rate{}, false},
		{"too large", 65537, catalog.Rate{}, false},
	} {
		if got, ok := c.UltraMax(tc.sizeGiB); got != tc.want || ok != tc.ok {
			t.Errorf("%s: UltraMax(%d) = %+v, %t", tc.why, tc.sizeGiB, got, ok)
		}
	}
}

// A row for a size goes before the closed form, so that a user can correct one.
func TestUltraMaxOverride(t *testing.T) {
	c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"ultra_caps.csv": "sizeGiB,maxIOPS,maxMBps,source,sourceDate\n20,6000,1500,region of ours,2026-11-30\n"})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	if got, ok := c.UltraMax(20); !ok || got != (catalog.Rate{IOPS: 6000, BytesPerSecond: 1_500_000_000}) {
		t.Errorf("%+v, %t", got, ok)
	}
}

func TestVM(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why        string
		size       string
		controller catalog.Controller
		// uncached IOPS; 0 for unknown.
		want          int64
		ambiguous, ok bool
	}{
		{"the study's VM", "Standard_D4as_v6", "", 7600, false, true},
		{"labels come in any case", "STANDARD_d4AS_V6", catalog.NVMe, 7600, false, true},
		{"limits of SCSI", "Standard_E8bs_v5", catalog.SCSI, 24200, false, true},
		{"limits of NVMe are higher", "Standard_E8bs_v5", catalog.NVMe, 33000, false, true},
		{"the lower of both while the controller is unknown", "Standard_E8bs_v5", "", 24200, true, true},
		{"a size with NVMe alone has nothing for SCSI", "Standard_E112ibs_v5", catalog.SCSI, 0, false, false},
		{"and needs no controller", "Standard_E112ibs_v5", "", 260000, false, true},
		{"a size of which only the number of disks is known", "Standard_A11", "", 0, false, true},
		{"no such size", "Standard_Z1", "", 0, false, false},
	} {
		vm, ambiguous, ok := c.VM(tc.size, tc.controller)
		got := int64(0)
		if vm.Uncached != nil {
			got = vm.Uncached.IOPS
		}
		if got != tc.want || ambiguous != tc.ambiguous || ok != tc.ok {
			t.Errorf("%s: VM(%s, %q) = %d IOPS, ambiguous %t, ok %t", tc.why, tc.size, tc.controller, got, ambiguous, ok)
		}
	}
}

func TestVMMaxDataDisks(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why, size  string
		controller catalog.Controller
		want       int64
	}{
		{"the driver's list where nothing else is known", "Standard_A11", "", 64},
		{"the driver's newer list before the SKU API's", "Standard_D16darm_V3", "", 48},
		{"documentation first", "Standard_DS14", "", 64},
		{"each controller of a size", "Standard_E8bs_v5", catalog.NVMe, 16},
	} {
		vm, _, _ := c.VM(tc.size, tc.controller)
		if vm.MaxDataDisks == nil || *vm.MaxDataDisks != tc.want {
			t.Errorf("%s: %s takes %v disks, want %d", tc.why, tc.size, vm.MaxDataDisks, tc.want)
		}
	}
}

func TestVMLimitsOfFamilies(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why, size string
		family    catalog.Family
		want      int64
	}{
		{"v2 has limits of its own on this size", "Standard_E96bds_v5", catalog.PremiumV2, 390000},
		{"Premium SSD has the general ones", "Standard_E96bds_v5", catalog.PremiumSSD, 260000},
		{"no limits of its own: the general ones hold", "Standard_D4s_v3", catalog.Ultra, 6400},
	} {
		vm, _, _ := c.VM(tc.size, catalog.NVMe)
		if base, _ := vm.Limits(tc.family); base == nil || base.IOPS != tc.want {
			t.Errorf("%s: %s %s: %+v, want %d", tc.why, tc.size, tc.family, base, tc.want)
		}
	}
}

func TestPrice(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why, region, currency string
		sku                   catalog.SKU
		tier                  string
		kind                  catalog.PriceKind
		want                  string
	}{
		{"a tier", "eastus", "USD", catalog.PremiumLRS, "P10", catalog.Capacity, "19.71"},
		{"the region's display name", "West Europe", "usd", catalog.PremiumLRS, "P40", catalog.Capacity, "284.94"},
		{"an IOPS of v2, in seven digits", "eastus", "USD", catalog.PremiumV2LRS, "", catalog.ProvisionedIOPS, "0.000007"},
		{"the mount is another meter than the disk", "eastus", "USD", catalog.PremiumLRS, "P15", catalog.Capacity, "38.012142"},
		{"a meter without a known price has no price of 0", "eastus", "USD", catalog.PremiumLRS, "", catalog.BurstEnablement, ""},
		{"no price in this region", "germanynorth", "USD", catalog.PremiumLRS, "P10", catalog.Capacity, ""},
		{"no price in this currency", "eastus", "EUR", catalog.PremiumLRS, "P10", catalog.Capacity, ""},
		{"no reservation below P30", "eastus", "USD", catalog.PremiumLRS, "P20", catalog.ReservationOneYear, ""},
	} {
		p, ok := c.Price(tc.region, tc.currency, tc.sku, tc.tier, tc.kind)
		got := ""
		if ok {
			got = p.Amount.String()
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
		if ok && p.Source.Date.IsZero() {
			t.Errorf("%s: no date", tc.why)
		}
	}
}

// What the binary has is what the generator makes of the sources, byte by byte.
func TestEmbeddedIsGenerated(t *testing.T) {
	set := map[string]string{}
	for _, name := range catalog.Files() {
		content, err := os.ReadFile(filepath.Join("data", name))
		if err != nil {
			t.Fatal(err)
		}
		set[name] = string(content)
	}
	c, bad := catalog.Parse(set)
	for _, b := range append(bad, catalog.Check(c)...) {
		t.Error(b)
	}
	for name, want := range catalog.Format(c) {
		got, err := os.ReadFile(filepath.Join("embedded", name))
		if err != nil || string(got) != want {
			t.Errorf("embedded/%s is not up to date: run make catalog (%v)", name, err)
		}
	}
	version, err := os.ReadFile(filepath.Join("embedded", "VERSION"))
	if err != nil || strings.TrimSpace(string(version)) != c.Version() || catalogtest.Load(t).Version() != c.Version() {
		t.Errorf("versions differ: sources %s, VERSION %s, binary %s", c.Version(), version, catalogtest.Load(t).Version())
	}
}

func TestOverlay(t *testing.T) {
	base := catalogtest.Load(t)
	c, bad := catalog.Overlay(base, map[string]string{
		"prices.csv": `# our contract
region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate
eastus,USD,Premium_LRS,P10,Capacity,1/Month,15.00,high,contract,2026-11-30
eastus,USD,Premium_LRS,P20,Capacity,1/Month,"60,00",high,contract,2026-11-30
germanynorth,EUR,Premium_LRS,P10,Capacity,1/Month,21.00,high,contract,2026-11-30
eastus,USD,Premium_LRS,P30,Capacity,1/Hour,1.00,high,contract,2026-11-30
eastus,USD,Premium_LRS,P40,Capacity,1/Month,1.00,high,contract,
eastus,USD,Premium_LRS,P10,Capacity,1/Month,16.00,high,contract,2026-11-30
eastus,USD,Premium_LRS
`,
		"vm_limits.csv": `vmSize,uncachedIOPS,uncachedMBps,quality,source,sourceDate
standard_d4as_v6,9000,200,doc,measured,2026-11-30
`,
		"disks.csv": "tier\n",
	})
	var got []string
	for _, b := range bad {
		got = append(got, b.Error())
	}
	want := []string{
		"disks.csv:1: unknown file: use disk_tiers.csv, provisioned_disk_rules.csv, ultra_caps.csv, prices.csv, vm_limits.csv, vm_limits_nvme.csv, max_data_disks.csv",
		`prices.csv:4: column price: "60,00" is no decimal number: write it as 12 or 12.50`,
		"prices.csv:6: the unit of kind Capacity is 1/Month, 1 GiB/Hour, not 1/Hour",
		"prices.csv:7: sourceDate is empty: give the date of the source, as 2026-09-20, 2026-09 or 2026",
		"prices.csv:8: the same as line 3: give one row for eastus USD Premium_LRS P10 Capacity",
		"prices.csv:9: 3 cells, where the header names 10 columns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, tc := range []struct{ why, region, currency, tier, want string }{
		{"a good row beside bad ones", "eastus", "USD", "P10", "15"},
		{"a bad row leaves the published price", "eastus", "USD", "P20", "73.22"},
		{"a new region and currency", "germanynorth", "EUR", "P10", "21"},
	} {
		p, ok := c.Price(tc.region, tc.currency, catalog.PremiumLRS, tc.tier, catalog.Capacity)
		if !ok || p.Amount.String() != tc.want {
			t.Errorf("%s: %v, want %s", tc.why, p.Amount, tc.want)
		}
	}
	if vm, _, _ := c.VM("Standard_D4as_v6", ""); vm.Uncached.IOPS != 9000 || vm.Burst != nil {
		t.Errorf("the user's row replaces the size as a whole: %+v", vm)
	}
	if p, _ := base.Price("eastus", "USD", catalog.PremiumLRS, "P10", catalog.Capacity); p.Amount.String() != "19.71" {
		t.Error("the overlay changed its base")
	}
	if !strings.HasPrefix(c.Version(), base.Version()+"+") {
		t.Errorf("version %s does not tell of the overlay", c.Version())
	}
	if same, _ := catalog.Overlay(base, nil); same.Version() != base.Version() {
		t.Error("an overlay of nothing is another version")
	}
}

func TestOverlayVMs(t *testing.T) {
	for _, tc := range []struct {
		why, row, size string
		controller     catalog.Controller
		want           int64
	}{
		{"a row without a controller is for every one", "Standard_E8bs_v5,,9000,300", "Standard_E8bs_v5", catalog.NVMe, 9000},
		{"and while it is unknown", "Standard_E8bs_v5,,9000,300", "Standard_E8bs_v5", "", 9000},
		{"a row of one controller leaves the other", "Standard_E8bs_v5,NVMe,40000,300", "Standard_E8bs_v5", catalog.SCSI, 24200},
		{"a controller of its own, for a size that had one limit", "Standard_D4as_v6,NVMe,9000,300", "Standard_D4as_v6", catalog.NVMe, 9000},
		{"whose limit stays for the other", "Standard_D4as_v6,NVMe,9000,300", "Standard_D4as_v6", catalog.SCSI, 7600},
		{"a size of one's own", "Standard_Z1,,9000,300", "standard_z1", catalog.SCSI, 9000},
	} {
		c, bad := catalog.Overlay(catalogtest.Load(t), map[string]string{"vm_limits.csv": "vmSize,controller,uncachedIOPS,uncachedMBps,quality,source,sourceDate\n" + tc.row + ",doc,ours,2026\n"})
		vm, _, ok := c.VM(tc.size, tc.controller)
		if len(bad) > 0 || !ok || vm.Uncached.IOPS != tc.want {
			t.Errorf("%s: %+v, %v", tc.why, vm.Uncached, bad)
		}
	}
}

func TestRefusedRows(t *testing.T) {
	const tierHeader = "tier,family,skuNames,sizeGiB,baseIOPS,baseMBps,burstModel,burstIOPS,burstMBps,maxBurstMinutes,ioUnitKiB,maxShares,source,sourceDate\n"
	const vmHeader = "vmSize,uncachedIOPS,uncachedMBps,quality,source,sourceDate\n"
	const priceHeader = "region,currency,sku,tier,kind,unit,price,confidence,source,sourceDate\n"
	for _, tc := range []struct{ why, file, text, want string }{
		{"an empty file", "prices.csv", "", "prices.csv:1: the file is empty: its first row must name the columns"},
		{"a column that nobody reads would be an override without effect", "ultra_caps.csv", "sizeGiB,maxIOPs,maxMBps,source\n", "ultra_caps.csv:1: column maxIOPs: unknown column: use sizeGiB, maxIOPS, maxMBps, source, sourceDate"},
		{"a missing column", "ultra_caps.csv", "sizeGiB,maxIOPS,source,sourceDate\n", "ultra_caps.csv:1: column maxMBps: the column is missing"},
		{"a column twice", "ultra_caps.csv", "sizeGiB,maxIOPS,maxMBps,maxMBps,source,sourceDate\n", "ultra_caps.csv:1: column maxMBps: the column is there twice"},
		{"0 is no unknown figure", "vm_limits.csv", vmHeader + "x,0,10,doc,s,2026\n", `vm_limits.csv:2: column uncachedIOPS: "0" is no whole number from 1 to 1000000000: write digits only, and leave the cell empty while the figure is unknown`},
		{"one half of a limit", "vm_limits.csv", vmHeader + "x,100,,doc,s,2026\n", "vm_limits.csv:2: uncached has IOPS or MB/s, not both: give both, or neither while one is unknown"},
		{"MB/s that are none", "vm_limits.csv", vmHeader + "x,100,0.0000001,doc,s,2026\n", `vm_limits.csv:2: column uncachedMBps: "0.0000001" is no number of MB/s from 0.000001 to 1000000: leave the cell empty while the figure is unknown`},
		{"a unit that Azure does not count in", "vm_limits.csv", vmHeader + "x,100,10MB,doc,s,2026\n", `vm_limits.csv:2: column uncachedMBps: "10MB" is no decimal number: write it as 12 or 12.50`},
		{"an empty cell that must not be", "vm_limits.csv", vmHeader + ",100,1,doc,s,2026\n", "vm_limits.csv:2: column vmSize: must not be empty"},
		{"a flag in other words", "vm_limits.csv", "vmSize,disputed,quality,source,sourceDate\nx,true,doc,s,2026\n", `vm_limits.csv:2: column disputed: "true" is not yes: write yes, or leave the cell empty`},
		{"a quote without an end in the header", "vm_limits.csv", "\"vmSize\n", `vm_limits.csv:1: extraneous or missing " in quoted-field`},
		{"a SKU that is none", "disk_tiers.csv", tierHeader + "P1,PremiumSSD,Premium_GRS,4,120,25,none,,,,256,3,s,2026\n", `disk_tiers.csv:2: column skuNames: unknown SKU "Premium_GRS": use PremiumV2_LRS, Premium_LRS, Premium_ZRS, StandardSSD_LRS, StandardSSD_ZRS, Standard_LRS, UltraSSD_LRS`},
		{"a currency by its sign", "prices.csv", priceHeader + "eastus,$,Premium_LRS,P1,Capacity,1/Month,1,high,s,2026\n", `prices.csv:2: currency "$" is no ISO 4217 code of three capital letters, such as USD`},
		{"an unknown quality", "vm_limits.csv", vmHeader + "x,100,1,Doc,s,2026\n", `vm_limits.csv:2: column quality: "Doc" is none of doc, driver, sku-api`},
		{"a line that is counted although a comment precedes it", "vm_limits.csv", "# a\n" + vmHeader + "# b\nx,100,1,doc,s,26\n", `vm_limits.csv:4: column sourceDate: "26" is no date: write it as 2026-09-20, 2026-09 or 2026`},
		{"a quote without an end", "vm_limits.csv", vmHeader + "\"x,100,1,doc,s,2026\n", `vm_limits.csv:2: extraneous or missing " in quoted-field`},
		{"a burst below its base", "disk_tiers.csv", tierHeader + "P1,PremiumSSD,Premium_LRS,4,120,25,credit,100,170,30,256,3,s,2026\n", "disk_tiers.csv:2: burst is below what it should exceed: 100 IOPS and 170 MB/s, against 120 and 25"},
		{"credits without minutes", "disk_tiers.csv", tierHeader + "P1,PremiumSSD,Premium_LRS,4,120,25,credit,3500,170,,256,3,s,2026\n", "disk_tiers.csv:2: maxBurstMinutes goes with burstModel credit, and with no other"},
		{"a burst without figures", "disk_tiers.csv", tierHeader + "P1,PremiumSSD,Premium_LRS,4,120,25,credit,,,30,256,3,s,2026\n", "disk_tiers.csv:2: burstModel is credit: burstIOPS and burstMBps must be given"},
		{"a SKU of another family", "disk_tiers.csv", tierHeader + "P1,PremiumSSD,Standard_LRS,4,120,25,none,,,,256,3,s,2026\n", "disk_tiers.csv:2: skuNames has Standard_LRS, which is of family StandardHDD, not PremiumSSD"},
		{"an exponent, of which a few digits can be an enormous number", "prices.csv", priceHeader + "eastus,USD,Premium_LRS,P1,Capacity,1/Month,1e999999999,high,s,2026\n", `prices.csv:2: column price: "1e999999999" is no decimal number: write it as 12 or 12.50`},
		{"a price left out by mistake", "prices.csv", priceHeader + "eastus,USD,Premium_LRS,P1,Capacity,1/Month,,high,s,2026\n", "prices.csv:2: confidence none goes with an empty price: leave the price empty only while it is unknown"},
		{"a region by its display name would never be found", "prices.csv", priceHeader + "East US,USD,Premium_LRS,P1,Capacity,1/Month,1,high,s,2026\n", `prices.csv:2: column region: "East US" is no region in Azure's short form: write it as "eastus"`},
		{"a tier of what bills by GiB", "prices.csv", priceHeader + "eastus,USD,PremiumV2_LRS,P1,Capacity,1 GiB/Hour,1,high,s,2026\n", "prices.csv:2: PremiumV2_LRS bills by GiB: leave the tier empty"},
		{"an hourly tier would be billed 730 times", "prices.csv", priceHeader + "eastus,USD,Premium_LRS,P1,Capacity,1 GiB/Hour,1,high,s,2026\n", "prices.csv:2: Premium_LRS does not bill by 1 GiB/Hour"},
		{"a rule that nobody knows", "provisioned_disk_rules.csv", "sku,rule,value,source,sourceDate\nPremiumV2_LRS,freeIops,1,s,2026\n", `provisioned_disk_rules.csv:2: unknown rule "freeIops"`},
		{"a rule of nothing", "provisioned_disk_rules.csv", "sku,rule,value,source,sourceDate\nPremiumV3_LRS,freeIOPS,1,s,2026\n", `provisioned_disk_rules.csv:2: unknown SKU "PremiumV3_LRS": use PremiumV2_LRS, Premium_LRS, Premium_ZRS, StandardSSD_LRS, StandardSSD_ZRS, Standard_LRS, UltraSSD_LRS, or the begin of several with a * behind it`},
		{"a rule whose number is a phrase", "provisioned_disk_rules.csv", "sku,rule,value,source,sourceDate\nPremiumV2_LRS,freeIOPS,many,s,2026\n", `provisioned_disk_rules.csv:2: rule freeIOPS: "many" is no decimal number: write it as 12 or 12.50`},
	} {
		_, bad := catalog.Parse(map[string]string{tc.file: tc.text})
		if len(bad) != 1 || bad[0].Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.why, bad, tc.want)
		}
	}
}

func TestPerformancePlusMinGiB(t *testing.T) {
	if got, ok := catalogtest.Load(t).PerformancePlusMinGiB(catalog.PremiumLRS); got != 513 || !ok {
		t.Errorf("%d, %t", got, ok)
	}
	user := map[string]string{"provisioned_disk_rules.csv": "sku,rule,value,source,sourceDate\nPremium_*,performancePlusMinSizeGiB,1024,measured,2026-11-30\n"}
	c, bad := catalog.Overlay(catalogtest.Load(t), user)
	if got, _ := c.PerformancePlusMinGiB(catalog.PremiumLRS); got != 1024 || len(bad) > 0 {
		t.Errorf("a rule of the user's for some SKUs goes before that for all: %d, %v", got, bad)
	}
	if got, _ := c.PerformancePlusMinGiB(catalog.StandardSSDLRS); got != 513 {
		t.Errorf("and leaves the other SKUs alone: %d", got)
	}
	if got, ok := (catalog.Catalog{}).PerformancePlusMinGiB(catalog.PremiumLRS); got != 0 || ok {
		t.Errorf("without the rule: %d, %t", got, ok)
	}
}

// An hour of E10 bills more transactions where the disk is in three zones.
func TestMaxBilledPerHour(t *testing.T) {
	c := catalogtest.Load(t)
	for _, tc := range []struct {
		why  string
		sku  catalog.SKU
		size int64
		want int64
		ok   bool
	}{
		{"one zone", catalog.StandardSSDLRS, 128, 147200, true},
		{"three zones", catalog.StandardSSDZRS, 128, 214000, true},
		{"not published", catalog.StandardLRS, 128, 0, false},
		{"nothing is billed", catalog.PremiumLRS, 128, 0, false},
	} {
		tier, _ := c.TierOf(tc.sku, tc.size)
		if got, ok := tier.MaxBilledPerHour(tc.sku.Redundancy()); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d, %t", tc.why, got, ok)
		}
	}
}

func TestMergeVMs(t *testing.T) {
	rate := func(iops, mbps int64) *catalog.Rate {
		return &catalog.Rate{IOPS: iops, BytesPerSecond: mbps * 1_000_000}
	}
	doc := catalog.VM{Size: "Standard_X", Quality: catalog.Doc, Uncached: rate(51200, 600), Burst: rate(80000, 960)}
	api := catalog.VM{Size: "Standard_X", Quality: catalog.SKUAPI, Uncached: rate(25600, 600)}
	for _, tc := range []struct {
		why      string
		rows     []catalog.VM
		want     *catalog.Rate
		disputed bool
	}{
		{"documentation alone", []catalog.VM{doc}, rate(51200, 600), false},
		{"the lower of two that differ", []catalog.VM{api, doc}, rate(25600, 600), true},
		{"rounded MB/s are no difference", []catalog.VM{doc, {Size: "Standard_X", Quality: catalog.SKUAPI, Uncached: rate(51200, 599)}}, rate(51200, 600), false},
		{"a source without limits says nothing of them", []catalog.VM{doc, {Size: "STANDARD_X", Quality: catalog.Driver, MaxDataDisks: new(int64(8))}}, rate(51200, 600), false},
	} {
		merged := catalog.MergeVMs(tc.rows)
		if len(merged) != 1 || *merged[0].Uncached != *tc.want || merged[0].Disputed != tc.disputed || merged[0].Size != "Standard_X" {
			t.Errorf("%s: %+v", tc.why, merged)
		}
	}
}

// Whatever the text, each record is a row or an error with its line, and good rows can be written and
// read again.
func FuzzParse(f *testing.F) {
	for _, name := range catalog.Files() {
		content, err := os.ReadFile(filepath.Join("data", name))
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfter(string(content), "\n")
		f.Add(name, strings.Join(lines[:min(8, len(lines))], ""))
	}
	f.Add("prices.csv", "region,currency\n\"")
	f.Add("sources.csv", "id,source,sourceDate\n001,x,2026\n")
	names := append(catalog.Files(), "sources.csv")
	f.Fuzz(func(t *testing.T, name, text string) {
		c, bad := catalog.Parse(map[string]string{name: text})
		for _, b := range bad {
			if b.Line < 1 || b.Problem == "" || b.File != name {
				t.Fatalf("an error that does not say where or what: %+v", b)
			}
		}
		if !slices.Contains(names, name) {
			return
		}
		written := catalog.Format(c)
		again, bad := catalog.Parse(written)
		if len(bad) > 0 || !maps.Equal(catalog.Format(again), written) || again.Version() != c.Version() {
			t.Fatalf("what was read cannot be read again: %v\n%v", bad, written)
		}
	})
}
