// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// estimator collects the parts of one estimate.
type estimator struct {
	catalog  catalog.Catalog
	disk     disk.Disk
	options  Options
	estimate Estimate
}

func (e *estimator) addLines() {
	switch {
	case e.disk.Coverage != disk.Covered && e.options.CostPerMonth != nil:
		e.addUserFigure(*e.options.CostPerMonth)
	case e.disk.Coverage == disk.OtherDriver:
		e.unknown(ItemCapacity, "there are no prices for disks of %s: give costPerMonth", e.disk.Driver)
	case e.disk.Coverage != disk.Covered:
		e.unknown(ItemCapacity, "SKU, size or provisioned performance of the disk are unknown (%s)", e.disk.Coverage)
	case e.disk.Tier != nil:
		e.addTier(*e.disk.Tier)
	default:
		e.addProvisioned(*e.disk.Base)
	}
}

// addUserFigure is the only line without a catalog. The user's figure is net: no discount applies.
func (e *estimator) addUserFigure(perMonth decimal.Decimal) {
	e.estimate.Lines = append(e.estimate.Lines, Line{Item: ItemUserFigure, Quantity: decimal.NewFromInt(1), Unit: catalog.PerMonth, UnitPrice: perMonth, Exact: perMonth,
		Source: catalog.Source{Reference: "costPerMonth"}})
}

func (e *estimator) addTier(tier catalog.Tier) {
	e.addTierCapacity(tier)
	if bills(tier) {
		e.addTransactions(tier)
	}
	if e.disk.Bursting == catalog.BurstOnDemand {
		e.add(ItemBurstEnablement, catalog.BurstEnablement, "", e.disks())
		e.addBurstTransactions(tier)
	}
}

// bills tells whether transactions of a tier cost anything: those of Premium SSD do not.
func bills(tier catalog.Tier) bool { return tier.Family != catalog.PremiumSSD }

func (e *estimator) addTierCapacity(tier catalog.Tier) {
	if e.options.Reservation == OneYear {
		if e.offersReservation(tier) {
			monthly := e.disks().Div(decimal.NewFromInt(12))
			e.add(ItemReservation, catalog.ReservationOneYear, tier.Name, monthly)
			return
		}
		e.warn(ReservationNotOffered, "there is no reservation for %s of %s, only for P30 to P80: priced without", tier.Name, e.disk.SKU)
	}
	e.add(ItemCapacity, catalog.Capacity, tier.Name, e.disks())
}

// minReservedGiB is the size of P30, from which on disks can be reserved.
const minReservedGiB = 1024

func (e *estimator) offersReservation(tier catalog.Tier) bool {
	return tier.Family == catalog.PremiumSSD && tier.SizeGiB >= minReservedGiB
}

func (e *estimator) addProvisioned(rate catalog.Rate) {
	if e.options.Reservation == OneYear {
		e.warn(ReservationNotOffered, "there is no reservation for %s: priced without", e.disk.SKU)
	}
	rules, _ := e.catalog.Provisioned(e.disk.Family)
	diskHours := e.disks().Mul(decimal.NewFromInt(hoursPerMonth))
	e.add(ItemCapacity, catalog.Capacity, "", decimal.NewFromInt(e.disk.SizeGiB).Mul(diskHours))
	e.addAboveFree(ItemIOPS, catalog.ProvisionedIOPS, decimal.NewFromInt(rate.IOPS), decimal.NewFromInt(rules.Free.IOPS), diskHours)
	e.addAboveFree(ItemThroughput, catalog.ProvisionedThroughput, decimal.New(rate.BytesPerSecond, -6), decimal.New(rules.Free.BytesPerSecond, -6), diskHours)
}

