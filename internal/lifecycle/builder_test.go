// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/plan"
)

// now is a time on a whole second, as times are stored.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const podUID = "first"

// builder makes observations: of run 1 of DiskBenchmark bench/b, which measures randread on a new
// volume of class fast, whose spec was not edited, with a free slot and none of its children.
type builder struct{ o Observation }

func makeObservation() *builder {
	b := &builder{Observation{
		Now:  now,
		Hash: "v1:one",
		Slot: Slot{Admitted: true, Limit: 1},
		Benchmark: &v1alpha1.DiskBenchmark{
			ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "bench", UID: "uid", Generation: 1},
			Spec: v1alpha1.DiskBenchmarkSpec{
				StorageClassName: ptr.To("fast"), Size: ptr.To(resource.MustParse("32Gi")),
				Workloads: []v1alpha1.Workload{{Preset: ptr.To("randread")}},
			},
			Status: v1alpha1.DiskBenchmarkStatus{ObservedGeneration: 1, Run: &v1alpha1.Run{
				Number: 1, Name: "b-1", SpecHash: "v1:one", Phase: v1alpha1.PhasePending, PhaseTime: metav1.NewTime(now),
			}},
		},
	}}
	b.o.Plan, b.o.PlanErr = plan.Build(&b.o.Benchmark.Spec)
	return b
}

func (b *builder) obj() Observation { return b.o }

func (b *builder) run() *v1alpha1.Run { return b.o.Benchmark.Status.Run }

func (b *builder) noRun() *builder {
	b.o.Benchmark.Status = v1alpha1.DiskBenchmarkStatus{ObservedGeneration: -1}
	return b
}

func (b *builder) deleting() *builder {
	b.o.Benchmark.DeletionTimestamp = ptr.To(metav1.NewTime(now))
	return b
}

func (b *builder) suspend() *builder {
	b.o.Benchmark.Spec.Suspend = ptr.To(true)
	return b
}

func (b *builder) spec(vary func(*v1alpha1.DiskBenchmarkSpec)) *builder {
	vary(&b.o.Benchmark.Spec)
	return b
}

func (b *builder) generation(n int64) *builder {
	b.o.Benchmark.Generation = n
	return b
}

func (b *builder) hash(h string) *builder {
	b.o.Hash = h
	return b
}

func (b *builder) edited() *builder { return b.generation(2).hash("v1:two") }

func (b *builder) phase(p v1alpha1.Phase) *builder {
	b.run().Phase = p
	if p != v1alpha1.PhasePending {
		b.run().StartTime = ptr.To(metav1.NewTime(now))
	}
	return b
}

// age is how long the phase lasts already.
func (b *builder) age(d time.Duration) *builder {
	b.run().PhaseTime = metav1.NewTime(now.Add(-d))
	return b
}

func (b *builder) outcome(reason string) *builder {
	b.run().Outcome, b.run().OutcomeMessage = reason, "in words"
	return b
}

// boundPod says that the pod was seen to start.
func (b *builder) boundPod() *builder {
	b.run().PodName, b.run().PodUID = "b-1-pod", podUID
	return b
}

func (b *builder) ready(reason, message string) *builder {
	b.o.Benchmark.Status.Conditions = append(b.o.Benchmark.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	})
	return b
}

func (b *builder) stalledFor(d time.Duration) *builder {
	b.o.Benchmark.Status.Conditions = append(b.o.Benchmark.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: "Blocked",
		LastTransitionTime: metav1.NewTime(now.Add(-d)),
	})
	return b
}

func (b *builder) planError(message string) *builder {
	b.o.PlanErr = errors.New(message)
	return b
}

func (b *builder) refused(kind RefusalKind, message string) *builder {
	b.o.Refusal = &Refusal{Kind: kind, Message: message}
	return b
}

func (b *builder) stranger(name string) *builder {
	b.o.Stranger = name
	return b
}

func (b *builder) slot(s Slot) *builder {
	b.o.Slot = s
	return b
}

func (b *builder) class(vary func(*storagev1.StorageClass)) *builder {
	b.o.Class = &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "disk.example.test"}
	if vary != nil {
		vary(b.o.Class)
	}
	return b
}

func waitForConsumer(c *storagev1.StorageClass) {
	c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
}

func v2ReadOnly(c *storagev1.StorageClass) {
	c.Parameters = map[string]string{"skuName": "PremiumV2_LRS", "cachingMode": "ReadOnly"}
}

func ultra(c *storagev1.StorageClass) {
	c.Parameters = map[string]string{"skuname": "UltraSSD_LRS", "cachingMode": "None"}
}

func (b *builder) claim(vary func(*corev1.PersistentVolumeClaim)) *builder {
	b.o.Claims = nil
	return b.addClaim("b-1", vary)
}

// claims are those of several volumes, each varied by its function.
func (b *builder) claims(vary ...func(*corev1.PersistentVolumeClaim)) *builder {
	b.o.Claims = nil
	for i, v := range vary {
		b.addClaim(fmt.Sprintf("b-1-%d", i), v)
	}
	return b
}

// boundClaims are so many.
func (b *builder) boundClaims(n int) *builder {
	return b.claims(slices.Repeat([]func(*corev1.PersistentVolumeClaim){bound}, n)...)
}

