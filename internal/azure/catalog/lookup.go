// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"
	"strings"
)

// Tiers of a family, from the smallest; none for Premium SSD v2 and Ultra.
func (c Catalog) Tiers(f Family) []Tier { return slices.Clone(c.tierBySize[f]) }

// TierOf is the tier that a disk of the SKU performs and bills as: the smallest that holds it. It is
// false for a size below 1 GiB or above the largest tier, for Premium SSD v2 and Ultra, and for an
// unknown SKU.
func (c Catalog) TierOf(sku SKU, sizeGiB int64) (Tier, bool) {
	family, ok := sku.Family()
	if !ok || sizeGiB < 1 {
		return Tier{}, false
	}
	for _, t := range c.tierBySize[family] {
		if sizeGiB <= t.SizeGiB && slices.Contains(t.SKUs, sku) {
			return t, true
		}
	}
	return Tier{}, false
}

// Price of one kind in a region and currency. The tier is empty for prices of all sizes. The region
// may be written either way ("West Europe", "westeurope"). It is false when the price is not known:
// that is no price of 0.
func (c Catalog) Price(region, currency string, sku SKU, tier string, kind PriceKind) (Price, bool) {
	p, ok := c.price[priceKey(Price{Region: NormalizeRegion(region), Currency: strings.ToUpper(currency), SKU: sku, Tier: tier, Kind: kind})]
	return p, ok && p.Amount != nil
}

// VM is what a size can do with disks, by the name in the node's label, in any case. Where limits
// differ by controller and the controller is unknown (empty), it has the lower of each limit, and
// ambiguous is true. It is false for an unknown size, and for a controller that the size does not have.
func (c Catalog) VM(size string, controller Controller) (vm VM, ambiguous, ok bool) {
	rows := c.vm[strings.ToLower(size)]
	for _, wanted := range []Controller{controller, ""} {
		if i := slices.IndexFunc(rows, func(v VM) bool { return v.Controller == wanted }); i >= 0 {
			return rows[i], false, true
		}
	}
	if len(rows) == 0 || controller != "" {
		return VM{}, false, false
	}
	if len(rows) == 1 {
		return rows[0], false, true
	}
	vm = rows[0]
	for _, v := range rows[1:] {
		vm = lowerVM(vm, v)
	}
	vm.Controller = ""
	return vm, true, true
}

// lowerVM has the lower of each limit, and none where one is unknown.
func lowerVM(a, b VM) VM {
	a.Uncached = lowerKnown(a.Uncached, b.Uncached)
	a.Burst = lowerKnown(a.Burst, b.Burst)
	a.Cached = lowerKnown(a.Cached, b.Cached)
	a.V2Ultra = lowerKnown(a.V2Ultra, b.V2Ultra)
	a.V2UltraBurst = lowerKnown(a.V2UltraBurst, b.V2UltraBurst)
	return a
}

func lowerKnown(a, b *Rate) *Rate {
	if a == nil || b == nil {
		return nil
	}
	return lower(*a, *b)
}
