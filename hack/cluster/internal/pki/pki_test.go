// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

func TestWrite(t *testing.T) {
	c, err := layout.Load(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	c.Subnet = netip.MustParsePrefix("10.201.7.0/24")
	if err := Write(c); err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(c.Path(Dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatal("ca.crt holds no certificate")
	}

	for _, l := range leaves(c) {
		t.Run(l.name, func(t *testing.T) {
			// X509KeyPair also checks that the key belongs to the certificate.
			pair, err := tls.LoadX509KeyPair(c.Path(Dir, l.name+".crt"), c.Path(Dir, l.name+".key"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{l.usage}}); err != nil {
				t.Errorf("not valid for its use: %v", err)
			}
			for _, name := range append(l.addresses, l.dnsNames...) {
				if err := pair.Leaf.VerifyHostname(name); err != nil {
					t.Errorf("not valid for %s: %v", name, err)
				}
			}
			if l.kubeconfig == "" {
				return
			}
			config, err := clientcmd.BuildConfigFromFlags("", c.Path(l.kubeconfig))
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != c.Server() || len(config.CertData) == 0 || len(config.CAData) == 0 {
				t.Errorf("kubeconfig for %s, with %d bytes of certificate and %d of authority", config.Host, len(config.CertData), len(config.CAData))
			}
		})
	}
}
