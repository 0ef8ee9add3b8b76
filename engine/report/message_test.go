// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
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
		Repetitions: []Repetition{{WindowNanos: 80e9, IOPS: 498.7, P99Nanos: nanos(8_900_000)}, {WindowNanos: 40e9, IOPS: 501.3}},
		Series:      Series{IntervalNanos: 30e9, IOPS: []float64{500, 499.5, 0, 0.25, 3500}},
		Flush:       NewFigures(77, 0, window, Latency{MeanNanos: 5_000_000, MaxNanos: 6_000_000}),
		Streams: []Stream{
			{Name: "data", Read: sampleFigures(30_007, window), Write: sampleFigures(20_000, window)},
			{Name: "log", Write: sampleFigures(9_993, window), Flush: NewFigures(77, 0, window, Latency{MaxNanos: 7_000_000})},
		},
		Steady:         &Steady{State: true, VariationPercent: 1.75},
		Step:           &Step{AtSeconds: 31, BeforeIOPS: 3500, AfterIOPS: 500},
		Drained:        &Drained{Seconds: 1860.5, IOPS: 500.1, BytesPerSecond: 2_048_409, Step: &Step{AtSeconds: 1800, BeforeIOPS: 3500, AfterIOPS: 500}},
		ProbeMeanNanos: nanos(901_234),
		Device:         &DeviceCounters{ReadOperations: 30_100, WriteOperations: 30_050, ReadBytes: 1 << 30, WriteBytes: 1 << 31, OtherOperations: 12, OtherBytes: 1 << 20},
		CPU: CPU{UserNanos: 1_234_567_890, SystemNanos: 0, BusiestWorkerPercent: 17, RunDelayPercent: 3, ThrottledPercent: 2,
			StealPercent: 1},
	}
	readOnly := Workload{
		Name: "latency-read", FileSizeBytes: 1 << 30, WindowNanos: window,
		Read: sampleFigures(77, window), Total: sampleFigures(77, window),
		Repetitions: []Repetition{{WindowNanos: window, IOPS: 1.5}},
		Series:      Series{IntervalNanos: 50e9, IOPS: []float64{1, 2, 3}},
		Drained:     &Drained{Seconds: 2640, IOPS: 1.5, BytesPerSecond: 6144},
	}
	return &Report{
		EngineVersion: "v0.3.1", IOEngine: workload.LibAIO, DirectIO: true, Kernel: "5.15.0-1064-azure",
		Fallbacks: []Fallback{{IOEngine: workload.IOUring, Reason: "io_uring_setup: operation not permitted"}},
		Target: Target{Filesystem: "ext4", Device: "sdc", SizeBytes: 2 << 40, LogicalBlockBytes: 512,
			Queue: &Queue{Scheduler: "mq-deadline", Requests: 256, DeviceDepth: 64, MaxIOBytes: 1280 << 10, WriteBack: true}},
		Workloads: []Workload{mixed, readOnly},
	}
}

// planOf is the plan that a report is about, as far as Decode looks at it.
func planOf(r *Report) []workload.Workload {
	var ws []workload.Workload
	for _, w := range r.Workloads {
		plan := workload.Workload{Name: w.Name, Streams: make([]workload.Stream, max(1, len(w.Streams)))}
		for i, s := range w.Streams {
			plan.Streams[i].Name = s.Name
		}
		ws = append(ws, plan)
	}
	return ws
}

// within is the promised error of a quantized figure.
var within = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Workloads.Repetitions.WindowNanos" },
		cmp.Comparer(func(a, b int64) bool { return math.Abs(float64(a-b)) <= 30e9/500 })),
	cmpopts.EquateApprox(0.0004, 0),
	cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		if strings.HasPrefix(p.String(), "Workloads.Device.") {
			return true
		}
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
		got, err := Decode(m, planOf(want))
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

