// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPickSubnet(t *testing.T) {
	prefixes := func(texts ...string) (ps []netip.Prefix) {
		for _, text := range texts {
			ps = append(ps, netip.MustParsePrefix(text))
		}
		return ps
	}
	free, err := PickSubnet("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why     string
		used    []netip.Prefix
		want    func(got netip.Prefix) bool
		wantErr bool
	}{
		{
			why:  "a default route occupies nothing",
			used: prefixes("0.0.0.0/0"),
			want: func(got netip.Prefix) bool { return got == free },
		},
		{
			why:  "another cluster's addresses are left alone",
			used: []netip.Prefix{free},
			want: func(got netip.Prefix) bool { return got.IsValid() && !got.Overlaps(free) },
		},
		{
			why:  "a route into the middle of a block occupies it",
			used: []netip.Prefix{netip.PrefixFrom(free.Addr().Next(), 32)},
			want: func(got netip.Prefix) bool { return got.IsValid() && !got.Overlaps(free) },
		},
		{
			why:     "a host that routes the whole range elsewhere gets an error, not somebody's addresses",
			used:    prefixes("10.0.0.0/8"),
			wantErr: true,
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := PickSubnet("x", tc.used)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want error: %v", err, tc.wantErr)
			}
			if !tc.wantErr && !tc.want(got) {
				t.Errorf("got %s with %v used", got, tc.used)
			}
		})
	}
}

func TestAddressesShareTheSubnetWithoutOverlap(t *testing.T) {
	c := &Cluster{Name: "x", Subnet: netip.MustParsePrefix("10.201.7.0/24")}
	link := netip.PrefixFrom(c.HostAddr(), c.LinkBits()).Masked()
	if !link.Contains(c.NodeAddr()) {
		t.Errorf("node %s is not on the link %s", c.NodeAddr(), link)
	}
	for _, addr := range []netip.Addr{c.APIServiceAddr(), c.DNSAddr()} {
		if !c.Services().Contains(addr) {
			t.Errorf("%s is not in the service range %s", addr, c.Services())
		}
	}
	parts := []netip.Prefix{link, c.Services(), c.Pods()}
	for i, p := range parts {
		if p != p.Masked() {
			t.Errorf("%s does not start at its own first address", p)
		}
		if !c.Subnet.Contains(p.Addr()) || p.Bits() < c.Subnet.Bits() {
			t.Errorf("%s is outside of %s", p, c.Subnet)
		}
		for _, other := range parts[i+1:] {
			if p.Overlaps(other) {
				t.Errorf("%s overlaps %s", p, other)
			}
		}
	}
}

func TestLoadRefusesNames(t *testing.T) {
	for _, tc := range []struct{ name, why string }{
		{"", "no name"},
		{"../x", "it would leave the folder of the clusters"},
		{"Upper", "not a node name"},
		{"-x", "it would read as a flag"},
		{"x-", "not a node name"},
		{"abcdefghijklmnopqrstu", "21 characters"},
	} {
		if _, err := Load(t.TempDir(), tc.name); err == nil {
			t.Errorf("name %q was accepted: %s", tc.name, tc.why)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(dir, "x")
	if err != nil {
		t.Fatalf("a cluster that never was must load: %v", err)
	}
	c.Subnet = netip.MustParsePrefix("10.201.7.0/24")
	c.Init = &Process{PID: 7, StartTime: "1234"}
	c.RootControllers = []string{} // none, which is not the same as unknown
	if err := os.MkdirAll(c.Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	opts := cmp.Options{cmpopts.EquateComparable(netip.Prefix{}), cmp.AllowUnexported(Cluster{})}
	if diff := cmp.Diff(c, got, opts); diff != "" {
		t.Errorf("the state file changed the cluster (-saved +loaded):\n%s", diff)
	}
	if got, want := c.Path("a", "b"), filepath.Join(dir, "clusters", "x", "a", "b"); got != want {
		t.Errorf("path %s, want %s", got, want)
	}
}

func TestLoadOfABrokenStateFile(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(c.Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.stateFile(), []byte(`{"name":"y","init":{"pid":1,"startTime":"9"},"subnet":7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir, "x")
	if err != nil {
		t.Fatalf("`down` could not clean up: %v", err)
	}
	if got.Name != "x" || got.Init != nil {
		t.Errorf("cluster %s with process %v out of a broken file, which would be killed", got.Name, got.Init)
	}
}

func TestInterfaceNameFits(t *testing.T) {
	const longest = "abcdefghijklmnopqrst"
	c, err := Load(t.TempDir(), longest)
	if err != nil {
		t.Fatal(err)
	}
	// IFNAMSIZ is 16, with the final zero.
	if name := c.HostLink(); len(name) > 15 {
		t.Errorf("interface name %s has %d bytes", name, len(name))
	}
}
