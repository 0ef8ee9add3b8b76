// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"slices"
	"strings"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

const (
	// defaultSKU is the driver's, for a class without skuName.
	defaultSKU = catalog.StandardSSDLRS
	// noCacheGiB is the size from which Azure attaches a disk without host cache, whatever the class asks
	// for.
	noCacheGiB = 4096

	gibibyte = 1 << 30
	megabyte = 1_000_000
)

// The labels of a node that matter.
const (
	labelInstanceType = "node.kubernetes.io/instance-type"
	labelRegion       = "topology.kubernetes.io/region"
	labelZone         = "topology.kubernetes.io/zone"
	labelDriverZone   = "topology.disk.csi.azure.com/zone"
)

// Describe tells which disk the facts are of. It has no error: what is not known is missing in the
// result, which says why in Coverage, and what is odd is in the warnings.
func Describe(c catalog.Catalog, f Facts) (Disk, []Warning) {
	d := Disk{Coverage: OtherDriver, Driver: f.Driver, ResourceID: f.VolumeHandle, SizeGiB: ceilGiB(f.CapacityBytes), Controller: f.Controller, Existing: f.ExistingClaim}
	d.locate(f.NodeLabels)
	if f.Driver != Driver {
		return d, nil
	}
	p := readParameters(f)
	d.locateVM(c, p)
	if location := p.values[paramLocation]; location != "" {
		d.Region = catalog.NormalizeRegion(location)
	}
	d.Coverage = d.describe(c, p)
	if f.ExistingClaim {
		p.warn(HiddenProperties, "the disk was there before the run: a performance tier, on-demand bursting that was switched on later, "+
			"and burst credits that were spent do not show in Kubernetes")
	}
	return d, p.warnings
}

// ceilGiB rounds up without an overflow; 0 for what is no size.
func ceilGiB(bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	return (bytes-1)/gibibyte + 1
}

