// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/internal/plan"
)

// recordRequest stores what was asked for, to be shown while the real thing is not there yet.
func recordRequest(o Observation, run *v1alpha1.Run) {
	run.StorageClassName = ptr.Deref(o.spec().StorageClassName, "")
	if o.spec().Size != nil {
		run.Size = ptr.To(o.spec().Size.DeepCopy())
	}
	run.StripeSizeBytes = o.Plan.StripeSizeBytes
}

// recordFacts stores what the children show of volume and node. With an outcome stored nothing is
// added: children that are going away, or a spec that was edited, say nothing about what was measured.
func recordFacts(o Observation, run *v1alpha1.Run) {
	stored := o.run().Outcome != ""
	if stored || run.Outcome == v1alpha1.ReasonSuperseded || run.Phase == v1alpha1.PhasePending {
		return
	}
	recordClass(o, run)
	recordVolumes(o, run)
	if pod := o.pod(); pod != nil {
		recordPod(o, pod, run)
	}
	if o.Node != nil {
		recordNode(o.Node, run)
	}
}

func recordClass(o Observation, run *v1alpha1.Run) {
	if claims := o.measuredClaims(); len(claims) > 0 {
		claim := &claims[0] // all are made alike
		run.StorageClassName = ptr.Deref(claim.Spec.StorageClassName, "")
		run.VolumeAttributesClassName = AttributesClassInEffect(claim)
	} else if o.Class != nil {
		run.StorageClassName = o.Class.Name
	}
	if c := o.Class; c != nil && c.Name == run.StorageClassName && run.Provisioner == "" {
		run.Provisioner = c.Provisioner
		run.Parameters = maps.Clone(c.Parameters)
	}
	if c := o.AttributesClass; c != nil && c.Name == run.VolumeAttributesClassName {
		run.VolumeAttributesParameters = maps.Clone(c.Parameters)
	}
}

// AttributesClassInEffect is the name of the VolumeAttributesClass that a claim's volume has; empty for none. A
// change that is pending, or that cannot be made, is not in effect.
func AttributesClassInEffect(claim *corev1.PersistentVolumeClaim) string {
	if claim.Status.ModifyVolumeStatus != nil {
		return ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "")
	}
	return ptr.Deref(claim.Spec.VolumeAttributesClassName, "")
}

func recordVolumes(o Observation, run *v1alpha1.Run) {
	claims := o.measuredClaims()
	if len(claims) == 0 {
		return
	}
	if q, ok := claims[0].Status.Capacity[corev1.ResourceStorage]; ok {
		run.Size = ptr.To(q.DeepCopy())
	}
	known := run.Volumes
	run.Volumes = nil
	for i := range claims {
		run.Volumes = append(run.Volumes, volumeFacts(o, &claims[i], known))
	}
	if pv := o.volumeOf(&claims[0]); pv != nil && pv.Spec.CSI != nil {
		run.VolumeAttributes = describing(pv.Spec.CSI.VolumeAttributes)
	}
	if o.spec().ClaimName == nil && run.ProvisioningSeconds == nil {
		run.ProvisioningSeconds = provisioningSeconds(o, claims)
	}
}

// volumeFacts are those of a claim's volume: as it is, or as it was known when it was last read.
func volumeFacts(o Observation, claim *corev1.PersistentVolumeClaim, known []v1alpha1.Volume) v1alpha1.Volume {
	v := v1alpha1.Volume{ClaimName: claim.Name, VolumeName: claim.Spec.VolumeName}
	pv := o.volumeOf(claim)
	if pv == nil {
		for _, k := range known {
			if k.ClaimName == v.ClaimName && k.VolumeName == v.VolumeName {
				return k
			}
		}
		return v
	}
	v.ReclaimPolicy = string(pv.Spec.PersistentVolumeReclaimPolicy)
	if pv.Spec.CSI != nil {
		v.Driver, v.VolumeHandle = pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
	}
	return v
}

// describingAttributes are those of a volume that say what disk it is, in lower case: disk.csi.azure.com
// takes names in any. Others may be of any number, and hold what a status should not show.
var describingAttributes = []string{
	"skuname", "storageaccounttype", "cachingmode", "diskiopsreadwrite", "diskmbpsreadwrite", "enablebursting",
	"enableperformanceplus", "maxshares", "location", "logicalsectorsize", "requestedsizegib",
}

// maxAttribute is longer than any value of theirs.
const maxAttribute = 63

func describing(attributes map[string]string) map[string]string {
	var out map[string]string
	for name, v := range attributes {
		if !slices.Contains(describingAttributes, strings.ToLower(name)) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = cut(v, maxAttribute)
	}
	return out
}

// provisioningSeconds are from the first claim's creation to the last one's binding, as the volumes
// tell it where Kubernetes is new enough to record that. It is absent while any is not bound, or is
// bound to a volume that was not read.
func provisioningSeconds(o Observation, claims []corev1.PersistentVolumeClaim) *int64 {
	if len(claims) < plan.Volumes(o.spec()) {
		return nil
	}
	first := claims[0].CreationTimestamp.Time
	var last time.Time
	for i := range claims {
		pv := o.volumeOf(&claims[i])
		if claims[i].Status.Phase != corev1.ClaimBound || pv == nil {
			return nil
		}
		if t := claims[i].CreationTimestamp.Time; t.Before(first) {
			first = t
		}
		bound := o.Now
		if t := boundTime(pv); t != nil {
			bound = *t
		}
		if bound.After(last) {
			last = bound
		}
	}
	return wholeSeconds(first, last)
}

// boundTime is when a volume came to be bound; nil while it is not, and where that is not recorded.
func boundTime(pv *corev1.PersistentVolume) *time.Time {
	if pv.Status.Phase != corev1.VolumeBound || pv.Status.LastPhaseTransitionTime == nil {
		return nil
	}
	return &pv.Status.LastPhaseTransitionTime.Time
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

// attachingSeconds are from the pod's placement, or the last claim's binding if that came later, to the
// first container's start.
func attachingSeconds(o Observation, pod *corev1.Pod, begin time.Time) *int64 {
	from := conditionTime(pod, corev1.PodScheduled)
	if from == nil {
		return nil
	}
	for i := range o.Volumes {
		if t := boundTime(&o.Volumes[i]); t != nil && t.After(*from) {
			from = t
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

// driverZone is the zone label of disk.csi.azure.com.
const driverZone = "topology.disk.csi.azure.com/zone"

func recordNode(n *corev1.Node, run *v1alpha1.Run) {
	run.VMSize = n.Labels[corev1.LabelInstanceTypeStable]
	run.Region = n.Labels[corev1.LabelTopologyRegion]
	run.Zone = cmp.Or(n.Labels[corev1.LabelTopologyZone], n.Labels[driverZone])
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
