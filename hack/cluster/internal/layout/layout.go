// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package layout says what a cluster is called everywhere: its folders, addresses, interfaces and cgroup.
// All of it follows from the cluster's name and subnet, so that two clusters never meet
// and a cluster whose processes are gone can still be found and cleaned.
package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
)

// APIServerPort is where kube-apiserver listens on the node.
const APIServerPort = 6443

// subnets is the block that clusters take their /24 from: 10.201.<n>.0/24.
var subnets = netip.MustParsePrefix("10.201.0.0/16")

// namePattern keeps names usable as a node name, a cgroup, a folder and an image of them in logs.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`)

// Cluster is one local cluster. The exported fields are what its state file keeps.
type Cluster struct {
	Name string `json:"name"`
	// Subnet is a /24 that holds the link between host and node, the services and the pods.
	Subnet netip.Prefix `json:"subnet"`
	// Init is the process that holds the namespaces; nil when none was started.
	Init *Process `json:"init,omitempty"`
	// Complete says that `up` came to its end.
	Complete bool `json:"complete,omitempty"`
	// RootControllers are those that the v2 root cgroup handed down before `up`; nil when unknown or on v1.
	RootControllers []string `json:"rootControllers"`

	root string
}

// Process names a process beyond the reuse of its PID.
type Process struct {
	PID int `json:"pid"`
	// StartTime is field 22 of /proc/<pid>/stat, in clock ticks since boot.
	StartTime string `json:"startTime"`
}

// CacheDir is the folder for everything built, downloaded or kept outside the checkout.
func CacheDir() (string, error) {
	if dir := os.Getenv("DISKBENCH_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; set DISKBENCH_CACHE", err)
	}
	return filepath.Join(dir, "diskbench"), nil
}

// Load returns the cluster of that name, with what its state file says where there is a readable one.
// Without it, the cluster's processes and devices can still be found by their cgroup and their files.
func Load(cacheDir, name string) (*Cluster, error) {
	if !namePattern.MatchString(name) {
		return nil, fmt.Errorf("cluster name %q: want at most 20 lower case letters, digits and dashes, neither first nor last a dash", name)
	}
	c := &Cluster{Name: name, root: filepath.Join(cacheDir, "clusters", name)}
	data, err := os.ReadFile(c.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	var state Cluster
	if err := json.Unmarshal(data, &state); err != nil {
		return c, nil //nolint:nilerr // A broken file is as good as none: not one to trust in part.
	}
	state.Name, state.root = c.Name, c.root
	return &state, nil
}

// Save writes the state file.
func (c *Cluster) Save() error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	// By rename: a reader sees the old state or the new one.
	tmp := c.stateFile() + ".tmp"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, c.stateFile())
}

func (c *Cluster) stateFile() string { return c.Path("cluster.json") }

// Path is a path of the cluster's state, as the host sees it.
func (c *Cluster) Path(elem ...string) string {
	return filepath.Join(append([]string{c.root}, elem...)...)
}

// NodePath is the same path as the node sees it: the state is mounted at a short, fixed place,
// because the path of a unix socket has room for 107 bytes.
func (c *Cluster) NodePath(elem ...string) string {
	return filepath.Join(append([]string{"/run", c.Name}, elem...)...)
}

// Kubeconfig is the kubeconfig of the cluster's administrator.
func (c *Cluster) Kubeconfig() string { return c.Path("admin.kubeconfig") }

// Cgroup is the cluster's cgroup below the root of each hierarchy, without a leading slash.
func (c *Cluster) Cgroup() string { return "diskbench-cluster-" + c.Name }

// HostLink is the host's end of the link to the node. Interface names have room for 15 bytes.
func (c *Cluster) HostLink() string { return fmt.Sprintf("dbc-%08x", hash(c.Name)) }

// NodeLink is the node's end of it, in the node's own namespace.
func (c *Cluster) NodeLink() string { return "eth0" }

// The subnet is laid out so that one route leads the host to everything:
// .0/30 the link, .64/26 the services, .128/25 the pods (more than kubelet's 110).

// HostAddr is the host's address on the link.
func (c *Cluster) HostAddr() netip.Addr { return c.addr(1) }

// NodeAddr is the node's address, where the API server listens.
func (c *Cluster) NodeAddr() netip.Addr { return c.addr(2) }

// LinkBits is the prefix length of the link.
func (c *Cluster) LinkBits() int { return 30 }

// Services is the range of the service addresses.
func (c *Cluster) Services() netip.Prefix { return netip.PrefixFrom(c.addr(64), 26) }

// APIServiceAddr is the address of the service default/kubernetes: always the first one of the range.
func (c *Cluster) APIServiceAddr() netip.Addr { return c.addr(65) }

// DNSAddr is what pods get as their name server. Nothing listens there: the cluster has no DNS.
func (c *Cluster) DNSAddr() netip.Addr { return c.addr(74) }

// Pods is the range of the pod addresses.
func (c *Cluster) Pods() netip.Prefix { return netip.PrefixFrom(c.addr(128), 25) }

// Server is the URL of the API server.
func (c *Cluster) Server() string {
	return "https://" + netip.AddrPortFrom(c.NodeAddr(), APIServerPort).String()
}

func (c *Cluster) addr(last byte) netip.Addr {
	a := c.Subnet.Addr().As4()
	a[3] = last
	return netip.AddrFrom4(a)
}

// PickSubnet chooses a /24 that overlaps none of the used ones. The search starts at a place
// that the name decides, so that a cluster usually gets the same addresses again.
func PickSubnet(name string, used []netip.Prefix) (netip.Prefix, error) {
	base := subnets.Addr().As4()
	start := hash(name)
	for i := range uint32(256) {
		base[2] = byte(start + i)
		candidate := netip.PrefixFrom(netip.AddrFrom4(base), 24)
		if !overlapsAny(candidate, used) {
			return candidate, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("every /24 of %s overlaps a route of this host: remove one of those routes", subnets)
}

func overlapsAny(p netip.Prefix, used []netip.Prefix) bool {
	for _, u := range used {
		// A default route overlaps everything and occupies nothing.
		if u.Bits() > 0 && p.Overlaps(u) {
			return true
		}
	}
	return false
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}
