// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
)

// price is an item of northeurope that counts.
func price(product, meter, sku, unit, amount string) item {
	return item{
		CurrencyCode: "USD", RetailPrice: json.Number(amount), TierMinimumUnits: "0.0", ArmRegionName: "northeurope", EffectiveStartDate: "2024-01-01T00:00:00Z",
		MeterName: meter, ProductName: product, SkuName: sku, UnitOfMeasure: unit, Type: consumption, IsPrimaryMeterRegion: true,
	}
}

func with(i item, change func(*item)) item {
	change(&i)
	return i
}

func TestToPrices(t *testing.T) {
	p10 := price(productPremium, "P10 LRS Disk", "P10 LRS", "1/Month", "19.71")
	e4, e10 := price(productStandard, "E4 LRS Disk Operations", "E4 LRS", "10K", "0.002"), price(productStandard, "E10 LRS Disk Operations", "E10 LRS", "10K", "0.002")
	iops := price(productV2, "Premium LRS Provisioned IOPS", "Premium LRS", "1/Hour", "7E-06")
	free, paid := with(iops, func(i *item) { i.RetailPrice = "0.0" }), with(iops, func(i *item) { i.TierMinimumUnits = "3000.0" })
	size := price(productV2, "Premium LRS Provisioned Capacity", "Premium LRS", "1 GiB/Hour", "0.00011")
	for _, tc := range []struct {
		why   string
		items []item
		want  []string
		odd   string
	}{
		{"exponents are exact", []item{free, paid}, []string{"PremiumV2_LRS  ProvisionedIOPS 0.000007 1/Hour, 3000 free"}, ""},
		{"the paid row first", []item{paid, free}, []string{"PremiumV2_LRS  ProvisionedIOPS 0.000007 1/Hour, 3000 free"}, ""},
		{"a paid row from 0 on has nothing free", []item{iops}, []string{"PremiumV2_LRS  ProvisionedIOPS 0.000007 1/Hour"}, ""},
		{"the free row is missing: what 3,000 cost is not known", []item{paid}, nil, "has no price below 3000 units"},
		{"only free: no list price", []item{free}, nil, "its only price is 0"},
		{"free from an amount on", []item{iops, with(paid, func(i *item) { i.RetailPrice = "0" })}, nil, "free from 3000 units on"},
		{"two paid steps are not one price", []item{iops, with(paid, func(i *item) { i.RetailPrice = "0.000005" })}, nil, "changes with the amount"},
		{"half an IOPS", []item{with(paid, func(i *item) { i.TierMinimumUnits = "0.5" })}, nil, "tierMinimumUnits 0.5 is no whole number"},
		{"a tier of 0 is unknown, not free", []item{with(p10, func(i *item) { i.RetailPrice = "0" })}, nil, "its only price is 0"},

		{"transactions under the disk's own size", []item{e10}, []string{"StandardSSD_LRS  Transactions 0.002 10K"}, ""},
		{"transactions under another size", []item{e4}, []string{"StandardSSD_LRS  Transactions 0.002 10K"}, ""},
		{"under both, with one price", []item{e10, e4}, []string{"StandardSSD_LRS  Transactions 0.002 10K"}, ""},
		{"under both, with two: which one counts is not known", []item{e10, with(e4, func(i *item) { i.RetailPrice = "0.003" })}, nil, "E10 LRS Disk Operations and E4 LRS Disk Operations have different prices, 0.002 and 0.003"},

		{"the Mount alone is not the Disk", []item{price(productPremium, "P10 LRS Disk Mount", "P10 LRS", "1/Month", "0.99")}, []string{"Premium_LRS P10 SharedMount 0.99 1/Month"}, ""},
		{"a name in another case", []item{with(p10, func(i *item) { i.MeterName = "p10 lrs disk" })}, nil, ""},
		{"a meter of another product", []item{with(p10, func(i *item) { i.ProductName = productStandard })}, nil, ""},
		{"the skuName of another size", []item{with(p10, func(i *item) { i.SkuName = "P20 LRS" })}, nil, ""},
		{"a tier that is not known", []item{with(p10, func(i *item) { i.MeterName, i.SkuName = "P99 LRS Disk", "P99 LRS" })}, nil, ""},

		{"of two dates the later, though it comes first", []item{with(p10, func(i *item) { i.RetailPrice, i.EffectiveStartDate = "21", "2025-06-01T00:00:00Z" }), p10}, []string{"Premium_LRS P10 Capacity 21 1/Month"}, ""},
		{"a price that is announced", []item{p10, with(p10, func(i *item) { i.RetailPrice, i.EffectiveStartDate = "21", "2026-10-01T00:00:00Z" })}, []string{"Premium_LRS P10 Capacity 19.71 1/Month"}, ""},
		{"two prices of one day", []item{p10, with(p10, func(i *item) { i.RetailPrice = "21" })}, nil, "has the prices 19.71 and 21 from the same day on"},
		{"the same twice", []item{p10, p10}, []string{"Premium_LRS P10 Capacity 19.71 1/Month"}, ""},
		{"a date without a zone", []item{with(p10, func(i *item) { i.EffectiveStartDate = "2024-01-01T00:00:00" })}, []string{"Premium_LRS P10 Capacity 19.71 1/Month"}, ""},
		{"no date", []item{with(p10, func(i *item) { i.EffectiveStartDate = "" })}, nil, `effectiveStartDate "" is no date`},

		{"GiB by the month", []item{with(size, func(i *item) { i.UnitOfMeasure, i.RetailPrice = "1 GiB/Month", "0.0803" })}, []string{"PremiumV2_LRS  Capacity 0.00011 1 GiB/Hour"}, ""},
		{"GB is not GiB: 7% more for a GiB", []item{with(size, func(i *item) { i.UnitOfMeasure = "1 GB/Hour" })}, []string{"PremiumV2_LRS  Capacity 0.00011811160064 1 GiB/Hour"}, ""},
		{"a hundred at a time", []item{with(size, func(i *item) { i.UnitOfMeasure, i.RetailPrice = "100 GiB/Hour", "0.011" })}, []string{"PremiumV2_LRS  Capacity 0.00011 1 GiB/Hour"}, ""},
		{"a tier by the hour", []item{with(p10, func(i *item) { i.UnitOfMeasure, i.RetailPrice = "1/Hour", "0.027" })}, []string{"Premium_LRS P10 Capacity 19.71 1/Month"}, ""},
		{"transactions by the million", []item{with(e10, func(i *item) { i.UnitOfMeasure, i.RetailPrice = "1M", "0.2" })}, []string{"StandardSSD_LRS  Transactions 0.002 10K"}, ""},
		{"a tier by GiB is another meter", []item{with(p10, func(i *item) { i.UnitOfMeasure = "1 GB/Month" })}, nil, "known to count by 1/Month"},
		{"transactions are not paid by the month", []item{with(e10, func(i *item) { i.UnitOfMeasure = "10K/Month" })}, nil, "known to count by 10K"},
		{"a unit that is new", []item{with(p10, func(i *item) { i.UnitOfMeasure = "1 Fortnight" })}, nil, `unitOfMeasure "1 Fortnight" is not understood`},
		{"nothing of a unit", []item{with(p10, func(i *item) { i.UnitOfMeasure = "0/Month" })}, nil, "counts nothing"},

		{"a reservation for a year, paid as a whole", []item{with(p10, func(i *item) {
			i.Type, i.ReservationTerm, i.UnitOfMeasure, i.RetailPrice = reservation, "1 Year", "1 Hour", "200"
		})}, []string{"Premium_LRS P10 ReservationOneYear 200 1 Year"}, ""},
		{"three years are not offered by the catalog", []item{with(p10, func(i *item) { i.Type, i.ReservationTerm = reservation, "3 Years" })}, nil, ""},
		{"prices of developers", []item{with(p10, func(i *item) { i.Type = "DevTestConsumption" })}, nil, ""},
		{"a meter that repeats another region's", []item{with(p10, func(i *item) { i.IsPrimaryMeterRegion = false })}, nil, ""},
		{"euros", []item{with(p10, func(i *item) { i.CurrencyCode = "EUR" })}, nil, ""},
		{"another region", []item{with(p10, func(i *item) { i.ArmRegionName = "northeurope2" })}, nil, ""},
		{"below 0", []item{with(p10, func(i *item) { i.RetailPrice = "-1" })}, nil, "-1 is no price"},
		{"no price at all", []item{with(p10, func(i *item) { i.RetailPrice = "" })}, nil, `"" is no number`},
		{"a number of kilobytes", []item{with(p10, func(i *item) { i.RetailPrice = "1e2000" })}, nil, "1e2000 is no price"},
		{"a number of gigabytes", []item{with(p10, func(i *item) { i.RetailPrice = "1e2000000000" })}, nil, "1e2000000000"},
		{"a number as long as the page", []item{with(p10, func(i *item) { i.RetailPrice = json.Number(strings.Repeat("9", 1000)) })}, nil, "a number of 1000 characters"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			prices, odd := toPrices(catalogtest.Load(t), tc.items, place{region: "northeurope", currency: "USD", source: "test", now: today})
			if diff := cmp.Diff(tc.want, lines(prices)); diff != "" {
				t.Error(diff)
			}
			if all := strings.Join(odd, "; "); tc.odd == "" && all != "" || !strings.Contains(all, tc.odd) {
				t.Errorf("odd: %s, want %q", all, tc.odd)
			}
		})
	}
}

