// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// The products of managed disks in the API, spelled as it spells them: filters compare with case.
const (
	productPremium  = "Premium SSD Managed Disks"
	productStandard = "Standard SSD Managed Disks"
	productHDD      = "Standard HDD Managed Disks"
	productV2       = "Azure Premium SSD v2"
	productUltra    = "Ultra Disks"
)

// The values of priceType in a filter, which is type in an answer.
const (
	consumption = "Consumption"
	reservation = "Reservation"
	oneYear     = "1 Year"
)

// meter identifies a meter by exact names: `P10 LRS Disk Mount` has the skuName of `P10 LRS Disk`, and
// another price.
type meter struct {
	product, name, priceType string
}

// target is the catalog's price that a meter is.
type target struct {
	sku  catalog.SKU
	tier string
	kind catalog.PriceKind
	unit catalog.Unit
	// meterSKU is the skuName that the meter must have; empty for any.
	meterSKU string
}

// key is what the catalog tells prices apart by, within a region and a currency.
func (t target) key() string {
	return strings.Join([]string{string(t.sku), t.tier, string(t.kind)}, " ")
}

// meters are all that are looked for.
func meters(c catalog.Catalog) map[meter]target {
	all := map[meter]target{
		{productV2, "Premium LRS Provisioned Capacity", consumption}:              {catalog.PremiumV2LRS, "", catalog.Capacity, catalog.PerGiBHour, "Premium LRS"},
		{productV2, "Premium LRS Provisioned IOPS", consumption}:                  {catalog.PremiumV2LRS, "", catalog.ProvisionedIOPS, catalog.PerHour, "Premium LRS"},
		{productV2, "Premium LRS Provisioned Throughput (MBps)", consumption}:     {catalog.PremiumV2LRS, "", catalog.ProvisionedThroughput, catalog.PerHour, "Premium LRS"},
		{productUltra, "Ultra LRS Provisioned Capacity", consumption}:             {catalog.UltraSSDLRS, "", catalog.Capacity, catalog.PerGiBHour, "Ultra LRS"},
		{productUltra, "Ultra LRS Provisioned IOPS", consumption}:                 {catalog.UltraSSDLRS, "", catalog.ProvisionedIOPS, catalog.PerHour, "Ultra LRS"},
		{productUltra, "Ultra LRS Provisioned Throughput (MBps)", consumption}:    {catalog.UltraSSDLRS, "", catalog.ProvisionedThroughput, catalog.PerHour, "Ultra LRS"},
		{productUltra, "Ultra LRS Reservation per vCPU Provisioned", consumption}: {catalog.UltraSSDLRS, "", catalog.VMReservation, catalog.PerHour, "Ultra LRS"},
	}
	products := map[catalog.Family]string{catalog.PremiumSSD: productPremium, catalog.StandardSSD: productStandard, catalog.StandardHDD: productHDD}
	for family, product := range products {
		for _, tier := range c.Tiers(family) {
			for _, sku := range tier.SKUs {
				addTier(all, product, tier, sku)
			}
		}
	}
	return all
}

// addTier adds the meters of one tier and SKU.
func addTier(all map[meter]target, product string, tier catalog.Tier, sku catalog.SKU) {
	redundancy := string(sku.Redundancy())
	size := tier.Name + " " + redundancy
	all[meter{product, size + " Disk", consumption}] = target{sku, tier.Name, catalog.Capacity, catalog.PerMonth, size}
	all[meter{product, size + " Disk Mount", consumption}] = target{sku, tier.Name, catalog.SharedMount, catalog.PerMonth, size}
	if product == productPremium {
		all[meter{product, size + " Disk", reservation}] = target{sku, tier.Name, catalog.ReservationOneYear, catalog.PerYear, size}
		all[meter{product, redundancy + " Burst Enablement", consumption}] = target{sku, "", catalog.BurstEnablement, catalog.PerMonth, ""}
		all[meter{product, redundancy + " Burst Transactions", consumption}] = target{sku, "", catalog.BurstTransactions, catalog.Per10K, ""}
		return
	}
	// The price of transactions is one for all sizes. Bills show it under the disk's own size or, as E4 LRS
	// Disk Operations, under another: whichever is there counts.
	all[meter{product, size + " Disk Operations", consumption}] = target{sku, "", catalog.Transactions, catalog.Per10K, size}
}

// query is what is asked of the API: one product and type of price.
type query struct {
	product, priceType string
}

var queries = []query{
	{productPremium, consumption}, {productPremium, reservation}, {productStandard, consumption},
	{productHDD, consumption}, {productV2, consumption}, {productUltra, consumption},
}

// place is where and when prices were read.
type place struct {
	region, currency string
	// source is the address of the API.
	source string
	now    time.Time
}

// row is an item that was understood.
type row struct {
	meter     meter
	meterSKU  string
	price     decimal.Decimal
	minimum   decimal.Decimal
	effective time.Time
}

