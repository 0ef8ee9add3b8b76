// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/workload"
)

func specOf(ws ...v1alpha1.Workload) *v1alpha1.DiskBenchmarkSpec {
	return &v1alpha1.DiskBenchmarkSpec{Size: ptr.To(resource.MustParse("32Gi")), Workloads: ws}
}

func presetNamed(name string) v1alpha1.Workload { return v1alpha1.Workload{Preset: &name} }

func TestBuildGivesTheEffectiveWorkloads(t *testing.T) {
	spec := specOf(v1alpha1.Workload{
		Name: ptr.To("log"),
		Stream: v1alpha1.Stream{
			Pattern: ptr.To(v1alpha1.Pattern("Sequential")), ReadPercent: ptr.To[int32](0),
			BlockSize: ptr.To(resource.MustParse("64Ki")), Threads: ptr.To[int32](2), QueueDepth: ptr.To[int32](4),
			SequentialOffset: ptr.To(v1alpha1.SequentialOffsetShared), Sync: ptr.To(v1alpha1.SyncMode("WriteThrough")),
		},
		FileSize: ptr.To(resource.MustParse("1Gi")), WarmupSeconds: ptr.To[int32](0), DurationSeconds: ptr.To[int32](10),
		Seed: ptr.To[int64](7),
	})
	spec.Repetitions = ptr.To[int32](3)
	spec.Engine = &v1alpha1.EngineOptions{IOEngine: ptr.To(v1alpha1.IOEngine("LibAIO"))}
	spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock)

	got, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	want := workload.Plan{
		Target: workload.BlockDevice, Sets: [][]string{{DevicePath}}, IOEngine: workload.LibAIO, Repetitions: 3,
		Workloads: []workload.Workload{{
			Name: "log", FileSizeBytes: 1 << 30, Layout: workload.Written, DirectIO: workload.DirectRequired,
			Streams: []workload.Stream{{
				Pattern: workload.Sequential, ReadPercent: 0, BlockSizeBytes: 64 << 10, Threads: 2, QueueDepth: 4,
				SharedOffset: true, Range: workload.Whole, Distribution: workload.Distribution{Type: workload.Uniform},
				Sync: workload.SyncWriteThrough,
			}},
			Probe: workload.Seconds(5), Warmup: 0, Duration: workload.Seconds(10), Seed: 7,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if n := Seconds(got); n != 35 {
		t.Errorf("planned time is %d s, want one probe of 5 s and 3 repetitions of 10 s", n)
	}
}

func TestBuildOverridesAPreset(t *testing.T) {
	w := presetNamed("vdi")
	w.QueueDepth = ptr.To[int32](32)
	got, err := Build(specOf(w))
	if err != nil {
		t.Fatal(err)
	}
	vdi, _ := workload.Preset("vdi")
	vdi[0].Streams[0].QueueDepth, vdi[0].Probe = 32, workload.Seconds(5)
	if diff := cmp.Diff(vdi, got.Workloads); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if got.Target != workload.Directory || got.Sets[0][0] != DataPath || got.IOEngine != workload.Auto || got.Repetitions != 1 {
		t.Errorf("defaults: got target %s, path %s, ioEngine %s, repetitions %d", got.Target, got.Sets[0][0], got.IOEngine, got.Repetitions)
	}
}

func TestBuildRefuses(t *testing.T) {
	eight := make([]v1alpha1.Workload, 8)
	for i := range eight {
		eight[i] = presetNamed("vdi")
		eight[i].Name = ptr.To(strings.Repeat("v", i+1))
	}
	sync := specOf(presetNamed("vdi"))
	sync.Engine = &v1alpha1.EngineOptions{IOEngine: ptr.To(v1alpha1.IOEngine("Sync"))}
	for name, c := range map[string]struct {
		reason string
		spec   *v1alpha1.DiskBenchmarkSpec
		want   string
	}{
		"unknown preset": {
			reason: "an operator older than the schema may see one",
			spec:   specOf(presetNamed("nfs")), want: `workloads[0]: unknown preset "nfs"`,
		},
		"too many": {
			reason: "quick counts two: nine do not fit in the termination message",
			spec:   specOf(append(eight, presetNamed("quick"))...), want: "at most 8",
		},
		"nothing to drain": {
			reason: "a run that was asked to drain and does not would pass for one without credits",
			spec:   draining(specOf(presetNamed("latency"), presetNamed("etcd"))), want: "sustained is Drain, and no workload asks for all that the disk gives",
		},
		"a block across stripes": {
			reason: "a block that straddles two volumes unevenly measures neither",
			spec:   striped(specOf(custom("a", "24Ki"))), want: "workloads[0] (a): blockSize 24576 neither divides nor is a multiple of stripeSize 65536",
		},
		"a field of which workload": {
			reason: "latency reads and then writes, and there is nothing to flush in the reads",
			spec: specOf(v1alpha1.Workload{Preset: ptr.To("latency"), Stream: v1alpha1.Stream{
				Sync: ptr.To(v1alpha1.SyncFlush), FlushEvery: ptr.To[int32](1),
			}}), want: "workloads[0] (latency-read): sync Flush without writes",
		},
		"a range without a block for each thread": {
			reason: "1% of 1 MiB has no block of 16 KiB",
			spec: specOf(v1alpha1.Workload{
				Preset: ptr.To("randread"), FileSize: ptr.To(resource.MustParse("1Mi")),
				Stream: v1alpha1.Stream{BlockSize: ptr.To(resource.MustParse("16Ki")), Range: &v1alpha1.Range{EndPercent: ptr.To[int32](1)}},
			}), want: "workloads[0] (randread): fileSize 1048576 is too small",
		},
		"sync with depth": {
			reason: "the sync engine keeps one I/O for each thread, so depth 8 would silently be 1",
			spec:   sync, want: "queueDepth 8 with ioEngine Sync",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(c.spec)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q (%s)", err, c.want, c.reason)
			}
		})
	}
}

