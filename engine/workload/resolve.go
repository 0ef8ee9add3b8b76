// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"strings"
)

// Override holds what somebody set beside, or instead of, a preset. Nil: not set.
type Override struct {
	// Stream varies the only stream of the preset or of the custom workload.
	Stream StreamOverride
	// Streams are the streams of a custom workload, in place of the only one.
	Streams []StreamOverride

	FileSizeBytes *int64
	Layout        *Layout
	DirectIO      *DirectIO
	Verify        *bool
	Operations    *int64
	Drain         *bool
	Probe         *Duration
	Warmup        *Duration
	Duration      *Duration
	Seed          *int64
}

// StreamOverride is the part of an Override that is about a stream. Nil: not set.
type StreamOverride struct {
	Name           *string
	Pattern        *Pattern
	RandomPercent  *int
	ReadPercent    *int
	BlockSizeBytes *int64
	Threads        *int
	QueueDepth     *int
	SharedOffset   *bool
	RateLimitIOPS  *int64
	Range          *Range
	Distribution   *Distribution
	Sync           *SyncMode
	FlushEvery     *int
	FlushInterval  *Duration
}

// Resolve gives the effective workloads of a preset with overrides, or of a custom workload
// when preset is empty. A name replaces the preset's: "night" makes quick-read night-read.
//
// A custom workload needs a pattern, a read percentage and a block size, of each of its streams. It
// returns an error that names the preset, or the missing fields.
func Resolve(preset, name string, o Override) ([]Workload, error) {
	if preset == "" {
		w, err := custom(name, o)
		if err != nil {
			return nil, err
		}
		return []Workload{w}, nil
	}
	ws, ok := Preset(preset)
	if !ok {
		return nil, fmt.Errorf("unknown preset %q: use one of %s", preset, strings.Join(Presets(), ", "))
	}
	if len(o.Streams) > 0 {
		return nil, fmt.Errorf("preset %s with streams: give one of them, a preset has its own streams", preset)
	}
	for i := range ws {
		if len(ws[i].Streams) > 1 && o.Stream != (StreamOverride{}) {
			return nil, fmt.Errorf("preset %s has several streams, a field of one stream says nothing about which: "+
				"write the streams in full instead of the preset", preset)
		}
		ws[i].Name = rename(ws[i].Name, preset, name)
		o.apply(&ws[i])
		o.Stream.apply(&ws[i].Streams[0])
	}
	return ws, nil
}

func rename(current, preset, name string) string {
	switch {
	case name == "":
		return current
	case strings.HasPrefix(current, preset):
		return name + strings.TrimPrefix(current, preset)
	default: // a part of profile
		return name + "-" + current
	}
}

func custom(name string, o Override) (Workload, error) {
	w := base(name)
	o.apply(&w)
	if len(o.Streams) == 0 {
		err := o.Stream.define(&w.Streams[0])
		return w, err
	}
	if o.Stream != (StreamOverride{}) {
		return w, errors.New("streams with a field of a stream beside them: put the field into each stream")
	}
	w.Streams = make([]Stream, len(o.Streams))
	for i, so := range o.Streams {
		w.Streams[i] = baseStream()
		if err := so.define(&w.Streams[i]); err != nil {
			return w, fmt.Errorf("streams[%d]: %w", i, err)
		}
	}
	return w, nil
}

// define makes a stream of the base one. What has no customary value has to be there.
func (o StreamOverride) define(s *Stream) error {
	if o.Pattern == nil || o.ReadPercent == nil || o.BlockSizeBytes == nil {
		return errors.New("a workload without a preset needs pattern, readPercent and blockSize")
	}
	o.apply(s)
	return nil
}

func (o Override) apply(w *Workload) {
	set(&w.FileSizeBytes, o.FileSizeBytes)
	set(&w.Layout, o.Layout)
	set(&w.DirectIO, o.DirectIO)
	set(&w.Verify, o.Verify)
	set(&w.Operations, o.Operations)
	set(&w.Drain, o.Drain)
	set(&w.Probe, o.Probe)
	set(&w.Warmup, o.Warmup)
	set(&w.Duration, o.Duration)
	set(&w.Seed, o.Seed)
	if o.FileSizeBytes != nil {
		w.ShrinkToFit = false
	}
}

func (o StreamOverride) apply(s *Stream) {
	set(&s.Name, o.Name)
	set(&s.Pattern, o.Pattern)
	set(&s.RandomPercent, o.RandomPercent)
	set(&s.ReadPercent, o.ReadPercent)
	set(&s.BlockSizeBytes, o.BlockSizeBytes)
	set(&s.Threads, o.Threads)
	set(&s.QueueDepth, o.QueueDepth)
	set(&s.SharedOffset, o.SharedOffset)
	set(&s.RateLimitIOPS, o.RateLimitIOPS)
	set(&s.Range, o.Range)
	set(&s.Distribution, o.Distribution)
	set(&s.Sync, o.Sync)
	set(&s.FlushEvery, o.FlushEvery)
	set(&s.FlushInterval, o.FlushInterval)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
