// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// sentence says a finding to a person: what it is, from which figures, and what to do.
func (e *evidence) sentence(f finding) string {
	switch f.verdict {
	case Unknown:
		return "Not known what limits it: " + e.unknown(f)
	case OfferedRate:
		return fmt.Sprintf("Nothing limited it: it asked for %s IOPS and got %s.", group(e.Load.RateIOPS), group(e.Total.IOPS))
	case DiskBurst, VMBurst:
		return fmt.Sprintf("Limited by the burst credits of %s, which ran out after %s s: from %s to %s IOPS. Plan with the lower figure.",
			e.owner(f.verdict == VMBurst), group(e.step.AtSeconds), group(e.step.BeforeIOPS), group(e.step.AfterIOPS))
	case HostCache:
		return e.cacheHits(f)
	case LoadGenerator:
		return "Limited by the machine that made the load: " + e.shortage() + ". Give the benchmark's pod more CPU, or use a larger node."
	case Latency:
		return fmt.Sprintf("Limited by latency%s: with one outstanding I/O, %s are all there can be. More outstanding I/Os reach more.", e.mean(), e.figure(e.iops))
	case QueueDepth:
		return fmt.Sprintf("Limited by the queue depth: %s outstanding I/Os give %s, and more would give more. Measure with a deeper queue.",
			group(int64(e.Load.Outstanding)), e.figure(e.iops))
	default:
		return e.limited(f)
	}
}

func (e *evidence) cacheHits(f finding) string {
	if len(f.at) > 0 {
		return fmt.Sprintf("Likely limited by the host cache (%s): %s are what %s allows to cached disks. Use a larger VM size, or measure with cachingMode: None to see the disk.",
			e.Disk.Caching, e.figure(e.iops), e.vmName())
	}
	past, _ := e.exceeded()
	return fmt.Sprintf("Likely the host cache (%s) answered reads: %s are more than the %s that %s allows. Measure with cachingMode: None to see the disk.",
		e.Disk.Caching, e.figure(e.iops), e.limit(past), e.owner(past.vm()))
}

// mean latency in parentheses, where it is known.
func (e *evidence) mean() string {
	if e.MeanNanos <= 0 {
		return ""
	}
	return " (a mean of " + strconv.FormatFloat(float64(e.MeanNanos)/1e6, 'f', 2, 64) + " ms)"
}

// limited is the sentence of a published limit.
func (e *evidence) limited(f finding) string {
	at := f.at[0]
	subject, allowed, remedy := "the disk: the "+e.diskName(), e.limit(at), "use a larger or faster disk"
	if at.vm() {
		subject, allowed, remedy = "the VM: "+e.vmName(), allowed+" to "+e.limitedDisks(), "use a larger VM size"
	}
	s := "Limited by " + subject + " allows " + allowed + e.whileBursting(at.verdict)
	if taken := e.taken(at); taken != "" {
		s += " (" + taken + ")"
	}
	if other, ok := e.other(at); ok {
		s += ", " + e.otherName(at) + " would give " + e.unitless(other, at)
	}
	if len(f.at) > 1 {
		remedy += "; it is also at " + names(f.at[1:]) + ", so that one alone is not enough"
	}
	return s + ": " + remedy + "."
}

// limitedDisks are those that a limit of the VM is for.
func (e *evidence) limitedDisks() string {
	if e.Disk.VM != nil && e.Disk.VM.V2Ultra != nil && !e.Disk.Family.Tiered() {
		return "Premium SSD v2 and Ultra disks"
	}
	return "uncached disks"
}

func (e *evidence) whileBursting(v Verdict) string {
	switch {
	case !isBurst(v):
		return ""
	case !isVM(v) && e.Disk.Bursting == catalog.BurstOnDemand:
		return " with on-demand bursting"
	default:
		return " while burst credits last"
	}
}

// taken is what other disks took of a limit of the VM.
func (e *evidence) taken(c capacity) string {
	switch {
	case c.vm() && inBytes(c.verdict) && e.Device.OtherBytesPerSecond > 0:
		return "of which other disks took " + megabytes(float64(e.Device.OtherBytesPerSecond))
	case c.vm() && !inBytes(c.verdict) && e.Device.OtherIOPS > 0:
		return "of which other disks took " + group(e.Device.OtherIOPS) + " IOPS"
	default:
		return ""
	}
}

