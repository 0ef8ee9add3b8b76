// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan turns a DiskBenchmark's spec into the engine's plan, and the engine's report into
// status. It is pure: the same input gives the same output, and nothing is read from a cluster.
package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/workload"
)

const (
	// DataPath is where the engine's pod mounts a Filesystem volume; of several, each has a folder in it
	// that is named after its number.
	DataPath = "/data"
	// DevicePath is where the engine's pod finds a Block volume; of several, its number follows.
	DevicePath = "/dev/diskbench"

	// DefaultStripeSizeBytes is the interleave that Microsoft's guide to storage for SQL Server on Azure
	// VMs names for striped disks.
	DefaultStripeSizeBytes = 64 << 10
	// DrainSeconds is the longest that a load goes on after its window.
	DrainSeconds = int(workload.LongestDrain / workload.Duration(time.Second))
	// ProbeSeconds is long enough for a mean of hundreds of operations on the slowest disk, and short
	// beside any window. (Judgment.)
	ProbeSeconds = 5
)

// Build gives the engine's plan for a spec. It returns an error that names the field when the spec
// asks for something the engine cannot do; admission refuses most of that before.
func Build(spec *v1alpha1.DiskBenchmarkSpec) (workload.Plan, error) {
	p := workload.Plan{
		Target: workload.Directory, Sets: sets(spec), StripeSizeBytes: stripeSize(spec),
		IOEngine: ioEngine(spec.Engine), Repetitions: repetitions(spec),
	}
	if IsBlock(spec) {
		p.Target = workload.BlockDevice
	}
	for i := range spec.Workloads {
		ws, err := Resolve(&spec.Workloads[i])
		if err != nil {
			return workload.Plan{}, fmt.Errorf("workloads[%d]: %w", i, err)
		}
		p.Workloads = append(p.Workloads, ws...)
	}
	probe(p.Workloads)
	if drains(spec) {
		if err := drain(p.Workloads); err != nil {
			return workload.Plan{}, err
		}
	}
	if err := p.Validate(); err != nil {
		return workload.Plan{}, err
	}
	return p, nil
}

// probe lets every load that a limit of the disk can hold back be preceded by a single outstanding I/O:
// the load has queued when its latency is well above that. Of buffered I/O it would tell the page cache's.
func probe(ws []workload.Workload) {
	for i := range ws {
		if ws[i].Saturates() && !ws[i].Buffered() {
			ws[i].Probe = workload.Seconds(ProbeSeconds)
		}
	}
}

// Volumes is the number of volumes that a spec measures, all attached at once.
func Volumes(spec *v1alpha1.DiskBenchmarkSpec) int { return VolumesOfSet(spec) * setCount(spec) }

// Path is where the engine's pod finds volume i of a spec.
func Path(spec *v1alpha1.DiskBenchmarkSpec, i int) string {
	several := Volumes(spec) > 1
	switch {
	case IsBlock(spec) && several:
		return DevicePath + strconv.Itoa(i)
	case IsBlock(spec):
		return DevicePath
	case several:
		return DataPath + "/" + strconv.Itoa(i)
	default:
		return DataPath
	}
}

// sets are the volumes' paths: one set, or one for each repetition, in the order of the volumes.
func sets(spec *v1alpha1.DiskBenchmarkSpec) [][]string {
	out := make([][]string, setCount(spec))
	for r := range out {
		for i := range VolumesOfSet(spec) {
			out[r] = append(out[r], Path(spec, r*VolumesOfSet(spec)+i))
		}
	}
	return out
}

// VolumesOfSet is the number of volumes that one workload's file is spread over.
func VolumesOfSet(spec *v1alpha1.DiskBenchmarkSpec) int {
	if spec.VolumeCount == nil {
		return 1
	}
	return int(*spec.VolumeCount)
}

func setCount(spec *v1alpha1.DiskBenchmarkSpec) int {
	if spec.RepetitionScope == nil || *spec.RepetitionScope != v1alpha1.RepetitionScopeNewVolume {
		return 1
	}
	return repetitions(spec)
}

func repetitions(spec *v1alpha1.DiskBenchmarkSpec) int {
	if spec.Repetitions == nil {
		return 1
	}
	return int(*spec.Repetitions)
}

// stripeSize is 0 without striping.
func stripeSize(spec *v1alpha1.DiskBenchmarkSpec) int64 {
	switch {
	case VolumesOfSet(spec) == 1:
		return 0
	case spec.StripeSize == nil:
		return DefaultStripeSizeBytes
	default:
		return spec.StripeSize.Value()
	}
}

func drains(spec *v1alpha1.DiskBenchmarkSpec) bool {
	return spec.Sustained != nil && *spec.Sustained == v1alpha1.SustainedDrain
}

