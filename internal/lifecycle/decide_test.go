// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
)

// want is what a case expects of a decision; empty fields are not looked at, except the outcome.
type want struct {
	action  Action
	state   State
	phase   v1alpha1.Phase
	reason  string
	message string
	outcome string
	// said is part of the outcome's message.
	said string
}

type decideCase struct {
	reason string
	given  Observation
	want   want
}

func check(t *testing.T, cases map[string]decideCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := Decide(c.given)
			got := want{action: d.Action, state: d.State, phase: d.Phase, reason: d.Reason}
			if d.Outcome != nil {
				got.outcome = d.Outcome.Reason
			}
			differs := c.want.action != "" && got.action != c.want.action ||
				c.want.state != "" && got.state != c.want.state ||
				c.want.phase != "" && got.phase != c.want.phase ||
				c.want.reason != "" && got.reason != c.want.reason ||
				got.outcome != c.want.outcome
			if differs {
				t.Errorf("%s:\nwant %+v\n got %+v (%s)", c.reason, c.want, got, d.Message)
			}
			if !strings.Contains(d.Message, c.want.message) {
				t.Errorf("%s: message %q lacks %q", c.reason, d.Message, c.want.message)
			}
			if d.Outcome != nil && !strings.Contains(d.Outcome.Message, c.want.said) {
				t.Errorf("%s: outcome message %q lacks %q", c.reason, d.Outcome.Message, c.want.said)
			}
			Status(c.given, d) // must not fail on anything that Decide accepts
		})
	}
}

func TestDecideStart(t *testing.T) {
	check(t, map[string]decideCase{
		"new": {
			"the number is stored before anything is created",
			makeObservation().noRun().obj(),
			want{action: ActionStart, state: Working, phase: v1alpha1.PhasePending},
		},
		"new and suspended": {
			"before the start, suspend holds",
			makeObservation().noRun().suspend().obj(),
			want{action: ActionNone, state: Held, reason: v1alpha1.ReasonSuspended},
		},
		"going away": {
			"owner references and the claim protection do the rest; a finalizer would wedge the namespace without an operator",
			makeObservation().deleting().obj(),
			want{action: ActionIgnore},
		},
	})
}

