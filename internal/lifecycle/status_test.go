// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/plan"
)

// settle decides and stores until the observation gives no new status, as the controller does when
// nothing happens outside, and returns the benchmark.
func settle(o Observation) *v1alpha1.DiskBenchmark {
	for range 5 {
		o.Benchmark = o.Benchmark.DeepCopy()
		o.Benchmark.Status = Status(o, Decide(o))
	}
	return o.Benchmark
}

func shown(b *v1alpha1.DiskBenchmark) map[string]string {
	out := map[string]string{}
	for _, c := range b.Status.Conditions {
		out[c.Type] = string(c.Status) + " " + c.Reason
	}
	return out
}

// The table of the package comment.
func TestConditions(t *testing.T) {
	success := func() *builder {
		return makeObservation().phase(v1alpha1.PhaseRunning).boundPod().job(nil).claim(bound).pod(containers(ends("engine", 0, encoded(t))))
	}
	missing := func(onMiss v1alpha1.OnMiss) func(*v1alpha1.DiskBenchmarkSpec) {
		return func(s *v1alpha1.DiskBenchmarkSpec) {
			s.Targets = &v1alpha1.Targets{MinIOPS: ptr.To[int64](501), OnMiss: &onMiss}
		}
	}
	gone := func(b *builder) *builder { b.o.Job, b.o.Claims, b.o.Pods = nil, nil, nil; return b }
	finished := func(b *builder) *builder {
		b.o.Benchmark.Status = Status(b.o, Decide(b.o))
		return gone(b)
	}
	for name, c := range map[string]struct {
		reason string
		given  *builder
		want   map[string]string
	}{
		"working": {
			"kstatus: InProgress", makeObservation().phase(v1alpha1.PhaseRunning).boundPod().job(nil).claim(bound).pod(containers(runs("engine"))),
			map[string]string{"Ready": "False Running", "Reconciling": "True Running"},
		},
		"blocked": {
			"kstatus: Failed, until it is put right", makeObservation().phase(v1alpha1.PhasePending),
			map[string]string{"Ready": "False StorageClassNotFound", "Stalled": "True StorageClassNotFound"},
		},
		"suspended": {
			"kstatus: InProgress", makeObservation().phase(v1alpha1.PhasePending).suspend(),
			map[string]string{"Ready": "False Suspended"},
		},
		"cleaning up": {
			"the figures are there, the disk too", success(),
			map[string]string{"Ready": "True Completed", "Reconciling": "True CleaningUp"},
		},
		"succeeded": {
			"kstatus: Current", finished(success()),
			map[string]string{"Ready": "True Completed", "Finished": "True Completed"},
		},
		"targets met or not": {
			"a missed target is a measurement", finished(success().spec(missing(v1alpha1.OnMissReport))),
			map[string]string{"Ready": "True Completed", "Finished": "True Completed", "TargetsMet": "False TargetsMissed"},
		},
		"targets missed, a pipeline stops": {
			"onMiss Fail asks for it", finished(success().spec(missing(v1alpha1.OnMissFail))),
			map[string]string{"Ready": "False TargetsMissed", "Stalled": "True TargetsMissed", "Finished": "True TargetsMissed", "TargetsMet": "False TargetsMissed"},
		},
		"failing": {
			"Stalled waits for the cleanup, so that it never meets Reconciling", makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("NoSpace").job(nil),
			map[string]string{"Ready": "False NoSpace", "Reconciling": "True CleaningUp"},
		},
		"failed": {
			"kstatus: Failed", makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("NoSpace"),
			map[string]string{"Ready": "False NoSpace", "Stalled": "True NoSpace", "Finished": "True NoSpace"},
		},
		"stopped": {
			"it will go on, so it is not finished", makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome(v1alpha1.ReasonSuspended).suspend(),
			map[string]string{"Ready": "False Suspended"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := settle(c.given.obj())
			if diff := cmp.Diff(c.want, shown(b)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			for _, cond := range b.Status.Conditions {
				if cond.ObservedGeneration != b.Generation {
					t.Errorf("%s has observedGeneration %d, the spec has %d", cond.Type, cond.ObservedGeneration, b.Generation)
				}
			}
		})
	}
}

func TestATransitionTimeStaysWithItsStatus(t *testing.T) {
	o := makeObservation().phase(v1alpha1.PhasePending).stalledFor(5 * time.Minute).obj()
	o.Benchmark.Status = Status(o, Decide(o))
	stalled := meta.FindStatusCondition(o.Benchmark.Status.Conditions, v1alpha1.ConditionStalled)
	if want := now.Add(-5 * time.Minute); !stalled.LastTransitionTime.Time.Equal(want) {
		t.Errorf("blocked since %s, want %s: the clock of being blocked must not start over", stalled.LastTransitionTime, want)
	}
}

func TestAnEditMovesTheFiguresToHistoryBeforeTheNextRunShows(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhaseDone).outcome("Completed").edited()
	finish := metav1.NewTime(now.Add(-time.Hour))
	s := &b.o.Benchmark.Status
	s.Run.FinishTime = &finish
	s.Summary = &v1alpha1.Summary{IOPS: "500"}
	s.Measurements = []v1alpha1.Measurement{{Name: "randread"}}
	s.Warnings = []string{"randread: something about the figures", leftPrefix + "a disk"}
	for n := range maxHistory {
		s.History = append(s.History, v1alpha1.HistoricRun{Number: int64(-n)})
	}
	old := []v1alpha1.HistoricRun{{Number: 1, Reason: "Completed", FinishTime: &finish, Summary: &v1alpha1.Summary{IOPS: "500"}}}

	o := b.obj()
	o.Benchmark.Status = Status(o, Decide(o))
	after := o.Benchmark.Status
	if after.Summary != nil || after.Measurements != nil || after.Run.Number != 1 || after.Run.Outcome != v1alpha1.ReasonSuperseded {
		t.Errorf("after the edit: summary %v, %d measurements, run %+v", after.Summary, len(after.Measurements), after.Run)
	}
	if diff := cmp.Diff(old, after.History[:1]); diff != "" || len(after.History) != maxHistory {
		t.Errorf("history of %d (-want +got):\n%s", len(after.History), diff)
	}

	o.Benchmark.Status = Status(o, Decide(o)) // nothing is left, so the next run starts
	after = o.Benchmark.Status
	if after.Run.Number != 2 || after.Run.SpecHash != "v1:two" || after.Run.Outcome != "" || after.Run.Phase != v1alpha1.PhasePending {
		t.Errorf("next run: %+v", after.Run)
	}
	if diff := cmp.Diff(old, after.History[:1]); diff != "" {
		t.Errorf("history again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{leftPrefix + "a disk"}, after.Warnings); diff != "" {
		t.Errorf("warnings: what was left behind still costs, the rest was about the old figures (-want +got):\n%s", diff)
	}
}

func TestARunThatCreatedNothingLeavesNoHistory(t *testing.T) {
	b := settle(makeObservation().phase(v1alpha1.PhasePending).edited().obj())
	if b.Status.Run.Number != 2 || len(b.Status.History) != 0 {
		t.Errorf("run %d, history %+v", b.Status.Run.Number, b.Status.History)
	}
}

func TestASupersededRunIsInHistory(t *testing.T) {
	o := makeObservation().phase(v1alpha1.PhaseRunning).boundPod().job(nil).claim(bound).pod(containers(runs("engine"))).edited().obj()
	s := Status(o, Decide(o))
	want := []v1alpha1.HistoricRun{{Number: 1, Reason: v1alpha1.ReasonSuperseded, FinishTime: ptr.To(metav1.NewTime(now))}}
	if diff := cmp.Diff(want, s.History); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestTargetsAreJudgedAnewWithoutARun(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhaseDone).outcome("Completed").generation(2).spec(func(s *v1alpha1.DiskBenchmarkSpec) {
		s.Targets = &v1alpha1.Targets{MinIOPS: ptr.To[int64](499)}
	})
	b.o.Benchmark.Status.Measurements = []v1alpha1.Measurement{{Name: "randread", Total: v1alpha1.Figures{IOPS: 500}}}
	got := settle(b.obj())
	if got.Status.Run.Number != 1 || got.Status.ObservedGeneration != 2 || shown(got)["TargetsMet"] != "True TargetsReached" {
		t.Errorf("run %d, observedGeneration %d, conditions %v", got.Status.Run.Number, got.Status.ObservedGeneration, shown(got))
	}
}

func TestThePhaseClock(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		given  *builder
		want   time.Time
	}{
		"goes on": {
			"the phase is the same", makeObservation().phase(v1alpha1.PhaseScheduling).age(time.Minute).job(nil).claim(bound).pod(nil), now.Add(-time.Minute),
		},
		"begins": {
			"a new phase", makeObservation().phase(v1alpha1.PhaseProvisioning).age(time.Minute).job(nil).claim(bound).pod(nil), now,
		},
		"stood for a suspended Job": {
			"the time before it was suspended is not counted either: it may have waited for hours",
			makeObservation().phase(v1alpha1.PhaseScheduling).age(time.Minute).ready(v1alpha1.ReasonSuspended, "").job(nil).claim(bound).pod(nil), now,
		},
		"stands": {
			"while the Job is suspended nothing is written", makeObservation().phase(v1alpha1.PhaseScheduling).age(time.Minute).job(suspendedByOthers).claim(bound), now.Add(-time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.given.obj()
			if got := Status(o, Decide(o)).Run.PhaseTime; !got.Time.Equal(c.want) {
				t.Errorf("phaseTime %s, want %s (%s)", got, c.want, c.reason)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	placement := metav1.NewTime(now.Add(-100 * time.Second))
	binding := metav1.NewTime(now.Add(-90 * time.Second))
	b := makeObservation().phase(v1alpha1.PhaseRunning).class(v2ReadOnly).job(nil).volume(corev1.PersistentVolumeReclaimDelete).
		claim(func(c *corev1.PersistentVolumeClaim) {
			bound(c)
			c.CreationTimestamp = metav1.NewTime(now.Add(-120 * time.Second))
			c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("33Gi")}
		}).
		pod(func(p *corev1.Pod) {
			p.Spec.NodeName = "node-1"
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: placement}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{ends("prepare", 0, "")}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{ends("engine", 0, encoded(t))}
		})
	b.o.Volumes[0].Status.Phase = corev1.VolumeBound
	b.o.Volumes[0].Status.LastPhaseTransitionTime = &binding
	b.o.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		corev1.LabelInstanceTypeStable: "Standard_D8s_v5", corev1.LabelTopologyRegion: "westeurope", corev1.LabelTopologyZone: "westeurope-1",
	}}}
	o := b.obj()
	got := Status(o, Decide(o)).Run
	want := &v1alpha1.Run{
		Number: 1, Name: "b-1", SpecHash: "v1:one", Phase: v1alpha1.PhaseCleaningUp, PhaseTime: metav1.NewTime(now),
		Outcome: "Completed", OutcomeMessage: "randread: 500 IOPS, 2.05 MB/s, p99 3.00 ms",
		StartTime: ptr.To(metav1.NewTime(now)), FinishTime: ptr.To(metav1.NewTime(now)),
		PodName: "b-1-pod", PodUID: podUID, StorageClassName: "fast", Provisioner: "disk.example.test",
		Parameters: map[string]string{"skuName": "PremiumV2_LRS", "cachingMode": "ReadOnly"},
		Size:       ptr.To(resource.MustParse("33Gi")),
		Volumes: []v1alpha1.Volume{{
			ClaimName: "b-1", VolumeName: "pv-1", Driver: "disk.example.test", VolumeHandle: "/disks/1", ReclaimPolicy: "Delete",
		}},
		NodeName: "node-1", VMSize: "Standard_D8s_v5", Region: "westeurope", Zone: "westeurope-1", Kernel: "6.12",
		Image: "example.test/engine:v1", EngineVersion: "v1", IOEngine: "IOUring",
		ProvisioningSeconds: ptr.To[int64](30), AttachingSeconds: ptr.To[int64](30),
		PreparingSeconds: ptr.To[int64](60), MeasuringSeconds: ptr.To[int64](60),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

func TestAttributesClassInEffect(t *testing.T) {
	pending := corev1.PersistentVolumeClaimStatus{ModifyVolumeStatus: &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: "faster", Status: corev1.PersistentVolumeClaimModifyVolumeInfeasible}}
	changing := pending
	changing.CurrentVolumeAttributesClassName = ptr.To("slower")
	for _, tc := range []struct {
		why    string
		status corev1.PersistentVolumeClaimStatus
		want   string
	}{
		{"nothing is to be changed", corev1.PersistentVolumeClaimStatus{CurrentVolumeAttributesClassName: ptr.To("faster")}, "faster"},
		{"an older cluster does not say", corev1.PersistentVolumeClaimStatus{}, "faster"},
		{"a change that cannot be made", pending, ""},
		{"from another class", changing, "slower"},
	} {
		claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: ptr.To("faster")}, Status: tc.status}
		if got := AttributesClassInEffect(claim); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

