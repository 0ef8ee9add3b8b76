// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a local Kubernetes cluster of one node for development and end-to-end tests:
// real daemons, in namespaces of their own, with volumes whose IOPS the kernel caps.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/diskbench/diskbench/hack/cluster/internal/image"
	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
	"github.com/diskbench/diskbench/hack/cluster/internal/node"
)

const usage = `usage: cluster.sh [--name NAME] COMMAND

  up                                start the cluster, or say that it runs
  down                              stop it and remove every trace of it
  kubeconfig                        print the path of the administrator's kubeconfig
  load ARCHIVE...                   import image archives
  exec -- COMMAND...                run a command inside the node (ctr, nft, ip, ...)
  image --tag TAG --out ARCHIVE BINARY...
                                    make an image archive of static binaries; the first is the entrypoint

The name is diskbench unless --name or CLUSTER_NAME says otherwise.
What is built and kept lies in ${DISKBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/diskbench}.
`

// commands that work on a cluster. init is not for people: it is what up starts in the namespaces.
var commands = map[string]func(ctx context.Context, c *layout.Cluster, args []string) error{
	"up":         func(ctx context.Context, c *layout.Cluster, _ []string) error { return up(ctx, c) },
	"down":       func(_ context.Context, c *layout.Cluster, _ []string) error { return down(c) },
	"kubeconfig": func(_ context.Context, c *layout.Cluster, _ []string) error { return printKubeconfig(c) },
	"load":       load,
	"exec":       execInside,
	"init": func(_ context.Context, c *layout.Cluster, _ []string) error {
		return node.Run(c, os.Stdin)
	},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	name := os.Getenv("CLUSTER_NAME")
	if name == "" {
		name = "diskbench"
	}
	flags := newFlagSet()
	flags.StringVar(&name, "name", name, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return errors.New("no command")
	}
	command, args := flags.Arg(0), flags.Args()[1:]
	if command == "image" {
		return writeImage(args)
	}
	do, known := commands[command]
	if !known {
		flags.Usage()
		return fmt.Errorf("unknown command %q", command)
	}
	// The name may follow the command, too.
	flags = newFlagSet()
	flags.StringVar(&name, "name", name, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := loadCluster(name)
	if err != nil {
		return err
	}
	return do(ctx, c, flags.Args())
}

func newFlagSet() *flag.FlagSet {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	return flags
}

func loadCluster(name string) (*layout.Cluster, error) {
	cache, err := layout.CacheDir()
	if err != nil {
		return nil, err
	}
	return layout.Load(cache, name)
}

func writeImage(args []string) error {
	flags := newFlagSet()
	tag := flags.String("tag", "", "")
	out := flags.String("out", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tag == "" || *out == "" {
		return errors.New("image: --tag and --out are required")
	}
	if slices.Contains([]string{"latest", ""}, tagOf(*tag)) {
		return fmt.Errorf("image: --tag %s: name a version other than latest, which kubelet would try to pull", *tag)
	}
	return image.Write(*out, *tag, flags.Args())
}

// tagOf returns what follows the colon of the last path element, "" without one.
func tagOf(reference string) string {
	_, tag, _ := strings.Cut(reference[strings.LastIndex(reference, "/")+1:], ":")
	return tag
}

func printKubeconfig(c *layout.Cluster) error {
	if !isRunning(c) {
		return notRunning(c)
	}
	fmt.Println(c.Kubeconfig())
	return nil
}

func notRunning(c *layout.Cluster) error {
	return fmt.Errorf("cluster %s is not running: start it with `cluster.sh --name %s up`", c.Name, c.Name)
}