func (b *builder) addClaim(name string, vary func(*corev1.PersistentVolumeClaim)) *builder {
	c := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench", CreationTimestamp: metav1.NewTime(now)},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("fast")},
	}
	if vary != nil {
		vary(&c)
	}
	b.o.Claims = append(b.o.Claims, c)
	return b
}

// striped makes the spec ask for so many volumes.
func (b *builder) striped(n int32) *builder {
	b.o.Benchmark.Spec.VolumeCount = &n
	b.o.Plan, b.o.PlanErr = plan.Build(&b.o.Benchmark.Spec)
	return b
}

// bound is to a volume whose name is the claim's with another beginning.
func bound(c *corev1.PersistentVolumeClaim) {
	c.Spec.VolumeName = "pv" + strings.TrimPrefix(c.Name, "b")
	c.Status.Phase = corev1.ClaimBound
}

func nodeSelected(c *corev1.PersistentVolumeClaim) {
	c.Annotations = map[string]string{selectedNode: "n"}
}

// existing makes the spec name a claim, which may or may not exist.
func (b *builder) existing(c *corev1.PersistentVolumeClaim) *builder {
	b.o.Benchmark.Spec.StorageClassName, b.o.Benchmark.Spec.Size = nil, nil
	b.o.Benchmark.Spec.ClaimName = ptr.To("data")
	b.o.ExistingClaim = c
	return b
}

func existingClaim(vary func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "bench"},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
	}
	if vary != nil {
		vary(c)
	}
	return c
}

func (b *builder) volume(policy corev1.PersistentVolumeReclaimPolicy) *builder {
	return b.addVolume("-1", policy)
}

// volumes are those of so many claims.
func (b *builder) volumes(n int, policy corev1.PersistentVolumeReclaimPolicy) *builder {
	for i := range n {
		b.addVolume(fmt.Sprintf("-1-%d", i), policy)
	}
	return b
}

func (b *builder) addVolume(suffix string, policy corev1.PersistentVolumeReclaimPolicy) *builder {
	b.o.Volumes = append(b.o.Volumes, corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv" + suffix},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: policy,
			ClaimRef:                      &corev1.ObjectReference{Namespace: "bench", Name: "b" + suffix},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.test", VolumeHandle: "/disks/" + suffix[1:]},
			},
		},
	})
	return b
}

func (b *builder) node(architecture string) *builder {
	b.o.Node = &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{Architecture: architecture}}}
	return b
}

func (b *builder) event(kind, reason, message string) *builder {
	b.o.Events = append(b.o.Events, corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind}, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(now),
	})
	return b
}

func (b *builder) job(vary func(*batchv1.Job)) *builder {
	b.o.Job = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "b-1", Namespace: "bench"}}
	if vary != nil {
		vary(b.o.Job)
	}
	return b
}

func suspendedByOthers(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }

func dying(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }

func completed(j *batchv1.Job) {
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
}

func failedJob(reason string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason}}
	}
}

// pod adds a pod of the run, as the Job controller has just made it.
func (b *builder) pod(vary func(*corev1.Pod)) *builder {
	encoded, err := plan.Encode(b.o.Plan)
	if err != nil {
		panic(err)
	}
	_, args := plan.Arguments(encoded)
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "b-1-pod", Namespace: "bench", UID: podUID, CreationTimestamp: metav1.NewTime(now)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Image: "example.test/engine:v1", Args: args}}},
	}
	if vary != nil {
		vary(&p)
	}
	b.o.Pods = append(b.o.Pods, p)
	return b
}

func placed(p *corev1.Pod) { p.Spec.NodeName = "n" }

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message,
		}}
	}
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "drained",
	})
}

func inits(s ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { placed(p); p.Status.InitContainerStatuses = s }
}

func containers(s ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { placed(p); p.Status.ContainerStatuses = s }
}

// pulling is a pod whose sandbox has been ready for a while.
func pulling(reason, message string, since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		placed(p)
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-since)),
		}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "prepare", Image: "example.test/engine:v1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	}
}

func runs(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)},
	}}
}

func ends(name string, exitCode int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Message: message, StartedAt: metav1.NewTime(now.Add(-time.Minute)), FinishedAt: metav1.NewTime(now),
		},
	}}
}

func oomKilled(name string) corev1.ContainerStatus {
	s := ends(name, 137, "")
	s.State.Terminated.Reason = "OOMKilled"
	return s
}

// encoded is the termination message of a run of randread.
func encoded(t *testing.T) string {
	t.Helper()
	total := report.NewFigures(30000, 30000*4096, 60e9, report.Latency{
		MeanNanos: 2e6, StddevNanos: 1e5, MinNanos: 1e6, MaxNanos: 9e6, P99Nanos: ptr.To[int64](3e6),
	})
	m, err := report.Encode(&report.Report{
		EngineVersion: "v1", IOEngine: workload.IOUring, DirectIO: true, Kernel: "6.12",
		Workloads: []report.Workload{{
			Name: "randread", FileSizeBytes: workload.DefaultFileSizeBytes, WindowNanos: 60e9, Read: total, Total: total,
			Repetitions: []report.Repetition{{WindowNanos: 60e9, IOPS: 500, P99Nanos: ptr.To[int64](3e6)}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(m)
}
