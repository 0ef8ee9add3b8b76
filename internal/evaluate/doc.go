// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluate computes what follows from the figures of a run: how they compare with published limits,
// and what the volume costs. It is glue between the API's types and the pure packages that know disks and
// prices, and pure itself: the same status, spec, catalog and prices give the same answer, long after disk
// and node are gone.
package evaluate

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// Prices are what is known of disks and what they cost.
type Prices struct {
	Catalog catalog.Catalog
	// Source says where prices are from, and why not from elsewhere, as a sentence for people.
	Source string
	// NewerAfter is when better prices may be there; 0 where none are waited for.
	NewerAfter time.Duration
}

// run is one with figures, and what the catalog says of it.
type run struct {
	spec   *v1alpha1.DiskBenchmarkSpec
	status *v1alpha1.DiskBenchmarkStatus
	prices Prices

	disk disk.Disk
	// odd is what is strange about the disk.
	odd []disk.Warning
	// workloads are the verdicts, in the order of the measurements.
	workloads []verdict.Assessment
}

func newRun(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, p Prices) *run {
	r := &run{spec: spec, status: s, prices: p}
	r.disk, r.odd = describe(p.Catalog, spec, s.Run)
	r.workloads = verdicts(spec, s, r.disk)
	return r
}

// Evaluate says what limited the workloads of a run with figures, and what its volume costs.
func Evaluate(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, p Prices, now time.Time) (*v1alpha1.Assessment, *v1alpha1.Cost) {
	r := newRun(spec, s, p)
	return r.assess(), r.cost(now)
}

// Place is the region and the currency that a run is priced in; each is empty while unknown, and stands
// for the default then.
func Place(c catalog.Catalog, spec *v1alpha1.DiskBenchmarkSpec, run *v1alpha1.Run) (region, currency string) {
	if c := spec.Cost; c != nil {
		region, currency = ptr.Deref(c.Region, ""), ptr.Deref(c.Currency, "")
	}
	if region == "" && run != nil {
		d, _ := describe(c, spec, run)
		region = d.Region
	}
	return region, currency
}

// describe tells which disk each volume of a run was, from what the run recorded.
func describe(c catalog.Catalog, spec *v1alpha1.DiskBenchmarkSpec, run *v1alpha1.Run) (disk.Disk, []disk.Warning) {
	f := disk.Facts{
		Driver:                    run.Provisioner,
		ClassParameters:           run.Parameters,
		VolumeAttributes:          run.VolumeAttributes,
		AttributesClassParameters: run.VolumeAttributesParameters,
		NodeLabels: map[string]string{
			"node.kubernetes.io/instance-type": run.VMSize,
			"topology.kubernetes.io/region":    run.Region,
			"topology.kubernetes.io/zone":      run.Zone,
		},
		Controller:    controller(run.Device),
		ExistingClaim: spec.ClaimName != nil,
	}
	if len(run.Volumes) > 0 {
		f.Driver, f.VolumeHandle = cmp.Or(run.Volumes[0].Driver, f.Driver), run.Volumes[0].VolumeHandle
	}
	if run.Size != nil {
		f.CapacityBytes = run.Size.Value()
	}
	return disk.Describe(c, f)
}

// controller tells by the kernel's name of the disk how the VM sees it; empty while unknown.
func controller(device string) catalog.Controller {
	switch {
	case strings.HasPrefix(device, "sd"):
		return catalog.SCSI
	case strings.HasPrefix(device, "nvme"):
		return catalog.NVMe
	default:
		return ""
	}
}
