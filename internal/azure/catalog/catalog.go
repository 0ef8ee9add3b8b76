// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Catalog is an immutable set of published figures, with lookups.
type Catalog struct {
	version   string
	tiers     []Tier
	rules     []Rule
	ultraCaps []UltraCap
	prices    []Price
	vms       []VM

	tierBySize map[Family][]Tier
	price      map[string]Price
	vm         map[string][]VM
}

// Version names the set: the date of its newest source and a hash of its content, and a second hash
// behind a plus where a user's rows are over it.
func (c Catalog) Version() string { return c.version }

// Parse reads a set of CSV files by name. Files with an unknown name give an error. The good rows are
// in the catalog, and the bad ones in the errors, in the order of file names and lines.
func Parse(files map[string]string) (Catalog, []RowError) {
	set, bad := parseSet(files)
	set.vms = MergeVMs(set.vms)
	set.version = fmt.Sprintf("%s-%s", newest(set), hash(Format(set)))
	return index(set), bad
}

// hashDigits keep versions short; 48 bits tell apart all sets that a project will ever have.
const hashDigits = 12

// hash of files by name and content.
func hash(files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name]) // A hash takes everything.
	}
	return hex.EncodeToString(sum.Sum(nil))[:hashDigits]
}

// newest is the latest date of all sources.
func newest(c Catalog) Date {
	var latest Date
	see := func(s *Source) {
		if s.Date.Earliest().After(latest.Earliest()) {
			latest = s.Date
		}
	}
	c.eachSource(see)
	return latest
}

// eachSource calls f for the source of each row, which it may change.
func (c Catalog) eachSource(f func(*Source)) {
	each(tiers, c.tiers, f)
	each(rules, c.rules, f)
	each(ultraCaps, c.ultraCaps, f)
	each(prices, c.prices, f)
	each(vms, c.vms, f)
}

func each[R any](t table[R], rows []R, f func(*Source)) {
	for i := range rows {
		f(t.source(&rows[i]))
	}
}

// parseSet reads the files and resolves references to sources.csv.
func parseSet(files map[string]string) (Catalog, []RowError) {
	var set Catalog
	var named []namedSource
	var bad []RowError
	for _, name := range slices.Sorted(maps.Keys(files)) {
		bad = append(bad, set.read(&named, name, files[name])...)
	}
	set.resolve(named)
	return set, bad
}

// read adds the rows of one file.
func (c *Catalog) read(named *[]namedSource, name, content string) []RowError {
	switch {
	case name == tiersFile:
		return into(&c.tiers, tiers, name, content)
	case name == rulesFile:
		return into(&c.rules, rules, name, content)
	case name == ultraCapsFile:
		return into(&c.ultraCaps, ultraCaps, name, content)
	case name == pricesFile:
		return into(&c.prices, prices, name, content)
	case name == vmsFile, slices.Contains(mergedFiles, name):
		return into(&c.vms, vms, name, content)
	case name == sourcesFile:
		return into(named, sources, name, content)
	}
	return []RowError{{File: name, Line: 1, Problem: "unknown file: use " + strings.Join(Files(), ", ")}}
}

func into[R any](rows *[]R, t table[R], name, content string) []RowError {
	read, bad := t.parse(name, content)
	*rows = append(*rows, read...)
	return bad
}

// resolve replaces references such as @3 by the source of that name. One without a source stays, with
// an unknown date.
func (c *Catalog) resolve(named []namedSource) {
	byID := map[string]Source{}
	for _, s := range named {
		byID["@"+s.ID] = s.Source
	}
	c.eachSource(func(s *Source) {
		if source, ok := byID[s.Reference]; ok {
			*s = source
		}
	})
}

// Format writes a catalog as the files that Parse reads, sorted, without notes, and with each source
// once, in sources.csv.
func Format(c Catalog) map[string]string {
	c = c.clone()
	ids := map[Source]string{}
	var all []Source
	c.eachSource(func(s *Source) { all = append(all, *s) })
	slices.SortFunc(all, func(a, b Source) int {
		return strings.Compare(a.Reference+"\x00"+a.Date.String(), b.Reference+"\x00"+b.Date.String())
	})
	var named []namedSource
	for i, s := range slices.Compact(all) {
		ids[s] = fmt.Sprintf("%03d", i+1)
		named = append(named, namedSource{ID: ids[s], Source: s})
	}
	c.eachSource(func(s *Source) { *s = Source{Reference: "@" + ids[*s]} })
	return map[string]string{
		tiersFile:     tiers.format(c.tiers),
		rulesFile:     rules.format(c.rules),
		ultraCapsFile: ultraCaps.format(c.ultraCaps),
		pricesFile:    prices.format(c.prices),
		vmsFile:       vms.format(c.vms),
		sourcesFile:   sources.format(named),
	}
}

// clone copies the rows, so that changes of their sources stay apart.
func (c Catalog) clone() Catalog {
	c.tiers, c.rules, c.ultraCaps = slices.Clone(c.tiers), slices.Clone(c.rules), slices.Clone(c.ultraCaps)
	c.prices, c.vms = slices.Clone(c.prices), slices.Clone(c.vms)
	return c
}

// index fills the maps for lookups.
func index(c Catalog) Catalog {
	c.tierBySize, c.price, c.vm = map[Family][]Tier{}, map[string]Price{}, map[string][]VM{}
	for _, t := range c.tiers {
		c.tierBySize[t.Family] = append(c.tierBySize[t.Family], t)
	}
	for _, sizes := range c.tierBySize {
		slices.SortFunc(sizes, func(a, b Tier) int { return int(a.SizeGiB - b.SizeGiB) })
	}
	for _, p := range c.prices {
		c.price[priceKey(p)] = p
	}
	for _, v := range c.vms {
		size := strings.ToLower(v.Size)
		c.vm[size] = append(c.vm[size], v)
	}
	return c
}

// Overlay puts a user's rows over those of the catalog: a row replaces the one with the same key
// (tier; SKU and rule; size; region, currency, SKU, tier and kind; VM size and controller) as a whole,
// and one with a new key is added. Files have the names and columns that Files and data/README.md
// give. Bad rows are left out and reported, in the order of file names and lines.
func Overlay(c Catalog, files map[string]string) (Catalog, []RowError) {
	if len(files) == 0 {
		return c, nil
	}
	over, bad := parseSet(files)
	over.vms = MergeVMs(over.vms)
	return index(Catalog{
		version:   c.version + "+" + hash(files),
		tiers:     tiers.override(c.tiers, over.tiers),
		rules:     rules.override(c.rules, over.rules),
		ultraCaps: ultraCaps.override(c.ultraCaps, over.ultraCaps),
		prices:    prices.override(c.prices, over.prices),
		vms:       overrideVMs(c.vms, over.vms),
	}), bad
}
