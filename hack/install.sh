#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# install.sh <cluster name> builds this checkout's image, loads it into that local cluster and
# installs the operator there with its Helm chart, as a user would. It needs no image registry.
# Its last line is the path of the cluster's kubeconfig.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ $# -eq 1 ] || {
	echo "usage: install.sh <cluster name>" >&2
	exit 1
}
cluster=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "==> building the operator and the engine" >&2
make --no-print-directory build >&2

# The tag names the content, so that an upgrade to other binaries is one to another image.
tag="dev-$(cat bin/manager bin/diskbench-engine | sha256sum | cut -c1-12)"
hack/cluster/cluster.sh image --tag "diskbench.local/diskbench:$tag" --out "$work/image.tar" \
	bin/manager bin/diskbench-engine >&2
hack/cluster/cluster.sh --name "$cluster" load "$work/image.tar" >&2

echo "==> installing the operator with Helm" >&2
helm=$(hack/tools/build.sh helm | tail -n 1)/helm
kubeconfig=$(hack/cluster/cluster.sh --name "$cluster" kubeconfig)
"$helm" --kubeconfig "$kubeconfig" upgrade --install diskbench charts/diskbench \
	--namespace diskbench-system --create-namespace --hide-notes --wait --timeout 3m \
	--set image.repository=diskbench.local/diskbench --set-string "image.tag=$tag" --set image.pullPolicy=Never >&2
echo "$kubeconfig"
