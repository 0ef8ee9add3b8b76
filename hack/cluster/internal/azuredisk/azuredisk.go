// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package azuredisk gives volumes that stand in for Azure managed disks: it takes the parameters of their
// driver's StorageClasses, and the kernel caps the volume as Azure does. It is independent of the catalog of
// the product, whose verdicts are tested with it.
package azuredisk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

// Driver is the name that Azure's driver has, too.
const Driver = "disk.csi.azure.com"

// Label marks the StorageClasses and volumes of the emulation.
const Label = "diskbench.dev/emulated"

// BurstSeconds is the annotation of a StorageClass that makes burst credits last a shorter time than
// Azure's half hour.
const BurstSeconds = "diskbench.dev/emulated-burst-seconds"

const defaultBurstSeconds = 1800

// tier of Premium SSD, from https://learn.microsoft.com/azure/virtual-machines/disks-types#premium-ssd-size
// as of 2026-01: MB are 10^6 bytes.
type tier struct {
	gib              int64
	iops, mbps       uint64
	burstIOPS, burst uint64
}

var premium = []tier{
	{4, 120, 25, 3500, 170}, {8, 120, 25, 3500, 170}, {16, 120, 25, 3500, 170}, {32, 120, 25, 3500, 170},
	{64, 240, 50, 3500, 170}, {128, 500, 100, 3500, 170}, {256, 1100, 125, 3500, 170}, {512, 2300, 150, 3500, 170},
	{1024, 5000, 200, 0, 0},
}

// Options are those of a volume of that many bytes, for the parameters and annotations of a StorageClass.
// What the emulation does not have is refused.
func Options(parameters, annotations map[string]string, size int64) (volume.Options, error) {
	o := volume.Options{FSType: "ext4"}
	for key, value := range parameters {
		var ok bool
		switch strings.ToLower(key) {
		case "skuname", "storageaccounttype":
			ok = value == "Premium_LRS"
		case "cachingmode":
			ok = value == "None" // there is no host
		case "fstype", "csi.storage.k8s.io/fstype":
			o.FSType, ok = value, true
		}
		if !ok {
			return o, fmt.Errorf("StorageClass parameter %s: %s is not emulated; Premium_LRS without host cache is", key, value)
		}
	}
	t, err := tierOf(size)
	if err != nil {
		return o, err
	}
	o.Caps = capsOf(t.iops, t.mbps)
	if t.burstIOPS == 0 {
		return o, nil
	}
	seconds := uint64(defaultBurstSeconds)
	if text, ok := annotations[BurstSeconds]; ok {
		if seconds, err = strconv.ParseUint(text, 10, 32); err != nil {
			return o, fmt.Errorf("StorageClass annotation %s: %q: want whole seconds", BurstSeconds, text)
		}
	}
	o.Burst = &volume.Burst{Caps: capsOf(t.burstIOPS, t.burst), Credits: seconds * (t.burstIOPS - t.iops)}
	return o, nil
}

func tierOf(size int64) (tier, error) {
	for _, t := range premium {
		if size <= t.gib<<30 {
			return t, nil
		}
	}
	return tier{}, fmt.Errorf("a volume of %d bytes: the emulation ends at 1 TiB", size)
}

// capsOf caps reads and writes, each for itself: the kernel knows no cap for their sum.
func capsOf(iops, mbps uint64) volume.Caps {
	return volume.Caps{ReadIOPS: iops, WriteIOPS: iops, ReadBPS: mbps * 1e6, WriteBPS: mbps * 1e6}
}
