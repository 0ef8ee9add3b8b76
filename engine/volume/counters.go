// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
)

// statSectorBytes is the unit of the kernel's counters, whatever the device's sector.
const statSectorBytes = 512

// Counters are what the kernel has counted so far at the block devices under the set, as in
// Documentation/block/stat.rst, and false where it counts nothing (an overlay, NFS).
func (s *Set) Counters() (report.DeviceCounters, bool) {
	var sum report.DeviceCounters
	for _, v := range s.members {
		if v.device == 0 {
			return report.DeviceCounters{}, false
		}
		text, err := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/stat", unix.Major(v.device), unix.Minor(v.device)))
		c, ok := parseStat(string(text))
		if err != nil || !ok {
			return report.DeviceCounters{}, false
		}
		sum.ReadOperations += c.ReadOperations
		sum.WriteOperations += c.WriteOperations
		sum.ReadBytes += c.ReadBytes
		sum.WriteBytes += c.WriteBytes
	}
	return sum, true
}

// parseStat reads "reads merged sectors ticks writes merged sectors ticks ...".
func parseStat(text string) (report.DeviceCounters, bool) {
	fields := strings.Fields(text)
	if len(fields) < 7 {
		return report.DeviceCounters{}, false
	}
	var n [7]int64
	for i := range n {
		v, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return report.DeviceCounters{}, false
		}
		n[i] = v
	}
	return report.DeviceCounters{
		ReadOperations: n[0], ReadBytes: n[2] * statSectorBytes,
		WriteOperations: n[4], WriteBytes: n[6] * statSectorBytes,
	}, true
}