func TestDecidePending(t *testing.T) {
	pending := func() *builder { return makeObservation().phase(v1alpha1.PhasePending) }
	check(t, map[string]decideCase{
		"free": {
			"claim and Job together: waiting for Bound would wait for ever with WaitForFirstConsumer",
			pending().class(nil).obj(),
			want{action: ActionCreate, state: Working, phase: v1alpha1.PhaseProvisioning},
		},
		"first consumer": {
			"the scheduler picks a node first",
			pending().class(waitForConsumer).obj(),
			want{action: ActionCreate, state: Working, phase: v1alpha1.PhaseScheduling},
		},
		"claim made, Job not": {
			"the operator was killed in between",
			pending().class(nil).claim(nil).obj(),
			want{action: ActionCreate},
		},
		"no class": {
			"case 1: it may still appear",
			pending().obj(),
			want{action: ActionNone, state: Blocked, reason: v1alpha1.ReasonStorageClassNotFound, message: "StorageClass fast does not exist"},
		},
		"no default class": {
			"case 2: a claim without a class would be given one later",
			pending().spec(func(s *v1alpha1.DiskBenchmarkSpec) { s.StorageClassName = nil }).obj(),
			want{state: Blocked, reason: v1alpha1.ReasonNoDefaultStorageClass, message: "set spec.storageClassName"},
		},
		"blocked within its time": {
			"599 of 600 seconds",
			pending().stalledFor(599 * time.Second).obj(),
			want{state: Blocked, reason: v1alpha1.ReasonStorageClassNotFound},
		},
		"blocked for too long": {
			"kubectl wait has to return",
			pending().stalledFor(600 * time.Second).obj(),
			want{outcome: v1alpha1.ReasonBlockedTimedOut, said: "timeouts.blockedSeconds (600): StorageClassNotFound"},
		},
		"quota": {
			"case 9: the quota's words",
			pending().class(nil).refused(RefusedByQuota, "exceeded quota: disks").obj(),
			want{state: Blocked, reason: v1alpha1.ReasonQuotaExceeded, message: "exceeded quota: disks"},
		},
		"policy": {
			"somebody may change the policy",
			pending().class(nil).refused(RefusedByPolicy, "denied by team rules").obj(),
			want{state: Blocked, reason: v1alpha1.ReasonCreationRefused, message: "denied by team rules"},
		},
		"invalid": {
			"the same object is refused for ever",
			pending().class(nil).refused(RefusedAsInvalid, "spec.tolerations[0].operator").obj(),
			want{outcome: v1alpha1.ReasonInvalidSpec, said: "tolerations[0]"},
		},
		"no plan": {
			"nothing is created for what cannot be measured",
			pending().class(nil).planError("queueDepth 8 with ioEngine Sync").obj(),
			want{outcome: v1alpha1.ReasonInvalidSpec, said: "queueDepth 8"},
		},
		"stranger": {
			"somebody else's object is neither used nor deleted",
			pending().class(nil).stranger("Job b-1234").obj(),
			want{outcome: v1alpha1.ReasonNameConflict, said: "Job b-1234"},
		},
		"queued": {
			"another run goes on",
			pending().class(nil).slot(Slot{Limit: 1, Ahead: 2}).obj(),
			want{action: ActionNone, state: Working, reason: v1alpha1.ReasonQueued, message: "limit 1 (--max-concurrent-runs), 2 ahead when queued"},
		},
		"queued behind its claim": {
			"a place in the queue is not what it waits for",
			pending().existing(existingClaim(nil)).slot(Slot{Limit: 2, ClaimHolder: "x"}).obj(),
			want{action: ActionNone, state: Working, reason: v1alpha1.ReasonQueued, message: "DiskBenchmark x measures PersistentVolumeClaim data"},
		},
		"queued for a node": {
			"the limit would allow it",
			pending().class(nil).slot(Slot{Limit: 2, Placing: true}).obj(),
			want{action: ActionNone, reason: v1alpha1.ReasonQueued, message: "limit 2 (--max-concurrent-runs), waiting for the node of the run before"},
		},
		"several volumes": {
			"all at once",
			pending().class(nil).striped(3).obj(),
			want{action: ActionCreate, phase: v1alpha1.PhaseProvisioning, message: "3 claims and the Job are created"},
		},
		"some of the claims made": {
			"the operator was killed in between, or a quota has no room for the rest",
			pending().class(nil).striped(3).claims(nil).obj(),
			want{action: ActionCreate},
		},
		"still queued": {
			"the message is written once, not with each move of the queue",
			pending().class(nil).slot(Slot{Limit: 1, Ahead: 0}).ready(v1alpha1.ReasonQueued, "limit 1, 5 ahead when queued").obj(),
			want{reason: v1alpha1.ReasonQueued, message: "limit 1, 5 ahead when queued"},
		},
		"claim going away": {
			"a dying object is waited for, not adopted",
			pending().class(nil).claim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = ptr.To(metav1.Now()) }).obj(),
			want{action: ActionNone, state: Working, message: "being deleted"},
		},
		"suspended": {
			"nothing is created yet, so the run holds",
			pending().class(nil).suspend().obj(),
			want{action: ActionNone, state: Held, reason: v1alpha1.ReasonSuspended},
		},
		"suspended with a claim": {
			"the Job was refused, the claim is there and costs",
			pending().class(nil).claim(nil).suspend().obj(),
			want{outcome: v1alpha1.ReasonSuspended},
		},
		"no claim": {
			"case of an existing claim that does not exist yet",
			pending().existing(nil).obj(),
			want{state: Blocked, reason: v1alpha1.ReasonClaimNotFound, message: "PersistentVolumeClaim data does not exist in namespace bench"},
		},
		"existing claim": {
			"nothing to provision",
			pending().existing(existingClaim(nil)).obj(),
			want{action: ActionCreate, phase: v1alpha1.PhaseScheduling},
		},
		"existing block claim": {
			"measuring would overwrite it",
			pending().existing(existingClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) })).obj(),
			want{outcome: v1alpha1.ReasonClaimInvalid, said: "volumeMode Block"},
		},
		"existing read-only claim": {
			"the engine has to write its file",
			pending().existing(existingClaim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
			})).obj(),
			want{outcome: v1alpha1.ReasonClaimInvalid, said: "ReadOnlyMany"},
		},
		"edited": {
			"the plan is another: a new number",
			pending().class(nil).edited().obj(),
			want{outcome: v1alpha1.ReasonSuperseded},
		},
	})
}

