// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command provisioner makes a cluster's volumes on demand: each is a file on a loop device,
// handed out as a `local` PersistentVolume. Kubelet's built-in local plugin makes and mounts the
// file system (volumeMode Filesystem) or maps the device into the pod (volumeMode Block).
//
// It serves the StorageClasses of Azure's driver, too, whose disks it emulates.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/diskbench/diskbench/hack/cluster/internal/azuredisk"
	"github.com/diskbench/diskbench/hack/cluster/internal/burst"
	"github.com/diskbench/diskbench/hack/cluster/internal/cgroup"
	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig to use")
	name := flag.String("name", "", "provisioner name of the StorageClasses to serve")
	dir := flag.String("dir", "", "folder of the volumes")
	node := flag.String("node", "", "name of the node that the volumes are on")
	cluster := flag.String("cgroup", "", "cgroup of the cluster, in which bursts end")
	flag.Parse()
	if err := run(*kubeconfig, *name, *cluster, volume.Store{Dir: *dir}, *node); err != nil {
		log.Fatalf("provisioner: %v", err)
	}
}

func run(kubeconfig, name, cluster string, store volume.Store, node string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	hierarchies, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	containers, err := hierarchies.IO(cluster)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { (&burst.Watcher{Store: store, Cgroup: containers}).Run(ctx) })
	for _, p := range []*provisioner{
		{name: name, store: store, node: node, options: loopOptions},
		{name: azuredisk.Driver, store: store, node: node, options: azureOptions, labels: map[string]string{azuredisk.Label: "true"}},
	} {
		running.Go(func() {
			controller.NewProvisionController(ctx, client, p.name, p, controller.LeaderElection(false)).Run(ctx)
		})
	}
	running.Wait()
	return nil
}

// provisioner serves the StorageClasses of one name.
type provisioner struct {
	name  string
	store volume.Store
	node  string
	// options of a volume of that many bytes.
	options func(class *storagev1.StorageClass, size int64) (volume.Options, error)
	// labels of the volumes.
	labels map[string]string
}

var _ controller.BlockProvisioner = (*provisioner)(nil)

func loopOptions(class *storagev1.StorageClass, _ int64) (volume.Options, error) {
	return volume.ParseOptions(class.Parameters)
}

func azureOptions(class *storagev1.StorageClass, size int64) (volume.Options, error) {
	return azuredisk.Options(class.Parameters, class.Annotations, size)
}

// SupportsBlock tells the controller that volumeMode Block is served too.
func (p *provisioner) SupportsBlock(context.Context) bool { return true }

// Provision makes one volume.
func (p *provisioner) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	size := o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]
	options, err := p.options(o.StorageClass, size.Value())
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	device, err := p.store.Create(o.PVName, size.Value(), options)
	if err != nil {
		// Nothing goes on in the background, so nothing would be lost by giving up on it.
		return nil, controller.ProvisioningFinished, fmt.Errorf("create volume %s: %w", o.PVName, err)
	}
	pv := persistentVolume(o, device, options.FSType, p.node)
	pv.Labels = p.labels
	return pv, controller.ProvisioningFinished, nil
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
