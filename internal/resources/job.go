// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
)

const (
	// PrepareContainer is the init container that writes the file.
	PrepareContainer = "prepare"
	// EngineContainer is the container that measures.
	EngineContainer = "engine"

	enginePath   = "/diskbench-engine"
	volumePrefix = "volume"

	// nonRoot is the user and group of distroless images, which no node gives to anything else.
	nonRoot = int64(65532)
)

// Defaults of pod.resources. Requests that a node of two cores can meet beside its own pods; no
// limits, since a throttled engine measures the throttle.
var (
	defaultCPU    = resource.MustParse("500m")
	defaultMemory = resource.MustParse("128Mi")
)

// JobOptions are what the Job needs beside the DiskBenchmark.
type JobOptions struct {
	// Image of the engine, where spec.engine.image does not name one.
	Image string
	// Plan is the engine's encoded plan.
	Plan string
	// BusyHosts are the values of kubernetes.io/hostname of the nodes that other runs measure on: two on
	// one node would measure each other.
	BusyHosts []string
	// BackstopSeconds after its creation the Job is ended by Kubernetes, when the operator is away.
	BackstopSeconds int64
}

// Image is the engine's image: the spec's, or the operator's own.
func Image(b *v1alpha1.DiskBenchmark, fallback string) string {
	if b.Spec.Engine != nil && b.Spec.Engine.Image != nil {
		return *b.Spec.Engine.Image
	}
	return fallback
}

// Job runs the engine once. It is never retried: a second attempt would be another measurement, of
// a volume that the first has written to. There is no ttlSecondsAfterFinished, which would take the
// result away before it is read.
func Job(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run, o JobOptions) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: objectMeta(b, run),
		Spec: batchv1.JobSpec{
			Parallelism:           ptr.To[int32](1),
			Completions:           ptr.To[int32](1),
			BackoffLimit:          ptr.To[int32](0),
			ActiveDeadlineSeconds: ptr.To(o.BackstopSeconds),
			PodReplacementPolicy:  ptr.To(batchv1.Failed),
			PodFailurePolicy: &batchv1.PodFailurePolicy{
				// Ignore would start a second pod after a disruption.
				Rules: []batchv1.PodFailurePolicyRule{{
					Action: batchv1.PodFailurePolicyActionFailJob,
					OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
						Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
					}},
				}},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: podMeta(b, run),
				Spec:       podSpec(b, run, o),
			},
		},
	}
}

// podMeta asks meshes to stay away, since their sidecars keep the pod running after the engine has
// ended, and autoscalers to leave the pod where it is.
func podMeta(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run) metav1.ObjectMeta {
	labels := map[string]string{"sidecar.istio.io/inject": "false"}
	annotations := map[string]string{
		"sidecar.istio.io/inject":                        "false",
		"linkerd.io/inject":                              "disabled",
		"karpenter.sh/do-not-disrupt":                    "true",
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	}
	if p := b.Spec.Pod; p != nil {
		maps.Copy(labels, p.Labels)
		maps.Copy(annotations, p.Annotations)
	}
	maps.Copy(labels, Labels(b, run.Number))
	return metav1.ObjectMeta{Labels: labels, Annotations: annotations}
}

func podSpec(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run, o JobOptions) corev1.PodSpec {
	prepare, measure := plan.Arguments(o.Plan)
	spec := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		SecurityContext:              podSecurity(b),
		NodeSelector:                 map[string]string{corev1.LabelOSStable: "linux"},
		InitContainers:               []corev1.Container{container(b, PrepareContainer, prepare, o.Image)},
		Containers:                   []corev1.Container{container(b, EngineContainer, measure, o.Image)},
		Volumes:                      volumes(b, run),
	}
	if p := b.Spec.Pod; p != nil {
		applyOptions(&spec, p)
	}
	spec.Affinity = keepOff(spec.Affinity, o.BusyHosts)
	return spec
}

func volumes(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run) []corev1.Volume {
	var out []corev1.Volume
	names := ClaimNames(b, run)
	for i, name := range names {
		out = append(out, corev1.Volume{
			Name: volumeName(i, len(names)),
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: name,
			}},
		})
	}
	return out
}

// volumeName is the name of volume i of n within the pod.
func volumeName(i, n int) string {
	if n == 1 {
		return volumePrefix
	}
	return fmt.Sprintf("%s-%d", volumePrefix, i)
}

// keepOff adds to an affinity that the pod goes to none of the hosts. The terms of a node affinity are
// alternatives, so each of them gets it; one without any requirement matches no node and must not come
// to match the others.
func keepOff(a *corev1.Affinity, hosts []string) *corev1.Affinity {
	if len(hosts) == 0 {
		return a
	}
	off := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: hosts}
	out := &corev1.Affinity{}
	if a != nil {
		out = a.DeepCopy()
	}
	if out.NodeAffinity == nil {
		out.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{off},
		}}}
		out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
		return out
	}
	for i := range required.NodeSelectorTerms {
		if t := &required.NodeSelectorTerms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			t.MatchExpressions = append(t.MatchExpressions, off)
		}
	}
	return out
}

func applyOptions(spec *corev1.PodSpec, p *v1alpha1.PodOptions) {
	maps.Copy(spec.NodeSelector, p.NodeSelector)
	spec.Tolerations = p.Tolerations
	spec.Affinity = p.Affinity
	spec.ImagePullSecrets = p.ImagePullSecrets
	spec.RuntimeClassName = p.RuntimeClassName
	spec.PriorityClassName = ptr.Deref(p.PriorityClassName, "")
}

// podSecurity meets PodSecurity "restricted". A new filesystem belongs to root, so fsGroup makes it
// writable. On an existing claim fsGroup would change the owner of the user's files and is left out:
// runAsUser and supplementalGroups are for those. The group is named beside the user because block
// devices are given to both by the container runtime.
func podSecurity(b *v1alpha1.DiskBenchmark) *corev1.PodSecurityContext {
	user, groups := nonRoot, []int64(nil)
	if p := b.Spec.Pod; p != nil {
		user, groups = ptr.Deref(p.RunAsUser, nonRoot), p.SupplementalGroups
	}
	s := &corev1.PodSecurityContext{
		RunAsNonRoot:       ptr.To(true),
		RunAsUser:          &user,
		RunAsGroup:         &user,
		SupplementalGroups: groups,
		SeccompProfile:     &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if b.Spec.ClaimName == nil {
		s.FSGroup = &user
		s.FSGroupChangePolicy = ptr.To(corev1.FSGroupChangeOnRootMismatch)
	}
	return s
}

func container(b *v1alpha1.DiskBenchmark, name string, args []string, image string) corev1.Container {
	c := corev1.Container{
		Name:            name,
		Image:           Image(b, image),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{enginePath},
		Args:            args,
		Resources:       containerResources(b.Spec.Pod),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			RunAsNonRoot:             ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		// The engine writes its result or its failure there. When it dies without either, the end of
		// its log says why; a log is never taken for a result, which carries a checksum.
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	n := plan.Volumes(&b.Spec)
	for i := range n {
		path := plan.Path(&b.Spec, i)
		if plan.IsBlock(&b.Spec) {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: volumeName(i, n), DevicePath: path})
		} else {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volumeName(i, n), MountPath: path})
		}
	}
	return c
}

func containerResources(p *v1alpha1.PodOptions) corev1.ResourceRequirements {
	if p == nil || p.Resources == nil {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: defaultCPU.DeepCopy(), corev1.ResourceMemory: defaultMemory.DeepCopy(),
		}}
	}
	return corev1.ResourceRequirements{Requests: p.Resources.Requests, Limits: p.Resources.Limits}
}