// other is the next limit on the other side, disk or VM: of each meter its base, or its burst where the
// figure needs that.
func (e *evidence) other(at capacity) (capacity, bool) {
	var all []capacity
	for _, name := range bases {
		c, ok := e.cap(name)
		if burst, has := e.cap(bursts[name]); has && (c.iops < at.iops || isBurst(at.verdict)) {
			c = burst
		}
		if ok && c.vm() != at.vm() {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return capacity{}, false
	}
	return slices.MinFunc(all, func(a, b capacity) int { return cmp.Compare(a.iops, b.iops) }), true
}

func (e *evidence) otherName(at capacity) string {
	if at.vm() {
		return "the " + e.diskName()
	}
	return e.vmName()
}

// unitless leaves the unit out where it is that of a limit before.
func (e *evidence) unitless(c, before capacity) string {
	if inBytes(c.verdict) || inBytes(before.verdict) {
		return e.limit(c)
	}
	return strings.TrimSuffix(e.limit(c), " IOPS")
}

// unknown is the rest of the sentence of Unknown.
func (e *evidence) unknown(f finding) string {
	figure := e.figure(e.iops)
	switch f.reason {
	case InvalidRun:
		return e.invalid()
	case UnexplainedStep:
		return fmt.Sprintf("after %s s the level changed from %s to %s IOPS, and those are no published burst and its base. Look for other load, and repeat it.",
			group(e.step.AtSeconds), group(e.step.BeforeIOPS), group(e.step.AfterIOPS))
	case AboveKnownLimits:
		return e.tooMuch()
	case NoCatalog:
		return "the catalog has no limits of this disk. The preset ladder shows whether there is a limit, or too little depth."
	case UnknownLimit:
		return fmt.Sprintf("I/Os waited, and more than %s outstanding ones give no more than %s, so there is a limit; it is none that the catalog has for this disk and VM.",
			group(int64(e.Load.Outstanding)), figure)
	case BetweenBaseAndBurst:
		base, burst, _ := e.between()
		return fmt.Sprintf("%s are above the base (%s) and below the burst (%s) of %s, without a step. Measure with a deeper queue, or with sustained: Drain.",
			figure, e.limit(base), e.limit(burst), e.owner(base.vm()))
	case CachedLimitUnpublished:
		return fmt.Sprintf("%s are at %s, but I/O went through a host cache (%s), whose limit on %s is not known. Measure with cachingMode: None.",
			figure, names(f.at), e.Disk.Caching, e.vmName())
	case ControllerUnknown:
		return fmt.Sprintf("%s are at or above a limit of %s with one disk controller, and not known is whether it is that one, SCSI or NVMe. Measure a volume whose device the kernel shows.",
			figure, e.vmName())
	case Unsteady:
		return fmt.Sprintf("the rate varied by %s%% over time, so that its mean is no level. Measure longer, and look for other load.", group(e.varied()/10))
	case ExistingClaim:
		return "the disk was there before, and its performance tier, its burst credits and on-demand bursting do not show in Kubernetes. Measure a new volume of the class."
	case Buffered:
		return "I/O went through the page cache, so that its rate is not the disk's. Judge the latency of its flushes, or measure with directIO: Required."
	case NoQueueingEvidence:
		return fmt.Sprintf("%s are at %s, but nothing shows that I/Os waited there. Measure with a deeper queue, or the preset ladder.", figure, names(f.at))
	default:
		return figure + " are below every known limit, and neither CPU, latency nor queue depth explains it. The preset ladder shows whether there is a limit."
	}
}

func (e *evidence) tooMuch() string {
	past, _ := e.exceeded()
	with := ""
	if taken := e.taken(past); taken != "" {
		with = " (" + taken + ")"
	}
	return fmt.Sprintf("%s are more than the %s that %s allows%s. Check the class, and whether the catalog is up to date.",
		e.figure(e.iops), e.limit(past), e.owner(past.vm()), with)
}

func (e *evidence) invalid() string {
	switch ratio, _ := e.counted(); {
	case e.Interrupted:
		return "the run was interrupted. Repeat it."
	case e.Errors > 0:
		return group(e.Errors) + " I/Os failed. Find out why, and repeat it."
	case e.Total.IOPS <= 0:
		return "there were no I/Os in the window. Repeat it."
	case ratio < ratioLow || e.Device.BytesPermille != nil && *e.Device.BytesPermille < 1000*ratioLow:
		return fmt.Sprintf("the disk did %.2f I/Os for each of the load's: some never reached it. Write the file before (layout: Written).", ratio)
	default:
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
		return e.vmName()
	}
	return "the " + e.diskName()
}

func (e *evidence) vmName() string {
	if e.Disk.VM != nil {
		return e.Disk.VM.Size
	}
	return cmp.Or(e.Disk.VMSize, "this VM")
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
	if inBytes(c.verdict) {
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
