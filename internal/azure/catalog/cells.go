// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// The bounds of a plausible cell, far from every published figure: what is beyond them is a slip of
// the keyboard, and would overflow in a product.
const (
	maxInteger = 1_000_000_000
	maxMBps    = 1_000_000
)

// currencyCode is an ISO 4217 code.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// text is a column of free text.
func text[R any](name string, field func(*R) *string) column[R] {
	return column[R]{
		name:   name,
		parse:  func(cell string, row *R) error { *field(row) = cell; return nil },
		format: func(row R) string { return *field(&row) },
	}
}

// choice is a column of one of few values, spelled exactly.
func choice[R any, T ~string](name string, values []T, field func(*R) *T) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			if !slices.Contains(values, T(cell)) {
				return fmt.Errorf("%q is none of %s", cell, listed(values))
			}
			*field(row) = T(cell)
			return nil
		},
		format: func(row R) string { return string(*field(&row)) },
	}
}

func listed[T ~string](values []T) string {
	var names []string
	for _, v := range values {
		if v != "" {
			names = append(names, string(v))
		}
	}
	return strings.Join(names, ", ")
}

// integer is a column of whole numbers above 0.
func integer[R any](name string, field func(*R) *int64) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			n, err := parseInteger(cell)
			*field(row) = n
			return err
		},
		format: func(row R) string { return formatInteger(*field(&row)) },
	}
}

// optionalInteger is the same for a field that is nil while unknown.
func optionalInteger[R any](name string, field func(*R) **int64) column[R] {
	return column[R]{
		name: name,
		parse: func(cell string, row *R) error {
			n, err := parseInteger(cell)
			*field(row) = &n
			return err
		},
		format: func(row R) string {
			if n := *field(&row); n != nil {
				return formatInteger(*n)
			}
			return ""
		},
	}
}

// rate is a pair of columns, of IOPS and of MB/s, for a limit that is nil while unknown. Cells are
// read one after the other, so a lone one is found by wholeRate.
func rate[R any](prefix, iops, mbps string, field func(*R) **Rate) []column[R] {
	get := func(row *R) *Rate {
		if *field(row) == nil {
			*field(row) = &Rate{}
		}
		return *field(row)
	}
	value := func(row R) Rate {
		if r := *field(&row); r != nil {
			return *r
		}
		return Rate{}
	}
	return []column[R]{
		{
			name: prefix + iops,
			parse: func(cell string, row *R) error {
				n, err := parseInteger(cell)
				get(row).IOPS = n
				return err
			},
			format: func(row R) string { return formatInteger(value(row).IOPS) },
		},
		{
			name: prefix + mbps,
			parse: func(cell string, row *R) error {
				n, err := parseMBps(cell)
				get(row).BytesPerSecond = n
				return err
			},
			format: func(row R) string { return formatMBps(value(row).BytesPerSecond) },
		},
	}
}

// wholeRate refuses a limit of which only one half is known: the other would count as 0.
func wholeRate(name string, r *Rate) error {
	if r != nil && (r.IOPS == 0 || r.BytesPerSecond == 0) {
		return fmt.Errorf("%s has IOPS or MB/s, not both: give both, or neither while one is unknown", name)
	}
	return nil
}

// require makes columns required.
func require[R any](columns ...column[R]) []column[R] {
	for i := range columns {
		columns[i].required = true
	}
	return columns
}

// maintainersOnly keeps columns out of what is embedded.
func maintainersOnly[R any](columns ...column[R]) []column[R] {
	for i := range columns {
		columns[i].maintainers = true
	}
	return columns
}

// sourceColumns are those of every table: where a row was read, and of which date that place is. A
// reference such as @12 names a row of sources.csv, which also has the date.
func sourceColumns[R any](field func(*R) *Source) []column[R] {
	return []column[R]{
		{
			name: "source", required: true,
			parse:  func(cell string, row *R) error { field(row).Reference = cell; return nil },
			format: func(row R) string { return field(&row).Reference },
		},
		{
			name: "sourceDate",
			parse: func(cell string, row *R) error {
				d, err := ParseDate(cell)
				field(row).Date = d
				return err
			},
			format: func(row R) string { return field(&row).Date.String() },
		},
	}
}

// wholeSource refuses a source without a date.
func wholeSource(s Source) error {
	if s.Date.IsZero() && !strings.HasPrefix(s.Reference, "@") {
		return errors.New("sourceDate is empty: give the date of the source, as 2026-09-20, 2026-09 or 2026")
	}
	return nil
}

func parseInteger(cell string) (int64, error) {
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil || n <= 0 || n > maxInteger || cell[0] == '+' {
		return 0, fmt.Errorf("%q is no whole number from 1 to %d: write digits only, and leave the cell empty while the figure is unknown", cell, maxInteger)
	}
	return n, nil
}

func formatInteger(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

var million = decimal.New(1, 6)

// parseMBps reads decimal MB/s as bytes per second.
func parseMBps(cell string) (int64, error) {
	mbps, err := parseDecimal(cell)
	if err != nil {
		return 0, err
	}
	bytes := mbps.Mul(million)
	if !bytes.IsInteger() || !bytes.IsPositive() || mbps.GreaterThan(decimal.NewFromInt(maxMBps)) {
		return 0, fmt.Errorf("%q is no number of MB/s from 0.000001 to %d: leave the cell empty while the figure is unknown", cell, maxMBps)
	}
	return bytes.IntPart(), nil
}

func formatMBps(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return decimal.New(bytes, -6).String()
}

// plainDecimal leaves out exponents and signs, with which a short cell can be an enormous number.
var plainDecimal = regexp.MustCompile(`^\d{1,15}([.]\d{1,15})?$`)

func parseDecimal(cell string) (decimal.Decimal, error) {
	if !plainDecimal.MatchString(cell) {
		return decimal.Decimal{}, fmt.Errorf("%q is no decimal number: write it as 12 or 12.50", cell)
	}
	return decimal.NewFromString(cell)
}
