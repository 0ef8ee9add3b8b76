// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package size finds the cheapest Azure disks that sustain a need, by published limits alone: what it
// proposes is predicted, not measured. Bursts do not count, since they end.
package size

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/cost"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// maxStripe is the most disks of a striped set unless the need says otherwise (judgment: one disk that
// fails takes the whole set with it, and each is a volume to attach).
const maxStripe = 16

const megabyte = 1_000_000

// Need is what a volume must hold and sustain. 0 is no need.
type Need struct {
	CapacityGiB int64
	IOPS        int64
	// MBps are decimal. With 0, what IOPS of BlockSizeBytes make.
	MBps int64
	// BlockSizeBytes of the I/Os; 0 for MBps / IOPS.
	BlockSizeBytes int64
	// HeadroomPercent is added to IOPS and MB/s, not to the capacity.
	HeadroomPercent int64
	// MaxDisks of a striped set; 0 for 16. The VM's limit counts as well.
	MaxDisks int64
	// Redundancy; empty for LRS.
	Redundancy catalog.Redundancy
	// VMSize and Controller of the node; empty while unknown, and no limit of a VM counts then.
	VMSize     string
	Controller catalog.Controller
	// Price says where and how to price. Disks, and the rate of I/O, are set here: IOPS is the rate at which
	// transactions are billed, with the options' busy hours.
	Price cost.Options
}

// Group is what competes with each other.
type Group string

// The groups.
const (
	Premium  Group = "PremiumSSD"
	Standard Group = "StandardSSD"
	V2       Group = "PremiumV2"
	Striped  Group = "Striped"
)

// Option is a set of equal disks that sustains the need.
type Option struct {
	Group Group
	// RunnerUp is the second of its group, and not the first.
	RunnerUp bool
	// Count of disks, striped when above 1, each of SizeGiB.
	Count   int64
	SizeGiB int64
	SKU     catalog.SKU
	// Tier is empty for Premium SSD v2.
	Tier string
	// Parameters of a StorageClass that makes such a disk.
	Parameters map[string]string
	// Sustained by disks and VM together.
	Sustained catalog.Rate
	Estimate  cost.Estimate
}

// Shortfall is a disk that does not do, and why.
type Shortfall struct {
	Group Group
	// Name is a tier, or the SKU.
	Name string
	Why  string
}

// Result has the best of each group and its runner-up, from the cheapest; those without a known price
// come last. Premium SSD v2 has no runner-up: its performance is set to the need, so there is one best.
type Result struct {
	Options  []Option
	Rejected []Shortfall
	// UnknownVM: no limit of the VM counted.
	UnknownVM bool
	// Required is the need with headroom.
	Required catalog.Rate
}

// Size finds the options for a need.
func Size(c catalog.Catalog, n Need) Result {
	if n.MBps == 0 {
		n.MBps = ceilDiv(n.IOPS*n.BlockSizeBytes, megabyte)
	}
	s := sizer{catalog: c, need: n, required: catalog.Rate{IOPS: withHeadroom(n.IOPS, n.HeadroomPercent), BytesPerSecond: withHeadroom(n.MBps, n.HeadroomPercent) * megabyte}}
	if vm, _, ok := c.VM(n.VMSize, n.Controller); ok {
		s.vm = &vm
	}
	s.tiers(Premium, s.sku(catalog.PremiumLRS, catalog.PremiumZRS))
	s.tiers(Standard, s.sku(catalog.StandardSSDLRS, catalog.StandardSSDZRS))
	s.v2()
	s.striped()
	slices.SortStableFunc(s.options, byPrice)
	return Result{Options: s.options, Rejected: s.rejected, UnknownVM: s.vm == nil || s.vm.Uncached == nil, Required: s.required}
}

func withHeadroom(n, percent int64) int64 { return ceilDiv(n*(100+percent), 100) }

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// price is what options are ranked by: the month, or the most that it can cost while the rate of I/O is
// unknown; false while both are unknown.
func (o Option) price() (decimal.Decimal, bool) {
	switch {
	case o.Estimate.PerMonth != nil:
		return *o.Estimate.PerMonth, true
	case o.Estimate.PerMonthAtCap != nil:
		return *o.Estimate.PerMonthAtCap, true
	}
	return decimal.Zero, false
}

// byPrice puts what has no known price last, and of two of the same price the one with fewer disks first.
func byPrice(a, b Option) int {
	left, hasLeft := a.price()
	right, hasRight := b.price()
	switch {
	case hasLeft && !hasRight:
		return -1
	case hasRight && !hasLeft:
		return 1
	}
	return cmp.Or(left.Cmp(right), cmp.Compare(a.Count, b.Count))
}

// sizer collects options and what falls short.
type sizer struct {
	catalog  catalog.Catalog
	need     Need
	required catalog.Rate
	vm       *catalog.VM
	options  []Option
	rejected []Shortfall
}

