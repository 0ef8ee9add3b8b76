// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package catalog knows what Azure publishes about its managed disks: the tiers of Premium SSD,
// Standard SSD and Standard HDD, the rules of Premium SSD v2 and Ultra, the limits of VM sizes, and
// prices. It is pure: no network, no clock, no Kubernetes.
//
// # Where the figures come from
//
// The folder data holds the sources as CSV files, one fact a row, each with the public place it was
// read from and the date of that place. People edit those files; data/README.md documents every
// column.
//
// The generator, hack/catalog (`make catalog`), reads them with the parser of this package, refuses
// the whole set for one bad row, and writes what the binary embeds: package embedded. Three things
// happen on the way, so that nothing has to be decided when a figure is looked up.
//   - The files on VM sizes are merged to one row per size and controller (MergeVMs): documentation
//     before the listing of the SKU API, the CSI driver's list for the disks a size can take, and the
//     lower of two published limits that differ by more than rounding.
//   - Notes and other columns for maintainers are left out, and each source is written once.
//   - Rows are sorted, and the set gets a version: the date of its newest source and a hash of its
//     content. No clock is read, so the same sources give the same bytes; `make verify` generates
//     again and fails on a difference.
//
// # Unknown figures
//
// What is not published is absent: a nil pointer in a row, and (value, false) from a lookup. It is
// never 0, which would be a figure, and never free of charge.
//
// # Overrides
//
// Overlay puts a user's rows over the embedded ones. They have the same columns and go through the
// same parser: a bad row is reported with its file, line and column, and the good ones count.
package catalog
