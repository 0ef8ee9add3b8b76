// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
	"github.com/diskbench/diskbench/hack/cluster/internal/node"
)

// insideArgs is the command line that runs a command inside the node's namespaces.
func insideArgs(c *layout.Cluster, command []string) []string {
	args := []string{"nsenter", "--target=" + strconv.Itoa(c.Init.PID), "--mount", "--net", "--pid", "--wd", "--", "env"}
	args = append(args, node.Environment(c)...)
	return append(args, command...)
}

func execInside(_ context.Context, c *layout.Cluster, command []string) error {
	if len(command) == 0 {
		return errors.New("exec: no command after --")
	}
	if !isRunning(c) {
		return notRunning(c)
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	return syscall.Exec(nsenter, insideArgs(c, command), os.Environ())
}

func load(ctx context.Context, c *layout.Cluster, archives []string) error {
	if len(archives) == 0 {
		return errors.New("load: which image archives?")
	}
	if !isRunning(c) {
		return notRunning(c)
	}
	for _, archive := range archives {
		if err := importImage(ctx, c, archive); err != nil {
			return err
		}
	}
	return nil
}

// importImage feeds the archive to containerd, which cannot see every path of the host.
func importImage(ctx context.Context, c *layout.Cluster, archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	args := insideArgs(c, []string{"ctr", "--namespace=k8s.io", "images", "import", "-"})
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = f
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import image %s: %w\n%s", archive, err, out)
	}
	return nil
}