// Every meter that the embedded catalog names is one that is looked for, as the price that the catalog
// says. <n> there stands for any size.
func TestMetersOfTheCatalog(t *testing.T) {
	known := meters(catalogtest.Load(t))
	files := catalog.Format(catalogtest.Load(t))
	rows := strings.Split(strings.TrimSpace(files[pricesFile]), "\n")
	at := func(name string) int { return slices.Index(strings.Split(rows[0], ","), name) }
	found := 0
	for _, line := range rows[1:] {
		cells := strings.Split(line, ",")
		name, kind := strings.ReplaceAll(cells[at("meterName")], "<n>", "10"), cells[at("kind")]
		if name == "" {
			continue
		}
		priceType := consumption
		if kind == string(catalog.ReservationOneYear) {
			priceType = reservation
		}
		got, ok := known[meter{cells[at("productName")], name, priceType}]
		if !ok || string(got.sku) != cells[at("sku")] || got.tier != cells[at("tier")] || string(got.kind) != kind || string(got.unit) != cells[at("unit")] {
			t.Errorf("%s: %+v", line, got)
		}
		found++
	}
	if found < 80 {
		t.Errorf("only %d rows have a meter", found)
	}
}

// FuzzDecode: whatever the answer, what comes out is prices that the catalog takes.
func FuzzDecode(f *testing.F) {
	f.Add(`{"Items":[],"NextPageLink":"https://prices.azure.com:443/?$skip=100","Count":0}`)
	f.Add(`{"Items":[{"currencyCode":"USD","tierMinimumUnits":0.0,"retailPrice":1e-9,"armRegionName":"northeurope","effectiveStartDate":"2018-05-01T00:00:00Z","meterName":"P10 LRS Disk","productName":"Premium SSD Managed Disks","skuName":"P10 LRS","unitOfMeasure":"1/Month","type":"Consumption","isPrimaryMeterRegion":true}]}`)
	f.Add(`{"Items":[{"currencyCode":"USD","tierMinimumUnits":3e9,"retailPrice":7E-06,"armRegionName":"northeurope","effectiveStartDate":"2023-08-01","meterName":"Premium LRS Provisioned IOPS","productName":"Azure Premium SSD v2","skuName":"Premium LRS","unitOfMeasure":"999999M/Year","type":"Consumption","isPrimaryMeterRegion":true}]}`)
	// Tiers are all that is needed; the rest would be indexed anew for each input.
	files := catalog.Format(catalogtest.Load(f))
	c, bad := catalog.Parse(map[string]string{"disk_tiers.csv": files["disk_tiers.csv"], "sources.csv": files["sources.csv"]})
	if len(bad) > 0 {
		f.Fatal(bad)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p, err := decodePage(strings.NewReader(body), 1<<20)
		if err != nil {
			return
		}
		prices, _ := toPrices(c, p.Items, place{region: "northeurope", currency: "USD", source: "test", now: today})
		for _, got := range prices {
			if got.Amount == nil || !got.Amount.IsPositive() || got.FreeUnits < 0 {
				t.Errorf("%+v", got)
			}
		}
		_, bad := Overlay(c, prices)
		for _, b := range bad {
			// Beyond what the catalog takes for plausible; everything else has to fit.
			if b.Column != "price" && b.Column != "freeUnits" {
				t.Error(b)
			}
		}
	})
}