// drain lets every load that can use up burst credits go on until it has.
func drain(ws []workload.Workload) error {
	saturates := false
	for i := range ws {
		ws[i].Drain = ws[i].Saturates()
		saturates = saturates || ws[i].Drain
	}
	if !saturates {
		return errors.New("sustained is Drain, and no workload asks for all that the disk gives: raise queueDepth or threads, " +
			"remove rateLimitIOPS or operations, or set sustained to Predict")
	}
	return nil
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

// Resolve gives the effective workloads of one entry of spec.workloads; quick, latency, ladder and
// profile give several.
func Resolve(w *v1alpha1.Workload) ([]workload.Workload, error) {
	ws, err := workload.Resolve(value(w.Preset), value(w.Name), override(w))
	if err != nil {
		return nil, err
	}
	for i := range ws {
		if len(ws[i].Streams) == 1 {
			ws[i].Streams[0].Name = "" // it is the workload
		}
		if len(ws) > 1 {
			// Of a preset that measures reads and writes apart, the reads are verified.
			ws[i].Verify = ws[i].Verify && ws[i].Reads()
		}
	}
	return ws, nil
}

// EntryName is the name of an entry of spec.workloads: its name, or else its preset.
func EntryName(w *v1alpha1.Workload) string {
	if w.Name != nil {
		return *w.Name
	}
	return value(w.Preset)
}

func override(w *v1alpha1.Workload) workload.Override {
	o := workload.Override{
		Stream:        streamOverride(&w.Stream),
		FileSizeBytes: bytes(w.FileSize),
		Layout:        convert[workload.Layout](w.Layout),
		DirectIO:      convert[workload.DirectIO](w.DirectIO),
		Operations:    w.Operations,
		Warmup:        seconds(w.WarmupSeconds),
		Duration:      seconds(w.DurationSeconds),
		Seed:          w.Seed,
	}
	if w.Verification != nil {
		o.Verify = new(*w.Verification == v1alpha1.VerificationChecksum)
	}
	for i := range w.Streams {
		s := streamOverride(&w.Streams[i].Stream)
		s.Name = &w.Streams[i].Name
		o.Streams = append(o.Streams, s)
	}
	return o
}

func streamOverride(s *v1alpha1.Stream) workload.StreamOverride {
	o := workload.StreamOverride{
		Pattern:        convert[workload.Pattern](s.Pattern),
		RandomPercent:  integer(s.RandomPercent),
		ReadPercent:    integer(s.ReadPercent),
		BlockSizeBytes: bytes(s.BlockSize),
		Threads:        integer(s.Threads),
		QueueDepth:     integer(s.QueueDepth),
		RateLimitIOPS:  s.RateLimitIOPS,
		Range:          byteRange(s.Range),
		Distribution:   distribution(s.Distribution),
		Sync:           convert[workload.SyncMode](s.Sync),
		FlushEvery:     integer(s.FlushEvery),
		FlushInterval:  seconds(s.FlushIntervalSeconds),
	}
	if s.SequentialOffset != nil {
		o.SharedOffset = new(*s.SequentialOffset == v1alpha1.SequentialOffsetShared)
	}
	replaceFlushes(&o)
	return o
}

// replaceFlushes lets a way to make writes durable take the place of the preset's, of which only one
// can be.
func replaceFlushes(o *workload.StreamOverride) {
	otherSync := o.Sync != nil && *o.Sync != workload.SyncFlush
	if o.FlushEvery == nil && (otherSync || o.FlushInterval != nil) {
		o.FlushEvery = new(int)
	}
	if o.FlushInterval == nil && (otherSync || o.FlushEvery != nil && *o.FlushEvery > 0) {
		o.FlushInterval = new(workload.Duration)
	}
}

func byteRange(r *v1alpha1.Range) *workload.Range {
	if r == nil {
		return nil
	}
	out := workload.Whole
	if r.StartPercent != nil {
		out.StartPercent = float64(*r.StartPercent)
	}
	if r.EndPercent != nil {
		out.EndPercent = float64(*r.EndPercent)
	}
	return &out
}

func distribution(d *v1alpha1.Distribution) *workload.Distribution {
	if d == nil {
		return nil
	}
	out := workload.Distribution{Type: workload.DistributionType(d.Type)}
	if d.IOPercent != nil {
		out.IOPercent = int(*d.IOPercent)
	}
	if d.RangePercent != nil {
		out.RangePercent = int(*d.RangePercent)
	}
	return &out
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

// LayoutBytes is what is written or set aside before measuring: on each set of volumes the file that the
// workloads share, and the files of those that have their own.
func LayoutBytes(p workload.Plan) int64 {
	var shared, own int64
	for _, w := range p.Workloads {
		if w.OwnFile() {
			own += w.FileSizeBytes
		} else {
			shared = max(shared, w.FileSizeBytes)
		}
	}
	return (shared + own) * int64(len(p.Sets))
}

// Seconds is the planned time of measuring, probes, warm-up and the longest draining included, rounded up.
func Seconds(p workload.Plan) int64 {
	var each, probes workload.Duration
	for _, w := range p.Workloads {
		probes += w.Probe
		each += w.Warmup + w.Duration
		if w.Drain {
			each += workload.LongestDrain
		}
	}
	return int64(p.Repetitions)*inSeconds(each) + inSeconds(probes)
}

func inSeconds(d workload.Duration) int64 {
	return int64((d + workload.Seconds(1) - 1) / workload.Seconds(1))
}

// MayEndEarly says that the planned time is only the longest: operations or draining may end before.
func MayEndEarly(p workload.Plan) bool {
	return slices.ContainsFunc(p.Workloads, func(w workload.Workload) bool { return w.Drain || w.Operations > 0 })
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
