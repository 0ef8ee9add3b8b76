// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func TestBundleToCreate(t *testing.T) {
	for _, tc := range []struct {
		why  string
		args []string
		want string
		ok   bool
	}{
		{
			why:  "containerd's shim creates",
			args: []string{"--root", "/run/containerd/runc/k8s.io", "--log", "l.json", "create", "--bundle", "/b", "--pid-file", "p", "id"},
			want: "/b", ok: true,
		},
		{why: "short flag", args: []string{"run", "-b", "/b", "id"}, want: "/b", ok: true},
		{why: "flag and value in one", args: []string{"create", "--bundle=/b", "id"}, want: "/b", ok: true},
		{why: "other commands pass through", args: []string{"--root", "/r", "delete", "--force", "id"}},
		{why: "a flag that lacks its value is runc's to complain about", args: []string{"create", "--bundle"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, ok := bundleToCreate(tc.args)
			if ok != tc.ok || ok && got != tc.want {
				t.Errorf("got %q, %v, want %q, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestBlockDevices(t *testing.T) {
	// Each mount source stands for the device of its file system, once. Devices count when they are block devices.
	config := `{
		"mounts": [{"source": "/proc"}, {"source": "/proc/self"}, {"source": "tmpfs"}, {"source": "/no/such/path"}],
		"linux": {"devices": [
			{"type": "b", "major": 7, "minor": 300},
			{"type": "c", "major": 1, "minor": 3},
			{"type": "b", "major": 7, "minor": 300}
		]}
	}`
	got, err := blockDevices([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[1] != (device{7, 300}) {
		t.Errorf("got %v, want the device of /proc, then 7:300", got)
	}
}

func TestSetThrottles(t *testing.T) {
	var limits throttles
	limits.add(device{7, 3}, volume.Caps{ReadIOPS: 500, WriteBPS: 1 << 20})
	limits.add(device{7, 4}, volume.Caps{ReadIOPS: 20})
	for _, tc := range []struct{ why, config, want string }{
		{
			why:    "what is not ours stays, large numbers included",
			config: `{"linux":{"resources":{"memory":{"limit":9007199254740993}}},"unknown":[1]}`,
			want: `{"linux":{"resources":{"memory":{"limit":9007199254740993},"blockIO":{
				"throttleReadIOPSDevice":[{"major":7,"minor":3,"rate":500},{"major":7,"minor":4,"rate":20}],
				"throttleWriteBpsDevice":[{"major":7,"minor":3,"rate":1048576}]}}},"unknown":[1]}`,
		},
		{
			why:    "a container without any resources",
			config: `{"linux":{}}`,
			want: `{"linux":{"resources":{"blockIO":{
				"throttleReadIOPSDevice":[{"major":7,"minor":3,"rate":500},{"major":7,"minor":4,"rate":20}],
				"throttleWriteBpsDevice":[{"major":7,"minor":3,"rate":1048576}]}}}}`,
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			config, err := decode([]byte(tc.config))
			if err != nil {
				t.Fatal(err)
			}
			setThrottles(config, limits)
			got, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			want, err := decode([]byte(tc.want))
			if err != nil {
				t.Fatal(err)
			}
			gotAgain, err := decode(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, gotAgain); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestThrottleLeavesOtherContainersAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	const config = `{ "mounts": [{"source": "/proc"}], "linux": {} }`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := throttle(file, volume.Store{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != config {
		t.Errorf("the configuration of a container without capped volumes became %s", got)
	}
}
