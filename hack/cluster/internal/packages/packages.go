// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package packages installs the few programs that no Go module provides.
package packages

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// required are programs that kubelet, kube-proxy, containerd or this tool call, and the Debian packages they are in.
var required = []struct{ program, debianPackage string }{
	{"runc", "runc"},           // a module too, but one that needs a C compiler and libseccomp's headers
	{"nft", "nftables"},        // kube-proxy and the portmap plugin write their rules with it
	{"losetup", "mount"},       // kubelet, for Block volumes
	{"mount", "mount"},         // kubelet
	{"blkid", "util-linux"},    // kubelet, to tell whether a volume has a file system
	{"nsenter", "util-linux"},  // `cluster exec`
	{"mkfs.ext4", "e2fsprogs"}, // kubelet, for Filesystem volumes
	{"fsck.ext4", "e2fsprogs"}, // kubelet, before it mounts one
}

// Ensure installs what is missing with apt-get and says so through logf before it does.
func Ensure(logf func(format string, args ...any)) error {
	programs, debianPackages := missing(installed)
	if len(programs) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this host lacks %s and has no apt-get: install them with its package manager (in Debian: %s)",
			strings.Join(programs, ", "), strings.Join(debianPackages, " "))
	}
	logf("installing the Debian packages %s, for %s", strings.Join(debianPackages, " "), strings.Join(programs, ", "))
	if err := aptGet("update", "-qq"); err != nil {
		return err
	}
	if err := aptGet(append([]string{"install", "-qq", "--yes", "--no-install-recommends"}, debianPackages...)...); err != nil {
		return err
	}
	if programs, _ = missing(installed); len(programs) > 0 {
		return fmt.Errorf("%s still missing after the installation: is its folder in PATH (%s)?", strings.Join(programs, ", "), os.Getenv("PATH"))
	}
	return nil
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func missing(present func(program string) bool) (programs, debianPackages []string) {
	for _, r := range required {
		if present(r.program) {
			continue
		}
		programs = append(programs, r.program)
		if !slices.Contains(debianPackages, r.debianPackage) {
			debianPackages = append(debianPackages, r.debianPackage)
		}
	}
	return programs, debianPackages
}

func aptGet(args ...string) error {
	cmd := exec.Command("apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
