// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/disk"
	"github.com/diskbench/diskbench/internal/plan"
)

// maxWarnings is the schema's limit.
const maxWarnings = 16

// assess says what limited the workloads of a run.
func (r *run) assess() *v1alpha1.Assessment {
	out := &v1alpha1.Assessment{Disk: assumed(r.disk)}
	if r.disk.Coverage != disk.OtherDriver {
		out.CatalogVersion = r.prices.Catalog.Version()
	}
	for _, a := range r.workloads {
		out.Workloads = append(out.Workloads, workloadAssessment(a))
	}
	for _, w := range r.odd {
		out.Warnings = append(out.Warnings, v1alpha1.StatusWarning{Reason: string(w.Reason), Message: w.Message})
	}
	out.Warnings = out.Warnings[:min(len(out.Warnings), maxWarnings)]
	return out
}

// LimitWords are the verdicts for people, workload by workload.
func LimitWords(a *v1alpha1.Assessment) string {
	var words []string
	for i := range a.Workloads {
		words = append(words, a.Workloads[i].Verdict)
	}
	return strings.Join(words, " / ")
}

// verdicts of all workloads, in the order of the measurements.
func verdicts(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus, d disk.Disk) []verdict.Assessment {
	r := verdict.Run{
		Layout:     verdict.Layout{Seconds: ptr.Deref(s.Run.PreparingSeconds, 0), Bytes: layoutBytes(spec, s)},
		NewVolumes: spec.RepetitionScope != nil && *spec.RepetitionScope == v1alpha1.RepetitionScopeNewVolume,
	}
	for i := range s.Measurements {
		r.Workloads = append(r.Workloads, input(spec, s.Run, &s.Measurements[i], d))
	}
	return verdict.AssessRun(r)
}

// sustainedIOPS are those of the workloads of which they are known, by name.
func (r *run) sustainedIOPS() map[string]int64 {
	rates := map[string]int64{}
	for _, a := range r.workloads {
		if a.Sustained != nil {
			rates[a.Name] = a.Sustained.IOPS
		}
	}
	return rates
}

// input is a measured workload in the verdict's terms.
func input(spec *v1alpha1.DiskBenchmarkSpec, run *v1alpha1.Run, m *v1alpha1.Measurement, d disk.Disk) verdict.Input {
	load, streams := loadOf(m), streamsOf(m)
	repetitions := max(1, len(m.Repetitions))
	in := verdict.Input{
		Name: m.Name, Disk: d, Volumes: plan.VolumesOfSet(spec),
		Load: verdict.Load{
			BlockSizeBytes: load.BlockSizeBytes, ReadPercent: load.ReadPercent, Outstanding: load.Outstanding,
			RateIOPS: rateOf(m), Buffered: buffered(m), Streams: len(streams),
			Sequential: slices.ContainsFunc(streams, func(p v1alpha1.StreamParameters) bool { return p.Pattern == sequential }),
			SyncWrites: slices.ContainsFunc(streams, func(p v1alpha1.StreamParameters) bool { return p.Sync != "" && p.Sync != v1alpha1.SyncNone }),
			Variant:    variant(m),
		},
		Total: figuresRate(&m.Total), Read: figuresRate(m.Read), Write: figuresRate(m.Write),
		MeanNanos: m.Total.MeanNanos, ProbeMeanNanos: m.ProbeMeanNanos,
		Step: step(m.Step), Repetitions: repetitions,
		WarmupSeconds: int64(m.Parameters.WarmupSeconds), WindowSeconds: m.WindowNanos / int64(repetitions) / int64(time.Second),
	}
	if m.ProbeMeanNanos != nil {
		in.ProbeSeconds = plan.ProbeSeconds
	}
	for i := range m.Repetitions {
		in.RepetitionIOPS = append(in.RepetitionIOPS, m.Repetitions[i].IOPS)
	}
	if m.Steady != nil {
		in.VariationPermille = &m.Steady.VariationPermille
	}
	if dr := m.Drained; dr != nil {
		in.Drained = &verdict.Drained{Seconds: dr.Seconds, Step: step(dr.Step), Last: catalog.Rate{IOPS: dr.IOPS, BytesPerSecond: dr.ThroughputBytesPerSecond}}
	}
	if c := m.CPU; c != nil {
		in.CPU = verdict.CPU{BusiestWorkerPercent: c.BusiestWorkerPercent, RunDelayPercent: c.RunDelayPercent, ThrottledPercent: c.ThrottledPercent, StealPercent: c.StealPercent}
	}
	in.Device = device(run, m)
	return in
}

