// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan turns a DiskBenchmark's spec into the engine's plan, and the engine's report into
// status. It is pure: the same input gives the same output, and nothing is read from a cluster.
package plan

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// DataPath is where the engine's pod mounts a Filesystem volume.
	DataPath = "/data"
	// DevicePath is where the engine's pod finds a Block volume.
	DevicePath = "/dev/diskbench"
)

// Build gives the engine's plan for a spec. It returns an error that names the field when the spec
// asks for something the engine cannot do; admission refuses most of that before.
func Build(spec *v1alpha1.DiskBenchmarkSpec) (workload.Plan, error) {
	p := workload.Plan{
		Target: workload.Directory, Sets: [][]string{{DataPath}},
		IOEngine: ioEngine(spec.Engine), Repetitions: 1,
	}
	if IsBlock(spec) {
		p.Target, p.Sets = workload.BlockDevice, [][]string{{DevicePath}}
	}
	if spec.Repetitions != nil {
		p.Repetitions = int(*spec.Repetitions)
	}
	for i := range spec.Workloads {
		ws, err := Resolve(&spec.Workloads[i])
		if err != nil {
			return workload.Plan{}, fmt.Errorf("workloads[%d]: %w", i, err)
		}
		p.Workloads = append(p.Workloads, ws...)
	}
	if err := p.Validate(); err != nil {
		return workload.Plan{}, err
	}
	return p, nil
}

// IsBlock says whether the spec asks for a raw block volume.
func IsBlock(spec *v1alpha1.DiskBenchmarkSpec) bool {
	return spec.VolumeMode != nil && *spec.VolumeMode == corev1.PersistentVolumeBlock
}

func ioEngine(o *v1alpha1.EngineOptions) workload.IOEngine {
	if o == nil || o.IOEngine == nil {
		return workload.Auto
	}
	return workload.IOEngine(*o.IOEngine)
}

// Resolve gives the effective workloads of one entry of spec.workloads; quick, latency and profile
// give several.
func Resolve(w *v1alpha1.Workload) ([]workload.Workload, error) {
	return workload.Resolve(value(w.Preset), value(w.Name), override(w))
}

// EntryName is the name of an entry of spec.workloads: its name, or else its preset.
func EntryName(w *v1alpha1.Workload) string {
	if w.Name != nil {
		return *w.Name
	}
	return value(w.Preset)
}

func override(w *v1alpha1.Workload) workload.Override {
	s := workload.StreamOverride{
		Pattern:        convert[workload.Pattern](w.Pattern),
		ReadPercent:    integer(w.ReadPercent),
		BlockSizeBytes: bytes(w.BlockSize),
		Threads:        integer(w.Threads),
		QueueDepth:     integer(w.QueueDepth),
		Sync:           convert[workload.SyncMode](w.Sync),
	}
	o := workload.Override{
		FileSizeBytes: bytes(w.FileSize),
		Warmup:        seconds(w.WarmupSeconds),
		Duration:      seconds(w.DurationSeconds),
		Seed:          w.Seed,
	}
	if w.SequentialOffset != nil {
		shared := *w.SequentialOffset == v1alpha1.SequentialOffsetShared
		s.SharedOffset = &shared
	}
	o.Stream = s
	return o
}

// Encode gives the plan as the engine's --plan argument.
func Encode(p workload.Plan) (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	return string(b), nil
}

// planFlag comes before the plan in the engine's arguments.
const planFlag = "--plan"

// Arguments are those of the engine's two containers: prepare lays the file out, run measures it.
func Arguments(encoded string) (prepare, run []string) {
	return []string{"prepare", planFlag, encoded}, []string{"run", planFlag, encoded, "--prepared"}
}

// FromArguments reads the plan back from a container's arguments. What ran, not what this version
// would make of the spec, gives a report its meaning: an upgrade may change a preset mid-run.
func FromArguments(args []string) (workload.Plan, error) {
	for i := range args {
		if args[i] != planFlag || i+1 == len(args) {
			continue
		}
		var p workload.Plan
		if err := json.Unmarshal([]byte(args[i+1]), &p); err != nil {
			return workload.Plan{}, fmt.Errorf("read the engine's %s argument: %w", planFlag, err)
		}
		return p, nil
	}
	return workload.Plan{}, fmt.Errorf("the engine's container has no %s argument", planFlag)
}

// FileSizeBytes is the size of the one file that all workloads of a plan share.
func FileSizeBytes(p workload.Plan) int64 {
	var largest int64
	for _, w := range p.Workloads {
		largest = max(largest, w.FileSizeBytes)
	}
	return largest
}

// Seconds is the planned time of measuring, warm-up included, rounded up.
func Seconds(p workload.Plan) int64 {
	var total workload.Duration
	for _, w := range p.Workloads {
		total += w.Warmup + w.Duration
	}
	return int64(p.Repetitions) * int64((total+workload.Seconds(1)-1)/workload.Seconds(1))
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func convert[To, From ~string](v *From) *To {
	if v == nil {
		return nil
	}
	to := To(*v)
	return &to
}

func integer(v *int32) *int {
	if v == nil {
		return nil
	}
	n := int(*v)
	return &n
}

func bytes(q *resource.Quantity) *int64 {
	if q == nil {
		return nil
	}
	n := q.Value()
	return &n
}

func seconds(v *int32) *workload.Duration {
	if v == nil {
		return nil
	}
	d := workload.Seconds(int64(*v))
	return &d
}
