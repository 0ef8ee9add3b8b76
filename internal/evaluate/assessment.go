// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"math"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
	"github.com/diskbench/diskbench/internal/plan"
)

// inBand is how far above a limit a figure still shows that limit: measured disks are at a cap up to 1.04 of
// it (judgment, from the scatter of published measurements).
const inBand = 1.04

// Assess holds the figures of a run against published limits.
func Assess(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, p Prices) *v1alpha1.Assessment {
	d, odd := describe(p.Catalog, spec, s.Run)
	out := &v1alpha1.Assessment{Disk: assumed(d)}
	if d.Coverage != disk.OtherDriver {
		out.CatalogVersion = p.Catalog.Version()
	}
	for i := range s.Measurements {
		out.Workloads = append(out.Workloads, assess(spec, &s.Measurements[i], d))
	}
	for _, w := range odd {
		out.Warnings = append(out.Warnings, v1alpha1.StatusWarning{Reason: string(w.Reason), Message: w.Message})
	}
	out.Warnings = out.Warnings[:min(len(out.Warnings), maxWarnings)]
	return out
}

// maxWarnings is the schema's limit.
const maxWarnings = 16

func assess(spec *v1alpha1.DiskBenchmarkSpec, m *v1alpha1.Measurement, d disk.Disk) v1alpha1.WorkloadAssessment {
	out := v1alpha1.WorkloadAssessment{
		Name:      m.Name,
		Measured:  v1alpha1.Rate{IOPS: m.Total.IOPS, ThroughputBytesPerSecond: m.Total.ThroughputBytesPerSecond},
		Sustained: sustained(spec, m, d),
	}
	if p, ok := prediction(spec, m, d); ok {
		out.Expected = &v1alpha1.ExpectedRate{
			Rate: levelRate(p.Now), LimitedBy: string(p.Now.LimitedBy), BurstSeconds: int64(math.Round(p.BurstSeconds)),
		}
	}
	return out
}

// prediction of what a workload can reach; false where the limits of the disk are not known, and for
// buffered I/O, most of which never reaches it.
func prediction(spec *v1alpha1.DiskBenchmarkSpec, m *v1alpha1.Measurement, d disk.Disk) (predict.Prediction, bool) {
	if m.Parameters.DirectIO == v1alpha1.DirectIODisabled {
		return predict.Prediction{}, false
	}
	return predict.Predict(d, plan.VolumesOfSet(spec), loadOf(m), d.VM)
}

// sustained is what a load reaches without burst credits; nil where that is not known.
func sustained(spec *v1alpha1.DiskBenchmarkSpec, m *v1alpha1.Measurement, d disk.Disk) *v1alpha1.SustainedRate {
	if m.Drained != nil && m.Drained.Step != nil {
		return &v1alpha1.SustainedRate{Basis: v1alpha1.BasisDrained, Rate: v1alpha1.Rate{
			IOPS: m.Drained.IOPS, ThroughputBytesPerSecond: m.Drained.ThroughputBytesPerSecond,
		}}
	}
	p, ok := prediction(spec, m, d)
	switch {
	case !ok:
		return nil
	case float64(m.Total.IOPS) <= p.Sustained.IOPS*inBand:
		return &v1alpha1.SustainedRate{Basis: v1alpha1.BasisMeasured, Rate: v1alpha1.Rate{
			IOPS: m.Total.IOPS, ThroughputBytesPerSecond: m.Total.ThroughputBytesPerSecond,
		}}
	default:
		return &v1alpha1.SustainedRate{Basis: v1alpha1.BasisCatalog, Rate: levelRate(p.Sustained)}
	}
}

func levelRate(l predict.Level) v1alpha1.Rate {
	return v1alpha1.Rate{IOPS: int64(math.Round(l.IOPS)), ThroughputBytesPerSecond: int64(math.Round(l.BytesPerSecond))}
}

func assumed(d disk.Disk) v1alpha1.AssumedDisk {
	a := v1alpha1.AssumedDisk{
		Coverage: string(d.Coverage), SKU: string(d.SKU), Redundancy: string(d.Redundancy), Caching: string(d.Caching),
		SizeGiB: d.SizeGiB, Base: rate(d.Base), Bursting: string(d.Bursting), Burst: rate(d.Burst),
		VMSize: d.VMSize, Controller: string(d.Controller),
	}
	if d.Tier != nil {
		a.Tier = d.Tier.Name
	}
	if d.PerformancePlus {
		a.PerformancePlus = "Enabled"
	}
	return a
}

func rate(r *catalog.Rate) *v1alpha1.Rate {
	if r == nil {
		return nil
	}
	return &v1alpha1.Rate{IOPS: r.IOPS, ThroughputBytesPerSecond: r.BytesPerSecond}
}
