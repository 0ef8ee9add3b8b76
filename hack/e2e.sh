#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Runs the cluster tests on a local cluster of their own. Arguments go to go test, such as
#   hack/e2e.sh -ginkgo.focus='block device'
# KEEP=1 leaves the cluster running for a look, and for a faster next run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cluster=diskbench-e2e
if [ -z "${KEEP:-}" ]; then
	trap 'hack/cluster/cluster.sh --name "$cluster" down' EXIT
fi
hack/cluster/cluster.sh --name "$cluster" up
DISKBENCH_E2E_KUBECONFIG=$(hack/install.sh "$cluster" | tail -n 1)
export DISKBENCH_E2E_KUBECONFIG
PATH="$(hack/tools/build.sh kubernetes kubectl | tail -n 1):$PATH"
[ -t 1 ] || set -- -ginkgo.no-color "$@" # escape sequences do not read well in a log
go test ./test/e2e -count=1 -timeout 30m -v -ginkgo.v "$@"
