// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/catalogtest"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

var allVerdicts = []verdict.Verdict{
	verdict.DiskIOPS, verdict.DiskThroughput, verdict.DiskBurstIOPS, verdict.DiskBurstThroughput, verdict.DiskBurst,
	verdict.VMIOPS, verdict.VMThroughput, verdict.VMBurstIOPS, verdict.VMBurstThroughput, verdict.VMBurst,
	verdict.OfferedRate, verdict.HostCache, verdict.LoadGenerator, verdict.Latency, verdict.QueueDepth, verdict.Unknown,
}

// maker makes inputs, most of them near what can be measured, and some far from it.
type maker struct {
	*rand.Rand

	catalog catalog.Catalog
}

func pick[T any](m maker, all ...T) T { return all[m.IntN(len(all))] }

// maybe gives a pointer, or nil.
func maybe[T any](m maker, v T) *T {
	if m.IntN(2) == 0 {
		return nil
	}
	return &v
}

func (m maker) disk() disk.Disk {
	d, _ := disk.Describe(m.catalog, disk.Facts{
		Driver: pick(m, disk.Driver, disk.Driver, disk.Driver, "other.csi.example.com"),
		ClassParameters: map[string]string{
			"skuName":           pick(m, "Premium_LRS", "StandardSSD_LRS", "Standard_LRS", "PremiumV2_LRS", "UltraSSD_LRS", "None"),
			"cachingMode":       pick(m, "None", "ReadOnly", "ReadWrite"),
			"enableBursting":    pick(m, "true", "false"),
			"DiskIOPSReadWrite": pick(m, "", "0", "3000", "80000"),
			"DiskMBpsReadWrite": pick(m, "", "0", "125", "1200"),
		},
		CapacityBytes: int64(pick(m, 128, 512, 2048, m.IntN(5000))) << 30,
		NodeLabels:    map[string]string{"node.kubernetes.io/instance-type": pick(m, "", "Standard_D2s_v5", "Standard_E8bs_v5", "Standard_E2bs_v5", "Standard_GS2", "Basic_A0")},
		ExistingClaim: m.IntN(8) == 0,
	})
	return d
}

// number is 0, a small or a large one.
func (m maker) number() int64 {
	return pick(m, 0, m.Int64N(10), m.Int64N(1000), m.Int64N(10_000), m.Int64N(100_000), pick(m, -1, m.Int64()))
}

// level is often one at which something happens.
func (m maker) level() int64 {
	return pick[int64](m, 120, 500, 600, 2300, 3500, 3750, 5000, 7500, 10000)*(90+m.Int64N(20))/100 + m.number()*m.Int64N(2)
}

func (m maker) rate(iops, block int64) catalog.Rate {
	return catalog.Rate{IOPS: iops, BytesPerSecond: pick(m, iops*block, iops*block, m.number())}
}

func (m maker) step() *verdict.Step {
	return maybe(m, verdict.Step{AtSeconds: m.Int64N(200), BeforeIOPS: m.level(), AfterIOPS: m.level()})
}

func (m maker) input() verdict.Input {
	block := pick(m, 0, 1, 512, 4096, 8192, 65536, 1<<20, m.number())
	iops := pick(m, m.level(), m.number())
	in := verdict.Input{
		Disk: m.disk(), Volumes: m.IntN(12),
		Load: verdict.Load{
			BlockSizeBytes: block, ReadPercent: m.IntN(101), Outstanding: pick(m, 0, 1, m.IntN(1000)), RateIOPS: pick(m, 0, 0, m.number()),
			Buffered: m.IntN(8) == 0, Sequential: m.IntN(2) == 0, SyncWrites: m.IntN(2) == 0, Streams: m.IntN(4),
		},
		Total: m.rate(iops, block), Write: m.rate(iops/2, block), Read: m.rate(iops/2, block),
		MeanNanos: m.number() * 1000, ProbeMeanNanos: maybe(m, m.number()*1000), ProbeSeconds: m.Int64N(10),
		VariationPermille: maybe(m, m.Int64N(300)), Step: m.step(), Errors: m.Int64N(20) / 19, Interrupted: m.IntN(20) == 0,
		WarmupSeconds: m.number(), WindowSeconds: m.number(), Repetitions: m.IntN(7),
		Device: verdict.Device{
			OperationsPermille: maybe(m, pick(m, 1000, 2000, m.number())), BytesPermille: maybe(m, pick(m, 1000, m.number())),
			MaxIOBytes: pick[int64](m, 0, 524288), OtherIOPS: pick(m, 0, m.number()), OtherBytesPerSecond: pick(m, 0, m.number()),
		},
		CPU: verdict.CPU{BusiestWorkerPercent: m.Int32N(101), RunDelayPercent: m.Int32N(10), ThrottledPercent: m.Int32N(3), StealPercent: m.Int32N(4)},
	}
	if m.IntN(3) == 0 {
		in.Drained = &verdict.Drained{Seconds: m.number(), Step: m.step(), Last: m.rate(m.level(), block)}
	}
	if m.IntN(2) == 0 {
		m.plausible(&in)
	}
	for range m.IntN(3) {
		in.Ladder = append(in.Ladder, verdict.Rung{Outstanding: m.IntN(1000), IOPS: m.level()})
		in.RepetitionIOPS = append(in.RepetitionIOPS, m.level())
	}
	return in
}

