// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the operator on a real cluster: a kubelet, a container runtime, a storage
// provisioner and volumes that the kernel holds to a cap. Run it with make e2e.
package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// kubeconfigVariable names the cluster to test on. It is a variable of our own, so that a test never
// meets the cluster that a developer's kubeconfig happens to point at.
const kubeconfigVariable = "DISKBENCH_E2E_KUBECONFIG"

var (
	// k8s is an administrator's client of the cluster.
	k8s client.Client
	// kubeconfig is the path of the cluster's kubeconfig, for kubectl.
	kubeconfig = os.Getenv(kubeconfigVariable)
	// namespace holds the benchmarks of one test, under PodSecurity restricted.
	namespace string
)

func TestE2E(t *testing.T) {
	if kubeconfig == "" {
		t.Skip(kubeconfigVariable + " is not set: run the cluster tests with make e2e")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(4 * time.Minute)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "diskbench on a cluster")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	k8s, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	Expect(k8s.List(ctx, &v1alpha1.DiskBenchmarkList{})).To(Succeed(), "the operator's CRDs are not installed")
})

// Each test has a namespace of its own that enforces the restricted Pod Security Standard, and must
// leave no volume behind.
var _ = BeforeEach(func(ctx SpecContext) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(k8s.Create(ctx, ns)).To(Succeed())
	namespace = ns.Name
	DeferCleanup(func(ctx SpecContext) {
		Expect(k8s.Delete(ctx, ns)).To(Succeed())
		Eventually(volumes).WithContext(ctx).Should(BeEmpty(), "the namespace is gone and its volumes are not")
	})
})

var _ = ReportAfterEach(func(report SpecReport) {
	if report.Failed() {
		GinkgoWriter.Println(kubectl("get", "dbm,job,pod,pvc,pv,events", "-A", "-o", "wide"))
		GinkgoWriter.Println(kubectl("logs", "-n", "diskbench-system", "-l", "app.kubernetes.io/name=diskbench", "--tail=100"))
	}
})

// volumes lists the PersistentVolumes whose claim is, or was, in the test's namespace.
func volumes(ctx context.Context) ([]string, error) {
	var list corev1.PersistentVolumeList
	if err := k8s.List(ctx, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, pv := range list.Items {
		if pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.Namespace == namespace {
			names = append(names, pv.Name)
		}
	}
	return names, nil
}
