#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Prints a folder that holds etcd, kube-apiserver and kubectl, for envtest:
#   KUBEBUILDER_ASSETS="$(hack/tools/envtest-assets.sh)" go test ./...
# A KUBEBUILDER_ASSETS that is already set is respected; otherwise the binaries are built.
set -euo pipefail

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
	echo "$KUBEBUILDER_ASSETS"
	exit 0
fi
build="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/build.sh"
etcd=$("$build" etcd | tail -n 1)
kubernetes=$("$build" kubernetes kube-apiserver kubectl | tail -n 1)

# envtest wants one folder. Its name carries both versions, so it can be made once.
assets="${etcd%/*}/envtest-${etcd##*-}-${kubernetes##*-}"
mkdir -p "$assets"
ln -sfn "$etcd/etcd" "$assets/etcd"
ln -sfn "$kubernetes/kube-apiserver" "$assets/kube-apiserver"
ln -sfn "$kubernetes/kubectl" "$assets/kubectl"
echo "$assets"