// What tells the disk has to outlive volume and class, and nothing else of theirs is to be shown.
func TestFactsThatTellTheDisk(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(func(c *corev1.PersistentVolumeClaim) {
		bound(c)
		c.Spec.VolumeAttributesClassName = ptr.To("faster")
	}).volume(corev1.PersistentVolumeReclaimDelete)
	b.o.AttributesClass = &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{Name: "faster"}, DriverName: "disk.csi.azure.com", Parameters: map[string]string{"DiskIOPSReadWrite": "5000"},
	}
	b.o.Volumes[0].Spec.CSI.VolumeAttributes = map[string]string{
		"skuName": "PremiumV2_LRS", "requestedsizegib": "32", "cachingMode": strings.Repeat("N", 1000),
		"storage.kubernetes.io/csiProvisionerIdentity": "1764563-8081", "secret": "s",
	}
	o := b.obj()
	run := Status(o, Decide(o)).Run
	want := map[string]string{"skuName": "PremiumV2_LRS", "requestedsizegib": "32", "cachingMode": strings.Repeat("N", maxAttribute)}
	if diff := cmp.Diff(want, run.VolumeAttributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"DiskIOPSReadWrite": "5000"}, run.VolumeAttributesParameters); diff != "" {
		t.Errorf("parameters of the VolumeAttributesClass (-want +got):\n%s", diff)
	}

	o.Benchmark.Status.Run, o.Volumes, o.AttributesClass = run, nil, nil
	if diff := cmp.Diff(run, Status(o, Decide(o)).Run); diff != "" {
		t.Errorf("they are gone with volume and class (-want +got):\n%s", diff)
	}
}

