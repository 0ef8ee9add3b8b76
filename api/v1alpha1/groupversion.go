// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the diskbench.dev/v1alpha1 API.
//
// No field that a preset or another field can decide has a schema default: the effective values
// are resolved when a run starts and recorded in status with each measurement.
//
// +kubebuilder:object:generate=true
// +groupName=diskbench.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API's group and version.
var GroupVersion = schema.GroupVersion{Group: "diskbench.dev", Version: "v1alpha1"}

// AddToScheme adds the API's types to a scheme.
var AddToScheme = func(s *runtime.Scheme) error { return schemeBuilder.AddToScheme(s) }

var schemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &DiskBenchmark{}, &DiskBenchmarkList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
})
