// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
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
		Name: name, Pattern: Random, ReadPercent: 100, BlockSizeBytes: 4 * kib, Threads: 1, QueueDepth: 1,
		Sync: SyncNone, FileSizeBytes: DefaultFileSizeBytes, ShrinkToFit: true,
		Warmup: Seconds(defaultWarmupSeconds), Duration: Seconds(defaultDurationSeconds), Seed: defaultSeed,
	}
}

func preset(name string, vary func(*Workload)) Workload {
	w := base(name)
	vary(&w)
	return w
}

// presets gives each preset's workloads. A preset of one workload gives it its own name; one of
// several has names that start with the preset's.
var presets = map[string][]Workload{
	// Comparable with kubestr's default fio job: 4 KiB, depth 64, a 2 GiB file, 2 s of ramp, 15 s.
	"quick": {
		preset("quick-read", func(w *Workload) { quick(w) }),
		preset("quick-write", func(w *Workload) { quick(w); w.ReadPercent = 0 }),
	},
	// 128 outstanding I/Os saturate every disk below Ultra: 80,000 IOPS at 1.6 ms need 128.
	"randread":  {preset("randread", func(w *Workload) { w.Threads, w.QueueDepth = 4, 32 })},
	"randwrite": {preset("randwrite", func(w *Workload) { w.ReadPercent, w.Threads, w.QueueDepth = 0, 4, 32 })},
	// Microsoft names 1,024 KiB for throughput tests; 64 KiB never reaches a small tier's MB/s cap.
	"seqread":  {preset("seqread", func(w *Workload) { sequential(w) })},
	"seqwrite": {preset("seqwrite", func(w *Workload) { sequential(w); w.ReadPercent = 0 })},
	// One outstanding I/O: latency that is not queueing.
	"latency": {
		preset("latency-read", func(w *Workload) { w.Duration = Seconds(120) }),
		preset("latency-write", func(w *Workload) { w.ReadPercent = 0; w.Duration = Seconds(120) }),
	},
	// The published virtual-desktop study: diskspd -c4G -d60 -W3 -b4K -r -o8 -t2 -w50 -Sh.
	// A stress, not a desktop.
	"vdi": {preset("vdi", func(w *Workload) {
		w.ReadPercent, w.Threads, w.QueueDepth, w.Sync = 50, 2, 8, SyncWriteThrough
	})},
	// The mix is that of Microsoft's VMFleet profile; the depth is judgment.
	"oltp": {preset("oltp", func(w *Workload) {
		w.BlockSizeBytes, w.ReadPercent, w.Threads, w.QueueDepth, w.Sync = 8*kib, 70, 4, 8, SyncWriteThrough
	})},
	// The block size is that of the 2015 premium storage article.
	"sharepoint": {preset("sharepoint", func(w *Workload) {
		w.BlockSizeBytes, w.ReadPercent, w.Threads, w.QueueDepth = 64*kib, 70, 4, 8
	})},
}

func quick(w *Workload) {
	w.QueueDepth, w.FileSizeBytes, w.Warmup, w.Duration = 64, 2*gib, Seconds(2), Seconds(15)
}

func sequential(w *Workload) {
	w.Pattern, w.BlockSizeBytes, w.Threads, w.QueueDepth, w.SharedOffset = Sequential, mib, 4, 8, true
}

// profile is the preset that characterizes a disk: the others, one after another.
var profile = []string{"randread", "randwrite", "seqread", "seqwrite", "latency"}

// Presets lists the presets' names, sorted.
func Presets() []string {
	return append(slices.Sorted(maps.Keys(presets)), "profile")
}

// Preset gives the workloads of a preset, and false for a name that is none.
func Preset(name string) ([]Workload, bool) {
	if name != "profile" {
		w, ok := presets[name]
		return slices.Clone(w), ok
	}
	var all []Workload
	for _, p := range profile {
		all = append(all, presets[p]...)
	}
	return all, true
}