func custom(name, blockSize string) v1alpha1.Workload {
	return v1alpha1.Workload{Name: &name, Stream: v1alpha1.Stream{
		Pattern: ptr.To(v1alpha1.Pattern("Random")), ReadPercent: ptr.To[int32](50), BlockSize: ptr.To(resource.MustParse(blockSize)),
	}}
}

func draining(s *v1alpha1.DiskBenchmarkSpec) *v1alpha1.DiskBenchmarkSpec {
	s.Sustained = ptr.To(v1alpha1.SustainedDrain)
	return s
}

func striped(s *v1alpha1.DiskBenchmarkSpec) *v1alpha1.DiskBenchmarkSpec {
	s.VolumeCount = ptr.To[int32](2)
	return s
}

func TestBuildKnowsEveryPreset(t *testing.T) {
	for _, name := range workload.Presets() {
		if _, err := Build(specOf(presetNamed(name))); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
	}
}

func TestBuildGivesEachVolumeItsPath(t *testing.T) {
	for name, c := range map[string]struct {
		reason, spec string
		sets         [][]string
		stripe       int64
	}{
		"one":                {"as it always was", `{size: 1Gi}`, [][]string{{"/data"}}, 0},
		"one device":         {"as it always was", `{size: 1Gi, volumeMode: Block}`, [][]string{{"/dev/diskbench"}}, 0},
		"striped":            {"one set, and the customary stripe", `{size: 1Gi, volumeCount: 2}`, [][]string{{"/data/0", "/data/1"}}, 64 << 10},
		"stripe":             {"as it was asked for", `{size: 1Gi, volumeCount: 2, stripeSize: 256Ki}`, [][]string{{"/data/0", "/data/1"}}, 256 << 10},
		"one volume for all": {"the default", `{size: 1Gi, repetitions: 2, repetitionScope: SameVolume}`, [][]string{{"/data"}}, 0},
		"new volumes":        {"a set for each repetition", `{size: 1Gi, repetitions: 3, repetitionScope: NewVolume}`, [][]string{{"/data/0"}, {"/data/1"}, {"/data/2"}}, 0},
		"new volume, once":   {"one repetition has one volume", `{size: 1Gi, repetitionScope: NewVolume}`, [][]string{{"/data"}}, 0},
		"new striped devices": {
			"set after set", `{size: 1Gi, volumeMode: Block, volumeCount: 2, repetitions: 2, repetitionScope: NewVolume}`,
			[][]string{{"/dev/diskbench0", "/dev/diskbench1"}, {"/dev/diskbench2", "/dev/diskbench3"}}, 64 << 10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := parse(t, c.spec)
			spec.Workloads = []v1alpha1.Workload{presetNamed("vdi")}
			p, err := Build(spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.sets, p.Sets); diff != "" || p.StripeSizeBytes != c.stripe {
				t.Errorf("%s: stripe %d, want %d, sets (-want +got):\n%s", c.reason, p.StripeSizeBytes, c.stripe, diff)
			}
			if got, want := Volumes(spec), len(p.Sets)*len(p.Sets[0]); got != want {
				t.Errorf("%d volumes, the plan has %d", got, want)
			}
		})
	}
}

