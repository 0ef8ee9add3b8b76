// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/diskbench/diskbench/engine/histogram"
	"github.com/diskbench/diskbench/engine/report"
)

// flusher makes a stream's writes durable at intervals, beside the workers, as the background thread
// of an application does.
type flusher struct {
	// stream is the index of the stream.
	stream   int
	interval time.Duration
	clock    func() int64
	window   window
	// fdatasync flushes the stream's files.
	fdatasync func() error

	flushes *histogram.Histogram
	failure *report.Failure
	// stop ends the run.
	stop *atomic.Bool
}

// run flushes until stop is closed. A flush that takes longer than the interval delays the next.
func (f *flusher) run(stop <-chan struct{}) {
	next := f.clock()
	for {
		next = max(next+int64(f.interval), f.clock())
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(next - f.clock())):
		}
		began := f.clock()
		if err := f.fdatasync(); err != nil {
			f.failure = flushFailure(err)
			f.stop.Store(true)
			return
		}
		if ended := f.clock(); ended >= f.window.begin && ended < f.window.end {
			f.flushes.Record(ended - began)
		}
	}
}

// fdatasyncAll flushes every file.
func fdatasyncAll(files []int) error {
	for _, fd := range files {
		for {
			err := unix.Fdatasync(fd)
			if err == nil {
				break
			}
			if err != unix.EINTR {
				return err
			}
		}
	}
	return nil
}