func TestFactsOfSeveralVolumes(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhaseScheduling).striped(2).job(nil).claims(bound, func(c *corev1.PersistentVolumeClaim) {
		bound(c)
		c.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
	}).volumes(2, corev1.PersistentVolumeReclaimDelete)
	for i := range b.o.Volumes {
		b.o.Volumes[i].Status.Phase = corev1.VolumeBound
		b.o.Volumes[i].Status.LastPhaseTransitionTime = ptr.To(metav1.NewTime(now.Add(time.Duration(-20+i) * time.Second)))
	}
	o := b.obj()
	run := Status(o, Decide(o)).Run
	volume := func(i string) v1alpha1.Volume {
		return v1alpha1.Volume{ClaimName: "b-1-" + i, VolumeName: "pv-1-" + i, Driver: "disk.example.test", VolumeHandle: "/disks/1-" + i, ReclaimPolicy: "Delete"}
	}
	want := []v1alpha1.Volume{volume("0"), volume("1")}
	if diff := cmp.Diff(want, run.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if run.ProvisioningSeconds == nil || *run.ProvisioningSeconds != 41 {
		t.Errorf("provisioning took %v s, want 41: from the first claim to the last binding", ptr.Deref(run.ProvisioningSeconds, -1))
	}

	// Once known, they are not read again while the engine measures.
	o.Benchmark.Status.Run, o.Volumes = run, nil
	if diff := cmp.Diff(want, Status(o, Decide(o)).Run.Volumes); diff != "" {
		t.Errorf("volumes that were not read again (-want +got):\n%s", diff)
	}
}

