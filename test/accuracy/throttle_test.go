// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/diskbench/diskbench/engine/disktest"
)

// caps are what the kernel allows at a device, per second and for reads and writes each; 0 is no limit.
type caps struct{ iops, bytes int64 }

func (c caps) each() disktest.Caps {
	return disktest.Caps{ReadIOPS: c.iops, WriteIOPS: c.iops, ReadBPS: c.bytes, WriteBPS: c.bytes}
}

// joinGroup makes this process a member.
func joinGroup(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644)
}