// locate reads the node's labels. A node outside zones has a fault domain such as 0 in the zone label;
// a zone's name begins with its region.
func (d *Disk) locate(labels map[string]string) {
	d.VMSize = labels[labelInstanceType]
	d.Region = catalog.NormalizeRegion(labels[labelRegion])
	for _, label := range []string{labelDriverZone, labelZone} {
		zone := strings.ToLower(labels[label])
		region, number, ok := cutLast(zone, "-")
		if !ok || region == "" || number == "" || d.Zone != "" {
			continue
		}
		d.Zone = zone
		if d.Region == "" {
			d.Region = region
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (d *Disk) locateVM(c catalog.Catalog, p *parameters) {
	vm, ambiguous, ok := c.VM(d.VMSize, d.Controller)
	if !ok {
		return
	}
	d.VM, d.VMAmbiguous = &vm, ambiguous
	if vm.Disputed {
		p.warn(DisputedVM, "documentation and SKU API give different limits for %s; the one in the catalog can be too high", vm.Size)
	}
}

// describe fills in SKU, size and limits, as far as they are known.
func (d *Disk) describe(c catalog.Catalog, p *parameters) Coverage {
	d.SKU = catalog.SKU(p.values[paramSKU])
	if d.SKU == "" {
		d.SKU = defaultSKU
	}
	family, ok := d.SKU.Family()
	if !ok {
		d.explainSKU(p)
		return UnknownSKU
	}
	d.Family, d.Redundancy = family, d.SKU.Redundancy()
	d.MaxShares = 1
	if shares, ok := p.number(paramMaxShares); ok {
		d.MaxShares = shares
	}
	d.Caching = d.caching(p)
	if family.Tiered() {
		return d.describeTier(c, p)
	}
	return d.describeProvisioned(c, p)
}

// explainSKU proposes the right spelling: SKUs are compared with case.
func (d *Disk) explainSKU(p *parameters) {
	skus := catalog.SKUs()
	i := slices.IndexFunc(skus, func(sku catalog.SKU) bool { return strings.EqualFold(string(sku), string(d.SKU)) })
	if i >= 0 {
		p.warn(InvalidParameter, "skuName is %q, which the driver refuses: did you mean %s?", d.SKU, skus[i])
		return
	}
	p.warn(InvalidParameter, "skuName is %q, which the catalog does not have: limits and prices are unknown", d.SKU)
}

// caching is the host cache in effect.
func (d *Disk) caching(p *parameters) Caching {
	asked := Caching(p.values[paramCaching])
	if !slices.Contains([]Caching{"", CachingNone, CachingReadOnly, CachingReadWrite}, asked) {
		p.warn(InvalidParameter, "cachingMode is %q, where the driver takes None, ReadOnly or ReadWrite", asked)
		asked = ""
	}
	switch {
	case d.Family == catalog.Ultra && asked != CachingNone:
		p.warn(CachingNotInEffect, "an Ultra disk has no host cache: its class must say cachingMode: None, or the disk cannot be attached")
		return CachingNone
	case d.Family == catalog.PremiumV2 && asked != CachingNone && asked != "":
		p.warn(CachingNotInEffect, "a Premium SSD v2 disk has no host cache: the driver refuses cachingMode: %s", asked)
		return CachingNone
	case !d.Family.Tiered():
		return CachingNone
	case d.SizeGiB >= noCacheGiB:
		if asked == CachingReadOnly || asked == CachingReadWrite {
			p.warn(CachingNotInEffect, "cachingMode is %s, and a disk of %d GiB or more is attached without host cache", asked, noCacheGiB)
		}
		return CachingNone
	case asked == "":
		return CachingReadOnly
	}
	return asked
}

// describeTier fills in what follows from the tier.
func (d *Disk) describeTier(c catalog.Catalog, p *parameters) Coverage {
	for _, name := range []string{paramIOPS, paramMBps} {
		if p.values[name] != "" {
			p.warn(InvalidParameter, "%s has no effect on %s: only Premium SSD v2 and Ultra are provisioned", spelled[name], d.SKU)
		}
	}
	plus := p.performancePlus()
	tier, ok := c.TierOf(d.SKU, d.SizeGiB)
	if !ok {
		return UnknownSize
	}
	d.Tier, d.Base, d.Bursting = &tier, &tier.Base, catalog.BurstNone
	if plus {
		d.usePerformancePlus(c, p)
	}
	d.useBursting(p)
	return Covered
}

func (d *Disk) usePerformancePlus(c catalog.Catalog, p *parameters) {
	least, _ := c.PerformancePlusMinGiB(d.SKU)
	if d.Tier.PerformancePlus == nil || d.SizeGiB < least {
		p.warn(InvalidParameter, "enablePerformancePlus needs a disk of %d GiB or more, and this one has %d", least, d.SizeGiB)
		return
	}
	d.PerformancePlus, d.Base = true, d.Tier.PerformancePlus
}

// useBursting sets the burst in effect. Credits are on by default; whether they add to Performance Plus
// is not published, and its base is above the credit bursts' IOPS, so they do not count then.
func (d *Disk) useBursting(p *parameters) {
	asked := p.bursting()
	switch {
	case d.Tier.BurstModel == catalog.BurstCredit && !d.PerformancePlus:
		d.Bursting, d.Burst, d.BurstMinutes = catalog.BurstCredit, d.Tier.Burst, *d.Tier.MaxBurstMinutes
	case d.Tier.BurstModel == catalog.BurstOnDemand && asked:
		d.Bursting, d.Burst = catalog.BurstOnDemand, d.Tier.Burst
		return
	}
	if asked {
		p.warn(InvalidParameter, "enableBursting is for Premium SSD above 512 GiB: it has no effect on %s of %d GiB", d.SKU, d.SizeGiB)
	}
}

// describeProvisioned fills in what follows from provisioned IOPS and MB/s.
func (d *Disk) describeProvisioned(c catalog.Catalog, p *parameters) Coverage {
	d.Bursting = catalog.BurstNone
	if p.bursting() || p.performancePlus() {
		p.warn(InvalidParameter, "enableBursting and enablePerformancePlus are for disks with tiers: they have no effect on %s", d.SKU)
	}
	rules, ok := c.Provisioned(d.Family)
	if !ok {
		return UnknownLimits
	}
	if d.SizeGiB < rules.MinSizeGiB || d.SizeGiB > rules.MaxSizeGiB {
		return UnknownSize
	}
	rate, ok := d.provisioned(rules, p)
	if !ok {
		return UnknownLimits
	}
	d.Base = &rate
	d.checkProvisioned(c, rules, p)
	return Covered
}

// provisioned is what was asked for, or the driver's and Azure's defaults. A half that is left out is
// what is free, for Premium SSD v2, and up to Azure for Ultra, which does not say.
func (d *Disk) provisioned(rules catalog.Provisioned, p *parameters) (catalog.Rate, bool) {
	iops, hasIOPS := p.number(paramIOPS)
	mbps, hasMBps := p.number(paramMBps)
	if (p.values[paramIOPS] != "" && !hasIOPS) || (p.values[paramMBps] != "" && !hasMBps) {
		return catalog.Rate{}, false
	}
	if d.Family == catalog.Ultra && !hasIOPS && !hasMBps {
		return ultraDefault(d.SizeGiB), true
	}
	if d.Family == catalog.Ultra && hasIOPS != hasMBps {
		p.warn(InvalidParameter, "the class of an Ultra disk has only one of DiskIOPSReadWrite and DiskMBpsReadWrite: Azure chooses the other, and does not say what")
		return catalog.Rate{}, false
	}
	rate := rules.Free
	if hasIOPS {
		rate.IOPS = iops
	}
	if hasMBps {
		rate.BytesPerSecond = mbps * megabyte
	}
	return rate, true
}

// ultraDefault is the driver's, for a class that says nothing (pkg/azuredisk/azuredisk.go, around line
// 791): an IOPS for each GiB, at least 500; a MB/s for each 256 of them, at least 100. The driver's
// ceilings, 160,000 IOPS and 4,000 MB/s, are beyond the largest disk.
func ultraDefault(sizeGiB int64) catalog.Rate {
	iops := max(500, sizeGiB)
	mbps := int64(100)
	if iops/256 > mbps {
		mbps = (iops + 255) / 256
	}
	return catalog.Rate{IOPS: iops, BytesPerSecond: mbps * megabyte}
}

// checkProvisioned warns of what Azure refuses.
func (d *Disk) checkProvisioned(c catalog.Catalog, rules catalog.Provisioned, p *parameters) {
	most := catalog.Rate{IOPS: rules.MaxIOPS(d.SizeGiB), BytesPerSecond: rules.MaxBytesPerSecond(d.Base.IOPS)}
	if ultra, ok := c.UltraMax(d.SizeGiB); ok && d.Family == catalog.Ultra {
		most.IOPS = ultra.IOPS
		most.BytesPerSecond = min(most.BytesPerSecond, ultra.BytesPerSecond)
	}
	if d.Base.IOPS > most.IOPS || d.Base.IOPS < rules.Least.IOPS {
		p.warn(InvalidParameter, "%d IOPS are not from %d to %d, which is what %s of %d GiB takes: Azure refuses them", d.Base.IOPS, rules.Least.IOPS, most.IOPS, d.SKU, d.SizeGiB)
	}
	if d.Base.BytesPerSecond > most.BytesPerSecond || d.Base.BytesPerSecond < rules.Least.BytesPerSecond {
		p.warn(InvalidParameter, "%d MB/s are not from %d to %d, which is what %s with %d IOPS takes: Azure refuses them", d.Base.BytesPerSecond/megabyte,
			rules.Least.BytesPerSecond/megabyte, most.BytesPerSecond/megabyte, d.SKU, d.Base.IOPS)
	}
}
