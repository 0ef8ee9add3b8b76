// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/shopspring/decimal"
)

// page is one answer of the API. Fields that are not needed are left out.
type page struct {
	Items        []item
	NextPageLink string
	// Count of the items on this page.
	Count *int
}

// item is one price of one meter.
type item struct {
	CurrencyCode         string      `json:"currencyCode"`
	TierMinimumUnits     json.Number `json:"tierMinimumUnits"`
	RetailPrice          json.Number `json:"retailPrice"`
	ArmRegionName        string      `json:"armRegionName"`
	EffectiveStartDate   string      `json:"effectiveStartDate"`
	MeterName            string      `json:"meterName"`
	ProductName          string      `json:"productName"`
	SkuName              string      `json:"skuName"`
	UnitOfMeasure        string      `json:"unitOfMeasure"`
	Type                 string      `json:"type"`
	ReservationTerm      string      `json:"reservationTerm"`
	IsPrimaryMeterRegion bool        `json:"isPrimaryMeterRegion"`
}

// errTooLarge: a page is some hundred kilobytes.
var errTooLarge = errors.New("the answer is larger than a page can be")

// decodePage reads a page of at most so many bytes. An answer without Items is none of this API, such as
// a proxy's own; one whose Count is another than that of the items was cut.
func decodePage(r io.Reader, most int64) (page, error) {
	body, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return page{}, &transientError{fmt.Errorf("the answer was cut: %w", err)}
	}
	if int64(len(body)) > most {
		return page{}, fmt.Errorf("%w: more than %d bytes", errTooLarge, most)
	}
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		return page{}, fmt.Errorf("the answer is no JSON of the Retail Prices API (is a proxy in between?): %w", err)
	}
	if p.Items == nil {
		return page{}, errors.New("the answer has no Items: it is not one of the Retail Prices API")
	}
	if p.Count != nil && *p.Count != len(p.Items) {
		return page{}, &transientError{fmt.Errorf("the answer was cut: it has %d items, and says %d", len(p.Items), *p.Count)}
	}
	return p, nil
}

// The bounds of a number in an answer, far beyond every price: within a few characters, an exponent
// could make a number of gigabytes.
const (
	maxNumberText = 40
	maxExponent   = 12
	minExponent   = -30
)

// number reads a number that is not below 0, exactly: 7E-06 is 0.000007.
func number(n json.Number) (decimal.Decimal, error) {
	if len(n) > maxNumberText {
		return decimal.Zero, fmt.Errorf("a number of %d characters", len(n))
	}
	d, err := decimal.NewFromString(n.String())
	switch {
	case err != nil:
		return decimal.Zero, fmt.Errorf("%q is no number", n)
	case d.IsNegative(), d.Exponent() > maxExponent, d.Exponent() < minExponent:
		return decimal.Zero, fmt.Errorf("%s is no price or amount", n)
	}
	return d, nil
}

// effective is the day and time from which a price holds.
func (i item) effective() (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, i.EffectiveStartDate); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("effectiveStartDate %.40q is no date", i.EffectiveStartDate)
}
