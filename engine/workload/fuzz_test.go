// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDurationJSON: what reads as a duration is written as text that reads as the same one.
func FuzzDurationJSON(f *testing.F) {
	for _, s := range []string{`"1m30s"`, `"0"`, `"-1.5h"`, `"2562047h47m16.854775807s"`, `90`, `"1"`, `null`, `"\u0031s"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var d, again Duration
		if err := json.Unmarshal(in, &d); err != nil {
			return
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil || again != d {
			t.Errorf("%s is %d ns, which is written %s, which is %d ns, %v", in, d, text, again, err)
		}
	})
}

// FuzzPlan: no text makes Validate panic, and a plan that it lets pass can be run: every stream has a
// block for each of its threads within its file, and nothing else that the engine divides, multiplies
// or looks up goes out of its bounds.
func FuzzPlan(f *testing.F) {
	for _, name := range Presets() {
		ws, _ := Preset(name)
		addPlan(f, planOf(ws...))
	}
	striped := planOf(base("striped"))
	striped.Sets, striped.StripeSizeBytes = [][]string{{"/a", "/b"}, {"/c", "/d"}}, 64*kib
	striped.Repetitions = 2
	addPlan(f, striped)
	huge := planOf(base("huge"))
	huge.Workloads[0].FileSizeBytes = math.MaxInt64
	huge.Workloads[0].Streams[0].Range = Range{StartPercent: 99.99999999999997, EndPercent: 99.99999999999999}
	addPlan(f, huge)
	empty := striped
	empty.Workloads = []Workload{base("empty")}
	empty.Workloads[0].Streams[0].BlockSizeBytes = 0
	addPlan(f, empty)
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Plan
		if err := json.Unmarshal(in, &p); err != nil || p.Validate() != nil {
			return
		}
		for i := range p.Repetitions {
			if set := p.Set(i); set < 0 || set >= len(p.Sets) {
				t.Errorf("repetition %d measures set %d of %d", i, set, len(p.Sets))
			}
		}
		for _, w := range p.Workloads {
			runnable(t, w)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again Plan
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
	})
}

func addPlan(f *testing.F, p Plan) {
	f.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
}

func runnable(t *testing.T, w Workload) {
	t.Helper()
	if n := w.Threads(); n < 1 || n > MaxThreads {
		t.Errorf("%d threads", n)
	}
	if !w.Reads() && !w.Writes() {
		t.Error("neither reads nor writes")
	}
	buffers := 0.0
	for _, s := range w.Streams {
		buffers += float64(s.BlockSizeBytes) * float64(s.Threads) * float64(s.QueueDepth)
		first, end := s.Range.Blocks(w.FileSizeBytes, s.BlockSizeBytes)
		if first < 0 || end > w.FileSizeBytes/s.BlockSizeBytes || end-first < int64(s.Threads) {
			t.Errorf("blocks %d to %d of %d, of %d threads", first, end, w.FileSizeBytes/s.BlockSizeBytes, s.Threads)
		}
	}
	if buffers < 1 || buffers > float64(MaxBufferBytes) {
		t.Errorf("%g bytes of buffers", buffers)
	}
	if w.Duration <= 0 || w.Warmup < 0 || w.Warmup+w.Duration < w.Duration {
		t.Errorf("%s after a warm-up of %s", w.Duration, w.Warmup)
	}
}
