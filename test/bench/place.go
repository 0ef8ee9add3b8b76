// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/diskbench/diskbench/engine/volume"
)

const (
	blockSize = 4096
	zramSize  = 512 << 20
	zeroSize  = 1 << 30
)

// located is a place that is ready for I/O. Its data is really written.
type located struct {
	// path is what fio opens, and enginePath what the engine is given.
	path, enginePath string
	size             int64
	// prepared says that the engine finds its layout there.
	prepared bool
	// renew puts back what a run of the engine expects and an earlier run took away.
	renew func() error
	// remove frees everything.
	remove func() error
}

// places makes each place when it is first asked for, and keeps it.
type places struct {
	engine    string
	directory string
	fileSize  int64
	made      map[Place]located
}

func (p *places) find(ctx context.Context, place Place) (located, error) {
	if at, ok := p.made[place]; ok {
		return at, nil
	}
	at, err := p.make(ctx, place)
	if err != nil {
		return located{}, fmt.Errorf("%s: %w", place, err)
	}
	p.made[place] = at
	return at, nil
}

func (p *places) make(ctx context.Context, place Place) (located, error) {
	switch place {
	case Zero:
		nothing := func() error { return nil }
		return located{path: "/dev/zero", enginePath: "/dev/zero", size: zeroSize, renew: nothing, remove: nothing}, nil
	case Zram:
		return p.makeZram(ctx)
	case File:
		return p.makeFile(ctx)
	default:
		return located{}, fmt.Errorf("no place %q", place)
	}
}

// removeAll frees all places.
func (p *places) removeAll() error {
	var errs []error
	for _, at := range p.made {
		errs = append(errs, at.remove())
	}
	return errors.Join(errs...)
}

// makeFile lets the engine lay out a file, and keeps it under a second name: a run takes the first
// away. So fio and the engine use the very same blocks.
func (p *places) makeFile(ctx context.Context) (located, error) {
	dir, err := os.MkdirTemp(p.directory, "diskbench-bench-")
	if err != nil {
		return located{}, err
	}
	expected, kept := filepath.Join(dir, volume.FileName), filepath.Join(dir, "file")
	err = p.prepare(ctx, dir, p.fileSize)
	if err == nil {
		err = os.Rename(expected, kept)
	}
	if err != nil {
		return located{}, errors.Join(err, os.RemoveAll(dir))
	}
	return located{
		path: kept, enginePath: dir, size: p.fileSize, prepared: true,
		renew: func() error {
			if err := os.Link(kept, expected); !errors.Is(err, os.ErrExist) {
				return err
			}
			return nil
		},
		remove: func() error { return os.RemoveAll(dir) },
	}, nil
}

const zramControl = "/sys/class/zram-control/"

// makeZram makes a compressed memory disk of random data, which does not compress. It never touches
// one that is there already.
func (p *places) makeZram(ctx context.Context) (located, error) {
	number, err := os.ReadFile(zramControl + "hot_add") // reading it makes the device
	if err != nil {
		return located{}, fmt.Errorf("making a device takes root and the kernel's zram: %w", err)
	}
	n := strings.TrimSpace(string(number))
	device, sys := "/dev/zram"+n, "/sys/block/zram"+n+"/"
	remove := func() error { return removeZram(n, sys) }
	err = os.WriteFile(sys+"disksize", []byte(strconv.Itoa(zramSize)), 0)
	if err == nil {
		err = p.prepare(ctx, device, zramSize)
	}
	var mark []byte
	if err == nil {
		mark, err = readFirstBlock(device)
	}
	if err != nil {
		return located{}, errors.Join(err, remove())
	}
	return located{
		path: device, enginePath: device, size: zramSize, prepared: true,
		// Writes at random may have hit the mark that says the device was laid out.
		renew:  func() error { return writeFirstBlock(device, mark) },
		remove: remove,
	}, nil
}

// removeZram waits while something like udev still looks at the device.
func removeZram(number, sys string) error {
	var err error
	for range 50 {
		if err = os.WriteFile(sys+"reset", []byte("1"), 0); err == nil {
			return os.WriteFile(zramControl+"hot_remove", []byte(number), 0)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func readFirstBlock(device string) ([]byte, error) {
	f, err := os.Open(device)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	block := make([]byte, blockSize)
	_, err = io.ReadFull(f, block)
	return block, err
}

func writeFirstBlock(device string, block []byte) error {
	f, err := os.OpenFile(device, os.O_WRONLY|os.O_SYNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(block, 0)
	return errors.Join(err, f.Close())
}

// prepare has the engine write random data.
func (p *places) prepare(ctx context.Context, path string, size int64) error {
	trial := Case{IOEngine: "sync", Pattern: "randread", Depth: 1, Threads: 1}
	c := exec.CommandContext(ctx, p.engine, append([]string{"prepare"}, layout(trial, path, size)...)...)
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", c, err, lastLine(output))
	}
	return nil
}

func lastLine(output []byte) string {
	text := strings.TrimSpace(string(output))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