func TestRetainIsToldBeforeTheRun(t *testing.T) {
	d := Decide(makeObservation().phase(v1alpha1.PhasePending).class(func(c *storagev1.StorageClass) {
		c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRetain)
	}).obj())
	if d.Action != ActionCreate || !strings.Contains(strings.Join(d.Warnings, ""), "reclaimPolicy Retain") {
		t.Errorf("case 43: got action %s, warnings %q", d.Action, d.Warnings)
	}
}

func TestAnotherUserOfAnExistingClaimIsNamed(t *testing.T) {
	b := makeObservation().phase(v1alpha1.PhasePending).existing(existingClaim(nil))
	b.o.ClaimUsers = []string{"db-0", "db-1"}
	d := Decide(b.obj())
	want := "PersistentVolumeClaim data is used by Pod db-0, db-1 as well: each disturbs the other, and the figures are not the volume's alone"
	if d.Action != ActionCreate || !slices.Contains(d.Warnings, want) {
		t.Errorf("got action %s, warnings %q", d.Action, d.Warnings)
	}
}

func TestDecidePhases(t *testing.T) {
	provisioning := func() *builder { return makeObservation().phase(v1alpha1.PhaseProvisioning).job(nil).claim(nil) }
	scheduling := func() *builder { return makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(bound) }
	check(t, map[string]decideCase{
		"unbound": {
			"an immediate class: the provisioner works",
			provisioning().class(nil).obj(),
			want{state: Working, phase: v1alpha1.PhaseProvisioning},
		},
		"no node yet": {
			"nothing is provisioned before a node is found, and an autoscaler may have to add one",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(nil).class(waitForConsumer).pod(nil).obj(),
			want{phase: v1alpha1.PhaseScheduling},
		},
		"node picked": {
			"now the provisioner works",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(nodeSelected).class(waitForConsumer).pod(nil).obj(),
			want{phase: v1alpha1.PhaseProvisioning},
		},
		"node taken back": {
			"a failed provisioning must not start the clock over with each try",
			provisioning().class(waitForConsumer).pod(nil).obj(),
			want{phase: v1alpha1.PhaseProvisioning},
		},
		"bound": {
			"attach, mount and pull come next",
			provisioning().claim(bound).class(nil).obj(),
			want{phase: v1alpha1.PhaseScheduling},
		},
		"one of two bound": {
			"the pod needs both",
			provisioning().striped(2).claims(bound, nil).class(nil).obj(),
			want{phase: v1alpha1.PhaseProvisioning, message: "waiting for the volumes to be provisioned and bound, 1 of 2 are"},
		},
		"both bound": {
			"attach, mount and pull come next",
			provisioning().striped(2).boundClaims(2).class(nil).obj(),
			want{phase: v1alpha1.PhaseScheduling},
		},
		"node picked for the second": {
			"the provisioner works on one of them",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).striped(2).claims(bound, nodeSelected).class(waitForConsumer).pod(nil).obj(),
			want{phase: v1alpha1.PhaseProvisioning},
		},
		"provisioning error": {
			"case 5: the driver's words in full, with what is known about them",
			provisioning().class(v2ReadOnly).event("PersistentVolumeClaim", "ProvisioningFailed", "CachingMode is not valid for PremiumV2_LRS").obj(),
			want{phase: v1alpha1.PhaseProvisioning, message: "ProvisioningFailed: CachingMode is not valid for PremiumV2_LRS (hint: Premium SSD v2 and Ultra disks take only cachingMode None, the class has ReadOnly)"},
		},
		"provisioning deadline": {
			"case 41: the phase, its limit and the last thing known",
			provisioning().class(nil).age(600*time.Second).event("PersistentVolumeClaim", "ProvisioningFailed", "no capacity").obj(),
			want{outcome: v1alpha1.ReasonProvisioningTimedOut, said: "Provisioning took longer than timeouts.provisioningSeconds (600): ProvisioningFailed: no capacity"},
		},
		"just before the deadline": {
			"a limit of 600 seconds lasts 600 seconds",
			provisioning().class(nil).age(599 * time.Second).obj(),
			want{phase: v1alpha1.PhaseProvisioning},
		},
		"a shorter limit": {
			"timeouts are obeyed, and may be edited during the run",
			provisioning().class(nil).age(10 * time.Second).spec(func(s *v1alpha1.DiskBenchmarkSpec) {
				s.Timeouts = &v1alpha1.Timeouts{ProvisioningSeconds: ptr.To[int32](10)}
			}).obj(),
			want{outcome: v1alpha1.ReasonProvisioningTimedOut, said: "(10)"},
		},
		"unschedulable": {
			"case 10: the scheduler's words",
			scheduling().pod(unschedulable("1 node(s) exceed max volume count")).obj(),
			want{phase: v1alpha1.PhaseScheduling, message: "exceed max volume count"},
		},
		"attach error": {
			"case 6: the error, with the hint",
			scheduling().class(ultra).pod(placed).event("Pod", "FailedAttachVolume", "AttachVolume.Attach failed: UltraSSD_LRS not enabled").obj(),
			want{phase: v1alpha1.PhaseScheduling, message: "Ultra disks enabled"},
		},
		"old scheduler warning": {
			"a pod that has a node does not wait for one",
			scheduling().pod(placed).event("Pod", "FailedScheduling", "0/1 nodes are available").obj(),
			want{phase: v1alpha1.PhaseScheduling, message: "waiting for the pod to be placed and started"},
		},
		"scheduling deadline": {
			"case 41",
			scheduling().pod(unschedulable("0/3 nodes are available")).age(1200 * time.Second).obj(),
			want{outcome: v1alpha1.ReasonSchedulingTimedOut, said: "0/3 nodes are available"},
		},
		"pod not made": {
			"case 11: PodSecurity shows only as an event of the Job",
			scheduling().event("Job", "FailedCreate", `pods "x" is forbidden: violates PodSecurity`).obj(),
			want{state: Blocked, reason: v1alpha1.ReasonPodRejected, phase: v1alpha1.PhaseScheduling, message: "violates PodSecurity"},
		},
		"pod over quota": {
			"case 9, for the pod",
			scheduling().event("Job", "FailedCreate", `pods "x" is forbidden: exceeded quota: pods`).obj(),
			want{state: Blocked, reason: v1alpha1.ReasonQuotaExceeded},
		},
		"pod rejected for too long": {
			"its clock is that of being blocked",
			scheduling().stalledFor(600*time.Second).event("Job", "FailedCreate", "violates PodSecurity").obj(),
			want{outcome: v1alpha1.ReasonBlockedTimedOut, said: "PodRejected: violates PodSecurity"},
		},
		"pod let in": {
			"the clock of the phase stood while it was rejected",
			scheduling().stalledFor(599 * time.Second).age(3000 * time.Second).pod(nil).obj(),
			want{state: Working, phase: v1alpha1.PhaseScheduling},
		},
		"preparing": {
			"the init container writes the file",
			scheduling().pod(inits(runs("prepare"))).obj(),
			want{phase: v1alpha1.PhasePreparing},
		},
		"prepared": {
			"the engine is about to start",
			makeObservation().phase(v1alpha1.PhasePreparing).job(nil).claim(bound).pod(inits(ends("prepare", 0, ""))).obj(),
			want{phase: v1alpha1.PhasePreparing},
		},
		"preparing deadline": {
			"4 GiB at 5 MB/s take 858 s, the least limit is 900",
			makeObservation().phase(v1alpha1.PhasePreparing).age(900 * time.Second).job(nil).claim(bound).pod(inits(runs("prepare"))).obj(),
			want{outcome: v1alpha1.ReasonPreparingTimedOut, said: "timeouts.preparingSeconds (900)"},
		},
		"running": {
			"the engine measures",
			makeObservation().phase(v1alpha1.PhasePreparing).job(nil).claim(bound).pod(containers(runs("engine"))).obj(),
			want{phase: v1alpha1.PhaseRunning, message: "measuring, about 1m13s"},
		},
		"draining": {
			"it ends when the credits have run out, which nobody can foretell",
			makeObservation().phase(v1alpha1.PhasePreparing).spec(func(s *v1alpha1.DiskBenchmarkSpec) { s.Sustained = ptr.To(v1alpha1.SustainedDrain) }).
				striped(1).job(nil).claim(bound).pod(containers(runs("engine"))).obj(),
			want{phase: v1alpha1.PhaseRunning, message: "measuring, at most 46m13s"},
		},
		"running deadline": {
			"68 planned seconds, 5 of them for the probe, and 300",
			makeObservation().phase(v1alpha1.PhaseRunning).age(368 * time.Second).job(nil).claim(bound).pod(containers(runs("engine"))).obj(),
			want{outcome: v1alpha1.ReasonRunningTimedOut, said: "timeouts.runningSeconds (368)"},
		},
		"suspended mid-run": {
			"stopped and cleaned up; resuming is a new run",
			makeObservation().phase(v1alpha1.PhaseRunning).job(nil).claim(bound).pod(containers(runs("engine"))).suspend().obj(),
			want{outcome: v1alpha1.ReasonSuspended},
		},
		"edited mid-run": {
			"case 38: superseded",
			makeObservation().phase(v1alpha1.PhaseRunning).job(nil).claim(bound).pod(containers(runs("engine"))).edited().obj(),
			want{outcome: v1alpha1.ReasonSuperseded},
		},
		"another hash without an edit": {
			"a new default of the schema changes what is read, and nobody has edited anything",
			makeObservation().phase(v1alpha1.PhaseRunning).job(nil).claim(bound).pod(containers(runs("engine"))).hash("v1:other").obj(),
			want{phase: v1alpha1.PhaseRunning},
		},
		"an edit that is not measured": {
			"targets and the like",
			makeObservation().phase(v1alpha1.PhaseRunning).job(nil).claim(bound).pod(containers(runs("engine"))).generation(2).obj(),
			want{phase: v1alpha1.PhaseRunning},
		},
		"Job suspended": {
			"a queueing controller holds it; clocks stand still",
			scheduling().age(5000 * time.Second).job(suspendedByOthers).obj(),
			want{action: ActionNone, state: Held, reason: v1alpha1.ReasonSuspended, phase: v1alpha1.PhaseScheduling},
		},
		"Job resumed": {
			"the clock of the phase begins anew",
			scheduling().age(5000*time.Second).ready(v1alpha1.ReasonSuspended, "").pod(nil).obj(),
			want{state: Working, phase: v1alpha1.PhaseScheduling},
		},
		"Job suspended after its start": {
			"what it measured is void",
			makeObservation().phase(v1alpha1.PhaseRunning).boundPod().job(suspendedByOthers).claim(bound).pod(containers(runs("engine"))).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "was suspended after its pod had started"},
		},
	})
}