// plausible makes a run of an input without a flaw, near limits of its disk and VM.
func (m maker) plausible(in *verdict.Input) {
	in.Errors, in.Interrupted, in.Load.Buffered, in.Load.RateIOPS, in.Device, in.VariationPermille = 0, false, false, 0, verdict.Device{}, nil
	in.Load.BlockSizeBytes, in.Volumes, in.WindowSeconds, in.Step, in.Drained = pick[int64](m, 4096, 65536, 1<<20), 1+m.IntN(12), 60, nil, nil
	caps := predict.Caps(in.Disk, in.Volumes, predict.Load{BlockSizeBytes: in.Load.BlockSizeBytes}, in.Disk.VM)
	if len(caps) == 0 {
		return
	}
	near := func() int64 { return int64(pick(m, caps...).IOPS * (0.95 + m.Float64()/10)) }
	in.Total = m.rate(near(), in.Load.BlockSizeBytes)
	in.MeanNanos, in.ProbeMeanNanos = 10e6, maybe(m, pick[int64](m, 1e6, 9e6))
	if m.IntN(2) == 0 {
		in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: near(), AfterIOPS: near()}
	}
}

var garbage = regexp.MustCompile(`NaN|Inf|%!|<nil>|\s\s|\.\.`)

// Whatever is measured, each assessment has a verdict that can be read, and no figure that cannot be.
func TestProperties(t *testing.T) {
	c, seen := catalogtest.Load(t), map[verdict.Verdict]int{}
	for seed := range uint64(8000) {
		m := maker{Rand: rand.New(rand.NewPCG(seed, 1)), catalog: c}
		r := verdict.Run{Layout: verdict.Layout{Seconds: m.number(), Bytes: m.number()}, NewVolumes: m.IntN(4) == 0}
		for range 1 + m.IntN(3) {
			r.Workloads = append(r.Workloads, m.input())
		}
		all := verdict.AssessRun(r)
		if len(all) != len(r.Workloads) {
			t.Fatalf("seed %d: %d assessments of %d workloads", seed, len(all), len(r.Workloads))
		}
		for i := range all {
			seen[all[i].Verdict]++
			if problem := problem(&all[i]); problem != "" {
				t.Fatalf("seed %d, workload %d: %s: %+v\n%+v", seed, i, problem, all[i], r.Workloads[i])
			}
		}
		if diff := cmp.Diff(all, verdict.AssessRun(r)); diff != "" {
			t.Fatalf("seed %d: another answer to the same: %s", seed, diff)
		}
	}
	for _, v := range allVerdicts {
		if seen[v] == 0 {
			t.Errorf("no input was %s, so that nothing is shown of it", v)
		}
	}
}

func problem(a *verdict.Assessment) string {
	switch {
	case !slices.Contains(allVerdicts, a.Verdict):
		return "no such verdict"
	case (a.Verdict == verdict.Unknown) != (a.Reason != ""):
		return "a reason goes with Unknown, and with nothing else"
	case !slices.Contains(verdict.RowNumbers(), a.Row):
		return "no such row"
	case !strings.HasSuffix(a.Sentence, ".") || len(a.Sentence) < 20 || garbage.MatchString(a.Sentence):
		return "no sentence"
	case slices.Contains(a.AlsoAtLimit, a.Verdict):
		return "the limit is also itself"
	case (a.StepAtSeconds != nil) != (a.Verdict == verdict.DiskBurst || a.Verdict == verdict.VMBurst):
		return "the second of the step goes with the end of a burst"
	case a.Expected != nil && (a.Expected.IOPS < 0 || a.Expected.BytesPerSecond < 0 || a.Expected.BurstSeconds < 0 || a.Expected.LimitedBy == ""):
		return "impossible expectation"
	case a.Sustained != nil && a.Sustained.Basis == verdict.BasisCatalog && (a.Sustained.IOPS < 0 || a.Sustained.BytesPerSecond < 0):
		return "impossible sustained figure"
	}
	for _, c := range slices.Concat(a.CreditsAtStart, a.CreditsLeft) {
		if c.Left < 0 || c.Left > c.Full || c.Full <= 0 || c.Seconds < 0 || c.Seconds > 1800 {
			return "impossible credits"
		}
	}
	for _, w := range a.Warnings {
		if w.Reason == "" || len(w.Message) < 20 || garbage.MatchString(w.Message) {
			return "no warning: " + w.Message
		}
	}
	return ""
}

// The table of the document has the rules of the code, in their order, and every verdict and reason.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+[a-z]?) \|`).FindAllStringSubmatch(string(text), -1) {
		numbers = append(numbers, m[1])
	}
	if diff := cmp.Diff(verdict.RowNumbers(), numbers); diff != "" {
		t.Errorf("rows (-code +document): %s", diff)
	}
	for _, v := range allVerdicts {
		if !strings.Contains(string(text), "`"+string(v)+"`") {
			t.Errorf("it does not have %s", v)
		}
	}
}
