// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-diskbench is a kubectl plugin (`kubectl diskbench`) that tells from published limits and
// prices what Azure disks will reach, and which ones do for a need. It works without a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// version is set when linking: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	code := execute(ctx, os.Args[1:], surroundings{stdout: os.Stdout, stderr: os.Stderr, now: time.Now})
	stop()
	os.Exit(code)
}
