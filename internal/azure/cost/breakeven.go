// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// BreakEven is the average rate, in I/Os of up to 256 KiB a second all month, below which Standard SSD
// of a size and redundancy is cheaper than Premium SSD of the same. It is false when a price is unknown,
// and when Standard SSD is cheaper at every rate, since the bill of an hour is capped.
func BreakEven(c catalog.Catalog, region, currency string, sizeGiB int64, r catalog.Redundancy) (decimal.Decimal, bool) {
	standard, premium := catalog.StandardSSDLRS, catalog.PremiumLRS
	if r == catalog.ZRS {
		standard, premium = catalog.StandardSSDZRS, catalog.PremiumZRS
	}
	tier, ok := c.TierOf(standard, sizeGiB)
	low, hasLow := capacityPrice(c, region, currency, standard, sizeGiB)
	high, hasHigh := capacityPrice(c, region, currency, premium, sizeGiB)
	transactions, hasTransactions := c.Price(region, currency, standard, "", catalog.Transactions)
	if !ok || !hasLow || !hasHigh || !hasTransactions || !transactions.Amount.IsPositive() {
		return decimal.Zero, false
	}
	perMonth := high.Sub(low).Div(*transactions.Amount).Mul(decimal.NewFromInt(transactionsPerUnit))
	perHour := perMonth.Div(decimal.NewFromInt(hoursPerMonth))
	if most, ok := tier.MaxBilledPerHour(r); ok && perHour.GreaterThan(decimal.NewFromInt(most)) {
		return decimal.Zero, false
	}
	return perHour.Div(decimal.NewFromInt(secondsPerHour)), true
}

func capacityPrice(c catalog.Catalog, region, currency string, sku catalog.SKU, sizeGiB int64) (decimal.Decimal, bool) {
	tier, ok := c.TierOf(sku, sizeGiB)
	if !ok {
		return decimal.Zero, false
	}
	p, ok := c.Price(region, currency, sku, tier.Name, catalog.Capacity)
	if !ok {
		return decimal.Zero, false
	}
	return *p.Amount, true
}
