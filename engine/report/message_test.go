// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diskbench/diskbench/engine/workload"
)

func nanos(n int64) *int64 { return &n }

func sampleFigures(operations, window int64) *Figures {
	return NewFigures(operations, operations*4096, window, Latency{
		MeanNanos: 2_000_123, StddevNanos: 345_678, MinNanos: 101, MaxNanos: 98_765_432,
		P50Nanos: nanos(1_900_000), P90Nanos: nanos(3_000_000), P95Nanos: nanos(4_000_000), P99Nanos: nanos(9_000_000),
	})
}

func sample() *Report {
	const window = 120_000_000_000
	mixed := Workload{
		Name: "vdi", FileSizeBytes: 4 << 30, WindowNanos: window,
		Read: sampleFigures(30_007, window), Write: sampleFigures(29_993, window), Total: sampleFigures(60_000, window),
		Repetitions: []Repetition{{IOPS: 498.7, P99Nanos: nanos(8_900_000)}, {IOPS: 501.3}},
		Series:      Series{IntervalNanos: 2e9, IOPS: []float64{500, 499.5, 0, 0.25, 3500}},
		CPU:         CPU{UserNanos: 1_234_567_890, SystemNanos: 0, BusiestWorkerPercent: 17},
	}
	readOnly := Workload{
		Name: "latency-read", FileSizeBytes: 1 << 30, WindowNanos: window,
		Read: sampleFigures(77, window), Total: sampleFigures(77, window),
		Repetitions: []Repetition{{IOPS: 1.5}},
		Series:      Series{IntervalNanos: 1e9, IOPS: []float64{1}},
	}
	return &Report{
		EngineVersion: "v0.3.1", IOEngine: workload.LibAIO, DirectIO: true, Kernel: "5.15.0-1064-azure",
		Fallbacks: []Fallback{{IOEngine: workload.IOUring, Reason: "io_uring_setup: operation not permitted"}},
		Target:    Target{Filesystem: "ext4", Device: "sdc", SizeBytes: 2 << 40, LogicalBlockBytes: 512},
		Workloads: []Workload{mixed, readOnly},
	}
}

func namesOf(r *Report) []string {
	var names []string
	for _, w := range r.Workloads {
		names = append(names, w.Name)
	}
	return names
}

// within is the promised error of a quantized figure.
var within = cmp.Options{
	cmpopts.EquateApprox(0.0004, 0),
	cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return strings.HasSuffix(name, "Nanos") && name != ".WindowNanos" && name != ".IntervalNanos"
	}, cmp.Comparer(func(a, b int64) bool { return math.Abs(float64(a-b)) <= 0.0004*float64(max(a, b)) })),
	cmp.Comparer(func(a, b *int64) bool {
		return (a == nil) == (b == nil) && (a == nil || math.Abs(float64(*a-*b)) <= 0.0004*float64(max(*a, *b)))
	}),
}

