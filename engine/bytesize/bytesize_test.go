// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package bytesize

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in   string
		want int64
	}{
		{"0", 0},
		{"512", 512},
		{"4Ki", 4096},
		{"4k", 4000},
		{"1Mi", 1 << 20},
		{"1.5Gi", 3 << 29},
		{"0.5Ki", 512},
		{"100G", 100e9},
		{"2Ti", 2 << 40},
		{"7Pi", 7 << 50},
		{" 8Ki ", 8192},
		{"9223372036854775807", 9223372036854775807},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %d, %v; want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ in, text, why string }{
		{"4K", "did you mean 4Ki?", "DiskSpd's spelling"},
		{"4KB", "did you mean 4Ki?", "a common spelling"},
		{"4KiB", "did you mean 4Ki?", "the full name of the unit"},
		{"1m", "did you mean 1Mi?", "in Kubernetes a thousandth"},
		{"100GiB", "did you mean 100Gi?", "the full name of the unit"},
		{"1.5gb", "did you mean 1.5Gi?", "a fraction with a common spelling"},
		{"", "such as 4Ki", "nothing"},
		{"Ki", "such as 4Ki", "a unit alone"},
		{"b", "such as 4Ki", "a unit alone"},
		{"-4Ki", "such as 4Ki", "negative"},
		{"1e3", "such as 4Ki", "exponents are for people who know"},
		{"1.2.3Ki", "such as 4Ki", "two points"},
		{"four", "such as 4Ki", "a word"},
		{"0.3Ki", "not a whole number of bytes", "307.2 bytes"},
		{"9000Pi", "below 8Ei", "overflows"},
		{"9223372036854775808", "below 8Ei", "overflows by one"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Parse(tt.in)
			if err == nil {
				t.Fatalf("Parse(%q) = %d, want an error", tt.in, got)
			}
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Parse(%q): %v; want %q in it", tt.in, err, tt.text)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 700: "700", 4096: "4Ki", 1 << 20: "1Mi", 3 << 29: "1536Mi", 1 << 40: "1Ti", 1 << 50: "1Pi",
	} {
		if got := Format(n); got != want {
			t.Errorf("Format(%d) = %q, want %q", n, got, want)
		}
		if back, err := Parse(want); err != nil || back != n {
			t.Errorf("Parse(%q) = %d, %v; want %d", want, back, err, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"4Ki", "1.5Gi", "4K", "", ".", "9000Pi", "b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Errorf("Parse(%q) = %d", s, n)
		}
		if back, err := Parse(Format(n)); err != nil || back != n {
			t.Errorf("%q is %d, which formats to %q, which is %d, %v", s, n, Format(n), back, err)
		}
	})
}
