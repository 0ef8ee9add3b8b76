// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func planOf(ws ...Workload) Plan {
	return Plan{Target: Directory, Path: "/data", IOEngine: Auto, Repetitions: 1, Workloads: ws}
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
	vdi := Workload{Name: "vdi", Pattern: Random, ReadPercent: 50, BlockSizeBytes: 4096, Threads: 2, QueueDepth: 8,
		Sync: SyncWriteThrough, FileSizeBytes: 4 << 30, ShrinkToFit: true, Warmup: Seconds(3), Duration: Seconds(60), Seed: 1}
	quick := Workload{Name: "quick-read", Pattern: Random, ReadPercent: 100, BlockSizeBytes: 4096, Threads: 1, QueueDepth: 64,
		Sync: SyncNone, FileSizeBytes: 2 << 30, ShrinkToFit: true, Warmup: Seconds(2), Duration: Seconds(15), Seed: 1}
	quickWrite := quick
	quickWrite.Name, quickWrite.ReadPercent = "quick-write", 0
	for name, want := range map[string][]Workload{"vdi": {vdi}, "quick": {quick, quickWrite}} {
		got, _ := Preset(name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
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
		ws[0].Threads = 63
		again, _ := Preset(name)
		if again[0].Threads == 63 {
			t.Errorf("preset %s was changed through its copy", name)
		}
	}
}

