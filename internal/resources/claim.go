// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// Claim is the PersistentVolumeClaim of a run's new volume. className is always written: a claim
// without one would be given a class later, and start to cost, when a default class appears.
func Claim(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run, className string) *corev1.PersistentVolumeClaim {
	mode := corev1.PersistentVolumeFilesystem
	if b.Spec.VolumeMode != nil {
		mode = *b.Spec.VolumeMode
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: objectMeta(b, run),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:               []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:          &className,
			VolumeMode:                &mode,
			VolumeAttributesClassName: b.Spec.VolumeAttributesClassName,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: *b.Spec.Size},
			},
		},
	}
}

// ClaimName is the name of the claim that a run measures: its own or an existing one.
func ClaimName(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run) string {
	if b.Spec.ClaimName != nil {
		return *b.Spec.ClaimName
	}
	return run.Name
}
