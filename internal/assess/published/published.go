// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package published gives tests the measurements that others published.
package published

import (
	"bytes"
	_ "embed" // the table
	"encoding/csv"
	"strconv"
	"testing"
)

// PremiumDisk is a row of the table of premium disks on DS14 and GS2 machines.
type PremiumDisk struct {
	VMSize string
	// Tier of each disk, and its size.
	Tier           string
	SizeGiB        int64
	Disks          int
	BlockSizeBytes int64
	IOPS           float64
}

//go:embed premium_disk_table.csv
var premiumDiskTable []byte

// PremiumDisks gives all 25 rows of the table, whose head says where it is from.
func PremiumDisks(t testing.TB) []PremiumDisk {
	t.Helper()
	reader := csv.NewReader(bytes.NewReader(premiumDiskTable))
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 26 {
		t.Fatalf("%d rows, want a header and 25", len(rows))
	}
	sizes := map[string]int64{"P10": 128, "P20": 512, "P30": 1024}
	var out []PremiumDisk
	for _, row := range rows[1:] {
		out = append(out, PremiumDisk{
			VMSize: row[0], Tier: row[1], SizeGiB: sizes[row[1]],
			Disks: int(number(t, row[2])), BlockSizeBytes: int64(number(t, row[3])), IOPS: number(t, row[4]),
		})
	}
	return out
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
