// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/workload"
)

// comparableLines are the command lines of other tools that put the same load on a disk, where
// such exist: for readers who know those tools, and for counter-checks.
func comparableLines(p workload.Plan, w workload.Workload) []string {
	var lines []string
	if line := diskSpd(p, w); line != "" {
		lines = append(lines, "as with DiskSpd: "+line)
	}
	if line := fio(p, w); line != "" {
		lines = append(lines, "as with fio: "+line)
	}
	return lines
}

// single says whether one volume is measured, and not with what only this engine does.
func single(p workload.Plan, w workload.Workload) bool {
	return len(p.Sets) == 1 && len(p.Sets[0]) == 1 && !w.Verify && w.Layout != workload.Append
}

// diskSpd is the line for DiskSpd 2.1 or later; its parameters are those of its wiki. Several streams
// would be an XML profile, and it has no flush and no Zipf.
func diskSpd(p workload.Plan, w workload.Workload) string {
	s := w.Streams[0]
	whole := w.Duration.Std()%time.Second == 0 && w.Warmup.Std()%time.Second == 0
	if !single(p, w) || p.Target != workload.Directory || len(w.Streams) > 1 || w.Layout != workload.Written || w.Operations > 0 ||
		s.Flushes() || s.Distribution.Type == workload.Zipf || s.Range != workload.Whole || !whole {
		return ""
	}
	args := []string{
		"diskspd", "-c" + letters(w.FileSizeBytes),
		fmt.Sprintf("-d%.0f", w.Duration.Std().Seconds()), fmt.Sprintf("-W%.0f", w.Warmup.Std().Seconds()),
		"-b" + letters(s.BlockSizeBytes),
	}
	args = append(args, diskSpdOrder(w, s)...)
	args = append(args, fmt.Sprintf("-o%d", s.QueueDepth), fmt.Sprintf("-t%d", s.Threads), fmt.Sprintf("-w%d", 100-s.ReadPercent))
	if s.RateLimitIOPS > 0 {
		args = append(args, fmt.Sprintf("-g%di", s.RateLimitIOPS))
	}
	switch through := s.Sync == workload.SyncWriteThrough; {
	case through && w.Buffered():
		args = append(args, "-Sw")
	case through:
		args = append(args, "-Sh")
	case !w.Buffered():
		args = append(args, "-Su")
	}
	return strings.Join(append(args, "-L", "testfile.dat"), " ")
}

func diskSpdOrder(w workload.Workload, s workload.Stream) []string {
	var args []string
	switch {
	case s.Pattern == workload.Random:
		args = []string{"-r"}
	case s.RandomPercent > 0:
		args = []string{fmt.Sprintf("-rs%d", s.RandomPercent)}
	case s.SharedOffset:
		return []string{"-si"}
	case s.Threads > 1:
		return []string{"-T" + letters(w.FileSizeBytes/int64(s.Threads))}
	}
	if d := s.Distribution; d.Type == workload.Hotspot {
		args = append(args, fmt.Sprintf("-rdpct%d/%d", d.IOPercent, d.RangePercent))
	}
	return args
}

// letters writes a size as DiskSpd does, with K, M and G of 1,024.
func letters(n int64) string { return strings.TrimSuffix(bytesize.Format(n), "i") }

// fio is the line for fio 3. It has no offset that threads share, and no flush beside the writes.
func fio(p workload.Plan, w workload.Workload) string {
	if !single(p, w) || w.Operations > 0 && len(w.Streams) > 1 {
		return ""
	}
	args := append([]string{"fio"}, fioCommon(p, w)...)
	for _, s := range w.Streams {
		if s.SharedOffset && s.Threads > 1 || s.FlushInterval > 0 {
			return ""
		}
		if s.Name != "" {
			args = append(args, "--name="+s.Name, "--new_group")
		} else {
			args = append(args, "--name="+w.Name)
		}
		args = append(args, fioStream(w, s)...)
	}
	return strings.Join(args, " ")
}

