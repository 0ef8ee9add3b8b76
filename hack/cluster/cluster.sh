#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Builds the cluster tool, which takes a second when nothing changed, and runs it.
# `cluster.sh --help` lists its commands.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export DISKBENCH_CACHE="${DISKBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/diskbench}"
export CLUSTER_TOOL_BUILDER="$here/../tools/build.sh"
# Programs of the system are in the sbin folders, which not every shell of root's looks into.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

bin="$DISKBENCH_CACHE/tools/cluster"
mkdir -p "$bin"
GOWORK=off CGO_ENABLED=0 go build -C "$here" -o "$bin/" ./cmd/...
exec "$bin/cluster" "$@"