func (s *sizer) sku(lrs, zrs catalog.SKU) catalog.SKU {
	if s.need.Redundancy == catalog.ZRS {
		return zrs
	}
	return lrs
}

// tiers finds the best single disk of a family with tiers.
func (s *sizer) tiers(group Group, sku catalog.SKU) {
	family, _ := sku.Family()
	var found []Option
	for _, tier := range s.catalog.Tiers(family) {
		option, why := s.tier(group, sku, tier, s.share(1))
		if why != "" {
			s.rejected = append(s.rejected, Shortfall{Group: group, Name: tier.Name, Why: why})
			continue
		}
		found = append(found, option)
	}
	s.keep(found)
}

// share is what each of count disks must do.
type share struct {
	count       int64
	capacityGiB int64
	rate        catalog.Rate
}

func (s *sizer) share(count int64) share {
	return share{count: count, capacityGiB: ceilDiv(max(s.need.CapacityGiB, 1), count), rate: catalog.Rate{
		IOPS: ceilDiv(s.required.IOPS, count), BytesPerSecond: ceilDiv(s.required.BytesPerSecond, count),
	}}
}

// tier makes an option of one tier, or says why it falls short. Performance Plus is free, and is used
// where only it is enough.
func (s *sizer) tier(group Group, sku catalog.SKU, tier catalog.Tier, part share) (option Option, why string) {
	if tier.SizeGiB < part.capacityGiB {
		return Option{}, fmt.Sprintf("holds %d of %d GiB", tier.SizeGiB, part.capacityGiB)
	}
	// Without a host cache the VM's limit of cached I/O, which can be the lowest, does not count.
	parameters := map[string]string{"skuName": string(sku), "cachingMode": string(disk.CachingNone)}
	rate := tier.Base
	if falls := short(rate, part.rate); falls != "" && tier.PerformancePlus != nil {
		parameters["enablePerformancePlus"] = "true"
		rate = *tier.PerformancePlus
	}
	if falls := short(rate, part.rate); falls != "" {
		return Option{}, falls
	}
	return s.option(group, part.count, tier.SizeGiB, parameters)
}

// short says how far a rate is below what is required; empty when it is enough.
func short(rate, required catalog.Rate) string {
	switch {
	case rate.IOPS < required.IOPS:
		return fmt.Sprintf("sustains %d of %d IOPS", rate.IOPS, required.IOPS)
	case rate.BytesPerSecond < required.BytesPerSecond:
		return fmt.Sprintf("sustains %s of %s MB/s", decimal.New(rate.BytesPerSecond, -6), decimal.New(required.BytesPerSecond, -6))
	}
	return ""
}

// v2 finds the single best Premium SSD v2 disk.
func (s *sizer) v2() {
	option, why := s.provisioned(V2, s.share(1))
	if why != "" {
		s.rejected = append(s.rejected, Shortfall{Group: V2, Name: string(catalog.PremiumV2LRS), Why: why})
		return
	}
	s.keep([]Option{option})
}

// provisioned is the closed form of the cheapest Premium SSD v2 disk: throughput first, at least the
// free one; then IOPS, at least the free ones and those that the throughput needs; then capacity, which
// must carry the IOPS above the free ones.
func (s *sizer) provisioned(group Group, part share) (option Option, why string) {
	rules, ok := s.catalog.Provisioned(catalog.PremiumV2)
	switch {
	case !ok:
		return Option{}, "its rules are not known"
	case s.need.Redundancy == catalog.ZRS:
		return Option{}, "has no zonal redundancy"
	}
	mbps := max(ceilDiv(part.rate.BytesPerSecond, megabyte), rules.Free.BytesPerSecond/megabyte)
	iops := max(rules.Free.IOPS, part.rate.IOPS, ceilDiv(mbps*megabyte, rules.BytesPerIO))
	size := max(rules.MinSizeGiB, part.capacityGiB)
	if iops > rules.Free.IOPS {
		size = max(size, ceilDiv(iops, rules.IOPSPerGiB))
	}
	if falls := short(rules.Most, catalog.Rate{IOPS: iops, BytesPerSecond: mbps * megabyte}); falls != "" {
		return Option{}, falls
	}
	if size > rules.MaxSizeGiB {
		return Option{}, fmt.Sprintf("holds %d of %d GiB", rules.MaxSizeGiB, size)
	}
	return s.option(group, part.count, size, map[string]string{
		"skuName": string(catalog.PremiumV2LRS), "cachingMode": string(disk.CachingNone),
		"DiskIOPSReadWrite": strconv.FormatInt(iops, 10), "DiskMBpsReadWrite": strconv.FormatInt(mbps, 10),
	})
}

