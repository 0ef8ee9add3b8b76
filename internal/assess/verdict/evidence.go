// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"slices"

	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

const (
	// bandLow to bandHigh of a limit is at the limit (j): published measurements lie from 0.989 to 1.0202
	// of it, and a percent or two more is left on each side for noise.
	bandLow, bandHigh = 0.97, 1.04
)

// capacity is one published limit, base or burst, with where the figure stands to it.
type capacity struct {
	verdict Verdict
	// iops of the load at which it binds.
	iops float64
	// x is the measured figure over it, with the node's other load for a limit of the VM.
	x float64
}

func (c capacity) inBand() bool { return c.x >= bandLow && c.x <= bandHigh }

// vm tells whether it is a limit of the VM.
func (c capacity) vm() bool { return isVM(c.verdict) }

func isVM(v Verdict) bool {
	return slices.Contains([]Verdict{VMIOPS, VMThroughput, VMBurstIOPS, VMBurstThroughput}, v)
}

// inBytes tells whether a limit is in bytes, rather than in I/Os.
func inBytes(v Verdict) bool {
	return slices.Contains([]Verdict{DiskThroughput, DiskBurstThroughput, VMThroughput, VMBurstThroughput}, v)
}

// bursts gives the burst of a base.
var bursts = map[Verdict]Verdict{
	DiskIOPS: DiskBurstIOPS, DiskThroughput: DiskBurstThroughput,
	VMIOPS: VMBurstIOPS, VMThroughput: VMBurstThroughput,
}

// bases are the limits that hold without credits.
var bases = []Verdict{DiskIOPS, DiskThroughput, VMIOPS, VMThroughput}

func isBurst(v Verdict) bool { return !slices.Contains(bases, v) }

// evidence is the input with what follows from it.
type evidence struct {
	Input
	// load as the disks saw it, split or merged.
	load predict.Load
	// ratio of the disks' operations to the engine's, and the disks' IOPS.
	ratio, iops float64
	// caps from the lowest; none where they are unknown, and for buffered I/O.
	caps []capacity
	// cached are the VM's limits of I/O to disks with a host cache, of IOPS and of throughput, from the
	// lowest; none where they are unknown, and without a cache.
	cached []capacity
	// step to judge; nil without.
	step       *Step
	prediction *predict.Prediction
	// queueing: whether I/Os waited for a limit.
	queueing answer
	// ladder from the lowest depth, this workload's included.
	ladder []Rung
}

// answer of a question that may have no evidence.
type answer int

const (
	unknown answer = iota
	no
	yes
)

func weigh(in Input) evidence {
	in.Volumes, in.Repetitions = max(1, in.Volumes), max(1, in.Repetitions)
	e := evidence{Input: in}
	ratio, size := e.deviceRatio()
	e.ratio, e.iops = ratio, float64(in.Total.IOPS)*ratio
	e.load = predict.Load{
		BlockSizeBytes: max(1, round(float64(in.Load.BlockSizeBytes)*size)),
		ReadPercent:    in.Load.ReadPercent, Outstanding: in.Load.Outstanding,
	}
	if p, ok := predict.Predict(in.Disk, in.Volumes, e.load, in.Disk.VM); ok && !in.Load.Buffered && in.Load.BlockSizeBytes > 0 {
		e.prediction = &p
		e.caps = e.capacities()
		e.cached = e.cachedCapacities()
	}
	e.step = e.longStep()
	e.ladder = e.rungs()
	e.queueing = e.queued()
	return e
}

// capacities holds the figure against each limit.
func (e *evidence) capacities() []capacity {
	var all []capacity
	for _, c := range predict.Caps(e.Disk, e.Volumes, e.load, e.Disk.VM) {
		v := Verdict(c.Name)
		all = append(all, capacity{verdict: v, iops: c.IOPS, x: e.over(v, c.IOPS, e.iops)})
	}
	return all
}

