// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node is what runs inside a cluster's namespaces: it prepares the mounts, starts the daemons
// and keeps them running. Its process is PID 1 there; when it dies, the kernel ends everything else.
package node

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/diskbench/diskbench/hack/cluster/internal/cgroup"
	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

// overlaid are host folders in which daemons and CNI write at fixed places
// (/var/lib/kubelet/device-plugins, /var/lib/cni, /var/log/containers, /etc/cni, ...).
// Those writes go to the cluster's state instead.
var overlaid = []string{"/etc", "/opt", "/var"}

// kernelSettings are the global settings that kubelet insists on. It sees files that say so;
// the host's own settings stay as they are.
var kernelSettings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// networkSettings are settings of the node's own network namespace.
var networkSettings = map[string]string{
	"ipv4/ip_forward": "1",
	// Answers of a pod on the same bridge must pass the service rules on their way back.
	"bridge/bridge-nf-call-iptables": "1",
}

// Run is the life of PID 1. It waits for a byte on ready, which says that the network is there;
// the end of file instead says that whoever starts the cluster is gone.
func Run(c *layout.Cluster, ready io.Reader) error {
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := hierarchies.Join(c.Cgroup()); err != nil {
		return fmt.Errorf("join the cluster's cgroup: %w", err)
	}
	if err := mountAll(c); err != nil {
		return err
	}
	if err := applyNetworkSettings(); err != nil {
		return err
	}
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for the network: %w", err)
	}

	s := &supervisor{cluster: c, running: map[int]Daemon{}}
	first, second := stages(c)
	if err := s.start(first...); err != nil {
		return err
	}
	go func() {
		if err := waitForAPIServer(c); err != nil {
			log.Fatalf("wait for the API server: %v", err)
		}
		if err := s.start(second...); err != nil {
			log.Fatal(err)
		}
	}()
	return s.reap()
}

func mountAll(c *layout.Cluster) error {
	// Nothing comes from or goes to the host; inside, kubelet and containerd need sharing.
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return err
	}
	if err := mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return err
	}
	// Before the overlays, which may lie above the state's own place.
	if err := os.MkdirAll(c.NodePath(), 0o755); err != nil {
		return err
	}
	if err := mount(c.Path(), c.NodePath(), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	for _, dir := range overlaid {
		if err := mountOverlay(c, dir); err != nil {
			return err
		}
	}
	return pinKernelSettings(c)
}

func mountOverlay(c *layout.Cluster, dir string) error {
	upper, work := c.NodePath("overlay", dir, "upper"), c.NodePath("overlay", dir, "work")
	for _, d := range []string{upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	return mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work))
}

func pinKernelSettings(c *layout.Cluster) error {
	for name, value := range kernelSettings {
		file := c.NodePath("sysctl", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o444); err != nil {
			return err
		}
		if err := mount(file, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

func mount(source, target, fstype string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, fstype, flags, options); err != nil {
		return fmt.Errorf("mount %s %s on %s: %w", fstype, source, target, err)
	}
	return nil
}

func applyNetworkSettings() error {
	for name, value := range networkSettings {
		path := filepath.Join("/proc/sys/net", name)
		if _, err := os.Stat(path); err != nil {
			continue // the kernel lacks br_netfilter, or loads it later
		}
		if err := os.WriteFile(path, []byte(value), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func waitForAPIServer(c *layout.Cluster) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.NodePath("admin.kubeconfig"))
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		if isReady(ctx, client, config.Host) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready after 2 minutes; see %s", c.Path("log", "kube-apiserver.log"))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func isReady(ctx context.Context, client *http.Client, server string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// supervisor starts daemons, starts them again when they end, and reaps whatever PID 1 inherits.
type supervisor struct {
	cluster *layout.Cluster

	mu      sync.Mutex
	running map[int]Daemon
}

func (s *supervisor) start(daemons ...Daemon) error {
	s.mu.Lock() // held over the start: the reaper must not see the end of a process before its name
	defer s.mu.Unlock()
	for _, d := range daemons {
		pid, err := startProcess(s.cluster, d)
		if err != nil {
			return fmt.Errorf("start %s: %w", d.Name, err)
		}
		log.Printf("%s started, PID %d here", d.Name, pid)
		s.running[pid] = d
	}
	return nil
}

func startProcess(c *layout.Cluster, d Daemon) (int, error) {
	out, err := os.OpenFile(c.NodePath("log", d.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	binary := c.NodePath("bin", d.Name)
	p, err := os.StartProcess(binary, append([]string{d.Name}, d.Args...), &os.ProcAttr{
		Env:   Environment(c),
		Files: []*os.File{null, out, out},
	})
	if err != nil {
		return 0, err
	}
	pid := p.Pid
	return pid, p.Release() // reap waits for it
}

// Environment is what processes of the node get.
func Environment(c *layout.Cluster) []string {
	return []string{
		"PATH=" + c.NodePath("bin") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + c.NodePath(),
		"KUBECONFIG=" + c.NodePath("admin.kubeconfig"),
	}
}

// reap waits for children forever. There is always one, since daemons that end start again.
func (s *supervisor) reap() error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for daemons: %w", err)
		}
		s.mu.Lock()
		d, isDaemon := s.running[pid]
		delete(s.running, pid)
		s.mu.Unlock()
		if !isDaemon {
			continue
		}
		log.Printf("%s ended with %s; it starts again in a second", d.Name, describe(status))
		time.Sleep(time.Second)
		if err := s.start(d); err != nil {
			return err
		}
	}
}

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}