func TestResolve(t *testing.T) {
	sequential, percent, size, depth, file := Sequential, 30, int64(65536), 7, int64(1<<30)
	custom := Override{Pattern: &sequential, ReadPercent: &percent, BlockSizeBytes: &size}
	tests := []struct {
		why          string
		preset, name string
		override     Override
		names        []string
		check        func(Workload) bool
	}{
		{"an override changes its field alone", "vdi", "", Override{QueueDepth: &depth}, []string{"vdi"},
			func(w Workload) bool { return w.QueueDepth == 7 && w.Threads == 2 && w.Sync == SyncWriteThrough }},
		{"a preset's size may shrink", "vdi", "", Override{}, []string{"vdi"},
			func(w Workload) bool { return w.ShrinkToFit }},
		{"a size that was asked for may not", "vdi", "", Override{FileSizeBytes: &file}, []string{"vdi"},
			func(w Workload) bool { return !w.ShrinkToFit && w.FileSizeBytes == file }},
		{"a name replaces the preset's", "quick", "night", Override{}, []string{"night-read", "night-write"},
			func(Workload) bool { return true }},
		{"a name goes before the parts of profile", "profile", "p30", Override{}, []string{"p30-randread", "p30-randwrite",
			"p30-seqread", "p30-seqwrite", "p30-latency-read", "p30-latency-write"}, func(Workload) bool { return true }},
		{"a custom one has the base's other fields", "", "mine", custom, []string{"mine"},
			func(w Workload) bool { return w.Pattern == Sequential && w.Threads == 1 && w.Duration == Seconds(60) }},
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
	percent := 30
	tests := []struct {
		why, preset string
		override    Override
		text        string
	}{
		{"a preset that does not exist", "vdo", Override{}, `unknown preset "vdo": use one of latency, oltp, quick`},
		{"a custom one without its shape", "", Override{ReadPercent: &percent}, "needs pattern, readPercent and blockSize"},
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
	tests := []struct {
		why    string
		change func(*Plan, *Workload)
		text   string
	}{
		{"no target", func(p *Plan, _ *Workload) { p.Target = "" }, `target "": use Directory or BlockDevice`},
		{"a path that depends on where one is", func(p *Plan, _ *Workload) { p.Path = "data" }, `path "data": give the absolute path`},
		{"an engine from elsewhere", func(p *Plan, _ *Workload) { p.IOEngine = "posixaio" }, `ioEngine "posixaio": use Auto, IOUring, LibAIO or Sync`},
		{"no repetition", func(p *Plan, _ *Workload) { p.Repetitions = 0 }, "repetitions 0 is outside 1 to 10"},
		{"too many repetitions", func(p *Plan, _ *Workload) { p.Repetitions = 11 }, "repetitions 11 is outside 1 to 10"},
		{"no name", func(_ *Plan, w *Workload) { w.Name = "" }, `workloads[0]: name ""`},
		{"a name no label takes", func(_ *Plan, w *Workload) { w.Name = "My Load" }, `workloads[0]: name "My Load"`},
		{"a name too long", func(_ *Plan, w *Workload) { w.Name = strings.Repeat("a", 64) }, "use 1 to 63 lower-case letters"},
		{"no pattern", func(_ *Plan, w *Workload) { w.Pattern = "Zipf" }, `workloads[0] (load): pattern "Zipf": use Random or Sequential`},
		{"no sync mode", func(_ *Plan, w *Workload) { w.Sync = "" }, `sync "": use None or WriteThrough`},
		{"threads have no order at random", func(_ *Plan, w *Workload) { w.SharedOffset = true }, "sharedOffset with pattern Random"},
		{"more than all", func(_ *Plan, w *Workload) { w.ReadPercent = 101 }, "readPercent 101 is outside 0 to 100"},
		{"fewer than none", func(_ *Plan, w *Workload) { w.ReadPercent = -1 }, "readPercent -1 is outside 0 to 100"},
		{"kilo for kibi", func(_ *Plan, w *Workload) { w.BlockSizeBytes = 4000 }, "blockSize 4000 is not a multiple of 512 bytes, did you mean 4Ki?"},
		{"mega for mebi", func(_ *Plan, w *Workload) { w.BlockSizeBytes = 1e6 }, "did you mean 1Mi?"},
		{"no sector at all", func(_ *Plan, w *Workload) { w.BlockSizeBytes = 700 }, "blockSize 700 is not a multiple of 512 bytes"},
		{"below a sector", func(_ *Plan, w *Workload) { w.BlockSizeBytes = 64 }, "blockSize 64 is outside 512 to 16Mi bytes"},
		{"above every request", func(_ *Plan, w *Workload) { w.BlockSizeBytes = 32 << 20 }, "is outside 512 to 16Mi bytes"},
		{"no thread", func(_ *Plan, w *Workload) { w.Threads = 0 }, "threads 0 is outside 1 to 64"},
		{"no depth", func(_ *Plan, w *Workload) { w.QueueDepth = 0 }, "queueDepth 0 is outside 1 to 1024"},
		{"a file smaller than a block for each thread", func(_ *Plan, w *Workload) { w.Threads, w.FileSizeBytes = 4, 12288 },
			"fileSize 12288 is too small: 4 threads with blocks of 4096 bytes need at least 16384"},
		{"memory nobody has", func(_ *Plan, w *Workload) { w.Threads, w.QueueDepth, w.BlockSizeBytes = 64, 64, 1<<20 },
			"threads 64 x queueDepth 64 x blockSize 1048576 is 4294967296 bytes of buffers, the limit is 1Gi"},
		{"a negative warm-up", func(_ *Plan, w *Workload) { w.Warmup = -1 }, "warmup -1ns is outside 0s to 24h0m0s"},
		{"a window too short", func(_ *Plan, w *Workload) { w.Duration = 1 }, "duration 1ns is outside 100ms to 24h0m0s"},
		{"a window too long", func(_ *Plan, w *Workload) { w.Duration = Seconds(86401) }, "is outside 100ms to 24h0m0s"},
		{"sync cannot queue", func(p *Plan, w *Workload) { p.IOEngine, w.QueueDepth = Sync, 2 }, "queueDepth 2 with ioEngine Sync"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := base("load")
			p := planOf()
			tt.change(&p, &w)
			p.Workloads = []Workload{w}
			err := p.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %q", err, tt.text)
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
	if err := planOf(base("a"), base("a")).Validate(); err == nil || !strings.Contains(err.Error(), `name "a" is there twice`) {
		t.Errorf("a name twice: %v", err)
	}
}

// The plan travels to the pod as JSON.
func TestPlanSurvivesJSON(t *testing.T) {
	ws, _ := Preset("profile")
	p := planOf(ws...)
	p.OverwriteDevice = true
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