func TestTheStripeIsRecorded(t *testing.T) {
	o := makeObservation().noRun().striped(2).obj()
	if got := Status(o, Decide(o)).Run.StripeSizeBytes; got != plan.DefaultStripeSizeBytes {
		t.Errorf("stripeSizeBytes %d, want the default: nobody wrote it anywhere else", got)
	}
}

func TestFactsOfTheReport(t *testing.T) {
	run := &v1alpha1.Run{}
	recordReport(run, &report.Report{Target: report.Target{Queue: &report.Queue{
		Scheduler: "none", Requests: 256, DeviceDepth: 1024, MaxIOBytes: 512 << 10, WriteBack: true, FUA: true,
	}}})
	want := &v1alpha1.Queue{Scheduler: "none", Requests: 256, DeviceDepth: 1024, MaxIOBytes: 512 << 10, WriteCache: "WriteBack", FUA: "Supported"}
	if diff := cmp.Diff(want, run.Queue); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	recordReport(run, &report.Report{Target: report.Target{Queue: &report.Queue{}}})
	if diff := cmp.Diff(&v1alpha1.Queue{WriteCache: "WriteThrough", FUA: "Unsupported"}, run.Queue); diff != "" {
		t.Errorf("queue without a cache (-want +got):\n%s", diff)
	}
}

