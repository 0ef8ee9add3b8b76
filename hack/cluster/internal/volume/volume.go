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

// Options are the parameters of a StorageClass.
type Options struct {
	Caps       Caps
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

// Store is the folder of the volumes: <name>.img and <name>.json (its caps).
type Store struct{ Dir string }

func (s Store) image(name string) string { return filepath.Join(s.Dir, name+".img") }
func (s Store) caps(name string) string  { return filepath.Join(s.Dir, name+".json") }

// Create makes a volume of that many bytes and returns the path of its device.
// Called again for the same name, it returns the volume that is there.
func (s Store) Create(name string, size int64, o Options) (string, error) {
	caps, err := json.Marshal(o.Caps)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(s.caps(name), caps, 0o644); err != nil {
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
	id, err := loop.FileID(s.image(name))
	if err != nil {
		return "", err
	}
	attached, err := loop.Find(id)
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
	for _, path := range []string{s.image(name), s.caps(name)} {
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

// CapsOf returns the caps of the volume whose file backs a loop device.
// ok is false for a file that is no volume of this store.
func (s Store) CapsOf(backingFile string) (caps Caps, ok bool, err error) {
	name, isImage := strings.CutSuffix(filepath.Base(backingFile), ".img")
	if !isImage || filepath.Dir(backingFile) != s.Dir {
		return Caps{}, false, nil
	}
	data, err := os.ReadFile(s.caps(name))
	if err != nil {
		return Caps{}, false, err
	}
	if err := json.Unmarshal(data, &caps); err != nil {
		return Caps{}, false, fmt.Errorf("%s: %w", s.caps(name), err)
	}
	return caps, true, nil
}
