// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/disktest"
)

var measuringEvent = engine.Event{
	Phase: engine.Measuring, Workload: "vdi", Repetition: 2, Repetitions: 3,
	ElapsedSeconds: 12, TotalSeconds: 60, IOPS: 8012, BytesPerSecond: 32.8e6, MeanMicros: 1990,
}

func TestLiveLine(t *testing.T) {
	for _, tt := range []struct {
		why   string
		event engine.Event
		width int
		want  string
	}{
		{"room for all", measuringEvent, 90, "measuring vdi (2 of 3)  [##--------]  20%  12 of 60 s  8012 IOPS  32.8 MB/s  mean 1.99 ms"},
		{"the latency does not fit", measuringEvent, 80, "measuring vdi (2 of 3)  [##--------]  20%  12 of 60 s  8012 IOPS  32.8 MB/s"},
		{"one column short of it all", measuringEvent, 89, "measuring vdi (2 of 3)  [##--------]  20%  12 of 60 s  8012 IOPS  32.8 MB/s"},
		{"a narrow window", measuringEvent, 16, "measuring vdi ("},
		{"no window", measuringEvent, 0, ""},
		{"bytes, not seconds", engine.Event{Phase: engine.Preparing, BytesDone: 1 << 30, BytesTotal: 4 << 30}, 80,
			"preparing  [##--------]  25%  1.00 GiB of 4.00 GiB"},
		{"an end that nobody knows", engine.Event{Phase: engine.Draining, Workload: "vdi", Repetition: 1, Repetitions: 1, ElapsedSeconds: 300, IOPS: 500, MeanMicros: 80}, 80,
			"draining vdi  300 s  500 IOPS  mean 80 µs"},
		{"later than planned", engine.Event{Phase: engine.Measuring, ElapsedSeconds: 61, TotalSeconds: 60}, 80,
			"measuring  [##########] 100%  61 of 60 s  0 IOPS"},
	} {
		got := live(tt.event, tt.width)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
		if tt.width > 0 && utf8.RuneCountInString(got) >= tt.width {
			t.Errorf("%s: %q fills a line of %d columns", tt.why, got, tt.width)
		}
	}
}

func TestPlainLines(t *testing.T) {
	var b bytes.Buffer
	p := &plainLines{w: &b, every: time.Hour}
	at := func(elapsed float64, repetition int) engine.Event {
		e := measuringEvent
		e.ElapsedSeconds, e.Repetition = elapsed, repetition
		return e
	}
	for _, e := range []engine.Event{at(1, 1), at(2, 1), at(60, 1), at(1, 2)} {
		p.event(e)
	}
	want := "measuring vdi (1 of 3): 1 of 60 s, 8012 IOPS, 32.8 MB/s, mean 1.99 ms\n" + // something new
		"measuring vdi (1 of 3): 60 of 60 s, 8012 IOPS, 32.8 MB/s, mean 1.99 ms\n" + // its end
		"measuring vdi (2 of 3): 1 of 60 s, 8012 IOPS, 32.8 MB/s, mean 1.99 ms\n" // new again
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	b.Reset()
	p = &plainLines{w: &b}
	p.event(at(1, 1))
	p.event(at(2, 1))
	if n := strings.Count(b.String(), "\n"); n != 2 {
		t.Errorf("%d lines when the time for the next has come each time, want 2", n)
	}
}

// terminal is a pseudo-terminal: what a program writes to the one end is read from the other.
func terminal(t *testing.T, columns uint16) (*os.File, *bytes.Buffer, func()) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = shown.ReadFrom(master) }) // ends with EIO when the last writer closes
	return slave, &shown, func() {
		_ = slave.Close()
		reading.Wait()
		_ = master.Close()
	}
}

// On a terminal there is one line, which is gone when the result comes.
func TestTerminal(t *testing.T) {
	stderr, shown, finish := terminal(t, 60)
	c := command(os.Args[0], "run", "--path", disktest.Dir(t), "--preset", "vdi", "--duration", "1200ms", "--warmup", "0s", "--file-size", "16Mi")
	c.Env = append(c.Env, "TERM=xterm")
	var stdout bytes.Buffer
	c.Stdout, c.Stderr = &stdout, stderr
	err := c.Run()
	finish()
	if err != nil {
		t.Fatalf("%v: %s", err, shown)
	}
	text := shown.String()
	if !strings.HasSuffix(text, eraseLine) || strings.Contains(text, "\n") {
		t.Errorf("progress %q: want one line, erased at the end", text)
	}
	lines := strings.Split(text, eraseLine)
	if !strings.Contains(text, "measuring vdi  [") {
		t.Errorf("no line about the measurement: %q", text)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) >= 60 {
			t.Errorf("%q fills the terminal", line)
		}
	}
	if !strings.HasPrefix(strings.TrimSpace(stdout.String()), "WORKLOAD") {
		t.Errorf("result %q", stdout.String())
	}
}

// Elsewhere progress is for people as well, unless something else is asked for.
func TestProgressModes(t *testing.T) {
	dir := disktest.Dir(t)
	for _, tt := range []struct {
		why, mode string
		want      string
		lines     bool
	}{
		{"a log", "auto", "measuring vdi: ", true},
		{"a program", "json", `{"phase":"Measuring","workload":"vdi",`, true},
		{"a script that shows nothing", "none", "", false},
	} {
		t.Run(tt.why, func(t *testing.T) {
			o := diskbench(t, "run", "--path", dir, "--preset", "vdi", "--duration", "1200ms", "--warmup", "0s", "--file-size", "16Mi", "--progress", tt.mode)
			if o.code != 0 || !strings.Contains(o.stderr, tt.want) || (o.stderr != "") != tt.lines || strings.Contains(o.stderr, "\x1b") {
				t.Errorf("exit code %d, progress %q, want %q", o.code, o.stderr, tt.want)
			}
		})
	}
}
