// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package disktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The kernel holds each direction to its own cap, and only for members of the group.
func TestThrottle(t *testing.T) {
	device := Loop(t, MemoryDir(t), 16<<20, "--direct-io=on")
	for _, tt := range []struct {
		why   string
		caps  Caps
		args  []string
		least time.Duration
	}{
		{"20 reads a second", Caps{ReadIOPS: 20}, []string{"if=" + device, "of=/dev/null", "iflag=direct", "bs=4k", "count=20"}, time.Second},
		{"20 writes a second", Caps{WriteIOPS: 20}, []string{"if=/dev/zero", "of=" + device, "oflag=direct", "bs=4k", "count=20"}, time.Second},
		{"a mebibyte read a second", Caps{ReadBPS: 1 << 20}, []string{"if=" + device, "of=/dev/null", "iflag=direct", "bs=64k", "count=16"}, time.Second},
		{"a mebibyte written a second", Caps{WriteBPS: 1 << 20}, []string{"if=/dev/zero", "of=" + device, "oflag=direct", "bs=64k", "count=16"}, time.Second},
	} {
		t.Run(tt.why, func(t *testing.T) {
			g := NewGroup(t)
			g.Limit(t, device, tt.caps)
			free := timed(t, "/dev/null", tt.args)
			// The first slice of the throttle is free.
			if held := timed(t, g.Procs(), tt.args); held < tt.least*8/10 || held < 2*free {
				t.Errorf("took %s in the group and %s outside, want %s in it", held, free, tt.least)
			}
		})
	}
}

// timed runs dd as a process that has written its ID to a file before.
func timed(t *testing.T, procs string, args []string) time.Duration {
	t.Helper()
	c := exec.Command("sh", append([]string{"-c", `echo $$ > "$0" && exec dd "$@"`, procs}, args...)...)
	begin := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return time.Since(begin)
}

func TestZram(t *testing.T) {
	var device string
	t.Run("while the test runs", func(t *testing.T) {
		device = Zram(t, 1<<20)
		Run(t, "dd", "if=/dev/urandom", "of="+device, "bs=64k", "count=16", "conv=fsync")
	})
	if device == "" {
		t.Skip("no zram here")
	}
	if _, err := os.Stat(filepath.Join("/sys/block", filepath.Base(device))); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", device, err)
	}
}
