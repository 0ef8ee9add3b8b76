// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

type outputForm string

const (
	outputTable outputForm = "table"
	outputJSON  outputForm = "json"
	outputYAML  outputForm = "yaml"
)

var outputForms = []spelling[outputForm]{
	{"table", outputTable}, {"json", outputJSON}, {"yaml", outputYAML},
}

func newOutput() choice[outputForm] {
	return choice[outputForm]{value: outputTable, spellings: outputForms}
}

// result is the JSON form of a report. Latencies are in microseconds; what the sample count does
// not allow, and a direction without operations, is left out.
type result struct {
	// Interrupted results have what was measured until then.
	Interrupted   bool             `json:"interrupted,omitempty"`
	IOEngine      string           `json:"ioEngine"`
	Fallbacks     []fallback       `json:"fallbacks,omitempty"`
	DirectIO      bool             `json:"directIO"`
	EngineVersion string           `json:"engineVersion"`
	Kernel        string           `json:"kernel"`
	Target        target           `json:"target"`
	Workloads     []workloadResult `json:"workloads"`
	// Notes are what a reader of the figures has to know, in sentences.
	Notes []string `json:"notes,omitempty"`
}

type fallback struct {
	IOEngine string `json:"ioEngine"`
	Reason   string `json:"reason"`
}

type target struct {
	Kind workload.TargetKind `json:"kind"`
	// Paths are all volumes: several of one set are striped over.
	Paths             []string `json:"paths"`
	StripeSizeBytes   int64    `json:"stripeSizeBytes,omitempty"`
	Filesystem        string   `json:"filesystem,omitempty"`
	Device            string   `json:"device,omitempty"`
	SizeBytes         int64    `json:"sizeBytes"`
	LogicalBlockBytes int64    `json:"logicalBlockBytes"`
	Queue             *queue   `json:"queue,omitempty"`
}

type queue struct {
	Scheduler   string `json:"scheduler"`
	Requests    int64  `json:"requests"`
	DeviceDepth int64  `json:"deviceDepth,omitempty"`
	MaxIOBytes  int64  `json:"maxIOBytes"`
	WriteBack   bool   `json:"writeBack"`
	FUA         bool   `json:"fua"`
}

type workloadResult struct {
	Name string `json:"name"`
	// Parameters have the effective file size.
	Parameters    workload.Workload `json:"parameters"`
	WindowSeconds float64           `json:"windowSeconds"`
	Read          *figures          `json:"read,omitempty"`
	Write         *figures          `json:"write,omitempty"`
	Total         *figures          `json:"total,omitempty"`
	// Flush is no part of the total.
	Flush       *figures     `json:"flush,omitempty"`
	Streams     []stream     `json:"streams,omitempty"`
	Repetitions []repetition `json:"repetitions"`
	Series      series       `json:"series"`
	// ProbeMeanMicros is the mean latency with one outstanding I/O, before the windows.
	ProbeMeanMicros *float64 `json:"probeMeanMicros,omitempty"`
	Steady          *steady  `json:"steady,omitempty"`
	Step            *step    `json:"step,omitempty"`
	Drained         *drained `json:"drained,omitempty"`
	Device          *device  `json:"device,omitempty"`
	CPU             cpu      `json:"cpu"`
}

type stream struct {
	Name  string   `json:"name"`
	Read  *figures `json:"read,omitempty"`
	Write *figures `json:"write,omitempty"`
	Flush *figures `json:"flush,omitempty"`
}

type figures struct {
	Operations     int64   `json:"operations"`
	Bytes          int64   `json:"bytes"`
	IOPS           float64 `json:"iops"`
	BytesPerSecond float64 `json:"bytesPerSecond"`
	LatencyMicros  latency `json:"latencyMicros"`
}

type latency struct {
	Mean   float64  `json:"mean"`
	Stddev float64  `json:"stddev"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	P50    *float64 `json:"p50,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P95    *float64 `json:"p95,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	P999   *float64 `json:"p999,omitempty"`
	P9999  *float64 `json:"p9999,omitempty"`
}

type repetition struct {
	IOPS      float64  `json:"iops"`
	P99Micros *float64 `json:"p99Micros,omitempty"`
}

type series struct {
	IntervalSeconds float64   `json:"intervalSeconds"`
	IOPS            []float64 `json:"iops"`
}

type steady struct {
	State            bool    `json:"state"`
	VariationPercent float64 `json:"variationPercent"`
}

type step struct {
	AtSeconds  float64 `json:"atSeconds"`
	BeforeIOPS float64 `json:"beforeIOPS"`
	AfterIOPS  float64 `json:"afterIOPS"`
}

type drained struct {
	Seconds        float64 `json:"seconds"`
	Step           *step   `json:"step,omitempty"`
	IOPS           float64 `json:"iops"`
	BytesPerSecond float64 `json:"bytesPerSecond"`
}

// device is what the kernel counted at the disk meanwhile. The ratios are its operations and bytes
// to those of the engine; absent without any of the engine's.
type device struct {
	ReadOperations  int64    `json:"readOperations"`
	WriteOperations int64    `json:"writeOperations"`
	ReadBytes       int64    `json:"readBytes"`
	WriteBytes      int64    `json:"writeBytes"`
	OperationsRatio *float64 `json:"operationsRatio,omitempty"`
	BytesRatio      *float64 `json:"bytesRatio,omitempty"`
	// OtherOperations and OtherBytes are those of the machine's other disks.
	OtherOperations int64 `json:"otherOperations"`
	OtherBytes      int64 `json:"otherBytes"`
}