func TestDecideOutcome(t *testing.T) {
	running := func() *builder {
		return makeObservation().phase(v1alpha1.PhaseRunning).boundPod().job(nil).claim(bound)
	}
	failure := string(report.EncodeFailure(report.Failf(report.ReasonNoSpace, "4 GiB do not fit")))
	whole := encoded(t)
	progress := strings.Repeat(`{"phase":"Measuring","iops":500}`+"\n", 100) + "last words"
	check(t, map[string]decideCase{
		"success": {
			"figures and outcome are stored together, before anything is deleted",
			running().pod(containers(ends("engine", 0, whole))).obj(),
			want{action: ActionNone, phase: v1alpha1.PhaseCleaningUp, outcome: v1alpha1.ReasonCompleted},
		},
		"success beside a sidecar": {
			"the pod, and so the Job, runs for ever",
			running().pod(containers(ends("engine", 0, whole), runs("istio-proxy"))).obj(),
			want{outcome: v1alpha1.ReasonCompleted},
		},
		"success, then drained": {
			"a whole result is a whole result",
			running().pod(func(p *corev1.Pod) { containers(ends("engine", 0, whole))(p); disrupted(p) }).obj(),
			want{outcome: v1alpha1.ReasonCompleted},
		},
		"no result": {
			"case 36: exit code 0 is not success",
			running().pod(containers(ends("engine", 0, ""))).obj(),
			want{outcome: v1alpha1.ReasonResultLost, said: "empty"},
		},
		"cut result": {
			"a checksum tells it",
			running().pod(containers(ends("engine", 0, whole[:len(whole)-5]))).obj(),
			want{outcome: v1alpha1.ReasonResultLost, said: "cut or damaged"},
		},
		"engine's failure": {
			"its own reason and words",
			running().pod(containers(ends("engine", 9, failure))).obj(),
			want{outcome: "NoSpace", said: "4 GiB do not fit"},
		},
		"failure with exit code 0": {
			"never a success",
			running().pod(containers(ends("engine", 0, failure))).obj(),
			want{outcome: "NoSpace"},
		},
		"result with exit code 1": {
			"the engine knows best that something went wrong",
			running().pod(containers(ends("engine", 1, whole))).obj(),
			want{outcome: v1alpha1.ReasonEngineFailed, said: "exit code 1"},
		},
		"exit code without words": {
			"case 36: a reason all the same",
			running().pod(containers(ends("engine", 2, "panic: index out of range"))).obj(),
			want{outcome: v1alpha1.ReasonEngineFailed, said: "container engine ended with exit code 2: panic: index"},
		},
		"killed": {
			"the signal is in the exit code; progress, its first line cut, is not what ended the engine",
			running().pod(containers(ends("engine", 137, progress[len(progress)-maxKubeletLog:]))).obj(),
			want{outcome: v1alpha1.ReasonEngineFailed, said: "container engine was ended by signal 9: last words"},
		},
		"prepare's failure": {
			"the layout has a message too",
			makeObservation().phase(v1alpha1.PhasePreparing).boundPod().job(nil).claim(bound).pod(inits(ends("prepare", 9, failure))).obj(),
			want{outcome: "NoSpace"},
		},
		"out of memory": {
			"the kubelet says so, not the engine",
			running().pod(containers(oomKilled("engine"))).obj(),
			want{outcome: v1alpha1.ReasonOutOfMemory, said: "limits.memory"},
		},
		"wrong architecture": {
			"case 15",
			running().node("arm64").pod(containers(ends("engine", 255, "exec /diskbench-engine: exec format error"))).obj(),
			want{outcome: v1alpha1.ReasonEngineFailed, said: "image example.test/engine:v1 lacks arm64"},
		},
		"drained": {
			"case 18: a disruption explains whatever the engine says",
			running().pod(func(p *corev1.Pod) { containers(ends("engine", 9, failure))(p); disrupted(p) }).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "EvictionByEvictionAPI: drained"},
		},
		"evicted by the kubelet": {
			"no container says anything",
			running().pod(func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "The node was low on memory"
			}).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "Evicted: The node was low on memory"},
		},
		"pod gone": {
			"deleted by hand: there is no result any more",
			running().obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "Pod b-1-pod was deleted"},
		},
		"another pod": {
			"case 37: attempts are kept apart by the pod's UID",
			running().pod(func(p *corev1.Pod) { containers(ends("engine", 0, whole))(p); p.UID = "second" }).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "Pod b-1-pod was deleted"},
		},
		"pod gone after completing": {
			"its result is gone with it",
			running().job(completed).obj(),
			want{outcome: v1alpha1.ReasonResultLost, said: "completed and was deleted"},
		},
		"Job failed, pod still ends": {
			"never the Job's conditions alone: the pod's last word may be on its way",
			running().job(failedJob("BackoffLimitExceeded")).pod(containers(runs("engine"))).obj(),
			want{phase: v1alpha1.PhaseRunning},
		},
		"Job failed without a pod": {
			"its pod failed and went before it was seen to start",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(failedJob("BackoffLimitExceeded")).claim(bound).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "BackoffLimitExceeded"},
		},
		"Job's backstop": {
			"the operator was away for longer than all phases together",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(failedJob(batchv1.JobReasonDeadlineExceeded)).claim(bound).obj(),
			want{outcome: v1alpha1.ReasonSchedulingTimedOut, said: "activeDeadlineSeconds"},
		},
		"Job deleted": {
			"by somebody else: it is not made again",
			makeObservation().phase(v1alpha1.PhaseScheduling).claim(bound).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "Job b-1 was deleted"},
		},
		"claim deleted": {
			"a pod that has not started waits for it for ever",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).pod(nil).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "PersistentVolumeClaim b-1 was deleted"},
		},
		"one of two claims deleted": {
			"the pod waits for each",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).striped(2).claims(bound).pod(nil).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "PersistentVolumeClaim b-1-1 was deleted"},
		},
		"one of two volumes lost": {
			"half a stripe is none",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).striped(2).claims(bound, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost }).pod(nil).obj(),
			want{outcome: v1alpha1.ReasonInterrupted, said: "PersistentVolumeClaim b-1-1 has lost its PersistentVolume"},
		},
		"image not there, at first": {
			"a registry may have a bad minute",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(bound).pod(pulling("ErrImagePull", "connection refused", 59*time.Second)).obj(),
			want{phase: v1alpha1.PhaseScheduling, message: "connection refused"},
		},
		"image not there": {
			"case 14",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(bound).pod(pulling("ImagePullBackOff", "not found", 60*time.Second)).obj(),
			want{outcome: v1alpha1.ReasonImagePullFailed, said: "image example.test/engine:v1: ImagePullBackOff: not found"},
		},
		"image name invalid": {
			"it does not get better",
			makeObservation().phase(v1alpha1.PhaseScheduling).job(nil).claim(bound).pod(pulling("InvalidImageName", "bad", 0)).obj(),
			want{outcome: v1alpha1.ReasonImagePullFailed},
		},
		"image of another platform": {
			"case 15",
			makeObservation().phase(v1alpha1.PhaseScheduling).node("arm64").job(nil).claim(bound).pod(pulling("ErrImagePull", "no match for platform in manifest", 0)).obj(),
			want{outcome: v1alpha1.ReasonImagePullFailed, said: "lacks arm64"},
		},
	})
}

