// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"maps"
	"slices"
)

// VMSizes are the names of all VM sizes that the catalog has, sorted, for a proposal of the right one.
func (c Catalog) VMSizes() []string {
	names := map[string]bool{}
	for _, v := range c.vms {
		names[v.Size] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Regions are those of which the catalog has a row of prices, sorted.
func (c Catalog) Regions() []string {
	names := map[string]bool{}
	for _, p := range c.prices {
		names[p.Region] = true
	}
	return slices.Sorted(maps.Keys(names))
}