type cpu struct {
	UserSeconds          float64 `json:"userSeconds"`
	SystemSeconds        float64 `json:"systemSeconds"`
	BusiestWorkerPercent int32   `json:"busiestWorkerPercent"`
	RunDelayPercent      int32   `json:"runDelayPercent"`
	ThrottledPercent     int32   `json:"throttledPercent"`
	StealPercent         int32   `json:"stealPercent"`
}

// newResult joins what was found with what was asked for.
func newResult(p workload.Plan, r *report.Report, interrupted bool) result {
	out := result{
		Interrupted: interrupted,
		IOEngine:    spell(ioEngines, r.IOEngine), DirectIO: r.DirectIO, EngineVersion: r.EngineVersion, Kernel: r.Kernel,
		Target: target{
			Kind: p.Target, Paths: slices.Concat(p.Sets...), StripeSizeBytes: p.StripeSizeBytes,
			Filesystem: r.Target.Filesystem, Device: r.Target.Device,
			SizeBytes: r.Target.SizeBytes, LogicalBlockBytes: r.Target.LogicalBlockBytes,
			Queue: converted(r.Target.Queue, newQueue),
		},
		Workloads: []workloadResult{},
	}
	for _, f := range r.Fallbacks {
		out.Fallbacks = append(out.Fallbacks, fallback{IOEngine: spell(ioEngines, f.IOEngine), Reason: f.Reason})
	}
	for i, w := range r.Workloads {
		parameters := p.Workloads[i]
		parameters.FileSizeBytes = w.FileSizeBytes
		out.Workloads = append(out.Workloads, newWorkloadResult(parameters, w))
	}
	out.Notes = notes(p, out)
	return out
}

func newWorkloadResult(parameters workload.Workload, w report.Workload) workloadResult {
	out := workloadResult{
		Name: w.Name, Parameters: parameters, WindowSeconds: seconds(w.WindowNanos),
		Read: newFigures(w.Read), Write: newFigures(w.Write), Total: newFigures(w.Total), Flush: newFigures(w.Flush),
		Repetitions:     []repetition{},
		Series:          series{IntervalSeconds: seconds(w.Series.IntervalNanos), IOPS: w.Series.IOPS},
		ProbeMeanMicros: converted(w.ProbeMeanNanos, micros),
		Steady:          converted(w.Steady, func(s report.Steady) steady { return steady(s) }),
		Step:            converted(w.Step, newStep),
		Drained:         converted(w.Drained, newDrained),
		Device:          converted(w.Device, func(d report.DeviceCounters) device { return newDevice(d, w.Total) }),
		CPU: cpu{
			UserSeconds: seconds(w.CPU.UserNanos), SystemSeconds: seconds(w.CPU.SystemNanos),
			BusiestWorkerPercent: w.CPU.BusiestWorkerPercent, RunDelayPercent: w.CPU.RunDelayPercent,
			ThrottledPercent: w.CPU.ThrottledPercent, StealPercent: w.CPU.StealPercent,
		},
	}
	for _, s := range w.Streams {
		out.Streams = append(out.Streams, stream{s.Name, newFigures(s.Read), newFigures(s.Write), newFigures(s.Flush)})
	}
	for _, r := range w.Repetitions {
		out.Repetitions = append(out.Repetitions, repetition{IOPS: r.IOPS, P99Micros: converted(r.P99Nanos, micros)})
	}
	return out
}

// converted is nil for nil.
func converted[From, To any](v *From, convert func(From) To) *To {
	if v == nil {
		return nil
	}
	to := convert(*v)
	return &to
}

func newQueue(q report.Queue) queue { return queue(q) }

func newStep(s report.Step) step { return step(s) }

func newDrained(d report.Drained) drained {
	return drained{Seconds: d.Seconds, Step: converted(d.Step, newStep), IOPS: d.IOPS, BytesPerSecond: d.BytesPerSecond}
}

func newDevice(d report.DeviceCounters, total *report.Figures) device {
	out := device{
		ReadOperations: d.ReadOperations, WriteOperations: d.WriteOperations,
		ReadBytes: d.ReadBytes, WriteBytes: d.WriteBytes, OtherOperations: d.OtherOperations, OtherBytes: d.OtherBytes,
	}
	if total != nil && total.Operations > 0 && total.Bytes > 0 {
		out.OperationsRatio = new(float64(d.ReadOperations+d.WriteOperations) / float64(total.Operations))
		out.BytesRatio = new(float64(d.ReadBytes+d.WriteBytes) / float64(total.Bytes))
	}
	return out
}

func newFigures(f *report.Figures) *figures {
	if f == nil {
		return nil
	}
	l := f.Latency
	return &figures{
		Operations: f.Operations, Bytes: f.Bytes, IOPS: f.IOPS, BytesPerSecond: f.BytesPerSecond,
		LatencyMicros: latency{
			Mean: micros(l.MeanNanos), Stddev: micros(l.StddevNanos), Min: micros(l.MinNanos), Max: micros(l.MaxNanos),
			P50: converted(l.P50Nanos, micros), P90: converted(l.P90Nanos, micros), P95: converted(l.P95Nanos, micros),
			P99: converted(l.P99Nanos, micros), P999: converted(l.P999Nanos, micros), P9999: converted(l.P9999Nanos, micros),
		},
	}
}

func seconds(nanos int64) float64 { return time.Duration(nanos).Seconds() }
func micros(nanos int64) float64  { return float64(nanos) / 1000 }

func writeResult(w io.Writer, form outputForm, r result) error {
	return write(w, form, r, func(w io.Writer) error { return writeTable(w, r) })
}

// write writes v in one of the forms for programs, or calls table for people.
func write(w io.Writer, form outputForm, v any, table func(io.Writer) error) error {
	switch form {
	case outputJSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	case outputYAML:
		text, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	default:
		return table(w)
	}
}
