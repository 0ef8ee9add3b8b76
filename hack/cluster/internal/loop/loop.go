// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loop attaches files to loop devices with direct I/O.
// Devices are found by the identity of their backing file (device and inode), never by number or path:
// numbers are shared with the whole host, and a path reads differently in another mount namespace.
package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ID identifies a file.
type ID struct{ Dev, Ino uint64 }

// Device is an attached loop device.
type Device struct {
	Path    string // /dev/loopN
	Backing ID
	// BackingRdev is the device number of the backing file when that is a device itself, else 0.
	BackingRdev uint64
}

// FileID returns the identity of a file.
func FileID(path string) (ID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return ID{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return ID{Dev: st.Dev, Ino: st.Ino}, nil
}

// Attached lists the attached loop devices of the host.
func Attached() ([]Device, error) {
	// The folder loop/ exists in sysfs only while a device is attached.
	dirs, err := filepath.Glob("/sys/block/loop*/loop")
	if err != nil {
		return nil, err
	}
	var devices []Device
	for _, dir := range dirs {
		d, err := inspect(filepath.Join("/dev", filepath.Base(filepath.Dir(dir))))
		if errors.Is(err, unix.ENXIO) || errors.Is(err, os.ErrNotExist) {
			continue // detached meanwhile
		}
		if err != nil {
			return nil, err
		}
		devices = append(devices, d)
	}
	return devices, nil
}

func inspect(path string) (Device, error) {
	f, err := os.Open(path)
	if err != nil {
		return Device{}, err
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if err != nil {
		return Device{}, &os.PathError{Op: "get loop status of", Path: path, Err: err}
	}
	return Device{Path: path, Backing: ID{Dev: info.Device, Ino: info.Inode}, BackingRdev: info.Rdevice}, nil
}

// Find returns the devices attached to the file.
func Find(file ID) ([]Device, error) {
	return find(func(d Device) bool { return d.Backing == file })
}

func find(match func(Device) bool) ([]Device, error) {
	all, err := Attached()
	if err != nil {
		return nil, err
	}
	var found []Device
	for _, d := range all {
		if match(d) {
			found = append(found, d)
		}
	}
	return found, nil
}

// Attach gives the file a free loop device with direct I/O and returns the device's path.
// sectorSize is the logical sector in bytes; 0 leaves it to the kernel.
func Attach(file string, sectorSize uint32) (string, error) {
	f, err := os.OpenFile(file, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		return "", fmt.Errorf("open the file of a volume: %w", err)
	}
	defer f.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer control.Close()

	config := unix.LoopConfig{Fd: uint32(f.Fd()), Size: sectorSize, Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_DIRECT_IO}}
	copy(config.Info.File_name[:len(config.Info.File_name)-1], filepath.Base(file))
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return "", fmt.Errorf("find a free loop device: %w", err)
		}
		path := fmt.Sprintf("/dev/loop%d", n)
		err = configure(path, config)
		if errors.Is(err, unix.EBUSY) {
			continue // somebody else took it between the two calls
		}
		return path, err
	}
}

func configure(path string, config unix.LoopConfig) error {
	dev, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer dev.Close()
	fd := int(dev.Fd())
	if err := unix.IoctlLoopConfigure(fd, &config); err != nil {
		return &os.PathError{Op: "attach", Path: path, Err: err}
	}
	info, err := unix.IoctlLoopGetStatus64(fd)
	if err != nil {
		return &os.PathError{Op: "get loop status of", Path: path, Err: err}
	}
	if info.Flags&unix.LO_FLAGS_DIRECT_IO == 0 {
		_ = unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0)
		return fmt.Errorf("%s does no direct I/O, so it would measure the page cache: "+
			"set DISKBENCH_CACHE to a folder on a disk (ext4, xfs), or ask for a larger sectorSize", path)
	}
	return nil
}

// Detach frees every device attached to the file, first those that are stacked on one of them:
// kubelet attaches a second loop device to the device of a Block volume while a pod uses it.
// A device that is open stays until its last user leaves; Detach waits for that up to the timeout.
func Detach(file ID, timeout time.Duration) error {
	devices, err := Find(file)
	if err != nil {
		return err
	}
	for _, d := range devices {
		var st unix.Stat_t
		if err := unix.Stat(d.Path, &st); err != nil {
			return &os.PathError{Op: "stat", Path: d.Path, Err: err}
		}
		stacked, err := find(func(upper Device) bool { return upper.BackingRdev == st.Rdev })
		if err != nil {
			return err
		}
		for _, upper := range stacked {
			if err := detach(upper, timeout); err != nil {
				return err
			}
		}
		if err := detach(d, timeout); err != nil {
			return err
		}
	}
	return nil
}

func detach(d Device, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		now, err := inspect(d.Path)
		if errors.Is(err, unix.ENXIO) || errors.Is(err, os.ErrNotExist) || (err == nil && now.Backing != d.Backing) {
			return nil // free, or already somebody else's
		}
		if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("loop device %s is still in use: it goes when its last user closes it", d.Path)
		}
		if err := clearDevice(d.Path); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func clearDevice(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
	if err != nil && !errors.Is(err, unix.ENXIO) && !errors.Is(err, unix.EBUSY) {
		return &os.PathError{Op: "detach", Path: path, Err: err}
	}
	return nil
}
