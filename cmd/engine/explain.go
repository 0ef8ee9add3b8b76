// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/engine/workload"
)

// explain says what a run of the plan would do. It opens nothing.
func explain(w io.Writer, form outputForm, p workload.Plan, prepared bool) error {
	return write(w, form, p, func(w io.Writer) error {
		_, err := io.WriteString(w, explanation(p, prepared))
		return err
	})
}

func explanation(p workload.Plan, prepared bool) string {
	var b strings.Builder
	section(&b, "Target", targetLines(p))
	section(&b, "Layout", layoutLines(p, prepared))
	section(&b, "I/O engine", []string{engineLine(p)})
	for i, w := range p.Workloads {
		title := fmt.Sprintf("Workload %d of %d: %s", i+1, len(p.Workloads), w.Name)
		section(&b, title, append(workloadLines(w), comparableLines(p, w)...))
	}
	section(&b, "Time", timeLines(p, prepared))
	return strings.TrimPrefix(b.String(), "\n")
}

func section(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}

func targetLines(p workload.Plan) []string {
	var lines []string
	for i, set := range p.Sets {
		where := strings.Join(set, ", ")
		if len(p.Sets) > 1 {
			where = fmt.Sprintf("for repetition %d: %s", i+1, where)
		}
		lines = append(lines, where)
	}
	if p.StripeSizeBytes > 0 {
		lines = append(lines, fmt.Sprintf("striped over: %s lie on one before the next (RAID 0)", inBytes(p.StripeSizeBytes)))
	}
	switch p.Target {
	case workload.NullDevice:
		return append(lines, "It answers at once: the result is the load generator's own ceiling here, nothing of a disk.")
	case workload.BlockDevice:
		lines = append(lines, "A block device: what is in the part that is used will be OVERWRITTEN.")
		if p.OverwriteDevice {
			return append(lines, "That holds even for a filesystem or a partition table, as --overwrite-device says, unless it is mounted or held.")
		}
		return append(lines, "One that is mounted or held, or carries a filesystem or a partition table, is refused.")
	default:
		return append(lines, "A directory: a new file in it is written and measured, and is gone however the run ends. "+
			"Other files are left alone.")
	}
}

// layoutLines say what is written before anything is measured.
func layoutLines(p workload.Plan, prepared bool) []string {
	var lines []string
	size, shrinks := writtenBefore(p)
	switch {
	case p.Target == workload.NullDevice:
		return []string{"Nothing is written before."}
	case size > 0 && prepared:
		lines = append(lines, inBytes(size)+" of random data are there already, from 'prepare'.")
	case size > 0:
		each := ""
		if len(p.Sets) > 1 {
			each = " for each repetition"
		}
		lines = append(lines, fmt.Sprintf("%s of random data are written first%s, 1 MiB at a time: unwritten blocks would be read from memory.",
			inBytes(size), each))
	}
	if size > 0 && shrinks {
		lines = append(lines, "Where there is less room, a file size that nobody asked for shrinks: to 80% of the free space, or to the device.")
	}
	if size > 0 && !shrinks {
		lines = append(lines, "Where there is less room, the run ends with NoSpace.")
	}
	for _, w := range p.Workloads {
		switch w.Layout {
		case workload.Preallocated:
			lines = append(lines, fmt.Sprintf("%s: a new file of %s for each repetition, allocated and not written.", w.Name, inBytes(w.FileSizeBytes)))
		case workload.Append:
			lines = append(lines, fmt.Sprintf("%s: a new, empty file for each repetition, which grows to %s and starts over.", w.Name, inBytes(w.FileSizeBytes)))
		default:
		}
	}
	return lines
}

// writtenBefore is the size of the file that the workloads with the layout Written share, and
// whether it may be smaller.
func writtenBefore(p workload.Plan) (size int64, shrinks bool) {
	for _, w := range p.Workloads {
		if w.Layout == workload.Written && w.FileSizeBytes >= size {
			size, shrinks = w.FileSizeBytes, w.ShrinkToFit
		}
	}
	return size, shrinks
}

func engineLine(p workload.Plan) string {
	if p.IOEngine == workload.Auto {
		return "The first of io_uring, libaio and sync that works there for this load; the result says which, and why not the others."
	}
	return spell(ioEngines, p.IOEngine) + ", and no other: where it does not work, the run ends with IOEngineUnavailable."
}

func workloadLines(w workload.Workload) []string {
	var lines []string
	var buffers int64
	for _, s := range w.Streams {
		line := streamText(s)
		if s.Name != "" {
			line = s.Name + ": " + line
		}
		lines = append(lines, line)
		buffers += paged(s.BlockSizeBytes) * int64(s.Outstanding())
	}
	kind := "direct I/O (O_DIRECT, proven on the target)"
	if w.Buffered() {
		kind = "through the page cache"
	}
	if w.Verify {
		kind += ", each read verified"
	}
	return append(lines, fmt.Sprintf("%d outstanding in all, %s of buffers, %s", w.Outstanding(), inBytes(buffers), kind), windowText(w))
}

