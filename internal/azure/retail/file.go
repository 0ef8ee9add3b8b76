// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// pricesFile is the catalog's file of prices.
const pricesFile = "prices.csv"

var header = []string{"region", "currency", "sku", "tier", "kind", "meterName", "productName", "meterSkuName", "unit", "price", "freeUnits", "confidence", "source", "sourceDate"}

// File writes prices as the catalog's prices.csv, which is also the format of a user's overrides.
func File(prices []catalog.Price) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(header) // A strings.Builder takes everything.
	for _, p := range prices {
		amount, free := "", ""
		if p.Amount != nil {
			amount = p.Amount.String()
		}
		if p.FreeUnits > 0 {
			free = strconv.FormatInt(p.FreeUnits, 10)
		}
		_ = w.Write([]string{
			p.Region, p.Currency, string(p.SKU), p.Tier, string(p.Kind), p.MeterName, p.ProductName, p.MeterSKU,
			string(p.Unit), amount, free, string(p.Confidence), p.Source.Reference, p.Source.Date.String(),
		})
	}
	w.Flush()
	return b.String()
}

// Overlay lays prices over a catalog. A row that the catalog refuses, such as a price beyond all
// measure, is left out and reported.
func Overlay(base catalog.Catalog, prices []catalog.Price) (catalog.Catalog, []catalog.RowError) {
	return catalog.Overlay(base, map[string]string{pricesFile: File(prices)})
}
