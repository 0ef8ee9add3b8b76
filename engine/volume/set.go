// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// Set is one volume, or several that are striped over (RAID 0), as one address space. Its errors are
// *report.Failure.
type Set struct {
	members []*Volume
	// stripe is the bytes on one member before the next one follows; 0 for a single member.
	stripe int64
	// counters are open once they were asked for.
	counters *counters
}

// OpenSet opens the volumes for one engine alone. Keep or Discard it.
func OpenSet(kind workload.TargetKind, paths []string, stripe int64) (*Set, error) {
	s := &Set{stripe: stripe}
	for _, path := range paths {
		v, err := Open(kind, path)
		if err != nil {
			s.Discard()
			return nil, err
		}
		s.members = append(s.members, v)
	}
	return s, nil
}

// each calls f for one member after another, until the first failure.
func (s *Set) each(f func(*Volume) error) error {
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
	return s.each(func(v *Volume) error { return v.Create(overwriteDevice) })
}

// OpenPrepared opens what an earlier Keep of the same set left.
func (s *Set) OpenPrepared() error { return s.each((*Volume).OpenPrepared) }

// ProveDirectIO makes sure that I/O bypasses the page cache, and finds the sectors.
func (s *Set) ProveDirectIO() error { return s.each((*Volume).ProveDirectIO) }

// Unlink takes the files' names away while they stay open.
func (s *Set) Unlink() error { return s.each((*Volume).Unlink) }

// Keep gives the completely written files their names, for a later run.
func (s *Set) Keep() error { return s.each((*Volume).Keep) }

// Discard removes the files, where there are any, and closes everything.
func (s *Set) Discard() {
	s.counters.close()
	s.counters = nil
	for _, v := range s.members {
		v.Discard()
	}
}

// Room is that of the whole address space: as much of each member as the smallest has, in whole stripes.
// The sector is the largest of any.
func (s *Set) Room(prepared bool) (Room, error) {
	var room Room
	for i, v := range s.members {
		r, err := v.Room(prepared)
		if err != nil {
			return Room{}, err
		}
		sector := max(room.Sector, r.Sector)
		if i == 0 || r.Available < room.Available {
			room = r
		}
		room.Sector = sector
	}
	if n := int64(len(s.members)); n > 1 {
		room.Available = room.Available / s.stripe * s.stripe * n
		room.Shrunk = room.Shrunk / s.stripe * s.stripe * n
	}
	return room, nil
}

// share is how much of a size lies on each member: whole stripes.
func (s *Set) share(size int64) int64 {
	if len(s.members) == 1 {
		return size
	}
	row := s.stripe * int64(len(s.members))
	return (size + row - 1) / row * s.stripe
}

// Allocate reserves the space of a file of size bytes, so that a full volume shows at once.
func (s *Set) Allocate(size int64) error {
	return s.each(func(v *Volume) error { return v.Allocate(s.share(size)) })
}

// FillOptions say what is written.
type FillOptions struct {
	// Seed of the random data.
	Seed int64
	// Seal gives each sector its offset and a checksum, for reads that are verified.
	Seal bool
}

// Fill writes at least size bytes of random data over all members and makes them durable: reads of
// blocks never written would be answered without the disk. Progress gets the bytes written so far, at
// most size, from any goroutine.
func (s *Set) Fill(ctx context.Context, size int64, o FillOptions, progress func(done int64)) error {
	share := s.share(size)
	var all atomic.Int64
	for i, v := range s.members {
		f := &filler{volume: v, size: share, seed: o.Seed, logical: s.logical(int64(i))}
		if o.Seal {
			f.sector = s.sector()
		}
		f.progress = func(bytes int64) { progress(min(all.Add(bytes), size)) }
		if err := v.fill(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// logical gives the offset in the address space of an offset on member i.
func (s *Set) logical(i int64) func(at int64) int64 {
	if len(s.members) == 1 {
		return func(at int64) int64 { return at }
	}
	n := int64(len(s.members))
	return func(at int64) int64 { return (at/s.stripe*n+i)*s.stripe + at%s.stripe }
}

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

// Info is what was found of the target: of several volumes, of the first, with the size of all.
func (s *Set) Info() report.Target {
	info := s.members[0].Info()
	info.SizeBytes *= int64(len(s.members))
	return info
}

// Describe names the target in messages.
func (s *Set) Describe() string { return s.members[0].Describe() }
