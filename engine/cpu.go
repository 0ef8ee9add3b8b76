// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
)

// threadCPU is a thread's processor time at an instant of the workers' clock.
type threadCPU struct {
	at, used int64
}

// readThreadCPU reads that of the calling thread. The call cannot fail with these arguments.
func readThreadCPU(now int64) threadCPU {
	u := usage(unix.RUSAGE_THREAD)
	return threadCPU{at: now, used: u.UserNanos + u.SystemNanos}
}

// busyPercent is the share of one core that a thread took between two readings, 0 to 100.
func busyPercent(begin, end threadCPU) int32 {
	if end.at <= begin.at {
		return 0
	}
	return int32(min(100*(end.used-begin.used)/(end.at-begin.at), 100))
}

// usage is the processor time of this thread or process.
func usage(who int) report.CPU {
	var u unix.Rusage
	_ = unix.Getrusage(who, &u)
	return report.CPU{UserNanos: u.Utime.Nano(), SystemNanos: u.Stime.Nano()}
}