func TestDecideCleanup(t *testing.T) {
	cleaning := func(outcome string) *builder {
		return makeObservation().phase(v1alpha1.PhaseCleaningUp).outcome(outcome)
	}
	never := func(s *v1alpha1.DiskBenchmarkSpec) { s.Cleanup = ptr.To(v1alpha1.CleanupNever) }
	onSuccess := func(s *v1alpha1.DiskBenchmarkSpec) { s.Cleanup = ptr.To(v1alpha1.CleanupOnSuccess) }
	done := want{action: ActionNone, state: Ended, phase: v1alpha1.PhaseDone}
	check(t, map[string]decideCase{
		"Job first": {
			"a pod pins its claim, even a finished one",
			cleaning("Completed").job(nil).claim(bound).pod(nil).obj(),
			want{action: ActionDeleteJob, state: Working},
		},
		"Job going": {"the pod goes first", cleaning("Completed").job(dying).claim(bound).pod(nil).obj(), want{action: ActionNone, state: Working}},
		"pod left":  {"it still pins the claim", cleaning("Completed").claim(bound).pod(nil).obj(), want{action: ActionNone, state: Working}},
		"claim":     {"nothing uses it now", cleaning("Completed").claim(bound).obj(), want{action: ActionDeleteClaims}},
		"some claims going": {
			"the rest has to be asked, too",
			cleaning("Completed").striped(2).claims(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = ptr.To(metav1.Now()) }, bound).obj(),
			want{action: ActionDeleteClaims, message: "deleting PersistentVolumeClaim b-1-0, b-1-1"},
		},
		"claims of an older spec": {
			"an edit of volumeCount must not leave disks behind",
			cleaning(v1alpha1.ReasonSuperseded).boundClaims(3).obj(),
			want{action: ActionDeleteClaims},
		},
		"one volume of two": {
			"a disk costs until it is gone",
			cleaning("Completed").volumes(2, corev1.PersistentVolumeReclaimDelete).obj(),
			want{action: ActionNone, state: Working, message: "PersistentVolume pv-1-0 (/disks/1-0), pv-1-1 (/disks/1-1)"},
		},
		"claim going": {
			"its protection is being lifted",
			cleaning("Completed").claim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = ptr.To(metav1.Now()) }).obj(),
			want{action: ActionNone, state: Working, message: "PersistentVolumeClaim b-1"},
		},
		"volume": {
			"the disk is deleted with it, and costs until then",
			cleaning("Completed").volume(corev1.PersistentVolumeReclaimDelete).obj(),
			want{action: ActionNone, state: Working, message: "PersistentVolume pv-1 (/disks/1)"},
		},
		"retained volume": {"nobody will delete it", cleaning("Completed").volume(corev1.PersistentVolumeReclaimRetain).obj(), done},
		"all gone":        {"the end", cleaning("Completed").obj(), done},
		"failed":          {"cleaned up like a success", cleaning("NoSpace").job(nil).claim(bound).obj(), want{action: ActionDeleteJob}},
		"too long": {
			"what is left is named; kubectl wait returns",
			cleaning("Completed").age(600 * time.Second).job(dying).claim(bound).obj(), done,
		},
		"Never":               {"case 42", cleaning("NoSpace").spec(never).job(nil).claim(bound).obj(), done},
		"OnSuccess, failed":   {"case 42: kept to look into", cleaning("NoSpace").spec(onSuccess).job(nil).claim(bound).obj(), done},
		"OnSuccess, success":  {"case 42", cleaning("Completed").spec(onSuccess).job(nil).claim(bound).obj(), want{action: ActionDeleteJob}},
		"Never, superseded":   {"the next run needs the room", cleaning(v1alpha1.ReasonSuperseded).spec(never).job(nil).obj(), want{action: ActionDeleteJob}},
		"Never, suspended":    {"suspending asks for the room", cleaning(v1alpha1.ReasonSuspended).spec(never).suspend().job(nil).obj(), want{action: ActionDeleteJob}},
		"superseded, gone":    {"the next run follows at once", cleaning(v1alpha1.ReasonSuperseded).obj(), want{action: ActionStart, phase: v1alpha1.PhasePending}},
		"superseded, on hold": {"edited and suspended", cleaning(v1alpha1.ReasonSuperseded).suspend().obj(), want{action: ActionNone, state: Held, phase: v1alpha1.PhaseDone}},
		"superseded, stuck": {
			"the old claim hangs; the next run has other names",
			cleaning(v1alpha1.ReasonSuperseded).age(600 * time.Second).claim(bound).obj(),
			want{action: ActionStart},
		},
		"edited again": {
			"superseded once is enough",
			cleaning(v1alpha1.ReasonSuperseded).edited().job(nil).obj(), want{action: ActionDeleteJob},
		},
		"edited while cleaning up": {
			"the figures move to history, and the next run follows",
			cleaning("Completed").edited().job(nil).obj(), want{outcome: v1alpha1.ReasonSuperseded},
		},
		"existing claim": {
			"it is never ours to delete",
			cleaning("Completed").existing(existingClaim(nil)).obj(), done,
		},
	})
}

