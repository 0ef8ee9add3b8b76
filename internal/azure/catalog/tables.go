// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// The names of the files, each with a format of its own.
const (
	tiersFile     = "disk_tiers.csv"
	rulesFile     = "provisioned_disk_rules.csv"
	ultraCapsFile = "ultra_caps.csv"
	pricesFile    = "prices.csv"
	vmsFile       = "vm_limits.csv"
	sourcesFile   = "sources.csv"
)

// mergedFiles have the format of vm_limits.csv: sources on VM sizes that the generator merges.
var mergedFiles = []string{"vm_limits_nvme.csv", "max_data_disks.csv"}

// Files are the names that Overlay and the generator take.
func Files() []string {
	return append([]string{tiersFile, rulesFile, ultraCapsFile, pricesFile, vmsFile}, mergedFiles...)
}

// kibibyte is the unit of billed I/O sizes, which Azure writes in binary KiB.
const kibibyte = 1024

var tiers = table[Tier]{
	columns: slices.Concat(
		require(
			text("tier", func(t *Tier) *string { return &t.Name }),
			choice("family", []Family{PremiumSSD, StandardSSD, StandardHDD}, func(t *Tier) *Family { return &t.Family }),
			skuList("skuNames", func(t *Tier) *[]SKU { return &t.SKUs }),
			integer("sizeGiB", func(t *Tier) *int64 { return &t.SizeGiB }),
		),
		require(rate("base", "IOPS", "MBps", func(t *Tier) **Rate { return new(&t.Base) })...),
		require(choice("burstModel", []BurstModel{BurstNone, BurstCredit, BurstOnDemand}, func(t *Tier) *BurstModel { return &t.BurstModel })),
		rate("burst", "IOPS", "MBps", func(t *Tier) **Rate { return &t.Burst }),
		[]column[Tier]{optionalInteger("maxBurstMinutes", func(t *Tier) **int64 { return &t.MaxBurstMinutes })},
		rate("performancePlus", "IOPS", "MBps", func(t *Tier) **Rate { return &t.PerformancePlus }),
		[]column[Tier]{text("canUpgradeTo", func(t *Tier) *string { return &t.CanUpgradeTo })},
		require(ioUnit("ioUnitKiB", func(t *Tier) *int64 { return &t.IOUnitBytes }), integer("maxShares", func(t *Tier) *int64 { return &t.MaxShares })),
		[]column[Tier]{
			optionalInteger("maxBilledTxPerHourLRS", func(t *Tier) **int64 { return &t.MaxBilledPerHourLRS }),
			optionalInteger("maxBilledTxPerHourZRS", func(t *Tier) **int64 { return &t.MaxBilledPerHourZRS }),
		},
		sourceColumns(func(t *Tier) *Source { return &t.Source }),
		maintainersOnly(text("note", func(t *Tier) *string { return &t.Note })),
	),
	check:  checkTier,
	key:    func(t Tier) string { return t.Name },
	source: func(t *Tier) *Source { return &t.Source },
}

func checkTier(t Tier) error {
	for _, sku := range t.SKUs {
		if family, _ := sku.Family(); family != t.Family {
			return fmt.Errorf("skuNames has %s, which is of family %s, not %s", sku, family, t.Family)
		}
	}
	if (t.Burst != nil) != (t.BurstModel != BurstNone) {
		return fmt.Errorf("burstModel is %s: burstIOPS and burstMBps must be %s", t.BurstModel, map[bool]string{true: "empty", false: "given"}[t.BurstModel == BurstNone])
	}
	if (t.MaxBurstMinutes != nil) != (t.BurstModel == BurstCredit) {
		return errors.New("maxBurstMinutes goes with burstModel credit, and with no other")
	}
	return errors.Join(
		wholeRate("base", &t.Base), wholeRate("burst", t.Burst), wholeRate("performancePlus", t.PerformancePlus),
		notBelow("burst", t.Burst, &t.Base), notBelow("performancePlus", t.PerformancePlus, &t.Base),
		wholeSource(t.Source),
	)
}

