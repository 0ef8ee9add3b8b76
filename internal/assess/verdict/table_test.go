// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/diskbench/diskbench/internal/assess/published"
	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// describe is a new disk of a class, given as parameter=value, of a size in GiB, on a VM.
func describe(t testing.TB, sizeGiB int64, vm string, class ...string) disk.Disk {
	t.Helper()
	f := disk.Facts{
		Driver: disk.Driver, ClassParameters: map[string]string{}, CapacityBytes: sizeGiB << 30,
		NodeLabels: map[string]string{"node.kubernetes.io/instance-type": vm},
	}
	for _, parameter := range class {
		key, value, _ := strings.Cut(parameter, "=")
		f.ClassParameters[key] = value
	}
	d, warnings := disk.Describe(catalogtest.Load(t), f)
	if d.Coverage != disk.Covered || len(warnings) > 0 || vm != "" && d.VM == nil {
		t.Fatalf("%d GiB of %v on %s: %s, %v", sizeGiB, class, vm, d.Coverage, warnings)
	}
	return d
}

// Each row of the published table is at the limit that binds by the article's own account: the disks' up
// to ten of them at 8 KiB, and two at 64 KiB, and the VM's beyond. The article gives no latencies.
// 1,024 outstanding I/Os are those of Microsoft's recipe for such tests, against a probe of 1 ms.
func TestPublishedTable(t *testing.T) {
	want := map[string]string{
		"Standard_DS14 P10 1 8192": "DiskIOPS", "Standard_DS14 P10 1 65536": "DiskIOPS",
		"Standard_DS14 P20 1 8192": "DiskIOPS", "Standard_DS14 P20 1 65536": "DiskThroughput+DiskIOPS",
		"Standard_DS14 P30 1 8192": "DiskIOPS", "Standard_DS14 P30 1 65536": "DiskThroughput", "Standard_DS14 P30 2 65536": "DiskThroughput",
		"Standard_DS14 P30 3 65536": "VMThroughput", "Standard_DS14 P30 4 65536": "VMThroughput",
		"Standard_DS14 P30 10 8192": "DiskIOPS+VMIOPS", "Standard_DS14 P30 11 8192": "VMIOPS",
		"Standard_GS2 P30 1 8192": "DiskIOPS", "Standard_GS2 P30 2 8192": "DiskIOPS+VMIOPS",
		"Standard_GS2 P30 1 65536": "DiskThroughput", "Standard_GS2 P30 2 65536": "VMThroughput",
	}
	for _, row := range published.PremiumDisks(t) {
		key := fmt.Sprint(row.VMSize, " ", row.Tier, " ", row.Disks, " ", row.BlockSizeBytes)
		expected, ok := want[key]
		if !ok {
			expected = "DiskIOPS" // two to nine P30 at 8 KiB
		}
		block, iops := row.BlockSizeBytes, int64(row.IOPS)
		a := verdict.Assess(verdict.Input{
			Disk: describe(t, row.SizeGiB, row.VMSize, "skuName=Premium_LRS", "cachingMode=None"), Volumes: row.Disks,
			Load:      verdict.Load{BlockSizeBytes: block, ReadPercent: 100, Outstanding: 1024},
			Total:     catalog.Rate{IOPS: iops, BytesPerSecond: iops * block},
			MeanNanos: 1024e9 / iops, ProbeMeanNanos: new(int64(1e6)),
		})
		var all []string
		for _, v := range append([]verdict.Verdict{a.Verdict}, a.AlsoAtLimit...) {
			all = append(all, string(v))
		}
		got := strings.Join(all, "+")
		rowNumber := "7"
		if strings.Contains(expected, "+") {
			rowNumber = "8"
		}
		if got != expected || a.Row != rowNumber {
			t.Errorf("%v: %s by row %s, want %s: %s", row, got, a.Row, expected, a.Sentence)
		}
		if off := a.Expected.MeasuredPermille; !slices.Contains([]string{"P10", "P20"}, row.Tier) && (off < 989 || off > 1021) {
			t.Errorf("%v: measured %d thousandths of %d", row, off, a.Expected.IOPS)
		}
	}
}
