// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resources builds the objects that a run creates: PersistentVolumeClaims, unless there is one
// already, and a Job. It is pure: the same input gives the same objects, which golden files hold.
package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

const (
	// maxNamePart leaves a dash, eight digits and the five letters and a dash of the Job's pod within
	// the 63 characters of a label value.
	maxNamePart = 40
	hashDigits  = 8
)

// Name is the name of a run's Job and claim: the DiskBenchmark's name, cut, and a hash of its UID
// and the run's number. A later DiskBenchmark of the same name, or a later run, has other children.
func Name(benchmark string, uid types.UID, run int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, run))
	part := strings.ReplaceAll(benchmark, ".", "-")
	if len(part) > maxNamePart {
		part = part[:maxNamePart]
	}
	return strings.TrimRight(part, "-") + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// Labels identify the children of a run.
func Labels(b *v1alpha1.DiskBenchmark, run int64) map[string]string {
	return map[string]string{
		v1alpha1.LabelManagedBy:    v1alpha1.ManagedBy,
		v1alpha1.LabelBenchmark:    b.Name,
		v1alpha1.LabelBenchmarkUID: string(b.UID),
		v1alpha1.LabelRun:          strconv.FormatInt(run, 10),
	}
}

// RunLabels select the children of a run.
func RunLabels(b *v1alpha1.DiskBenchmark, run int64) map[string]string {
	return map[string]string{
		v1alpha1.LabelBenchmarkUID: string(b.UID),
		v1alpha1.LabelRun:          strconv.FormatInt(run, 10),
	}
}

// Owned says whether an object is a child of this run of this DiskBenchmark, and not a stranger's
// object of the same name.
func Owned(o metav1.Object, b *v1alpha1.DiskBenchmark, run int64) bool {
	return metav1.IsControlledBy(o, b) && o.GetLabels()[v1alpha1.LabelRun] == strconv.FormatInt(run, 10)
}

func objectMeta(b *v1alpha1.DiskBenchmark, run *v1alpha1.Run) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      run.Name,
		Namespace: b.Namespace,
		Labels:    Labels(b, run.Number),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(b, v1alpha1.GroupVersion.WithKind("DiskBenchmark")),
		},
	}
}