func TestBuildGivesStreams(t *testing.T) {
	spec := parse(t, `{size: 32Gi, workloads: [{name: db, fileSize: 8Gi, verification: Checksum, operations: 1000, layout: Written, directIO: Required, streams: [
		{name: data, pattern: Random, readPercent: 70, blockSize: 8Ki, threads: 4, queueDepth: 32, rateLimitIOPS: 1500, range: {startPercent: 25},
		 distribution: {type: Hotspot, ioPercent: 95, rangePercent: 5}, sync: WriteThrough},
		{name: log, pattern: Sequential, randomPercent: 20, readPercent: 0, blockSize: 32Ki, range: {endPercent: 25}, sync: Flush, flushEvery: 8},
		{name: aof, pattern: Sequential, readPercent: 0, blockSize: 4Ki, sync: Flush, flushIntervalSeconds: 2}]},
		{name: one, streams: [{name: only, pattern: Random, readPercent: 100, blockSize: 4Ki}]}]}`)
	p, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	base := workload.Stream{
		Threads: 1, QueueDepth: 1, Range: workload.Whole, Distribution: workload.Distribution{Type: workload.Uniform}, Sync: workload.SyncFlush,
	}
	data, log, aof := base, base, base
	data.Name, data.Pattern, data.ReadPercent, data.BlockSizeBytes, data.Threads, data.QueueDepth = "data", workload.Random, 70, 8<<10, 4, 32
	data.RateLimitIOPS, data.Range, data.Sync = 1500, workload.Range{StartPercent: 25, EndPercent: 100}, workload.SyncWriteThrough
	data.Distribution = workload.Distribution{Type: workload.Hotspot, IOPercent: 95, RangePercent: 5}
	log.Name, log.Pattern, log.RandomPercent, log.BlockSizeBytes = "log", workload.Sequential, 20, 32<<10
	log.Range, log.FlushEvery = workload.Range{EndPercent: 25}, 8
	aof.Name, aof.Pattern, aof.BlockSizeBytes, aof.FlushInterval = "aof", workload.Sequential, 4<<10, workload.Seconds(2)
	want := workload.Workload{
		Name: "db", Streams: []workload.Stream{data, log, aof}, FileSizeBytes: 8 << 30, Layout: workload.Written, DirectIO: workload.DirectRequired,
		Verify: true, Operations: 1000, Warmup: workload.Seconds(3), Duration: workload.Seconds(60), Seed: 1,
	}
	if diff := cmp.Diff(want, p.Workloads[0]); diff != "" {
		t.Errorf("workload (-want +got):\n%s", diff)
	}
	if name := p.Workloads[1].Streams[0].Name; name != "" {
		t.Errorf("the only stream is called %q: it is the workload", name)
	}
}

