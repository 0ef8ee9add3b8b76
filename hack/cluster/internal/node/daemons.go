// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

// ProvisionerName is what StorageClasses name as their provisioner.
const ProvisionerName = "loop.diskbench.dev"

// Daemon is a process of the node: a binary in its bin folder, and its arguments.
type Daemon struct {
	Name string
	Args []string
}

// stages returns the daemons in the order they start in. Those of the second stage need the API server.
func stages(c *layout.Cluster) (first, second []Daemon) {
	first = []Daemon{etcd(c), containerd(c), apiServer(c)}
	second = []Daemon{controllerManager(c), scheduler(c), kubelet(c), kubeProxy(c), provisioner(c)}
	return first, second
}

func etcd(c *layout.Cluster) Daemon {
	const client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	return Daemon{"etcd", []string{
		"--name=" + c.Name,
		"--data-dir=" + c.NodePath("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		// `down` wipes the data, so nothing is gained by keeping it safe from a power cut.
		"--unsafe-no-fsync",
	}}
}

func containerd(c *layout.Cluster) Daemon {
	return Daemon{"containerd", []string{"--config=" + c.NodePath("conf", "containerd.toml")}}
}

func apiServer(c *layout.Cluster) Daemon {
	pki := func(name string) string { return c.NodePath("pki", name) }
	return Daemon{"kube-apiserver", []string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--bind-address=0.0.0.0",
		"--advertise-address=" + c.NodeAddr().String(),
		fmt.Sprintf("--secure-port=%d", layout.APIServerPort),
		"--service-cluster-ip-range=" + c.Services().String(),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--client-ca-file=" + pki("ca.crt"),
		"--tls-cert-file=" + pki("apiserver.crt"),
		"--tls-private-key-file=" + pki("apiserver.key"),
		"--kubelet-certificate-authority=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + pki("apiserver-kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki("sa.pub"),
		"--service-account-signing-key-file=" + pki("sa.key"),
		"--requestheader-client-ca-file=" + pki("ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy-client.crt"),
		"--proxy-client-key-file=" + pki("front-proxy-client.key"),
	}}
}

func controllerManager(c *layout.Cluster) Daemon {
	kubeconfig := c.NodePath("pki", "controller-manager.kubeconfig")
	return Daemon{"kube-controller-manager", []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.NodePath("pki", "sa.key"),
		"--root-ca-file=" + c.NodePath("pki", "ca.crt"),
		"--cluster-signing-cert-file=" + c.NodePath("pki", "ca.crt"),
		"--cluster-signing-key-file=" + c.NodePath("pki", "ca.key"),
		"--cluster-cidr=" + c.Pods().String(),
		"--allocate-node-cidrs=false",
	}}
}

func scheduler(c *layout.Cluster) Daemon {
	kubeconfig := c.NodePath("pki", "scheduler.kubeconfig")
	return Daemon{"kube-scheduler", []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--leader-elect=false",
	}}
}

func kubelet(c *layout.Cluster) Daemon {
	return Daemon{"kubelet", []string{
		"--config=" + c.NodePath("conf", "kubelet.yaml"),
		"--kubeconfig=" + c.NodePath("pki", "kubelet.kubeconfig"),
		"--root-dir=" + c.NodePath("kubelet"),
		"--cert-dir=" + c.NodePath("kubelet", "pki"),
		"--hostname-override=" + c.Name,
		"--node-ip=" + c.NodeAddr().String(),
	}}
}

func kubeProxy(c *layout.Cluster) Daemon {
	return Daemon{"kube-proxy", []string{"--config=" + c.NodePath("conf", "kube-proxy.yaml")}}
}

func provisioner(c *layout.Cluster) Daemon {
	return Daemon{"provisioner", []string{
		"--kubeconfig=" + c.NodePath("pki", "provisioner.kubeconfig"),
		"--name=" + ProvisionerName,
		"--dir=" + c.NodePath("volumes"),
		"--node=" + c.Name,
		"--cgroup=" + c.Cgroup(),
	}}
}
