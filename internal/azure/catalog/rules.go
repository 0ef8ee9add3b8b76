// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"strings"

	"github.com/shopspring/decimal"
)

// The rules that code reads.
const (
	ruleMinSize            = "minSizeGiB"
	ruleMaxSize            = "maxSizeGiB"
	ruleFreeIOPS           = "freeIOPS"
	ruleFreeMBps           = "freeMBps"
	ruleMinIOPS            = "minIOPS"
	ruleMinMBps            = "minMBps"
	ruleIOPSPerGiB         = "maxIOPSPerGiB"
	ruleIOPSPerGiBAbove6   = "maxIOPSPerGiBAbove6GiB"
	ruleMaxIOPS            = "maxIOPS"
	ruleMBpsPerIOPS        = "maxMBpsPerIOPS"
	ruleMaxMBps            = "maxMBps"
	rulePerformancePlusMin = "performancePlusMinSizeGiB"
)

// covers tells whether a rule is one of the SKU.
func (r Rule) covers(sku SKU) bool {
	if prefix, ok := strings.CutSuffix(r.SKU, "*"); ok {
		return strings.HasPrefix(string(sku), prefix)
	}
	return r.SKU == string(sku)
}

// Provisioned are the rules of a disk whose performance is provisioned apart from its size.
type Provisioned struct {
	MinSizeGiB, MaxSizeGiB int64
	// Free is included in the price of capacity, and the least that a Premium SSD v2 disk has.
	Free Rate
	// Least is the minimum of an Ultra disk.
	Least Rate
	// IOPSPerGiB bounds IOPS by size. For Premium SSD v2 it begins to bind above 6 GiB, where it
	// passes the free 3,000.
	IOPSPerGiB int64
	// BytesPerIO bounds throughput by IOPS: 0.25 MB/s for each.
	BytesPerIO int64
	Most       Rate
}

// MaxIOPS of a disk of a size.
func (p Provisioned) MaxIOPS(sizeGiB int64) int64 {
	return min(p.Most.IOPS, max(p.Free.IOPS, p.Least.IOPS, p.IOPSPerGiB*sizeGiB))
}

// MaxBytesPerSecond of a disk with provisioned IOPS.
func (p Provisioned) MaxBytesPerSecond(iops int64) int64 {
	return min(p.Most.BytesPerSecond, max(p.Free.BytesPerSecond, p.BytesPerIO*iops))
}

// Provisioned are the rules of Premium SSD v2 or Ultra; false for another family, and when one of
// them is not known.
func (c Catalog) Provisioned(f Family) (Provisioned, bool) {
	var p Provisioned
	read := ruleReader{catalog: c, complete: true}
	switch f {
	case PremiumV2:
		read.sku = PremiumV2LRS
		p.Free = Rate{IOPS: read.integer(ruleFreeIOPS), BytesPerSecond: read.bytes(ruleFreeMBps)}
		p.Least = p.Free
		p.IOPSPerGiB = read.integer(ruleIOPSPerGiBAbove6)
	case Ultra:
		read.sku = UltraSSDLRS
		p.Least = Rate{IOPS: read.integer(ruleMinIOPS), BytesPerSecond: read.bytes(ruleMinMBps)}
		p.IOPSPerGiB = read.integer(ruleIOPSPerGiB)
	default:
		return Provisioned{}, false
	}
	p.MinSizeGiB, p.MaxSizeGiB = read.integer(ruleMinSize), read.integer(ruleMaxSize)
	p.BytesPerIO = read.bytes(ruleMBpsPerIOPS)
	p.Most = Rate{IOPS: read.integer(ruleMaxIOPS), BytesPerSecond: read.bytes(ruleMaxMBps)}
	return p, read.complete
}

// ruleReader reads several rules, and remembers whether all were there.
type ruleReader struct {
	catalog  Catalog
	sku      SKU
	complete bool
}

func (r *ruleReader) number(name string) decimal.Decimal {
	for _, rule := range r.catalog.rules {
		if rule.Name != name || !rule.covers(r.sku) {
			continue
		}
		if value, err := parseDecimal(rule.Value); err == nil {
			return value
		}
	}
	r.complete = false
	return decimal.Decimal{}
}

func (r *ruleReader) integer(name string) int64 { return r.number(name).IntPart() }

// bytes turns MB into bytes.
func (r *ruleReader) bytes(name string) int64 { return r.number(name).Mul(million).IntPart() }

// UltraMax is the most that an Ultra disk of a size can have: the published row of its size, or the
// closed form of the rules between rows; false when the size is out of range or rules are missing.
func (c Catalog) UltraMax(sizeGiB int64) (Rate, bool) {
	p, ok := c.Provisioned(Ultra)
	if !ok || sizeGiB < p.MinSizeGiB || sizeGiB > p.MaxSizeGiB {
		return Rate{}, false
	}
	for _, row := range c.ultraCaps {
		if row.SizeGiB == sizeGiB {
			return row.Max, true
		}
	}
	iops := p.MaxIOPS(sizeGiB)
	return Rate{IOPS: iops, BytesPerSecond: p.MaxBytesPerSecond(iops)}, true
}

// PerformancePlusMinGiB is the least size for which Performance Plus can be enabled; the CSI driver
// raises a smaller request to it. False while it is not known.
func (c Catalog) PerformancePlusMinGiB(sku SKU) (int64, bool) {
	r := ruleReader{catalog: c, sku: sku, complete: true}
	return r.integer(rulePerformancePlusMin), r.complete
}
