// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseOptions(t *testing.T) {
	for _, tc := range []struct {
		why        string
		parameters map[string]string
		want       Options
		wantErr    bool
	}{
		{why: "no parameters, no caps", want: Options{FSType: "ext4"}},
		{
			why: "everything at once",
			parameters: map[string]string{
				"readIOPS": "500", "writeIOPS": "400", "readBPS": "104857600", "writeBPS": "1", "fsType": "xfs", "sectorSize": "4096",
			},
			want: Options{
				Limits: Limits{Caps: Caps{ReadIOPS: 500, WriteIOPS: 400, ReadBPS: 104857600, WriteBPS: 1}},
				FSType: "xfs", SectorSize: 4096,
			},
		},
		{why: "a misspelled cap must not be no cap", parameters: map[string]string{"readIops": "500"}, wantErr: true},
		{why: "0 would be no cap", parameters: map[string]string{"readIOPS": "0"}, wantErr: true},
		{why: "negative", parameters: map[string]string{"writeBPS": "-1"}, wantErr: true},
		{why: "a unit is not understood, so it is not ignored either", parameters: map[string]string{"readBPS": "100Mi"}, wantErr: true},
		{why: "a sector size beyond 32 bits must not wrap around", parameters: map[string]string{"sectorSize": "4294967808"}, wantErr: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := ParseOptions(tc.parameters)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want error: %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCapsOf(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := os.WriteFile(s.limits("pvc-1"), []byte(`{"readIOPS":500}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.limits("bursts"), []byte(`{"readIOPS":500,"burst":{"caps":{"readIOPS":3500},"credits":9}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.limits("broken"), []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why, file string
		want      Caps
		wantOK    bool
		wantErr   bool
	}{
		{why: "a volume", file: s.image("pvc-1"), want: Caps{ReadIOPS: 500}, wantOK: true},
		{why: "one with credits, which a new one has", file: s.image("bursts"), want: Caps{ReadIOPS: 3500}, wantOK: true},
		{why: "somebody else's loop device", file: "/elsewhere/pvc-1.img"},
		{why: "a file of the folder that is no image", file: s.Dir + "/pvc-1.iso"},
		{why: "a volume whose caps are unknown must not run uncapped", file: s.image("pvc-2"), wantErr: true},
		{why: "a volume whose caps are unreadable must not run uncapped", file: s.image("broken"), wantErr: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, ok, err := s.CapsOf(tc.file)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want error: %v", err, tc.wantErr)
			}
			if ok != tc.wantOK {
				t.Errorf("ok %v, want %v", ok, tc.wantOK)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRoundUp(t *testing.T) {
	for _, tc := range []struct{ n, unit, want int64 }{
		{1, 4096, 4096}, {4096, 4096, 4096}, {4097, 4096, 8192}, {1 << 40, 4096, 1 << 40},
	} {
		if got := roundUp(tc.n, tc.unit); got != tc.want {
			t.Errorf("roundUp(%d, %d) = %d, want %d", tc.n, tc.unit, got, tc.want)
		}
	}
}
