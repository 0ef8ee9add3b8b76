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
			Warmup: 0, Duration: workload.Seconds(10), Seed: 7,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if n := Seconds(got); n != 30 {
		t.Errorf("planned time is %d s, want 3 repetitions of 10 s", n)
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
	vdi[0].Streams[0].QueueDepth = 32
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
