// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
)

// Place is where the I/O goes.
type Place string

const (
	// Zero is /dev/zero, which costs nothing: what is left is the load generator and the kernel's
	// interface.
	Zero Place = "zero"
	// Zram is a block device in memory with random data, faster than any disk.
	Zram Place = "zram"
	// File is a file in a directory on a disk.
	File Place = "file"
)

// Variant is one of the contestants.
type Variant string

const (
	// Diskbench is the engine of this repository.
	Diskbench Variant = "diskbench"
	// FioDefault is fio as people run it.
	FioDefault Variant = "fio"
	// FioSame is fio doing the same work as the engine.
	FioSame Variant = "fio-same"
	// FioBest is the fastest of several settings of fio.
	FioBest Variant = "fio-best"
)

// Metric is a figure that two contestants are compared by.
type Metric string

const (
	// Efficiency is I/Os per second and busy core, that is per second of processor time.
	Efficiency Metric = "I/Os per CPU-second"
	// Rate is I/Os per second.
	Rate Metric = "IOPS"
	// Quickness is the inverse of the mean latency from submission to completion.
	Quickness Metric = "1 / mean latency"
)

// Goal is a least ratio of the engine's figure to fio's. More is better in every metric.
type Goal struct {
	Against Variant
	Metric  Metric
	AtLeast float64
	// LowerBound asks it of the lower bound of the confidence interval instead of the median.
	LowerBound bool
}

// notInferior is the share of fio's figure that the lower bound has to reach where equality is the
// goal: no interval of real runs lies wholly at or above one when the two are equal.
const notInferior = 0.97

// Case is one workload that the contestants run in turn.
type Case struct {
	Name           string
	Place          Place
	IOEngine       string
	Pattern        string
	Depth, Threads int
	Against        []Variant
	Goals          []Goal
}

// patterns are fio's names of what is measured, with the share of reads in percent.
var patterns = map[string]int{"randread": 100, "randwrite": 0, "randrw": 50}

var (
	allPatterns = []string{"randread", "randwrite", "randrw"}
	allFio      = []Variant{FioDefault, FioSame, FioBest}
)

// matrix is all cases.
func matrix() []Case {
	return slices.Concat(efficiencyCases(), depthOneCases(), rateCases())
}

// efficiencyCases ask for more I/Os per CPU-second at the depths at which processors become the
// limit. io_uring on zram is left out: both leave the work to kernel threads there.
func efficiencyCases() []Case {
	var cases []Case
	for _, at := range []struct {
		place Place
		io    string
		least float64
	}{
		{Zero, "io_uring", 2.5}, {Zero, "libaio", 2.5}, {Zram, "libaio", 1.5}, {File, "io_uring", 1.5}, {File, "libaio", 1.5},
	} {
		for _, pattern := range allPatterns {
			for _, depth := range []int{32, 128} {
				cases = append(cases, Case{
					Name:  fmt.Sprintf("efficiency/%s/%s/%s/depth-%d", at.place, at.io, pattern, depth),
					Place: at.place, IOEngine: at.io, Pattern: pattern, Depth: depth, Threads: 1,
					Against: allFio,
					Goals: []Goal{
						{Against: FioDefault, Metric: Efficiency, AtLeast: at.least},
						{Against: FioSame, Metric: Efficiency, AtLeast: 1.2},
					},
				})
			}
		}
	}
	return cases
}

// depthOneCases ask for no worse figures where each I/O is waited for.
func depthOneCases() []Case {
	var cases []Case
	for _, place := range []Place{Zero, Zram, File} {
		for _, io := range []string{"sync", "libaio", "io_uring"} {
			for _, pattern := range []string{"randread", "randwrite"} {
				if place == Zram && io == "io_uring" {
					continue
				}
				cases = append(cases, Case{
					Name:  fmt.Sprintf("depth-one/%s/%s/%s", place, io, pattern),
					Place: place, IOEngine: io, Pattern: pattern, Depth: 1, Threads: 1,
					Against: []Variant{FioDefault},
					Goals: []Goal{
						{Against: FioDefault, Metric: Efficiency, AtLeast: notInferior, LowerBound: true},
						{Against: FioDefault, Metric: Rate, AtLeast: notInferior, LowerBound: true},
						{Against: FioDefault, Metric: Quickness, AtLeast: notInferior, LowerBound: true},
					},
				})
			}
		}
	}
	return cases
}

// rateCases ask for no fewer IOPS at equal settings, over all depths.
func rateCases() []Case {
	var cases []Case
	for _, at := range []struct {
		place  Place
		io     string
		depths []int
	}{
		{Zram, "sync", []int{1}},
		{Zram, "libaio", []int{1, 2, 4, 8, 16, 32, 64, 128}},
		{File, "sync", []int{1}},
		{File, "libaio", []int{1, 2, 4, 8, 16, 32, 64, 128}},
		{File, "io_uring", []int{1, 2, 4, 8, 16, 32, 64, 128}},
	} {
		for _, threads := range []int{1, 2} {
			for _, depth := range at.depths {
				if depth == 1 && threads == 1 {
					continue // one of depthOneCases
				}
				cases = append(cases, Case{
					Name:  fmt.Sprintf("rate/%s/%s/depth-%d/threads-%d", at.place, at.io, depth, threads),
					Place: at.place, IOEngine: at.io, Pattern: "randread", Depth: depth, Threads: threads,
					Against: []Variant{FioDefault},
					Goals:   []Goal{{Against: FioDefault, Metric: Rate, AtLeast: notInferior, LowerBound: true}},
				})
			}
		}
	}
	return cases
}