// Mean, minimum and maximum of the total do not travel: they follow from the directions.
func TestTotalFollowsFromTheDirections(t *testing.T) {
	r := &Report{Workloads: []Workload{{
		WindowNanos: 1e9, Repetitions: []Repetition{{WindowNanos: 1e9}},
		Read:  NewFigures(1, 4096, 1e9, Latency{MeanNanos: 100, MinNanos: 90, MaxNanos: 110}),
		Write: NewFigures(3, 8192, 1e9, Latency{MeanNanos: 500, MinNanos: 50, MaxNanos: 900}),
		Total: NewFigures(4, 12288, 1e9, Latency{MeanNanos: 400, StddevNanos: 7, MinNanos: 50, MaxNanos: 900, P50Nanos: nanos(200)}),
	}}}
	got, err := Decode(must(Encode(r)), planOf(r))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Workloads[0].Total, got.Workloads[0].Total); diff != "" {
		t.Error(diff)
	}
}

// largest is a report at every limit, with figures no disk reaches, text that takes the most room, and
// as many streams as there may be. The windows differ, and all of them together are yet another.
func largest(repetitions int) *Report {
	const most, interval = math.MaxInt64, 1 << 49
	text := strings.Repeat("é", 300)
	figures := func() *Figures {
		return NewFigures(most/2, most/2, most, Latency{
			MeanNanos: most, StddevNanos: most, MinNanos: most, MaxNanos: most, P50Nanos: nanos(most), P90Nanos: nanos(most),
			P95Nanos: nanos(most), P99Nanos: nanos(most), P999Nanos: nanos(most), P9999Nanos: nanos(most),
		})
	}
	step := &Step{AtSeconds: math.MaxFloat64, BeforeIOPS: math.MaxFloat64, AfterIOPS: math.MaxFloat64}
	w := Workload{
		FileSizeBytes: most, WindowNanos: most, Read: figures(), Write: figures(), Total: figures(), Flush: figures(),
		Series: Series{IntervalNanos: interval},
		Steady: &Steady{State: true, VariationPercent: math.MaxFloat64}, Step: step,
		Drained: &Drained{Seconds: math.MaxFloat64, Step: step, IOPS: math.MaxFloat64, BytesPerSecond: math.MaxFloat64},
		Device:  &DeviceCounters{most, most, most, most, most, most},
		CPU:     CPU{most, most, 100, 100, 100, 100},
	}
	for i := range repetitions {
		window := int64(MaxSeriesPoints/repetitions)*interval - int64(i)
		w.Repetitions = append(w.Repetitions, Repetition{WindowNanos: window, IOPS: math.MaxFloat64, P99Nanos: nanos(most)})
	}
	for range MaxSeriesPoints / repetitions * repetitions {
		w.Series.IOPS = append(w.Series.IOPS, math.MaxFloat64)
	}
	r := &Report{
		EngineVersion: text, IOEngine: workload.Sync, DirectIO: true, Kernel: text,
		Fallbacks: []Fallback{{workload.IOUring, text}, {workload.LibAIO, text}},
		Target: Target{Filesystem: text, Device: text, SizeBytes: most, LogicalBlockBytes: most,
			Queue: &Queue{Scheduler: text, Requests: most, DeviceDepth: most, MaxIOBytes: most, WriteBack: true, FUA: true}},
	}
	for i := range workload.MaxWorkloads {
		w.Name = fmt.Sprintf("%s%d", strings.Repeat("w", 62), i)
		r.Workloads = append(r.Workloads, w)
	}
	for i := range workload.MaxStreams {
		w := &r.Workloads[i/4]
		w.Streams = append(w.Streams, Stream{Name: strconv.Itoa(i), Read: w.Read, Write: w.Write, Flush: w.Flush})
	}
	return r
}

