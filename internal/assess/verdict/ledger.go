// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"slices"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// vmBurstSeconds: a VM bursts for 30 minutes at most (Azure's documentation of managed disk bursting).
const vmBurstSeconds = 1800

// Credits are the estimate of one bucket.
type Credits struct {
	// Limit is the burst that they pay for.
	Limit Verdict
	// Left and Full are in I/Os for limits of IOPS, and in bytes for those of throughput.
	Left, Full int64
	// Seconds that what is left lasts at the full burst rate.
	Seconds int64
}

// bucket holds credits: what is used below the base is saved, up to full, and what is used above is
// spent. It is full when a disk is new; that of a VM is taken to be.
type bucket struct {
	limit Verdict
	// base and burst are in I/Os or bytes per second.
	base, burst float64
	left, full  float64
}

// spend a rate for some time. What is above the burst never reached the disk: the host cache had it.
func (b *bucket) spend(perSecond, seconds float64) {
	perSecond = min(perSecond, b.burst)
	b.left = min(b.full, max(0, b.left-(perSecond-b.base)*seconds))
}

func (b *bucket) credits() Credits {
	return Credits{Limit: b.limit, Left: round(b.left), Full: round(b.full), Seconds: round(b.left / (b.burst - b.base))}
}

// Ledger is the estimate of burst credits of the disks together, and of the VM. IOPS and throughput have
// buckets of their own. It is a value: what spends gives another.
type Ledger struct {
	buckets []bucket
}

// NewLedger has full buckets for what bursts on credits: volumes equal disks, striped, and their VM. It
// has none for an existing disk, whose credits are not known.
func NewLedger(d disk.Disk, volumes int) Ledger {
	var l Ledger
	if d.Base != nil && d.Burst != nil && d.Bursting == catalog.BurstCredit && !d.Existing {
		l.add(*d.Base, *d.Burst, float64(max(1, volumes)), float64(d.BurstMinutes)*60, DiskBurstIOPS, DiskBurstThroughput)
	}
	if d.VM != nil {
		if base, burst := d.VM.Limits(d.Family); base != nil && burst != nil {
			l.add(*base, *burst, 1, vmBurstSeconds, VMBurstIOPS, VMBurstThroughput)
		}
	}
	return l
}

// add buckets of (burst - base) for so many seconds, which is inferred from "30 minutes at maximum burst".
func (l *Ledger) add(base, burst catalog.Rate, count, seconds float64, iops, throughput Verdict) {
	for _, b := range []bucket{
		{limit: iops, base: float64(base.IOPS) * count, burst: float64(burst.IOPS) * count},
		{limit: throughput, base: float64(base.BytesPerSecond) * count, burst: float64(burst.BytesPerSecond) * count},
	} {
		b.full = (b.burst - b.base) * seconds
		b.left = b.full
		if b.full > 0 {
			l.buckets = append(l.buckets, b)
		}
	}
}

// use is a load for some time, which differs between a disk and the VM where repetitions have disks of
// their own.
type use struct {
	iops, bytesPerSecond   float64
	diskSeconds, vmSeconds float64
}

// of a limit, in its unit per second.
func (u use) of(limit Verdict) float64 {
	if inBytes(limit) {
		return u.bytesPerSecond
	}
	return u.iops
}

// spend gives what a use leaves.
func (l Ledger) spend(u use) Ledger {
	l.buckets = slices.Clone(l.buckets)
	for i := range l.buckets {
		b := &l.buckets[i]
		seconds := u.diskSeconds
		if isVM(b.limit) {
			seconds = u.vmSeconds
		}
		b.spend(u.of(b.limit), seconds)
	}
	return l
}

// emptied gives a ledger without the credits of the disks, or of the VM: they were seen to end.
func (l Ledger) emptied(limits ...Verdict) Ledger {
	l.buckets = slices.Clone(l.buckets)
	for i := range l.buckets {
		if slices.Contains(limits, l.buckets[i].limit) {
			l.buckets[i].left = 0
		}
	}
	return l
}

// Credits of all buckets.
func (l Ledger) Credits() []Credits {
	var all []Credits
	for i := range l.buckets {
		all = append(all, l.buckets[i].credits())
	}
	return all
}

// lasts is how many seconds a use can go on until the first bucket is empty; 0 without an end.
func (l Ledger) lasts(u use) int64 {
	var first int64
	for i := range l.buckets {
		b := &l.buckets[i]
		over := u.of(b.limit) - b.base
		// A rate that is made of the base can be above it by rounding alone.
		if over <= b.base*1e-9 || b.left <= 0 {
			continue
		}
		if seconds := round(b.left / over); first == 0 || seconds < first {
			first = max(1, seconds)
		}
	}
	return first
}

// empty tells whether a bucket has nothing left.
func (l Ledger) empty(limit Verdict) bool {
	return slices.ContainsFunc(l.buckets, func(b bucket) bool { return b.limit == limit && b.left <= 0 })
}

// mostlyFull tells whether a bucket has more than half of what it holds.
func (l Ledger) mostlyFull(limit Verdict) bool {
	return slices.ContainsFunc(l.buckets, func(b bucket) bool { return b.limit == limit && b.left > b.full/2 })
}