// paged is the memory of a buffer.
func paged(n int64) int64 {
	page := int64(os.Getpagesize())
	return (n + page - 1) / page * page
}

func windowText(w workload.Workload) string {
	text := fmt.Sprintf("warm-up %s, window %s", w.Warmup, w.Duration)
	if w.Operations > 0 {
		text = fmt.Sprintf("warm-up %s, window of %d operations, at most %s", w.Warmup, w.Operations, w.Duration)
	}
	if w.Drain {
		text += fmt.Sprintf(", then on until burst credits are used up, at most %.0f minutes", workload.LongestDrain.Std().Minutes())
	}
	return text
}

func streamText(s workload.Stream) string {
	parts := []string{
		fmt.Sprintf("%s %s of %s", strings.ToLower(string(s.Pattern)), mixText(s.ReadPercent), inBytes(s.BlockSizeBytes)),
		fmt.Sprintf("threads x depth %d x %d", s.Threads, s.QueueDepth),
	}
	if s.RandomPercent > 0 {
		parts = append(parts, fmt.Sprintf("%d%% jumps", s.RandomPercent))
	}
	if s.Pattern == workload.Sequential && s.Threads > 1 {
		if s.SharedOffset {
			parts = append(parts, "one offset for all threads")
		} else {
			parts = append(parts, "a part for each thread")
		}
	}
	if s.Range == workload.Whole {
		parts = append(parts, "over the whole file")
	} else {
		parts = append(parts, fmt.Sprintf("from %.4g%% to %.4g%% of the file", s.Range.StartPercent, s.Range.EndPercent))
	}
	switch d := s.Distribution; d.Type {
	case workload.Hotspot:
		parts = append(parts, fmt.Sprintf("%d%% of the random offsets in the first %d%% of that", d.IOPercent, d.RangePercent))
	case workload.Zipf:
		parts = append(parts, "offsets by Zipf's law (1.1)")
	default:
	}
	if s.RateLimitIOPS > 0 {
		parts = append(parts, fmt.Sprintf("%d IOPS for each thread, timed from when each I/O is due", s.RateLimitIOPS))
	}
	return strings.Join(append(parts, syncText(s)...), ", ")
}

func mixText(readPercent int) string {
	switch readPercent {
	case 100:
		return "reads"
	case 0:
		return "writes"
	default:
		return fmt.Sprintf("%d%% reads, %d%% writes", readPercent, 100-readPercent)
	}
}

func syncText(s workload.Stream) []string {
	switch {
	case s.Sync == workload.SyncWriteThrough && s.Writes():
		return []string{"each write durable (O_DSYNC)"}
	case s.FlushEvery == 1:
		return []string{"fdatasync after each write"}
	case s.FlushEvery > 1:
		return []string{fmt.Sprintf("fdatasync after every %d writes", s.FlushEvery)}
	case s.FlushInterval > 0:
		return []string{fmt.Sprintf("fdatasync every %s beside the writes", s.FlushInterval)}
	default:
		return nil
	}
}

func timeLines(p workload.Plan, prepared bool) []string {
	var load, drains, probes time.Duration
	for _, w := range p.Workloads {
		probes += w.Probe.Std()
		load += w.Warmup.Std() + w.Duration.Std()
		if w.Drain {
			drains += workload.LongestDrain.Std()
		}
	}
	load, drains = load*time.Duration(p.Repetitions), drains*time.Duration(p.Repetitions)
	line := fmt.Sprintf("%s of load", load)
	if p.Repetitions > 1 {
		line += fmt.Sprintf(" in %d repetitions", p.Repetitions)
	}
	if probes > 0 {
		line += fmt.Sprintf(", and %s of probes with one outstanding I/O before", probes)
	}
	lines := []string{line}
	if drains > 0 {
		lines = append(lines, fmt.Sprintf("at most %s more until burst credits are used up", drains))
	}
	if size, _ := writtenBefore(p); size > 0 && p.Target != workload.NullDevice && !prepared {
		bytes := float64(size) * float64(len(p.Sets))
		at100 := time.Duration(bytes / 100e6 * float64(time.Second)).Round(100 * time.Millisecond)
		lines = append(lines, fmt.Sprintf("writing the file comes on top, at the disk's speed: %s at 100 MB/s", at100))
	}
	return lines
}

// inBytes writes a size with its unit: 4 KiB, 2300 bytes.
func inBytes(n int64) string {
	text := bytesize.Format(n)
	if number, ok := strings.CutSuffix(text, "i"); ok {
		return number[:len(number)-1] + " " + number[len(number)-1:] + "iB"
	}
	return text + " bytes"
}
