// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// unitOfMeasure matches 1/Month, 1 GiB/Hour, 10K, 100 GB/Month, 1 Year.
var unitOfMeasure = regexp.MustCompile(`^(\d{1,6})([KM]?)(?: (GB|GiB|TB|TiB))?(?:[/ ](Hour|Day|Month|Year))?$`)

// quantity is what one price pays for.
type quantity struct {
	// count of pieces or GiB.
	count decimal.Decimal
	// sized: count is in GiB.
	sized bool
	// hours that it pays for; 0 for what is paid once for each.
	hours decimal.Decimal
}

// hours of the periods: a month is 730 hours, as on Azure's price pages.
var hours = map[string]decimal.Decimal{
	"": decimal.Zero, "Hour": decimal.NewFromInt(1), "Day": decimal.NewFromInt(24), "Month": decimal.NewFromInt(730), "Year": decimal.NewFromInt(8760),
}

var multiples = map[string]decimal.Decimal{"": decimal.NewFromInt(1), "K": decimal.New(1, 3), "M": decimal.New(1, 6)}

// gib are the GiB of a unit of size. GB is taken by its word, as 10^9 bytes.
var gib = map[string]decimal.Decimal{
	"GiB": decimal.NewFromInt(1), "TiB": decimal.NewFromInt(1 << 10),
	"GB": gibOfBytes(1e9), "TB": gibOfBytes(1e12),
}

func gibOfBytes(bytes int64) decimal.Decimal {
	return decimal.NewFromInt(bytes).Div(decimal.NewFromInt(1 << 30))
}

// parseUnit reads a unitOfMeasure.
func parseUnit(s string) (quantity, error) {
	m := unitOfMeasure.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return quantity{}, fmt.Errorf("unitOfMeasure %.40q is not understood", s)
	}
	count, err := decimal.NewFromString(m[1])
	if err != nil || !count.IsPositive() {
		return quantity{}, fmt.Errorf("unitOfMeasure %.40q counts nothing", s)
	}
	q := quantity{count: count.Mul(multiples[m[2]]), hours: hours[m[4]]}
	if m[3] != "" {
		q.sized, q.count = true, q.count.Mul(gib[m[3]])
	}
	return q, nil
}

// catalogUnits are the units in which the catalog keeps prices.
var catalogUnits = map[catalog.Unit]quantity{
	catalog.PerMonth:   {count: decimal.NewFromInt(1), hours: hours["Month"]},
	catalog.PerYear:    {count: decimal.NewFromInt(1), hours: hours["Year"]},
	catalog.PerHour:    {count: decimal.NewFromInt(1), hours: hours["Hour"]},
	catalog.PerGiBHour: {count: decimal.NewFromInt(1), hours: hours["Hour"], sized: true},
	catalog.Per10K:     {count: decimal.New(1, 4)},
}

// pricePlaces are the decimal places that the catalog's files can have.
const pricePlaces = 15

// convert turns a price for what unitOfMeasure says into one for the catalog's unit. It is an error when
// they count different things: a GiB is no disk, and what is paid by the hour is not paid once.
func convert(price decimal.Decimal, measure string, to catalog.Unit) (decimal.Decimal, error) {
	from, err := parseUnit(measure)
	if err != nil {
		return decimal.Zero, err
	}
	want := catalogUnits[to]
	if from.sized != want.sized || from.hours.IsZero() != want.hours.IsZero() {
		return decimal.Zero, fmt.Errorf("unitOfMeasure is %.40q, where the meter is known to count by %s", measure, to)
	}
	price, divisor := price.Mul(want.count), from.count
	if !want.hours.IsZero() {
		price, divisor = price.Mul(want.hours), divisor.Mul(from.hours)
	}
	return price.DivRound(divisor, pricePlaces), nil
}
