// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/azure/cost"
	"github.com/diskbench/diskbench/internal/azure/disk"
	"github.com/diskbench/diskbench/internal/plan"
)

// unknownCost is what people read where there is no amount.
const unknownCost = "unknown"

// quantityPlaces are more than any price has.
const quantityPlaces = 8

// cost is what the volume of a run with figures costs a month, and what the run cost.
func (r *run) cost(now time.Time) *v1alpha1.Cost {
	d, p := r.disk, r.prices
	rates := r.sustainedIOPS()
	w := pricedWorkload(r.spec, r.status, d, rates)
	o := options(r.spec, now)
	if w != nil {
		o.SustainedIOPS = rates[w.Name]
		if io, ok := billedIO(w, rates); ok {
			o.Use.IOPS, o.Use.BlockSizeBytes = &io.iops, io.size
		}
	}
	e := cost.Monthly(p.Catalog, d, o)
	out := &v1alpha1.Cost{
		Currency: e.Currency, Region: e.Region,
		PerMonth: amount(e.PerMonth), PerMonthAtCap: amount(e.PerMonthAtCap), FleetPerMonth: amount(e.FleetPerMonth),
		PerThousandSustainedIOPS: amount(e.PerThousandIOPS),
		NotIncluded:              e.NotIncluded,
		PriceDate:                e.OldestPrice.String(),
		Source:                   source(e, d, p),
		Run:                      runCost(r.spec, r.status, p, d, o),
	}
	if w != nil {
		out.Workload = w.Name
	}
	for _, l := range e.Lines {
		out.Lines = append(out.Lines, v1alpha1.CostLine{
			Item: string(l.Item), Quantity: l.Quantity.Round(quantityPlaces).String(), Unit: string(l.Unit),
			UnitPrice: l.UnitPrice.String(), Amount: l.Amount,
		})
	}
	for _, u := range e.Unknown {
		out.Unknown = append(out.Unknown, v1alpha1.UnknownCost{Item: string(u.Item), Why: u.Why})
	}
	for _, w := range e.Warnings {
		out.Warnings = append(out.Warnings, v1alpha1.StatusWarning{Reason: string(w.Reason), Message: w.Message})
	}
	for _, w := range r.odd {
		if w.Reason == disk.HiddenProperties && d.Coverage == disk.Covered {
			out.Warnings = append(out.Warnings, v1alpha1.StatusWarning{Reason: string(w.Reason), Message: w.Message + ": the price is for the disk without them"})
		}
	}
	return out
}

// CostWords are a month's price for people, such as 19.71 USD, or unknown.
func CostWords(c *v1alpha1.Cost) string {
	if c.PerMonth == "" {
		return unknownCost
	}
	return c.PerMonth + " " + c.Currency
}

// options are those of spec.cost, for one set of volumes.
func options(spec *v1alpha1.DiskBenchmarkSpec, now time.Time) cost.Options {
	o := cost.Options{Disks: int64(plan.VolumesOfSet(spec)), Now: now}
	c := spec.Cost
	if c == nil {
		return o
	}
	o.Region, o.Currency = ptr.Deref(c.Region, ""), ptr.Deref(c.Currency, "")
	o.FleetSize, o.DiscountPercent = int64(ptr.Deref(c.FleetSize, 0)), int64(ptr.Deref(c.DiscountPercent, 0))
	o.Use.BusyHoursPercent, o.Use.RateWhenBusyPercent = wide(c.BusyHoursPercent), wide(c.RateWhenBusyPercent)
	o.Reservation = cost.Reservation(ptr.Deref(c.Reservation, string(cost.NoReservation)))
	if c.CostPerMonth != nil {
		if figure, err := decimal.NewFromString(*c.CostPerMonth); err == nil { // the schema takes nothing else
			o.CostPerMonth = &figure
		}
	}
	return o
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return ptr.To(int64(*n))
}