// addAboveFree prices what is above the free units of each disk, which are those of the rules, or of the
// price where it has more. No line when there is nothing.
func (e *estimator) addAboveFree(item Item, kind catalog.PriceKind, perDisk, free, diskHours decimal.Decimal) {
	p, ok := e.price(item, kind, "")
	if !ok {
		return
	}
	free = decimal.Max(free, decimal.NewFromInt(p.FreeUnits))
	if paid := perDisk.Sub(free); paid.IsPositive() {
		e.line(item, p, paid.Mul(diskHours))
	}
}

// addTransactions adds the line of the given use, and the sum at the cap apart.
func (e *estimator) addTransactions(tier catalog.Tier) {
	p, ok := e.price(ItemTransactions, catalog.Transactions, "")
	if !ok {
		return
	}
	capped, ok := tier.MaxBilledPerHour(e.disk.Redundancy)
	if !ok {
		e.unknown(ItemTransactions, "the cap on billed transactions of %s is not published", tier.Name)
		return
	}
	mostPerMonth := decimal.NewFromInt(capped).Mul(e.disks()).Mul(decimal.NewFromInt(hoursPerMonth))
	e.estimate.TransactionsAtCap = new(e.discounted(mostPerMonth.Div(decimal.NewFromInt(transactionsPerUnit)).Mul(*p.Amount)))
	if e.options.Use.IOPS == nil {
		e.unknown(ItemTransactions, "the rate of I/O is not known")
		return
	}
	perDiskHour := decimal.Min(e.transactionsPerDiskHour(tier), decimal.NewFromInt(capped))
	e.line(ItemTransactions, p, e.inBusyHours(perDiskHour).Div(decimal.NewFromInt(transactionsPerUnit)))
}

// transactionsPerDiskHour are those of an hour that is busy, before the cap.
func (e *estimator) transactionsPerDiskHour(tier catalog.Tier) decimal.Decimal {
	return e.perDiskSecond().Mul(decimal.NewFromInt(secondsPerHour * billedUnits(tier, e.options.Use.BlockSizeBytes)))
}

// perDiskSecond are the I/Os of a second that is busy.
func (e *estimator) perDiskSecond() decimal.Decimal {
	return decimal.NewFromInt(*e.options.Use.IOPS).Mul(percent(e.options.Use.RateWhenBusyPercent)).Div(e.disks())
}

// inBusyHours is a month of so much an hour and disk.
func (e *estimator) inBusyHours(perDiskHour decimal.Decimal) decimal.Decimal {
	return perDiskHour.Mul(e.disks()).Mul(decimal.NewFromInt(hoursPerMonth)).Mul(percent(e.options.Use.BusyHoursPercent))
}

// percent is a share from 0 to 1; nil is all of it.
func percent(p *int64) decimal.Decimal {
	if p == nil {
		return decimal.NewFromInt(1)
	}
	return decimal.New(*p, -2)
}

// billedUnits are the transactions of one I/O.
func billedUnits(tier catalog.Tier, blockSize int64) int64 {
	units := max(1, (blockSize+tier.IOUnitBytes-1)/tier.IOUnitBytes)
	if tier.Name == "S70" || tier.Name == "S80" {
		return min(units, maxUnitsPerIO)
	}
	return units
}

// addBurstTransactions of on-demand bursting are the I/Os above the base, of IOPS or of throughput.
func (e *estimator) addBurstTransactions(tier catalog.Tier) {
	p, ok := e.price(ItemBurstTransactions, catalog.BurstTransactions, "")
	if !ok {
		return
	}
	if e.options.Use.IOPS == nil {
		e.unknown(ItemBurstTransactions, "the rate of I/O is not known")
		return
	}
	if over := e.aboveBasePerDiskHour(tier); over.IsPositive() {
		e.line(ItemBurstTransactions, p, e.inBusyHours(over).Div(decimal.NewFromInt(transactionsPerUnit)))
	}
}

