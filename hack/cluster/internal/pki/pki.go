// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates, keys and kubeconfigs of a cluster.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

// lifetime is far beyond that of a development cluster, which gets new certificates at each `up`.
const lifetime = 365 * 24 * time.Hour

// Dir is the folder of the certificates, below the cluster's state.
const Dir = "pki"

// ProvisionerUser is the identity of the volume provisioner.
const ProvisionerUser = "diskbench:loop-provisioner"

// leaf is one certificate to be signed by the cluster's authority.
type leaf struct {
	name         string // of the files: <name>.crt, <name>.key
	user         string
	organization string
	usage        x509.ExtKeyUsage
	addresses    []string
	dnsNames     []string
	kubeconfig   string // state path of a kubeconfig to write for it; "" for none
}

func leaves(c *layout.Cluster) []leaf {
	client, server := x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	return []leaf{
		{
			name: "apiserver", user: "kube-apiserver", usage: server,
			addresses: []string{c.NodeAddr().String(), c.APIServiceAddr().String(), "127.0.0.1"},
			dnsNames: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			},
		},
		{name: "kubelet-server", user: c.Name, usage: server, addresses: []string{c.NodeAddr().String()}, dnsNames: []string{c.Name}},
		{name: "apiserver-kubelet-client", user: "kube-apiserver-kubelet-client", organization: "system:masters", usage: client},
		{name: "front-proxy-client", user: "front-proxy-client", usage: client},
		{name: "admin", user: "admin", organization: "system:masters", usage: client, kubeconfig: "admin.kubeconfig"},
		{name: "controller-manager", user: "system:kube-controller-manager", usage: client, kubeconfig: "pki/controller-manager.kubeconfig"},
		{name: "scheduler", user: "system:kube-scheduler", usage: client, kubeconfig: "pki/scheduler.kubeconfig"},
		{name: "kubelet", user: "system:node:" + c.Name, organization: "system:nodes", usage: client, kubeconfig: "pki/kubelet.kubeconfig"},
		{name: "kube-proxy", user: "system:kube-proxy", usage: client, kubeconfig: "pki/kube-proxy.kubeconfig"},
		{name: "provisioner", user: ProvisionerUser, usage: client, kubeconfig: "pki/provisioner.kubeconfig"},
	}
}

// Write makes a new authority, everything it signs, and the key pair for service account tokens.
func Write(c *layout.Cluster) error {
	if err := os.MkdirAll(c.Path(Dir), 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(c.Name)
	if err != nil {
		return err
	}
	if err := ca.pair.write(c.Path(Dir, "ca")); err != nil {
		return err
	}
	for _, l := range leaves(c) {
		p, err := ca.sign(l)
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", l.name, err)
		}
		if err := p.write(c.Path(Dir, l.name)); err != nil {
			return err
		}
		if l.kubeconfig == "" {
			continue
		}
		if err := writeKubeconfig(c, filepath.Join(c.Path(), l.kubeconfig), ca.pair.cert, p); err != nil {
			return err
		}
	}
	return writeServiceAccountKeys(c.Path(Dir, "sa"))
}

// pair is a certificate and its key, in PEM.
type pair struct{ cert, key []byte }

func (p pair) write(base string) error {
	if err := os.WriteFile(base+".crt", p.cert, 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".key", p.key, 0o600)
}

type authority struct {
	pair pair
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(cluster string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: cluster + "-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	p, cert, err := issue(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return &authority{pair: p, cert: cert, key: key}, nil
}

func (a *authority) sign(l leaf) (pair, error) {
	key, err := newKey()
	if err != nil {
		return pair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: l.user},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{l.usage},
		DNSNames:     l.dnsNames,
	}
	if l.organization != "" {
		template.Subject.Organization = []string{l.organization}
	}
	for _, addr := range l.addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(addr))
	}
	p, _, err := issue(template, a.cert, key, a.key)
	return p, err
}

// issue signs the template, which becomes valid a little in the past: clocks are compared to the second.
func issue(template, parent *x509.Certificate, key, parentKey crypto.Signer) (pair, *x509.Certificate, error) {
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = time.Now().Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return pair{}, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, nil, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return pair{}, nil, err
	}
	return pair{cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: keyPEM}, cert, nil
}

func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func writeServiceAccountKeys(base string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	private, err := encodeKey(key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".key", private, 0o600); err != nil {
		return err
	}
	return os.WriteFile(base+".pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644)
}

// writeKubeconfig embeds the certificates: the file works from the host and from the node,
// which see it at different paths.
func writeKubeconfig(c *layout.Cluster, path string, ca []byte, p pair) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[c.Name] = &clientcmdapi.Cluster{Server: c.Server(), CertificateAuthorityData: ca}
	config.AuthInfos[c.Name] = &clientcmdapi.AuthInfo{ClientCertificateData: p.cert, ClientKeyData: p.key}
	config.Contexts[c.Name] = &clientcmdapi.Context{Cluster: c.Name, AuthInfo: c.Name}
	config.CurrentContext = c.Name
	return clientcmd.WriteToFile(*config, path)
}
