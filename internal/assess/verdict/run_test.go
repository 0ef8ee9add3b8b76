// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diskbench/diskbench/internal/assess/verdict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// left is what each bucket has after each workload of a run.
func left(t *testing.T, r verdict.Run) []map[verdict.Verdict]int64 {
	t.Helper()
	var all []map[verdict.Verdict]int64
	for _, a := range verdict.AssessRun(r) {
		buckets := map[verdict.Verdict]int64{}
		for _, c := range a.CreditsLeft {
			buckets[c.Limit] = c.Left
		}
		all = append(all, buckets)
	}
	return all
}

func TestLedger(t *testing.T) {
	p10 := on(t, 128, "")
	burst := but(reads(p10, 3500), func(in *verdict.Input) { in.WarmupSeconds = 3 })
	short := but(burst, func(in *verdict.Input) { in.WarmupSeconds, in.WindowSeconds = 0, 1 })
	const full, fullBytes = 3000 * 1800, 70_000_000 * 1800
	for _, tc := range []struct {
		why string
		run verdict.Run
		// iops and bytes that are left of a P10's credits after each workload.
		iops, bytes []int64
	}{
		{"63 seconds at 3,000 above the base; 14 MB/s are below theirs", verdict.Run{Workloads: []verdict.Input{burst}},
			[]int64{full - 63*3000}, []int64{fullBytes}},
		{"the second workload goes on where the first ended", verdict.Run{Workloads: []verdict.Input{burst, burst}},
			[]int64{full - 63*3000, full - 126*3000}, []int64{fullBytes, fullBytes}},
		{"three repetitions", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) { in.Repetitions = 3 })}},
			[]int64{full - 189*3000}, []int64{fullBytes}},
		{"on volumes of their own each spends its own", verdict.Run{NewVolumes: true, Workloads: []verdict.Input{but(burst, func(in *verdict.Input) { in.Repetitions = 3 })}},
			[]int64{full - 63*3000}, []int64{fullBytes}},
		{"a layout at 150 MiB/s in I/Os of 1 MiB, of which each counts as four",
			verdict.Run{Layout: verdict.Layout{Seconds: 20, Bytes: 3000 << 20}, Workloads: []verdict.Input{short}},
			[]int64{full - 20*(600-500) - 3000}, []int64{fullBytes - 20*(150<<20-100_000_000) + 100_000_000 - 3500*4*kib}},
		{"the layouts of three sets took three times as long", verdict.Run{
			NewVolumes: true, Layout: verdict.Layout{Seconds: 60, Bytes: 9000 << 20},
			Workloads: []verdict.Input{but(short, func(in *verdict.Input) { in.Repetitions = 3 })},
		}, []int64{full - 20*(600-500) - 3000}, []int64{fullBytes - 20*(150<<20-100_000_000) + 100_000_000 - 3500*4*kib}},
		{"5 seconds of a probe of 1 ms", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) { in.ProbeSeconds = 5 })}},
			[]int64{full - 5*(1000-500) - 63*3000}, []int64{fullBytes}},
		{"100 seconds at 400 below the base save some", verdict.Run{Workloads: []verdict.Input{burst, but(reads(p10, 100), func(in *verdict.Input) {
			in.Load.Outstanding, in.ProbeMeanNanos, in.WindowSeconds = 1, nil, 100
		})}}, []int64{full - 63*3000, full - 63*3000 + 100*400}, []int64{fullBytes, fullBytes}},
		{"no more than the bucket holds", verdict.Run{Workloads: []verdict.Input{but(reads(p10, 100), func(in *verdict.Input) {
			in.Load.Outstanding, in.ProbeMeanNanos, in.WindowSeconds = 1, nil, 100
		})}}, []int64{full}, []int64{fullBytes}},
		{"credits that were seen to run out are none, whatever the estimate", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 3500, AfterIOPS: 500}
		})}}, []int64{0}, []int64{fullBytes}},
		{"a drain spends all", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) {
			in.Drained = &verdict.Drained{Seconds: 1800, Last: catalog.Rate{IOPS: 3500, BytesPerSecond: 3500 * 4 * kib}}
		})}}, []int64{0}, []int64{fullBytes}},
		{"buffered writes reach the disk, reads need not", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) {
			mixed(in)
			in.Load.Buffered = true
		})}}, []int64{full - 63*1250}, []int64{fullBytes}},
		{"the host cache had what is above the burst", verdict.Run{Workloads: []verdict.Input{reads(describe(t, 128, "", premium, "cachingMode=ReadOnly"), 20000)}},
			[]int64{full - 60*3000}, []int64{fullBytes}},
		{"two volumes have twice the credits", verdict.Run{Workloads: []verdict.Input{but(burst, func(in *verdict.Input) { in.Volumes = 2 })}},
			[]int64{2*full - 63*2500}, []int64{2 * fullBytes}},
	} {
		var iops, bytes []int64
		for _, buckets := range left(t, tc.run) {
			iops, bytes = append(iops, buckets[verdict.DiskBurstIOPS]), append(bytes, buckets[verdict.DiskBurstThroughput])
		}
		if diff := cmp.Diff(tc.iops, iops); diff != "" {
			t.Errorf("%s: I/Os: %s", tc.why, diff)
		}
		if diff := cmp.Diff(tc.bytes, bytes); diff != "" {
			t.Errorf("%s: bytes: %s", tc.why, diff)
		}
	}
}

