#!/usr/bin/env bash
# Copyright The diskbench Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Holds the engine's figures against the kernel's, fio's and those of a filesystem with known delays:
# docs/accuracy.md. Arguments go to go test, such as
#   hack/test-accuracy.sh -run TestStall
# It takes about ten minutes on an otherwise idle machine. A test that cannot run here is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
[ "$(id -u)" = 0 ] || missing+=("root, for loop devices, control groups and mounts: run it with sudo")
for program in losetup fio mkfs.ext4 mount; do
	command -v "$program" >/dev/null || missing+=("$program: install it (Debian: apt-get install util-linux mount fio e2fsprogs)")
done
losetup --find >/dev/null 2>&1 || missing+=("loop devices: modprobe loop")
[ -c /dev/fuse ] || missing+=("/dev/fuse: modprobe fuse")
[ "$(stat --file-system --format %T /dev/shm 2>/dev/null)" = tmpfs ] || missing+=("a tmpfs at /dev/shm")
[ -e /sys/fs/cgroup/blkio/blkio.throttle.read_iops_device ] || grep -qsw io /sys/fs/cgroup/cgroup.controllers ||
	missing+=("a control group that can throttle block I/O: blkio of cgroup v1 or io of cgroup v2, with CONFIG_BLK_DEV_THROTTLING")
if [ ${#missing[@]} -gt 0 ]; then
	echo "The accuracy tests cannot run here. They lack:" >&2
	printf '  %s\n' "${missing[@]}" >&2
	exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export DISKBENCH_ACCURACY_TABLE="$scratch/table"
status=0
# The parallel tests do next to nothing but wait.
go test ./test/accuracy -count=1 -timeout 40m -parallel 8 -v "$@" | tee "$scratch/log" || status=$?
if [ -s "$scratch/table" ]; then
	printf '\n| test | figure | truth | engine | deviation | tolerance |\n|---|---|---|---|---|---|\n'
	cat "$scratch/table"
fi
if skipped=$(grep -e '--- SKIP' "$scratch/log"); then
	printf '\nThese tests could not run here; the log says why:\n%s\n' "$skipped" >&2
	exit 1
fi
exit "$status"