// over is a rate over a limit. The VM's limits hold for all disks of the node, so that the others' load
// counts: in the unit of the limit, I/Os or bytes.
func (e *evidence) over(v Verdict, limit, iops float64) float64 {
	switch {
	case isVM(v) && inBytes(v):
		iops += float64(e.Device.OtherBytesPerSecond) / float64(e.load.BlockSizeBytes)
	case isVM(v):
		iops += float64(e.Device.OtherIOPS) / units(e.load.BlockSizeBytes)
	}
	return iops / limit
}

// ioUnitBytes is the size up to which an I/O counts as one against a limit (Azure's documentation of
// disk types).
const ioUnitBytes = 256 << 10

// units that an I/O counts as.
func units(blockSize int64) float64 { return float64((blockSize-1)/ioUnitBytes + 1) }

// cap of a verdict; false where there is none.
func (e *evidence) cap(v Verdict) (capacity, bool) {
	i := slices.IndexFunc(e.caps, func(c capacity) bool { return c.verdict == v })
	if i < 0 {
		return capacity{}, false
	}
	return e.caps[i], true
}

// ceilings are the most that each limit allows: its burst where it has one.
func (e *evidence) ceilings() []capacity {
	var all []capacity
	for _, base := range bases {
		if c, ok := e.cap(bursts[base]); ok {
			all = append(all, c)
		} else if c, ok := e.cap(base); ok {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b capacity) int { return cmp.Compare(a.iops, b.iops) })
	return all
}

// cachedCapacities hold the figure against the VM's limits of I/O to disks with a host cache.
func (e *evidence) cachedCapacities() []capacity {
	var all []capacity
	for _, c := range predict.CachedCaps(e.Disk, e.load, e.Disk.VM) {
		all = append(all, capacity{verdict: HostCache, iops: c.IOPS, x: e.iops / c.IOPS})
	}
	slices.SortStableFunc(all, func(a, b capacity) int { return cmp.Compare(a.iops, b.iops) })
	return all
}

// throughCache tells whether I/O went through the host cache: reads through a ReadOnly one, and writes,
// too, through a ReadWrite one.
func (e *evidence) throughCache() bool {
	return e.Disk.Caching == disk.CachingReadWrite || e.cachedReads()
}

// cachedReads tells whether the host cache can have answered reads.
func (e *evidence) cachedReads() bool {
	return (e.Disk.Caching == disk.CachingReadOnly || e.Disk.Caching == disk.CachingReadWrite) && e.Load.ReadPercent > 0
}

// exceeded is the lowest limit that the figure is above, burst included: published limits hold all at
// once, so that one is enough to be above what they allow together.
func (e *evidence) exceeded() (capacity, bool) {
	for _, c := range e.ceilings() {
		if c.x > bandHigh {
			return c, true
		}
	}
	return capacity{}, false
}

// below tells whether the figure is below every limit, base and burst. On-demand bursting has no end, so
// that the base is no limit then.
func (e *evidence) below() bool {
	return !slices.ContainsFunc(e.caps, func(c capacity) bool { return c.x >= bandLow && !e.overridden(c.verdict) }) &&
		!slices.ContainsFunc(e.cached, func(c capacity) bool { return c.x >= bandLow })
}

// overridden tells whether a base of the disk is no limit because bursting has no end.
func (e *evidence) overridden(v Verdict) bool {
	_, has := e.cap(bursts[v])
	return has && !isVM(v) && e.Disk.Bursting == catalog.BurstOnDemand
}

// inBand are the limits that the figure is at, from the lowest.
func (e *evidence) inBand() []capacity {
	var all []capacity
	for _, c := range e.caps {
		if c.inBand() {
			all = append(all, c)
		}
	}
	return all
}

// between finds a limit whose base is below the figure, and its burst above.
func (e *evidence) between() (base, burst capacity, ok bool) {
	for _, name := range bases {
		base, hasBase := e.cap(name)
		burst, hasBurst := e.cap(bursts[name])
		if hasBase && hasBurst && !e.overridden(name) && base.x > bandHigh && burst.x < bandLow {
			return base, burst, true
		}
	}
	return capacity{}, capacity{}, false
}

func rate(iops, blockSize float64) catalog.Rate {
	return catalog.Rate{IOPS: round(iops), BytesPerSecond: round(iops * blockSize)}
}
