// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// apply creates a DiskBenchmark with this spec in the test's namespace.
func apply(ctx context.Context, name, spec string) *v1alpha1.DiskBenchmark {
	GinkgoHelper()
	b := &v1alpha1.DiskBenchmark{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	Expect(yaml.UnmarshalStrict([]byte(spec), &b.Spec)).To(Succeed())
	Expect(k8s.Create(ctx, b)).To(Succeed())
	return b
}

// refreshed gives an assertion the benchmark's newest state.
func refreshed(b *v1alpha1.DiskBenchmark) func(context.Context) (*v1alpha1.DiskBenchmark, error) {
	return func(ctx context.Context) (*v1alpha1.DiskBenchmark, error) {
		return b, k8s.Get(ctx, client.ObjectKeyFromObject(b), b)
	}
}

// ready is the benchmark's Ready condition, empty before the first.
func ready(b *v1alpha1.DiskBenchmark) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady), metav1.Condition{})
}

// haveReason matches a benchmark whose Ready condition has this reason.
func haveReason(reason string) OmegaMatcher {
	return WithTransform(func(b *v1alpha1.DiskBenchmark) string { return ready(b).Reason }, Equal(reason))
}

// haveTrue matches a benchmark with this condition True.
func haveTrue(condition string) OmegaMatcher {
	return WithTransform(func(b *v1alpha1.DiskBenchmark) bool {
		return meta.IsStatusConditionTrue(b.Status.Conditions, condition)
	}, BeTrue())
}

// message is what the Ready condition says.
func message(b *v1alpha1.DiskBenchmark) string { return ready(b).Message }

// awaitSuccess waits for the figures and for the end of the cleanup.
func awaitSuccess(ctx context.Context, b *v1alpha1.DiskBenchmark) {
	GinkgoHelper()
	Eventually(refreshed(b)).WithContext(ctx).Should(haveTrue(v1alpha1.ConditionFinished))
	Expect(b).To(haveReason(v1alpha1.ReasonCompleted), message(b))
	Expect(b).To(haveTrue(v1alpha1.ConditionReady))
}

// jobs lists the Jobs in the test's namespace.
func jobs(ctx context.Context) ([]batchv1.Job, error) {
	var list batchv1.JobList
	err := k8s.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

// pods lists the pods in the test's namespace.
func pods(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := k8s.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

// claims lists the claims in the test's namespace.
func claims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	var list corev1.PersistentVolumeClaimList
	err := k8s.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

// expectNothingLeft waits until the run's Job, pod, claim and volume are gone.
func expectNothingLeft(ctx context.Context) {
	GinkgoHelper()
	Eventually(jobs).WithContext(ctx).Should(BeEmpty())
	Eventually(pods).WithContext(ctx).Should(BeEmpty())
	Eventually(claims).WithContext(ctx).Should(BeEmpty())
	Eventually(volumes).WithContext(ctx).Should(BeEmpty())
}

// giveToGroup lets a group write to a claim's filesystem, by mounting it once with that fsGroup.
func giveToGroup(ctx context.Context, claim string, group int64) {
	GinkgoHelper()
	var operator appsv1.DeploymentList
	Expect(k8s.List(ctx, &operator, client.InNamespace(operatorNamespace))).To(Succeed())
	Expect(operator.Items).To(HaveLen(1))

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "give-to-group", Namespace: namespace},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(65532)), FSGroup: &group,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "mount", Image: operator.Items[0].Spec.Template.Spec.Containers[0].Image,
				Command:      []string{"/diskbench-engine", "version"},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}},
		},
	}
	Expect(k8s.Create(ctx, pod)).To(Succeed())
	Eventually(func(ctx context.Context) (corev1.PodPhase, error) {
		err := k8s.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase, err
	}).WithContext(ctx).Should(Equal(corev1.PodSucceeded))
	Expect(k8s.Delete(ctx, pod)).To(Succeed())
}

// kubectl runs kubectl as an administrator and gives what it printed.
func kubectl(args ...string) string {
	cmd := exec.Command("kubectl", append([]string{"--kubeconfig", kubeconfig}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}
