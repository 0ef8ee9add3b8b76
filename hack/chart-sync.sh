#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Keeps config/ and the chart one: copies the CRDs and the roles of config/ into the chart, whose
# templates read them, and the chart's appVersion into config/manager and config/samples.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
files=charts/diskbench/files
rm -rf "$files"
mkdir -p "$files/crds" "$files/rbac"
cp config/crd/bases/*.yaml "$files/crds/"
cp config/rbac/role.yaml config/rbac/leader_election_role.yaml config/rbac/diskbenchmark_*_role.yaml "$files/rbac/"

version=$(sed -n 's/^appVersion: *//p' charts/diskbench/Chart.yaml)
[ -n "$version" ] || {
	echo "chart-sync.sh: charts/diskbench/Chart.yaml has no appVersion" >&2
	exit 1
}
sed -i "s|^\( *newTag:\).*|\1 $version|" config/manager/kustomization.yaml
sed -i "s|\(ghcr.io/diskbench/diskbench:\)[^ ]*|\1$version|" config/samples/*.yaml