// toPrices turns items into the catalog's prices, sorted, and says what it had to leave out. Items of
// other regions, currencies, types, meters and dates are none of its business, and are not mentioned.
func toPrices(c catalog.Catalog, items []item, at place) (prices []catalog.Price, odd []string) {
	known := meters(c)
	byTarget := map[target][]row{}
	for _, i := range items {
		m, t, ok := match(known, i, at)
		if !ok {
			continue
		}
		r, err := read(i, m, t)
		if err != nil {
			odd = append(odd, fmt.Sprintf("%s: %v", i.MeterName, err))
			continue
		}
		if r.effective.After(at.now) {
			continue
		}
		t.meterSKU = "" // Sizes of one price of transactions come together.
		byTarget[t] = append(byTarget[t], r)
	}
	for _, t := range slices.SortedFunc(maps.Keys(byTarget), func(a, b target) int { return strings.Compare(a.key(), b.key()) }) {
		p, err := combine(byTarget[t])
		if err != nil {
			odd = append(odd, fmt.Sprintf("%s: %v", t.key(), err))
			continue
		}
		prices = append(prices, p.price(t, at))
	}
	slices.Sort(odd)
	return prices, slices.Compact(odd)
}

// match finds the price that an item is.
func match(known map[meter]target, i item, at place) (meter, target, bool) {
	m := meter{i.ProductName, i.MeterName, i.Type}
	t, ok := known[m]
	ok = ok && i.ArmRegionName == at.region && i.CurrencyCode == at.currency &&
		(t.meterSKU == "" || i.SkuName == t.meterSKU) &&
		// Usage is billed by the primary meter. Others repeat it for other regions.
		i.IsPrimaryMeterRegion &&
		(i.Type != reservation || i.ReservationTerm == oneYear)
	return m, t, ok
}

func read(i item, m meter, t target) (row, error) {
	price, err := number(i.RetailPrice)
	if err != nil {
		return row{}, fmt.Errorf("retailPrice: %w", err)
	}
	minimum, err := number(cmp.Or(i.TierMinimumUnits, "0"))
	if err != nil || !minimum.IsInteger() {
		return row{}, fmt.Errorf("tierMinimumUnits %.40s is no whole number", i.TierMinimumUnits)
	}
	effective, err := i.effective()
	if err != nil {
		return row{}, err
	}
	// A reservation's price is that of the whole term, whatever its unitOfMeasure says.
	measure := i.UnitOfMeasure
	if t.kind == catalog.ReservationOneYear {
		measure = string(catalog.PerYear)
	}
	if price, err = convert(price, measure, t.unit); err != nil {
		return row{}, err
	}
	return row{meter: m, meterSKU: i.SkuName, price: price, minimum: minimum, effective: effective}, nil
}

// combined is the one price that rows leave.
type combined struct {
	row
	free decimal.Decimal
}

// combine takes the latest row of each step, and makes one price of the steps: a paid one alone, or a
// free one at 0 and a paid one behind it, as IOPS and throughput of Premium SSD v2 have.
func combine(rows []row) (combined, error) {
	var paid []row
	free := false
	for _, step := range steps(rows) {
		latest, err := latestOf(step)
		if err != nil {
			return combined{}, err
		}
		switch {
		case latest.price.IsPositive():
			paid = append(paid, latest)
		case latest.minimum.IsZero():
			free = true
		default:
			return combined{}, fmt.Errorf("it is free from %s units on, which is no list price", latest.minimum)
		}
	}
	switch {
	case len(paid) == 0:
		return combined{}, errors.New("its only price is 0, which is no list price")
	case len(paid) > 1:
		return combined{}, errors.New("its price changes with the amount")
	case paid[0].minimum.IsPositive() && !free:
		return combined{}, fmt.Errorf("it has no price below %s units", paid[0].minimum)
	}
	return combined{row: paid[0], free: paid[0].minimum}, nil
}

// steps are rows by tierMinimumUnits, from the lowest.
func steps(rows []row) [][]row {
	slices.SortStableFunc(rows, func(a, b row) int { return a.minimum.Cmp(b.minimum) })
	var all [][]row
	for i, r := range rows {
		if i == 0 || !r.minimum.Equal(rows[i-1].minimum) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	return all
}

// latestOf is the row in effect: of each meter the latest, which must agree.
func latestOf(rows []row) (row, error) {
	byMeter := map[meter]row{}
	for _, r := range rows {
		before, ok := byMeter[r.meter]
		if ok && before.effective.Equal(r.effective) && !before.price.Equal(r.price) {
			return row{}, fmt.Errorf("%s has the prices %s and %s from the same day on", r.meter.name, before.price, r.price)
		}
		if !ok || r.effective.After(before.effective) {
			byMeter[r.meter] = r
		}
	}
	names := slices.SortedFunc(maps.Keys(byMeter), func(a, b meter) int { return strings.Compare(a.name, b.name) })
	latest := byMeter[names[0]]
	for _, name := range names[1:] {
		if other := byMeter[name]; !other.price.Equal(latest.price) {
			return row{}, fmt.Errorf("%s and %s have different prices, %s and %s", latest.meter.name, name.name, latest.price, other.price)
		}
	}
	return latest, nil
}

func (r combined) price(t target, at place) catalog.Price {
	day, _ := catalog.ParseDate(at.now.UTC().Format(time.DateOnly)) // Such a day parses.
	return catalog.Price{
		Region: at.region, Currency: at.currency, SKU: t.sku, Tier: t.tier, Kind: t.kind,
		MeterName: r.meter.name, ProductName: r.meter.product, MeterSKU: r.meterSKU,
		Unit: t.unit, Amount: new(r.row.price), FreeUnits: r.free.IntPart(), Confidence: catalog.High,
		Source: catalog.Source{Reference: fmt.Sprintf("%s, in effect since %s", at.source, r.effective.Format(time.DateOnly)), Date: day},
	}
}
