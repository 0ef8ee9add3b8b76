// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command provisioner makes a cluster's volumes on demand: each is a file on a loop device,
// handed out as a `local` PersistentVolume. Kubelet's built-in local plugin makes and mounts the
// file system (volumeMode Filesystem) or maps the device into the pod (volumeMode Block).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig to use")
	name := flag.String("name", "", "provisioner name of the StorageClasses to serve")
	dir := flag.String("dir", "", "folder of the volumes")
	node := flag.String("node", "", "name of the node that the volumes are on")
	flag.Parse()
	if err := run(*kubeconfig, *name, &provisioner{store: volume.Store{Dir: *dir}, node: *node}); err != nil {
		log.Fatalf("provisioner: %v", err)
	}
}

func run(kubeconfig, name string, p *provisioner) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	controller.NewProvisionController(ctx, client, name, p, controller.LeaderElection(false)).Run(ctx)
	return nil
}

type provisioner struct {
	store volume.Store
	node  string
}

var _ controller.BlockProvisioner = (*provisioner)(nil)

// SupportsBlock tells the controller that volumeMode Block is served too.
func (p *provisioner) SupportsBlock(context.Context) bool { return true }

// Provision makes one volume.
func (p *provisioner) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	options, err := volume.ParseOptions(o.StorageClass.Parameters)
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	size := o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]
	device, err := p.store.Create(o.PVName, size.Value(), options)
	if err != nil {
		// Nothing goes on in the background, so nothing would be lost by giving up on it.
		return nil, controller.ProvisioningFinished, fmt.Errorf("create volume %s: %w", o.PVName, err)
	}
	return persistentVolume(o, device, options.FSType, p.node), controller.ProvisioningFinished, nil
}

// Delete removes one volume. An error makes the controller try again.
func (p *provisioner) Delete(_ context.Context, pv *corev1.PersistentVolume) error {
	return p.store.Delete(pv.Name)
}

func persistentVolume(o controller.ProvisionOptions, device, fsType, node string) *corev1.PersistentVolume {
	mode := corev1.PersistentVolumeFilesystem
	if o.PVC.Spec.VolumeMode != nil {
		mode = *o.PVC.Spec.VolumeMode
	}
	source := &corev1.LocalVolumeSource{Path: device}
	if mode == corev1.PersistentVolumeFilesystem {
		source.FSType = &fsType
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			MountOptions:                  o.StorageClass.MountOptions,
			VolumeMode:                    &mode,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: source},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
					}},
				}},
			}},
		},
	}
}