func TestAnOverriddenFlushReplacesThePresets(t *testing.T) {
	for name, c := range map[string]struct {
		reason, fields string
		sync           workload.SyncMode
		every          int
		interval       workload.Duration
	}{
		"as it is":        {"etcd's own", ``, workload.SyncFlush, 1, 0},
		"rarer":           {"another number", `, flushEvery: 10`, workload.SyncFlush, 10, 0},
		"by time":         {"a number and a time cannot both be", `, flushIntervalSeconds: 2`, workload.SyncFlush, 0, workload.Seconds(2)},
		"written through": {"there is nothing left to flush", `, sync: WriteThrough`, workload.SyncWriteThrough, 0, 0},
		"not at all":      {"the page cache alone", `, sync: None`, workload.SyncNone, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Build(parse(t, `{size: 1Gi, workloads: [{preset: etcd`+c.fields+`}]}`))
			if err != nil {
				t.Fatal(err)
			}
			s := p.Workloads[0].Streams[0]
			if s.Sync != c.sync || s.FlushEvery != c.every || s.FlushInterval != c.interval {
				t.Errorf("%s: sync %s, every %d writes or %s", c.reason, s.Sync, s.FlushEvery, s.FlushInterval)
			}
		})
	}
	p, err := Build(parse(t, `{size: 1Gi, workloads: [{preset: redis-aof, flushEvery: 4}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Workloads[0].Streams[0]; s.FlushEvery != 4 || s.FlushInterval != 0 {
		t.Errorf("redis-aof, flushed by number: every %d writes or %s", s.FlushEvery, s.FlushInterval)
	}
}

func TestReadsOfAPresetAreVerified(t *testing.T) {
	p, err := Build(parse(t, `{size: 8Gi, workloads: [{preset: quick, verification: Checksum}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Workloads[0].Verify || p.Workloads[1].Verify {
		t.Errorf("quick-read verified: %t, quick-write: %t; only reads can be", p.Workloads[0].Verify, p.Workloads[1].Verify)
	}
}

func TestDrainGoesOnWithLoadsThatSaturate(t *testing.T) {
	p, err := Build(parse(t, `{size: 64Gi, repetitions: 2, sustained: Drain, workloads: [{preset: randread}, {preset: latency}, {preset: sql}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var drained []string
	for _, w := range p.Workloads {
		if w.Drain {
			drained = append(drained, w.Name)
		}
	}
	if diff := cmp.Diff([]string{"randread"}, drained); diff != "" {
		t.Errorf("one I/O at a time, or a rate, uses up no credits (-want +got):\n%s", diff)
	}
	// randread 63 s and 2,700, latency 123 s twice, sql 63 s; all twice. And randread's probe, once.
	if got, want := Seconds(p), int64(2*(63+2700+2*123+63)+5); got != want || !MayEndEarly(p) {
		t.Errorf("planned %d s, want %d; may end early: %t", got, want, MayEndEarly(p))
	}
}

func TestOnlyWhatADiskCanHoldBackIsProbed(t *testing.T) {
	for _, c := range []struct {
		why, workload string
		probed        bool
	}{
		{"a saturating load queues at a cap", "{preset: randread}", true},
		{"one I/O at a time has nothing to compare with", "{preset: latency}", false},
		{"a rate is below the cap, or says so itself", "{preset: randread, rateLimitIOPS: 10}", false},
		{"the page cache's latency says nothing of the disk", "{preset: kafka, directIO: Disabled, queueDepth: 1}", false},
	} {
		p, err := Build(parse(t, "{size: 64Gi, workloads: ["+c.workload+"]}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Workloads[0].Probe > 0; got != c.probed {
			t.Errorf("%s: probed %t (%s)", c.workload, got, c.why)
		}
	}
}

func TestLayoutBytes(t *testing.T) {
	for name, c := range map[string]struct {
		reason, spec string
		want         int64
	}{
		"one":     {"workloads share the largest file", `{size: 32Gi, workloads: [{preset: vdi}, {preset: quick}]}`, 4 << 30},
		"own":     {"a journal has a file of its own", `{size: 32Gi, workloads: [{preset: vdi}, {preset: etcd}]}`, 4<<30 + 22<<20},
		"sets":    {"each repetition's volume has one", `{size: 32Gi, repetitions: 3, repetitionScope: NewVolume, workloads: [{preset: vdi}]}`, 12 << 30},
		"striped": {"one file, spread", `{size: 32Gi, volumeCount: 4, workloads: [{preset: vdi}]}`, 4 << 30},
	} {
		p, err := Build(parse(t, c.spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := LayoutBytes(p); got != c.want {
			t.Errorf("%s: %d bytes, want %d (%s)", name, got, c.want, c.reason)
		}
	}
}

func TestArgumentsCarryThePlan(t *testing.T) {
	want, err := Build(specOf(presetNamed("profile")))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	prepare, run := Arguments(encoded)
	for _, args := range [][]string{prepare, run} {
		got, err := FromArguments(args)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args[0], diff)
		}
	}
	for _, args := range [][]string{nil, {"run"}, {"run", "--plan"}, {"run", "--plan", "{"}} {
		if _, err := FromArguments(args); err == nil {
			t.Errorf("%q gave a plan", args)
		}
	}
}
