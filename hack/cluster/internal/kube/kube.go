// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kube waits for a cluster through its API and installs what belongs to it from the start.
package kube

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/diskbench/diskbench/hack/cluster/internal/azuredisk"
	"github.com/diskbench/diskbench/hack/cluster/internal/node"
	"github.com/diskbench/diskbench/hack/cluster/internal/pki"
)

// pollInterval is short, since everything polled for takes a few seconds in all.
const pollInterval = 100 * time.Millisecond

// Client talks to one cluster.
type Client struct{ clientset kubernetes.Interface }

// New returns a client that uses a kubeconfig.
func New(kubeconfig string) (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Client{clientset: clientset}, nil
}

// Ready tells whether the API server says that it is.
func (c *Client) Ready(ctx context.Context) bool {
	return c.clientset.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// WaitReady waits until the API server is ready.
func (c *Client) WaitReady(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		return c.Ready(ctx), nil
	})
}

// WaitNode waits until the node is Ready and takes pods, and the controllers have made what every pod
// of the default namespace needs.
func (c *Client) WaitNode(ctx context.Context, name string) error {
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		n, err := c.clientset.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil || !schedulable(n) {
			return false, ctx.Err()
		}
		_, err = c.clientset.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, ctx.Err()
	})
}

func schedulable(n *corev1.Node) bool {
	for _, taint := range n.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return false
		}
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Install creates the StorageClasses and the rights of the provisioner.
func (c *Client) Install(ctx context.Context) error {
	role, binding := provisionerRole(), provisionerBinding()
	_, err := c.clientset.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("create ClusterRole %s: %w", role.Name, err)
	}
	_, err = c.clientset.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("create ClusterRoleBinding %s: %w", binding.Name, err)
	}
	for _, class := range storageClasses() {
		_, err := c.clientset.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
		if err := ignoreExists(err); err != nil {
			return fmt.Errorf("create StorageClass %s: %w", class.Name, err)
		}
	}
	return nil
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func storageClasses() []*storagev1.StorageClass {
	standard := storageClass("standard", storagev1.VolumeBindingWaitForFirstConsumer, nil)
	standard.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	premiumSSD := storageClass("emulated-premium-ssd", storagev1.VolumeBindingWaitForFirstConsumer, map[string]string{"skuName": "Premium_LRS", "cachingMode": "None"})
	premiumSSD.Provisioner, premiumSSD.Labels = azuredisk.Driver, map[string]string{azuredisk.Label: "true"}
	return []*storagev1.StorageClass{
		standard,
		storageClass("immediate", storagev1.VolumeBindingImmediate, nil),
		storageClass("capped-500", storagev1.VolumeBindingWaitForFirstConsumer, iopsCap(500)),
		storageClass("capped-5000", storagev1.VolumeBindingWaitForFirstConsumer, iopsCap(5000)),
		premiumSSD,
	}
}

func storageClass(name string, mode storagev1.VolumeBindingMode, parameters map[string]string) *storagev1.StorageClass {
	reclaim := corev1.PersistentVolumeReclaimDelete
	return &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: name},
		Provisioner:       node.ProvisionerName,
		Parameters:        parameters,
		ReclaimPolicy:     &reclaim,
		VolumeBindingMode: &mode,
	}
}

// iopsCap caps reads and writes, each for itself: the kernel knows no cap for their sum.
func iopsCap(iops int) map[string]string {
	return map[string]string{"readIOPS": strconv.Itoa(iops), "writeIOPS": strconv.Itoa(iops)}
}

const provisionerName = "loop-provisioner"

func provisionerRole() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: provisionerName},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "update", "patch"}},
			{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: []string{"get", "list", "watch"}},
		},
	}
}

func provisionerBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: provisionerName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: provisionerName},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: pki.ProvisionerUser}},
	}
}