// notBelow refuses a limit that should be the higher one and is not.
func notBelow(name string, high, low *Rate) error {
	if high != nil && low != nil && (high.IOPS < low.IOPS || high.BytesPerSecond < low.BytesPerSecond) {
		return fmt.Errorf("%s is below what it should exceed: %d IOPS and %s MB/s, against %d and %s", name,
			high.IOPS, formatMBps(high.BytesPerSecond), low.IOPS, formatMBps(low.BytesPerSecond))
	}
	return nil
}

// skuList is a column of SKUs with semicolons between them.
func skuList[R any](name string, field func(*R) *[]SKU) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			for name := range strings.SplitSeq(cell, ";") {
				sku := SKU(strings.TrimSpace(name))
				if _, ok := sku.Family(); !ok {
					return fmt.Errorf("unknown SKU %q: use %s", sku, listed(SKUs()))
				}
				*field(row) = append(*field(row), sku)
			}
			return nil
		},
		format: func(row R) string {
			var names []string
			for _, sku := range *field(&row) {
				names = append(names, string(sku))
			}
			return strings.Join(names, ";")
		},
	}
}

// ioUnit is a column of KiB that is kept in bytes.
func ioUnit[R any](name string, field func(*R) *int64) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			n, err := parseInteger(cell)
			*field(row) = n * kibibyte
			return err
		},
		format: func(row R) string { return formatInteger(*field(&row) / kibibyte) },
	}
}

// ruleNames are the rules that may be given, with whether their value is a number. Those of code are
// read by name (see rules.go); the others are kept for people.
var ruleNames = map[string]bool{
	ruleMinSize: true, ruleMaxSize: true, ruleFreeIOPS: true, ruleFreeMBps: true, ruleMinIOPS: true, ruleMinMBps: true,
	ruleIOPSPerGiB: true, ruleIOPSPerGiBAbove6: true, ruleMaxIOPS: true, ruleMBpsPerIOPS: true, ruleMaxMBps: true,
	rulePerformancePlusMin:             true,
	"onDemandBurstMinSizeGiBExclusive": true, "burstCreditMinutesAtMax": true, "defaultSectorBytes": true,
	"minSizeForMaxIOPSGiB": true, "minIOPSForMaxMBps": true, "performanceChangesPer24h": true,
	"billingGranularityGiB": true, "ioUnitKiB": true, "maxMBpsOld": true, "maxIOPSPerGiBOld": true,
	"aksDocMinIOPSPerGiB": true,
	"hostCaching":         false, "latency": false, "csiDefaultIOPS": false, "csiDefaultMBps": false,
}

var rules = table[Rule]{
	columns: slices.Concat(
		require(
			text("sku", func(r *Rule) *string { return &r.SKU }),
			text("rule", func(r *Rule) *string { return &r.Name }),
			text("value", func(r *Rule) *string { return &r.Value }),
		),
		sourceColumns(func(r *Rule) *Source { return &r.Source }),
	),
	check:  checkRule,
	key:    func(r Rule) string { return r.SKU + "\x00" + r.Name },
	source: func(r *Rule) *Source { return &r.Source },
}

func checkRule(r Rule) error {
	number, ok := ruleNames[r.Name]
	if !ok {
		return fmt.Errorf("unknown rule %q", r.Name)
	}
	if !slices.ContainsFunc(SKUs(), r.covers) {
		return fmt.Errorf("unknown SKU %q: use %s, or the begin of several with a * behind it", r.SKU, listed(SKUs()))
	}
	if number {
		if _, err := parseDecimal(r.Value); err != nil {
			return fmt.Errorf("rule %s: %w", r.Name, err)
		}
	}
	return wholeSource(r.Source)
}

var ultraCaps = table[UltraCap]{
	columns: slices.Concat(
		require(integer("sizeGiB", func(c *UltraCap) *int64 { return &c.SizeGiB })),
		require(rate("max", "IOPS", "MBps", func(c *UltraCap) **Rate { return new(&c.Max) })...),
		sourceColumns(func(c *UltraCap) *Source { return &c.Source }),
	),
	check:  func(c UltraCap) error { return wholeSource(c.Source) },
	key:    func(c UltraCap) string { return fmt.Sprintf("%09d", c.SizeGiB) },
	source: func(c *UltraCap) *Source { return &c.Source },
}

