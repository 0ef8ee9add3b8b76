// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestCPULimit(t *testing.T) {
	files := func(pairs ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return m
	}
	for _, tt := range []struct {
		why   string
		files fstest.MapFS
		want  *float64
	}{
		{"no control groups at all", files(), nil},
		{"no limit", files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "max 100000\n"), nil},
		{"a container sees its group as the root", files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "150000 100000\n"), new(1.5)},
		{"a container that sees the host's path", files("proc/self/cgroup", "0::/kubepods/pod1\n", "sys/fs/cgroup/cpu.max", "50000 100000\n"), new(0.5)},
		{"the group above is tighter", files("proc/self/cgroup", "0::/a/b\n",
			"sys/fs/cgroup/a/cpu.max", "100000 100000\n", "sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"), new(1.0)},
		{"version 1", files("proc/self/cgroup", "3:cpu,cpuacct:/pod\n2:memory:/pod\n",
			"sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "200000\n", "sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n"), new(2.0)},
		{"version 1 without a limit", files("proc/self/cgroup", "3:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"), nil},
		{"a limit of memory is none of the processor", files("proc/self/cgroup", "2:memory:/\n",
			"sys/fs/cgroup/memory/cpu.max", "1 1\n"), nil},
	} {
		if diff := cmp.Diff(tt.want, cpuLimit(tt.files)); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

func TestHost(t *testing.T) {
	h := inspectHost(fstest.MapFS{
		"proc/sys/fs/aio-nr":                {Data: []byte("12\n")},
		"proc/sys/fs/aio-max-nr":            {Data: []byte("65536\n")},
		"proc/sys/kernel/io_uring_disabled": {Data: []byte("2\n")},
		"proc/self/status":                  {Data: []byte("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n")},
	})
	if h.Kernel == "" || h.Cores < 1 || *h.AIORequests != 12 || *h.AIOMaxRequests != 65536 || *h.IOURingDisabled != 2 || !h.Seccomp {
		t.Errorf("%+v", h)
	}
	if bare := inspectHost(fstest.MapFS{}); bare.AIORequests != nil || bare.IOURingDisabled != nil || bare.Seccomp {
		t.Errorf("of no files: %+v", bare)
	}
}
