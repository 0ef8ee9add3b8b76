// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Golangci-lint with the Kubernetes API linter compiled in. The upstream way to get there,
// `golangci-lint custom`, clones a repository; this needs the Go module proxy alone.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
	_ "sigs.k8s.io/kube-api-linter" // registers the linter kubeapilinter
)

const linterModule = "github.com/golangci/golangci-lint/v2"

func main() {
	if err := commands.Execute(buildInfo()); err != nil {
		fmt.Fprintf(os.Stderr, "golangci-lint: %v\n", err)
		os.Exit(exitcodes.Failure)
	}
}

// buildInfo reports the version of the linter's module, which the configuration file is checked against.
func buildInfo() commands.BuildInfo {
	info := commands.BuildInfo{Version: "unknown", Commit: "from modules", Date: "unknown"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.GoVersion = build.GoVersion
	for _, dependency := range build.Deps {
		if dependency.Path == linterModule {
			info.Version = strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return info
}