func TestFactsStayOnceTheOutcomeIsStored(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").job(nil).node("arm64")
	b.claim(func(c *corev1.PersistentVolumeClaim) {
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Gi")}
	})
	b.run().VMSize, b.run().Size = "Standard_D8s_v5", ptr.To(resource.MustParse("32Gi"))
	o := b.obj()
	if got := Status(o, Decide(o)).Run; got.VMSize != "Standard_D8s_v5" || got.Size.String() != "32Gi" {
		t.Errorf("the figures are of 32Gi on Standard_D8s_v5, the run says %s on %q", got.Size, got.VMSize)
	}
}

func TestLeftoversAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		given  *builder
		want   []string
	}{
		"stuck": {
			"each object that still costs or holds another",
			makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").age(time.Hour).job(dying).claim(bound).pod(nil).volume(corev1.PersistentVolumeReclaimDelete),
			[]string{"left behind: after timeouts.cleanupSeconds (600) there is still Job b-1, Pod b-1-pod, PersistentVolumeClaim b-1, PersistentVolume pv-1 (/disks/1): see why it is not deleted, it may go on costing"},
		},
		"many stuck": {
			"a message has room for some",
			makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").age(time.Hour).striped(6).boundClaims(6),
			[]string{"left behind: after timeouts.cleanupSeconds (600) there is still PersistentVolumeClaim b-1-0, b-1-1, b-1-2, b-1-3 and 2 more: see why it is not deleted, it may go on costing"},
		},
		"many retained": {
			"each disk costs, so each is named, whatever volumeCount is now",
			makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").volumes(5, corev1.PersistentVolumeReclaimRetain),
			[]string{
				"left behind: PersistentVolume pv-1-0 (/disks/1-0), pv-1-1 (/disks/1-1), pv-1-2 (/disks/1-2), pv-1-3 (/disks/1-3) have reclaimPolicy Retain: they and their disks go on costing until you delete both",
				"left behind: PersistentVolume pv-1-4 (/disks/1-4) has reclaimPolicy Retain: it and its disk go on costing until you delete both",
			},
		},
		"retained": {
			"case 43: the disk goes on costing",
			makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").volume(corev1.PersistentVolumeReclaimRetain),
			[]string{"left behind: PersistentVolume pv-1 (/disks/1) has reclaimPolicy Retain: it and its disk go on costing until you delete both"},
		},
		"kept": {
			"case 42",
			makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").job(nil).claim(bound).spec(func(s *v1alpha1.DiskBenchmarkSpec) {
				s.Cleanup = ptr.To(v1alpha1.CleanupNever)
			}),
			[]string{"spec.cleanup is Never: Job b-1 and PersistentVolumeClaim b-1 kept until the DiskBenchmark is deleted, and may go on costing"},
		},
		"an existing claim's volume": {
			"it was there before",
			func() *builder {
				b := makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome("Completed").existing(existingClaim(nil)).volume(corev1.PersistentVolumeReclaimDelete)
				b.o.Volumes[0].Spec.ClaimRef.Name = "data"
				return b
			}(),
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := settle(c.given.obj())
			if diff := cmp.Diff(c.want, b.Status.Warnings); diff != "" || b.Status.Run.Phase != v1alpha1.PhaseDone {
				t.Errorf("%s: phase %s, warnings (-want +got):\n%s", c.reason, b.Status.Run.Phase, diff)
			}
		})
	}
}

