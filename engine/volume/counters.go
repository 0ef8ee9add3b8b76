// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"os"
	"path"
	"strconv"

	"github.com/diskbench/diskbench/engine/report"
)

// statSectorBytes is the unit of the kernel's counters, whatever the device's sector.
const statSectorBytes = 512

// counters read what the kernel has counted at the block devices under a set, and at the machine's
// other disks. Files and buffer are kept, so that reading costs little.
type counters struct {
	// stats are the devices' own, a partition's and not its disk's.
	stats []*os.File
	// table is that of all devices.
	table *os.File
	// class says what a device of the table is, by its name: a name is looked up once.
	class map[string]class
	// seen are the latest figures of each other disk, and others the sum of what was added to them: a disk
	// that is detached takes nothing away.
	seen   map[string]work
	others work
	buffer []byte
}

// work is what a disk has done, reads and writes together.
type work struct{ operations, bytes int64 }

type class int

const (
	// ours is a disk under the set, or a part of one.
	ours class = iota + 1
	// other is one of the machine's other disks.
	other
	// apart is no disk: a partition, or what the kernel makes of memory, files and other disks.
	apart
)

// Counters are what the kernel has counted so far at the block devices under the set, as in
// Documentation/block/stat.rst, and false where it counts nothing (an overlay, NFS).
//
// OtherOperations and OtherBytes are the completed reads and writes of the machine's other disks, of which what
// is added between two calls has a meaning: whole disks alone, without those under the set, even if the set is a
// partition or a mapped device of them; without loop devices, memory disks (ram, zram), and those that
// device mapper and md make of others, whose I/O would count twice. What sysfs lists as virtual is none
// of the machine's disks.
//
// It is not for concurrent use.
func (s *Set) Counters() (report.DeviceCounters, bool) {
	if s.counters == nil {
		s.counters = s.openCounters()
	}
	c := s.counters
	if len(c.stats) != len(s.members) {
		return report.DeviceCounters{}, false
	}
	var sum report.DeviceCounters
	for _, f := range c.stats {
		one, ok := parseStat(c.read(f))
		if !ok {
			return report.DeviceCounters{}, false
		}
		sum = sum.Plus(one)
	}
	if c.table != nil {
		c.addOthers(c.read(c.table))
	}
	sum.OtherOperations, sum.OtherBytes = c.others.operations, c.others.bytes
	return sum, true
}

// openCounters has fewer files than members where the kernel counts nothing.
func (s *Set) openCounters() *counters {
	c := &counters{class: map[string]class{}, seen: map[string]work{}, buffer: make([]byte, 4096)}
	for _, v := range s.members {
		dir := sysfsOf(v.device)
		if dir == "" {
			continue
		}
		f, err := os.Open(path.Join(dir, "stat"))
		if err != nil {
			continue
		}
		c.stats = append(c.stats, f)
		for _, disk := range disksUnder(dir) {
			c.class[disk] = ours
		}
	}
	// Without it, the other disks go uncounted.
	c.table, _ = os.Open("/proc/diskstats")
	return c
}

func (c *counters) close() {
	if c == nil {
		return
	}
	for _, f := range append(c.stats, c.table) {
		_ = f.Close() // only read from; of a table that is not there it says so
	}
}

// read gives the whole content of a file of the kernel's, which makes it anew for a read at its start. It
// is valid until the next read, and empty after an error.
func (c *counters) read(f *os.File) []byte {
	n := 0
	for {
		m, err := f.ReadAt(c.buffer[n:], int64(n))
		n += m
		if err != nil { // io.EOF, with what came before
			return c.buffer[:n]
		}
		c.buffer = append(c.buffer, make([]byte, len(c.buffer))...)
	}
}

// addOthers reads lines of "major minor name", and then what the disk's own stat file has.
func (c *counters) addOthers(table []byte) {
	for line := range bytes.Lines(table) {
		_, line = cutField(line)
		_, line = cutField(line)
		name, line := cutField(line)
		if c.classOf(name) != other {
			continue
		}
		if disk, ok := parseStat(line); ok {
			c.count(string(name), work{operations: disk.ReadOperations + disk.WriteOperations, bytes: disk.ReadBytes + disk.WriteBytes})
		}
	}
}

// cutField gives the first field of a line, and the rest.
func cutField(line []byte) (field, rest []byte) {
	field, rest, _ = bytes.Cut(bytes.TrimLeft(line, " "), []byte(" "))
	return field, rest
}

// count adds what a disk has done since it was seen last. One that is counted anew was replaced.
func (c *counters) count(disk string, done work) {
	before := c.seen[disk]
	if done.operations < before.operations {
		before = work{}
	}
	c.others.operations += done.operations - before.operations
	c.others.bytes += done.bytes - before.bytes
	c.seen[disk] = done
}

func (c *counters) classOf(name []byte) class {
	known, ok := c.class[string(name)]
	if !ok {
		known = classify("/sys", string(name))
		c.class[string(name)] = known
	}
	return known
}

// parseStat reads "reads merged sectors ticks writes merged sectors ticks ...".
func parseStat(text []byte) (report.DeviceCounters, bool) {
	var n [7]int64
	i := 0
	for field := range bytes.FieldsSeq(text) {
		v, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return report.DeviceCounters{}, false
		}
		n[i] = v
		if i++; i == len(n) {
			break
		}
	}
	return report.DeviceCounters{
		ReadOperations: n[0], ReadBytes: n[2] * statSectorBytes,
		WriteOperations: n[4], WriteBytes: n[6] * statSectorBytes,
	}, i == len(n)
}
