// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command throttle-runc stands in front of runc (containerd's BinaryName). When a container is created
// whose volumes have caps, it adds them to the container's OCI configuration as block I/O throttles,
// which runc turns into blkio.throttle.* on cgroup v1 and io.max on v2. Then it becomes runc.
//
// The caps sit on the container and not on a parent, since throttles of cgroup v1 are flat.
// It finds runc, and the volumes, beside itself: <dir>/runc and <dir>/../volumes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/hack/cluster/internal/volume"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		// A container without its caps would measure another disk: better none at all.
		fmt.Fprintln(os.Stderr, "throttle-runc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Dir(self)
	if bundle, ok := bundleToCreate(args); ok {
		store := volume.Store{Dir: filepath.Join(filepath.Dir(bin), "volumes")}
		if err := throttle(filepath.Join(bundle, "config.json"), store); err != nil {
			return fmt.Errorf("add the caps of the volumes to %s: %w", bundle, err)
		}
	}
	runc := filepath.Join(bin, "runc")
	return syscall.Exec(runc, append([]string{runc}, args...), os.Environ())
}

// bundleToCreate returns the bundle of a `create` or `run` command line as containerd's shim writes it.
func bundleToCreate(args []string) (bundle string, ok bool) {
	for i, arg := range args {
		switch {
		case arg == "create" || arg == "run":
			ok = true
		case (arg == "--bundle" || arg == "-b") && i+1 < len(args):
			bundle = args[i+1]
		case strings.HasPrefix(arg, "--bundle="):
			bundle = strings.TrimPrefix(arg, "--bundle=")
		}
	}
	return bundle, ok && bundle != ""
}

// throttle adds the caps of the container's volumes to its configuration.
func throttle(configFile string, store volume.Store) error {
	data, err := os.ReadFile(configFile)
	if err != nil {
		return err
	}
	devices, err := blockDevices(data)
	if err != nil {
		return err
	}
	var limits throttles
	for _, d := range devices {
		backing, err := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/loop/backing_file", d.Major, d.Minor))
		if err != nil {
			continue // not a loop device
		}
		caps, ok, err := store.CapsOf(strings.TrimSpace(string(backing)))
		if err != nil {
			return err
		}
		if ok {
			limits.add(d, caps)
		}
	}
	if limits.empty() {
		return nil
	}
	config, err := decode(data)
	if err != nil {
		return err
	}
	setThrottles(config, limits)
	out, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(configFile, out, 0o600)
}

type device struct{ Major, Minor uint32 }

// blockDevices returns what a container could do I/O to: the file systems of its mounts and its block devices.
func blockDevices(config []byte) ([]device, error) {
	var spec struct {
		Mounts []struct{ Source string }
		Linux  struct {
			Devices []struct {
				Type         string
				Major, Minor uint32
			}
		}
	}
	if err := json.Unmarshal(config, &spec); err != nil {
		return nil, err
	}
	var devices []device
	seen := map[device]bool{}
	add := func(d device) {
		if !seen[d] {
			seen[d] = true
			devices = append(devices, d)
		}
	}
	for _, m := range spec.Mounts {
		var st unix.Stat_t
		if filepath.IsAbs(m.Source) && unix.Stat(m.Source, &st) == nil {
			add(device{unix.Major(st.Dev), unix.Minor(st.Dev)})
		}
	}
	for _, d := range spec.Linux.Devices {
		if d.Type == "b" {
			add(device{d.Major, d.Minor})
		}
	}
	return devices, nil
}

// throttles is linux.resources.blockIO of the OCI runtime specification.
type throttles struct {
	ReadIOPS  []rate `json:"throttleReadIOPSDevice,omitempty"`
	WriteIOPS []rate `json:"throttleWriteIOPSDevice,omitempty"`
	ReadBPS   []rate `json:"throttleReadBpsDevice,omitempty"`
	WriteBPS  []rate `json:"throttleWriteBpsDevice,omitempty"`
}

type rate struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	Rate  uint64 `json:"rate"`
}

func (t *throttles) add(d device, caps volume.Caps) {
	for _, c := range []struct {
		list *[]rate
		cap  uint64
	}{
		{&t.ReadIOPS, caps.ReadIOPS},
		{&t.WriteIOPS, caps.WriteIOPS},
		{&t.ReadBPS, caps.ReadBPS},
		{&t.WriteBPS, caps.WriteBPS},
	} {
		if c.cap > 0 {
			*c.list = append(*c.list, rate{d.Major, d.Minor, c.cap})
		}
	}
}

func (t *throttles) empty() bool {
	return len(t.ReadIOPS)+len(t.WriteIOPS)+len(t.ReadBPS)+len(t.WriteBPS) == 0
}

// decode keeps the configuration as loose JSON, and its numbers as they are written,
// to pass on untouched whatever this program does not know.
func decode(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var config map[string]any
	err := decoder.Decode(&config)
	return config, err
}

func setThrottles(config map[string]any, t throttles) {
	object(object(config, "linux"), "resources")["blockIO"] = t
}

// object returns the object at key, which it makes if there is none.
func object(parent map[string]any, key string) map[string]any {
	child, ok := parent[key].(map[string]any)
	if !ok {
		child = map[string]any{}
		parent[key] = child
	}
	return child
}
