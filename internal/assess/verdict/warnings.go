// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import "fmt"

// warnings are what to know when the verdict is used.
func (e *evidence) warnings(f finding, start Ledger) []Warning {
	var all []Warning
	warn := func(ok bool, reason WarningReason, format string, args ...any) {
		if ok {
			all = append(all, Warning{Reason: reason, Message: fmt.Sprintf(format, args...)})
		}
	}
	known := len(e.caps) > 0
	warn(known && e.Disk.VM == nil, UnknownVM, "no limit of the VM is known, so that one of them may be what limits")
	warn(known && e.Disk.VM != nil && e.Disk.VM.Disputed, DisputedVM, "published limits of %s disagree; the lower of each was used", e.vmName())
	warn(known && e.needsCredits(), BurstFigure,
		"%s do not last: without burst credits published limits leave %s", e.figure(e.iops), e.sustainedFigure())
	warn(e.busy() && f.verdict != LoadGenerator, BusyGenerator, "the load generator was short of CPU: %s", e.shortage())
	warn(f.verdict != Unknown && len(f.at) > 1 && e.queueing == unknown, NoEvidenceOfQueueing,
		"nothing was measured that shows whether I/Os waited: the verdict rests on the figure alone")
	warn(float64(e.Device.OtherIOPS) >= otherLoad*e.iops && e.Device.OtherIOPS > 0, OtherLoad,
		"other disks of the node had %s IOPS meanwhile, which count against the VM's limits", group(e.Device.OtherIOPS))
	warn(e.Load.Streams > 1 && known, MixedStreams, "the streams were judged together, by their mean block size of %d bytes", e.Load.BlockSizeBytes)
	warn(known && e.cachedReads() && f.verdict != HostCache, CachedReads, "the disk has a host cache (%s), which can have answered reads", e.Disk.Caching)
	warn(e.deviceRatio() != 1, SplitOrMerged, "the disk did %.2f I/Os for each of the load's, and its own were held against the limits", e.deviceRatio())
	all = append(all, e.disagreements(f, start)...)
	return all
}

// needsCredits tells whether the figure is more than what lasts.
func (e *evidence) needsCredits() bool {
	return e.prediction != nil && e.prediction.Sustained.IOPS*bandHigh < e.iops && !e.above() && e.prediction.BurstSeconds > 0
}

// otherLoad is the share of the load from which that of other disks is worth a word (j).
const otherLoad = 0.1

func (e *evidence) sustainedFigure() string {
	if e.prediction == nil {
		return ""
	}
	return e.figure(e.prediction.Sustained.IOPS)
}

// disagreements of the estimated credits with the figure.
func (e *evidence) disagreements(f finding, start Ledger) []Warning {
	var all []Warning
	if f.verdict == Unknown || len(f.at) == 0 || f.verdict == DiskBurst || f.verdict == VMBurst {
		return nil
	}
	v := f.verdict
	if isBurst(v) && start.empty(v) {
		all = append(all, Warning{CreditsDisagree, "by the estimate no burst credits were left at the start, and the figure is at the burst limit"})
	}
	if !isBurst(v) && start.mostlyFull(bursts[v]) {
		all = append(all, Warning{CreditsDisagree, "by the estimate burst credits were left, and the figure is at the limit without them"})
	}
	return all
}
