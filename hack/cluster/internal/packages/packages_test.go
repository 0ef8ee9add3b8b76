// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package packages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissing(t *testing.T) {
	present := map[string]bool{"runc": true, "nft": true, "losetup": true, "nsenter": true}
	programs, debianPackages := missing(func(program string) bool { return present[program] })
	if diff := cmp.Diff([]string{"mount", "blkid", "mkfs.ext4", "fsck.ext4"}, programs); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
	// Each package once, also when two programs of it are missing.
	if diff := cmp.Diff([]string{"mount", "util-linux", "e2fsprogs"}, debianPackages); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
}
