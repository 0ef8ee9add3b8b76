// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package predict computes from the catalog what a load will reach on Azure disks: now, while burst
// credits last, and without end. It is pure arithmetic on published limits. It knows nothing of
// latency, so it cannot tell what too few outstanding I/Os will reach; and nothing of hits of the host
// cache, which go past the limits of the disk.
package predict

import (
	"cmp"
	"slices"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// ioUnitBytes is the size up to which an I/O counts as one against a limit; a larger one counts as
// several (Azure's documentation of disk types, on Premium SSD and Standard SSD).
const ioUnitBytes = 256 << 10

// inBand is how near to a level another limit is also at its limit: measured disks are at a cap from
// 0.97 of it on (judgment, from the scatter of published measurements).
const inBand = 0.97

// Limit names what binds, as verdicts do.
type Limit string

// The limits.
const (
	DiskIOPS            Limit = "DiskIOPS"
	DiskThroughput      Limit = "DiskThroughput"
	DiskBurstIOPS       Limit = "DiskBurstIOPS"
	DiskBurstThroughput Limit = "DiskBurstThroughput"
	VMIOPS              Limit = "VMIOPS"
	VMThroughput        Limit = "VMThroughput"
	VMBurstIOPS         Limit = "VMBurstIOPS"
	VMBurstThroughput   Limit = "VMBurstThroughput"
	// HostCache is the VM's limit of I/O to disks with a host cache.
	HostCache Limit = "HostCache"
)

// Load is what is asked of the disks together.
type Load struct {
	// BlockSizeBytes of each I/O.
	BlockSizeBytes int64
	// ReadPercent from 0 to 100: a host cache can answer reads.
	ReadPercent int
	// Outstanding I/Os at any time; 0 while unknown. The prediction holds if they are enough.
	Outstanding int
}

// Level is a rate and what holds it there.
type Level struct {
	IOPS           float64
	BytesPerSecond float64
	LimitedBy      Limit
	// AlsoAtLimit are other limits, burst or base, so near that a measurement cannot tell them apart: a
	// base counts while its credits are saved, too, since a figure at both looks the same.
	AlsoAtLimit []Limit
	// MeanLatencySeconds is what Little's law gives for the outstanding I/Os at this rate: queueing, not
	// the disk's own latency. 0 while Outstanding is unknown.
	MeanLatencySeconds float64
}

// Step is a level that begins when credits have run out.
type Step struct {
	AfterSeconds float64
	Level        Level
}

// Prediction is for a load that does not stop, on disks and a VM with full credits.
type Prediction struct {
	Now       Level
	Sustained Level
	// BurstSeconds is how long Now lasts; 0 when it lasts without end.
	BurstSeconds float64
	// Steps down from Now; the last one is Sustained. More than one when credits of several kinds run
	// out one after the other.
	Steps []Step
	// UnknownVM: no limit of the VM is known, so that none counted.
	UnknownVM bool
	// HostCache: hits of the disk's cache can go past the limits of the disk and of uncached I/O.
	HostCache bool
}

// Cap is a limit in I/Os of the load.
type Cap struct {
	Name Limit
	// IOPS of the load's block size at which it binds.
	IOPS float64
}

// Predict computes what count equal disks, striped, reach on a VM (nil while unknown) under a load. It
// is false when the disk's limits are unknown, or when count or block size is below 1.
func Predict(d disk.Disk, count int, load Load, vm *catalog.VM) (Prediction, bool) {
	if d.Base == nil || count < 1 || load.BlockSizeBytes < 1 {
		return Prediction{}, false
	}
	meters := append(meters(d, count, load, vm), cachedMeters(d, load, vm)...)
	p := Prediction{
		Now:       level(meters, load),
		UnknownVM: vm == nil || vm.Uncached == nil,
		HostCache: d.Caching == disk.CachingReadWrite || d.Caching == disk.CachingReadOnly && load.ReadPercent > 0,
	}
	p.Steps = drain(meters, load)
	p.Sustained = p.Now
	if len(p.Steps) > 0 {
		p.BurstSeconds = p.Steps[0].AfterSeconds
		p.Sustained = p.Steps[len(p.Steps)-1].Level
	}
	return p, true
}

// Caps are all known limits of a load, base and burst, from the lowest, but for those of CachedCaps. A
// measurement is held against them.
func Caps(d disk.Disk, count int, load Load, vm *catalog.VM) []Cap {
	if d.Base == nil || count < 1 || load.BlockSizeBytes < 1 {
		return nil
	}
	return sorted(caps(meters(d, count, load, vm)))
}

// CachedCaps are the VM's limits of all I/O to disks with a host cache, of IOPS and of throughput, from
// the lowest: hits count against them alone; misses, and writes through a ReadOnly cache, against those of
// Caps, too (Azure's documentation of VM and disk performance). None where they are unknown, and without
// a cache.
func CachedCaps(d disk.Disk, load Load, vm *catalog.VM) []Cap {
	return sorted(caps(cachedMeters(d, load, vm)))
}

func sorted(all []Cap) []Cap {
	slices.SortStableFunc(all, func(a, b Cap) int { return cmp.Compare(a.IOPS, b.IOPS) })
	return all
}

// meter is one limit with its credits. Base, burst and credits are in the unit of the limit, I/Os or
// bytes, per second.
type meter struct {
	baseName, burstName Limit
	base, burst         float64
	// credits that are left; endless for on-demand bursting.
	credits float64
	endless bool
	// cost of one I/O of the load in the unit of the limit.
	cost float64
}

// name of the limit that is in effect.
func (m meter) name() Limit {
	if m.bursting() {
		return m.burstName
	}
	return m.baseName
}

func (m meter) bursting() bool { return m.burst > m.base && (m.endless || m.credits > 0) }

// cap in I/Os of the load.
func (m meter) cap() float64 {
	if m.bursting() {
		return m.burst / m.cost
	}
	return m.base / m.cost
}

// emptyAfter is how many seconds the credits last at a rate; false when they last without end.
func (m meter) emptyAfter(iops float64) (float64, bool) {
	over := iops*m.cost - m.base
	// A rate that is base/cost times cost can be above base by rounding alone.
	if m.endless || !m.bursting() || over <= m.base*1e-9 {
		return 0, false
	}
	return m.credits / over, true
}

func meters(d disk.Disk, count int, load Load, vm *catalog.VM) []meter {
	disks := limit{base: *d.Base, burst: d.Burst, count: float64(count), seconds: float64(d.BurstMinutes) * 60, endless: d.Bursting == catalog.BurstOnDemand}
	all := disks.meters(load, DiskIOPS, DiskBurstIOPS, DiskThroughput, DiskBurstThroughput)
	if vm == nil {
		return all
	}
	base, burst := vm.Limits(d.Family)
	if base == nil {
		return all
	}
	machine := limit{base: *base, burst: burst, count: 1, seconds: vmBurstSeconds}
	return append(all, machine.meters(load, VMIOPS, VMBurstIOPS, VMThroughput, VMBurstThroughput)...)
}

func cachedMeters(d disk.Disk, load Load, vm *catalog.VM) []meter {
	if vm == nil || vm.Cached == nil || d.Caching != disk.CachingReadOnly && d.Caching != disk.CachingReadWrite {
		return nil
	}
	return limit{base: *vm.Cached, count: 1}.meters(load, HostCache, HostCache, HostCache, HostCache)
}

// vmBurstSeconds: a VM bursts for 30 minutes at most (Azure's documentation of managed disk bursting).
const vmBurstSeconds = 1800

// limit is a pair of IOPS and MB/s, each with a bucket of its own: it holds what is above the base for
// so many seconds at the full burst rate (inferred from "30 minutes at maximum burst").
type limit struct {
	base    catalog.Rate
	burst   *catalog.Rate
	count   float64
	seconds float64
	endless bool
}

func (l limit) meters(load Load, iops, burstIOPS, throughput, burstThroughput Limit) []meter {
	burst := l.base
	if l.burst != nil {
		burst = *l.burst
	}
	return []meter{
		l.meter(iops, burstIOPS, l.base.IOPS, burst.IOPS, float64((load.BlockSizeBytes-1)/ioUnitBytes+1)),
		l.meter(throughput, burstThroughput, l.base.BytesPerSecond, burst.BytesPerSecond, float64(load.BlockSizeBytes)),
	}
}

func (l limit) meter(baseName, burstName Limit, base, burst int64, cost float64) meter {
	m := meter{baseName: baseName, burstName: burstName, base: float64(base) * l.count, burst: float64(burst) * l.count, cost: cost, endless: l.endless}
	m.credits = (m.burst - m.base) * l.seconds
	return m
}

// level is the lowest of all caps in effect.
func level(meters []meter, load Load) Level {
	lowest := slices.MinFunc(meters, func(a, b meter) int { return cmp.Compare(a.cap(), b.cap()) })
	l := Level{IOPS: lowest.cap(), LimitedBy: lowest.name()}
	l.BytesPerSecond = l.IOPS * float64(load.BlockSizeBytes)
	l.MeanLatencySeconds = float64(load.Outstanding) / l.IOPS
	for _, c := range caps(meters) {
		if ratio := l.IOPS / c.IOPS; c.Name != l.LimitedBy && !slices.Contains(l.AlsoAtLimit, c.Name) && ratio >= inBand && ratio <= 1/inBand {
			l.AlsoAtLimit = append(l.AlsoAtLimit, c.Name)
		}
	}
	return l
}

// caps of all meters, base and burst, whether in effect or not.
func caps(meters []meter) []Cap {
	var all []Cap
	for _, m := range meters {
		all = append(all, Cap{Name: m.baseName, IOPS: m.base / m.cost})
		if m.burst > m.base {
			all = append(all, Cap{Name: m.burstName, IOPS: m.burst / m.cost})
		}
	}
	return all
}

// drain runs the load until no more credits run out, which is at most once for each meter. Credits are
// spent by what is above a base, so the level falls each time.
func drain(meters []meter, load Load) []Step {
	meters = slices.Clone(meters)
	var steps []Step
	now, elapsed := level(meters, load), 0.0
	for range meters {
		seconds, ok := firstEmpty(meters, now.IOPS)
		if !ok {
			break
		}
		elapsed += seconds
		spend(meters, now.IOPS, seconds)
		now = level(meters, load)
		steps = append(steps, Step{AfterSeconds: elapsed, Level: now})
	}
	return steps
}

func firstEmpty(meters []meter, iops float64) (seconds float64, ok bool) {
	for _, m := range meters {
		if s, drains := m.emptyAfter(iops); drains && (!ok || s < seconds) {
			seconds, ok = s, true
		}
	}
	return seconds, ok
}

// spend takes credits of so many seconds. What a rounding leaves of a bucket counts as empty.
func spend(meters []meter, iops, seconds float64) {
	for i, m := range meters {
		after, ok := m.emptyAfter(iops)
		if !ok {
			continue
		}
		meters[i].credits = m.credits - m.credits*seconds/after
		if seconds >= after*(1-1e-9) {
			meters[i].credits = 0
		}
	}
}