func TestCredits(t *testing.T) {
	vm := verdict.Assess(reads(on(t, 2048, "Standard_D2s_v5"), 7500))
	want := []verdict.Credits{
		{Limit: verdict.VMBurstIOPS, Left: 6250 * 1800, Full: 6250 * 1800, Seconds: 1800},
		{Limit: verdict.VMBurstThroughput, Left: 1115 * 1800e6, Full: 1115 * 1800e6, Seconds: 1800},
	}
	if diff := cmp.Diff(want, vm.CreditsAtStart); diff != "" {
		t.Errorf("a VM has buckets, and a P40 has none: %s", diff)
	}
	want[0].Left, want[0].Seconds = 6250*1800-60*3750, 1764
	if diff := cmp.Diff(want, vm.CreditsLeft); diff != "" {
		t.Errorf("a minute at 3,750 above its base: %s", diff)
	}
	existing := on(t, 128, "")
	existing.Existing = true
	if a := verdict.Assess(reads(existing, 3500)); len(a.CreditsLeft) > 0 {
		t.Errorf("the credits of an existing disk are not known: %v", a.CreditsLeft)
	}
}

// What is expected depends on the credits of the start, and a figure that contradicts them is warned of.
func TestExpected(t *testing.T) {
	p10 := on(t, 128, "Standard_DS14")
	drained := but(reads(p10, 3500), func(in *verdict.Input) {
		in.Drained = &verdict.Drained{Seconds: 1900, Step: &verdict.Step{AtSeconds: 1800, BeforeIOPS: 3500, AfterIOPS: 500}, Last: catalog.Rate{IOPS: 505}}
	})
	all := verdict.AssessRun(verdict.Run{Workloads: []verdict.Input{drained, reads(p10, 505), reads(p10, 3500)}})
	fresh := verdict.Expected{Rate: catalog.Rate{IOPS: 3500, BytesPerSecond: 3500 * 4 * kib}, LimitedBy: "DiskBurstIOPS", BurstSeconds: 1800, MeasuredPermille: 1000}
	spent := verdict.Expected{Rate: catalog.Rate{IOPS: 500, BytesPerSecond: 500 * 4 * kib}, LimitedBy: "DiskIOPS", MeasuredPermille: 1010}
	for i, want := range []verdict.Expected{fresh, spent} {
		if diff := cmp.Diff(&want, all[i].Expected); diff != "" {
			t.Errorf("workload %d: %s", i, diff)
		}
	}
	cached := reads(describe(t, 1024, "Standard_GS2", premium, "cachingMode=ReadOnly"), 3052)
	blocks(64 * kib)(&cached)
	cached.Volumes = 2
	if got := verdict.Assess(cached).Expected; got.LimitedBy != "HostCache" || got.IOPS != 3052 {
		t.Errorf("GS2 allows 200 MB/s to cached disks: %+v", got)
	}
	for _, tc := range []struct {
		why  string
		a    verdict.Assessment
		want bool
	}{
		{"a burst with credits", verdict.Assess(reads(p10, 3500)), false},
		{"a base without", all[1], false},
		{"a burst without", all[2], true},
		{"a base with", verdict.Assess(reads(p10, 505)), true},
	} {
		got := false
		for _, w := range tc.a.Warnings {
			got = got || w.Reason == verdict.CreditsDisagree
		}
		if got != tc.want {
			t.Errorf("%s: warned is %t: %v", tc.why, got, tc.a.Warnings)
		}
	}
}

