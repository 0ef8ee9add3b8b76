// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volume keeps a cluster's volumes: a sparse file each, a loop device on it,
// and the caps that the kernel is to enforce while a container uses it.
package volume

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/diskbench/diskbench/hack/cluster/internal/loop"
)

// detachTimeout is how long a volume may take to be given up by those who use it.
const detachTimeout = 5 * time.Second

// Caps limit a volume; 0 is unlimited. The names are those of the StorageClass parameters.
type Caps struct {
	ReadIOPS  uint64 `json:"readIOPS,omitempty"`
	WriteIOPS uint64 `json:"writeIOPS,omitempty"`
	ReadBPS   uint64 `json:"readBPS,omitempty"`  // bytes per second
	WriteBPS  uint64 `json:"writeBPS,omitempty"` // bytes per second
}

// Burst is what a volume may do while it has credits.
type Burst struct {
	Caps Caps `json:"caps"`
	// Credits of a full bucket, in I/Os beyond the base.
	Credits uint64 `json:"credits"`
}

// Limits are the caps of a volume, and its burst; nil without.
type Limits struct {
	Caps

	Burst *Burst `json:"burst,omitempty"`
}

// Options are what a StorageClass asks for.
type Options struct {
	Limits

	FSType     string // of a Filesystem volume
	SectorSize uint32 // logical sector in bytes; 0 leaves it to the kernel
}

// ParseOptions reads the parameters of a StorageClass. Unknown ones are refused:
// a misspelled cap would silently be none.
func ParseOptions(parameters map[string]string) (Options, error) {
	o := Options{FSType: "ext4"}
	for key, value := range parameters {
		var err error
		switch key {
		case "readIOPS":
			o.Caps.ReadIOPS, err = parsePositive(value, 64)
		case "writeIOPS":
			o.Caps.WriteIOPS, err = parsePositive(value, 64)
		case "readBPS":
			o.Caps.ReadBPS, err = parsePositive(value, 64)
		case "writeBPS":
			o.Caps.WriteBPS, err = parsePositive(value, 64)
		case "sectorSize":
			var size uint64
			size, err = parsePositive(value, 32)
			o.SectorSize = uint32(size)
		case "fsType":
			o.FSType = value
		default:
			err = errors.New("unknown; known are readIOPS, writeIOPS, readBPS, writeBPS, fsType and sectorSize")
		}
		if err != nil {
			return Options{}, fmt.Errorf("StorageClass parameter %s: %w", key, err)
		}
	}
	return o, nil
}

func parsePositive(value string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(value, 10, bits)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q: want a positive whole number", value)
	}
	return n, nil
}

// Store is the folder of the volumes: <name>.img and <name>.json (its limits).
type Store struct{ Dir string }

func (s Store) image(name string) string  { return filepath.Join(s.Dir, name+".img") }
func (s Store) limits(name string) string { return filepath.Join(s.Dir, name+".json") }

// Create makes a volume of that many bytes and returns the path of its device.
// Called again for the same name, it returns the volume that is there.
func (s Store) Create(name string, size int64, o Options) (string, error) {
	limits, err := json.Marshal(o.Limits)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(s.limits(name), limits, 0o644); err != nil {
		return "", err
	}
	f, err := os.OpenFile(s.image(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := f.Truncate(roundUp(size, max(4096, int64(o.SectorSize)))); err != nil {
		return "", err
	}
	attached, err := s.devices(name)
	if err != nil {
		return "", err
	}
	if len(attached) > 0 {
		return attached[0].Path, nil
	}
	return loop.Attach(s.image(name), o.SectorSize)
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// Delete detaches the volume's device and removes its files. A volume that does not exist is no error.
func (s Store) Delete(name string) error {
	id, err := loop.FileID(s.image(name))
	if err == nil {
		err = loop.Detach(id, detachTimeout)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range []string{s.image(name), s.limits(name)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// DeleteAll deletes every volume of the store.
func (s Store) DeleteAll() error {
	images, err := filepath.Glob(s.image("*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range images {
		errs = append(errs, s.Delete(strings.TrimSuffix(filepath.Base(path), ".img")))
	}
	return errors.Join(errs...)
}

// CapsOf returns the caps that a container starts with on the volume whose file backs a loop device: its
// burst, where it has one. ok is false for a file that is no volume of this store.
func (s Store) CapsOf(backingFile string) (caps Caps, ok bool, err error) {
	name, isImage := strings.CutSuffix(filepath.Base(backingFile), ".img")
	if !isImage || filepath.Dir(backingFile) != s.Dir {
		return Caps{}, false, nil
	}
	limits, err := s.limitsOf(name)
	if err != nil {
		return Caps{}, false, err
	}
	if limits.Burst != nil {
		return limits.Burst.Caps, true, nil
	}
	return limits.Caps, true, nil
}

func (s Store) limitsOf(name string) (Limits, error) {
	data, err := os.ReadFile(s.limits(name))
	if err != nil {
		return Limits{}, err
	}
	var limits Limits
	if err := json.Unmarshal(data, &limits); err != nil {
		return Limits{}, fmt.Errorf("%s: %w", s.limits(name), err)
	}
	return limits, nil
}

// Volume is an attached one.
type Volume struct {
	Limits

	Name, Device string
}

// Bursting lists the attached volumes that have a burst.
func (s Store) Bursting() ([]Volume, error) {
	images, err := filepath.Glob(s.image("*"))
	if err != nil {
		return nil, err
	}
	var volumes []Volume
	for _, path := range images {
		name := strings.TrimSuffix(filepath.Base(path), ".img")
		limits, err := s.limitsOf(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && limits.Burst == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		devices, err := s.devices(name)
		if err != nil {
			return nil, err
		}
		if len(devices) > 0 {
			volumes = append(volumes, Volume{limits, name, devices[0].Path})
		}
	}
	return volumes, nil
}

// devices that a volume's file is attached to; none for a volume that does not exist.
func (s Store) devices(name string) ([]loop.Device, error) {
	id, err := loop.FileID(s.image(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return loop.Find(id)
}