// pricedWorkload is the one whose rate a month is priced with: that of the targets, or else the one with
// the most transactions.
func pricedWorkload(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, d disk.Disk, rates map[string]int64) *v1alpha1.Measurement {
	if len(s.Measurements) == 0 {
		return nil
	}
	candidates := plan.InQuestion(spec, s.Measurements)
	if len(candidates) == 0 {
		candidates = s.Measurements
	}
	rate := func(m *v1alpha1.Measurement) int64 {
		io, _ := billedIO(m, rates)
		return io.iops * io.units(unitBytes(d))
	}
	most := &candidates[0]
	for i := range candidates {
		if rate(&candidates[i]) > rate(most) {
			most = &candidates[i]
		}
	}
	return most
}

// billedIO is a workload's I/O for a month: at its sustained rate, where that is known.
func billedIO(m *v1alpha1.Measurement, rates map[string]int64) (diskIO, bool) {
	io, ok := diskIOOf(m)
	if iops, sustained := rates[m.Name]; sustained && !buffered(m) {
		io.iops = iops
	}
	return io, ok
}

// defaultUnitBytes is the size up to which an I/O counts as one on most disks.
const defaultUnitBytes = 256 << 10

func unitBytes(d disk.Disk) int64 {
	if d.Tier == nil || d.Tier.IOUnitBytes == 0 {
		return defaultUnitBytes
	}
	return d.Tier.IOUnitBytes
}

// runCost prices the volumes of all repetitions while they were attached. An existing claim's disk is
// there with and without the run.
func runCost(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, p Prices, d disk.Disk, o cost.Options) *v1alpha1.RunCost {
	seconds, ok := attachedSeconds(s.Run)
	if spec.ClaimName != nil || !ok {
		return nil
	}
	all := int64(plan.Volumes(spec))
	if o.CostPerMonth != nil {
		o.CostPerMonth = ptr.To(o.CostPerMonth.Mul(decimal.NewFromInt(all / o.Disks)))
	}
	o.Disks = all
	o.Run = &cost.Run{AttachedSeconds: seconds}
	if ios, ok := runIOs(s.Measurements, layoutBytes(spec, s), unitBytes(d)); ok {
		o.Run.IOs = &ios
	}
	e := cost.Monthly(p.Catalog, d, o)
	if e.Run == nil {
		return nil
	}
	return &v1alpha1.RunCost{Prorated: cost.Format(e.Run.Prorated), AtMost: cost.Format(e.Run.AtMost)}
}

// attachedSeconds are from the first attach until the volumes were gone, or until the end where they
// stay; false while the run's phases are not known.
func attachedSeconds(run *v1alpha1.Run) (int64, bool) {
	if run.MeasuringSeconds == nil || run.FinishTime == nil {
		return 0, false
	}
	seconds := ptr.Deref(run.AttachingSeconds, 0) + ptr.Deref(run.PreparingSeconds, 0) + *run.MeasuringSeconds
	if run.Phase == v1alpha1.PhaseDone {
		seconds += max(0, int64(run.PhaseTime.Sub(run.FinishTime.Time)/time.Second))
	}
	return seconds, true
}

// runIOs are the transactions of a run, in units of so many bytes: those of the workloads, and those
// that wrote their files; false while they are not known.
func runIOs(ms []v1alpha1.Measurement, layoutBytes, unit int64) (int64, bool) {
	sum := layoutBytes / unit
	for i := range ms {
		units, ok := ioUnits(&ms[i], unit)
		if !ok {
			return 0, false
		}
		sum += units
	}
	return sum, true
}

// source says where the prices of an estimate are from; empty without any.
func source(e cost.Estimate, d disk.Disk, p Prices) string {
	if slices.ContainsFunc(e.Lines, func(l cost.Line) bool { return l.Item == cost.ItemUserFigure }) {
		return "spec.cost.costPerMonth"
	}
	if d.Coverage == disk.OtherDriver {
		return ""
	}
	return p.Source
}

func amount(d *decimal.Decimal) string {
	if d == nil {
		return ""
	}
	return cost.Format(*d)
}
