// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cost computes what a disk costs a month, what a run of it cost, and from which rate on
// Standard SSD is dearer than Premium SSD. It is pure: prices come from the catalog, the time from the
// caller, and money is decimal throughout.
//
// An unknown price is absent from the lines, named in Unknown, and leaves the sums that need it unknown.
// It is never 0, so that a disk without a price is never the cheapest.
package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

const (
	// hoursPerMonth is what Azure's price pages count as a month.
	hoursPerMonth = 730
	// transactionsPerUnit: transactions are priced by the 10,000.
	transactionsPerUnit = 10_000
	secondsPerHour      = 3600
	// oldAfter is the age from which prices are warned of (judgment: list prices change about once a year,
	// and rates of currencies monthly).
	oldAfter = 90 * 24 * time.Hour
	// maxUnitsPerIO of Standard HDD S70 and S80 (Azure's documentation of billing, 2026).
	maxUnitsPerIO = 16
)

// Use is how a volume is used, for what is billed by transactions.
type Use struct {
	// IOPS of the volume when it is busy at its full rate; nil while unknown.
	IOPS *int64
	// BlockSizeBytes of these I/Os: an I/O above the tier's unit counts as several.
	BlockSizeBytes int64
	// BusyHoursPercent is the share of hours with I/O, and RateWhenBusyPercent the share of IOPS in such an
	// hour; nil for 100. They are two figures, because an hour's bill is capped: 20% of the rate always
	// can cost five times as much as the full rate in 20% of the hours.
	BusyHoursPercent    *int64
	RateWhenBusyPercent *int64
}

// Reservation is a commitment to keep a disk.
type Reservation string

// The reservations.
const (
	NoReservation Reservation = "None"
	// OneYear is offered for P30 to P80.
	OneYear Reservation = "OneYear"
)

// Run is one benchmark on the volume.
type Run struct {
	// AttachedSeconds since the first attach.
	AttachedSeconds int64
	// IOs that the run made, with their block size; nil while unknown.
	IOs            *int64
	BlockSizeBytes int64
}

// Options say what to price, and how.
type Options struct {
	// Region to price in; empty for the disk's.
	Region string
	// Currency is an ISO 4217 code; empty for USD.
	Currency string
	// Disks of this kind that make up the volume; 0 is 1. Use is that of all of them together.
	Disks int64
	Use   Use
	// DiscountPercent is taken off every price.
	DiscountPercent int64
	Reservation     Reservation
	// FleetSize is how many such volumes there are; 0 is 1.
	FleetSize int64
	// CostPerMonth is the user's own figure for the volume, which counts where there is no catalog.
	CostPerMonth *decimal.Decimal
	// SustainedIOPS of the volume, for the price of 1,000 of them; 0 while unknown.
	SustainedIOPS int64
	// Run that is priced apart; nil for none.
	Run *Run
	// Now is the time to which the age of prices is counted.
	Now time.Time
}

// Item is what a line is for.
type Item string

// The items, in their order.
const (
	ItemCapacity          Item = "Capacity"
	ItemReservation       Item = "Reservation"
	ItemIOPS              Item = "ProvisionedIOPS"
	ItemThroughput        Item = "ProvisionedThroughput"
	ItemTransactions      Item = "Transactions"
	ItemBurstEnablement   Item = "BurstEnablement"
	ItemBurstTransactions Item = "BurstTransactions"
	ItemUserFigure        Item = "UserFigure"
)

// Line is a part of a month's price.
type Line struct {
	Item Item
	// Quantity of Unit, each for UnitPrice before the discount.
	Quantity  decimal.Decimal
	Unit      catalog.Unit
	UnitPrice decimal.Decimal
	// Exact amount after the discount. Exact amounts add up to the exact sum.
	Exact decimal.Decimal
	// Amount as people read it: in cents, so rounded that the lines add up to the rounded sum.
	Amount string
	Source catalog.Source
}

