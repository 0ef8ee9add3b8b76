// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// sentence says a finding to a person: what it is, from which figures, and what to do.
func (e *evidence) sentence(f finding) string {
	if f.verdict == Unknown {
		return "Not known what limits it: " + e.unknown(f)
	}
	switch f.verdict {
	case OfferedRate:
		return fmt.Sprintf("Nothing limited it: it asked for %s IOPS and got %s.", group(e.Load.RateIOPS), group(e.Total.IOPS))
	case DiskBurst, VMBurst:
		return fmt.Sprintf("Limited by burst credits of %s, which ran out after %d s: from %s to %s IOPS. Plan with the lower figure.",
			e.owner(f.verdict == VMBurst), e.step.AtSeconds, group(e.step.BeforeIOPS), group(e.step.AfterIOPS))
	case HostCache:
		return fmt.Sprintf("Likely the host cache (%s) answered reads: %s, where disk and VM allow %s. Measure with cachingMode: None to see the disk.",
			e.Disk.Caching, e.figure(e.iops), e.figure(e.ceilings()[0].iops))
	case LoadGenerator:
		return fmt.Sprintf("Limited by the machine that made the load (%s): give the benchmark's pod more CPU, or use a larger node.", e.shortage())
	case Latency:
		return fmt.Sprintf("Limited by latency: with one outstanding I/O, %s are all that %s each allow. More outstanding I/Os reach more.",
			e.figure(e.iops), millis(e.MeanNanos))
	case QueueDepth:
		return fmt.Sprintf("Limited by the queue depth: %d outstanding I/Os give %s, and more of them give more. Measure with a deeper queue.",
			e.Load.Outstanding, e.figure(e.iops))
	}
	return e.limited(f)
}

// limited is the sentence of a published limit.
func (e *evidence) limited(f finding) string {
	at := f.at[0]
	disk := "the " + e.diskName()
	if isVM(at.verdict) {
		s := fmt.Sprintf("Limited by the VM: %s allows %s to uncached disks%s", e.vmName(), e.limit(at), e.burstNote(at.verdict))
		if other, ok := e.lowestOther(true); ok {
			s += fmt.Sprintf(", %s would give %s", disk, e.limit(other))
		}
		return s + ": use a larger VM size."
	}
	s := fmt.Sprintf("Limited by the disk: %s allows %s%s", disk, e.limit(at), e.burstNote(at.verdict))
	if other, ok := e.lowestOther(false); ok {
		s += fmt.Sprintf(", the VM (%s) would give %s", e.vmName(), e.limit(other))
	}
	return s + ": use a larger or faster disk."
}

func (e *evidence) burstNote(v Verdict) string {
	if !isBurst(v) {
		return ""
	}
	if !isVM(v) && e.Disk.Bursting == catalog.BurstOnDemand {
		return " with on-demand bursting"
	}
	return " while burst credits last"
}

// lowestOther is the lowest base of the disk where the VM limits, and of the VM where the disk does.
func (e *evidence) lowestOther(vmLimits bool) (capacity, bool) {
	for _, c := range e.ceilings() {
		if c.vm() != vmLimits {
			return c, true
		}
	}
	return capacity{}, false
}

// unknown is the rest of the sentence of Unknown.
func (e *evidence) unknown(f finding) string {
	switch f.reason {
	case InvalidRun:
		return e.invalid()
	case UnexplainedStep:
		return fmt.Sprintf("after %d s the level changed from %s to %s IOPS, and those are no published burst and its base. Look for other load, and repeat it.",
			e.step.AtSeconds, group(e.step.BeforeIOPS), group(e.step.AfterIOPS))
	case AboveKnownLimits:
		return fmt.Sprintf("%s are more than the %s that published limits allow. Check the class, and whether the catalog is up to date.",
			e.figure(e.iops), e.figure(e.ceilings()[0].iops))
	case NoCatalog:
		return "the limits of this disk are not published in the catalog. The preset ladder shows whether there is a limit, or too little depth."
	case UnknownLimit:
		return fmt.Sprintf("more outstanding I/Os than %d give no more than %s, so something limits it that the catalog does not have.", e.Load.Outstanding, e.figure(e.iops))
	case BetweenBaseAndBurst:
		base, burst, _ := e.between()
		return fmt.Sprintf("%s are above the base (%s) and below the burst (%s) of %s, without a step. Measure longer, with a deeper queue, or with sustained: Drain.",
			e.figure(e.iops), e.limit(base), e.limit(burst), e.owner(base.vm()))
	case CachedLimitUnpublished:
		return fmt.Sprintf("%s are at %s, but reads went through a ReadOnly host cache, whose limit on %s is not published. Measure with cachingMode: None.",
			e.figure(e.iops), names(f.at), e.vmName())
	case ControllerUnknown:
		return fmt.Sprintf("%s has other limits with NVMe than with SCSI, and which it used is not known.", e.vmName())
	case Unsteady:
		return fmt.Sprintf("the rate varied by %d%% from second to second, so that its mean is no level. Measure longer, and look for other load.", *e.VariationPermille/10)
	case ExistingClaim:
		return "the disk was there before, and its performance tier, its burst credits and on-demand bursting do not show in Kubernetes. Measure a new volume of the class."
	case Buffered:
		return "I/O went through the page cache, so that its rate is not the disk's. Judge the latency of its flushes, or measure with directIO: Required."
	case NoQueueingEvidence:
		return fmt.Sprintf("%s are at %s, but nothing shows that I/Os waited there. Measure with a deeper queue, or the preset ladder.", e.figure(e.iops), names(f.at))
	}
	return fmt.Sprintf("%s are below every known limit, and neither CPU, latency nor queue depth explains it. The preset ladder shows whether there is a limit.", e.figure(e.iops))
}

