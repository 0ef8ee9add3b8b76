#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Checks that what is generated is up to date and that what is shipped is valid. What it regenerates
# stays, so that a failure is mended by committing it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

failed=()

# check runs a command, and remembers its name when it fails.
check() {
	local name=$1
	shift
	echo "==> $name"
	"$@" || failed+=("$name")
}

tool() { "$(hack/tools/build.sh "$1" | tail -n 1)/$1" "${@:2}"; }

# sums prints a checksum for each file that git tracks or would add.
sums() {
	git ls-files -z --cached --others --exclude-standard |
		xargs -0 sha256sum 2>/dev/null | sort -k 2
}

generated() {
	local before after
	before=$(sums)
	make --no-print-directory generate manifests docs catalog fmt || return 1
	after=$(sums)
	[ "$before" != "$after" ] || return 0
	echo "not up to date, regenerated now; look at them and commit them:"
	diff <(echo "$before") <(echo "$after") | sed -n 's/^[<>] [0-9a-f]*  /  /p' | sort -u
	return 1
}

tidy() {
	local mod status=0
	while read -r mod; do
		(cd "$(dirname "$mod")" && GOWORK=off go mod tidy -diff) || {
			echo "$mod is not tidy: run go mod tidy there"
			status=1
		}
	done < <(git ls-files --cached --others --exclude-standard '*go.mod')
	return $status
}

manifests() {
	local dir status=0
	for dir in config/{crd,rbac,manager,default,samples}; do
		tool kustomize build "$dir" >/dev/null || status=1
	done
	local sample
	for sample in config/samples/*.yaml; do
		[ "$sample" = config/samples/kustomization.yaml ] || grep -qxF -- "- ${sample##*/}" config/samples/kustomization.yaml || {
			echo "$sample is not in config/samples/kustomization.yaml"
			status=1
		}
	done
	return $status
}

chart() {
	local chart=charts/diskbench
	tool helm lint --strict "$chart" &&
		tool helm template diskbench "$chart" --namespace diskbench-system >/dev/null &&
		tool helm template diskbench "$chart" --namespace diskbench-system --set 'watchNamespaces={a,b}' >/dev/null &&
		refuses 'additional properties' --set image.tga=v1 &&
		refuses 'leaderElection' --set replicas=2,leaderElection.enabled=false
}

# refuses tells whether the chart refuses values, with a message that holds a text.
refuses() {
	local text=$1 output
	shift
	if output=$(tool helm template diskbench charts/diskbench "$@" 2>&1); then
		echo "the chart accepts $*"
		return 1
	fi
	grep -qF -- "$text" <<<"$output" || {
		echo "the chart refuses $*, but without '$text': $output"
		return 1
	}
}

# scripts lints every shell script, where shellcheck is installed (Debian's package of that name).
scripts() {
	command -v shellcheck >/dev/null || {
		echo "skipped: shellcheck is not installed"
		return 0
	}
	git ls-files -z --cached --others --exclude-standard |
		xargs -0 grep -lIE '^#!.*\b(ba)?sh$' | xargs shellcheck --severity=style
}

check "generated files" generated
check "tidy modules" tidy
check "manifests in config/" manifests
check "Helm chart" chart
check "shell scripts" scripts

if [ ${#failed[@]} -gt 0 ]; then
	printf 'verify.sh: failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
