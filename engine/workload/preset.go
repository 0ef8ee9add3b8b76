// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30

	// DefaultFileSizeBytes is four times what a small host cache holds, and small enough to be
	// written in seconds.
	DefaultFileSizeBytes = 4 * gib
	// defaultDurationSeconds is fio's and DiskSpd's customary minute.
	defaultDurationSeconds = 60
	// defaultWarmupSeconds is that of presets without a published one: it covers the ramp of the queue.
	defaultWarmupSeconds = 3
	defaultSeed          = 1
)

// base is what presets and custom workloads vary.
func base(name string) Workload {
	return Workload{
		Name: name, Streams: []Stream{baseStream()}, FileSizeBytes: DefaultFileSizeBytes, ShrinkToFit: true,
		Layout: Written, DirectIO: DirectRequired,
		Warmup: Seconds(defaultWarmupSeconds), Duration: Seconds(defaultDurationSeconds), Seed: defaultSeed,
	}
}

func baseStream() Stream {
	return Stream{
		Pattern: Random, ReadPercent: 100, BlockSizeBytes: 4 * kib, Threads: 1, QueueDepth: 1,
		Range: Whole, Distribution: Distribution{Type: Uniform}, Sync: SyncNone,
	}
}

// preset varies the base workload and its stream.
func preset(name string, vary func(*Workload, *Stream)) Workload {
	w := base(name)
	vary(&w, &w.Streams[0])
	return w
}

// presets gives each preset's workloads. A preset of one workload gives it its own name; one of
// several has names that start with the preset's.
var presets = map[string][]Workload{
	// Comparable with kubestr's default fio job: 4 KiB, depth 64, a 2 GiB file, 2 s of ramp, 15 s.
	"quick": {
		preset("quick-read", quick),
		preset("quick-write", func(w *Workload, s *Stream) { quick(w, s); s.ReadPercent = 0 }),
	},
	// 128 outstanding I/Os saturate every disk below Ultra: 80,000 IOPS at 1.6 ms need 128.
	"randread":  {preset("randread", func(_ *Workload, s *Stream) { s.Threads, s.QueueDepth = 4, 32 })},
	"randwrite": {preset("randwrite", func(_ *Workload, s *Stream) { s.ReadPercent, s.Threads, s.QueueDepth = 0, 4, 32 })},
	// Microsoft names 1,024 KiB for throughput tests; 64 KiB never reaches a small tier's MB/s cap.
	"seqread":  {preset("seqread", func(_ *Workload, s *Stream) { sequential(s) })},
	"seqwrite": {preset("seqwrite", func(_ *Workload, s *Stream) { sequential(s); s.ReadPercent = 0 })},
	// A cap shows as IOPS that stop rising with the depth, which needs no catalog of disks. The
	// depths and times are judgment.
	"ladder": {rung(1), rung(4), rung(16), rung(64), rung(256)},
	// One outstanding I/O: latency that is not queueing.
	"latency": {
		preset("latency-read", func(w *Workload, _ *Stream) { w.Duration = Seconds(120) }),
		preset("latency-write", func(w *Workload, s *Stream) { s.ReadPercent = 0; w.Duration = Seconds(120) }),
	},
	// The published virtual-desktop study: diskspd -c4G -d60 -W3 -b4K -r -o8 -t2 -w50 -Sh.
	// A stress, not a desktop.
	"vdi": {preset("vdi", func(_ *Workload, s *Stream) {
		s.ReadPercent, s.Threads, s.QueueDepth, s.Sync = 50, 2, 8, SyncWriteThrough
	})},
	// Microsoft's VMFleet profile of a virtual desktop, from its diskspd repository: two targets of 10
	// and 8 GiB, here parts of one file. At 6 IOPS a 99th percentile needs three minutes.
	"vdi-fleet": {preset("vdi-fleet", func(w *Workload, _ *Stream) {
		w.FileSizeBytes, w.Duration = 18*gib, Seconds(180)
		w.Streams = []Stream{
			desktop("write", 32*kib, 0, 20, Range{EndPercent: 100 * 10.0 / 18}),
			desktop("read", 8*kib, 100, 80, Range{StartPercent: 100 * 10.0 / 18, EndPercent: 100}),
		}
	})},
	// VMFleet's profile of a database: its log is the first 5 GiB. The file's size is judgment.
	"sql": {preset("sql", func(w *Workload, _ *Stream) {
		w.FileSizeBytes = 20 * gib
		data, log := baseStream(), baseStream()
		data.Name, data.BlockSizeBytes, data.ReadPercent, data.Threads, data.QueueDepth = "data", 8*kib, 70, 4, 32
		data.RateLimitIOPS, data.Distribution, data.Sync = 1500, hotspot, SyncWriteThrough
		data.Range = Range{StartPercent: 25, EndPercent: 100}
		log.Name, log.Pattern, log.BlockSizeBytes, log.ReadPercent = "log", Sequential, 32*kib, 0
		log.RateLimitIOPS, log.Range, log.Sync = 300, Range{EndPercent: 25}, SyncWriteThrough
		w.Streams = []Stream{data, log}
	})},
	// The mix is that of Microsoft's VMFleet profile; the depth is judgment.
	"oltp": {preset("oltp", func(_ *Workload, s *Stream) {
		s.BlockSizeBytes, s.ReadPercent, s.Threads, s.QueueDepth, s.Sync = 8*kib, 70, 4, 8, SyncWriteThrough
	})},
	// The fio recipe of etcd's documentation: 22 MiB, once through a new file, fdatasync after every
	// write. What counts is the 99th percentile of the flush, which should be below 10 ms.
	"etcd": {preset("etcd", func(w *Workload, s *Stream) {
		journal(w, s, 2300)
		w.FileSizeBytes, w.Layout, s.FlushEvery = 22*mib, Preallocated, 1
		w.Operations, w.Warmup, w.Duration = 10_000, 0, Seconds(300)
	})},
	// pg_test_fsync's measure: 8 KiB writes with fdatasync, over a log segment that is used again.
	"postgres-wal": {preset("postgres-wal", func(w *Workload, s *Stream) {
		journal(w, s, 8*kib)
		w.FileSizeBytes, s.FlushEvery = 16*mib, 1
	})},
	// appendfsync everysec: the flushes run beside the writes. The rate, 20 MB/s, is judgment.
	"redis-aof": {preset("redis-aof", func(w *Workload, s *Stream) {
		journal(w, s, 4*kib)
		w.Layout, s.FlushInterval, s.RateLimitIOPS = Append, Seconds(1), 20_000_000/(4*kib)
	})},
	// Four logs, each in its part of the file, and no flush. All of it is judgment.
	"kafka": {preset("kafka", func(_ *Workload, s *Stream) {
		s.Pattern, s.BlockSizeBytes, s.ReadPercent, s.Threads, s.QueueDepth = Sequential, 256*kib, 0, 4, 4
	})},
	// The block size is that of the 2015 premium storage article.
	"sharepoint": {preset("sharepoint", func(_ *Workload, s *Stream) {
		s.BlockSizeBytes, s.ReadPercent, s.Threads, s.QueueDepth = 64*kib, 70, 4, 8
	})},
}