func fioCommon(p workload.Plan, w workload.Workload) []string {
	path := p.Sets[0][0]
	if p.Target == workload.Directory {
		path = filepath.Join(path, "fio.dat")
	}
	args := []string{"--filename=" + quoted(path), "--filesize=" + small(w.FileSizeBytes), "--group_reporting"}
	switch {
	case w.Buffered() || p.IOEngine == workload.Sync:
		args = append(args, "--ioengine=psync")
	case p.IOEngine == workload.LibAIO:
		args = append(args, "--ioengine=libaio")
	default:
		args = append(args, "--ioengine=io_uring")
	}
	if !w.Buffered() {
		args = append(args, "--direct=1")
	}
	switch {
	case p.Target != workload.Directory:
	case w.Layout == workload.Preallocated:
		args = append(args, "--fallocate=posix")
	case w.Writes():
		args = append(args, "--overwrite=1")
	}
	if w.Warmup > 0 {
		args = append(args, "--ramp_time="+fioTime(w.Warmup))
	}
	args = append(args, "--runtime="+fioTime(w.Duration))
	if w.Operations == 0 {
		args = append(args, "--time_based")
	}
	return args
}

func fioStream(w workload.Workload, s workload.Stream) []string {
	args := []string{"--rw=" + fioOrder(s)}
	if s.Reads() && s.Writes() {
		args = append(args, fmt.Sprintf("--rwmixread=%d", s.ReadPercent))
	}
	args = append(args, "--bs="+small(s.BlockSizeBytes), fmt.Sprintf("--iodepth=%d", s.QueueDepth), fmt.Sprintf("--numjobs=%d", s.Threads))
	first, end := s.Range.Blocks(w.FileSizeBytes, s.BlockSizeBytes)
	size := (end - first) * s.BlockSizeBytes
	if first > 0 {
		args = append(args, "--offset="+small(first*s.BlockSizeBytes))
	}
	if s.Pattern == workload.Sequential && s.Threads > 1 {
		size = size / s.BlockSizeBytes / int64(s.Threads) * s.BlockSizeBytes
		args = append(args, "--offset_increment="+small(size))
	}
	args = append(args, "--size="+small(size))
	if w.Operations > 0 {
		args = append(args, "--io_size="+small(w.Operations/int64(s.Threads)*s.BlockSizeBytes))
	}
	args = append(args, fioOffsets(s)...)
	if s.RateLimitIOPS > 0 {
		args = append(args, "--rate_iops="+fioRate(s))
	}
	switch {
	case s.Sync == workload.SyncWriteThrough && s.Writes():
		args = append(args, "--sync=dsync")
	case s.FlushEvery > 0:
		args = append(args, fmt.Sprintf("--fdatasync=%d", s.FlushEvery))
	}
	return args
}

func fioOrder(s workload.Stream) string {
	order := "rw"
	switch {
	case !s.Writes():
		order = "read"
	case !s.Reads():
		order = "write"
	}
	if s.Pattern == workload.Random || s.RandomPercent > 0 {
		return "rand" + order
	}
	return order
}

func fioOffsets(s workload.Stream) []string {
	if s.Pattern == workload.Sequential && s.RandomPercent == 0 {
		return nil
	}
	// Offsets are drawn anew each time, and may come twice.
	args := []string{"--norandommap"}
	if s.RandomPercent > 0 {
		args = append(args, fmt.Sprintf("--percentage_random=%d", s.RandomPercent))
	}
	switch d := s.Distribution; d.Type {
	case workload.Hotspot:
		args = append(args, fmt.Sprintf("--random_distribution=zoned:%d/%d:%d/%d", d.IOPercent, d.RangePercent, 100-d.IOPercent, 100-d.RangePercent))
	case workload.Zipf:
		args = append(args, "--random_distribution=zipf:1.1")
	default:
	}
	return args
}

// fioRate divides the rate by the mix: fio has one for reads and one for writes.
func fioRate(s workload.Stream) string {
	if !s.Reads() || !s.Writes() {
		return strconv.FormatInt(s.RateLimitIOPS, 10)
	}
	reads := s.RateLimitIOPS * int64(s.ReadPercent) / 100
	return fmt.Sprintf("%d,%d", max(reads, 1), max(s.RateLimitIOPS-reads, 1))
}

// small writes a size as fio does, with k, m and g of 1,024.
func small(n int64) string { return strings.ToLower(letters(n)) }

func fioTime(d workload.Duration) string { return fmt.Sprintf("%dms", d.Std().Milliseconds()) }

// quoted is s for a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@%", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
