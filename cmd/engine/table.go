// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/workload"
)

// writeTable prints a line for each stream and direction, the total where there are several, and
// below the table what has to be known about the figures.
func writeTable(w io.Writer, r result) error {
	if r.Interrupted {
		if _, err := fmt.Fprintln(w, "PARTIAL: the run was interrupted, these are the figures until then."); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "WORKLOAD\tDIRECTION\tOPERATIONS\tIOPS\tMB/s\tMEAN µs\tP50 µs\tP90 µs\tP95 µs\tP99 µs\tP99.9 µs\tP99.99 µs\tMAX µs\t") //nolint:errcheck // Flush says
	for _, wl := range r.Workloads {
		writeRows(t, wl)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var below strings.Builder
	below.WriteString("\n" + setting(r) + "\n")
	for _, note := range r.Notes {
		below.WriteString("- " + note + "\n")
	}
	_, err := io.WriteString(w, below.String())
	return err
}

func writeRows(w io.Writer, wl workloadResult) {
	for _, s := range wl.Streams {
		name := wl.Name + "/" + s.Name
		writeRow(w, name, "read", s.Read)
		writeRow(w, name, "write", s.Write)
		writeRow(w, name, "flush", s.Flush)
	}
	writeRow(w, wl.Name, "read", wl.Read)
	writeRow(w, wl.Name, "write", wl.Write)
	if wl.Read != nil && wl.Write != nil {
		writeRow(w, wl.Name, "total", wl.Total)
	}
	writeRow(w, wl.Name, "flush", wl.Flush)
}

func writeRow(w io.Writer, name, direction string, f *figures) {
	if f == nil {
		return
	}
	throughput := "-" // of flushes, which move no bytes
	if f.Bytes > 0 {
		throughput = fmt.Sprintf("%.2f", f.BytesPerSecond/1e6)
	}
	l := f.LatencyMicros
	fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%s\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t\n", //nolint:errcheck // Flush says
		name, direction, f.Operations, f.IOPS, throughput, l.Mean,
		cell(l.P50), cell(l.P90), cell(l.P95), cell(l.P99), cell(l.P999), cell(l.P9999), l.Max)
}

// cell leaves out what the sample count does not allow.
func cell(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *v)
}

// setting is where and how it was measured.
func setting(r result) string {
	parts := []string{"I/O engine " + r.IOEngine, ioKind(r.Workloads), placeText(r.Target)}
	if q := r.Target.Queue; q != nil {
		parts = append(parts, queueText(*q))
	}
	parts = append(parts, "kernel "+r.Kernel, "version "+r.EngineVersion)
	return strings.Join(parts, ", ")
}

func ioKind(ws []workloadResult) string {
	var direct, buffered bool
	for _, w := range ws {
		direct, buffered = direct || !w.Parameters.Buffered(), buffered || w.Parameters.Buffered()
	}
	switch {
	case direct && buffered:
		return "direct and buffered I/O"
	case buffered:
		return "buffered I/O"
	default:
		return "direct I/O"
	}
}

func placeText(t target) string {
	text := strings.Join(t.Paths, ", ")
	if t.StripeSizeBytes > 0 {
		text += " striped by " + bytesize.Format(t.StripeSizeBytes)
	}
	if t.Filesystem != "" {
		text += " on " + t.Filesystem
	}
	if t.Device != "" && t.Kind == workload.Directory {
		text += " (" + t.Device + ")"
	}
	return text
}

func queueText(q queue) string {
	text := fmt.Sprintf("scheduler %s with %d requests of at most %s", q.Scheduler, q.Requests, bytesize.Format(q.MaxIOBytes))
	if q.DeviceDepth > 0 {
		text += fmt.Sprintf(", device depth %d", q.DeviceDepth)
	}
	return text
}
