// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diskbench/diskbench/engine/workload"
)

// FuzzDecode: whatever a termination message holds, Decode gives a report or an error, in little memory,
// and what it gives is what Encode would have sent.
func FuzzDecode(f *testing.F) {
	plan := planOf(sample())
	f.Add(must(Encode(sample())), false)
	f.Add(EncodeFailure(Failf(ReasonIOError, "x")), false)
	f.Add([]byte("diskbench/3 R"), false)
	f.Add(marshal(sample()), true)
	f.Fuzz(func(t *testing.T, in []byte, isPayload bool) {
		if isPayload { // beyond the checksum, which stops nearly everything
			in = frame(kindReport, encodeText(in))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Decode(in, plan)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 256<<10+8*uint64(len(in)) {
			t.Errorf("%d bytes took %d bytes of memory", len(in), used)
		}
		if (r == nil) == (err == nil) {
			t.Fatalf("%v, %v: want one of them", r, err)
		}
		if r == nil {
			refused(t, err)
			return
		}
		sameAgain(t, r, plan)
	})
}

func refused(t *testing.T, err error) {
	t.Helper()
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		return
	}
	for _, known := range []error{ErrEmpty, ErrCorrupt, ErrOlder, ErrNewer, ErrOtherPlan} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("an error of no kind: %v", err)
}

// sameAgain encodes what was decoded. The figures are exactly those: rounding once is enough.
func sameAgain(t *testing.T, r *Report, plan []workload.Workload) {
	t.Helper()
	message, err := Encode(r)
	if err != nil {
		t.Fatalf("what was decoded cannot be encoded: %v", err)
	}
	again, err := Decode(message, plan)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Error(diff)
	}
}

// FuzzRoundTrip: any report that a run can give fits, and comes back as it was but for the promised
// rounding and a coarser series.
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		want := generator{rand.New(rand.NewPCG(seed, 0))}.report()
		message, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if len(message) > MaxMessageBytes {
			t.Fatalf("%d bytes", len(message))
		}
		got, err := Decode(message, planOf(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, rounded); diff != "" {
			t.Error(diff)
		}
		for i := range want.Workloads {
			sameSeries(t, &want.Workloads[i], &got.Workloads[i])
		}
		sameAgain(t, got, planOf(want))
	})
}

// near allows for the error of a code and that of rounding to nanoseconds.
func near[N int64 | float64](a, b N) bool {
	return math.Abs(float64(a)-float64(b)) <= 1+0.0004*math.Max(float64(a), float64(b))
}

// rounded is what may differ; sameSeries sees to the series and its windows.
var rounded = cmp.Options{
	cmpopts.EquateApprox(0.0004, 0.001),
	cmpopts.IgnoreFields(Workload{}, "Series"),
	cmpopts.IgnoreFields(Repetition{}, "WindowNanos"),
	cmp.Comparer(func(a, b Latency) bool {
		same := near(a.MeanNanos, b.MeanNanos) && near(a.StddevNanos, b.StddevNanos) &&
			near(a.MinNanos, b.MinNanos) && near(a.MaxNanos, b.MaxNanos)
		for i, p := range a.percentiles() {
			same = same && nearOrNil(*p, *b.percentiles()[i])
		}
		return same
	}),
	cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".P99Nanos" || p.Last().String() == ".ProbeMeanNanos"
	}, cmp.Comparer(nearOrNil)),
	cmp.Comparer(func(a, b DeviceCounters) bool {
		same := true
		for i, n := range a.counters() {
			same = same && near(*n, *b.counters()[i])
		}
		return same
	}),
	cmp.Comparer(func(a, b CPU) bool {
		return near(a.UserNanos, b.UserNanos) && near(a.SystemNanos, b.SystemNanos) &&
			a.BusiestWorkerPercent == b.BusiestWorkerPercent && a.RunDelayPercent == b.RunDelayPercent &&
			a.ThrottledPercent == b.ThrottledPercent && a.StealPercent == b.StealPercent
	}),
}

func nearOrNil(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || near(*a, *b)) }

