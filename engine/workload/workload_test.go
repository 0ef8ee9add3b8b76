// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func planOf(ws ...Workload) Plan {
	return Plan{Target: Directory, Sets: [][]string{{"/data"}}, IOEngine: Auto, Repetitions: 1, Workloads: ws}
}

func TestPresetsAreValid(t *testing.T) {
	for _, name := range Presets() {
		ws, ok := Preset(name)
		if !ok || len(ws) == 0 {
			t.Fatalf("preset %s is listed and not there", name)
		}
		if err := planOf(ws...).Validate(); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
		for _, w := range ws {
			if name != "profile" && !strings.HasPrefix(w.Name, name) {
				t.Errorf("preset %s has a workload called %s", name, w.Name)
			}
		}
	}
}

// The published definitions, in full: they are what makes figures comparable.
func TestPublishedPresets(t *testing.T) {
	stream := Stream{Pattern: Random, ReadPercent: 100, BlockSizeBytes: 4096, Threads: 1, QueueDepth: 64,
		Range: Range{EndPercent: 100}, Distribution: Distribution{Type: Uniform}, Sync: SyncNone}
	quick := Workload{Name: "quick-read", Streams: []Stream{stream}, FileSizeBytes: 2 << 30, ShrinkToFit: true,
		Layout: Written, DirectIO: DirectRequired, Warmup: Seconds(2), Duration: Seconds(15), Seed: 1}

	quickWrite, writes := quick, stream
	writes.ReadPercent = 0
	quickWrite.Name, quickWrite.Streams = "quick-write", []Stream{writes}

	vdi, mixed := quick, stream
	mixed.ReadPercent, mixed.Threads, mixed.QueueDepth, mixed.Sync = 50, 2, 8, SyncWriteThrough
	vdi.Name, vdi.Streams, vdi.FileSizeBytes = "vdi", []Stream{mixed}, 4<<30
	vdi.Warmup, vdi.Duration = Seconds(3), Seconds(60)

	etcd, wal := quick, stream
	wal.Pattern, wal.ReadPercent, wal.BlockSizeBytes, wal.QueueDepth, wal.Sync, wal.FlushEvery = Sequential, 0, 2300, 1, SyncFlush, 1
	etcd.Name, etcd.Streams, etcd.FileSizeBytes = "etcd", []Stream{wal}, 22<<20
	etcd.Layout, etcd.DirectIO, etcd.Operations, etcd.Warmup, etcd.Duration = Preallocated, DirectDisabled, 10_000, 0, Seconds(300)

	fleet := vdi
	write, read := stream, stream
	write.Name, write.Pattern, write.RandomPercent, write.ReadPercent, write.BlockSizeBytes = "write", Sequential, 20, 0, 32<<10
	read.Name, read.Pattern, read.RandomPercent, read.BlockSizeBytes = "read", Sequential, 80, 8<<10
	for _, s := range []*Stream{&write, &read} {
		s.QueueDepth, s.RateLimitIOPS, s.Distribution = 8, 6, Distribution{Type: Hotspot, IOPercent: 95, RangePercent: 5}
	}
	write.Range, read.Range = Range{0, 1000.0 / 18}, Range{1000.0 / 18, 100}
	fleet.Name, fleet.Streams, fleet.FileSizeBytes, fleet.Duration = "vdi-fleet", []Stream{write, read}, 18<<30, Seconds(180)

	for name, want := range map[string][]Workload{
		"vdi": {vdi}, "quick": {quick, quickWrite}, "etcd": {etcd}, "vdi-fleet": {fleet},
	} {
		got, _ := Preset(name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The two targets of the VMFleet profile are of 10 and 8 GiB: to the byte, but for the last block.
func TestRangesOfPresets(t *testing.T) {
	tests := []struct {
		preset, stream string
		from, to       int64
	}{
		{"vdi-fleet", "write", 0, 10 << 30}, {"vdi-fleet", "read", 10 << 30, 18 << 30},
		{"sql", "log", 0, 5 << 30}, {"sql", "data", 5 << 30, 20 << 30},
	}
	for _, tt := range tests {
		ws, _ := Preset(tt.preset)
		for _, s := range ws[0].Streams {
			if s.Name != tt.stream {
				continue
			}
			first, end := s.Range.Blocks(ws[0].FileSizeBytes, s.BlockSizeBytes)
			off := max(tt.from-first*s.BlockSizeBytes, tt.to-end*s.BlockSizeBytes)
			if off < 0 || off > s.BlockSizeBytes {
				t.Errorf("%s %s: from %d to %d, want %d to %d", tt.preset, tt.stream,
					first*s.BlockSizeBytes, end*s.BlockSizeBytes, tt.from, tt.to)
			}
		}
	}
}

func TestProfileIsTheOthersInOrder(t *testing.T) {
	ws, _ := Preset("profile")
	var names []string
	for _, w := range ws {
		names = append(names, w.Name)
	}
	want := []string{"randread", "randwrite", "seqread", "seqwrite", "latency-read", "latency-write"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// A caller that changes what it got must not change the preset.
func TestPresetIsACopy(t *testing.T) {
	for _, name := range []string{"vdi", "profile"} {
		ws, _ := Preset(name)
		ws[0].Streams[0].Threads = 63
		again, _ := Preset(name)
		if again[0].Streams[0].Threads == 63 {
			t.Errorf("preset %s was changed through its copy", name)
		}
	}
}

func TestResolve(t *testing.T) {
	sequential, percent, size, depth, file := Sequential, 30, int64(65536), 7, int64(1<<30)
	custom := Override{Stream: StreamOverride{Pattern: &sequential, ReadPercent: &percent, BlockSizeBytes: &size}}
	data, log := "data", "log"
	several := Override{Streams: []StreamOverride{
		{Name: &data, Pattern: &sequential, ReadPercent: &percent, BlockSizeBytes: &size},
		{Name: &log, Pattern: &sequential, ReadPercent: &percent, BlockSizeBytes: &size, QueueDepth: &depth},
	}}
	tests := []struct {
		why          string
		preset, name string
		override     Override
		names        []string
		check        func(Workload) bool
	}{
		{"an override changes its field alone", "vdi", "", Override{Stream: StreamOverride{QueueDepth: &depth}}, []string{"vdi"},
			func(w Workload) bool {
				s := w.Streams[0]
				return s.QueueDepth == 7 && s.Threads == 2 && s.Sync == SyncWriteThrough
			}},
		{"a preset's size may shrink", "vdi", "", Override{}, []string{"vdi"},
			func(w Workload) bool { return w.ShrinkToFit }},
		{"a size that was asked for may not", "vdi", "", Override{FileSizeBytes: &file}, []string{"vdi"},
			func(w Workload) bool { return !w.ShrinkToFit && w.FileSizeBytes == file }},
		{"a name replaces the preset's", "quick", "night", Override{}, []string{"night-read", "night-write"},
			func(Workload) bool { return true }},
		{"a name goes before the parts of profile", "profile", "p30", Override{}, []string{"p30-randread", "p30-randwrite",
			"p30-seqread", "p30-seqwrite", "p30-latency-read", "p30-latency-write"}, func(Workload) bool { return true }},
		{"a custom one has the base's other fields", "", "mine", custom, []string{"mine"},
			func(w Workload) bool {
				return w.Streams[0].Pattern == Sequential && w.Threads() == 1 && w.Duration == Seconds(60)
			}},
		{"streams have the base's other fields", "", "mine", several, []string{"mine"},
			func(w Workload) bool {
				return len(w.Streams) == 2 && w.Streams[0].Name == "data" && w.Streams[0].Threads == 1 && w.Streams[1].QueueDepth == 7
			}},
		{"a preset of several streams can change its size", "sql", "", Override{FileSizeBytes: &file}, []string{"sql"},
			func(w Workload) bool { return len(w.Streams) == 2 && w.FileSizeBytes == file }},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			ws, err := Resolve(tt.preset, tt.name, tt.override)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, w := range ws {
				names = append(names, w.Name)
				if !tt.check(w) {
					t.Errorf("%+v", w)
				}
			}
			if diff := cmp.Diff(tt.names, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	percent, name := 30, "data"
	tests := []struct {
		why, preset string
		override    Override
		text        string
	}{
		{"a preset that does not exist", "vdo", Override{}, `unknown preset "vdo": use one of etcd, kafka, ladder`},
		{"a custom one without its shape", "", Override{Stream: StreamOverride{ReadPercent: &percent}},
			"needs pattern, readPercent and blockSize"},
		{"a stream without its shape", "", Override{Streams: []StreamOverride{{Name: &name}}},
			"streams[0]: a workload without a preset needs pattern, readPercent and blockSize"},
		{"a field that could be any stream's", "sql", Override{Stream: StreamOverride{ReadPercent: &percent}},
			"preset sql has several streams"},
		{"a preset's streams and others", "vdi", Override{Streams: []StreamOverride{{Name: &name}}}, "preset vdi with streams"},
		{"streams and a field beside them", "", Override{Stream: StreamOverride{ReadPercent: &percent}, Streams: []StreamOverride{{Name: &name}}},
			"streams with a field of a stream beside them"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := Resolve(tt.preset, "x", tt.override)
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %q", err, tt.text)
			}
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	one := func(w *Workload) *Stream { return &w.Streams[0] }
	tests := []struct {
		why    string
		change func(*Plan, *Workload, *Stream)
		text   string
	}{
		{"no target", func(p *Plan, _ *Workload, _ *Stream) { p.Target = "" }, `target "": use Directory, BlockDevice or NullDevice`},
		{"a path that depends on where one is", func(p *Plan, _ *Workload, _ *Stream) { p.Sets[0][0] = "data" }, `path "data": give the absolute path`},
		{"no volume", func(p *Plan, _ *Workload, _ *Stream) { p.Sets = nil }, "sets has 0 entries"},
		{"an empty set", func(p *Plan, _ *Workload, _ *Stream) { p.Sets = [][]string{{}} }, "sets[0] has 0 paths"},
		{"sets for other repetitions", func(p *Plan, _ *Workload, _ *Stream) { p.Sets = [][]string{{"/a"}, {"/b"}} },
			"sets has 2 entries: give one set of volumes, or one for each of the 1 repetitions"},
		{"one volume as two", func(p *Plan, _ *Workload, _ *Stream) { p.Sets, p.StripeSizeBytes = [][]string{{"/a", "/a"}}, 65536 },
			`path "/a" is there twice`},
		{"more volumes than a VM takes", func(p *Plan, _ *Workload, _ *Stream) { p.Sets, p.StripeSizeBytes = [][]string{manyPaths(65)}, 65536 },
			"sets has 65 volumes, at most 64"},
		{"a stripe over nothing", func(p *Plan, _ *Workload, _ *Stream) { p.StripeSizeBytes = 65536 }, "stripeSize 65536 with one volume"},
		{"volumes without a stripe", func(p *Plan, _ *Workload, _ *Stream) { p.Sets = [][]string{manyPaths(2)} }, "stripeSize 0: use a multiple of 4Ki up to 16Mi"},
		{"a block across stripes", func(p *Plan, _ *Workload, s *Stream) {
			p.Sets, p.StripeSizeBytes, s.BlockSizeBytes = [][]string{manyPaths(2)}, 65536, 24576
		}, "blockSize 24576 neither divides nor is a multiple of stripeSize 65536"},
		{"a null device of one's own", func(p *Plan, _ *Workload, _ *Stream) { p.Target = NullDevice }, `path "/data": a NullDevice is /dev/zero`},
		{"more than a page of nothing", func(p *Plan, _ *Workload, s *Stream) {
			p.Target, p.Sets, s.BlockSizeBytes = NullDevice, [][]string{{NullPath}}, 8192
		}, "blockSize 8192 on a NullDevice, which gives at most 4Ki at once"},
		{"an engine from elsewhere", func(p *Plan, _ *Workload, _ *Stream) { p.IOEngine = "posixaio" }, `ioEngine "posixaio": use Auto, IOUring, LibAIO or Sync`},
		{"no repetition", func(p *Plan, _ *Workload, _ *Stream) { p.Repetitions = 0 }, "repetitions 0 is outside 1 to 10"},
		{"too many repetitions", func(p *Plan, _ *Workload, _ *Stream) { p.Repetitions = 11 }, "repetitions 11 is outside 1 to 10"},
		{"no name", func(_ *Plan, w *Workload, _ *Stream) { w.Name = "" }, `workloads[0]: name ""`},
		{"a name no label takes", func(_ *Plan, w *Workload, _ *Stream) { w.Name = "My Load" }, `workloads[0]: name "My Load"`},
		{"a name too long", func(_ *Plan, w *Workload, _ *Stream) { w.Name = strings.Repeat("a", 64) }, "use 1 to 63 lower-case letters"},
		{"no stream", func(_ *Plan, w *Workload, _ *Stream) { w.Streams = nil }, "workloads[0] (load): streams is empty"},
		{"more streams than the result has room for", func(_ *Plan, w *Workload, s *Stream) { w.Streams = slices.Repeat([]Stream{*s}, 9) },
			"streams has 9 entries, at most 8"},
		{"several streams without names", func(_ *Plan, w *Workload, s *Stream) { w.Streams = []Stream{*s, *s} }, `streams[0]: name "": give each stream`},
		{"a mistake in a stream", func(_ *Plan, w *Workload, s *Stream) {
			s.Name = "a"
			b := *s
			b.Name, b.Threads = "b", 0
			w.Streams = append(w.Streams, b)
		}, "workloads[0] (load): streams[1] (b): threads 0"},
		{"more threads than the limit in all", func(_ *Plan, w *Workload, s *Stream) {
			s.Name, s.Threads = "a", 40
			b := *s
			b.Name = "b"
			w.Streams = append(w.Streams, b)
		}, "80 threads in all streams together, at most 64"},
		{"no pattern", func(_ *Plan, _ *Workload, s *Stream) { s.Pattern = "Zipf" }, `workloads[0] (load): pattern "Zipf": use Random or Sequential`},
		{"no sync mode", func(_ *Plan, _ *Workload, s *Stream) { s.Sync = "" }, `sync "": use None, WriteThrough or Flush`},
		{"threads have no order at random", func(_ *Plan, _ *Workload, s *Stream) { s.SharedOffset = true }, "sharedOffset with random offsets"},
		{"jumps of what jumps anyway", func(_ *Plan, _ *Workload, s *Stream) { s.RandomPercent = 5 }, "randomPercent 5 with pattern Random"},
		{"more jumps than I/Os", func(_ *Plan, _ *Workload, s *Stream) { s.Pattern, s.RandomPercent = Sequential, 101 }, "randomPercent 101 is outside 0 to 100"},
		{"more than all", func(_ *Plan, _ *Workload, s *Stream) { s.ReadPercent = 101 }, "readPercent 101 is outside 0 to 100"},
		{"fewer than none", func(_ *Plan, _ *Workload, s *Stream) { s.ReadPercent = -1 }, "readPercent -1 is outside 0 to 100"},
		{"kilo for kibi", func(_ *Plan, _ *Workload, s *Stream) { s.BlockSizeBytes = 4000 }, "blockSize 4000 is not a multiple of 512 bytes, did you mean 4Ki?"},
		{"mega for mebi", func(_ *Plan, _ *Workload, s *Stream) { s.BlockSizeBytes = 1e6 }, "did you mean 1Mi?"},
		{"no sector at all", func(_ *Plan, _ *Workload, s *Stream) { s.BlockSizeBytes = 700 }, "blockSize 700 is not a multiple of 512 bytes"},
		{"below a sector", func(_ *Plan, _ *Workload, s *Stream) { s.BlockSizeBytes = 64 }, "blockSize 64 is outside 512 to 16Mi bytes"},
		{"above every request", func(_ *Plan, _ *Workload, s *Stream) { s.BlockSizeBytes = 32 << 20 }, "is outside 512 to 16Mi bytes"},
		{"no thread", func(_ *Plan, _ *Workload, s *Stream) { s.Threads = 0 }, "threads 0 is outside 1 to 64"},
		{"no depth", func(_ *Plan, _ *Workload, s *Stream) { s.QueueDepth = 0 }, "queueDepth 0 is outside 1 to 1024"},
		{"a negative rate", func(_ *Plan, _ *Workload, s *Stream) { s.RateLimitIOPS = -1 }, "rateLimitIOPS -1 is outside 0 to 10000000"},
		{"a range of nothing", func(_ *Plan, _ *Workload, s *Stream) { s.Range = Range{50, 50} }, "range from 50 to 50 percent"},
		{"a range beyond the file", func(_ *Plan, _ *Workload, s *Stream) { s.Range = Range{0, 101} }, "range from 0 to 101 percent"},
		{"a range that is no number", func(_ *Plan, _ *Workload, s *Stream) { s.Range.EndPercent = math.NaN() }, "range from 0 to NaN percent"},
		{"no distribution", func(_ *Plan, _ *Workload, s *Stream) { s.Distribution.Type = "Pareto" }, `distribution "Pareto": use Uniform, Hotspot or Zipf`},
		{"a hotspot of everything", func(_ *Plan, _ *Workload, s *Stream) { s.Distribution = Distribution{Hotspot, 95, 100} }, "rangePercent 100 is outside 1 to 99"},
		{"a hotspot's field elsewhere", func(_ *Plan, _ *Workload, s *Stream) { s.Distribution.IOPercent = 95 }, "distribution Uniform: ioPercent and rangePercent"},
		{"a distribution of nothing drawn", func(_ *Plan, _ *Workload, s *Stream) { s.Pattern, s.Distribution.Type = Sequential, Zipf },
			"distribution Zipf with pattern Sequential"},
		{"a flush without a time", func(_ *Plan, _ *Workload, s *Stream) { s.Sync, s.ReadPercent = SyncFlush, 0 }, "sync Flush needs either flushEvery"},
		{"a flush at two times", func(_ *Plan, _ *Workload, s *Stream) {
			s.Sync, s.ReadPercent, s.FlushEvery, s.FlushInterval = SyncFlush, 0, 1, Seconds(1)
		}, "sync Flush needs either flushEvery"},
		{"a flush of reads", func(_ *Plan, _ *Workload, s *Stream) { s.Sync, s.FlushEvery = SyncFlush, 1 }, "sync Flush without writes"},
		{"flushEvery without flushes", func(_ *Plan, _ *Workload, s *Stream) { s.FlushEvery = 1 }, "go with sync Flush, not with None"},
		{"flushes nobody waits for", func(_ *Plan, _ *Workload, s *Stream) {
			s.Sync, s.ReadPercent, s.FlushInterval = SyncFlush, 0, Seconds(60)
		},
			"flushInterval 1m0s is outside 100ms to 30s"},
		{"a file smaller than a block for each thread", func(_ *Plan, w *Workload, s *Stream) { s.Threads, w.FileSizeBytes = 4, 12288 },
			"fileSize 12288 is too small: 4 threads with blocks of 4096 bytes need at least 16384"},
		{"memory nobody has", func(_ *Plan, _ *Workload, s *Stream) { s.Threads, s.QueueDepth, s.BlockSizeBytes = 64, 64, 1<<20 },
			"threads x queueDepth x blockSize is 4294967296 bytes of buffers, the limit is 1Gi"},
		{"a negative warm-up", func(_ *Plan, w *Workload, _ *Stream) { w.Warmup = -1 }, "warmup -1ns is outside 0s to 24h0m0s"},
		{"a probe longer than the load", func(_ *Plan, w *Workload, _ *Stream) { w.Probe = Seconds(61) }, "probe 1m1s is outside 0s to 1m0s"},
		{"a window too short", func(_ *Plan, w *Workload, _ *Stream) { w.Duration = 1 }, "duration 1ns is outside 100ms to 24h0m0s"},
		{"a window too long", func(_ *Plan, w *Workload, _ *Stream) { w.Duration = Seconds(86401) }, "is outside 100ms to 24h0m0s"},
		{"operations nobody waits for", func(_ *Plan, w *Workload, _ *Stream) { w.Operations = 1 << 60 }, "operations 1152921504606846976 is outside"},
		{"credits that never run out", func(_ *Plan, w *Workload, _ *Stream) { w.Drain = true }, "drain with a rate"},
		{"sync cannot queue", func(p *Plan, _ *Workload, s *Stream) { p.IOEngine, s.QueueDepth = Sync, 2 }, "queueDepth 2 with ioEngine Sync"},
		{"no layout", func(_ *Plan, w *Workload, _ *Stream) { w.Layout = "" }, `layout "": use Written, Preallocated or Append`},
		{"a file on a device", func(p *Plan, w *Workload, s *Stream) {
			p.Target, w.Layout, s.ReadPercent = BlockDevice, Preallocated, 0
		},
			"layout Preallocated on a BlockDevice"},
		{"a file of its own on two volumes", func(p *Plan, w *Workload, s *Stream) {
			p.StripeSizeBytes, p.Sets, w.Layout, s.ReadPercent = 65536, [][]string{manyPaths(2)}, Preallocated, 0
		}, "layout Preallocated on 2 striped volumes"},
		{"reads of what was never written", func(_ *Plan, w *Workload, _ *Stream) { w.Layout = Preallocated }, "layout Preallocated with reads"},
		{"two ends of one file", func(_ *Plan, w *Workload, s *Stream) {
			w.Layout, s.ReadPercent, s.Pattern, s.Threads = Append, 0, Sequential, 2
		}, "layout Append needs one stream of one thread"},
		{"no kind of I/O", func(_ *Plan, w *Workload, _ *Stream) { w.DirectIO = "" }, `directIO "": use Required or Disabled`},
		{"buffered I/O does not queue", func(_ *Plan, w *Workload, s *Stream) { w.DirectIO, s.QueueDepth = DirectDisabled, 2 },
			"queueDepth 2 with directIO Disabled"},
		{"buffered I/O through a ring", func(p *Plan, w *Workload, _ *Stream) { p.IOEngine, w.DirectIO = IOUring, DirectDisabled },
			"directIO Disabled with ioEngine IOUring"},
		{"nothing to verify", func(_ *Plan, w *Workload, s *Stream) { w.Verify, s.ReadPercent = true, 0 }, "verify without reads checks nothing"},
		{"verifying memory", func(_ *Plan, w *Workload, _ *Stream) { w.Verify, w.DirectIO = true, DirectDisabled }, "would check the page cache"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := base("load")
			p := planOf()
			tt.change(&p, &w, one(&w))
			p.Workloads = []Workload{w}
			err := p.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %q", err, tt.text)
			}
		})
	}
}

func manyPaths(n int) []string {
	var paths []string
	for i := range n {
		paths = append(paths, fmt.Sprintf("/data/%d", i))
	}
	return paths
}

// What looks like a mistake and is none.
func TestValidateAccepts(t *testing.T) {
	tests := []struct {
		why    string
		change func(*Plan, *Workload, *Stream)
	}{
		{"any size of a buffered block", func(_ *Plan, w *Workload, s *Stream) { w.DirectIO, s.BlockSizeBytes = DirectDisabled, 2300 }},
		{"one set for all repetitions", func(p *Plan, _ *Workload, _ *Stream) { p.Repetitions = 3 }},
		{"a set for each repetition", func(p *Plan, _ *Workload, _ *Stream) { p.Repetitions, p.Sets = 2, [][]string{{"/a"}, {"/b"}} }},
		{"blocks of several stripes", func(p *Plan, _ *Workload, s *Stream) {
			p.Sets, p.StripeSizeBytes, s.BlockSizeBytes = [][]string{manyPaths(2)}, 65536, 1<<20
		}},
		{"the null device", func(p *Plan, _ *Workload, _ *Stream) { p.Target, p.Sets = NullDevice, [][]string{{"/dev/zero"}} }},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := base("load")
			p := planOf()
			tt.change(&p, &w, &w.Streams[0])
			p.Workloads = []Workload{w}
			if err := p.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidateCountsWorkloads(t *testing.T) {
	if err := planOf().Validate(); err == nil || !strings.Contains(err.Error(), "workloads is empty") {
		t.Errorf("no workload: %v", err)
	}
	var nine []Workload
	for name := range strings.SplitSeq("abcdefghi", "") {
		nine = append(nine, base(name))
	}
	if err := planOf(nine[:8]...).Validate(); err != nil {
		t.Errorf("eight workloads: %v", err)
	}
	if err := planOf(nine...).Validate(); err == nil || !strings.Contains(err.Error(), "workloads has 9 entries, at most 8") {
		t.Errorf("nine workloads: %v", err)
	}
	kafka, sql := streamsOf("kafka", 5), streamsOf("sql", 4)
	if err := planOf(kafka, sql).Validate(); err == nil || !strings.Contains(err.Error(), "workloads have 9 streams in all, at most 8") {
		t.Errorf("nine streams: %v", err)
	}
	if err := planOf(base("a"), base("a")).Validate(); err == nil || !strings.Contains(err.Error(), `name "a" is there twice`) {
		t.Errorf("a name twice: %v", err)
	}
}

func streamsOf(name string, n int) Workload {
	w := base(name)
	w.Streams = nil
	for i := range n {
		s := baseStream()
		s.Name = fmt.Sprintf("s%d", i)
		w.Streams = append(w.Streams, s)
	}
	return w
}

// The plan travels to the pod as JSON.
func TestPlanSurvivesJSON(t *testing.T) {
	var ws []Workload
	for _, preset := range []string{"latency", "vdi-fleet", "sql", "etcd", "redis-aof"} {
		of, _ := Preset(preset)
		ws = append(ws, of...)
	}
	p := planOf(ws...)
	p.OverwriteDevice, p.StripeSizeBytes, p.Sets = true, 65536, [][]string{{"/a", "/b"}}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Error(diff)
	}
}

func TestDurationJSON(t *testing.T) {
	var d Duration
	if err := json.Unmarshal([]byte(`"1m30s"`), &d); err != nil || d.Std() != 90*time.Second {
		t.Errorf("%s, %v; want 1m30s", d, err)
	}
	for in, text := range map[string]string{
		`90`:   `a duration is text such as "60s"`,
		`"90"`: `duration "90": write a number with a unit, such as 60s or 1m30s`,
	} {
		if err := json.Unmarshal([]byte(in), &d); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", in, err, text)
		}
	}
}
