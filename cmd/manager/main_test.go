// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		env    string
		args   []string
		want   string // part of the refusal; empty: accepted
		image  string
	}{
		"image by flag":         {"the flag wins over the variable", "a", []string{"--engine-image", "b"}, "", "b"},
		"image by env":          {"the Deployment sets its own image", "a", nil, "", "a"},
		"no image":              {"every run would fail", "", nil, "--engine-image is empty", ""},
		"a source that is none": {"a typing error must not price from elsewhere", "a", []string{"--price-source", "api"}, `--price-source is "api": use catalog or retail-api`, "a"},
		"an address of nothing": {"it would never be read", "a", []string{"--price-url", "http://x"}, "--price-url is set, and --price-source is catalog", "a"},
		"another address":       {"a mirror serves a cluster without internet", "a", []string{"--price-source", "retail-api", "--price-url", "http://x"}, "", "a"},
		"no runs at all":        {"0 is no way to say unlimited", "a", []string{"--max-concurrent-runs", "0"}, "--max-concurrent-runs is 0", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ENGINE_IMAGE", c.env)
			o := parse(flag.NewFlagSet(name, flag.ContinueOnError), c.args)
			err := o.validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want %q (%s)", err, c.want, c.reason)
			}
			if o.engineImage != c.image {
				t.Errorf("image %q, want %q (%s)", o.engineImage, c.image, c.reason)
			}
		})
	}
}

func TestOverlayNeedsAName(t *testing.T) {
	for _, c := range []struct {
		why  string
		o    options
		want string
	}{
		{"in a cluster", options{catalogConfigMap: "c", namespace: "n"}, "n/c"},
		{"outside, no namespace is known, and all ConfigMaps would be watched", options{catalogConfigMap: "c"}, "/"},
		{"turned off", options{namespace: "n"}, "/"},
	} {
		if got := c.o.overlay().String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestNamespaces(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{" a, b ,,c", []string{"a", "b", "c"}},
	} {
		if diff := cmp.Diff(c.want, namespaces(c.list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.list, diff)
		}
	}
}