// striped finds the best set of equal disks of each SKU; the runner-up is of another SKU, since the same
// disks in another number say nothing new.
func (s *sizer) striped() {
	most := cmp.Or(s.need.MaxDisks, maxStripe)
	if s.vm != nil && s.vm.MaxDataDisks != nil {
		most = min(most, *s.vm.MaxDataDisks)
	}
	if most < 2 {
		s.rejected = append(s.rejected, Shortfall{Group: Striped, Name: "sets of disks", Why: "the VM, or the need, has one disk at most"})
		return
	}
	var found []Option
	for sku, sets := range s.setsBySKU() {
		option, why := best(sets, most)
		if why != "" {
			s.rejected = append(s.rejected, Shortfall{Group: Striped, Name: fmt.Sprintf("2 to %d disks of %s", most, sku), Why: why})
			continue
		}
		found = append(found, option)
	}
	s.keep(found)
}

// candidate makes a set of so many equal disks, or says why it falls short.
type candidate func(count int64) (option Option, why string)

// setsBySKU are all candidates, in a fixed order of SKUs.
func (s *sizer) setsBySKU() iter.Seq2[catalog.SKU, []candidate] {
	return func(yield func(catalog.SKU, []candidate) bool) {
		for _, sku := range []catalog.SKU{s.sku(catalog.PremiumLRS, catalog.PremiumZRS), s.sku(catalog.StandardSSDLRS, catalog.StandardSSDZRS)} {
			if !yield(sku, s.tierSets(sku)) {
				return
			}
		}
		yield(catalog.PremiumV2LRS, []candidate{func(count int64) (Option, string) { return s.provisioned(Striped, s.share(count)) }})
	}
}

func (s *sizer) tierSets(sku catalog.SKU) []candidate {
	family, _ := sku.Family()
	var sets []candidate
	for _, tier := range s.catalog.Tiers(family) {
		sets = append(sets, func(count int64) (Option, string) { return s.tier(Striped, sku, tier, s.share(count)) })
	}
	return sets
}

// best of the candidates with 2 to most disks; why the largest of all falls short, when all do.
func best(sets []candidate, most int64) (option Option, why string) {
	var found []Option
	for _, set := range sets {
		for count := int64(2); count <= most; count++ {
			option, falls := set(count)
			if falls == "" {
				found = append(found, option)
			}
			why = falls
		}
	}
	if len(found) == 0 {
		return Option{}, why
	}
	return slices.MinFunc(found, byPrice), ""
}

// option describes and prices a set of disks, and holds it against the VM's limits.
func (s *sizer) option(group Group, count, sizeGiB int64, parameters map[string]string) (option Option, why string) {
	d, _ := disk.Describe(s.catalog, disk.Facts{Driver: disk.Driver, ClassParameters: parameters, CapacityBytes: sizeGiB << 30})
	if d.Base == nil {
		return Option{}, fmt.Sprintf("cannot be described: %s", d.Coverage)
	}
	option = Option{
		Group: group, Count: count, SizeGiB: sizeGiB, SKU: d.SKU, Parameters: parameters,
		Sustained: catalog.Rate{IOPS: d.Base.IOPS * count, BytesPerSecond: d.Base.BytesPerSecond * count},
	}
	if d.Tier != nil {
		option.Tier = d.Tier.Name
	}
	if s.vm != nil {
		if base, _ := s.vm.Limits(d.Family); base != nil {
			if falls := short(*base, s.required); falls != "" {
				return Option{}, fmt.Sprintf("the VM %s %s", s.vm.Size, falls)
			}
			option.Sustained.IOPS = min(option.Sustained.IOPS, base.IOPS)
			option.Sustained.BytesPerSecond = min(option.Sustained.BytesPerSecond, base.BytesPerSecond)
		}
	}
	option.Estimate = cost.Monthly(s.catalog, d, s.pricing(option))
	return option, ""
}

// pricing bills transactions at the need, without its headroom.
func (s *sizer) pricing(option Option) cost.Options {
	o := s.need.Price
	o.Disks, o.SustainedIOPS = option.Count, option.Sustained.IOPS
	o.Use.BlockSizeBytes, o.Use.IOPS = s.need.BlockSizeBytes, nil
	if s.need.IOPS > 0 {
		o.Use.IOPS = &s.need.IOPS
		// The need says by itself how large I/Os are in the mean.
		o.Use.BlockSizeBytes = cmp.Or(s.need.BlockSizeBytes, ceilDiv(s.need.MBps*megabyte, s.need.IOPS))
	}
	return o
}

// keep takes the best of a group and its runner-up.
func (s *sizer) keep(found []Option) {
	slices.SortStableFunc(found, byPrice)
	for i, option := range found[:min(2, len(found))] {
		option.RunnerUp = i > 0
		s.options = append(s.options, option)
	}
}
