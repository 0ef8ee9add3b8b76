// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
)

// Claims are the PersistentVolumeClaims of a run's new volumes, in their order. className is always
// written: a claim without one would be given a class later, and start to cost, when a default class
// appears.
func Claims(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run, className string) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for _, name := range ClaimNames(b, run) {
		out = append(out, claim(b, run, name, className))
	}
	return out
}

func claim(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run, name, className string) *corev1.PersistentVolumeClaim {
	mode := corev1.PersistentVolumeFilesystem
	if b.Spec.VolumeMode != nil {
		mode = *b.Spec.VolumeMode
	}
	meta := objectMeta(b, run)
	meta.Name = name
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: meta,
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

// ClaimNames are the names of the claims that a run measures, in the order of the volumes: the existing
// one; or its own, which has the run's name, or of several the run's name and a number from 0.
func ClaimNames(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run) []string {
	if b.Spec.ClaimName != nil {
		return []string{*b.Spec.ClaimName}
	}
	n := plan.Volumes(&b.Spec)
	if n == 1 {
		return []string{run.Name}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", run.Name, i)
	}
	return names
}
