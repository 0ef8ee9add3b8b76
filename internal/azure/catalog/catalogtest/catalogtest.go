// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package catalogtest gives tests the embedded catalog.
package catalogtest

import (
	"testing"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
)

// Load gives the catalog of the binary.
func Load(t testing.TB) catalog.Catalog {
	t.Helper()
	c, err := embedded.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