func TestReportSurvivesTheMessage(t *testing.T) {
	want := sample()
	message, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range [][]byte{message, append(message, '\n')} {
		got, err := Decode(m, namesOf(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, within); diff != "" {
			t.Error(diff)
		}
		for i := range want.Workloads {
			w, g := want.Workloads[i].Total, got.Workloads[i].Total
			if g.Operations != w.Operations || g.Bytes != w.Bytes || g.IOPS != w.IOPS || g.BytesPerSecond != w.BytesPerSecond {
				t.Errorf("counts and rates are %+v, want exactly %+v", g, w)
			}
		}
	}
}

// largest is a report at every limit, with figures no disk reaches and text that takes the most room.
func largest() *Report {
	const most = math.MaxInt64
	text := strings.Repeat("é", 300)
	figures := func() *Figures {
		return NewFigures(most/2, most/2, most, Latency{
			MeanNanos: most, StddevNanos: most, MinNanos: most, MaxNanos: most, P50Nanos: nanos(most), P90Nanos: nanos(most),
			P95Nanos: nanos(most), P99Nanos: nanos(most), P999Nanos: nanos(most), P9999Nanos: nanos(most),
		})
	}
	w := Workload{FileSizeBytes: most, WindowNanos: most, Read: figures(), Write: figures(), Total: figures(),
		Series: Series{IntervalNanos: most}, CPU: CPU{UserNanos: most, SystemNanos: most, BusiestWorkerPercent: 100}}
	for range workload.MaxRepetitions {
		w.Repetitions = append(w.Repetitions, Repetition{IOPS: math.MaxFloat64, P99Nanos: nanos(most)})
	}
	for range MaxSeriesPoints {
		w.Series.IOPS = append(w.Series.IOPS, math.MaxFloat64)
	}
	r := &Report{
		EngineVersion: text, IOEngine: workload.Sync, DirectIO: true, Kernel: text,
		Fallbacks: []Fallback{{workload.IOUring, text}, {workload.LibAIO, text}},
		Target:    Target{Filesystem: text, Device: text, SizeBytes: most, LogicalBlockBytes: most},
	}
	for i := range workload.MaxWorkloads {
		w.Name = fmt.Sprintf("%s%d", strings.Repeat("w", 62), i)
		r.Workloads = append(r.Workloads, w)
	}
	return r
}

func TestLargestReportFits(t *testing.T) {
	r := largest()
	message, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d bytes", len(message), MaxMessageBytes)
	if len(message) > MaxMessageBytes {
		t.Errorf("%d bytes, the limit is %d", len(message), MaxMessageBytes)
	}
	got, err := Decode(message, namesOf(r))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Workloads[7].Series.IOPS); n != MaxSeriesPoints {
		t.Errorf("%d points came back", n)
	}
	for _, s := range []string{got.Kernel, got.Fallbacks[0].Reason, got.Target.Device} {
		if !utf8.ValidString(s) || !strings.HasPrefix(s, "éé") {
			t.Errorf("a text was cut to %q", s)
		}
	}
}

func TestEncodeRefusesMoreThanFits(t *testing.T) {
	tests := []struct {
		why    string
		change func(*Report)
	}{
		{"a ninth workload", func(r *Report) { r.Workloads = append(r.Workloads, r.Workloads[0]) }},
		{"an eleventh repetition", func(r *Report) { r.Workloads[0].Repetitions = make([]Repetition, 11) }},
		{"a 61st point", func(r *Report) { r.Workloads[0].Series.IOPS = make([]float64, 61) }},
		{"a third fallback", func(r *Report) { r.Fallbacks = make([]Fallback, 3) }},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r := largest()
			tt.change(r)
			if _, err := Encode(r); err == nil {
				t.Error("no error")
			}
		})
	}
}

// The termination message ends up in JSON, in a terminal and in kubectl describe.
func TestMessageIsPlainText(t *testing.T) {
	message, err := Encode(largest())
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range message {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			t.Fatalf("byte %d is %q", i, b)
		}
	}
}

