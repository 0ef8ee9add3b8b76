// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"slices"
)

// otherLoad is the share of the load from which that of other disks is worth a word (j).
const otherLoad = 0.1

// warnings are what to know when the verdict is used.
func (e *evidence) warnings(f finding, start Ledger) []Warning {
	var all []Warning
	warn := func(holds bool, reason WarningReason, format string, args ...any) {
		if holds {
			all = append(all, Warning{Reason: reason, Message: fmt.Sprintf(format, args...)})
		}
	}
	known := len(e.caps) > 0
	warn(known && !e.hasVMLimits(), UnknownVM, "no limit of the VM is known, so that one of them may be what limits")
	warn(known && e.Disk.VM != nil && e.Disk.VM.Disputed, DisputedVM, "sources disagree on the limits of %s; the lower ones count", e.vmName())
	warn(e.needsCredits(), BurstFigure, "%s need burst credits and do not last: published limits leave %s without", e.figure(e.iops), e.lasting())
	warn(e.busy() && f.verdict != LoadGenerator, BusyGenerator, "the load generator was short of CPU: %s", e.shortage())
	warn(f.named() && e.queueing == unknown, NoEvidenceOfQueueing,
		"nothing was measured that shows whether I/Os waited: the verdict rests on the figure alone")
	warn(e.othersBusy(), OtherLoad, "other disks of the node had %s IOPS and %s meanwhile, which count against the VM's limits",
		group(e.Device.OtherIOPS), megabytes(float64(e.Device.OtherBytesPerSecond)))
	warn(known && e.Load.Streams > 1, MixedStreams, "the streams were judged together, by their mean block size of %s bytes", group(e.Load.BlockSizeBytes))
	warn(f.named() && e.overridden(f.verdict), BurstNotInEffect, "the class switches on-demand bursting on, and the figure is at the limit without: it may not be in effect")
	warn(known && e.throughCache() && f.verdict != HostCache, CachedReads, "I/O can have been answered by the host cache (%s)", e.Disk.Caching)
	warn(e.ratio != 1, SplitOrMerged, "the disk did %.2f I/Os for each of the load's; its own count against the limits", e.ratio)
	warn(f.named() && isBurst(f.verdict) && start.empty(f.verdict), CreditsDisagree,
		"by the estimate no burst credits were left at the start, and the figure is at the limit with them")
	warn(f.named() && !isBurst(f.verdict) && start.mostlyFull(bursts[f.verdict]), CreditsDisagree,
		"by the estimate most burst credits were left at the start, and the figure is at the limit without them")
	return all
}

// othersBusy tells whether the node's other disks had a good part of this load, in I/Os or in bytes.
func (e *evidence) othersBusy() bool {
	d := e.Device
	return d.OtherIOPS > 0 && float64(d.OtherIOPS) >= otherLoad*e.iops ||
		d.OtherBytesPerSecond > 0 && float64(d.OtherBytesPerSecond) >= otherLoad*e.iops*float64(e.load.BlockSizeBytes)
}

// named tells whether the verdict is a published limit.
func (f finding) named() bool {
	return len(f.at) > 0 && f.verdict == f.at[0].verdict && f.verdict != HostCache
}

func (e *evidence) hasVMLimits() bool {
	return slices.ContainsFunc(e.caps, capacity.vm)
}

// needsCredits tells whether the figure is more than what lasts, by credits and not by the host cache. An
// existing disk can be of a higher performance tier, which lasts.
func (e *evidence) needsCredits() bool {
	if e.prediction == nil || e.prediction.BurstSeconds == 0 || e.Disk.Existing {
		return false
	}
	_, above := e.exceeded()
	return !above && e.iops > bandHigh*e.prediction.Sustained.IOPS
}

// lasting is the sustained prediction.
func (e *evidence) lasting() string {
	if e.prediction == nil {
		return ""
	}
	return e.figure(e.prediction.Sustained.IOPS)
}
