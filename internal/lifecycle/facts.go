// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
)

// recordRequest stores what was asked for, to be shown while the real thing is not there yet.
func recordRequest(o Observation, run *v1alpha1.Run) {
	run.StorageClassName = ptr.Deref(o.spec().StorageClassName, "")
	if o.spec().Size != nil {
		run.Size = ptr.To(o.spec().Size.DeepCopy())
	}
}

// recordFacts stores what the children show of volume and node. With an outcome stored nothing is
// added: children that are going away, or a spec that was edited, say nothing about what was measured.
func recordFacts(o Observation, run *v1alpha1.Run) {
	stored := o.run().Outcome != ""
	if stored || run.Outcome == v1alpha1.ReasonSuperseded || run.Phase == v1alpha1.PhasePending {
		return
	}
	recordClass(o, run)
	recordVolume(o, run)
	if pod := o.pod(); pod != nil {
		recordPod(o, pod, run)
	}
	if o.Node != nil {
		recordNode(o.Node, run)
	}
}

func recordClass(o Observation, run *v1alpha1.Run) {
	if claim := o.measuredClaim(); claim != nil {
		run.StorageClassName = ptr.Deref(claim.Spec.StorageClassName, "")
		run.VolumeAttributesClassName = ptr.Deref(claim.Spec.VolumeAttributesClassName, "")
	} else if o.Class != nil {
		run.StorageClassName = o.Class.Name
	}
	if c := o.Class; c != nil && c.Name == run.StorageClassName && run.Provisioner == "" {
		run.Provisioner = c.Provisioner
		run.Parameters = maps.Clone(c.Parameters)
	}
}

func recordVolume(o Observation, run *v1alpha1.Run) {
	claim := o.measuredClaim()
	if claim == nil {
		return
	}
	if q, ok := claim.Status.Capacity[corev1.ResourceStorage]; ok {
		run.Size = ptr.To(q.DeepCopy())
	}
	v := v1alpha1.Volume{ClaimName: claim.Name, VolumeName: claim.Spec.VolumeName}
	if pv := o.Volume; pv != nil && pv.Name == claim.Spec.VolumeName {
		v.ReclaimPolicy = string(pv.Spec.PersistentVolumeReclaimPolicy)
		if pv.Spec.CSI != nil {
			v.Driver, v.VolumeHandle = pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
		}
		if o.spec().ClaimName == nil && run.ProvisioningSeconds == nil {
			run.ProvisioningSeconds = provisioningSeconds(o, claim, pv)
		}
	} else if len(run.Volumes) == 1 && run.Volumes[0].VolumeName == v.VolumeName {
		return
	}
	run.Volumes = []v1alpha1.Volume{v}
}

// provisioningSeconds are from the claim's creation to its binding, as the volume tells it where
// Kubernetes is new enough to record that.
func provisioningSeconds(o Observation, claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) *int64 {
	if claim.Status.Phase != corev1.ClaimBound {
		return nil
	}
	bound := o.Now
	if t := pv.Status.LastPhaseTransitionTime; t != nil && pv.Status.Phase == corev1.VolumeBound {
		bound = t.Time
	}
	return wholeSeconds(claim.CreationTimestamp.Time, bound)
}

func recordPod(o Observation, pod *corev1.Pod, run *v1alpha1.Run) {
	run.NodeName = pod.Spec.NodeName
	if len(pod.Spec.Containers) > 0 {
		run.Image = pod.Spec.Containers[0].Image
	}
	prepare, engine := containerStatus(pod, prepareContainer), containerStatus(pod, engineContainer)
	if started(prepare) || started(engine) {
		run.PodName, run.PodUID = pod.Name, pod.UID
	}
	if begin := startedAt(prepare); begin != nil && run.AttachingSeconds == nil {
		run.AttachingSeconds = attachingSeconds(o, pod, *begin)
	}
	run.PreparingSeconds = lasted(prepare)
	run.MeasuringSeconds = lasted(engine)
}

// attachingSeconds are from the pod's placement, or the claim's binding if that came later, to the
// first container's start.
func attachingSeconds(o Observation, pod *corev1.Pod, begin time.Time) *int64 {
	from := conditionTime(pod, corev1.PodScheduled)
	if from == nil {
		return nil
	}
	if pv := o.Volume; pv != nil && pv.Status.Phase == corev1.VolumeBound {
		if t := pv.Status.LastPhaseTransitionTime; t != nil && t.After(*from) {
			from = &t.Time
		}
	}
	return wholeSeconds(*from, begin)
}

func startedAt(s *corev1.ContainerStatus) *time.Time {
	switch {
	case s == nil:
		return nil
	case s.State.Running != nil:
		return &s.State.Running.StartedAt.Time
	case s.State.Terminated != nil:
		return &s.State.Terminated.StartedAt.Time
	default:
		return nil
	}
}

// lasted is how long an ended container ran.
func lasted(s *corev1.ContainerStatus) *int64 {
	if s == nil || s.State.Terminated == nil || s.State.Terminated.StartedAt.IsZero() {
		return nil
	}
	return wholeSeconds(s.State.Terminated.StartedAt.Time, s.State.Terminated.FinishedAt.Time)
}

// wholeSeconds between two clocks' times: never negative, since the clocks may differ.
func wholeSeconds(from, to time.Time) *int64 {
	return ptr.To(max(0, int64(to.Sub(from)/time.Second)))
}

func recordNode(n *corev1.Node, run *v1alpha1.Run) {
	run.VMSize = n.Labels[corev1.LabelInstanceTypeStable]
	run.Region = n.Labels[corev1.LabelTopologyRegion]
	run.Zone = n.Labels[corev1.LabelTopologyZone]
	if run.Kernel == "" { // the engine's word counts more: a sandbox may have a kernel of its own
		run.Kernel = n.Status.NodeInfo.KernelVersion
	}
}

func recordReport(run *v1alpha1.Run, r *report.Report) {
	run.EngineVersion = r.EngineVersion
	run.IOEngine = v1alpha1.IOEngine(r.IOEngine)
	run.Filesystem = r.Target.Filesystem
	run.Device = r.Target.Device
	run.LogicalBlockSizeBytes = r.Target.LogicalBlockBytes
	run.Queue = queue(r.Target.Queue)
	run.IOEngineFallbacks = nil
	for _, f := range r.Fallbacks {
		run.IOEngineFallbacks = append(run.IOEngineFallbacks, string(f.IOEngine)+": "+f.Reason)
	}
	if r.Kernel != "" {
		run.Kernel = r.Kernel
	}
}

func queue(q *report.Queue) *v1alpha1.Queue {
	if q == nil {
		return nil
	}
	out := &v1alpha1.Queue{
		Scheduler: q.Scheduler, Requests: q.Requests, DeviceDepth: q.DeviceDepth, MaxIOBytes: q.MaxIOBytes,
		WriteCache: v1alpha1.WriteCacheThrough, FUA: v1alpha1.FUAUnsupported,
	}
	if q.WriteBack {
		out.WriteCache = v1alpha1.WriteCacheBack
	}
	if q.FUA {
		out.FUA = v1alpha1.FUASupported
	}
	return out
}
