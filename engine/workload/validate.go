// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/diskbench/diskbench/engine/bytesize"
)

// The limits of a plan. Those of the API are the same or narrower.
const (
	// MaxWorkloads is what a termination message of 4,096 bytes holds in the worst case.
	MaxWorkloads = 8
	// MaxRepetitions is the most repetitions of each workload.
	MaxRepetitions = 10
	// MaxThreads is the most workers of a workload.
	MaxThreads = 64
	// MaxQueueDepth is the most outstanding I/Os of a worker.
	MaxQueueDepth = 1024
	// MinBlockSizeBytes is the smallest sector there is; the target may ask for more.
	MinBlockSizeBytes = 512
	// MaxBlockSizeBytes is beyond what any kernel sends to a disk in one piece.
	MaxBlockSizeBytes = 16 * mib
	// MaxBufferBytes bounds the memory for the outstanding I/Os of a workload, which a container
	// has to have beside the engine's own 64 MiB or so.
	MaxBufferBytes = gib
	// MinDuration is one slice of the kernel's own throttling.
	MinDuration = Duration(100 * time.Millisecond)
	// MaxDuration bounds the window and the warm-up.
	MaxDuration = Duration(24 * time.Hour)
)

var nameShape = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Validate checks what can be known without the target. The error names the field, its value and
// what would be right.
func (p Plan) Validate() error {
	if p.Target != Directory && p.Target != BlockDevice {
		return fmt.Errorf("target %q: use %s or %s", p.Target, Directory, BlockDevice)
	}
	if !strings.HasPrefix(p.Path, "/") {
		return fmt.Errorf("path %q: give the absolute path of a directory or of a block device", p.Path)
	}
	switch p.IOEngine {
	case Auto, IOUring, LibAIO, Sync:
	default:
		return fmt.Errorf("ioEngine %q: use %s, %s, %s or %s", p.IOEngine, Auto, IOUring, LibAIO, Sync)
	}
	if err := inRange("repetitions", p.Repetitions, 1, MaxRepetitions); err != nil {
		return err
	}
	return p.validateWorkloads()
}

func (p Plan) validateWorkloads() error {
	if len(p.Workloads) == 0 {
		return errors.New("workloads is empty: name at least one, such as the preset quick")
	}
	if len(p.Workloads) > MaxWorkloads {
		return fmt.Errorf("workloads has %d entries, at most %d fit in one run "+
			"(the presets quick and latency count two, profile six)", len(p.Workloads), MaxWorkloads)
	}
	seen := map[string]bool{}
	for i, w := range p.Workloads {
		at := fmt.Sprintf("workloads[%d]", i)
		if !nameShape.MatchString(w.Name) {
			return fmt.Errorf("%s: name %q: use 1 to 63 lower-case letters, digits and inner dashes", at, w.Name)
		}
		if seen[w.Name] {
			return fmt.Errorf("%s: name %q is there twice: give each workload its own name", at, w.Name)
		}
		seen[w.Name] = true
		if err := w.validate(p.IOEngine); err != nil {
			return fmt.Errorf("%s (%s): %w", at, w.Name, err)
		}
	}
	return nil
}

func (w Workload) validate(engine IOEngine) error {
	for _, check := range []error{
		w.validateShape(),
		inRange("readPercent", w.ReadPercent, 0, 100),
		w.validateBlockSize(),
		inRange("threads", w.Threads, 1, MaxThreads),
		inRange("queueDepth", w.QueueDepth, 1, MaxQueueDepth),
		w.validateSizes(),
		durationInRange("warmup", w.Warmup, 0, MaxDuration),
		durationInRange("duration", w.Duration, MinDuration, MaxDuration),
	} {
		if check != nil {
			return check
		}
	}
	if engine == Sync && w.QueueDepth > 1 {
		return fmt.Errorf("queueDepth %d with ioEngine %s, which keeps one I/O outstanding for each thread: "+
			"use queueDepth 1 and more threads, or another ioEngine", w.QueueDepth, Sync)
	}
	return nil
}

func (w Workload) validateShape() error {
	if w.Pattern != Random && w.Pattern != Sequential {
		return fmt.Errorf("pattern %q: use %s or %s", w.Pattern, Random, Sequential)
	}
	if w.Sync != SyncNone && w.Sync != SyncWriteThrough {
		return fmt.Errorf("sync %q: use %s or %s", w.Sync, SyncNone, SyncWriteThrough)
	}
	if w.SharedOffset && w.Pattern != Sequential {
		return fmt.Errorf("sharedOffset with pattern %s: only the threads of a %s workload share an offset",
			w.Pattern, Sequential)
	}
	return nil
}

func (w Workload) validateBlockSize() error {
	if w.BlockSizeBytes < MinBlockSizeBytes || w.BlockSizeBytes > MaxBlockSizeBytes {
		return fmt.Errorf("blockSize %d is outside %d to %s bytes",
			w.BlockSizeBytes, MinBlockSizeBytes, bytesize.Format(MaxBlockSizeBytes))
	}
	if w.BlockSizeBytes%MinBlockSizeBytes != 0 {
		return fmt.Errorf("blockSize %d is not a multiple of %d bytes%s",
			w.BlockSizeBytes, MinBlockSizeBytes, binaryHint(w.BlockSizeBytes))
	}
	return nil
}

// binaryHint answers the commonest mistake: k and M are powers of 1,000.
func binaryHint(n int64) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf(", did you mean %dMi?", n/1_000_000)
	case n%1_000 == 0:
		return fmt.Sprintf(", did you mean %dKi?", n/1_000)
	default:
		return ""
	}
}

func (w Workload) validateSizes() error {
	if need := w.BlockSizeBytes * int64(w.Threads); w.FileSizeBytes < need {
		return fmt.Errorf("fileSize %d is too small: %d threads with blocks of %d bytes need at least %d",
			w.FileSizeBytes, w.Threads, w.BlockSizeBytes, need)
	}
	if buffers := w.BlockSizeBytes * int64(w.Outstanding()); buffers > MaxBufferBytes {
		return fmt.Errorf("threads %d x queueDepth %d x blockSize %d is %d bytes of buffers, the limit is %s: "+
			"lower one of them", w.Threads, w.QueueDepth, w.BlockSizeBytes, buffers, bytesize.Format(MaxBufferBytes))
	}
	return nil
}

func inRange(field string, v, low, high int) error {
	if v < low || v > high {
		return fmt.Errorf("%s %d is outside %d to %d", field, v, low, high)
	}
	return nil
}

func durationInRange(field string, v, low, high Duration) error {
	if v < low || v > high {
		return fmt.Errorf("%s %s is outside %s to %s", field, v, low, high)
	}
	return nil
}
