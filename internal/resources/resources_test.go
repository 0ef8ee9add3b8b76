// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/test/golden"
)

func benchmark(vary func(*v1alpha1.DiskBenchmarkSpec)) (*v1alpha1.DiskBenchmark, *v1alpha1.Run) {
	b := &v1alpha1.DiskBenchmark{
		ObjectMeta: metav1.ObjectMeta{Name: "p40-vdi", Namespace: "bench", UID: "0b7f1e7e-0000-4000-8000-000000000001"},
		Spec: v1alpha1.DiskBenchmarkSpec{
			StorageClassName: ptr.To("managed-csi-premium"), Size: ptr.To(resource.MustParse("2Ti")),
			Workloads: []v1alpha1.Workload{{Preset: ptr.To("vdi")}},
		},
	}
	if vary != nil {
		vary(&b.Spec)
	}
	return b, &v1alpha1.Run{Number: 3, Name: Name(b.Name, b.UID, 3)}
}

func TestGolden(t *testing.T) {
	options := JobOptions{Image: "example.com/diskbench:v1", Plan: `{"target":"Directory"}`, BackstopSeconds: 7200}
	for name, c := range map[string]struct {
		reason string
		vary   func(*v1alpha1.DiskBenchmarkSpec)
	}{
		"filesystem": {"the ordinary case: a new volume with a filesystem", nil},
		"block": {"a raw device, which the container runtime gives to user and group", func(s *v1alpha1.DiskBenchmarkSpec) {
			s.VolumeMode = ptr.To(corev1.PersistentVolumeBlock)
			s.VolumeAttributesClassName = ptr.To("fast")
		}},
		"existing-claim": {"no claim of our own, and no fsGroup, which would change the user's files", func(s *v1alpha1.DiskBenchmarkSpec) {
			s.StorageClassName, s.Size, s.ClaimName = nil, nil, ptr.To("data")
			s.Pod = &v1alpha1.PodOptions{RunAsUser: ptr.To[int64](1000), SupplementalGroups: []int64{2000}}
		}},
		"striped": {"new volumes for each repetition, all of them in one pod", func(s *v1alpha1.DiskBenchmarkSpec) {
			s.VolumeCount, s.Repetitions = ptr.To[int32](2), ptr.To[int32](2)
			s.RepetitionScope = ptr.To(v1alpha1.RepetitionScopeNewVolume)
		}},
		"striped-block": {"devices with a number each", func(s *v1alpha1.DiskBenchmarkSpec) {
			s.VolumeMode, s.VolumeCount = ptr.To(corev1.PersistentVolumeBlock), ptr.To[int32](2)
		}},
		"pod-options": {"everything a user may set, and what they may not replace", func(s *v1alpha1.DiskBenchmarkSpec) {
			s.Engine = &v1alpha1.EngineOptions{Image: ptr.To("example.com/other:v2")}
			s.Pod = &v1alpha1.PodOptions{
				NodeSelector: map[string]string{"pool": "bench"},
				Tolerations:  []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
				Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname"}},
				}},
				Resources: &v1alpha1.Resources{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}},
				Labels:    map[string]string{"team": "storage", v1alpha1.LabelRun: "1"},
				Annotations: map[string]string{
					"example.com/note": "x",
				},
				PriorityClassName: ptr.To("high"),
				ImagePullSecrets:  []corev1.LocalObjectReference{{Name: "registry"}},
				RuntimeClassName:  ptr.To("runc"),
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b, run := benchmark(c.vary)
			var docs []string
			if b.Spec.ClaimName == nil {
				for _, claim := range Claims(b, run, *b.Spec.StorageClassName) {
					docs = append(docs, toYAML(t, claim))
				}
			}
			docs = append(docs, toYAML(t, Job(b, run, options)))
			golden.Compare(t, filepath.Join("testdata", name+".yaml"), "# "+c.reason+"\n"+strings.Join(docs, "---\n"))
		})
	}
}

