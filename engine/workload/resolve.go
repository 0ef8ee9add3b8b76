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
	Pattern        *Pattern
	ReadPercent    *int
	BlockSizeBytes *int64
	Threads        *int
	QueueDepth     *int
	SharedOffset   *bool
	Sync           *SyncMode
	FileSizeBytes  *int64
	Warmup         *Duration
	Duration       *Duration
	Seed           *int64
}

// Resolve gives the effective workloads of a preset with overrides, or of a custom workload
// when preset is empty. A name replaces the preset's: "night" makes quick-read night-read.
//
// A custom workload needs a pattern, a read percentage and a block size. It returns an error that
// names the preset or the missing fields.
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
	for i := range ws {
		ws[i].Name = rename(ws[i].Name, preset, name)
		o.apply(&ws[i])
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
	if o.Pattern == nil || o.ReadPercent == nil || o.BlockSizeBytes == nil {
		return Workload{}, errors.New("a workload without a preset needs pattern, readPercent and blockSize")
	}
	w := base(name)
	o.apply(&w)
	return w, nil
}

func (o Override) apply(w *Workload) {
	set(&w.Pattern, o.Pattern)
	set(&w.ReadPercent, o.ReadPercent)
	set(&w.BlockSizeBytes, o.BlockSizeBytes)
	set(&w.Threads, o.Threads)
	set(&w.QueueDepth, o.QueueDepth)
	set(&w.SharedOffset, o.SharedOffset)
	set(&w.Sync, o.Sync)
	set(&w.FileSizeBytes, o.FileSizeBytes)
	set(&w.Warmup, o.Warmup)
	set(&w.Duration, o.Duration)
	set(&w.Seed, o.Seed)
	if o.FileSizeBytes != nil {
		w.ShrinkToFit = false
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
