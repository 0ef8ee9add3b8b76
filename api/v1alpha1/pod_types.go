// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PodOptions are the safe part of a pod's settings. Whoever may create a DiskBenchmark gets a pod
// and a claim in that namespace through the operator, under the namespace's PodSecurity and quota.
//
// +kubebuilder:validation:XValidation:rule="!has(self.nodeSelector) || !('kubernetes.io/os' in self.nodeSelector) || self.nodeSelector['kubernetes.io/os'] == 'linux'",message="the engine runs on Linux nodes only: remove kubernetes.io/os from pod.nodeSelector or set it to linux"
// +kubebuilder:validation:XValidation:rule="!has(self.labels) || self.labels.all(k, !k.startsWith('diskbench.dev/') && !k.startsWith('batch.kubernetes.io/') && !(k in ['job-name','controller-uid']))",message="pod.labels under diskbench.dev/ and batch.kubernetes.io/, job-name and controller-uid are the operator's: remove them"
// +kubebuilder:validation:XValidation:rule="!has(self.annotations) || self.annotations.all(k, !k.startsWith('diskbench.dev/'))",message="pod.annotations under diskbench.dev/ are the operator's: remove them"
type PodOptions struct {
	// nodeSelector picks the nodes. Linux is always added.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity of the pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// resources of the engine's container. Omitted: requests of 500m CPU and 128Mi, no limits, so
	// the load generator is not throttled.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
	// labels of the pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`
	// annotations of the pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`
	// priorityClassName of the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName *string `json:"priorityClassName,omitempty"`
	// imagePullSecrets of the pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// runtimeClassName of the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`
	// runAsUser is the user of the engine. Omitted: 65532. With claimName, a user who can write there.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	// +kubebuilder:validation:XValidation:rule="self > 0",message="pod.runAsUser must be above 0: the engine never runs as root"
	RunAsUser *int64 `json:"runAsUser,omitempty"`
	// supplementalGroups of the engine, such as the group that owns an existing claim's files.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	SupplementalGroups []int64 `json:"supplementalGroups,omitempty"`
}

// Resources are compute resources.
type Resources struct {
	// requests are what the scheduler sets aside.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// limits are the most that the engine may use. A CPU limit can make the engine, not the disk,
	// what is measured.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}
