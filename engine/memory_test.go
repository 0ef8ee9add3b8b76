// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/diskbench/diskbench/engine/workload"
)

const memoryChild = "DISKBENCH_TEST_MEMORY_CHILD"

// greedy is the largest load there is, of reads and writes.
func greedy(kind workload.IOEngine) workload.Plan {
	p := small(workload.NullPath, kind)
	p.Target, p.Repetitions = workload.NullDevice, 1
	s := &p.Workloads[0].Streams[0]
	s.ReadPercent, s.BlockSizeBytes, s.Threads, s.QueueDepth = 50, 4096, workload.MaxThreads, workload.MaxQueueDepth
	p.Workloads[0].FileSizeBytes = 1 << 30
	return p
}

// A pod that asks for little memory must not be killed for what the engine needs beside the buffers:
// at most 64 MiB, this test's own program included.
func TestMemoryBesideTheBuffers(t *testing.T) {
	if kind := os.Getenv(memoryChild); kind != "" {
		mustRun(t, greedy(workload.IOEngine(kind)), Options{})
		return
	}
	for _, kind := range []workload.IOEngine{workload.IOUring, workload.LibAIO} {
		child := exec.Command(os.Args[0], "-test.run=^TestMemoryBesideTheBuffers$")
		child.Env = append(os.Environ(), memoryChild+"="+string(kind))
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", kind, err, out)
		}
		usage, ok := child.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatal("no resource usage of the child")
		}
		const buffers = workload.MaxThreads * workload.MaxQueueDepth * 4096
		switch beside := usage.Maxrss<<10 - buffers; {
		case beside < 0:
			t.Logf("%s does not work here", kind)
		case beside > 64<<20:
			t.Errorf("%s: %d KiB beside the buffers", kind, beside>>10)
		}
	}
}
