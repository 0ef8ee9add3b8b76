// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// proposals are as many as are worth reading.
const proposals = 3

// unknown is the error for a name that is not among those known, with the nearest of them. Prefix is
// what people leave out.
func unknown(what, flag, name string, known []string, prefix string) error {
	near := nearest(name, known, prefix)
	if len(near) == 0 {
		return fmt.Errorf("%s is %q, a %s that the catalog does not have, and no name there is like it", flag, name, what)
	}
	return fmt.Errorf("%s is %q, a %s that the catalog does not have: did you mean %s?", flag, name, what, strings.Join(near, ", "))
}

// nearest are the names with the fewest letters different: a quarter at most, so that they are alike.
func nearest(name string, known []string, prefix string) []string {
	type candidate struct {
		name string
		off  int
	}
	var all []candidate
	for _, k := range known {
		off := min(distance(name, k), distance(prefix+name, k))
		if off <= max(2, len(k)/4) {
			all = append(all, candidate{k, off})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.off, b.off), strings.Compare(a.name, b.name)) })
	var names []string
	for _, c := range all {
		// What is the same but for its case leaves no question.
		if len(names) == proposals || len(names) > 0 && all[0].off == 0 {
			break
		}
		names = append(names, c.name)
	}
	return names
}

// distance is Levenshtein's, without regard to case: the letters to change, add or leave out.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
