// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

const sources = "../../internal/azure/catalog/data"

// copySources copies the sources, with one text replaced in one of them.
func copySources(t *testing.T, name, old, replacement string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range catalog.Files() {
		content, err := os.ReadFile(filepath.Join(sources, file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if file == name {
			if !strings.Contains(text, old) {
				t.Fatalf("%s has no %q", file, old)
			}
			text = strings.Replace(text, old, replacement, 1)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGenerate(t *testing.T) {
	for _, tc := range []struct {
		why, file, old, replacement string
		// bad is how many rows are refused; 0 when the files are written.
		bad string
	}{
		{"the sources as they are", "prices.csv", "", "", ""},
		{"a price that is no number", "prices.csv", ",19.71,", `,"19,71",`, "1 bad rows"},
		{"a price of a tier that does not exist", "prices.csv", "Premium_LRS,P10,Capacity", "Premium_LRS,P11,Capacity", "1 bad rows"},
		{"a larger tier that can do less", "disk_tiers.csv", ",4096,7500,250,", ",4096,7400,250,", "1 bad rows"},
		{"two tiers of one size", "disk_tiers.csv", "Premium_LRS;Premium_ZRS,256,", "Premium_LRS;Premium_ZRS,128,", "1 bad rows"},
		{"a rule without which v2 has no limits", "provisioned_disk_rules.csv", "PremiumV2_LRS,maxMBpsPerIOPS", "UltraSSD_LRS,maxMBpsPerIOPS", "2 bad rows"},
		{"a cap of Ultra that contradicts the rules", "ultra_caps.csv", "\n16,16000,", "\n16,16001,", "1 bad rows"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			to := t.TempDir()
			err := generate(copySources(t, tc.file, tc.old, tc.replacement), to)
			written, _ := filepath.Glob(filepath.Join(to, "*"))
			if tc.bad == "" {
				if err != nil || len(written) != 7 {
					t.Fatalf("%v, wrote %v", err, written)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.bad) || len(written) != 0 {
				t.Errorf("error %v, wrote %v; want %s and no file", err, written, tc.bad)
			}
		})
	}
}

// The same sources give the same bytes, whatever the order of their rows.
func TestGenerateIsDeterministic(t *testing.T) {
	swapped := copySources(t, "ultra_caps.csv", "4,4000,1000", "# the first row moved down")
	caps := filepath.Join(swapped, "ultra_caps.csv")
	content, err := os.ReadFile(caps)
	if err != nil {
		t.Fatal(err)
	}
	moved := string(content) + "4,4000,1000,MicrosoftDocs/azure-compute-docs@18c531ec:articles/virtual-machines/disks-types.md,2026-08-11\n"
	if err := os.WriteFile(caps, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	one, two := t.TempDir(), t.TempDir()
	if err := generate(sources, one); err != nil {
		t.Fatal(err)
	}
	if err := generate(swapped, two); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"VERSION", "ultra_caps.csv", "sources.csv", "vm_limits.csv"} {
		a, _ := os.ReadFile(filepath.Join(one, name))
		b, err := os.ReadFile(filepath.Join(two, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
}
