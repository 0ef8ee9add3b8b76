// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/hack/cluster/internal/cgroup"
	"github.com/diskbench/diskbench/hack/cluster/internal/image"
	"github.com/diskbench/diskbench/hack/cluster/internal/kube"
	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
	"github.com/diskbench/diskbench/hack/cluster/internal/network"
	"github.com/diskbench/diskbench/hack/cluster/internal/node"
	"github.com/diskbench/diskbench/hack/cluster/internal/packages"
	"github.com/diskbench/diskbench/hack/cluster/internal/pki"
)

// startTimeout bounds the time from the first process to the Ready node: about 10 s on two idle cores.
const startTimeout = 3 * time.Minute

// toolModules are the modules below hack/tools whose binaries the node runs.
var toolModules = []string{"kubernetes", "etcd", "containerd", "cni"}

// ownBinaries are copied, so that a rebuild does not change a running cluster.
var ownBinaries = []string{"cluster", "provisioner", "throttle-runc"}

func up(ctx context.Context, c *layout.Cluster) error {
	if os.Geteuid() != 0 {
		return errors.New("up needs root, for namespaces, mounts and loop devices")
	}
	if err := packages.Ensure(logf); err != nil {
		return err
	}
	var tools []string
	err := step("tools", func() (err error) {
		tools, err = buildTools()
		return err
	})
	if err != nil {
		return err
	}

	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	if c, err = loadCluster(c.Name); err != nil { // it may have changed before the lock was ours
		return err
	}
	if c.Complete && isRunning(c) && answers(ctx, c) {
		logf("cluster %s is already up", c.Name)
		printHowToUse(c)
		return nil
	}

	begin := time.Now()
	if err := clean(c); err != nil {
		return fmt.Errorf("clean up what an earlier cluster left: %w", err)
	}
	if c, err = loadCluster(c.Name); err != nil {
		return err
	}
	if err := step("certificates and configuration", func() error { return prepare(c, tools) }); err != nil {
		return err
	}
	if err := start(ctx, c); err != nil {
		return fmt.Errorf("%w\nsee the logs in %s; `down` cleans up", err, c.Path("log"))
	}
	c.Complete = true
	if err := c.Save(); err != nil {
		return err
	}
	logf("cluster %s is up after %.1f s", c.Name, time.Since(begin).Seconds())
	printHowToUse(c)
	return nil
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...) }

// step says what is done before it is, and how long it took.
func step(what string, do func() error) error {
	begin := time.Now()
	fmt.Fprintf(os.Stderr, "cluster: %s ...\n", what)
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Fprintf(os.Stderr, "cluster: %s: %.1f s\n", what, time.Since(begin).Seconds())
	return nil
}

func printHowToUse(c *layout.Cluster) {
	kubectl := c.Path("bin", "kubectl")
	if target, err := os.Readlink(kubectl); err == nil {
		kubectl = target
	}
	fmt.Printf("export KUBECONFIG=%s\n", c.Kubeconfig())
	logf("kubectl is %s", kubectl)
}

// buildTools returns the folders of the node's tools, which the builder script makes where they are missing.
func buildTools() ([]string, error) {
	builder := os.Getenv("CLUSTER_TOOL_BUILDER")
	if builder == "" {
		return nil, errors.New("CLUSTER_TOOL_BUILDER is not set: run hack/cluster/cluster.sh, which sets it to hack/tools/build.sh")
	}
	var dirs []string
	for _, module := range toolModules {
		cmd := exec.Command(builder, module)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", builder, module, err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		dirs = append(dirs, lines[len(lines)-1])
	}
	return dirs, nil
}

