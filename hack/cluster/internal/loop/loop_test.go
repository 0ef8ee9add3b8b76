// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const timeout = 5 * time.Second

func newFile(t *testing.T) (path string, id ID) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("loop devices need root")
	}
	path = filepath.Join(t.TempDir(), "volume.img")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	id, err := FileID(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Detach(id, timeout); err != nil {
			t.Error(err)
		}
	})
	return path, id
}

func sysfs(t *testing.T, device, attribute string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), attribute))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func TestAttachUsesDirectIOAndTheSectorSize(t *testing.T) {
	path, id := newFile(t)
	device, err := Attach(path, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if got := sysfs(t, device, "loop/dio"); got != "1" {
		t.Errorf("direct I/O is %s, so the page cache would be measured", got)
	}
	if got := sysfs(t, device, "queue/logical_block_size"); got != "4096" {
		t.Errorf("logical sector of %s bytes", got)
	}
	found, err := Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Path != device {
		t.Errorf("found %v, want %s alone", found, device)
	}
}

// Kubelet stacks a second device on that of a Block volume, and after a crash nobody takes it away.
func TestDetachFreesStackedDevices(t *testing.T) {
	path, id := newFile(t)
	lower, err := Attach(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := Attach(lower, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Detach(id, timeout); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{lower, upper} {
		if _, err := os.Stat(filepath.Join("/sys/block", filepath.Base(device), "loop", "backing_file")); err == nil {
			// It is somebody else's by now unless it still has one of our backing files.
			if backing := sysfs(t, device, "loop/backing_file"); backing == path || backing == lower {
				t.Errorf("%s is still attached to %s", device, backing)
			}
		}
	}
}

func TestDetachSaysWhatIsInUse(t *testing.T) {
	path, id := newFile(t)
	device, err := Attach(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	user, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	err = Detach(id, 100*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), device) {
		t.Errorf("error %v while %s is open, want one that names it", err, device)
	}
	if err := user.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Detach(id, timeout); err != nil {
		t.Errorf("still in use after its user left: %v", err)
	}
}

func TestDetachOfAFileWithoutDevice(t *testing.T) {
	_, id := newFile(t)
	if err := Detach(id, timeout); err != nil {
		t.Error(err)
	}
}
