#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# build.sh <name> [tool...] builds the tools of the Go module hack/tools/<name>,
# or only those named, and prints the folder that holds them as its last line.
#
# A tool module is a go.mod (with `tool` directives) and a go.sum, and, where the
# defaults do not do, a build.env: shell that may set
#   LDFLAGS       linker flags, added to -s -w
#   TAGS          build tags, comma separated
#   CGO_ENABLED   default 0
#   RENAME        "server=etcd ...": tools whose binary gets another name
#   DURATION      what to tell people who wait for a cold build
# and may call `module_version <module path>`.
#
# The folder's name carries a hash of everything that decides what is built, so a
# changed version never meets an old binary, and checkouts share what is the same.
# Binaries appear by rename and under a lock: concurrent runs are safe.
set -euo pipefail

die() {
	echo "build.sh: $*" >&2
	exit 1
}

[ $# -ge 1 ] || die "usage: build.sh <name> [tool...]"
name=$1
shift
dir="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$name"
[ -f "$dir/go.mod" ] || die "no tool module $name: $dir/go.mod does not exist"
cd "$dir"

cache="${DISKBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/diskbench}"
# A workspace or vendor setting of the caller must not change what is built.
export GOWORK=off GOFLAGS="-mod=readonly -buildvcs=false"

module_version() { go list -m -f '{{.Version}}' "$1"; }

LDFLAGS="" TAGS="" RENAME="" DURATION="under a minute"
export CGO_ENABLED=0
if [ -f build.env ]; then
	# shellcheck source=/dev/null
	. ./build.env
fi
flags=(-trimpath -tags "$TAGS" -ldflags "-s -w $LDFLAGS")

hash=$({
	cat go.mod go.sum
	find . -name '*.go' | LC_ALL=C sort | xargs -r cat
	go env GOVERSION GOOS GOARCH
	echo "$CGO_ENABLED $RENAME ${flags[*]}"
} | sha256sum | cut -c1-12)
out="$cache/tools/$name-$hash"
mkdir -p "$out"

# binary_name prints what `go build` calls the binary of an import path.
binary_name() {
	local path=$1
	[[ $path =~ /v[0-9]+$ ]] && path=${path%/*}
	local base=${path##*/} pair
	for pair in $RENAME; do
		[ "${pair%%=*}" = "$base" ] && base=${pair#*=}
	done
	echo "$base"
}

# build makes the wanted binaries that are not in $out yet.
build() {
	local path base paths=() all=()
	mapfile -t all < <(go list tool)
	[ ${#all[@]} -gt 0 ] || die "$dir/go.mod has no tool directive"
	for path in "${all[@]}"; do
		base=$(binary_name "$path")
		[ $# -eq 0 ] || [[ " $* " == *" $base "* ]] || continue
		[ -x "$out/$base" ] || paths+=("$path")
	done
	[ ${#paths[@]} -gt 0 ] || return 0

	echo "build.sh: building $name (${paths[*]}), which takes $DURATION when nothing is cached" >&2
	local start=$SECONDS
	rm -rf "$out"/.build.* # what a killed run left; the lock says that nobody uses it
	tmp=$(mktemp -d "$out/.build.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	for path in "${paths[@]}"; do
		go build "${flags[@]}" -o "$tmp/$(binary_name "$path")" "$path"
	done
	mv "$tmp"/* "$out/"
	rm -rf "$tmp"
	echo "build.sh: built $name in $((SECONDS - start)) s" >&2
}

# missing tells whether a wanted binary, or the mark of a complete build, is absent.
missing() {
	[ $# -gt 0 ] || set -- .complete
	local base
	for base; do
		[ -e "$out/$base" ] || return 0
	done
	return 1
}

if missing "$@"; then
	exec 9>"$out/.lock"
	flock 9
	build "$@"
	for base; do
		[ -x "$out/$base" ] || die "$dir/go.mod has no tool named $base"
	done
	[ $# -gt 0 ] || touch "$out/.complete"
fi
echo "$out"
