// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command diskbench-engine measures a disk with direct I/O, in a pod or on any Linux machine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set when linking: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
