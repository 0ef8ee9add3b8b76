// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/diskbench/diskbench/engine/workload"
)

// durationShape is what time.ParseDuration reads: beyond that, a refused duration is too long.
var durationShape = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))*$`)

func parseDuration(s string) (workload.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d <= workload.MaxDuration.Std():
		return workload.Duration(d), nil
	case durationShape.MatchString(s):
		return 0, fmt.Errorf("at most %gh is possible", workload.MaxDuration.Std().Hours())
	default:
		return 0, errors.New("write a number with a unit, such as 60s or 1m30s")
	}
}

func wholeNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, errors.New("write a whole number, such as 4")
	}
	return n, nil
}

// largeNumber is a whole number of 64 bits.
func largeNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, errors.New("write a whole number below 2^63")
	}
	return n, nil
}

func parseBool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("use true or false")
	}
	return b, nil
}

// parseRange reads a part of the file in percent: 0-50, or 12.5-100%.
func parseRange(s string) (workload.Range, error) {
	wrong := errors.New("write the part in percent of the file, such as 0-50")
	low, high, ok := strings.Cut(strings.TrimSuffix(s, "%"), "-")
	if !ok {
		return workload.Range{}, wrong
	}
	start, err1 := strconv.ParseFloat(low, 64)
	end, err2 := strconv.ParseFloat(high, 64)
	if errors.Join(err1, err2) != nil {
		return workload.Range{}, wrong
	}
	return workload.Range{StartPercent: start, EndPercent: end}, nil
}

// parseDistribution reads uniform, zipf or hotspot:95/5, in any case.
func parseDistribution(s string) (workload.Distribution, error) {
	wrong := errors.New("use uniform, zipf or hotspot:95/5, which sends 95% of the I/O to the first 5% of the range")
	name, shares, hasShares := strings.Cut(strings.ToLower(s), ":")
	switch {
	case name == "uniform" && !hasShares:
		return workload.Distribution{Type: workload.Uniform}, nil
	case name == "zipf" && !hasShares:
		return workload.Distribution{Type: workload.Zipf}, nil
	case name != "hotspot":
		return workload.Distribution{}, wrong
	}
	io, part, ok := strings.Cut(shares, "/")
	ioPercent, err1 := strconv.Atoi(io)
	rangePercent, err2 := strconv.Atoi(part)
	if !ok || errors.Join(err1, err2) != nil {
		return workload.Distribution{}, wrong
	}
	return workload.Distribution{Type: workload.Hotspot, IOPercent: ioPercent, RangePercent: rangePercent}, nil
}
