// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package retail reads list prices of managed disks from the Azure Retail Prices API
// (https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices), which needs
// no credentials.
//
// Client fetches the prices of one region and currency. Source keeps them, refreshes them in the
// background, and lays them over the embedded catalog, in the format of a user's overrides: cost
// functions take either, an answer goes through the catalog's own parser, and each price says where and
// when it was read. A meter that the API does not have, or not in a way that leaves one price, stays what
// the catalog says: it is never guessed, and never 0.
//
// This package is the one under internal that opens connections. Its clock is injected.
package retail
