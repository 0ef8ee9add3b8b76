// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// regions are Azure's (its list of regions, 2026), so that a slip of the keyboard is told from a region
// whose prices the catalog does not have.
var regions = []string{
	"australiacentral", "australiacentral2", "australiaeast", "australiasoutheast", "austriaeast", "belgiumcentral",
	"brazilsouth", "brazilsoutheast", "canadacentral", "canadaeast", "centralindia", "centralus", "chilecentral",
	"chinaeast", "chinaeast2", "chinaeast3", "chinanorth", "chinanorth2", "chinanorth3", "denmarkeast", "eastasia",
	"eastus", "eastus2", "francecentral", "francesouth", "germanynorth", "germanywestcentral", "indonesiacentral",
	"israelcentral", "italynorth", "japaneast", "japanwest", "jioindiacentral", "jioindiawest", "koreacentral",
	"koreasouth", "malaysiawest", "mexicocentral", "newzealandnorth", "northcentralus", "northeurope", "norwayeast",
	"norwaywest", "polandcentral", "qatarcentral", "southafricanorth", "southafricawest", "southcentralus",
	"southeastasia", "southindia", "spaincentral", "swedencentral", "switzerlandnorth", "switzerlandwest",
	"uaecentral", "uaenorth", "uksouth", "ukwest", "usgovarizona", "usgovtexas", "usgovvirginia", "westcentralus",
	"westeurope", "westindia", "westus", "westus2", "westus3",
}

// findRegion is the short form of a region's name. An unknown one is an error that proposes the nearest.
func findRegion(c catalog.Catalog, name string) (string, error) {
	region := catalog.NormalizeRegion(name)
	known := slices.Concat(regions, c.Regions())
	if slices.Contains(known, region) {
		return region, nil
	}
	if len(nearest(region, known, "")) == 0 {
		return "", fmt.Errorf("--region is %q, which is no Azure region: write it like westeurope", name)
	}
	return "", unknown("region", "--region", region, slices.Compact(slices.Sorted(slices.Values(known))), "")
}
