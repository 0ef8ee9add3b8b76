// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command catalog generates the embedded Azure catalog from its sources. `make catalog` runs it in the
// root of the repository. See package internal/azure/catalog for what it does and why.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

const (
	sourceDir = "internal/azure/catalog/data"
	targetDir = "internal/azure/catalog/embedded"
)

func main() {
	if err := generate(sourceDir, targetDir); err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

// generate writes nothing when a row is bad, or when rows contradict each other.
func generate(from, to string) error {
	set := map[string]string{}
	for _, name := range catalog.Files() {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("read a source of the catalog: %w", err)
		}
		set[name] = string(content)
	}
	c, bad := catalog.Parse(set)
	bad = append(bad, catalog.Check(c)...)
	for _, b := range bad {
		fmt.Fprintln(os.Stderr, b)
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d bad rows in %s: nothing was written", len(bad), from)
	}
	for name, content := range catalog.Format(c) {
		if err := os.WriteFile(filepath.Join(to, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the catalog: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(to, "VERSION"), []byte(c.Version()+"\n"), 0o644)
}
