// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

func testCluster(t *testing.T) *layout.Cluster {
	t.Helper()
	c, err := layout.Load(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	c.Subnet = netip.MustParsePrefix("10.201.7.0/24")
	return c
}

func TestWriteConfig(t *testing.T) {
	c := testCluster(t)
	if err := WriteConfig(c); err != nil {
		t.Fatal(err)
	}
	read := func(place string) []byte {
		t.Helper()
		data, err := os.ReadFile(c.Path(place))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "<no value>") || strings.Contains(string(data), c.Path()) {
			t.Errorf("%s has a hole, or a path that only the host knows:\n%s", place, data)
		}
		return data
	}

	var kubelet struct{ CgroupRoot, Address string }
	if err := yaml.Unmarshal(read("conf/kubelet.yaml"), &kubelet); err != nil {
		t.Fatalf("kubelet.yaml: %v", err)
	}
	if kubelet.CgroupRoot != "/diskbench-cluster-x" || kubelet.Address != "10.201.7.2" {
		t.Errorf("kubelet.yaml: %+v", kubelet)
	}

	var proxy struct{ HostnameOverride, ClusterCIDR string }
	if err := yaml.Unmarshal(read("conf/kube-proxy.yaml"), &proxy); err != nil {
		t.Fatalf("kube-proxy.yaml: %v", err)
	}
	if proxy.HostnameOverride != "x" || proxy.ClusterCIDR != "10.201.7.128/25" {
		t.Errorf("kube-proxy.yaml: %+v", proxy)
	}

	var cni struct{ Plugins []struct{ Type string } }
	if err := json.Unmarshal(read("conf/cni/diskbench.conflist"), &cni); err != nil {
		t.Fatalf("diskbench.conflist: %v", err)
	}
	if diff := cmp.Diff([]struct{ Type string }{{"bridge"}, {"portmap"}}, cni.Plugins); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}

	containerd := string(read("conf/containerd.toml"))
	for _, want := range []string{`BinaryName = "/run/x/bin/throttle-runc"`, "device_ownership_from_security_context = true"} {
		if !strings.Contains(containerd, want) {
			t.Errorf("containerd.toml lacks %s", want)
		}
	}
}

// Two clusters share the host: what a daemon is told must be of its own cluster.
func TestDaemonsUseTheirClustersPaths(t *testing.T) {
	c := testCluster(t)
	first, second := stages(c)
	for _, d := range append(first, second...) {
		for _, arg := range d.Args {
			_, value, ok := strings.Cut(arg, "=/")
			if ok && !strings.HasPrefix("/"+value, c.NodePath()+"/") {
				t.Errorf("%s %s: a path outside of %s", d.Name, arg, c.NodePath())
			}
		}
	}
}
