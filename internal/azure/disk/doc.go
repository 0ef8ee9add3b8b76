// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disk tells which Azure disk is behind a PersistentVolume, from what Kubernetes says of it:
// the StorageClass, the VolumeAttributesClass, the PersistentVolume and the node. It is pure and asks
// Azure nothing. The rules are those of disk.csi.azure.com (kubernetes-sigs/azuredisk-csi-driver,
// commit d983d613) and of Azure's documentation of disk types.
package disk

import (
	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// Driver is the CSI driver whose disks the catalog knows.
const Driver = "disk.csi.azure.com"

// Facts are what Kubernetes and the run say of one volume. Everything but Driver may be missing.
type Facts struct {
	// Driver of the PersistentVolume, or provisioner of the StorageClass.
	Driver string
	// ClassParameters of the StorageClass.
	ClassParameters map[string]string
	// VolumeAttributes of the PersistentVolume (spec.csi.volumeAttributes): the parameters that it was
	// created with, even when the class has changed since.
	VolumeAttributes map[string]string
	// AttributesClassParameters of the VolumeAttributesClass in effect. They override the others.
	AttributesClassParameters map[string]string
	// VolumeHandle of the PersistentVolume: the disk's resource ID.
	VolumeHandle string
	// CapacityBytes of the PersistentVolume, which can be above the request.
	CapacityBytes int64
	// NodeLabels of the node that the volume is attached to.
	NodeLabels map[string]string
	// Controller that the run saw, /dev/sd* or /dev/nvme*; empty while unknown.
	Controller catalog.Controller
	// ExistingClaim: the disk was there before the run.
	ExistingClaim bool
}

// Coverage tells whether the catalog knows the disk.
type Coverage string

// The coverages. A disk that is not covered is measured all the same.
const (
	// Covered: SKU, size and limits are known.
	Covered Coverage = "Covered"
	// OtherDriver: no disk of disk.csi.azure.com, so there is no catalog for it.
	OtherDriver Coverage = "OtherDriver"
	// UnknownSKU: a SKU that the catalog does not have.
	UnknownSKU Coverage = "UnknownSKU"
	// UnknownSize: the size is not known, or no disk of the SKU has it.
	UnknownSize Coverage = "UnknownSize"
	// UnknownLimits: the provisioned IOPS or MB/s are not known.
	UnknownLimits Coverage = "UnknownLimits"
)

// Caching is the host cache of a disk.
type Caching string

// The cachings, as the driver spells them.
const (
	CachingNone      Caching = "None"
	CachingReadOnly  Caching = "ReadOnly"
	CachingReadWrite Caching = "ReadWrite"
)

// Disk is what is known of one disk.
type Disk struct {
	Coverage Coverage
	Driver   string
	// ResourceID of the disk; compare it without regard to case.
	ResourceID string
	SKU        catalog.SKU
	Family     catalog.Family
	Redundancy catalog.Redundancy
	// SizeGiB is the size in GiB, rounded up as Azure bills it; 0 while unknown.
	SizeGiB int64
	// Tier it performs and bills as; nil for Premium SSD v2 and Ultra.
	Tier *catalog.Tier
	// Caching in effect, which can differ from what the class asks for.
	Caching Caching
	// Base is what the disk can do without end; nil while unknown. For Premium SSD v2 and Ultra it is
	// what was provisioned.
	Base *catalog.Rate
	// Bursting in effect, and the rate it allows; nil without.
	Bursting catalog.BurstModel
	Burst    *catalog.Rate
	// BurstMinutes at the full burst rate from full credits; 0 without an end, and without bursting.
	BurstMinutes    int64
	PerformancePlus bool
	// MaxShares above 1 is a shared disk, with limits and prices of its own.
	MaxShares int64

	// Region in Azure's short form; empty while unknown.
	Region string
	// Zone such as westeurope-1; empty for a disk outside zones, and while unknown.
	Zone       string
	VMSize     string
	Controller catalog.Controller
	// VM is nil while its size is unknown.
	VM *catalog.VM
	// VMAmbiguous: the VM's limits differ by controller, the controller is unknown, and VM has the lower
	// ones.
	VMAmbiguous bool
	// Existing disks have properties that Kubernetes does not show: a performance tier, on-demand
	// bursting that was switched on later, and credits that were spent before.
	Existing bool
}

// Reason is the kind of a warning, for code; its message is for people.
type Reason string

// The reasons of warnings.
const (
	// ConflictingParameters: two places or spellings disagree.
	ConflictingParameters Reason = "ConflictingParameters"
	// InvalidParameter: a value that the driver or Azure refuses, or that has no effect.
	InvalidParameter Reason = "InvalidParameter"
	// UnknownParameter: a name that the driver refuses.
	UnknownParameter Reason = "UnknownParameter"
	// CachingNotInEffect: the class asks for a host cache that such a disk does not have.
	CachingNotInEffect Reason = "CachingNotInEffect"
	// HiddenProperties: an existing disk can have what Kubernetes does not show.
	HiddenProperties Reason = "HiddenProperties"
	// DisputedVM: the published limits of the VM size disagree.
	DisputedVM Reason = "DisputedVM"
)

// Warning is something to know when the description is used.
type Warning struct {
	Reason  Reason
	Message string
}
