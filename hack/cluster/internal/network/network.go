// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network joins the host and the node of a cluster with a pair of virtual interfaces.
package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

// Routes returns the IPv4 destinations that the host has routes for.
func Routes() ([]netip.Prefix, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list the host's routes: %w", err)
	}
	var used []netip.Prefix
	for _, r := range routes {
		if r.Dst == nil {
			continue // the default route of an older kernel interface
		}
		if p, err := netip.ParsePrefix(r.Dst.String()); err == nil {
			used = append(used, p)
		}
	}
	return used, nil
}

// Connect links the host with the network namespace of the process.
func Connect(c *layout.Cluster, pid int) error {
	host, err := netlink.NewHandle()
	if err != nil {
		return err
	}
	defer host.Close()
	nodeNamespace, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("open the node's network namespace: %w", err)
	}
	defer nodeNamespace.Close()
	node, err := netlink.NewHandleAt(nodeNamespace)
	if err != nil {
		return err
	}
	defer node.Close()

	attributes := netlink.NewLinkAttrs()
	attributes.Name = c.HostLink()
	err = host.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: c.NodeLink(), PeerNamespace: netlink.NsPid(pid)})
	if err != nil {
		return fmt.Errorf("create interface %s: %w", c.HostLink(), err)
	}
	if err := bringUp(node, "lo", netip.Prefix{}); err != nil {
		return err
	}
	if err := bringUp(node, c.NodeLink(), netip.PrefixFrom(c.NodeAddr(), c.LinkBits())); err != nil {
		return err
	}
	if err := bringUp(host, c.HostLink(), netip.PrefixFrom(c.HostAddr(), c.LinkBits())); err != nil {
		return err
	}
	// Services and pods are reached through the node, and everything else by the node through the host.
	if err := addRoute(host, c.Subnet, c.NodeAddr()); err != nil {
		return err
	}
	return addRoute(node, netip.MustParsePrefix("0.0.0.0/0"), c.HostAddr())
}

func bringUp(h *netlink.Handle, name string, addr netip.Prefix) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	if addr.IsValid() {
		if err := h.AddrAdd(link, &netlink.Addr{IPNet: ipNet(addr)}); err != nil {
			return fmt.Errorf("give interface %s the address %s: %w", name, addr, err)
		}
	}
	if err := h.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring up interface %s: %w", name, err)
	}
	return nil
}

func addRoute(h *netlink.Handle, to netip.Prefix, via netip.Addr) error {
	if err := h.RouteAdd(&netlink.Route{Dst: ipNet(to), Gw: via.AsSlice()}); err != nil {
		return fmt.Errorf("add a route to %s via %s: %w", to, via, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}

// Disconnect removes the host's end, if it is still there; the other end and the route go with it.
func Disconnect(c *layout.Cluster) error {
	link, err := netlink.LinkByName(c.HostLink())
	var notFound netlink.LinkNotFoundError
	if errors.As(err, &notFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("interface %s: %w", c.HostLink(), err)
	}
	if err := netlink.LinkDel(link); err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("remove interface %s: %w", c.HostLink(), err)
	}
	return nil
}