func TestFailureSurvivesTheMessage(t *testing.T) {
	for _, reason := range Reasons() {
		want := Failf(reason, "read of 4096 bytes: %s, with a colon: and é", reason)
		_, err := Decode(EncodeFailure(want), nil)
		got := (*Failure)(nil)
		if !errors.As(err, &got) {
			t.Fatalf("%s: %v is no failure", reason, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestLongFailureIsCut(t *testing.T) {
	message := EncodeFailure(Failf(ReasonIOError, "%s", strings.Repeat("é", 10_000)))
	if len(message) > MaxMessageBytes || !utf8.Valid(message) {
		t.Errorf("%d bytes, valid text: %v", len(message), utf8.Valid(message))
	}
	_, err := Decode(message, nil)
	if f := (*Failure)(nil); !errors.As(err, &f) || f.Reason != ReasonIOError || len(f.Message) < 1000 {
		t.Errorf("came back as %.80v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	names := namesOf(sample())
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)/2] ^= 1
	tests := []struct {
		why     string
		message string
		names   []string
		want    error
	}{
		{"the container was killed", "", names, ErrEmpty},
		{"white space is nothing", " \n", names, ErrEmpty},
		{"a panic's last line", "panic: runtime error", names, ErrCorrupt},
		{"a flipped bit", string(flipped), names, ErrCorrupt},
		{"a report that became a failure", strings.Replace(string(good), " R ", " F ", 1), names, ErrCorrupt},
		{"an operator older than the engine", "diskbench/2 R whatever this holds", names, ErrNewer},
		{"a newer one in another shape", "diskbench/99", names, ErrNewer},
		{"an unknown kind", string(frame("X", "abc")), names, ErrCorrupt},
		{"a failure without a reason", string(frame(kindFailure, "oops")), names, ErrCorrupt},
		{"no base64", string(frame(kindReport, "!!!!")), names, ErrCorrupt},
		{"a payload that ends early", string(frame(kindReport, "AAAA")), names, ErrCorrupt},
		{"the result of another plan", string(good), []string{"vdi", "other"}, ErrOtherPlan},
		{"the result of a shorter plan", string(good), names[:1], ErrOtherPlan},
		{"the same names in another order", string(good), []string{names[1], names[0]}, ErrOtherPlan},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r, err := Decode([]byte(tt.message), tt.names)
			if r != nil || !errors.Is(err, tt.want) {
				t.Errorf("%v, %v; want %v", r, err, tt.want)
			}
		})
	}
}

// Kubernetes cuts messages, and a cut one must never pass for a result.
func TestEveryCutIsNoticed(t *testing.T) {
	for name, message := range map[string][]byte{
		"report":  must(Encode(sample())),
		"failure": EncodeFailure(Failf(ReasonNoSpace, "a file of 4096 bytes does not fit")),
	} {
		for n := range message {
			r, err := Decode(message[:n], namesOf(sample()))
			if r != nil || !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrEmpty) {
				t.Errorf("%s cut to %d of %d bytes: %v, %v", name, n, len(message), r, err)
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestCodesKeepThePromisedAccuracy(t *testing.T) {
	for v := 1.0; v < 9e18; v *= 1.0003 {
		if got := valueOf(codeOf(v)); math.Abs(got-v)/v > 0.00034 {
			t.Fatalf("%v came back as %v", v, got)
		}
	}
	for v, want := range map[float64]float64{0: 0, -1: 0, 0.25: 1} {
		if got := valueOf(codeOf(v)); got != want {
			t.Errorf("%v came back as %v, want %v", v, got, want)
		}
	}
	if got := nanosOf(codeOf(math.MaxInt64)); got < math.MaxInt64/1000*999 {
		t.Errorf("the largest came back as %d", got)
	}
}

func TestExitCodesAreDistinct(t *testing.T) {
	seen := map[int]Reason{0: "success"}
	for _, r := range Reasons() {
		if other, ok := seen[r.ExitCode()]; ok {
			t.Errorf("%s and %s share the exit code %d", r, other, r.ExitCode())
		}
		seen[r.ExitCode()] = r
	}
	if len(Reasons()) != 13 {
		t.Errorf("%d reasons have an exit code, want all 13", len(Reasons()))
	}
	if got := Reason("FromTheFuture").ExitCode(); got != ReasonInternal.ExitCode() {
		t.Errorf("an unknown reason exits with %d", got)
	}
}

func FuzzDecode(f *testing.F) {
	names := namesOf(sample())
	f.Add(must(Encode(sample())), false)
	f.Add(EncodeFailure(Failf(ReasonIOError, "x")), false)
	f.Add([]byte("diskbench/2 R"), false)
	payload, err := marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload, true)
	f.Fuzz(func(t *testing.T, in []byte, isPayload bool) {
		decode := func() (*Report, error) { return Decode(in, names) }
		if isPayload { // beyond the checksum, which stops nearly everything
			decode = func() (*Report, error) { return unmarshal(in, names) }
		}
		r, err := decode()
		if (r == nil) == (err == nil) {
			t.Fatalf("%v, %v: want one of them", r, err)
		}
		if r == nil {
			return
		}
		again, err := Encode(r)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		back, err := Decode(again, names)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back, within); diff != "" {
			t.Error(diff)
		}
	})
}
