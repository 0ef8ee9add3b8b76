// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package burst

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func TestReplace(t *testing.T) {
	caps := volume.Caps{ReadIOPS: 500, WriteIOPS: 500, ReadBPS: 100e6, WriteBPS: 100e6}
	for _, tc := range []struct{ why, file, before, want string }{
		{"v1", "blkio.throttle.read_iops_device", "7:3 3500\n", "7:3 500"},
		{"v2", "io.max", "7:3 rbps=170000000 wbps=170000000 riops=3500 wiops=3500\n", "7:3 rbps=100000000 wbps=100000000 riops=500 wiops=500"},
		{"what is so already stays", "blkio.throttle.write_bps_device", "7:30 1\n7:3 100000000\n", "7:30 1\n7:3 100000000\n"},
		{"another device's", "blkio.throttle.read_bps_device", "7:30 170000000\n", "7:30 170000000\n"},
		{"no caps", "blkio.throttle.write_iops_device", "", ""},
	} {
		path := filepath.Join(t.TempDir(), tc.file)
		if err := os.WriteFile(path, []byte(tc.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := replace(path, capFiles("7:3", caps)[tc.file]); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.why, got, err, tc.want)
		}
	}
}
