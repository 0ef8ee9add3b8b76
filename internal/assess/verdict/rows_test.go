// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

const (
	kib     = 1024
	premium = "skuName=Premium_LRS"
	noCache = "cachingMode=None"
)

// on is a new uncached premium disk on a VM whose cached limit is not published, unless the class says more.
func on(t testing.TB, sizeGiB int64, vm string, class ...string) disk.Disk {
	t.Helper()
	return describe(t, sizeGiB, vm, append([]string{premium, noCache}, class...)...)
}

// reads is a minute of random 4 KiB reads with 128 outstanding, which queued: 1 ms is what one takes.
func reads(d disk.Disk, iops int64) verdict.Input {
	return verdict.Input{
		Disk: d, Load: verdict.Load{BlockSizeBytes: 4 * kib, ReadPercent: 100, Outstanding: 128},
		Total: catalog.Rate{IOPS: iops, BytesPerSecond: iops * 4 * kib}, Read: catalog.Rate{IOPS: iops, BytesPerSecond: iops * 4 * kib},
		MeanNanos: 128e9 / max(1, iops), ProbeMeanNanos: new(int64(1e6)), VariationPermille: new(int64(15)), WindowSeconds: 60,
		Device: verdict.Device{OperationsPermille: new(int64(1000)), BytesPermille: new(int64(1000))},
	}
}

// but changes an input.
func but(in verdict.Input, change func(*verdict.Input)) verdict.Input {
	change(&in)
	return in
}

// waitless has no evidence of queueing.
func waitless(in *verdict.Input) { in.ProbeMeanNanos = nil }

// mixed makes half of the I/Os writes.
func mixed(in *verdict.Input) {
	in.Load.ReadPercent = 50
	in.Write = catalog.Rate{IOPS: in.Total.IOPS / 2, BytesPerSecond: in.Total.BytesPerSecond / 2}
	in.Read = in.Write
}

func blocks(size int64) func(*verdict.Input) {
	return func(in *verdict.Input) { in.Load.BlockSizeBytes, in.Total.BytesPerSecond = size, in.Total.IOPS*size }
}

type rowCase struct {
	why     string
	in      verdict.Input
	row     string
	verdict verdict.Verdict
	reason  verdict.Reason
	also    []verdict.Verdict
	// sentence is the whole of it, or its beginning where it ends in an ellipsis.
	sentence string
	warnings []verdict.WarningReason
}

func (tc *rowCase) check(t *testing.T) {
	t.Helper()
	a := verdict.Assess(tc.in)
	if a.Row != tc.row || a.Verdict != tc.verdict || a.Reason != tc.reason {
		t.Fatalf("row %s: %s %s: %s\nwant row %s: %s %s", a.Row, a.Verdict, a.Reason, a.Sentence, tc.row, tc.verdict, tc.reason)
	}
	if diff := cmp.Diff(tc.also, a.AlsoAtLimit); diff != "" {
		t.Errorf("AlsoAtLimit: %s", diff)
	}
	start, open := strings.CutSuffix(tc.sentence, "…")
	if a.Sentence != tc.sentence && !(open && strings.HasPrefix(a.Sentence, start)) {
		t.Errorf("it says\n%s\nwant\n%s", a.Sentence, tc.sentence)
	}
	var warnings []verdict.WarningReason
	for _, w := range a.Warnings {
		warnings = append(warnings, w.Reason)
		if w.Message == "" {
			t.Errorf("%s has no message", w.Reason)
		}
	}
	if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
		t.Errorf("warnings: %s\n%v", diff, a.Warnings)
	}
}