func TestBusyHostsAreAddedToTheUsersAffinity(t *testing.T) {
	in := func(key string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists}
	}
	off := corev1.NodeSelectorRequirement{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n1", "n2"}}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	term := func(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: r}
	}
	spread := &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}
	with := func(a *corev1.Affinity, p *corev1.PodAntiAffinity) *corev1.Affinity { a.PodAntiAffinity = p; return a }
	for name, c := range map[string]struct {
		reason     string
		busy       []string
		user, want *corev1.Affinity
	}{
		"alone":      {"nothing to keep off", nil, nil, nil},
		"none":       {"the operator's own term", []string{"n1", "n2"}, nil, required(term(off))},
		"other kind": {"the user's stays", []string{"n1", "n2"}, &corev1.Affinity{PodAntiAffinity: spread}, with(required(term(off)), spread)},
		"alternatives": {
			"a term without it would let the pod go to a busy node", []string{"n1", "n2"},
			required(term(in("a")), term(in("b"))), required(term(in("a"), off), term(in("b"), off)),
		},
		"empty term": {"it matches no node, and would match all others", []string{"n1", "n2"}, required(term(), term(in("b"))), required(term(), term(in("b"), off))},
	} {
		t.Run(name, func(t *testing.T) {
			b, run := benchmark(func(s *v1alpha1.DiskBenchmarkSpec) { s.Pod = &v1alpha1.PodOptions{Affinity: c.user} })
			before := c.user.DeepCopy()
			got := Job(b, run, JobOptions{BusyHosts: c.busy}).Spec.Template.Spec.Affinity
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(before, b.Spec.Pod.Affinity); diff != "" {
				t.Errorf("the spec was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func toYAML(t *testing.T, o any) string {
	t.Helper()
	data, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestName(t *testing.T) {
	const uid = types.UID("0b7f1e7e-0000-4000-8000-000000000001")
	for name, c := range map[string]struct{ reason, benchmark, prefix string }{
		"short":    {"the name is the user's", "p40", "p40-"},
		"longest":  {"63 characters are cut to 40", strings.Repeat("a", 63), strings.Repeat("a", 40) + "-"},
		"cut dash": {"a cut behind a dash leaves no two", strings.Repeat("a", 39) + "-b", strings.Repeat("a", 39) + "-"},
		"dots":     {"a dot is fine in a name, and not in the pod's host name", "a.b", "a-b-"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Name(c.benchmark, uid, 1)
			if !strings.HasPrefix(got, c.prefix) || len(got) != len(c.prefix)+hashDigits {
				t.Errorf("got %s, want %s and %d digits (%s)", got, c.prefix, hashDigits, c.reason)
			}
			if errs := validation.IsDNS1123Label(got + "-abcde"); len(errs) > 0 {
				t.Errorf("the pod's name %s-abcde is no label: %v", got, errs)
			}
		})
	}
	if Name("a", uid, 1) == Name("a", uid, 2) || Name("a", uid, 1) == Name("a", "other", 1) {
		t.Error("another run, or another object of the same name, has the same children")
	}
}

func TestOwned(t *testing.T) {
	b, run := benchmark(nil)
	job := Job(b, run, JobOptions{})
	other := b.DeepCopy()
	other.UID = "another"
	unlabeled := job.DeepCopy()
	unlabeled.Labels = nil
	for name, c := range map[string]struct {
		reason string
		got    bool
		want   bool
	}{
		"ours":         {"owner and run fit", Owned(job, b, 3), true},
		"another run":  {"a child of run 2 is not run 3's", Owned(job, b, 2), false},
		"another life": {"a DiskBenchmark deleted and created again has another UID", Owned(job, other, 3), false},
		"no labels":    {"we never make one without", Owned(unlabeled, b, 3), false},
		"a stranger":   {"no owner at all", Owned(&corev1.Pod{}, b, 3), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: owned %t, want %t (%s)", name, c.got, c.want, c.reason)
		}
	}
}
