// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

type outputForm string

const (
	outputTable outputForm = "table"
	outputJSON  outputForm = "json"
)

func (o *outputForm) String() string { return string(*o) }
func (o *outputForm) Type() string   { return "table|json" }

func (o *outputForm) Set(s string) error {
	switch f := outputForm(s); f {
	case outputTable, outputJSON:
		*o = f
		return nil
	default:
		return fmt.Errorf("use %s or %s", outputTable, outputJSON)
	}
}

// result is the JSON form of a report. Latencies are in microseconds; what the sample count does
// not allow, and a direction without operations, is left out.
type result struct {
	IOEngine      string           `json:"ioEngine"`
	Fallbacks     []fallback       `json:"fallbacks,omitempty"`
	DirectIO      bool             `json:"directIO"`
	EngineVersion string           `json:"engineVersion"`
	Kernel        string           `json:"kernel"`
	Target        target           `json:"target"`
	Workloads     []workloadResult `json:"workloads"`
}

type fallback struct {
	IOEngine string `json:"ioEngine"`
	Reason   string `json:"reason"`
}

type target struct {
	Path              string `json:"path"`
	Filesystem        string `json:"filesystem,omitempty"`
	Device            string `json:"device,omitempty"`
	SizeBytes         int64  `json:"sizeBytes"`
	LogicalBlockBytes int64  `json:"logicalBlockBytes"`
}

type workloadResult struct {
	Name string `json:"name"`
	// Parameters have the effective file size.
	Parameters    workload.Workload `json:"parameters"`
	WindowSeconds float64           `json:"windowSeconds"`
	Read          *figures          `json:"read,omitempty"`
	Write         *figures          `json:"write,omitempty"`
	Total         *figures          `json:"total,omitempty"`
	Repetitions   []repetition      `json:"repetitions"`
	Series        series            `json:"series"`
	CPU           cpu               `json:"cpu"`
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

type cpu struct {
	UserSeconds          float64 `json:"userSeconds"`
	SystemSeconds        float64 `json:"systemSeconds"`
	BusiestWorkerPercent int32   `json:"busiestWorkerPercent"`
}

func newResult(p workload.Plan, r *report.Report) result {
	out := result{
		IOEngine: spell(ioEngines, r.IOEngine), DirectIO: r.DirectIO, EngineVersion: r.EngineVersion, Kernel: r.Kernel,
		Target: target{
			Path: p.Sets[0][0], Filesystem: r.Target.Filesystem, Device: r.Target.Device,
			SizeBytes: r.Target.SizeBytes, LogicalBlockBytes: r.Target.LogicalBlockBytes,
		},
	}
	for _, f := range r.Fallbacks {
		out.Fallbacks = append(out.Fallbacks, fallback{IOEngine: spell(ioEngines, f.IOEngine), Reason: f.Reason})
	}
	for i, w := range r.Workloads {
		parameters := p.Workloads[i]
		parameters.FileSizeBytes = w.FileSizeBytes
		out.Workloads = append(out.Workloads, newWorkloadResult(parameters, w))
	}
	return out
}

func newWorkloadResult(parameters workload.Workload, w report.Workload) workloadResult {
	out := workloadResult{
		Name: w.Name, Parameters: parameters, WindowSeconds: seconds(w.WindowNanos),
		Read: newFigures(w.Read), Write: newFigures(w.Write), Total: newFigures(w.Total),
		Series: series{IntervalSeconds: seconds(w.Series.IntervalNanos), IOPS: w.Series.IOPS},
		CPU: cpu{
			UserSeconds: seconds(w.CPU.UserNanos), SystemSeconds: seconds(w.CPU.SystemNanos),
			BusiestWorkerPercent: w.CPU.BusiestWorkerPercent,
		},
	}
	for _, r := range w.Repetitions {
		out.Repetitions = append(out.Repetitions, repetition{IOPS: r.IOPS, P99Micros: optionalMicros(r.P99Nanos)})
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
			P50: optionalMicros(l.P50Nanos), P90: optionalMicros(l.P90Nanos), P95: optionalMicros(l.P95Nanos),
			P99: optionalMicros(l.P99Nanos), P999: optionalMicros(l.P999Nanos), P9999: optionalMicros(l.P9999Nanos),
		},
	}
}

func seconds(nanos int64) float64 { return time.Duration(nanos).Seconds() }
func micros(nanos int64) float64  { return float64(nanos) / 1000 }

func optionalMicros(nanos *int64) *float64 {
	if nanos == nil {
		return nil
	}
	v := micros(*nanos)
	return &v
}

func writeResult(w io.Writer, form outputForm, r result) error {
	if form == outputJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return writeTable(w, r)
}

// writeTable prints a line for each direction, and the total where there are both.
func writeTable(w io.Writer, r result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "WORKLOAD\tDIRECTION\tOPERATIONS\tIOPS\tMB/s\tMEAN µs\tP50 µs\tP90 µs\tP95 µs\tP99 µs\tP99.9 µs\tP99.99 µs\tMAX µs\t") //nolint:errcheck // Flush says
	for _, wl := range r.Workloads {
		writeRow(t, wl.Name, "read", wl.Read)
		writeRow(t, wl.Name, "write", wl.Write)
		if wl.Read != nil && wl.Write != nil {
			writeRow(t, wl.Name, "total", wl.Total)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nI/O engine %s, direct I/O, %s, kernel %s, version %s\n",
		r.IOEngine, place(r.Target), r.Kernel, r.EngineVersion)
	return err
}

func place(t target) string {
	if t.Filesystem == "" {
		return t.Path
	}
	return t.Path + " on " + t.Filesystem
}

func writeRow(w io.Writer, name, direction string, f *figures) {
	if f == nil {
		return
	}
	l := f.LatencyMicros
	fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%.2f\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t\n", //nolint:errcheck // Flush says
		name, direction, f.Operations, f.IOPS, f.BytesPerSecond/1e6, l.Mean,
		cell(l.P50), cell(l.P90), cell(l.P95), cell(l.P99), cell(l.P999), cell(l.P9999), l.Max)
}

// cell leaves out what the sample count does not allow.
func cell(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *v)
}