func TestSustained(t *testing.T) {
	p10 := on(t, 128, "Standard_DS14")
	rate := func(iops int64) catalog.Rate { return catalog.Rate{IOPS: iops, BytesPerSecond: iops * 4 * kib} }
	other := p10
	other.Base = nil
	existing := p10
	existing.Existing = true
	for _, tc := range []struct {
		why  string
		in   verdict.Input
		want *verdict.Sustained
	}{
		{"a burst does not last, and the catalog says what does", reads(p10, 3500), &verdict.Sustained{Rate: rate(500), Basis: verdict.BasisCatalog}},
		{"a base does", reads(p10, 520), &verdict.Sustained{Rate: rate(520), Basis: verdict.BasisMeasured}},
		{"the level after a step in the window was measured", but(reads(p10, 2000), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 3500, AfterIOPS: 510}
		}), &verdict.Sustained{Rate: rate(510), Basis: verdict.BasisMeasured}},
		{"and that of a drain", but(reads(p10, 3500), func(in *verdict.Input) {
			in.Drained = &verdict.Drained{Seconds: 1900, Step: &verdict.Step{AtSeconds: 1800, BeforeIOPS: 3500, AfterIOPS: 510}, Last: rate(507)}
		}), &verdict.Sustained{Rate: rate(507), Basis: verdict.BasisDrained}},
		{"a drain without a step says nothing that the catalog does not", but(reads(p10, 3500), func(in *verdict.Input) {
			in.Drained = &verdict.Drained{Seconds: 100, Last: rate(3500)}
		}), &verdict.Sustained{Rate: rate(500), Basis: verdict.BasisCatalog}},
		{"without limits it is not known", reads(other, 3500), nil},
		{"nor for buffered I/O", but(reads(p10, 500), func(in *verdict.Input) { in.Load.Buffered = true }), nil},
		{"nor of a disk that can have another performance tier", reads(existing, 500), nil},
		{"nor of two levels that nothing explains", but(reads(p10, 500), func(in *verdict.Input) {
			in.Step = &verdict.Step{AtSeconds: 30, BeforeIOPS: 800, AfterIOPS: 200}
		}), nil},
		{"nor of no level at all", but(reads(p10, 500), func(in *verdict.Input) { in.VariationPermille = new(int64(300)) }), nil},
		{"nor above what the disk is known to do", reads(p10, 9000), nil},
		{"nor from an invalid run", but(reads(p10, 500), func(in *verdict.Input) { in.Errors = 1 }), nil},
	} {
		if diff := cmp.Diff(tc.want, verdict.Assess(tc.in).Sustained); diff != "" {
			t.Errorf("%s: %s", tc.why, diff)
		}
	}
}

// The workloads of a run are each other's ladder where they differ in depth alone.
func TestLadderOfRun(t *testing.T) {
	other := on(t, 1024, "")
	other.Base = nil
	rung := func(depth int, iops int64) verdict.Input {
		return but(reads(other, iops), func(in *verdict.Input) { waitless(in); in.Load.Outstanding = depth })
	}
	ladder := []verdict.Input{rung(1, 1000), rung(4, 3800), rung(16, 4990), rung(64, 5010), rung(256, 5000)}
	want := []string{"Latency", "Unknown", "Unknown UnknownLimit", "Unknown UnknownLimit", "Unknown UnknownLimit"}
	want[1] = "Unknown NoCatalog" // 31% more at four times the depth is neither 44% nor nothing
	var got []string
	for _, a := range verdict.AssessRun(verdict.Run{Workloads: ladder}) {
		s := string(a.Verdict)
		if a.Reason != "" {
			s += " " + string(a.Reason)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, tc := range []struct {
		why    string
		change func(*verdict.Input)
	}{
		{"another block size", func(in *verdict.Input) { in.Load.BlockSizeBytes = 8 * kib }},
		{"another file", func(in *verdict.Input) { in.Load.Variant = "64Gi" }},
		{"a rate, which holds it back", func(in *verdict.Input) { in.Load.RateIOPS = 9000 }},
		{"errors", func(in *verdict.Input) { in.Errors = 1 }},
	} {
		a := verdict.AssessRun(verdict.Run{Workloads: []verdict.Input{rung(64, 5000), but(rung(256, 5000), tc.change)}})[0]
		if a.Reason != verdict.NoCatalog || a.Row != "4a" {
			t.Errorf("%s makes no ladder: %s %s by row %s", tc.why, a.Verdict, a.Reason, a.Row)
		}
	}
}