// sameSeries checks that both count the same operations in each repetition, and that nothing but the
// length differs.
func sameSeries(t *testing.T, want, got *Workload) {
	t.Helper()
	times := got.Series.IntervalNanos / want.Series.IntervalNanos
	if times*want.Series.IntervalNanos != got.Series.IntervalNanos || times&(times-1) != 0 {
		t.Errorf("an interval of %d ns became %d ns", want.Series.IntervalNanos, got.Series.IntervalNanos)
	}
	if least := min(6, len(want.Series.IOPS)); len(got.Series.IOPS) < least {
		t.Errorf("%d points became %d", len(want.Series.IOPS), len(got.Series.IOPS))
	}
	from, gotFrom := want.Series.IOPS, got.Series.IOPS
	for i, r := range want.Repetitions {
		window := got.Repetitions[i].WindowNanos
		if off := math.Abs(float64(window - r.WindowNanos)); off > float64(got.Series.IntervalNanos)/wholeInterval {
			t.Errorf("a window of %d ns became %d ns", r.WindowNanos, window)
		}
		n, gotN := pointsOf(r.WindowNanos, want.Series.IntervalNanos), pointsOf(r.WindowNanos, got.Series.IntervalNanos)
		a := operations(from[:n], r.WindowNanos, want.Series.IntervalNanos)
		b := operations(gotFrom[:gotN], r.WindowNanos, got.Series.IntervalNanos)
		if math.Abs(a-b) > 0.0004*a+0.001*float64(r.WindowNanos)/1e9 {
			t.Errorf("%g operations became %g", a, b)
		}
		from, gotFrom = from[n:], gotFrom[gotN:]
	}
	if len(from)+len(gotFrom) > 0 {
		t.Errorf("points beyond the repetitions: %v, %v", from, gotFrom)
	}
}

// operations is what a repetition's points count.
func operations(iops []float64, window, interval int64) float64 {
	sum := 0.0
	for i, v := range iops {
		sum += v * float64(min(interval, window-int64(i)*interval)) / 1e9
	}
	return sum
}

// generator makes reports as a run may give them: consistent, with small and huge figures, many or few
// of everything.
type generator struct{ *rand.Rand }

func (g generator) report() *Report {
	r := &Report{
		EngineVersion: g.text(maxVersionBytes), IOEngine: wireEngines[1+g.IntN(3)], DirectIO: g.coin(), Kernel: g.text(maxKernelBytes),
		Target: Target{
			Filesystem: g.text(maxFilesystemBytes), Device: g.text(maxDeviceBytes), SizeBytes: g.number(), LogicalBlockBytes: g.number(),
		},
	}
	for range g.IntN(maxFallbacks + 1) {
		r.Fallbacks = append(r.Fallbacks, Fallback{wireEngines[g.IntN(4)], g.text(maxReasonBytes)})
	}
	if g.coin() {
		r.Target.Queue = &Queue{g.text(maxSchedulerBytes), g.number(), g.number(), g.number(), g.coin(), g.coin()}
	}
	streams := workload.MaxStreams
	for i := range 1 + g.IntN(workload.MaxWorkloads) {
		w := g.workload(fmt.Sprint("workload-", i))
		if n := g.IntN(streams + 1); n > 1 {
			streams -= n
			for j := range n {
				w.Streams = append(w.Streams, Stream{fmt.Sprint("stream-", j), g.figures(w.WindowNanos), g.figures(w.WindowNanos), g.flushes(w.WindowNanos)})
			}
		}
		r.Workloads = append(r.Workloads, w)
	}
	return r
}

func (g generator) workload(name string) Workload {
	w := Workload{Name: name, FileSizeBytes: g.number(), CPU: g.cpu()}
	g.repetitions(&w)
	w.Read, w.Write, w.Flush = g.figures(w.WindowNanos), g.figures(w.WindowNanos), g.flushes(w.WindowNanos)
	w.Total = total(&w)
	if g.coin() {
		w.Steady = &Steady{g.coin(), g.rate()}
	}
	if g.coin() {
		probe := g.number()
		w.ProbeMeanNanos = &probe
	}
	w.Step = g.step()
	if g.coin() {
		w.Drained = &Drained{g.rate(), g.step(), g.rate(), 1000 * g.rate()}
	}
	if g.coin() {
		w.Device = &DeviceCounters{g.number(), g.number(), g.number(), g.number(), g.number(), g.number()}
	}
	return w
}

