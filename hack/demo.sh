#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# The demonstration: a real local cluster, the operator, a DiskBenchmark and what it measured.
# demo.sh down removes the cluster and every trace of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cluster=diskbench-demo
sample=config/samples/demo.yaml
name=demo

if [ "${1:-}" = down ]; then
	exec hack/cluster/cluster.sh --name "$cluster" down
fi

echo "==> starting a local Kubernetes cluster, apart from any that your kubeconfig points at"
echo "    (the first time its parts are built from source: 15 to 20 minutes on two cores)"
hack/cluster/cluster.sh --name "$cluster" up
kubeconfig=$(hack/install.sh "$cluster" | tail -n 1)
PATH="$(hack/tools/build.sh kubernetes kubectl | tail -n 1):$PATH"
kubectl() { command kubectl --kubeconfig "$kubeconfig" "$@"; }

echo "==> applying $sample"
sed -n '/^apiVersion/,$p' "$sample"
# A benchmark from an earlier demo would rightly not run again on an unchanged apply.
kubectl delete diskbenchmark "$name" --ignore-not-found --wait >/dev/null
kubectl apply -f "$sample"

echo "==> waiting for it to finish, about a minute and a half"
state='{.status.conditions[?(@.type=="Ready")].reason}: {.status.conditions[?(@.type=="Ready")].message}'
finished='{.status.conditions[?(@.type=="Finished")].status}'
last=""
for _ in $(seq 600); do
	now=$(kubectl get diskbenchmark "$name" -o jsonpath="$state")
	if [ "$now" != "$last" ]; then
		echo "    $(date +%T) $now"
		last=$now
	fi
	[ "$(kubectl get diskbenchmark "$name" -o jsonpath="$finished")" != True ] || break
	sleep 1
done

kubectl get diskbenchmark "$name" -o wide
if ! kubectl wait --for=condition=Ready "diskbenchmark/$name" --timeout=0 >/dev/null; then
	kubectl describe diskbenchmark "$name"
	echo "demo.sh: the benchmark is not Ready; its status above says why" >&2
	exit 1
fi
cat <<END

The cluster goes on running. To use it:
    export KUBECONFIG=$kubeconfig
    kubectl get diskbenchmark $name -o yaml
To remove it:
    make demo-down
END