func TestWarningsStayWithinTheSchema(t *testing.T) {
	s := &v1alpha1.DiskBenchmarkStatus{}
	for i := range 2 * maxWarnings {
		addWarnings(s, []string{strconv.Itoa(i) + strings.Repeat("é", maxWarningText), "twice"})
	}
	if len(s.Warnings) != maxWarnings {
		t.Errorf("%d warnings, the schema has %d", len(s.Warnings), maxWarnings)
	}
	for _, w := range s.Warnings {
		if len(w) > maxWarningText || strings.ContainsRune(w, '\uFFFD') {
			t.Errorf("a warning of %d bytes, or cut within a character: %q", len(w), w[max(0, len(w)-6):])
		}
	}
}

func TestBackstopIsAboveAllPhases(t *testing.T) {
	o := makeObservation().obj()
	o.Benchmark.Spec.Timeouts = &v1alpha1.Timeouts{SchedulingSeconds: ptr.To[int32](7200)}
	got := BackstopSeconds(&o.Benchmark.Spec, o.Plan)
	// blocked, provisioning, scheduling, preparing, running and an hour.
	if want := int64(600 + 600 + 7200 + 900 + 368 + 3600); got != want {
		t.Errorf("activeDeadlineSeconds %d, want %d", got, want)
	}
}