// repetitions of the same length, or of different ones up to that as where a number of operations ends
// them. The series has as many points as it may have, or fewer.
func (g generator) repetitions(w *Workload) {
	longest := int64(1e8) + g.Int64N(86_400e9)
	n := 1 + g.IntN(workload.MaxRepetitions)
	differ := g.coin()
	for range n {
		window := longest
		if differ {
			window = 1 + g.Int64N(longest)
		}
		w.WindowNanos += window
		w.Repetitions = append(w.Repetitions, Repetition{WindowNanos: window, P99Nanos: g.quantile()})
	}
	w.Series.IntervalNanos = max(longest/(1+g.Int64N(MaxSeriesPoints)), minIntervalNanos)
	for w.pointsTotal() > MaxSeriesPoints {
		w.Series.IntervalNanos += w.Series.IntervalNanos/8 + 1
	}
	for i := range w.Repetitions {
		r := &w.Repetitions[i]
		points := make([]float64, pointsOf(r.WindowNanos, w.Series.IntervalNanos))
		for j := range points {
			points[j] = g.rate()
		}
		r.IOPS = operations(points, r.WindowNanos, w.Series.IntervalNanos) * 1e9 / float64(r.WindowNanos)
		w.Series.IOPS = append(w.Series.IOPS, points...)
	}
}

// total follows from the directions but for its spread, here that of the reads.
func total(w *Workload) *Figures {
	switch {
	case w.Read == nil && w.Write == nil:
		return nil
	case w.Read == nil:
		return w.Write
	case w.Write == nil:
		return w.Read
	}
	a, b := w.Read, w.Write
	l := a.Latency
	l.MeanNanos = weightedMean(a, b)
	l.MinNanos, l.MaxNanos = min(l.MinNanos, b.Latency.MinNanos), max(l.MaxNanos, b.Latency.MaxNanos)
	return NewFigures(a.Operations+b.Operations, a.Bytes+b.Bytes, w.WindowNanos, l)
}

func (g generator) figures(window int64) *Figures {
	if g.coin() {
		return nil
	}
	// Halves, so that two of them still have a sum.
	return NewFigures(1+g.number()/4, g.number()/2, window, g.latency())
}

func (g generator) flushes(window int64) *Figures {
	f := g.figures(window)
	if f == nil {
		return nil
	}
	return NewFigures(f.Operations, 0, window, f.Latency)
}

func (g generator) latency() Latency {
	l := Latency{MeanNanos: g.number(), StddevNanos: g.number(), MinNanos: g.number(), MaxNanos: g.number()}
	for _, p := range l.percentiles() {
		*p = g.quantile()
	}
	return l
}

func (g generator) quantile() *int64 {
	if g.IntN(4) == 0 {
		return nil
	}
	return nanos(g.number())
}

func (g generator) step() *Step {
	if g.coin() {
		return nil
	}
	return &Step{g.rate(), g.rate(), g.rate()}
}

func (g generator) cpu() CPU {
	return CPU{g.number(), g.number(), g.Int32N(101), g.Int32N(101), g.Int32N(101), g.Int32N(101)}
}

// number is of any magnitude.
func (g generator) number() int64 { return g.Int64() >> g.IntN(64) }

// rate is zero, or between a thousandth and ten billion.
func (g generator) rate() float64 {
	if g.IntN(8) == 0 {
		return 0
	}
	return math.Pow(10, 13*g.Float64()-3)
}

func (g generator) coin() bool { return g.IntN(2) == 0 }

// text is of at most that many bytes, as it comes back: of any characters, without white space at the
// ends.
func (g generator) text(limit int) string {
	s := make([]rune, g.IntN(limit+1))
	for i := range s {
		s[i] = g.Int32N(0x3000)
	}
	return cut(string(s), limit)
}
