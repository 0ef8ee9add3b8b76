// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package azuredisk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func TestOptions(t *testing.T) {
	caps := func(iops, bytes uint64) volume.Caps {
		return volume.Caps{ReadIOPS: iops, WriteIOPS: iops, ReadBPS: bytes, WriteBPS: bytes}
	}
	for _, tc := range []struct {
		why                     string
		parameters, annotations map[string]string
		size                    int64
		want                    volume.Options
		wantErr                 bool
	}{
		{
			why: "P10 bursts for half an hour", size: 128 << 30,
			parameters: map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"},
			want:       volume.Options{FSType: "ext4", Limits: volume.Limits{Caps: caps(500, 100e6), Burst: &volume.Burst{Caps: caps(3500, 170e6), Credits: 5_400_000}}},
		},
		{
			why: "one byte more is the next tier, for a shorter time", size: 128<<30 + 1,
			parameters: map[string]string{"storageaccounttype": "Premium_LRS", "fsType": "xfs"}, annotations: map[string]string{BurstSeconds: "10"},
			want: volume.Options{FSType: "xfs", Limits: volume.Limits{Caps: caps(1100, 125e6), Burst: &volume.Burst{Caps: caps(3500, 170e6), Credits: 24_000}}},
		},
		{why: "P30 has no credits", size: 1 << 40, want: volume.Options{FSType: "ext4", Limits: volume.Limits{Caps: caps(5000, 200e6)}}},
		{why: "nothing larger is there", size: 1<<40 + 1, wantErr: true},
		{why: "another disk would be measured", size: 1 << 30, parameters: map[string]string{"skuName": "PremiumV2_LRS"}, wantErr: true},
		{why: "there is no host cache", size: 1 << 30, parameters: map[string]string{"cachingMode": "ReadOnly"}, wantErr: true},
		{why: "what is not known is not ignored", size: 1 << 30, parameters: map[string]string{"enableBursting": "true"}, wantErr: true},
		{why: "a unit", size: 1 << 30, annotations: map[string]string{BurstSeconds: "30s"}, wantErr: true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := Options(tc.parameters, tc.annotations, tc.size)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want error: %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
