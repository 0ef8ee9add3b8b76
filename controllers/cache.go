// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// Scheme knows the types that the controllers read and write.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}

// CacheOptions keep the cache to our own Jobs, claims and pods, and to the given namespaces; none
// means all of them. Of ConfigMaps it holds the one with a user's catalog.
func CacheOptions(namespaces []string, overlay types.NamespacedName) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy})}
	o := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&batchv1.Job{}:                  ours,
		&corev1.PersistentVolumeClaim{}: ours,
		&corev1.Pod{}:                   ours,
	}}
	if overlay.Name != "" {
		o.ByObject[&corev1.ConfigMap{}] = cache.ByObject{
			Namespaces: map[string]cache.Config{overlay.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", overlay.Name),
		}
	}
	for _, n := range namespaces {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[n] = cache.Config{}
	}
	return o
}
