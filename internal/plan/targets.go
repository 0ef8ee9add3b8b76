// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// Verdict is how figures compare with targets.
type Verdict string

// The verdicts.
const (
	// Met: every target that was asked for is reached by every workload in question.
	Met Verdict = "Met"
	// Missed: at least one is not.
	Missed Verdict = "Missed"
	// NotJudged: none is missed, and at least one could not be judged.
	NotJudged Verdict = "NotJudged"
)

// Judgment is a verdict with its reasons in words.
type Judgment struct {
	Verdict Verdict
	Message string
}

// Judge compares the figures with spec.targets; nil without targets or figures. Throughput and IOPS
// are reads and writes together, and so are the latencies.
func Judge(spec *v1alpha1.DiskBenchmarkSpec, ms []v1alpha1.Measurement) *Judgment {
	if spec.Targets == nil || len(ms) == 0 {
		return nil
	}
	var missed, open []string
	questioned := InQuestion(spec, ms)
	for i := range questioned {
		mi, op := judgeOne(spec.Targets, &questioned[i])
		missed, open = append(missed, mi...), append(open, op...)
	}
	if spec.Targets.MaxFlushP99Micros != nil && !slices.ContainsFunc(questioned, flushes) {
		open = append(open, "maxFlushP99Micros: no workload in question flushes, use sync Flush or a preset such as etcd")
	}
	switch {
	case len(missed) > 0:
		return &Judgment{Missed, strings.Join(append(missed, open...), "; ")}
	case len(open) > 0:
		return &Judgment{NotJudged, strings.Join(open, "; ")}
	default:
		return &Judgment{Met, "every target is met"}
	}
}

// InQuestion are the figures that the targets are about: those of one entry of workloads, or all.
func InQuestion(spec *v1alpha1.DiskBenchmarkSpec, ms []v1alpha1.Measurement) []v1alpha1.Measurement {
	if spec.Targets == nil || spec.Targets.Workload == nil {
		return ms
	}
	entry := spec.Targets.Workload
	i := slices.IndexFunc(spec.Workloads, func(w v1alpha1.Workload) bool { return EntryName(&w) == *entry })
	if i < 0 {
		return nil
	}
	ws, err := Resolve(&spec.Workloads[i])
	if err != nil {
		return nil
	}
	var out []v1alpha1.Measurement
	for _, w := range ws {
		for _, m := range ms {
			if m.Name == w.Name {
				out = append(out, m)
			}
		}
	}
	return out
}

func judgeOne(t *v1alpha1.Targets, m *v1alpha1.Measurement) (missed, open []string) {
	if t.MinIOPS != nil && m.Total.IOPS < *t.MinIOPS {
		missed = append(missed, fmt.Sprintf("%s: %s IOPS is below minIOPS %s",
			m.Name, grouped(m.Total.IOPS), grouped(*t.MinIOPS)))
	}
	if t.MinThroughputBytesPerSecond != nil && m.Total.ThroughputBytesPerSecond < *t.MinThroughputBytesPerSecond {
		missed = append(missed, fmt.Sprintf("%s: %s bytes/s is below minThroughputBytesPerSecond %s",
			m.Name, grouped(m.Total.ThroughputBytesPerSecond), grouped(*t.MinThroughputBytesPerSecond)))
	}
	if t.MaxMeanMicros != nil && m.Total.MeanNanos > nanos(*t.MaxMeanMicros) {
		missed = append(missed, fmt.Sprintf("%s: a mean latency of %s is above maxMeanMicros %s",
			m.Name, Latency(m.Total.MeanNanos), grouped(*t.MaxMeanMicros)))
	}
	mi, op := judgeP99(m.Name, "operations", "99th percentile", "maxP99Micros", t.MaxP99Micros, &m.Total)
	missed, open = append(missed, mi...), append(open, op...)
	if flushes(*m) {
		mi, op = judgeP99(m.Name, "flushes", "99th percentile of the flushes", "maxFlushP99Micros", t.MaxFlushP99Micros, m.Flush)
		missed, open = append(missed, mi...), append(open, op...)
	}
	return missed, open
}

func flushes(m v1alpha1.Measurement) bool { return m.Flush != nil }

// judgeP99 judges a percentile, which is open where the samples are too few for one.
func judgeP99(name, samples, what, field string, target *int64, f *v1alpha1.Figures) (missed, open []string) {
	switch {
	case target == nil:
	case f.P99Nanos == nil:
		open = []string{fmt.Sprintf("%s: %s %s are too few for a 99th percentile: measure longer", name, grouped(f.Operations), samples)}
	case *f.P99Nanos > nanos(*target):
		missed = []string{fmt.Sprintf("%s: a %s of %s is above %s %s", name, what, Latency(*f.P99Nanos), field, grouped(*target))}
	}
	return missed, open
}

func nanos(micros int64) int64 { return micros * int64(time.Microsecond) }
