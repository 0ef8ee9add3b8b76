// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Room is how large the file, or the used part of the device, can be, in bytes.
type Room struct {
	// Available is all there is.
	Available int64
	// Shrunk is the most that a size nobody asked for takes.
	Shrunk int64
	// Beside is the free space for files beside the one that workloads share.
	Beside int64
	// Prepared says that the shared file is there already, and no part of the free space.
	Prepared bool
	// Sector is the logical block size.
	Sector int64
	// Where names the target in messages.
	Where string
}

// nullBytes is the size of what has none.
const nullBytes = int64(1) << 50

// room finds the room: of a directory the free space, of a device its size. After openPrepared it
// is the size that was prepared.
func (v *member) room(prepared bool) (Room, error) {
	room := Room{Sector: v.sector, Where: v.describe(), Prepared: prepared}
	if v.kind == workload.Directory {
		var fs unix.Statfs_t
		if err := unix.Fstatfs(v.dir, &fs); err != nil {
			return room, v.failure("statfs", err)
		}
		room.Beside = int64(fs.Bavail) * int64(fs.Frsize)
	}
	switch {
	case v.kind == workload.NullDevice:
		room.Available, room.Shrunk = nullBytes, nullBytes
		return room, nil
	case prepared:
		size, err := v.preparedSize()
		room.Available, room.Shrunk = size, size
		return room, err
	case v.kind == workload.BlockDevice:
		room.Available, room.Shrunk = v.info.SizeBytes, v.info.SizeBytes
		return room, nil
	default:
		room.Available = room.Beside
		room.Shrunk = room.Available / 100 * shrinkPercent
		return room, nil
	}
}

func (v *member) preparedSize() (int64, error) {
	if v.kind == workload.BlockDevice {
		return v.mark.size, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(v.data, &st); err != nil {
		return 0, v.failure("stat", err)
	}
	return st.Size, nil
}

// Fit gives the workloads with their effective file sizes, whole numbers of blocks, and the size
// of the file that holds the largest of those that share it, in whole sectors; 0 if none does. A workload
// with a file of its own needs room beside that: sizes that were asked for come first, and those nobody
// asked for, of the shared file before those of others, make do with the rest. A size that was asked for
// and does not fit, and a block that is no multiple of the sector, are a *report.Failure.
func Fit(ws []workload.Workload, room Room) ([]workload.Workload, int64, error) {
	for _, w := range ws {
		if failure := checkSector(w, room); failure != nil {
			return nil, 0, failure
		}
	}
	fitted := slices.Clone(ws)
	shared := int64(0)
	for i := range fitted {
		if fitted[i].OwnFile() {
			continue
		}
		if failure := fit(&fitted[i], besideOwn(ws, room)); failure != nil {
			return nil, 0, failure
		}
		shared = max(shared, fitted[i].FileSizeBytes)
	}
	shared = (shared + room.Sector - 1) / room.Sector * room.Sector
	for i := range fitted {
		if !fitted[i].OwnFile() {
			continue
		}
		if failure := fit(&fitted[i], besideShared(shared, room)); failure != nil {
			return nil, 0, failure
		}
	}
	return fitted, shared, nil
}

// besideOwn is the room that files of their own leave, where their size was asked for, to a shared one
// whose size was not.
func besideOwn(ws []workload.Workload, room Room) Room {
	if room.Prepared {
		return room
	}
	own := int64(0)
	for _, w := range ws {
		if w.OwnFile() && !w.ShrinkToFit {
			own = max(own, w.FileSizeBytes)
		}
	}
	room.Shrunk = max(0, min(room.Shrunk, room.Available-own))
	return room
}

// besideShared is the room for a file of its own beside the shared one.
func besideShared(shared int64, room Room) Room {
	room.Available = room.Beside
	if !room.Prepared && shared > 0 {
		room.Available -= shared
		room.Where += fmt.Sprintf(" beside the shared file of %d bytes", shared)
	}
	room.Available = max(0, room.Available)
	room.Shrunk = room.Available / 100 * shrinkPercent
	return room
}

// fit gives one workload its file size.
func fit(w *workload.Workload, room Room) *report.Failure {
	if w.ShrinkToFit {
		w.FileSizeBytes = min(w.FileSizeBytes, room.Shrunk)
	}
	asked := w.FileSizeBytes
	w.FileSizeBytes -= w.FileSizeBytes % largestBlock(*w)
	if w.FileSizeBytes > room.Available {
		return report.Failf(report.ReasonNoSpace,
			"workload %s: fileSize %d does not fit on %s, which has room for %d bytes: ask for less or take a larger volume",
			w.Name, asked, room.Where, room.Available)
	}
	for _, s := range w.Streams {
		if first, end := s.Range.Blocks(w.FileSizeBytes, s.BlockSizeBytes); end-first < int64(s.Threads) {
			return report.Failf(report.ReasonNoSpace,
				"workload %s needs a file with at least %d blocks of %d bytes in the range from %g to %g percent, "+
					"%s has room for a file of %d bytes: take a larger volume", w.Name, s.Threads, s.BlockSizeBytes,
				s.Range.StartPercent, s.Range.EndPercent, room.Where, room.Shrunk)
		}
	}
	return nil
}

func largestBlock(w workload.Workload) int64 {
	var largest int64
	for _, s := range w.Streams {
		largest = max(largest, s.BlockSizeBytes)
	}
	return largest
}

// checkSector refuses a direct I/O that is no multiple of the sector.
func checkSector(w workload.Workload, room Room) *report.Failure {
	for _, s := range w.Streams {
		if w.Buffered() || s.BlockSizeBytes%room.Sector == 0 {
			continue
		}
		relation := "is not a multiple of"
		if s.BlockSizeBytes < room.Sector {
			relation = "is below"
		}
		return report.Failf(report.ReasonInvalidPlan, "workload %s: blockSize %d %s the logical block size %d of %s: use a multiple of %d",
			w.Name, s.BlockSizeBytes, relation, room.Sector, room.Where, room.Sector)
	}
	return nil
}
