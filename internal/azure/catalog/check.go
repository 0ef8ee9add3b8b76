// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"slices"
)

// Check finds what is wrong between the rows of a whole set, which no row shows alone. The generator
// refuses such a set. A user's overrides are not checked like this: they need not be whole.
func Check(c Catalog) []RowError {
	var bad []RowError
	report := func(file, format string, args ...any) {
		bad = append(bad, RowError{File: file, Problem: fmt.Sprintf(format, args...)})
	}
	for _, f := range []Family{PremiumSSD, StandardSSD, StandardHDD} {
		checkFamily(c.tierBySize[f], report)
	}
	for _, f := range []Family{PremiumV2, Ultra} {
		if _, ok := c.Provisioned(f); !ok {
			report(rulesFile, "rules of %s are missing: its limits cannot be computed", f)
		}
	}
	for _, p := range c.prices {
		if p.Tier != "" && !c.hasTier(p.SKU, p.Tier) {
			report(pricesFile, "%s has no tier %s", p.SKU, p.Tier)
		}
	}
	for _, row := range c.ultraCaps {
		if closed := c.ultraClosedForm(row.SizeGiB); closed != row.Max {
			report(ultraCapsFile, "%d GiB: %+v, where the rules give %+v", row.SizeGiB, row.Max, closed)
		}
	}
	return bad
}

// checkFamily finds tiers of the same size, and larger ones that can do less.
func checkFamily(bySize []Tier, report func(file, format string, args ...any)) {
	for i, t := range bySize {
		if i == 0 {
			continue
		}
		smaller := bySize[i-1]
		if smaller.SizeGiB == t.SizeGiB {
			report(tiersFile, "%s and %s are of the same size", smaller.Name, t.Name)
		}
		if smaller.Base.IOPS > t.Base.IOPS || smaller.Base.BytesPerSecond > t.Base.BytesPerSecond {
			report(tiersFile, "%s can do less than the smaller %s", t.Name, smaller.Name)
		}
	}
}

func (c Catalog) hasTier(sku SKU, name string) bool {
	return slices.ContainsFunc(c.tiers, func(t Tier) bool { return t.Name == name && slices.Contains(t.SKUs, sku) })
}

func (c Catalog) ultraClosedForm(sizeGiB int64) Rate {
	p, _ := c.Provisioned(Ultra)
	iops := p.MaxIOPS(sizeGiB)
	return Rate{IOPS: iops, BytesPerSecond: p.MaxBytesPerSecond(iops)}
}