// Unknown is a part of the price that is not known.
type Unknown struct {
	Item Item
	// Why, as a sentence.
	Why string
}

// Reason is the kind of a warning, for code.
type Reason string

// The reasons of warnings.
const (
	// PricesOld: a price is, or can be, older than 90 days.
	PricesOld Reason = "PricesOld"
	// PriceUnknown: a part of the price is not known, so the sum is not.
	PriceUnknown Reason = "PriceUnknown"
	// ReservationNotOffered: there is none for the disk, which is priced without.
	ReservationNotOffered Reason = "ReservationNotOffered"
)

// Warning is something to know when an estimate is used.
type Warning struct {
	Reason  Reason
	Message string
}

// Estimate is a month's price of a volume.
type Estimate struct {
	Currency string
	Region   string
	// Lines of the month at the given use.
	Lines   []Line
	Unknown []Unknown
	// PerMonth is the sum of the lines; nil while a part is unknown.
	PerMonth *decimal.Decimal
	// KnownPerMonth is the sum of what is known: a lower bound.
	KnownPerMonth decimal.Decimal
	// TransactionsAtCap and PerMonthAtCap are the same month with every hour at the cap on billed
	// transactions: the most it can cost. Nil while unknown, and the month itself where transactions are
	// free.
	TransactionsAtCap *decimal.Decimal
	PerMonthAtCap     *decimal.Decimal
	// FleetPerMonth is PerMonth times the fleet.
	FleetPerMonth *decimal.Decimal
	// PerThousandIOPS is PerMonth for 1,000 sustained IOPS. Compare it within one workload only.
	PerThousandIOPS *decimal.Decimal
	// Run is what the run cost; nil while unknown, and without a run.
	Run *RunCost
	// OldestPrice is the earliest date of the prices used.
	OldestPrice catalog.Date
	Sources     []catalog.Source
	NotIncluded []string
	Warnings    []Warning
}

// RunCost is what one run cost.
type RunCost struct {
	// Prorated by the second, and AtMost by whole hours, as Azure may bill it.
	Prorated decimal.Decimal
	AtMost   decimal.Decimal
}

// Monthly computes a month's price of a volume of the disk.
func Monthly(c catalog.Catalog, d disk.Disk, o Options) Estimate {
	o = o.withDefaults(d)
	e := estimator{catalog: c, disk: d, options: o, estimate: Estimate{Currency: o.Currency, Region: o.Region, NotIncluded: notIncluded(d)}}
	e.addLines()
	e.sum()
	e.addRun()
	e.warnOfAge()
	return e.estimate
}

func (o Options) withDefaults(d disk.Disk) Options {
	if o.Region == "" {
		o.Region = d.Region
	}
	o.Region = catalog.NormalizeRegion(o.Region)
	if o.Currency == "" {
		o.Currency = "USD"
	}
	o.Disks, o.FleetSize = max(o.Disks, 1), max(o.FleetSize, 1)
	return o
}

// Format writes money for people: two decimal places, or as many as show two digits of an amount below
// a cent.
func Format(amount decimal.Decimal) string {
	cent := decimal.New(1, -2)
	if amount.IsZero() || amount.Abs().GreaterThanOrEqual(cent) {
		return amount.StringFixed(2)
	}
	places := int32(3)
	for amount.Shift(places).Abs().LessThan(decimal.NewFromInt(10)) {
		places++
	}
	return amount.StringFixed(places)
}

// notIncluded lists what an estimate leaves out.
func notIncluded(d disk.Disk) []string {
	list := []string{"the VM", "snapshots", "backup", "network traffic"}
	if d.Family == catalog.Ultra {
		list = append(list, "the fee per vCPU while a VM is Ultra-enabled and has no Ultra disk attached")
	}
	if d.MaxShares > 1 {
		list = append(list, "further mounts of a shared disk")
	}
	return list
}
