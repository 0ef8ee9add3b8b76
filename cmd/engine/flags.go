// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diskbench/diskbench/engine/workload"
)

// spelling is a value and how it is written. The first of a value is the one shown.
type spelling[T any] struct {
	text  string
	value T
}

var (
	ioEngines = []spelling[workload.IOEngine]{
		{"auto", workload.Auto}, {"io_uring", workload.IOUring}, {"iouring", workload.IOUring},
		{"libaio", workload.LibAIO}, {"sync", workload.Sync},
	}
	patterns = []spelling[workload.Pattern]{
		{"random", workload.Random}, {"sequential", workload.Sequential},
	}
	syncModes = []spelling[workload.SyncMode]{
		{"none", workload.SyncNone}, {"write-through", workload.SyncWriteThrough}, {"writethrough", workload.SyncWriteThrough},
		{"flush", workload.SyncFlush},
	}
	layouts = []spelling[workload.Layout]{
		{"written", workload.Written}, {"preallocated", workload.Preallocated}, {"append", workload.Append},
	}
	directIOs = []spelling[workload.DirectIO]{
		{"required", workload.DirectRequired}, {"disabled", workload.DirectDisabled},
	}
	sequentialOffsets = []spelling[bool]{
		{"shared", true}, {"per-thread", false}, {"perthread", false},
	}
)

// spelled reads one of the spellings, in any case.
func spelled[T any](spellings []spelling[T]) func(string) (T, error) {
	return func(s string) (T, error) {
		var names []string
		for _, known := range spellings {
			if strings.EqualFold(s, known.text) {
				return known.value, nil
			}
			names = append(names, known.text)
		}
		var zero T
		return zero, fmt.Errorf("use one of %s", strings.Join(names, ", "))
	}
}

// spell is the inverse: the spelling that is shown.
func spell[T comparable](spellings []spelling[T], value T) string {
	for _, known := range spellings {
		if known.value == value {
			return known.text
		}
	}
	return fmt.Sprint(value)
}

// shown are the shown spellings, as help lists them.
func shown[T comparable](spellings []spelling[T]) string {
	var names []string
	for _, known := range spellings {
		if spell(spellings, known.value) == known.text {
			names = append(names, known.text)
		}
	}
	return strings.Join(names, "|")
}

// choice is a flag of one of several words.
type choice[T comparable] struct {
	value     T
	spellings []spelling[T]
}

func (c *choice[T]) String() string { return spell(c.spellings, c.value) }
func (c *choice[T]) Type() string   { return shown(c.spellings) }

func (c *choice[T]) Set(s string) error {
	v, err := spelled(c.spellings)(s)
	if err == nil {
		c.value = v
	}
	return err
}

// optional is a flag that stays nil until it is given.
type optional[T any] struct {
	to       **T
	parse    func(string) (T, error)
	typeName string
}

func (o *optional[T]) String() string {
	if o.to == nil || *o.to == nil {
		return ""
	}
	return fmt.Sprint(**o.to)
}

func (o *optional[T]) Type() string { return o.typeName }

func (o *optional[T]) Set(s string) error {
	v, err := o.parse(s)
	if err == nil {
		*o.to = &v
	}
	return err
}

// optionalWord is an optional flag of one of several words.
func optionalWord[T comparable](to **T, spellings []spelling[T]) *optional[T] {
	return &optional[T]{to, spelled(spellings), shown(spellings)}
}

// changed are the flags that were given.
func changed(c *cobra.Command) []string {
	var names []string
	c.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// flagGroup is a part of the help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

func newGroup(title string) flagGroup {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	// In the order in which they are thought of, which tells more than the alphabet.
	flags.SortFlags = false
	return flagGroup{title, flags}
}

// helpWidth is that of the narrowest terminal in common use.
const helpWidth = 100

// addGroups gives the command the flags, and a help in which they stand in groups.
func addGroups(c *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		c.Flags().AddFlagSet(g.flags)
	}
	c.SetUsageFunc(func(c *cobra.Command) error {
		var text strings.Builder
		text.WriteString("Usage:\n  " + c.UseLine() + "\n")
		if c.HasExample() {
			text.WriteString("\nExamples:\n" + c.Example + "\n")
		}
		for _, g := range groups {
			text.WriteString("\n" + g.title + ":\n" + g.flags.FlagUsagesWrapped(helpWidth))
		}
		_, err := fmt.Fprint(c.OutOrStderr(), text.String()+"\n"+exitCodeHelp())
		return err
	})
}