// In the worst case the series gives way, and nothing else.
func TestLargestReportFits(t *testing.T) {
	for n := 1; n <= workload.MaxRepetitions; n++ {
		r := largest(n)
		message, err := Encode(r)
		if err != nil {
			t.Fatalf("%d repetitions: %v", n, err)
		}
		got, err := Decode(message, planOf(r))
		if err != nil {
			t.Fatalf("%d repetitions: %v", n, err)
		}
		var points []int
		for i, w := range got.Workloads {
			points = append(points, len(w.Series.IOPS))
			if len(w.Series.IOPS) < 6 || len(w.Repetitions) != n || len(w.Streams) != len(r.Workloads[i].Streams) ||
				w.Flush == nil || w.Steady == nil || w.Step == nil || w.Drained.Step == nil || w.Device == nil {
				t.Errorf("%d repetitions: more than the series gave way, or too much of it: %+v", n, w)
			}
		}
		t.Logf("%d repetitions: %d of %d bytes, points: %v", n, len(message), MaxMessageBytes, points)
		if len(message) > MaxMessageBytes {
			t.Errorf("%d repetitions: %d bytes", n, len(message))
		}
		for _, s := range []string{got.EngineVersion, got.Kernel, got.Fallbacks[0].Reason, got.Fallbacks[1].Reason,
			got.Target.Filesystem, got.Target.Device, got.Target.Queue.Scheduler} {
			if !utf8.ValidString(s) || !strings.HasPrefix(s, "éééé") {
				t.Errorf("a text was cut to %q", s)
			}
		}
	}
}

// What a plan with all kinds of figures gives in practice keeps its whole series.
func TestUsualReportKeepsItsSeries(t *testing.T) {
	r := sample()
	for i := range 4 {
		w := r.Workloads[1]
		w.Name += strconv.Itoa(i)
		w.Series = Series{IntervalNanos: 2e9, IOPS: make([]float64, MaxSeriesPoints)}
		r.Workloads = append(r.Workloads, w)
	}
	got, err := Decode(must(Encode(r)), planOf(r))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got, within); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeRefusesMoreThanFits(t *testing.T) {
	tests := []struct {
		why    string
		change func(*Report)
	}{
		{"a ninth workload", func(r *Report) { r.Workloads = append(r.Workloads, r.Workloads[0]) }},
		{"an eleventh repetition", func(r *Report) { r.Workloads[7] = Workload{Repetitions: make([]Repetition, 11)} }},
		{"a 61st point", func(r *Report) {
			r.Workloads[7] = Workload{WindowNanos: 61e9, Repetitions: []Repetition{{WindowNanos: 61e9}},
				Series: Series{1e9, make([]float64, 61)}}
		}},
		{"a ninth stream", func(r *Report) { r.Workloads[0].Streams = make([]Stream, 5) }},
		{"one of several streams alone, whose name no plan has", func(r *Report) { r.Workloads[7].Streams = make([]Stream, 1) }},
		{"a total that cannot be known", func(r *Report) { r.Workloads[7].Total = nil }},
		{"a point that belongs to no repetition", func(r *Report) {
			r.Workloads[7].Series.IOPS = r.Workloads[7].Series.IOPS[:59]
		}},
		{"points of no time", func(r *Report) { r.Workloads[7].Series.IntervalNanos = 1 }},
		{"an interval too long to be counted in 255ths", func(r *Report) { r.Workloads[7].Series.IntervalNanos = math.MaxInt64 }},
		{"intervals that cannot become longer, where there is no room for all points", func(r *Report) {
			for i := range r.Workloads {
				w := &r.Workloads[i]
				w.Series.IntervalNanos = maxIntervalNanos
				w.Repetitions = []Repetition{{WindowNanos: MaxSeriesPoints * maxIntervalNanos}}
			}
		}},
		{"different windows that no interval can express", func(r *Report) {
			r.Workloads[7] = Workload{WindowNanos: 3, Repetitions: []Repetition{{WindowNanos: 1}, {WindowNanos: 2}}}
		}},
		{"a third fallback", func(r *Report) { r.Fallbacks = make([]Fallback, 3) }},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r := largest(10)
			tt.change(r)
			if _, err := Encode(r); err == nil {
				t.Error("no error")
			}
		})
	}
}