// priceUnits are the units that each kind of price may have: costs are computed from no other.
var priceUnits = map[PriceKind][]Unit{
	Capacity:              {PerMonth, PerGiBHour},
	ProvisionedIOPS:       {PerHour},
	ProvisionedThroughput: {PerHour},
	Transactions:          {Per10K},
	BurstEnablement:       {PerMonth},
	BurstTransactions:     {Per10K},
	SharedMount:           {PerMonth},
	ReservationOneYear:    {PerYear},
	VMReservation:         {PerHour},
}

var prices = table[Price]{
	columns: slices.Concat(
		require(
			region("region", func(p *Price) *string { return &p.Region }),
			text("currency", func(p *Price) *string { return &p.Currency }),
			choice("sku", SKUs(), func(p *Price) *SKU { return &p.SKU }),
		),
		[]column[Price]{text("tier", func(p *Price) *string { return &p.Tier })},
		require(choice("kind", []PriceKind{
			Capacity, ProvisionedIOPS, ProvisionedThroughput, Transactions, BurstEnablement, BurstTransactions,
			SharedMount, ReservationOneYear, VMReservation,
		}, func(p *Price) *PriceKind { return &p.Kind })),
		[]column[Price]{
			text("meterName", func(p *Price) *string { return &p.MeterName }),
			text("productName", func(p *Price) *string { return &p.ProductName }),
			text("meterSkuName", func(p *Price) *string { return &p.MeterSKU }),
		},
		require(choice("unit", []Unit{PerMonth, PerHour, PerGiBHour, PerYear, Per10K}, func(p *Price) *Unit { return &p.Unit })),
		[]column[Price]{
			amount("price", func(p *Price) **decimal.Decimal { return &p.Amount }),
			integer("freeUnits", func(p *Price) *int64 { return &p.FreeUnits }),
		},
		require(choice("confidence", []Confidence{High, Medium, None}, func(p *Price) *Confidence { return &p.Confidence })),
		sourceColumns(func(p *Price) *Source { return &p.Source }),
		maintainersOnly(text("note", func(p *Price) *string { return &p.Note })),
	),
	check:  checkPrice,
	key:    priceKey,
	source: func(p *Price) *Source { return &p.Source },
}

func priceKey(p Price) string {
	return strings.Join([]string{p.Region, p.Currency, string(p.SKU), p.Tier, string(p.Kind)}, "\x00")
}

func checkPrice(p Price) error {
	if !currencyCode.MatchString(p.Currency) {
		return fmt.Errorf("currency %q is no ISO 4217 code of three capital letters, such as USD", p.Currency)
	}
	if !slices.Contains(priceUnits[p.Kind], p.Unit) {
		return fmt.Errorf("the unit of kind %s is %s, not %s", p.Kind, listed(priceUnits[p.Kind]), p.Unit)
	}
	if (p.Amount == nil) != (p.Confidence == None) {
		return errors.New("confidence none goes with an empty price: leave the price empty only while it is unknown")
	}
	return errors.Join(checkPriceTier(p), wholeSource(p.Source))
}

// checkPriceTier tells what bills by tier from what bills by unit.
func checkPriceTier(p Price) error {
	family, _ := p.SKU.Family()
	switch p.Kind {
	case Capacity, ReservationOneYear, SharedMount:
		if family.Tiered() != (p.Tier != "") {
			return fmt.Errorf("%s bills %s", p.SKU, map[bool]string{true: "by tier: give the tier", false: "by GiB: leave the tier empty"}[family.Tiered()])
		}
		if family.Tiered() == (p.Unit == PerGiBHour) {
			return fmt.Errorf("%s does not bill by %s", p.SKU, p.Unit)
		}
	default:
	}
	return nil
}

