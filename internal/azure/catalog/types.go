// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// SKU is the kind of a managed disk as Azure spells it, such as Premium_LRS. Case counts.
type SKU string

// The SKUs that the catalog knows.
const (
	PremiumLRS     SKU = "Premium_LRS"
	PremiumZRS     SKU = "Premium_ZRS"
	StandardSSDLRS SKU = "StandardSSD_LRS"
	StandardSSDZRS SKU = "StandardSSD_ZRS"
	StandardLRS    SKU = "Standard_LRS"
	PremiumV2LRS   SKU = "PremiumV2_LRS"
	UltraSSDLRS    SKU = "UltraSSD_LRS"
)

// Family is what SKUs of the same performance have in common. Redundancy changes prices and latency,
// not limits.
type Family string

// The families.
const (
	PremiumSSD  Family = "PremiumSSD"
	StandardSSD Family = "StandardSSD"
	StandardHDD Family = "StandardHDD"
	PremiumV2   Family = "PremiumV2"
	Ultra       Family = "Ultra"
)

var families = map[SKU]Family{
	PremiumLRS: PremiumSSD, PremiumZRS: PremiumSSD,
	StandardSSDLRS: StandardSSD, StandardSSDZRS: StandardSSD,
	StandardLRS:  StandardHDD,
	PremiumV2LRS: PremiumV2,
	UltraSSDLRS:  Ultra,
}

// SKUs are all that the catalog knows, sorted.
func SKUs() []SKU {
	var skus []SKU
	for sku := range families {
		skus = append(skus, sku)
	}
	slices.Sort(skus)
	return skus
}

// Family of the SKU; false for one that the catalog does not know.
func (s SKU) Family() (Family, bool) {
	f, ok := families[s]
	return f, ok
}

// Redundancy is LRS or ZRS: the copies of a disk are in one zone or in three.
type Redundancy string

// The redundancies.
const (
	LRS Redundancy = "LRS"
	ZRS Redundancy = "ZRS"
)

// Redundancy of the SKU, from the end of its name.
func (s SKU) Redundancy() Redundancy {
	if strings.HasSuffix(string(s), "_ZRS") {
		return ZRS
	}
	return LRS
}

// Tiered tells whether disks of the family perform and bill by tier, rather than by what is
// provisioned.
func (f Family) Tiered() bool {
	return f == PremiumSSD || f == StandardSSD || f == StandardHDD
}

// Rate is a limit. Azure's MB/s are decimal: 100 MB/s is 100,000,000 bytes per second.
type Rate struct {
	IOPS           int64
	BytesPerSecond int64
}

// Source is the public place that a row was read from, and the date of that place.
type Source struct {
	Reference string
	Date      Date
}

// BurstModel is how a tier exceeds its base figures.
type BurstModel string

// The burst models.
const (
	// BurstNone: it does not.
	BurstNone BurstModel = "none"
	// BurstCredit: free of charge while saved credits last, on by default.
	BurstCredit BurstModel = "credit"
	// BurstOnDemand: without end, for a fee and a charge per transaction, off by default.
	BurstOnDemand BurstModel = "on-demand"
)

// Tier is a size of Premium SSD, Standard SSD or Standard HDD. A disk between two sizes performs and
// bills as the next one up.
type Tier struct {
	Name    string
	Family  Family
	SKUs    []SKU
	SizeGiB int64
	Base    Rate

	BurstModel BurstModel
	// Burst is nil without bursting.
	Burst *Rate
	// MaxBurstMinutes at the full burst rate from a full bucket; nil without credits.
	MaxBurstMinutes *int64
	// PerformancePlus is the base rate with Performance Plus; nil where it is not offered.
	PerformancePlus *Rate

	// CanUpgradeTo are the performance tiers it can be set to, as published.
	CanUpgradeTo string
	// IOUnitBytes is the size up to which an I/O counts as one in billing.
	IOUnitBytes int64
	MaxShares   int64
	// MaxBilledPerHour are the most transactions that an hour bills; nil where not published, and where
	// transactions are free of charge.
	MaxBilledPerHourLRS *int64
	MaxBilledPerHourZRS *int64

	Source Source
	Note   string
}

// MaxBilledPerHour are the most transactions that are billed for an hour; false where that is not
// published.
func (t Tier) MaxBilledPerHour(r Redundancy) (int64, bool) {
	if r == ZRS {
		return known(t.MaxBilledPerHourZRS)
	}
	return known(t.MaxBilledPerHourLRS)
}

// Rule is one published rule of a SKU, such as freeIOPS of PremiumV2_LRS.
type Rule struct {
	// SKU may end in *, for all SKUs that begin like it.
	SKU string
	// Name is one of ruleNames.
	Name string
	// Value as published: a number for most rules, a phrase for some.
	Value  string
	Source Source
}

