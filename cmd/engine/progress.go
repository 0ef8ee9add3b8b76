// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine"
)

// progressMode is how progress is shown.
type progressMode string

const (
	progressAuto  progressMode = "auto"
	progressLine  progressMode = "line"
	progressPlain progressMode = "plain"
	progressJSON  progressMode = "json"
	progressNone  progressMode = "none"
)

var progressModes = []spelling[progressMode]{
	{"auto", progressAuto}, {"line", progressLine}, {"plain", progressPlain}, {"json", progressJSON}, {"none", progressNone},
}

// watcher is told what goes on, one call at a time.
type watcher interface {
	event(engine.Event)
	// done comes before anything else is written.
	done()
}

func newWatcher(mode progressMode, w io.Writer) watcher {
	width := terminalWidth(w)
	if mode == progressAuto {
		mode = progressPlain
		if width > 0 && os.Getenv("TERM") != "dumb" {
			mode = progressLine
		}
	}
	switch mode {
	case progressLine:
		return &liveLine{w: w}
	case progressJSON:
		return jsonLines{w}
	case progressNone:
		return silence{}
	default:
		return &plainLines{w: w, every: plainInterval}
	}
}

// terminalWidth is the number of columns, 0 where w is no terminal.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0: // a serial line does not know
		return defaultWidth
	}
	return int(size.Col)
}

const defaultWidth = 80

// silence shows nothing.
type silence struct{}

func (silence) event(engine.Event) {}
func (silence) done()              {}

// jsonLines is for programs.
type jsonLines struct{ w io.Writer }

func (j jsonLines) event(e engine.Event) { _ = writeLine(j.w, e) }
func (jsonLines) done()                  {}

// plainInterval is often enough to see that something happens, and seldom enough for a log.
const plainInterval = 5 * time.Second

// plainLines is for logs: a line when something new begins or ends, and now and then between.
type plainLines struct {
	w     io.Writer
	every time.Duration
	what  string
	last  time.Time
}

func (p *plainLines) event(e engine.Event) {
	what := activity(e)
	if what == p.what && time.Since(p.last) < p.every && fraction(e) < 1 {
		return
	}
	p.what, p.last = what, time.Now()
	_, _ = fmt.Fprintf(p.w, "%s: %s\n", p.what, strings.Join(append([]string{advance(e)}, rates(e)...), ", "))
}

func (*plainLines) done() {}

// liveLine is for a terminal: one line, written over again and again.
type liveLine struct {
	w       io.Writer
	written bool
}

// eraseLine goes to the start of the line and clears it (ECMA-48).
const eraseLine = "\r\x1b[K"

func (l *liveLine) event(e engine.Event) {
	width := terminalWidth(l.w)
	if width == 0 {
		width = defaultWidth
	}
	l.written = true
	_, _ = io.WriteString(l.w, eraseLine+live(e, width))
}

func (l *liveLine) done() {
	if l.written {
		_, _ = io.WriteString(l.w, eraseLine)
		l.written = false
	}
}

// live is the line for a terminal of width columns. The last column stays free: some terminals
// wrap when it is written. What does not fit is left out, the least wanted first.
func live(e engine.Event, width int) string {
	line := activity(e)
	parts := append([]string{advance(e)}, rates(e)...)
	if fraction(e) > 0 {
		parts = append([]string{bar(fraction(e))}, parts...)
	}
	for _, part := range parts {
		if longer := line + "  " + part; utf8.RuneCountInString(longer) < width {
			line = longer
		}
	}
	if r := []rune(line); len(r) >= width {
		return string(r[:max(width-1, 0)])
	}
	return line
}

const barWidth = 10

func bar(fraction float64) string {
	full := int(fraction * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), 100*fraction)
}

// activity is what goes on, without figures.
func activity(e engine.Event) string {
	text := strings.ToLower(string(e.Phase))
	if e.Workload != "" {
		text += " " + e.Workload
	}
	if e.Repetitions > 1 {
		text += fmt.Sprintf(" (%d of %d)", e.Repetition, e.Repetitions)
	}
	return text
}

func advance(e engine.Event) string {
	if e.Phase == engine.Preparing {
		return fmt.Sprintf("%s of %s", gibibytes(e.BytesDone), gibibytes(e.BytesTotal))
	}
	if e.TotalSeconds == 0 { // nobody knows how long it takes
		return fmt.Sprintf("%.0f s", e.ElapsedSeconds)
	}
	return fmt.Sprintf("%.0f of %.0f s", e.ElapsedSeconds, e.TotalSeconds)
}

// fraction of the work that is done, 0 to 1; 0 as well where nobody knows.
func fraction(e engine.Event) float64 {
	done, total := e.ElapsedSeconds, e.TotalSeconds
	if e.Phase == engine.Preparing {
		done, total = float64(e.BytesDone), float64(e.BytesTotal)
	}
	if total <= 0 {
		return 0
	}
	return min(done/total, 1)
}

// rates are the figures since the previous event; there are none while the file is written.
func rates(e engine.Event) []string {
	if e.Phase == engine.Preparing {
		return nil
	}
	parts := []string{fmt.Sprintf("%.0f IOPS", e.IOPS)}
	if e.BytesPerSecond > 0 {
		parts = append(parts, fmt.Sprintf("%.1f MB/s", e.BytesPerSecond/1e6))
	}
	if e.MeanMicros > 0 {
		parts = append(parts, "mean "+inTime(e.MeanMicros))
	}
	return parts
}

// inTime writes microseconds with the unit that a reader expects.
func inTime(micros float64) string {
	if micros < 1000 {
		return fmt.Sprintf("%.0f µs", micros)
	}
	return fmt.Sprintf("%.2f ms", micros/1000)
}

func gibibytes(n int64) string { return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30)) }
