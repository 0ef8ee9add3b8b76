// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/diskbench/diskbench/engine/bytesize"
)

type outputForm string

const (
	outputTable outputForm = "table"
	outputJSON  outputForm = "json"
	outputYAML  outputForm = "yaml"
)

func newOutput() choice[outputForm] {
	return choice[outputForm]{value: outputTable, allowed: []outputForm{outputTable, outputJSON, outputYAML}}
}

// choice is a flag of one of several words, in any case.
type choice[T ~string] struct {
	value   T
	allowed []T
}

func (c *choice[T]) String() string { return string(c.value) }

func (c *choice[T]) Type() string { return strings.Join(words(c.allowed), "|") }

func (c *choice[T]) Set(s string) error {
	i := slices.IndexFunc(c.allowed, func(a T) bool { return strings.EqualFold(string(a), s) })
	if i < 0 {
		return fmt.Errorf("use one of %s", strings.Join(words(c.allowed), ", "))
	}
	c.value = c.allowed[i]
	return nil
}

func words[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// bytesFlag is a size, such as 500Gi; 0 until it is given.
type bytesFlag int64

func (b *bytesFlag) Type() string { return "size" }

func (b *bytesFlag) String() string {
	if *b == 0 {
		return ""
	}
	return bytesize.Format(int64(*b))
}

func (b *bytesFlag) Set(s string) error {
	n, err := bytesize.Parse(s)
	if err == nil && n == 0 {
		err = errors.New("0 is no size")
	}
	if err == nil {
		*b = bytesFlag(n)
	}
	return err
}

const gib = 1 << 30

// gibibytes rounds up, as Azure does.
func (b *bytesFlag) gibibytes() int64 { return (int64(*b)-1)/gib + 1 }

// sizesFlag is one or several sizes, such as 8Ki,64Ki.
type sizesFlag []int64

func (l *sizesFlag) Type() string { return "sizes" }

func (l *sizesFlag) String() string {
	var all []string
	for _, n := range *l {
		all = append(all, bytesize.Format(n))
	}
	return strings.Join(all, ",")
}

func (l *sizesFlag) Set(s string) error {
	var all []int64
	for part := range strings.SplitSeq(s, ",") {
		var one bytesFlag
		if err := one.Set(part); err != nil {
			return err
		}
		all = append(all, int64(one))
	}
	*l = all
	return nil
}

// maxVolumes is far above what a node can attach.
const maxVolumes = 1000

// rangeFlag are one or several numbers, such as 1..11 or 1,2,4..8.
type rangeFlag []int

func (r *rangeFlag) Type() string { return "numbers" }

func (r *rangeFlag) String() string {
	var all []string
	for _, n := range *r {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, ",")
}

func (r *rangeFlag) Set(s string) error {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 1 || to < from || to > maxVolumes {
			return fmt.Errorf("write numbers from 1 to %d, as 4, 1,2,4 or 1..11", maxVolumes)
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	*r = all
	return nil
}

// positive refuses a number below 1, but for one that was left out.
func positive(flag string, n int64) error {
	if n < 0 {
		return fmt.Errorf("--%s is %d: use 1 or more", flag, n)
	}
	return nil
}

// percent refuses what is no share.
func percent(flag string, n int64) error {
	if n < 0 || n > 100 {
		return fmt.Errorf("--%s is %d: use a number from 0 to 100", flag, n)
	}
	return nil
}
