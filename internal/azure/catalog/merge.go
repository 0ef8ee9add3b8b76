// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// Two sources of a limit agree when they differ by no more than rounding: the SKU API's listing has
// whole MB/s, rebuilt from MiB/s (judgment: 1%, and 1 MB/s for the small ones).
const (
	roundingPercent = 1
	roundingBytes   = 1_000_000
)

// MergeVMs makes one row of all sources on a VM size and controller. Each figure comes from the best
// source that has it; a limit of which documentation and SKU API differ by more than rounding is the
// lower one, so that a verdict does not blame a disk for what the VM held back, and the row is
// disputed. The row's source is that of the best limits.
func MergeVMs(rows []VM) []VM {
	bySize := map[string][]VM{}
	for _, v := range rows {
		size := strings.ToLower(v.Size)
		bySize[size] = append(bySize[size], v)
	}
	var merged []VM
	for _, group := range bySize {
		merged = append(merged, mergeSize(group)...)
	}
	return vms.sorted(merged)
}

// mergeSize makes a row for each controller. Rows without a controller and without limits, which are
// those of the driver's list, count for every controller that has limits of its own.
func mergeSize(rows []VM) []VM {
	var shared []VM
	byController := map[Controller][]VM{}
	for _, v := range rows {
		if v.Controller == "" && v.Uncached == nil {
			shared = append(shared, v)
			continue
		}
		byController[v.Controller] = append(byController[v.Controller], v)
	}
	if len(byController) == 0 {
		return []VM{mergeRows(shared)}
	}
	var merged []VM
	for controller, rows := range byController {
		v := mergeRows(append(rows, shared...))
		v.Controller = controller
		merged = append(merged, v)
	}
	return merged
}

var ranks = map[Quality]int{Doc: 0, Driver: 1, SKUAPI: 2}

// mergeRows takes at least one row.
func mergeRows(rows []VM) VM {
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b VM) int { return cmp.Compare(ranks[a.Quality], ranks[b.Quality]) })
	best := rows[0]
	if i := slices.IndexFunc(rows, func(v VM) bool { return v.Uncached != nil }); i >= 0 {
		best = rows[i]
	}
	for _, v := range rows {
		best.Disputed = best.Disputed || v.Disputed || disagree(best.Uncached, v.Uncached) || disagree(best.V2Ultra, v.V2Ultra)
	}
	best.MaxDataDisks, best.VCPU = first(rows, func(v VM) *int64 { return v.MaxDataDisks }), first(rows, func(v VM) *int64 { return v.VCPU })
	best.Uncached = lowest(rows, func(v VM) *Rate { return v.Uncached })
	best.Burst = lowest(rows, func(v VM) *Rate { return v.Burst })
	best.Cached = lowest(rows, func(v VM) *Rate { return v.Cached })
	best.V2Ultra = lowest(rows, func(v VM) *Rate { return v.V2Ultra })
	best.V2UltraBurst = lowest(rows, func(v VM) *Rate { return v.V2UltraBurst })
	return best
}

func first[T any](rows []VM, field func(VM) *T) *T {
	for _, v := range rows {
		if p := field(v); p != nil {
			return p
		}
	}
	return nil
}

// lowest is the first known limit, or the lower of two that disagree.
func lowest(rows []VM, field func(VM) *Rate) *Rate {
	limit := first(rows, field)
	for _, v := range rows {
		if other := field(v); disagree(limit, other) {
			limit = lower(*limit, *other)
		}
	}
	return limit
}

func lower(a, b Rate) *Rate {
	return &Rate{IOPS: min(a.IOPS, b.IOPS), BytesPerSecond: min(a.BytesPerSecond, b.BytesPerSecond)}
}

func disagree(a, b *Rate) bool {
	if a == nil || b == nil {
		return false
	}
	return differ(a.IOPS, b.IOPS, 0) || differ(a.BytesPerSecond, b.BytesPerSecond, roundingBytes)
}

func differ(a, b, rounding int64) bool {
	return max(a, b)-min(a, b) > max(rounding, max(a, b)*roundingPercent/100)
}

// overrideVMs replaces sizes by a user's rows of the same controller, whatever the quality of either. A
// row without a controller replaces those of every controller.
func overrideVMs(rows, over []VM) []VM {
	type identity struct {
		size       string
		controller Controller
	}
	replaced := map[identity]bool{}
	for _, v := range over {
		replaced[identity{strings.ToLower(v.Size), v.Controller}] = true
	}
	rest := slices.DeleteFunc(slices.Clone(rows), func(v VM) bool {
		size := strings.ToLower(v.Size)
		return replaced[identity{size, v.Controller}] || replaced[identity{size, ""}]
	})
	return append(rest, over...)
}