// region is a column of region names in Azure's short form.
func region[R any](name string, field func(*R) *string) column[R] {
	c := text(name, field)
	c.parse = func(cell string, row *R) error {
		if cell != NormalizeRegion(cell) {
			return fmt.Errorf("%q is no region in Azure's short form: write it as %q", cell, NormalizeRegion(cell))
		}
		*field(row) = cell
		return nil
	}
	return c
}

// NormalizeRegion turns a display name such as "West Europe" into the short form, westeurope.
func NormalizeRegion(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}

// amount is a column of money, nil while unknown.
func amount[R any](name string, field func(*R) **decimal.Decimal) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			d, err := parseDecimal(cell)
			*field(row) = &d
			return err
		},
		format: func(row R) string {
			if d := *field(&row); d != nil {
				return d.String()
			}
			return ""
		},
	}
}

var vms = table[VM]{
	columns: slices.Concat(
		require(text("vmSize", func(v *VM) *string { return &v.Size })),
		[]column[VM]{
			choice("controller", []Controller{SCSI, NVMe}, func(v *VM) *Controller { return &v.Controller }),
			optionalInteger("vCPU", func(v *VM) **int64 { return &v.VCPU }),
			optionalInteger("maxDataDisks", func(v *VM) **int64 { return &v.MaxDataDisks }),
		},
		rate("uncached", "IOPS", "MBps", func(v *VM) **Rate { return &v.Uncached }),
		rate("burst", "IOPS", "MBps", func(v *VM) **Rate { return &v.Burst }),
		rate("cached", "IOPS", "MBps", func(v *VM) **Rate { return &v.Cached }),
		rate("v2UltraUncached", "IOPS", "MBps", func(v *VM) **Rate { return &v.V2Ultra }),
		rate("v2UltraBurst", "IOPS", "MBps", func(v *VM) **Rate { return &v.V2UltraBurst }),
		require(choice("quality", []Quality{Doc, Driver, SKUAPI}, func(v *VM) *Quality { return &v.Quality })),
		[]column[VM]{flag("disputed", func(v *VM) *bool { return &v.Disputed })},
		sourceColumns(func(v *VM) *Source { return &v.Source }),
		maintainersOnly(text("note", func(v *VM) *string { return &v.Note })),
	),
	check:  checkVM,
	key:    vmKey,
	source: func(v *VM) *Source { return &v.Source },
}

// vmKey tells rows of one file apart. Quality is part of it, so that a source can be kept beside
// a better one.
func vmKey(v VM) string {
	return strings.Join([]string{strings.ToLower(v.Size), string(v.Controller), string(v.Quality)}, "\x00")
}

// checkVM lets bursts be equal to base limits, as they are for the largest sizes.
func checkVM(v VM) error {
	return errors.Join(
		wholeRate("uncached", v.Uncached), wholeRate("burst", v.Burst), wholeRate("cached", v.Cached),
		wholeRate("v2UltraUncached", v.V2Ultra), wholeRate("v2UltraBurst", v.V2UltraBurst),
		notBelow("burst", v.Burst, v.Uncached), notBelow("v2UltraBurst", v.V2UltraBurst, v.V2Ultra),
		wholeSource(v.Source),
	)
}

// flag is a column that says yes or is empty.
func flag[R any](name string, field func(*R) *bool) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			if cell != "yes" {
				return fmt.Errorf("%q is not yes: write yes, or leave the cell empty", cell)
			}
			*field(row) = true
			return nil
		},
		format: func(row R) string {
			if *field(&row) {
				return "yes"
			}
			return ""
		},
	}
}

// namedSource is a row of sources.csv, which only generated sets have.
type namedSource struct {
	ID     string
	Source Source
}

var sources = table[namedSource]{
	columns: slices.Concat(
		require(text("id", func(s *namedSource) *string { return &s.ID })),
		sourceColumns(func(s *namedSource) *Source { return &s.Source }),
	),
	check:  func(s namedSource) error { return wholeSource(s.Source) },
	key:    func(s namedSource) string { return s.ID },
	source: func(s *namedSource) *Source { return &s.Source },
}