// hotspot is that of VMFleet's profiles: -rdpct95/5.
var hotspot = Distribution{Type: Hotspot, IOPercent: 95, RangePercent: 5}

func quick(w *Workload, s *Stream) {
	s.QueueDepth, w.FileSizeBytes, w.Warmup, w.Duration = 64, 2*gib, Seconds(2), Seconds(15)
}

func sequential(s *Stream) {
	s.Pattern, s.BlockSizeBytes, s.Threads, s.QueueDepth, s.SharedOffset = Sequential, mib, 4, 8, true
}

func rung(depth int) Workload {
	return preset(fmt.Sprintf("ladder-qd%d", depth), func(w *Workload, s *Stream) {
		s.QueueDepth, w.Duration = depth, Seconds(20)
	})
}

func desktop(name string, block int64, readPercent, randomPercent int, part Range) Stream {
	s := baseStream()
	s.Name, s.Pattern, s.RandomPercent, s.ReadPercent, s.BlockSizeBytes = name, Sequential, randomPercent, readPercent, block
	s.QueueDepth, s.RateLimitIOPS, s.Distribution, s.Range = 8, 6, hotspot, part
	return s
}

// journal is a log that a program writes through the page cache and flushes.
func journal(w *Workload, s *Stream, block int64) {
	w.DirectIO = DirectDisabled
	s.Pattern, s.BlockSizeBytes, s.ReadPercent, s.Sync = Sequential, block, 0, SyncFlush
}

// profile is the preset that characterizes a disk: the others, one after another.
var profile = []string{"randread", "randwrite", "seqread", "seqwrite", "latency"}

// Presets lists the presets' names, sorted but for profile, which is made of the others.
func Presets() []string {
	return append(slices.Sorted(maps.Keys(presets)), "profile")
}

// Preset gives the workloads of a preset, and false for a name that is none.
func Preset(name string) ([]Workload, bool) {
	if name != "profile" {
		ws, ok := presets[name]
		return cloned(ws), ok
	}
	var all []Workload
	for _, p := range profile {
		all = append(all, cloned(presets[p])...)
	}
	return all, true
}

// cloned shares nothing with ws that a caller could change.
func cloned(ws []Workload) []Workload {
	ws = slices.Clone(ws)
	for i := range ws {
		ws[i].Streams = slices.Clone(ws[i].Streams)
	}
	return ws
}
