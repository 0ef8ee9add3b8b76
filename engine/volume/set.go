// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"strings"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Set is one volume, or several that are striped over (RAID 0), as one address space. Its errors are
// *report.Failure. It is for one goroutine at a time.
type Set struct {
	members []*member
	// stripe is the bytes on one member before the next one follows; 0 for a single member.
	stripe int64
	// counters are open once they have been asked for.
	counters *counters
}

// OpenSet opens the volumes for one engine alone. Keep or Discard it.
func OpenSet(kind workload.TargetKind, paths []string, stripe int64) (*Set, error) {
	s := &Set{stripe: stripe}
	for _, path := range paths {
		v, err := openMember(kind, path)
		if err != nil {
			s.Discard()
			return nil, err
		}
		s.members = append(s.members, v)
	}
	return s, nil
}

// each calls f for one member after another, until the first failure.
func (s *Set) each(f func(*member) error) error {
	for _, v := range s.members {
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// Create makes the empty files, in place of what an earlier run that crashed may have left, or checks
// that the devices carry nothing that would be lost.
func (s *Set) Create(overwriteDevice bool) error {
	return s.each(func(v *member) error { return v.create(overwriteDevice) })
}

// OpenPrepared opens what an earlier Keep of the same set left. From then on the data of a device is
// complete, its first sector included.
func (s *Set) OpenPrepared() error {
	// All are checked before the first is touched.
	if err := s.each((*member).openPrepared); err != nil {
		return err
	}
	for i, v := range s.members {
		if v.kind != workload.BlockDevice {
			continue
		}
		if err := v.unmark(s.logical(int64(i), 0)); err != nil {
			return err
		}
	}
	return nil
}

// ProveDirectIO makes sure that I/O bypasses the page cache, and finds the sectors.
func (s *Set) ProveDirectIO() error { return s.each((*member).proveDirectIO) }

// Unlink takes the files' names away while they stay open.
func (s *Set) Unlink() error { return s.each((*member).unlink) }

// Keep leaves the completely written files or devices of all sets for a later run, and closes everything.
// After a failure nothing is left of any, once each was discarded.
func Keep(sets ...*Set) error {
	for _, s := range sets {
		if err := s.each((*member).keep); err != nil {
			return err
		}
	}
	for _, s := range sets {
		s.close()
	}
	return nil
}

// AgreeOnSeals is for a prepared set: one that a run verifies has to carry seals, and one that a run
// without seals writes to carries them no more.
func (s *Set) AgreeOnSeals(verify bool) error {
	return s.each(func(v *member) error { return v.agreeOnSeals(verify) })
}

// Discard removes the files, where there are any, marks the devices as free to use, and closes
// everything. Its errors change nothing that the caller could still do.
func (s *Set) Discard() {
	for _, v := range s.members {
		v.discard()
	}
	s.close()
}

func (s *Set) close() {
	for _, v := range s.members {
		v.close()
	}
	s.counters.close()
	s.counters = nil
}

// Room is that of the whole address space: as much of each member as the smallest has, in whole stripes.
// The sector is the largest of any.
func (s *Set) Room(prepared bool) (Room, error) {
	var room Room
	for i, v := range s.members {
		r, err := v.room(prepared)
		if err != nil {
			return Room{}, err
		}
		sector := max(room.Sector, r.Sector)
		if i == 0 || r.Available < room.Available {
			room = r
		}
		room.Sector = sector
	}
	room.Where = s.Describe()
	room.Available, room.Shrunk = s.whole(room.Available), s.whole(room.Shrunk)
	return room, nil
}

// whole is the address space of members that have so much room each: whole stripes.
func (s *Set) whole(size int64) int64 {
	if len(s.members) == 1 {
		return size
	}
	return size / s.stripe * s.stripe * int64(len(s.members))
}

// share is how much of a size lies on each member: whole stripes.
func (s *Set) share(size int64) int64 {
	if len(s.members) == 1 {
		return size
	}
	row := s.stripe * int64(len(s.members))
	return (size + row - 1) / row * s.stripe
}

// logical gives the offset in the address space of an offset on a member.
func (s *Set) logical(member, at int64) int64 {
	if len(s.members) == 1 {
		return at
	}
	return (at/s.stripe*int64(len(s.members))+member)*s.stripe + at%s.stripe
}

// sector is the unit of seals: the largest sector of any member.
func (s *Set) sector() int {
	var sector int64
	for _, v := range s.members {
		sector = max(sector, v.sector)
	}
	return int(sector)
}

// OpenOptions say how a worker's I/O goes.
type OpenOptions struct {
	// Buffered goes through the page cache.
	Buffered bool
	// DSync makes every write durable before it completes.
	DSync bool
}

// Open opens every member's file or device once more, for one worker.
func (s *Set) Open(o OpenOptions) ([]*os.File, error) {
	files := make([]*os.File, 0, len(s.members))
	for _, v := range s.members {
		f, err := v.open(o)
		if err != nil {
			for _, opened := range files {
				_ = opened.Close()
			}
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Info is what was found of the target: of several volumes, of the first, with the size and the sector
// of the address space. The sector is there after ProveDirectIO.
func (s *Set) Info() report.Target {
	info := s.members[0].info
	for _, v := range s.members {
		info.SizeBytes = min(info.SizeBytes, v.info.SizeBytes)
		info.LogicalBlockBytes = max(info.LogicalBlockBytes, v.info.LogicalBlockBytes)
	}
	info.SizeBytes = s.whole(info.SizeBytes)
	return info
}

// Describe names the target in messages.
func (s *Set) Describe() string {
	names := make([]string, len(s.members))
	for i, v := range s.members {
		names[i] = v.describe()
	}
	return strings.Join(names, ", ")
}
