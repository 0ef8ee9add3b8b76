// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// hashVersion changes when the canonical form does. A stored hash of another version cannot be
// compared, so a change needs a migration, not just a new number.
const hashVersion = "v1:"

// unmeasured are the fields of spec that say nothing of what is measured: an edit of one never
// starts a run. Every other field counts, so a new field counts until it is put here.
var unmeasured = []string{"targets", "cost", "cleanup", "suspend", "timeouts"}

// Hash identifies the measured part of a spec, as written: quantities become integers, unset fields
// are left out, presets stay names. 2Ti and 2048Gi are the same spec; {preset: vdi} and vdi with its
// own queue depth spelled out are not.
func Hash(spec *v1alpha1.DiskBenchmarkSpec) (string, error) {
	canonical, err := canonicalForm(spec)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hashVersion + hex.EncodeToString(sum[:]), nil
}

// canonicalForm is JSON with sorted keys and without unmeasured fields.
func canonicalForm(spec *v1alpha1.DiskBenchmarkSpec) ([]byte, error) {
	written, err := json.Marshal(normalized(spec))
	if err != nil {
		return nil, fmt.Errorf("encode the spec: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(written, &fields); err != nil {
		return nil, fmt.Errorf("read the encoded spec: %w", err)
	}
	for _, name := range unmeasured {
		delete(fields, name)
	}
	dropUnset(fields)
	canonical, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode the canonical spec: %w", err)
	}
	return canonical, nil
}

// dropUnset removes nulls, which some Kubernetes types write for unset fields, and top-level
// objects without a field. An empty object further down may have a meaning (an empty label selector
// selects everything) and stays.
func dropUnset(fields map[string]any) {
	dropNulls(fields)
	for name, v := range fields {
		if m, ok := v.(map[string]any); ok && len(m) == 0 {
			delete(fields, name)
		}
	}
}

func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if inner == nil {
				delete(v, name)
				continue
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range v {
			dropNulls(inner)
		}
	}
}

// normalized is a copy whose quantities have one spelling.
func normalized(spec *v1alpha1.DiskBenchmarkSpec) *v1alpha1.DiskBenchmarkSpec {
	s := spec.DeepCopy()
	normalize(s.Size)
	normalize(s.StripeSize)
	for i := range s.Workloads {
		w := &s.Workloads[i]
		normalize(w.FileSize)
		normalize(w.BlockSize)
		for j := range w.Streams {
			normalize(w.Streams[j].BlockSize)
		}
	}
	if s.Pod != nil && s.Pod.Resources != nil {
		normalizeAll(s.Pod.Resources.Requests)
		normalizeAll(s.Pod.Resources.Limits)
	}
	return s
}

// normalize replaces a quantity by its plain decimal: 2Ki and 2048 become 2048, 0.5 and 500m
// become 500m.
func normalize(q *resource.Quantity) {
	if q == nil {
		return
	}
	if milli := q.MilliValue(); milli%1000 != 0 {
		*q = resource.MustParse(fmt.Sprintf("%dm", milli))
		return
	}
	*q = resource.MustParse(strconv.FormatInt(q.Value(), 10))
}

func normalizeAll[K comparable](list map[K]resource.Quantity) {
	for name, q := range list {
		normalize(&q)
		list[name] = q
	}
}
