// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

func TestReadOnly(t *testing.T) {
	t.Run("mount", func(t *testing.T) {
		dir := filesystem(t, "ext4", 32*mib)
		disktest.Run(t, "mount", "-o", "remount,ro", dir)
		s, err := volume.OpenSet(workload.Directory, []string{dir}, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Discard)
		failed(t, s.Create(false), report.ReasonPermissionDenied, dir+" is mounted read-only: mount it for writing")
	})
	t.Run("device", func(t *testing.T) {
		device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib, "--read-only")
		_, err := volume.OpenSet(workload.BlockDevice, []string{device}, 0)
		failed(t, err, report.ReasonPermissionDenied, device+" is a read-only device: attach it for writing")
	})
}

// A volume that says it is larger than it is, as thin ones do: the message says where it ended, and that
// of a directory and of a device alike.
func TestThinVolume(t *testing.T) {
	const promised, actual = 64 * mib, 24 * mib
	thin := func(t *testing.T) string {
		t.Helper()
		pool := t.TempDir()
		disktest.NeedRoot(t, "mounting")
		disktest.Run(t, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", actual), "tmpfs", pool)
		t.Cleanup(func() { disktest.Run(t, "umount", pool) })
		return disktest.Loop(t, pool, promised)
	}
	for _, tt := range []struct {
		kind workload.TargetKind
		path func(t *testing.T) string
	}{
		{workload.BlockDevice, thin},
		{workload.Directory, func(t *testing.T) string {
			t.Helper()
			device := thin(t)
			disktest.Run(t, "mkfs.ext4", "-q", "-O", "^has_journal", device)
			return disktest.Mount(t, device)
		}},
	} {
		t.Run(string(tt.kind), func(t *testing.T) {
			path := tt.path(t)
			s := ready(t, tt.kind, 0, path)
			room, err := s.Room(false)
			if err != nil || room.Available < promised/2 {
				t.Fatalf("%+v, %v", room, err)
			}
			err = errors.Join(s.Allocate(promised/2), s.Fill(t.Context(), promised/2, volume.FillOptions{Seed: 1}, func(int64) {}))
			f := (*report.Failure)(nil)
			if !errors.As(err, &f) || f.Reason != report.ReasonIOError && f.Reason != report.ReasonNoSpace {
				t.Fatal(err)
			}
			where := regexp.MustCompile(`^cannot write at byte (\d+) of ` + regexp.QuoteMeta(filepath.Clean(path)) + `.*thin volume`).FindStringSubmatch(f.Message)
			if where == nil {
				t.Fatalf("%q does not say where it ended", f.Message)
			}
			// Some MiB are written at the same time, and metadata and the sparse file's own take room.
			if at, err := strconv.ParseInt(where[1], 10, 64); err != nil || at < actual/2 || at > actual+8*mib {
				t.Errorf("it ended at %s, want about %d", where[1], actual)
			}
		})
	}
}
