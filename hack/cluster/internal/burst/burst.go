// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package burst

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

// interval between looks at the volumes.
const interval = 500 * time.Millisecond

// Watcher keeps the credits of a store's volumes.
type Watcher struct {
	Store volume.Store
	// Cgroup is the folder that all containers have theirs below.
	Cgroup string

	known map[string]*watched
}

type watched struct {
	bucket *bucket
	at     time.Time
	ios    uint64
}

// Run looks at the volumes until it is told to stop. A look that fails is said, once, and made again.
func (w *Watcher) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			err := w.look(now)
			if err != nil && err.Error() != said {
				said = err.Error()
				log.Printf("burst credits: %v", err)
			}
		}
	}
}

func (w *Watcher) look(now time.Time) error {
	volumes, err := w.Store.Bursting()
	if err != nil {
		return err
	}
	before := w.known
	w.known = make(map[string]*watched, len(volumes))
	for _, v := range volumes {
		ios, err := completed(v.Device)
		if err != nil {
			return err
		}
		seen := before[v.Name]
		if seen == nil {
			seen = &watched{bucket: newBucket(v.Caps.ReadIOPS, v.Burst.Credits), at: now, ios: ios}
		}
		w.known[v.Name] = seen
		caps := v.Caps
		if seen.bucket.spend(ios-seen.ios, now.Sub(seen.at)) {
			caps = v.Burst.Caps
		}
		seen.at, seen.ios = now, ios
		if err := setCaps(w.Cgroup, v.Device, caps); err != nil {
			return err
		}
	}
	return nil
}

// completed are the reads and writes of a device since it is there: fields 1 and 5 of
// Documentation/block/stat.rst.
func completed(device string) (uint64, error) {
	path := filepath.Join("/sys/block", filepath.Base(device), "stat")
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var reads, writes, skip uint64
	if _, err := fmt.Sscan(string(data), &reads, &skip, &skip, &skip, &writes); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return reads + writes, nil
}

// setCaps changes the caps of each container that has caps of the device.
func setCaps(cgroup, device string, caps volume.Caps) error {
	number, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "dev"))
	if err != nil {
		return err
	}
	values := capFiles(strings.TrimSpace(string(number)), caps)
	return filepath.WalkDir(cgroup, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a container that ended
		}
		if err != nil {
			return err
		}
		want, ok := values[filepath.Base(path)]
		if !ok {
			return nil
		}
		if err := replace(path, want); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
			return err
		}
		return nil // it may have ended meanwhile
	})
}

// capFiles are the lines that cap a device, by the name of the file of a cgroup that takes them: four of
// cgroup v1, or the one of v2.
func capFiles(device string, c volume.Caps) map[string]string {
	return map[string]string{
		"blkio.throttle.read_iops_device":  fmt.Sprintf("%s %d", device, c.ReadIOPS),
		"blkio.throttle.write_iops_device": fmt.Sprintf("%s %d", device, c.WriteIOPS),
		"blkio.throttle.read_bps_device":   fmt.Sprintf("%s %d", device, c.ReadBPS),
		"blkio.throttle.write_bps_device":  fmt.Sprintf("%s %d", device, c.WriteBPS),
		"io.max":                           fmt.Sprintf("%s rbps=%d wbps=%d riops=%d wiops=%d", device, c.ReadBPS, c.WriteBPS, c.ReadIOPS, c.WriteIOPS),
	}
}

// replace writes a line over that of the same device, if there is one and it differs.
func replace(path, line string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	device, _, _ := strings.Cut(line, " ")
	for old := range strings.Lines(string(data)) {
		if old = strings.TrimSpace(old); strings.HasPrefix(old, device+" ") && old != line {
			return os.WriteFile(path, []byte(line), 0o644)
		}
	}
	return nil
}