// sequential is a pattern whose I/Os the kernel may merge.
const sequential v1alpha1.Pattern = "Sequential"

// device is what the kernel counted.
func device(run *v1alpha1.Run, m *v1alpha1.Measurement) verdict.Device {
	var out verdict.Device
	if run.Queue != nil {
		out.MaxIOBytes = run.Queue.MaxIOBytes
	}
	if d := m.Device; d != nil {
		out.OperationsPermille = d.OperationsPermille
		if m.Total.Bytes > 0 {
			out.BytesPermille = ptr.To(int64(math.Round(1000 * float64(d.ReadBytes+d.WriteBytes) / float64(m.Total.Bytes))))
		}
		if seconds := m.WindowNanos / int64(time.Second); seconds > 0 {
			out.OtherIOPS, out.OtherBytesPerSecond = d.OtherOperations/seconds, d.OtherBytes/seconds
		}
	}
	return out
}

func figuresRate(f *v1alpha1.Figures) catalog.Rate {
	if f == nil {
		return catalog.Rate{}
	}
	return catalog.Rate{IOPS: f.IOPS, BytesPerSecond: f.ThroughputBytesPerSecond}
}

func step(s *v1alpha1.Step) *verdict.Step {
	if s == nil {
		return nil
	}
	return &verdict.Step{AtSeconds: s.AtSeconds, BeforeIOPS: s.BeforeIOPS, AfterIOPS: s.AfterIOPS}
}

func workloadAssessment(a verdict.Assessment) v1alpha1.WorkloadAssessment {
	out := v1alpha1.WorkloadAssessment{
		Name: a.Name, Verdict: string(a.Verdict), Reason: string(a.Reason), Message: a.Sentence, Measured: *rate(&a.Measured),
	}
	for _, v := range a.AlsoAtLimit {
		out.AlsoAtLimit = append(out.AlsoAtLimit, string(v))
	}
	if e := a.Expected; e != nil {
		out.Expected = &v1alpha1.ExpectedRate{Rate: *rate(&e.Rate), LimitedBy: string(e.LimitedBy), BurstSeconds: e.BurstSeconds}
	}
	if s := a.Sustained; s != nil {
		out.Sustained = &v1alpha1.SustainedRate{Rate: *rate(&s.Rate), Basis: v1alpha1.SustainedBasis(s.Basis)}
	}
	for _, c := range a.CreditsLeft {
		out.CreditsLeft = append(out.CreditsLeft, v1alpha1.BurstCredits{
			Limit: string(c.Limit), Percent: int32(math.Round(100 * float64(c.Left) / float64(c.Full))), Seconds: c.Seconds,
		})
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, v1alpha1.StatusWarning{Reason: string(w.Reason), Message: w.Message})
	}
	out.Warnings = out.Warnings[:min(len(out.Warnings), maxWarnings)]
	return out
}

func assumed(d disk.Disk) v1alpha1.AssumedDisk {
	a := v1alpha1.AssumedDisk{
		Coverage: string(d.Coverage), SKU: string(d.SKU), Redundancy: string(d.Redundancy), Caching: string(d.Caching),
		SizeGiB: d.SizeGiB, Base: rate(d.Base), Bursting: string(d.Bursting), Burst: rate(d.Burst),
		VMSize: d.VMSize, Controller: string(d.Controller),
	}
	if d.Tier != nil {
		a.Tier = d.Tier.Name
	}
	if d.PerformancePlus {
		a.PerformancePlus = "Enabled"
	}
	return a
}

func rate(r *catalog.Rate) *v1alpha1.Rate {
	if r == nil {
		return nil
	}
	return &v1alpha1.Rate{IOPS: r.IOPS, ThroughputBytesPerSecond: r.BytesPerSecond}
}
