// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"time"
)

// Date is the day, the month or the year of a source: some tell no more. The zero Date is unknown.
type Date struct {
	text     string
	earliest time.Time
}

// ParseDate reads 2026-09-20, 2026-09 or 2026.
func ParseDate(s string) (Date, error) {
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return Date{text: s, earliest: t}, nil
		}
	}
	return Date{}, fmt.Errorf("%q is no date: write it as 2026-09-20, 2026-09 or 2026", s)
}

// Earliest is the first day that the date can mean, so that an age computed from it is never too low.
func (d Date) Earliest() time.Time { return d.earliest }

// IsZero tells whether the date is unknown.
func (d Date) IsZero() bool { return d.text == "" }

// String is the date as it was written.
func (d Date) String() string { return d.text }