// UltraCap is the published maximum of an Ultra disk of a size.
type UltraCap struct {
	SizeGiB int64
	Max     Rate
	Source  Source
}

// PriceKind is what a price is for.
type PriceKind string

// The price kinds, with their usual unit.
const (
	// Capacity: a disk of a tier for a month, or a GiB for an hour.
	Capacity PriceKind = "Capacity"
	// ProvisionedIOPS above the free ones, each for an hour.
	ProvisionedIOPS PriceKind = "ProvisionedIOPS"
	// ProvisionedThroughput above the free one, each MB/s for an hour.
	ProvisionedThroughput PriceKind = "ProvisionedThroughput"
	// Transactions, 10,000 of them.
	Transactions PriceKind = "Transactions"
	// BurstEnablement is the monthly fee of on-demand bursting.
	BurstEnablement PriceKind = "BurstEnablement"
	// BurstTransactions of on-demand bursting, 10,000 of them.
	BurstTransactions PriceKind = "BurstTransactions"
	// SharedMount: each further mount of a shared disk, for a month.
	SharedMount PriceKind = "SharedMount"
	// ReservationOneYear: a disk of a tier for a year, paid as a whole.
	ReservationOneYear PriceKind = "ReservationOneYear"
	// VMReservation: a vCPU for an hour, due while a VM is Ultra-enabled without an Ultra disk.
	VMReservation PriceKind = "VMReservation"
)

// Unit is what a price counts.
type Unit string

// The units, as the Retail Prices API spells them.
const (
	PerMonth   Unit = "1/Month"
	PerHour    Unit = "1/Hour"
	PerGiBHour Unit = "1 GiB/Hour"
	PerYear    Unit = "1 Year"
	Per10K     Unit = "10K"
)

// Confidence is how sure a price is.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	// None: the meter is known and its price is not.
	None Confidence = "none"
)

// Price is one meter in one region.
type Price struct {
	// Region in Azure's short form, such as westeurope.
	Region string
	// Currency is an ISO 4217 code.
	Currency string
	SKU      SKU
	// Tier is empty for prices of all sizes.
	Tier string
	Kind PriceKind
	// MeterName, ProductName and MeterSKU identify the meter in the Retail Prices API.
	MeterName   string
	ProductName string
	MeterSKU    string
	Unit        Unit
	// Amount in Currency for one Unit; nil while unknown.
	Amount *decimal.Decimal
	// FreeUnits are not charged: 3,000 IOPS and 125 MB/s of Premium SSD v2.
	FreeUnits  int64
	Confidence Confidence
	Source     Source
	Note       string
}

// Controller is how a VM sees its data disks: /dev/sd* or /dev/nvme*.
type Controller string

// The controllers. The empty one means that limits are the same with both, or that it is unknown.
const (
	SCSI Controller = "SCSI"
	NVMe Controller = "NVMe"
)

// Quality ranks the sources of VM limits.
type Quality string

// The qualities, best first. A user's override is of quality doc in all that follows.
const (
	// Doc: Microsoft's documentation of the series.
	Doc Quality = "doc"
	// Driver: the list in the CSI driver, of the disks a size can take.
	Driver Quality = "driver"
	// SKUAPI: a listing of the platform's SKU API, in which MB/s are rounded.
	SKUAPI Quality = "sku-api"
)

// VM is what one VM size can do with disks. Limits hold for all data disks of a node together.
type VM struct {
	Size         string
	Controller   Controller
	VCPU         *int64
	MaxDataDisks *int64
	// Uncached is the limit of I/O that goes to disks.
	Uncached *Rate
	// Burst is the same while the VM's credits last.
	Burst *Rate
	// Cached is the limit of host cache hits, published for v3 and older series only.
	Cached *Rate
	// V2Ultra and V2UltraBurst hold for Premium SSD v2 and Ultra disks, on sizes that have limits of
	// their own for them.
	V2Ultra      *Rate
	V2UltraBurst *Rate
	Quality      Quality
	// Disputed: documentation and SKU API differ by more than rounding.
	Disputed bool
	Source   Source
	Note     string
}

// Limits are the uncached limit for disks of a family and its burst; nil where unknown.
func (v VM) Limits(f Family) (base, burst *Rate) {
	if (f == PremiumV2 || f == Ultra) && v.V2Ultra != nil {
		return v.V2Ultra, v.V2UltraBurst
	}
	return v.Uncached, v.Burst
}

// known turns a pointer into (value, true), and nil into (zero, false).
func known[T any](p *T) (T, bool) {
	if p == nil {
		var zero T
		return zero, false
	}
	return *p, true
}