// aboveBasePerDiskHour are the transactions of a busy hour that go past the disk's base: of those past its
// throughput, each is a full unit.
func (e *estimator) aboveBasePerDiskHour(tier catalog.Tier) decimal.Decimal {
	ofIOPS := e.transactionsPerDiskHour(tier).Sub(decimal.NewFromInt(e.disk.Base.IOPS * secondsPerHour))
	bytesPerSecond := e.perDiskSecond().Mul(decimal.NewFromInt(e.options.Use.BlockSizeBytes))
	ofThroughput := bytesPerSecond.Sub(decimal.NewFromInt(e.disk.Base.BytesPerSecond)).Mul(decimal.NewFromInt(secondsPerHour)).Div(decimal.NewFromInt(tier.IOUnitBytes))
	return decimal.Max(ofIOPS, ofThroughput)
}

// add looks up a price and adds a line of so many units.
func (e *estimator) add(item Item, kind catalog.PriceKind, tier string, quantity decimal.Decimal) {
	if p, ok := e.price(item, kind, tier); ok {
		e.line(item, p, quantity)
	}
}

func (e *estimator) price(item Item, kind catalog.PriceKind, tier string) (catalog.Price, bool) {
	p, ok := e.catalog.Price(e.options.Region, e.options.Currency, e.disk.SKU, tier, kind)
	if !ok {
		where := e.options.Region
		if where == "" {
			where = "an unknown region"
		}
		e.unknown(item, "the price of %s of %s is not known in %s in %s", kind, named(e.disk.SKU, tier), where, e.options.Currency)
		return catalog.Price{}, false
	}
	e.see(p)
	return p, true
}

func named(sku catalog.SKU, tier string) string {
	if tier == "" {
		return string(sku)
	}
	return tier + " " + string(sku)
}

// see remembers where a price is from, and how old it is.
func (e *estimator) see(p catalog.Price) {
	if !slices.Contains(e.estimate.Sources, p.Source) {
		e.estimate.Sources = append(e.estimate.Sources, p.Source)
	}
	if oldest := e.estimate.OldestPrice; oldest.IsZero() || p.Source.Date.Earliest().Before(oldest.Earliest()) {
		e.estimate.OldestPrice = p.Source.Date
	}
}

func (e *estimator) line(item Item, p catalog.Price, quantity decimal.Decimal) {
	e.estimate.Lines = append(e.estimate.Lines, Line{
		Item: item, Quantity: quantity, Unit: p.Unit, UnitPrice: *p.Amount, Exact: e.discounted(quantity.Mul(*p.Amount)), Source: p.Source,
	})
}

func (e *estimator) disks() decimal.Decimal { return decimal.NewFromInt(e.options.Disks) }

func (e *estimator) discounted(amount decimal.Decimal) decimal.Decimal {
	return amount.Mul(decimal.New(100-e.options.DiscountPercent, -2))
}

func (e *estimator) unknown(item Item, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	e.estimate.Unknown = append(e.estimate.Unknown, Unknown{Item: item, Why: why})
	e.warn(PriceUnknown, "%s", why)
}