// A status is written as a whole into etcd, which takes 1.5 MiB, and listed with all others. The bound
// is what the fullest one takes, rounded up: a field that grows it should be seen to.
func TestTheFullestStatusIsBounded(t *testing.T) {
	const big = int64(9_000_000_000_000_000)
	figures := report.NewFigures(big, big, 1e9, report.Latency{
		MeanNanos: big, StddevNanos: big, MinNanos: big, MaxNanos: big, P50Nanos: ptr.To(big), P90Nanos: ptr.To(big),
		P95Nanos: ptr.To(big), P99Nanos: ptr.To(big), P999Nanos: ptr.To(big), P9999Nanos: ptr.To(big),
	})
	step := &report.Step{AtSeconds: 86400, BeforeIOPS: 1e9, AfterIOPS: 1e9}
	full := func(w workload.Workload) report.Workload {
		r := report.Workload{
			Name: w.Name, FileSizeBytes: big, WindowNanos: big, Read: figures, Write: figures, Total: figures, Flush: figures,
			Repetitions: slices.Repeat([]report.Repetition{{WindowNanos: big, IOPS: 1e9, P99Nanos: ptr.To(big)}}, workload.MaxRepetitions),
			Series:      report.Series{IntervalNanos: big, IOPS: slices.Repeat([]float64{1e9}, report.MaxSeriesPoints)},
			Steady:      &report.Steady{VariationPercent: 100}, Step: step, Drained: &report.Drained{Seconds: 2700, Step: step, IOPS: 1e9, BytesPerSecond: 1e12},
			ProbeMeanNanos: ptr.To(big),
			Device:         &report.DeviceCounters{ReadOperations: big, WriteOperations: big, ReadBytes: big, WriteBytes: big, OtherOperations: big, OtherBytes: big},
			CPU:            report.CPU{UserNanos: big, SystemNanos: big, BusiestWorkerPercent: 100, RunDelayPercent: 100, ThrottledPercent: 100, StealPercent: 100},
		}
		if len(w.Streams) > 1 {
			r.Streams = slices.Repeat([]report.Stream{{Name: w.Name, Read: figures, Write: figures, Flush: figures}}, len(w.Streams))
		}
		return r
	}
	long := strings.Repeat("n", 40)
	sql, _ := workload.Preset("sql")
	var p workload.Plan
	r := &report.Report{}
	for i := range workload.MaxWorkloads {
		w := sql[0]
		w.Name = long + strconv.Itoa(i)
		w.Streams = w.Streams[:1]
		if i == 0 {
			w.Streams = slices.Repeat(sql[0].Streams[:1], workload.MaxStreams)
		}
		p.Workloads = append(p.Workloads, w)
		r.Workloads = append(r.Workloads, full(w))
	}
	s := v1alpha1.DiskBenchmarkStatus{Measurements: plan.Measurements(p, r), Run: &v1alpha1.Run{OutcomeMessage: completedMessage(plan.Measurements(p, r))}}
	s.Summary = plan.Summarize(s.Measurements)
	for range maxHistory {
		s.History = append(s.History, v1alpha1.HistoricRun{Number: big, Reason: long, FinishTime: ptr.To(metav1.NewTime(now)), Summary: s.Summary})
	}
	// An Azure disk's ID has some 200 characters.
	volume := v1alpha1.Volume{ClaimName: long + long[:12], VolumeName: long, Driver: "disk.csi.azure.com", VolumeHandle: strings.Repeat("h", 200), ReclaimPolicy: "Delete"}
	s.Run.Volumes = slices.Repeat([]v1alpha1.Volume{volume}, workload.MaxVolumes)
	fillEvaluation(&s, long)
	for i := range maxWarnings {
		addWarnings(&s, []string{strconv.Itoa(i) + strings.Repeat("w", maxWarningText)})
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if limit := 192 << 10; len(data) > limit {
		t.Errorf("the fullest status has %d bytes, the bound is %d", len(data), limit)
	}
}

// fillEvaluation fills what follows from the figures, as the schema allows it.
func fillEvaluation(s *v1alpha1.DiskBenchmarkStatus, name string) {
	const big = int64(9_000_000_000_000_000)
	sentence := strings.Repeat("s", 256)
	rate := v1alpha1.Rate{IOPS: big, ThroughputBytesPerSecond: big}
	warnings := slices.Repeat([]v1alpha1.StatusWarning{{Reason: name, Message: sentence}}, 16)
	s.Assessment = &v1alpha1.Assessment{
		CatalogVersion: name, Warnings: warnings,
		Disk: v1alpha1.AssumedDisk{Coverage: name, SKU: name, Tier: name, Redundancy: name, Caching: name, Bursting: name, VMSize: name, Base: &rate, Burst: &rate},
		Workloads: slices.Repeat([]v1alpha1.WorkloadAssessment{{
			Name: name, Verdict: name, Reason: name, Message: sentence, AlsoAtLimit: slices.Repeat([]string{name}, 8), Warnings: warnings[:8],
			CreditsLeft: slices.Repeat([]v1alpha1.BurstCredits{{Limit: name, Percent: 100, Seconds: big}}, 4),
			Measured:    rate, Expected: &v1alpha1.ExpectedRate{Rate: rate, LimitedBy: name, BurstSeconds: big},
			Sustained: &v1alpha1.SustainedRate{Rate: rate, Basis: v1alpha1.BasisMeasured},
		}}, workload.MaxWorkloads),
	}
	s.Cost = &v1alpha1.Cost{
		Currency: "USD", Region: name, PerMonth: name, PerMonthAtCap: name, FleetPerMonth: name, PerThousandSustainedIOPS: name, Workload: name,
		Lines:       slices.Repeat([]v1alpha1.CostLine{{Item: name, Quantity: name, Unit: name, UnitPrice: name, Amount: name}}, 8),
		Run:         &v1alpha1.RunCost{Prorated: name, AtMost: name},
		Unknown:     slices.Repeat([]v1alpha1.UnknownCost{{Item: name, Why: sentence}}, 8),
		NotIncluded: slices.Repeat([]string{sentence}, 8), PriceDate: name, Source: sentence, Warnings: warnings,
	}
}