func TestRows(t *testing.T) {
	p30, p40 := on(t, 1024, "Standard_DS14"), on(t, 2048, "Standard_D2s_v5")
	p10, cached := on(t, 128, "Standard_DS14"), describe(t, 1024, "Standard_DS14", premium, "cachingMode=ReadOnly")
	busy := verdict.CPU{ThrottledPercent: 40, BusiestWorkerPercent: 10}
	for _, tc := range []rowCase{
		{why: "1: errors", in: but(reads(p30, 5000), func(in *verdict.Input) { in.Errors = 3 }),
			row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun, sentence: "Not known what limits it: 3 I/Os failed. Find out why, and repeat it."},
		{why: "1: interrupted", in: but(reads(p30, 5000), func(in *verdict.Input) { in.Interrupted = true }),
			row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun, sentence: "Not known what limits it: the run was interrupted. Repeat it."},
		{why: "1: nothing was measured", in: reads(p30, 0),
			row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun, sentence: "Not known what limits it: there were no I/Os in the window. Repeat it."},
		{why: "1: reads of what was never written do not reach the disk", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Device = verdict.Device{OperationsPermille: new(int64(979))}
		}), row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun,
			sentence: "Not known what limits it: the disk did 0.98 I/Os for each of the load's: some never reached it. Write the file before (layout: Written)."},
		{why: "1: nor do sequential ones, which the kernel could only have merged if their bytes were there", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Load.Sequential, in.Device = true, verdict.Device{OperationsPermille: new(int64(500)), BytesPermille: new(int64(500))}
		}), row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun,
			sentence: "Not known what limits it: the disk did 0.50 I/Os for each of the load's: some never reached it. Write the file before (layout: Written)."},
		{why: "1: another reader", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Device = verdict.Device{OperationsPermille: new(int64(1051))}
		}), row: "1", verdict: verdict.Unknown, reason: verdict.InvalidRun,
			sentence: "Not known what limits it: the disk did 1.05 I/Os for each of the load's: something else used it. Repeat it alone."},
		{why: "1 does not hold at either edge of the band, and 7 does", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Device = verdict.Device{OperationsPermille: new(int64(1050))}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS, Standard_DS14 would give 51,200: use a larger or faster disk."},
		{why: "1 does not hold for I/Os of 1 MiB that the kernel splits in two: their bytes are as many", in: but(reads(p30, 190), func(in *verdict.Input) {
			blocks(1024 * kib)(in)
			in.Device = verdict.Device{OperationsPermille: new(int64(2000)), BytesPermille: new(int64(1000))}
		}), row: "7", verdict: verdict.DiskThroughput, warnings: []verdict.WarningReason{verdict.SplitOrMerged},
			sentence: "Limited by the disk: the P30 allows 200 MB/s, Standard_DS14 would give 512 MB/s: use a larger or faster disk."},
		{why: "1 does not hold for them without a count of bytes, where the device takes 512 KiB", in: but(reads(p30, 190), func(in *verdict.Input) {
			blocks(1024 * kib)(in)
			in.Device = verdict.Device{OperationsPermille: new(int64(2000)), MaxIOBytes: 512 * kib}
		}), row: "7", verdict: verdict.DiskThroughput, warnings: []verdict.WarningReason{verdict.SplitOrMerged}, sentence: "Limited by the disk: the P30 allows 200 MB/s…"},
		{why: "1 does not hold for the log of a filesystem, whose writes count against the limit", in: but(reads(p30, 2500), func(in *verdict.Input) {
			in.Load.SyncWrites, in.Load.ReadPercent, in.Read, in.Write = true, 0, catalog.Rate{}, in.Total
			in.Device = verdict.Device{OperationsPermille: new(int64(2000)), BytesPermille: new(int64(2000))}
		}), row: "7", verdict: verdict.DiskIOPS, warnings: []verdict.WarningReason{verdict.SplitOrMerged}, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "1 does not hold for merged neighbors: 20,000 I/Os of 4 KiB were 5,000 of 16 KiB", in: but(reads(p30, 20000), func(in *verdict.Input) {
			in.Load.Sequential, in.Device.OperationsPermille = true, new(int64(250))
		}), row: "7", verdict: verdict.DiskIOPS, warnings: []verdict.WarningReason{verdict.SplitOrMerged}, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},

		{why: "2: a rate that was delivered", in: but(reads(p30, 5000), func(in *verdict.Input) { in.Load.RateIOPS = 5050 }),
			row: "2", verdict: verdict.OfferedRate, sentence: "Nothing limited it: it asked for 5,050 IOPS and got 5,000."},
		{why: "2 does not hold below 99%", in: but(reads(p30, 5000), func(in *verdict.Input) { in.Load.RateIOPS = 5051 }),
			row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS, Standard_DS14 would give 51,200: use a larger or faster disk."},
		{why: "2a: the page cache", in: but(reads(p30, 5000), func(in *verdict.Input) { in.Load.Buffered = true }),
			row: "2a", verdict: verdict.Unknown, reason: verdict.Buffered,
			sentence: "Not known what limits it: I/O went through the page cache, so that its rate is not the disk's. Judge the latency of its flushes, or measure with directIO: Required."},

		{why: "3: the burst of a P10, then its base", in: but(reads(p10, 2000), func(in *verdict.Input) {
			in.Step, in.VariationPermille = &verdict.Step{AtSeconds: 30, BeforeIOPS: 3520, AfterIOPS: 505}, new(int64(700))
		}), row: "3", verdict: verdict.DiskBurst, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the burst credits of the P10, which ran out after 30 s: from 3,520 to 505 IOPS. Plan with the lower figure."},
		{why: "3: the same when the drain saw it", in: but(reads(p10, 3500), func(in *verdict.Input) {
			in.Drained = &verdict.Drained{Seconds: 1900, Step: &verdict.Step{AtSeconds: 1795, BeforeIOPS: 3520, AfterIOPS: 505}, Last: catalog.Rate{IOPS: 505}}
		}), row: "3", verdict: verdict.DiskBurst, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the burst credits of the P10, which ran out after 1,795 s: from 3,520 to 505 IOPS. Plan with the lower figure."},
		{why: "3: the VM held the burst, and the disk's credits ran out", in: but(reads(on(t, 128, "Standard_DS1"), 2000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 3210, AfterIOPS: 505}
		}), row: "3", verdict: verdict.DiskBurst, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the burst credits of the P10, which ran out after 30 s: from 3,210 to 505 IOPS. Plan with the lower figure."},
		{why: "3: the VM's credits: 7,500 of the disk, then 3,750", in: but(reads(p40, 5600), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 7510, AfterIOPS: 3760}
		}), row: "3", verdict: verdict.VMBurst, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the burst credits of Standard_D2s_v5, which ran out after 30 s: from 7,510 to 3,760 IOPS. Plan with the lower figure."},
		{why: "4: levels that are no limits", in: but(reads(p10, 2000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 2500, AfterIOPS: 1500}
		}), row: "4", verdict: verdict.Unknown, reason: verdict.UnexplainedStep, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Not known what limits it: after 30 s the level changed from 2,500 to 1,500 IOPS, and those are no published burst and its base. Look for other load, and repeat it."},
		{why: "4: from the base to the burst", in: but(reads(p10, 2000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 500, AfterIOPS: 3500}
		}), row: "4", verdict: verdict.Unknown, reason: verdict.UnexplainedStep, warnings: []verdict.WarningReason{verdict.BurstFigure}, sentence: "Not known what limits it: after 30 s…"},
		{why: "4 does not hold for a side of 19 seconds, nor 3", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 19, BeforeIOPS: 3500, AfterIOPS: 500}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "nor for one of 19 after it", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 41, BeforeIOPS: 3500, AfterIOPS: 500}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "nor for 9%", in: but(reads(p30, 5000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 5000, AfterIOPS: 4550}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},

		{why: "5: reads past the disk, with writes within", in: but(reads(cached, 9000), mixed),
			row: "5", verdict: verdict.HostCache,
			sentence: "Likely the host cache (ReadOnly) answered reads: 9,000 IOPS are more than the 5,000 IOPS that the P30 allows. Measure with cachingMode: None to see the disk."},
		{why: "6: the same with writes past the disk", in: but(reads(cached, 12000), mixed),
			row: "6", verdict: verdict.Unknown, reason: verdict.AboveKnownLimits, warnings: []verdict.WarningReason{verdict.CachedReads},
			sentence: "Not known what limits it: 12,000 IOPS are more than the 5,000 IOPS that the P30 allows. Check the class, and whether the catalog is up to date."},
		{why: "6: the same without a cache", in: reads(p30, 5201),
			row: "6", verdict: verdict.Unknown, reason: verdict.AboveKnownLimits,
			sentence: "Not known what limits it: 5,201 IOPS are more than the 5,000 IOPS that the P30 allows. Check the class, and whether the catalog is up to date."},
		{why: "6: the same without reads", in: but(reads(cached, 9000), func(in *verdict.Input) { in.Load.ReadPercent, in.Write = 0, catalog.Rate{IOPS: 1} }),
			row: "6", verdict: verdict.Unknown, reason: verdict.AboveKnownLimits, sentence: "Not known what limits it: 9,000 IOPS are more…"},
		{why: "6: other disks' load alone is no sign of hits", in: but(reads(describe(t, 1024, "Standard_DS14", premium, "cachingMode=ReadOnly"), 4500), func(in *verdict.Input) {
			in.Device.OtherIOPS = 60000
		}), row: "6", verdict: verdict.Unknown, reason: verdict.AboveKnownLimits, warnings: []verdict.WarningReason{verdict.OtherLoad, verdict.CachedReads},
			sentence: "Not known what limits it: 4,500 IOPS are more than the 51,200 IOPS that Standard_DS14 allows (of which other disks took 60,000 IOPS). Check the class, and whether the catalog is up to date."},
		{why: "6b: and to writes through a ReadOnly cache", in: but(reads(describe(t, 1024, "Standard_GS2", premium, "cachingMode=ReadOnly"), 3052), func(in *verdict.Input) {
			blocks(64 * kib)(in)
			in.Volumes, in.Load.ReadPercent, in.Read, in.Write = 2, 0, catalog.Rate{}, in.Read
		}), row: "6b", verdict: verdict.HostCache,
			sentence: "Likely limited by the host cache (ReadOnly): 3,052 IOPS (200 MB/s) are what Standard_GS2 allows to cached disks. Use a larger VM size, or measure with cachingMode: None to see the disk."},
		{why: "6b: GS2 allows 200 MB/s to cached disks, and 250 to others", in: but(reads(describe(t, 1024, "Standard_GS2", premium, "cachingMode=ReadOnly"), 3052), func(in *verdict.Input) {
			blocks(64 * kib)(in)
			in.Volumes = 2
		}), row: "6b", verdict: verdict.HostCache,
			sentence: "Likely limited by the host cache (ReadOnly): 3,052 IOPS (200 MB/s) are what Standard_GS2 allows to cached disks. Use a larger VM size, or measure with cachingMode: None to see the disk."},

		{why: "7: the VM, below the disk", in: reads(p40, 3750), row: "7", verdict: verdict.VMIOPS,
			warnings: []verdict.WarningReason{verdict.CreditsDisagree},
			sentence: "Limited by the VM: Standard_D2s_v5 allows 3,750 IOPS to uncached disks, the P40 would give 7,500: use a larger VM size."},
		{why: "7: the VM's limit of v2 and Ultra disks is one of its own", in: reads(describe(t, 160, "Standard_D4as_v6",
			"skuName=PremiumV2_LRS", "DiskIOPSReadWrite=20000", "DiskMBpsReadWrite=1200"), 7600),
			row: "7", verdict: verdict.VMIOPS, warnings: []verdict.WarningReason{verdict.CreditsDisagree},
			sentence: "Limited by the VM: Standard_D4as_v6 allows 7,600 IOPS to Premium SSD v2 and Ultra disks, the PremiumV2_LRS would give 20,000: use a larger VM size."},
		{why: "7: the VM's MB/s", in: but(reads(p40, 1297), blocks(64*kib)), row: "7", verdict: verdict.VMThroughput,
			warnings: []verdict.WarningReason{verdict.CreditsDisagree},
			sentence: "Limited by the VM: Standard_D2s_v5 allows 85 MB/s to uncached disks, the P40 would give 250 MB/s: use a larger VM size."},
		{why: "7: the VM's burst", in: but(reads(p40, 10000), func(in *verdict.Input) { in.Volumes = 2 }), row: "7", verdict: verdict.VMBurstIOPS,
			warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the VM: Standard_D2s_v5 allows 10,000 IOPS to uncached disks while burst credits last, the 2 x P40 would give 15,000: use a larger VM size."},
		{why: "7: the VM's burst MB/s", in: but(reads(p40, 1168), func(in *verdict.Input) { blocks(1024 * kib)(in); in.Volumes = 6 }),
			row: "7", verdict: verdict.VMBurstThroughput, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the VM: Standard_D2s_v5 allows 1,200 MB/s to uncached disks while burst credits last, the 6 x P40 would give 1,500 MB/s: use a larger VM size."},
		{why: "7: the burst of a P10", in: reads(p10, 3500), row: "7", verdict: verdict.DiskBurstIOPS, warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the disk: the P10 allows 3,500 IOPS while burst credits last, Standard_DS14 would give 51,200: use a larger or faster disk."},
		{why: "7: its burst MB/s", in: but(reads(p10, 648), blocks(256*kib)), row: "7", verdict: verdict.DiskBurstThroughput,
			warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Limited by the disk: the P10 allows 170 MB/s while burst credits last, Standard_DS14 would give 512 MB/s: use a larger or faster disk."},
		{why: "7: others' load counts against the VM: 3,000 and 750 are 3,750", in: but(reads(p40, 3000), func(in *verdict.Input) { in.Device.OtherIOPS = 750 }),
			row: "7", verdict: verdict.VMIOPS, warnings: []verdict.WarningReason{verdict.OtherLoad, verdict.CreditsDisagree},
			sentence: "Limited by the VM: Standard_D2s_v5 allows 3,750 IOPS to uncached disks (of which other disks took 750 IOPS), the P40 would give 7,500: use a larger VM size."},
		{why: "7: on-demand bursting has no end, and is a limit of its own", in: reads(on(t, 1024, "Standard_DS14", "enableBursting=true"), 30000),
			row: "7", verdict: verdict.DiskBurstIOPS,
			sentence: "Limited by the disk: the P30 allows 30,000 IOPS with on-demand bursting, Standard_DS14 would give 51,200: use a larger or faster disk."},
		{why: "7: at the base although on-demand bursting is on", in: reads(on(t, 1024, "Standard_DS14", "enableBursting=true"), 5000),
			row: "7", verdict: verdict.DiskIOPS, warnings: []verdict.WarningReason{verdict.BurstNotInEffect}, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "7 without a VM says so", in: reads(on(t, 1024, ""), 5000), row: "7", verdict: verdict.DiskIOPS, warnings: []verdict.WarningReason{verdict.UnknownVM},
			sentence: "Limited by the disk: the P30 allows 5,000 IOPS: use a larger or faster disk."},
		{why: "7 with the evidence of a ladder", in: but(reads(p30, 5000), func(in *verdict.Input) {
			waitless(in)
			in.Ladder = []verdict.Rung{{Outstanding: 512, IOPS: 5050}}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "7 at the low edge of the band", in: reads(p30, 4850), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "7 at its high edge", in: reads(p30, 5200), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "8: two limits", in: but(reads(on(t, 512, "Standard_DS14"), 2335), blocks(64*kib)),
			row: "8", verdict: verdict.DiskThroughput, also: []verdict.Verdict{verdict.DiskIOPS}, warnings: []verdict.WarningReason{verdict.CreditsDisagree},
			sentence: "Limited by the disk: the P20 allows 150 MB/s, Standard_DS14 would give 512 MB/s: use a larger or faster disk; it is also at DiskIOPS, so that one alone is not enough."},
		{why: "8 needs no evidence of queueing, and says so", in: but(reads(on(t, 2048, "Standard_D4as_v6"), 7500), waitless),
			row: "8", verdict: verdict.DiskIOPS, also: []verdict.Verdict{verdict.VMIOPS}, warnings: []verdict.WarningReason{verdict.NoEvidenceOfQueueing},
			sentence: "Limited by the disk: the P40 allows 7,500 IOPS, Standard_D4as_v6 would give 7,600: use a larger or faster disk; it is also at VMIOPS, so that one alone is not enough."},
		{why: "8 holds not against it", in: but(reads(on(t, 2048, "Standard_D4as_v6"), 7500), func(in *verdict.Input) { in.ProbeMeanNanos = new(in.MeanNanos) }),
			row: "12a", verdict: verdict.Unknown, reason: verdict.NoQueueingEvidence, also: []verdict.Verdict{verdict.DiskIOPS, verdict.VMIOPS},
			sentence: "Not known what limits it: 7,500 IOPS are at DiskIOPS and VMIOPS, but nothing shows that I/Os waited there. Measure with a deeper queue, or the preset ladder."},

		{why: "9: throttled", in: but(reads(p30, 900), func(in *verdict.Input) { in.CPU = busy }), row: "9", verdict: verdict.LoadGenerator,
			sentence: "Limited by the machine that made the load: its CPU limit held it back for 40% of the time. Give the benchmark's pod more CPU, or use a larger node."},
		{why: "9: a busy worker, at the edge", in: but(reads(p30, 900), func(in *verdict.Input) { in.CPU.BusiestWorkerPercent = 90 }), row: "9", verdict: verdict.LoadGenerator,
			sentence: "Limited by the machine that made the load: a worker used 90% of a core. Give…"},
		{why: "9: no core, and steal", in: but(reads(p30, 900), func(in *verdict.Input) { in.CPU.RunDelayPercent, in.CPU.StealPercent = 6, 3 }), row: "9", verdict: verdict.LoadGenerator,
			sentence: "Limited by the machine that made the load: workers waited for a core for 6% of the time, the host took 3% of the VM's CPU time. Give…"},
		{why: "9 does not hold at the other edges", in: but(reads(p30, 900), func(in *verdict.Input) {
			in.CPU = verdict.CPU{ThrottledPercent: 1, BusiestWorkerPercent: 89, RunDelayPercent: 5, StealPercent: 2}
		}), row: "12c", verdict: verdict.Unknown, reason: verdict.UnknownLimit, sentence: "Not known what limits it: I/Os waited…"},
		{why: "9 does not hold at a limit", in: but(reads(p30, 5000), func(in *verdict.Input) { in.CPU = busy }), row: "7", verdict: verdict.DiskIOPS,
			warnings: []verdict.WarningReason{verdict.BusyGenerator}, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "10: one outstanding I/O", in: but(reads(p30, 900), func(in *verdict.Input) { in.Load.Outstanding, in.MeanNanos = 1, 1_111_111 }),
			row: "10", verdict: verdict.Latency, sentence: "Limited by latency (a mean of 1.11 ms): with one outstanding I/O, 900 IOPS are all there can be. More outstanding I/Os reach more."},
		{why: "11: four times the IOPS of one", in: but(reads(p30, 3200), func(in *verdict.Input) { in.Load.Outstanding, in.MeanNanos = 4, 1_250_000 }),
			row: "11", verdict: verdict.QueueDepth, sentence: "Limited by the queue depth: 4 outstanding I/Os give 3,200 IOPS, and more would give more. Measure with a deeper queue."},
		{why: "11: twice the depth gives a fifth more", in: but(reads(p30, 3000), func(in *verdict.Input) {
			waitless(in)
			in.Ladder = []verdict.Rung{{Outstanding: 256, IOPS: 3600}}
		}), row: "11", verdict: verdict.QueueDepth, sentence: "Limited by the queue depth: 128 outstanding I/Os give 3,000 IOPS, and more would give more. Measure with a deeper queue."},
		{why: "11: four times the depth must give 44% more", in: but(reads(p30, 3000), func(in *verdict.Input) {
			waitless(in)
			in.Ladder = []verdict.Rung{{Outstanding: 512, IOPS: 4300}}
		}), row: "12", verdict: verdict.Unknown, reason: verdict.Unexplained,
			sentence: "Not known what limits it: 3,000 IOPS are below every known limit, and neither CPU, latency nor queue depth explains it. The preset ladder shows whether there is a limit."},
		{why: "11 does not hold below 0.8 of depth / latency", in: but(reads(p30, 3199), func(in *verdict.Input) { in.Load.Outstanding, in.MeanNanos = 4, 1_250_390 }),
			row: "12", verdict: verdict.Unknown, reason: verdict.Unexplained, sentence: "Not known what limits it: 3,199 IOPS are below every known limit…"},
	} {
		t.Run(tc.why, tc.check)
	}
}

func TestUnknownAlso(t *testing.T) {
	other, _ := disk.Describe(catalogtest.Load(t), disk.Facts{Driver: "file.csi.azure.com", CapacityBytes: 1 << 30})
	existing := on(t, 1024, "Standard_DS14")
	existing.Existing = true
	ambiguous := on(t, 1024, "Standard_E8bs_v5")
	if !ambiguous.VMAmbiguous {
		t.Fatal("Standard_E8bs_v5 has one set of limits")
	}
	for _, tc := range []rowCase{
		{why: "no catalog and no ladder", in: reads(other, 5000), row: "4a", verdict: verdict.Unknown, reason: verdict.NoCatalog,
			sentence: "Not known what limits it: the catalog has no limits of this disk. The preset ladder shows whether there is a limit, or too little depth."},
		{why: "and busy processors, which are warned of", in: but(reads(other, 5000), func(in *verdict.Input) { in.CPU.ThrottledPercent = 50 }),
			row: "4a", verdict: verdict.Unknown, reason: verdict.NoCatalog, warnings: []verdict.WarningReason{verdict.BusyGenerator}, sentence: "Not known what limits it: the catalog…"},
		{why: "a ladder tells a limit without a catalog", in: but(reads(other, 5000), func(in *verdict.Input) { waitless(in); in.Ladder = []verdict.Rung{{Outstanding: 512, IOPS: 5010}} }),
			row: "12c", verdict: verdict.Unknown, reason: verdict.UnknownLimit,
			sentence: "Not known what limits it: I/Os waited, and more than 128 outstanding ones give no more than 5,000 IOPS, so there is a limit; it is none that the catalog has for this disk and VM."},
		{why: "and too little depth", in: but(reads(other, 5000), func(in *verdict.Input) { waitless(in); in.Ladder = []verdict.Rung{{Outstanding: 512, IOPS: 9000}} }),
			row: "11", verdict: verdict.QueueDepth, sentence: "Limited by the queue depth: 128 outstanding I/Os give 5,000 IOPS, and more would give more. Measure with a deeper queue."},
		{why: "and nothing of its own top, where it still rises", in: but(reads(other, 9000), func(in *verdict.Input) { waitless(in); in.Ladder = []verdict.Rung{{Outstanding: 32, IOPS: 5000}} }),
			row: "12", verdict: verdict.Unknown, reason: verdict.NoCatalog, sentence: "Not known what limits it: the catalog…"},
		{why: "a deeper rung after the credits ran out shows no limit at this one", in: but(reads(other, 3500), func(in *verdict.Input) { waitless(in); in.Ladder = []verdict.Rung{{Outstanding: 512, IOPS: 500}} }),
			row: "12", verdict: verdict.Unknown, reason: verdict.NoCatalog, sentence: "Not known what limits it: the catalog…"},
		{why: "between base and burst", in: reads(on(t, 128, "Standard_DS14"), 1800), row: "12b", verdict: verdict.Unknown, reason: verdict.BetweenBaseAndBurst,
			warnings: []verdict.WarningReason{verdict.BurstFigure},
			sentence: "Not known what limits it: 1,800 IOPS are above the base (500 IOPS) and below the burst (3,500 IOPS) of the P10, without a step. Measure with a deeper queue, or with sustained: Drain."},
		{why: "even with one outstanding I/O", in: but(reads(on(t, 128, "Standard_DS14"), 1000), func(in *verdict.Input) { in.Load.Outstanding = 1 }),
			row: "12b", verdict: verdict.Unknown, reason: verdict.BetweenBaseAndBurst, warnings: []verdict.WarningReason{verdict.BurstFigure}, sentence: "Not known what limits it: 1,000 IOPS are above the base…"},
		{why: "below on-demand bursting, which is no matter of credits", in: but(reads(on(t, 1024, "Standard_DS14", "enableBursting=true"), 9000), func(in *verdict.Input) { in.Load.Outstanding = 1 }),
			row: "10", verdict: verdict.Latency, sentence: "Limited by latency…"},
		{why: "reads through a ReadOnly cache whose limit is not published", in: reads(describe(t, 1024, "Standard_D8s_v5", premium, "cachingMode=ReadOnly"), 5000),
			row: "6a", verdict: verdict.Unknown, reason: verdict.CachedLimitUnpublished, also: []verdict.Verdict{verdict.DiskIOPS}, warnings: []verdict.WarningReason{verdict.CachedReads},
			sentence: "Not known what limits it: 5,000 IOPS are at DiskIOPS, but I/O went through a host cache (ReadOnly), whose limit on Standard_D8s_v5 is not known. Measure with cachingMode: None."},
		{why: "writes go past it", in: but(reads(describe(t, 1024, "Standard_D8s_v5", premium, "cachingMode=ReadOnly"), 5000), func(in *verdict.Input) { in.Load.ReadPercent = 0 }),
			row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "and where it is published, it is a limit among others", in: reads(describe(t, 1024, "Standard_DS14", premium, "cachingMode=ReadOnly"), 5000),
			row: "7", verdict: verdict.DiskIOPS, warnings: []verdict.WarningReason{verdict.CachedReads}, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "seconds that vary by more than 20%", in: but(reads(on(t, 1024, "Standard_DS14"), 5000), func(in *verdict.Input) { in.VariationPermille = new(int64(201)) }),
			row: "4b", verdict: verdict.Unknown, reason: verdict.Unsteady,
			sentence: "Not known what limits it: the rate varied by 20% over time, so that its mean is no level. Measure longer, and look for other load."},
		{why: "repetitions that do: their seconds vary as much", in: but(reads(on(t, 1024, "Standard_DS14"), 5000), func(in *verdict.Input) { in.RepetitionIOPS = []int64{3000, 7000} }),
			row: "4b", verdict: verdict.Unknown, reason: verdict.Unsteady, sentence: "Not known what limits it: the rate varied by 40% over time…"},
		{why: "20% do not", in: but(reads(on(t, 1024, "Standard_DS14"), 5000), func(in *verdict.Input) {
			in.VariationPermille, in.RepetitionIOPS = new(int64(200)), []int64{4000, 6000}
		}), row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "a VM whose limits depend on a controller that is not known", in: but(reads(ambiguous, 24000), func(in *verdict.Input) { in.Volumes = 5 }),
			row: "4c", verdict: verdict.Unknown, reason: verdict.ControllerUnknown, also: []verdict.Verdict{verdict.VMIOPS},
			sentence: "Not known what limits it: 24,000 IOPS are at or above a limit of Standard_E8bs_v5 with one disk controller, and not known is whether it is that one, SCSI or NVMe. Measure a volume whose device the kernel shows."},
		{why: "a figure below the lower of them is judged", in: reads(ambiguous, 5000),
			row: "7", verdict: verdict.DiskIOPS, sentence: "Limited by the disk: the P30 allows 5,000 IOPS…"},
		{why: "an existing claim", in: reads(existing, 5000), row: "2b", verdict: verdict.Unknown, reason: verdict.ExistingClaim, also: []verdict.Verdict{verdict.DiskIOPS},
			sentence: "Not known what limits it: the disk was there before, and its performance tier, its burst credits and on-demand bursting do not show in Kubernetes. Measure a new volume of the class."},
		{why: "above what its size allows, a performance tier is likelier than the cache", in: reads(existing, 7500), row: "2b", verdict: verdict.Unknown, reason: verdict.ExistingClaim,
			sentence: "Not known what limits it: the disk was there before…"},
		{why: "and its step", in: but(reads(existing, 2000), func(in *verdict.Input) { in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 3000, AfterIOPS: 1000} }),
			row: "2b", verdict: verdict.Unknown, reason: verdict.ExistingClaim, sentence: "Not known what limits it: the disk was there before…"},
		{why: "what is hidden only raises limits, so that a figure below them is judged", in: but(reads(existing, 900), func(in *verdict.Input) { in.Load.Outstanding = 1 }),
			row: "10", verdict: verdict.Latency, sentence: "Limited by latency…"},
		{why: "at a limit without evidence of queueing", in: but(reads(on(t, 1024, "Standard_DS14"), 5000), waitless), row: "12a", verdict: verdict.Unknown, reason: verdict.NoQueueingEvidence,
			also: []verdict.Verdict{verdict.DiskIOPS}, sentence: "Not known what limits it: 5,000 IOPS are at DiskIOPS, but nothing shows that I/Os waited there. Measure with a deeper queue, or the preset ladder."},
		{why: "a mean that is not 1.5 times the probe's", in: but(reads(on(t, 1024, "Standard_DS14"), 5000), func(in *verdict.Input) { in.MeanNanos = 1_499_999 }),
			row: "12a", verdict: verdict.Unknown, reason: verdict.NoQueueingEvidence, also: []verdict.Verdict{verdict.DiskIOPS}, sentence: "Not known what limits it: 5,000 IOPS are at DiskIOPS…"},
		{why: "queueing at no limit", in: reads(on(t, 1024, "Standard_DS14"), 3000), row: "12c", verdict: verdict.Unknown, reason: verdict.UnknownLimit,
			sentence: "Not known what limits it: I/Os waited, and more than 128 outstanding ones give no more than 3,000 IOPS, so there is a limit; it is none that the catalog has for this disk and VM."},
		{why: "no explanation", in: but(reads(on(t, 1024, "Standard_DS14"), 3000), waitless), row: "12", verdict: verdict.Unknown, reason: verdict.Unexplained,
			sentence: "Not known what limits it: 3,000 IOPS are below every known limit…"},
	} {
		t.Run(tc.why, tc.check)
	}
}

// The published study of virtual desktops: DiskSpd with 16 outstanding I/Os, half of them writes, on OS
// disks, whose host cache defaults to ReadWrite, of Standard_D4as_v6. It gives no latency of a single I/O.
func TestStudy(t *testing.T) {
	const readWrite = "cachingMode=ReadWrite"
	study := func(d disk.Disk, iops int64) verdict.Input {
		return but(reads(d, iops), func(in *verdict.Input) {
			mixed(in)
			waitless(in)
			in.Load.Outstanding, in.MeanNanos, in.Device, in.VariationPermille = 16, 16e9/iops, verdict.Device{}, nil
		})
	}
	of := func(sizeGiB int64, class ...string) disk.Disk {
		return describe(t, sizeGiB, "Standard_D4as_v6", class...)
	}
	standard := "skuName=StandardSSD_LRS"
	for _, tc := range []struct {
		why     string
		in      verdict.Input
		verdict verdict.Verdict
		reason  verdict.Reason
	}{
		{"P40 is 5% above its limit, by the cache", study(of(2048, premium, readWrite), 7844), verdict.HostCache, ""},
		{"or unexplained without it", study(of(2048, premium, noCache), 7844), verdict.Unknown, verdict.AboveKnownLimits},
		{"and is not limited by the disk even if I/Os waited", but(study(of(2048, premium, noCache), 7844), func(in *verdict.Input) { in.ProbeMeanNanos = new(int64(1e6)) }),
			verdict.Unknown, verdict.AboveKnownLimits},
		{"P50 is 8% above: of 4,096 GiB it has no cache", study(of(4096, premium, noCache), 8124), verdict.Unknown, verdict.AboveKnownLimits},
		{"P50 of 4,095 GiB has", study(of(4095, premium, readWrite), 8124), verdict.HostCache, ""},
		{"P10 is between its base and its burst", study(of(128, premium, readWrite), 1800), verdict.Unknown, verdict.BetweenBaseAndBurst},
		{"E10: 850 are twice 425 writes, which it allows", study(of(128, standard, readWrite), 850), verdict.HostCache, ""},
		{"E15, the same", study(of(256, standard, readWrite), 980), verdict.HostCache, ""},
		{"E20, the same", study(of(512, standard, readWrite), 980), verdict.HostCache, ""},
		{"E40 has no burst, and allows the writes, too", study(of(2048, standard, readWrite), 980), verdict.HostCache, ""},
		{"E50 of 4,096 GiB has no cache", study(of(4096, standard, noCache), 980), verdict.Unknown, verdict.AboveKnownLimits},
		{"E30 bursts to 1,000, and 850 are between", study(of(1024, standard, readWrite), 850), verdict.Unknown, verdict.BetweenBaseAndBurst},
		{"and 980 are at it, or cached reads", study(of(1024, standard, readWrite), 980), verdict.Unknown, verdict.CachedLimitUnpublished},
		{"or, without a cache, at it without evidence", study(of(1024, standard, noCache), 980), verdict.Unknown, verdict.NoQueueingEvidence},
	} {
		if a := verdict.Assess(tc.in); a.Verdict != tc.verdict || a.Reason != tc.reason {
			t.Errorf("%s: %s %s by row %s: %s", tc.why, a.Verdict, a.Reason, a.Row, a.Sentence)
		}
	}
}