// The termination message ends up in JSON, in a terminal and in kubectl describe.
func TestMessageIsPlainText(t *testing.T) {
	message, err := Encode(largest(10))
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
	plan := planOf(sample())
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)/2] ^= 1
	tests := []struct {
		why     string
		message string
		plan    []workload.Workload
		want    error
	}{
		{"the container was killed", "", plan, ErrEmpty},
		{"white space is nothing", " \n", plan, ErrEmpty},
		{"a panic's last line", "panic: runtime error", plan, ErrCorrupt},
		{"a flipped bit", string(flipped), plan, ErrCorrupt},
		{"a report that became a failure", strings.Replace(string(good), " R ", " F ", 1), plan, ErrCorrupt},
		{"an operator older than the engine", "diskbench/4 R whatever this holds", plan, ErrNewer},
		{"a newer one in another shape", "diskbench/99", plan, ErrNewer},
		{"an operator newer than the engine", "diskbench/1 R whatever this holds", plan, ErrOlder},
		{"the same workloads with other streams", string(good), []workload.Workload{{Name: plan[0].Name, Streams: []workload.Stream{{Name: "data"}, {Name: "wal"}}}, plan[1]}, ErrOtherPlan},
		{"an unknown kind", string(frame("X", "abc")), plan, ErrCorrupt},
		{"a failure without a reason", string(frame(kindFailure, "oops")), plan, ErrCorrupt},
		{"more than a container can leave", string(frame(kindFailure, "IOError: "+strings.Repeat("x", MaxMessageBytes))), plan, ErrCorrupt},
		{"no Ascii85", string(frame(kindReport, "abc~")), plan, ErrCorrupt},
		{"a payload that ends early", string(frame(kindReport, "5sdq,")), plan, ErrCorrupt},
		{"the result of another plan", string(good), []workload.Workload{plan[0], {Name: "other", Streams: plan[1].Streams}}, ErrOtherPlan},
		{"the result of a shorter plan", string(good), plan[:1], ErrOtherPlan},
		{"the same names in another order", string(good), []workload.Workload{plan[1], plan[0]}, ErrOtherPlan},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r, err := Decode([]byte(tt.message), tt.plan)
			if r != nil || !errors.Is(err, tt.want) {
				t.Errorf("%v, %v; want %v", r, err, tt.want)
			}
		})
	}
}

// oneWorkload is the payload of a report of a workload with two streams, which write ends.
func oneWorkload(targetFlags byte, flags uint16, write func(*encoder)) []byte {
	var e encoder
	e.out = binary.LittleEndian.AppendUint32(nil, namesChecksum([]string{"w", "w/a", "w/b"}))
	e.string("v1", maxVersionBytes)
	e.byte(1)
	e.byte(targetFlags)
	e.string("6.12", maxKernelBytes)
	e.count(0)
	e.target(Target{})
	e.count(1)
	e.int(1 << 30)
	e.int(61e9)
	e.uint16(flags)
	write(&e)
	return e.out
}