func (e *evidence) invalid() string {
	switch ratio, known := e.ratio(); {
	case e.Interrupted:
		return "the run was interrupted. Repeat it."
	case e.Errors > 0:
		return fmt.Sprintf("%d I/Os failed. Find out why, and repeat it.", e.Errors)
	case e.Total.IOPS <= 0:
		return "there were no I/Os in the window. Repeat it."
	case known && ratio < ratioLow:
		return fmt.Sprintf("the disk did %.2f I/Os for each of the load's: some never reached it. Write the file before (layout: Written).", ratio)
	default:
		ratio, _ := e.ratio()
		return fmt.Sprintf("the disk did %.2f I/Os for each of the load's: something else used it. Repeat it alone.", ratio)
	}
}

// shortage says what the load generator was short of.
func (e *evidence) shortage() string {
	c := e.CPU
	var all []string
	say := func(ok bool, format string, percent int32) {
		if ok {
			all = append(all, fmt.Sprintf(format, percent))
		}
	}
	say(c.ThrottledPercent > throttledPercent, "its CPU limit held it back for %d%% of the time", c.ThrottledPercent)
	say(c.BusiestWorkerPercent >= workerPercent, "a worker used %d%% of a core", c.BusiestWorkerPercent)
	say(c.RunDelayPercent > runDelayPercent, "workers waited for a core for %d%% of the time", c.RunDelayPercent)
	say(c.StealPercent > stealPercent, "the host took %d%% of the VM's CPU time", c.StealPercent)
	return strings.Join(all, ", ")
}

func (e *evidence) owner(vm bool) string {
	if vm {
		return "the VM (" + e.vmName() + ")"
	}
	return "the " + e.diskName()
}

func (e *evidence) vmName() string {
	if e.Disk.VM != nil {
		return e.Disk.VM.Size
	}
	return cmp.Or(e.Disk.VMSize, "the VM")
}

func (e *evidence) diskName() string {
	name := cmp.Or(string(e.Disk.SKU), "disk")
	if e.Disk.Tier != nil {
		name = e.Disk.Tier.Name
	}
	if e.Volumes > 1 {
		return fmt.Sprintf("%d x %s", e.Volumes, name)
	}
	return name
}

// limit in the unit in which it is published.
func (e *evidence) limit(c capacity) string {
	switch c.verdict {
	case DiskThroughput, DiskBurstThroughput, VMThroughput, VMBurstThroughput:
		return megabytes(c.iops * float64(e.load.BlockSizeBytes))
	}
	return group(round(c.iops*units(e.load.BlockSizeBytes))) + " IOPS"
}

// figure is a rate in I/Os, and in MB/s where those are large.
func (e *evidence) figure(iops float64) string {
	if e.load.BlockSizeBytes > 16<<10 {
		return group(round(iops)) + " IOPS (" + megabytes(iops*float64(e.load.BlockSizeBytes)) + ")"
	}
	return group(round(iops)) + " IOPS"
}

func names(at []capacity) string {
	all := make([]string, 0, len(at))
	for _, c := range at {
		all = append(all, string(c.verdict))
	}
	return strings.Join(all, " and ")
}

func megabytes(bytesPerSecond float64) string {
	return group(round(bytesPerSecond/1e6)) + " MB/s"
}

func millis(nanos int64) string {
	return strconv.FormatFloat(float64(nanos)/1e6, 'f', 2, 64) + " ms"
}

// group writes thousands with commas.
func group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