func TestDecideDone(t *testing.T) {
	done := func(outcome string) *builder { return makeObservation().phase(v1alpha1.PhaseDone).outcome(outcome) }
	still := want{action: ActionNone, state: Ended, phase: v1alpha1.PhaseDone}
	check(t, map[string]decideCase{
		"nothing":            {"case 38: an unchanged re-apply", done("Completed").obj(), still},
		"suspended":          {"after the end it has no effect", done("Completed").generation(2).suspend().obj(), still},
		"unmeasured edit":    {"targets are judged anew without a run", done("Completed").generation(2).obj(), still},
		"measured edit":      {"a new run, after what the old one has kept", done("Completed").edited().obj(), want{outcome: v1alpha1.ReasonSuperseded}},
		"failed, then edit":  {"a failed run too", done("NoSpace").edited().obj(), want{outcome: v1alpha1.ReasonSuperseded}},
		"stopped, on hold":   {"suspend is still true", done(v1alpha1.ReasonSuspended).suspend().obj(), want{state: Held, reason: v1alpha1.ReasonSuspended}},
		"stopped, resumed":   {"resuming is a new run", done(v1alpha1.ReasonSuspended).generation(2).obj(), want{action: ActionStart}},
		"superseded, go":     {"it waited for suspend to become false", done(v1alpha1.ReasonSuperseded).generation(2).obj(), want{action: ActionStart}},
		"a default changed":  {"an operator upgrade never starts a run", done("Completed").hash("v1:other").obj(), still},
		"kept, policy stays": {"nothing to do", done("NoSpace").generation(2).spec(func(s *v1alpha1.DiskBenchmarkSpec) { s.Cleanup = ptr.To(v1alpha1.CleanupNever) }).job(nil).claim(bound).obj(), still},
		"kept, then Always": {
			"an edit of cleanup lets the kept children go",
			done("NoSpace").generation(2).job(nil).claim(bound).obj(), want{action: ActionNone, state: Working, phase: v1alpha1.PhaseCleaningUp},
		},
	})
}