// A checksum is no seal: what comes of a right one is still checked.
func TestDecodeRefusesContradictions(t *testing.T) {
	plan := []workload.Workload{{Name: "w", Streams: []workload.Stream{{Name: "a"}, {Name: "b"}}}}
	const second = 1e9
	rest := func(e *encoder, streamFlags byte) {
		e.byte(streamFlags)
		e.byte(0)
		e.absentOr(nil)
		e.cpu(CPU{})
	}
	tests := []struct {
		why         string
		targetFlags byte
		flags       uint16
		write       func(*encoder)
		wantErr     string
	}{
		{"nothing wrong, so that the others fail for their reason", 1, hasEqualWindows, func(e *encoder) {
			e.count(0)
			e.int(0)
			rest(e, 0)
		}, ""},
		{"a flag of the target that nobody knows", 16, hasEqualWindows, func(e *encoder) {
			e.count(0)
			e.int(0)
			rest(e, 0)
		}, "unknown flags 0x10"},
		{"a flag of the workload that nobody knows", 1, unknownFlags, func(e *encoder) {
			e.count(0)
			e.int(0)
			rest(e, 0)
		}, "unknown flags 0x400"},
		{"a stream that has steps", 1, hasEqualWindows, func(e *encoder) {
			e.count(0)
			e.int(0)
			rest(e, 8)
		}, "unknown flags 0x8"},
		{"a total beyond all numbers", 1, hasReads | hasWrites | hasEqualWindows, func(e *encoder) {
			most := &Figures{Operations: math.MaxInt64}
			e.directions(most, most, nil)
			e.spread(Latency{})
			e.count(0)
			e.int(0)
			rest(e, 0)
		}, "a total is too large"},
		{"parts that do not make the whole", 1, hasEqualWindows, func(e *encoder) {
			e.count(7)
			e.int(60 * second)
			for range 7 {
				e.uint16(codeZero)
				e.uint16(codeAbsent)
			}
			rest(e, 0)
		}, "7 equal repetitions in 61000000000 ns"},
		{"more points than a status takes", 1, hasEqualWindows, func(e *encoder) {
			e.count(1)
			e.int(second)
			for range 1 + 1 + 61 {
				e.uint16(codeZero)
			}
			rest(e, 0)
		}, "a series of more than 60 points"},
		{"a nanosecond's points", 1, hasEqualWindows, func(e *encoder) {
			e.count(0)
			e.int(1)
			rest(e, 0)
		}, "an interval of 1 ns"},
		{"a point of no time", 1, 0, func(e *encoder) {
			e.count(1)
			e.int(second)
			e.byte(1)
			e.byte(0)
			e.uint16(codeZero)
			e.uint16(codeAbsent)
			rest(e, 0)
		}, "a repetition of 1 points, the last one of 0"},
		{"repetitions of no interval", 1, 0, func(e *encoder) {
			e.count(1)
			e.int(0)
			e.byte(0)
			e.byte(0)
			e.uint16(codeZero)
			e.uint16(codeAbsent)
			rest(e, 0)
		}, "an interval of 0 ns"},
		{"something behind the end", 1, hasEqualWindows, func(e *encoder) {
			e.count(0)
			e.int(0)
			rest(e, 0)
			e.byte(0)
		}, "1 bytes too many"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := Decode(frame(kindReport, encodeText(oneWorkload(tt.targetFlags, tt.flags, tt.write))), plan)
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("%v, want %q", err, tt.wantErr)
			}
		})
	}
}

// A number of operations can end a repetition within a nanosecond of its last point.
func TestTheShortestPointsTravel(t *testing.T) {
	r := &Report{Workloads: []Workload{{
		WindowNanos: 3e9 + 2, Repetitions: windows(1, 1e9+1, 2e9), Series: Series{1e9, []float64{0, 1, 2, 3, 4}},
	}}}
	got, err := Decode(must(Encode(r)), planOf(r))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Workloads[0].Series, got.Workloads[0].Series, within); diff != "" {
		t.Error(diff)
	}
}

// Kubernetes cuts messages, and a cut one must never pass for a result.
func TestEveryCutIsNoticed(t *testing.T) {
	for name, message := range map[string][]byte{
		"report":  must(Encode(sample())),
		"failure": EncodeFailure(Failf(ReasonNoSpace, "a file of 4096 bytes does not fit")),
	} {
		for n := range message {
			r, err := Decode(message[:n], planOf(sample()))
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
	for code := range maxCode + 1 {
		if v := nanosOf(uint16(code)); nanosOf(codeOf(float64(v))) != v {
			t.Errorf("code %d means %d, which then becomes %d", code, v, nanosOf(codeOf(float64(v))))
		}
	}
	if got := codeOf(math.NaN()); got != codeZero {
		t.Errorf("what is no number has the code %d", got)
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
