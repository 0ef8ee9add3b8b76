// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/workload"
)

// fieldFlags has the flag of each field of a plan, with a value that differs from the field's own.
// Fields without a flag of their own say where they come from.
var fieldFlags = map[string]struct{ flag, value string }{
	"Plan.Target":          {"path", ""},
	"Plan.Sets":            {"path", ""},
	"Plan.StripeSizeBytes": {"stripe-size", "128Ki"},
	"Plan.IOEngine":        {"io-engine", "libaio"},
	"Plan.Repetitions":     {"repetitions", "3"},
	"Plan.OverwriteDevice": {"overwrite-device", "true"},
	"Plan.Workloads":       {"preset", ""},

	"Workload.Name":          {"name", "night"},
	"Workload.Streams":       {"stream", ""},
	"Workload.FileSizeBytes": {"file-size", "1Gi"},
	"Workload.ShrinkToFit":   {"file-size", "1Gi"},
	"Workload.Layout":        {"layout", "preallocated"},
	"Workload.DirectIO":      {"direct-io", "disabled"},
	"Workload.Verify":        {"verify", "true"},
	"Workload.Operations":    {"operations", "1000"},
	"Workload.Drain":         {"drain", "true"},
	"Workload.Probe":         {"probe", "5s"},
	"Workload.Warmup":        {"warmup", "1s"},
	"Workload.Duration":      {"duration", "2s"},
	"Workload.Seed":          {"seed", "-7"},

	"Stream.Name":           {"name", ""},
	"Stream.Pattern":        {"pattern", "Sequential"},
	"Stream.RandomPercent":  {"random-percent", "20"},
	"Stream.ReadPercent":    {"read-percent", "30"},
	"Stream.BlockSizeBytes": {"block-size", "8Ki"},
	"Stream.Threads":        {"threads", "3"},
	"Stream.QueueDepth":     {"queue-depth", "5"},
	"Stream.SharedOffset":   {"sequential-offset", "shared"},
	"Stream.RateLimitIOPS":  {"rate-limit-iops", "100"},
	"Stream.Range":          {"range", "25-50%"},
	"Stream.Distribution":   {"distribution", "hotspot:95/5"},
	"Stream.Sync":           {"sync", "write-through"},
	"Stream.FlushEvery":     {"flush-every", "8"},
	"Stream.FlushInterval":  {"flush-interval", "1s"},
}

// Every field of a plan has its flag, and the flag changes that field. A new field fails here until
// it has one.
func TestEveryFieldHasAFlag(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t)}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[workload.Plan](), reflect.TypeFor[workload.Workload](), reflect.TypeFor[workload.Stream](),
	} {
		for _, field := range reflect.VisibleFields(typ) {
			key := typ.Name() + "." + field.Name
			f, known := fieldFlags[key]
			if !known {
				t.Errorf("%s has no flag: add one, and its case here", key)
				continue
			}
			if newRunCommand().Flags().Lookup(f.flag) == nil {
				t.Errorf("%s: there is no --%s", key, f.flag)
			}
			if f.value == "" {
				continue
			}
			before, after := planOf(t, dirs), planOf(t, dirs, "--"+f.flag+"="+f.value)
			if reflect.DeepEqual(fieldOf(before, typ, field), fieldOf(after, typ, field)) {
				t.Errorf("--%s %s leaves %s at %v", f.flag, f.value, key, fieldOf(after, typ, field))
			}
		}
	}
}

func fieldOf(p workload.Plan, typ reflect.Type, field reflect.StructField) any {
	of := map[string]any{"Plan": p, "Workload": p.Workloads[0], "Stream": p.Workloads[0].Streams[0]}[typ.Name()]
	return reflect.ValueOf(of).FieldByIndex(field.Index).Interface()
}

func newRunCommand() *cobra.Command { return newRun(io.Discard, io.Discard) }

// planOf is the plan of a command line. It need not be valid: fields are looked at one by one.
func planOf(t *testing.T, paths []string, args ...string) workload.Plan {
	t.Helper()
	var f planFlags
	c := &cobra.Command{}
	addGroups(c, f.groups()...)
	for _, path := range paths {
		args = append(args, "--path", path)
	}
	if !strings.Contains(strings.Join(args, " "), "--stream") {
		args = append([]string{"--pattern=random", "--read-percent=100", "--block-size=4Ki"}, args...)
	}
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	p, err := f.assemble()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The flags of a stream and the keys of --stream say the same.
func TestStreams(t *testing.T) {
	const fields = "pattern=sequential,random-percent=20,read-percent=0,block-size=32Ki,threads=2,queue-depth=4," +
		"rate-limit-iops=300,range=0-25,distribution=zipf,sync=flush,flush-every=16"
	dirs := []string{disktest.Dir(t)}
	var args []string
	for field := range strings.SplitSeq(fields, ",") {
		args = append(args, "--"+field)
	}
	want := planOf(t, dirs, args...).Workloads[0].Streams[0]
	p := planOf(t, dirs, "--stream", "name=log,"+fields, "--stream", "name=data,pattern=random,read-percent=70,block-size=8Ki")
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	want.Name = "log"
	if diff := cmp.Diff(want, p.Workloads[0].Streams[0]); diff != "" {
		t.Error(diff)
	}
	if got := p.Workloads[0].Streams[1]; got.Name != "data" || got.ReadPercent != 70 || got.BlockSizeBytes != 8192 || got.Threads != 1 {
		t.Errorf("the second stream is %+v", got)
	}
}

func TestStripe(t *testing.T) {
	dirs := []string{disktest.Dir(t), disktest.Dir(t)}
	p := planOf(t, dirs)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if p.StripeSizeBytes != 64<<10 || len(p.Sets) != 1 || len(p.Sets[0]) != 2 {
		t.Errorf("%+v", p)
	}
}

// The page of the tool names every flag, and the help has each in a group.
func TestEveryFlagIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*cobra.Command{newRunCommand(), newPrepare(io.Discard, io.Discard), newProbe(io.Discard)} {
		help := c.UsageString()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(string(page), "`--"+f.Name) {
				t.Errorf("docs/engine.md has no --%s", f.Name)
			}
			if !strings.Contains(help, "--"+f.Name+" ") {
				t.Errorf("the help of %s has no --%s", c.Name(), f.Name)
			}
		})
	}
}
