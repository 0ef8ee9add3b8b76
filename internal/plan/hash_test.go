// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files, for new cases only: a stored hash must never change")

// measured are the fields that start a run when they are edited.
var measured = []string{
	"storageClassName", "size", "volumeMode", "volumeAttributesClassName", "volumeCount", "stripeSize", "claimName",
	"workloads", "repetitions", "repetitionScope", "sustained", "engine", "pod", "runToken",
}

// A new field of spec fails here until somebody has decided whether editing it measures again.
func TestEveryFieldOfSpecIsClassified(t *testing.T) {
	classified := slices.Concat(measured, unmeasured)
	var fields []string
	for f := range reflect.TypeFor[v1alpha1.DiskBenchmarkSpec]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	slices.Sort(classified)
	slices.Sort(fields)
	if diff := cmp.Diff(fields, classified); diff != "" {
		t.Errorf("fields of spec against those classified as measured or unmeasured:\n%s", diff)
	}
}

// corpus is one spec of testdata/specs.yaml: objects as they may be stored in clusters today.
type corpus struct {
	Name   string                     `json:"name"`
	Reason string                     `json:"reason"`
	Spec   v1alpha1.DiskBenchmarkSpec `json:"spec"`
}

func readCorpus(t *testing.T) []corpus {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "specs.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var cs []corpus
	if err := yaml.UnmarshalStrict(data, &cs); err != nil {
		t.Fatal(err)
	}
	return cs
}

// A changed hash would run, and bill, every stored benchmark again.
func TestHashesOfStoredSpecsNeverChange(t *testing.T) {
	got := map[string]string{}
	for _, c := range readCorpus(t) {
		hash, err := Hash(&c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		got[c.Name] = hash
	}
	golden := filepath.Join("testdata", "hashes.json")
	if *update {
		data, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hashes (-stored +now):\n%s", diff)
	}
}

// Every field of the corpus' fullest spec counts, except those that are unmeasured.
func TestHashSeesEveryMeasuredField(t *testing.T) {
	full := readCorpus(t)[0].Spec
	if full.ClaimName == nil {
		full.ClaimName = ptr.To("data")
	}
	before := mustHash(t, &full)
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		edited := full.DeepCopy()
		field := reflect.ValueOf(edited).Elem().Field(i)
		if field.IsZero() {
			t.Fatalf("the first spec of the corpus has no %s: set it, so that the test sees it", name)
		}
		field.SetZero()
		changed := mustHash(t, edited) != before
		if want := !slices.Contains(unmeasured, name); changed != want {
			t.Errorf("removing %s changes the hash: %t, want %t", name, changed, want)
		}
	}
}

func TestHashIsOfTheSpecAsWritten(t *testing.T) {
	base := `{size: 2Ti, workloads: [{preset: vdi}]}`
	for name, c := range map[string]struct {
		reason, spec string
		same         bool
	}{
		"another spelling":     {"2048Gi is the same number of bytes", `{size: 2048Gi, workloads: [{preset: vdi}]}`, true},
		"empty pod and engine": {"an empty object asks for nothing", `{size: 2Ti, pod: {}, engine: {}, workloads: [{preset: vdi}]}`, true},
		"suspended":            {"holding a run is not another run", `{size: 2Ti, suspend: true, workloads: [{preset: vdi}]}`, true},
		"the preset's own depth": {
			"as written: a later preset may have another depth", `{size: 2Ti, workloads: [{preset: vdi, queueDepth: 8}]}`, false,
		},
		"zero":       {"0 is a value: writes only", `{size: 2Ti, workloads: [{preset: vdi, readPercent: 0}]}`, false},
		"a bit more": {"one byte is another volume", `{size: "2199023255553", workloads: [{preset: vdi}]}`, false},
		"token":      {"a token starts a run on purpose", `{size: 2Ti, runToken: x, workloads: [{preset: vdi}]}`, false},
		"empty selector": {
			"an empty namespaceSelector selects every namespace, none selects this one",
			`{size: 2Ti, workloads: [{preset: vdi}], pod: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: t, namespaceSelector: {}}]}}}}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			same := mustHash(t, parse(t, base)) == mustHash(t, parse(t, c.spec))
			if same != c.same {
				t.Errorf("same hash: %t, want %t (%s)", same, c.same, c.reason)
			}
		})
	}
	cpu := func(q string) string {
		return mustHash(t, parse(t, `{size: 1Gi, workloads: [{preset: vdi}], pod: {resources: {requests: {cpu: "`+q+`"}}}}`))
	}
	if cpu("1") != cpu("1000m") || cpu("500m") == cpu("1") {
		t.Error("CPU quantities: 1 and 1000m must be the same, 500m and 1 must not")
	}
}

func parse(t *testing.T, text string) *v1alpha1.DiskBenchmarkSpec {
	t.Helper()
	spec := &v1alpha1.DiskBenchmarkSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func mustHash(t *testing.T, spec *v1alpha1.DiskBenchmarkSpec) string {
	t.Helper()
	hash, err := Hash(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "v1:") || len(hash) != len("v1:")+64 {
		t.Fatalf("hash %q is not v1: and 64 digits", hash)
	}
	return hash
}