func (e *estimator) warn(reason Reason, format string, args ...any) {
	e.estimate.Warnings = append(e.estimate.Warnings, Warning{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// sum adds up the lines, and writes their amounts so that the rounded ones add up as well: each is what
// its line adds to the rounded sum.
func (e *estimator) sum() {
	total := decimal.Zero
	for i, line := range e.estimate.Lines {
		before := total.Round(2)
		total = total.Add(line.Exact)
		e.estimate.Lines[i].Amount = Format(total.Round(2).Sub(before))
	}
	e.estimate.KnownPerMonth = total
	if e.onlyTransactionsUnknown() && e.estimate.TransactionsAtCap != nil {
		e.estimate.PerMonthAtCap = new(total.Sub(e.exact(ItemTransactions)).Add(*e.estimate.TransactionsAtCap))
	}
	if len(e.estimate.Unknown) > 0 {
		return
	}
	e.estimate.PerMonth = &total
	if e.estimate.TransactionsAtCap == nil {
		e.estimate.PerMonthAtCap = &total
	}
	e.estimate.FleetPerMonth = new(total.Mul(decimal.NewFromInt(e.options.FleetSize)))
	if e.options.SustainedIOPS > 0 {
		e.estimate.PerThousandIOPS = new(total.Mul(decimal.NewFromInt(1000)).Div(decimal.NewFromInt(e.options.SustainedIOPS)))
	}
}

func (e *estimator) onlyTransactionsUnknown() bool {
	return !slices.ContainsFunc(e.estimate.Unknown, func(u Unknown) bool { return u.Item != ItemTransactions })
}

// exact is the amount of an item; 0 without a line.
func (e *estimator) exact(item Item) decimal.Decimal {
	for _, line := range e.estimate.Lines {
		if line.Item == item {
			return line.Exact
		}
	}
	return decimal.Zero
}

// addRun prices the time since the first attach and the transactions of the run. A reservation does
// not count: it is for a disk that is kept. So the run is priced by an estimate without one.
func (e *estimator) addRun() {
	run := e.options.Run
	if run == nil || e.disk.Bursting == catalog.BurstOnDemand && e.disk.Coverage == disk.Covered {
		return // how many of a run's I/Os were above the base is not known
	}
	standing, ok := e.standing()
	if !ok {
		return
	}
	hour := standing.Div(decimal.NewFromInt(hoursPerMonth))
	hours := decimal.NewFromInt(run.AttachedSeconds).Div(decimal.NewFromInt(secondsPerHour))
	transactions, ok := e.runTransactions(*run, hours.Ceil())
	if !ok {
		return
	}
	e.estimate.Run = &RunCost{
		Prorated: hour.Mul(hours).Add(transactions),
		AtMost:   hour.Mul(hours.Ceil()).Add(transactions),
	}
}

// standing is a month's price without transactions and without a reservation; false while a part of it
// is unknown.
func (e *estimator) standing() (decimal.Decimal, bool) {
	o := e.options
	o.Run, o.Reservation, o.Use = nil, NoReservation, Use{IOPS: new(int64(0))}
	plain := estimator{catalog: e.catalog, disk: e.disk, options: o}
	plain.addLines()
	plain.sum()
	return plain.estimate.KnownPerMonth, plain.onlyTransactionsUnknown()
}

// runTransactions prices the I/Os of a run, at most as many as so many hours bill.
func (e *estimator) runTransactions(run Run, hours decimal.Decimal) (decimal.Decimal, bool) {
	if e.disk.Tier == nil || !bills(*e.disk.Tier) {
		return decimal.Zero, true
	}
	p, ok := e.catalog.Price(e.options.Region, e.options.Currency, e.disk.SKU, "", catalog.Transactions)
	if !ok || run.IOs == nil {
		return decimal.Zero, false
	}
	units := decimal.NewFromInt(*run.IOs).Mul(decimal.NewFromInt(billedUnits(*e.disk.Tier, run.BlockSizeBytes)))
	if capped, ok := e.disk.Tier.MaxBilledPerHour(e.disk.Redundancy); ok {
		units = decimal.Min(units, decimal.NewFromInt(capped).Mul(e.disks()).Mul(hours))
	}
	return e.discounted(units.Div(decimal.NewFromInt(transactionsPerUnit)).Mul(*p.Amount)), true
}

// warnOfAge takes the earliest day that a price's date can mean.
func (e *estimator) warnOfAge() {
	oldest := e.estimate.OldestPrice
	if len(e.estimate.Sources) > 0 && e.options.Now.Sub(oldest.Earliest()) > oldAfter {
		e.warn(PricesOld, "a price is from %s, and may be older than 90 days", dated(oldest))
	}
}

func dated(d catalog.Date) string {
	if d.IsZero() {
		return "an unknown date"
	}
	return d.String()
}
