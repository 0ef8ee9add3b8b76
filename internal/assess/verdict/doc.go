// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package verdict says what limited a measured workload: the disk, the VM, the host cache, the load
// itself, or the machine that made it; or that this cannot be known from what was measured. It is pure.
//
// A figure is held against each published limit (package predict) as x = measured / limit. An ordered
// list of rules is read from the top, and the first that holds gives the verdict; rules.go has them in
// the order and with the numbers of docs/verdicts.md. Published limits and the rule of burst credits are
// Azure's (documentation of disk types, of VM sizes and of managed disk bursting); that disks are measured
// from 1% below to 2% above their limits is from the 25 rows of a table of premium disks published in
// 2015 (internal/assess/published). What is judgment says so.
package verdict