// lock keeps other runs of this tool waiting until unlock: `up` and `down` of any cluster of this user.
func lock() (unlock func(), err error) {
	dir, err := layout.CacheDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

// prepare writes the cluster's state: everything that the node reads.
func prepare(c *layout.Cluster, tools []string) error {
	used, err := network.Routes()
	if err != nil {
		return err
	}
	if c.Subnet, err = layout.PickSubnet(c.Name, used); err != nil {
		return err
	}
	for _, dir := range []string{"bin", "log", "volumes", "cni", "pods", "etcd"} {
		if err := os.MkdirAll(c.Path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := checkFilesystem(c.Path()); err != nil {
		return err
	}
	if err := c.Save(); err != nil {
		return err
	}
	if err := gatherBinaries(c, tools); err != nil {
		return err
	}
	if err := pki.Write(c); err != nil {
		return err
	}
	return node.WriteConfig(c)
}

// checkFilesystem refuses places where volumes would not be disks.
func checkFilesystem(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	switch st.Type {
	case unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return fmt.Errorf("%s is on tmpfs or overlayfs, where images and direct I/O do not work: set DISKBENCH_CACHE to a folder on a disk", dir)
	}
	return nil
}

// gatherBinaries puts everything that the node runs into one folder.
func gatherBinaries(c *layout.Cluster, tools []string) error {
	for _, dir := range tools {
		binaries, err := filepath.Glob(filepath.Join(dir, "[a-z]*"))
		if err != nil {
			return err
		}
		for _, binary := range binaries {
			if err := os.Symlink(binary, c.Path("bin", filepath.Base(binary))); err != nil {
				return err
			}
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	if err := os.Symlink(runc, c.Path("bin", "runc")); err != nil {
		return err
	}
	own, err := ownDir()
	if err != nil {
		return err
	}
	for _, name := range ownBinaries {
		if err := copyFile(filepath.Join(own, name), c.Path("bin", name)); err != nil {
			return err
		}
	}
	return nil
}

func ownDir() (string, error) {
	self, err := os.Executable()
	return filepath.Dir(self), err
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// start starts the node and waits until pods can run.
func start(ctx context.Context, c *layout.Cluster) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not done %v after the start", startTimeout))
	defer cancel()
	ctx, nodeEnded := context.WithCancelCause(ctx)
	defer nodeEnded(nil)

	err := step("namespaces and network", func() error { return startNode(c, nodeEnded) })
	if err != nil {
		return err
	}
	client, err := kube.New(c.Kubeconfig())
	if err != nil {
		return err
	}
	for _, s := range []struct {
		what string
		do   func() error
	}{
		{"API server", func() error { return client.WaitReady(ctx) }},
		{"StorageClasses", func() error { return client.Install(ctx) }},
		{"pause image", func() error { return loadPause(ctx, c) }},
		{"node", func() error { return client.WaitNode(ctx, c.Name) }},
	} {
		if err := step(s.what, s.do); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return fmt.Errorf("%s: %w", s.what, cause)
			}
			return err
		}
	}
	return nil
}

// startNode starts PID 1 of the namespaces, remembers it, joins the networks and lets it go on.
// When the process ends while the caller still waits, ended is called.
func startNode(c *layout.Cluster, ended func(error)) error {
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	c.RootControllers, err = hierarchies.Create(c.Cgroup())
	if saveErr := c.Save(); err == nil {
		err = saveErr
	}
	if err != nil {
		return err
	}

	log, err := os.Create(c.Path("log", "init.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(c.Path("bin", "cluster"), "init", "--name="+c.Name)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true, // the keyboard's signals are for this process
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET,
	}
	ready, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the node's first process: %w", err)
	}
	go func() {
		err := cmd.Wait()
		ended(fmt.Errorf("the node's first process ended (%w); last words: %s", err, lastLine(c.Path("log", "init.log"))))
	}()
	startTime, err := processStartTime(cmd.Process.Pid)
	if err != nil {
		return err
	}
	c.Init = &layout.Process{PID: cmd.Process.Pid, StartTime: startTime}
	if err := c.Save(); err != nil {
		return err
	}
	if err := network.Connect(c, cmd.Process.Pid); err != nil {
		return err
	}
	_, err = io.WriteString(ready, "\n")
	return err
}

func lastLine(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(string(data))
	return text[strings.LastIndex(text, "\n")+1:]
}

func answers(ctx context.Context, c *layout.Cluster) bool {
	client, err := kube.New(c.Kubeconfig())
	return err == nil && client.Ready(ctx)
}

func loadPause(ctx context.Context, c *layout.Cluster) error {
	own, err := ownDir()
	if err != nil {
		return err
	}
	archive := c.Path("pause.tar")
	if err := image.Write(archive, node.PauseImage, []string{filepath.Join(own, "pause")}); err != nil {
		return err
	}
	defer os.Remove(archive)
	return importImage(ctx, c, archive)
}
