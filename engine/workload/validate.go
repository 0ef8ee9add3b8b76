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
	// MaxStreams is the most streams of a workload, and of all workloads with several together,
	// for the same reason.
	MaxStreams = 8
	// MaxRepetitions is the most repetitions of each workload.
	MaxRepetitions = 10
	// MaxVolumes is the most volumes of a plan: no VM takes more data disks.
	MaxVolumes = 64
	// MaxThreads is the most workers of a workload.
	MaxThreads = 64
	// MaxQueueDepth is the most outstanding I/Os of a worker.
	MaxQueueDepth = 1024
	// MinBlockSizeBytes is the smallest sector there is; the target may ask for more.
	MinBlockSizeBytes = 512
	// MaxBlockSizeBytes is beyond what any kernel sends to a disk in one piece.
	MaxBlockSizeBytes = 16 * mib
	// MinStripeSizeBytes and MaxStripeSizeBytes are those of Linux' software RAID in practice.
	MinStripeSizeBytes = 4 * kib
	MaxStripeSizeBytes = 16 * mib
	// MaxBufferBytes bounds the memory for the outstanding I/Os of a workload, which a container
	// has to have beside the engine's own 64 MiB or so.
	MaxBufferBytes = gib
	// MaxRateLimitIOPS is more than a thread can issue.
	MaxRateLimitIOPS = 10_000_000
	// MaxOperations is more than a day at 10 million IOPS.
	MaxOperations = int64(1e12)
	// LongestDrain is how long a load may go on until burst credits are used up: 30 minutes of bursting,
	// which is what Azure's buckets hold at the maximum rate, and room for buckets that drain slower.
	LongestDrain = Duration(45 * time.Minute)
	// MinDuration is one slice of the kernel's own throttling.
	MinDuration = Duration(100 * time.Millisecond)
	// MaxDuration bounds the window and the warm-up.
	MaxDuration = Duration(24 * time.Hour)
	// maxProbe is more than enough to know a mean.
	maxProbe = Duration(time.Minute)
	// maxFlushInterval is the kernel's own: dirty pages are written back after 30 s at the latest.
	maxFlushInterval = Duration(30 * time.Second)
)

// NullPath is the one path of a NullDevice.
const NullPath = "/dev/zero"

var nameShape = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Validate checks what can be known without the target. The error names the field, its value and
// what would be right.
func (p Plan) Validate() error {
	switch p.Target {
	case Directory, BlockDevice, NullDevice:
	default:
		return fmt.Errorf("target %q: use %s, %s or %s", p.Target, Directory, BlockDevice, NullDevice)
	}
	switch p.IOEngine {
	case Auto, IOUring, LibAIO, Sync:
	default:
		return fmt.Errorf("ioEngine %q: use %s, %s, %s or %s", p.IOEngine, Auto, IOUring, LibAIO, Sync)
	}
	if err := inRange("repetitions", p.Repetitions, 1, MaxRepetitions); err != nil {
		return err
	}
	if err := p.validateSets(); err != nil {
		return err
	}
	return p.validateWorkloads()
}

func (p Plan) validateSets() error {
	if n := len(p.Sets); n != 1 && n != p.Repetitions {
		return fmt.Errorf("sets has %d entries: give one set of volumes, or one for each of the %d repetitions", n, p.Repetitions)
	}
	seen := map[string]bool{}
	for i, set := range p.Sets {
		if len(set) == 0 || len(set) != len(p.Sets[0]) {
			return fmt.Errorf("sets[%d] has %d paths: every set needs the same number, at least one", i, len(set))
		}
		for _, path := range set {
			if !strings.HasPrefix(path, "/") {
				return fmt.Errorf("path %q: give the absolute path of a directory or of a block device", path)
			}
			if seen[path] {
				return fmt.Errorf("path %q is there twice: give each volume its own path", path)
			}
			seen[path] = true
			if p.Target == NullDevice && path != NullPath {
				return fmt.Errorf("path %q: a %s is %s", path, NullDevice, NullPath)
			}
		}
	}
	if len(seen) > MaxVolumes {
		return fmt.Errorf("sets has %d volumes, at most %d", len(seen), MaxVolumes)
	}
	return p.validateStripe()
}

func (p Plan) validateStripe() error {
	striped := len(p.Sets[0]) > 1
	switch {
	case !striped && p.StripeSizeBytes != 0:
		return fmt.Errorf("stripeSize %d with one volume: leave it out, or give several volumes", p.StripeSizeBytes)
	case striped && (p.StripeSizeBytes < MinStripeSizeBytes || p.StripeSizeBytes > MaxStripeSizeBytes || p.StripeSizeBytes%MinStripeSizeBytes != 0):
		return fmt.Errorf("stripeSize %d: use a multiple of %s up to %s", p.StripeSizeBytes,
			bytesize.Format(MinStripeSizeBytes), bytesize.Format(MaxStripeSizeBytes))
	}
	return nil
}

func (p Plan) validateWorkloads() error {
	if len(p.Workloads) == 0 {
		return errors.New("workloads is empty: name at least one, such as the preset quick")
	}
	if len(p.Workloads) > MaxWorkloads {
		return fmt.Errorf("workloads has %d entries, at most %d fit in one run "+
			"(the presets quick and latency count two, ladder five, profile six)", len(p.Workloads), MaxWorkloads)
	}
	seen, streams := map[string]bool{}, 0
	for i, w := range p.Workloads {
		at := fmt.Sprintf("workloads[%d]", i)
		if !nameShape.MatchString(w.Name) {
			return fmt.Errorf("%s: name %q: use 1 to 63 lower-case letters, digits and inner dashes", at, w.Name)
		}
		if seen[w.Name] {
			return fmt.Errorf("%s: name %q is there twice: give each workload its own name", at, w.Name)
		}
		seen[w.Name] = true
		if err := w.validate(p); err != nil {
			return fmt.Errorf("%s (%s): %w", at, w.Name, err)
		}
		if len(w.Streams) > 1 {
			streams += len(w.Streams)
		}
	}
	if streams > MaxStreams {
		return fmt.Errorf("workloads have %d streams in all, at most %d fit in one run: use several runs", streams, MaxStreams)
	}
	return nil
}

func (w Workload) validate(p Plan) error {
	for _, check := range []error{
		w.validateLayout(p),
		w.validateDirectIO(p),
		w.validateStreams(p),
		w.validateVerify(p.Target),
		w.validateBuffers(),
		w.validateOperations(),
		durationInRange("probe", w.Probe, 0, maxProbe),
		durationInRange("warmup", w.Warmup, 0, MaxDuration),
		durationInRange("duration", w.Duration, MinDuration, MaxDuration),
	} {
		if check != nil {
			return check
		}
	}
	return nil
}

func (w Workload) validateLayout(p Plan) error {
	switch w.Layout {
	case Written:
		return nil
	case Preallocated, Append:
	default:
		return fmt.Errorf("layout %q: use %s, %s or %s", w.Layout, Written, Preallocated, Append)
	}
	if p.Target != Directory {
		return fmt.Errorf("layout %s on a %s: only a filesystem has files, use %s", w.Layout, p.Target, Written)
	}
	if n := len(p.Sets[0]); n > 1 {
		return fmt.Errorf("layout %s on %d striped volumes: such a file lies on one, use one volume or layout %s", w.Layout, n, Written)
	}
	if w.Reads() {
		return fmt.Errorf("layout %s with reads: what was never written is read from memory, use readPercent 0 or layout %s",
			w.Layout, Written)
	}
	if w.Layout == Preallocated {
		return nil
	}
	if s := w.Streams; len(s) != 1 || s[0].Threads != 1 || s[0].QueueDepth != 1 || s[0].Pattern != Sequential ||
		s[0].RandomPercent != 0 || s[0].Range != Whole {
		return fmt.Errorf("layout %s needs one stream of one thread with queueDepth 1, pattern %s and the whole range: "+
			"a file has one end", Append, Sequential)
	}
	return nil
}

func (w Workload) validateDirectIO(p Plan) error {
	if w.DirectIO != DirectRequired && w.DirectIO != DirectDisabled {
		return fmt.Errorf("directIO %q: use %s or %s", w.DirectIO, DirectRequired, DirectDisabled)
	}
	if !w.Buffered() {
		return nil
	}
	switch {
	case p.IOEngine != Auto && p.IOEngine != Sync:
		return fmt.Errorf("directIO %s with ioEngine %s: buffered I/O is pread and pwrite, use %s or %s",
			DirectDisabled, p.IOEngine, Auto, Sync)
	case p.Target == NullDevice:
		return fmt.Errorf("directIO %s on a %s: use %s", DirectDisabled, NullDevice, DirectRequired)
	}
	return nil
}

func (w Workload) validateVerify(target TargetKind) error {
	switch {
	case !w.Verify:
		return nil
	case !w.Reads():
		return errors.New("verify without reads checks nothing: raise readPercent or leave verify out")
	case w.Buffered():
		return fmt.Errorf("verify with directIO %s would check the page cache: use %s", DirectDisabled, DirectRequired)
	case target == NullDevice:
		return fmt.Errorf("verify on a %s, which keeps nothing: leave it out", NullDevice)
	}
	return nil
}

func (w Workload) validateBuffers() error {
	buffers := int64(0)
	for _, s := range w.Streams {
		buffers += s.BlockSizeBytes * int64(s.Outstanding())
	}
	if buffers > MaxBufferBytes {
		return fmt.Errorf("threads x queueDepth x blockSize is %d bytes of buffers, the limit is %s: lower one of them",
			buffers, bytesize.Format(MaxBufferBytes))
	}
	return nil
}

func (w Workload) validateOperations() error {
	if w.Operations < 0 || w.Operations > MaxOperations {
		return fmt.Errorf("operations %d is outside 0 to %d", w.Operations, MaxOperations)
	}
	if w.Drain && !w.Saturates() {
		return errors.New("drain with a rate, a number of operations or a single outstanding I/O: " +
			"burst credits only run out under a load that asks for more")
	}
	return nil
}

func (w Workload) validateStreams(p Plan) error {
	if len(w.Streams) == 0 {
		return errors.New("streams is empty: describe at least one")
	}
	if len(w.Streams) > MaxStreams {
		return fmt.Errorf("streams has %d entries, at most %d", len(w.Streams), MaxStreams)
	}
	if n := w.Threads(); n > MaxThreads {
		return fmt.Errorf("%d threads in all streams together, at most %d", n, MaxThreads)
	}
	if len(w.Streams) == 1 {
		return w.validateStream(p, w.Streams[0])
	}
	seen := map[string]bool{}
	for i, s := range w.Streams {
		at := fmt.Sprintf("streams[%d]", i)
		if !nameShape.MatchString(s.Name) || seen[s.Name] {
			return fmt.Errorf("%s: name %q: give each stream a name of its own, of lower-case letters, digits and inner dashes", at, s.Name)
		}
		seen[s.Name] = true
		if err := w.validateStream(p, s); err != nil {
			return fmt.Errorf("%s (%s): %w", at, s.Name, err)
		}
	}
	return nil
}

func (w Workload) validateStream(p Plan, s Stream) error {
	if err := s.validateBlockSize(w.Buffered()); err != nil {
		return err // before those that divide by it
	}
	for _, check := range []error{
		s.validateShape(),
		inRange("readPercent", s.ReadPercent, 0, 100),
		s.validateStripe(p.StripeSizeBytes),
		s.validateNull(p.Target),
		inRange("threads", s.Threads, 1, MaxThreads),
		inRange("queueDepth", s.QueueDepth, 1, MaxQueueDepth),
		s.validateSync(),
		s.validateDistribution(),
		s.validateRange(w.FileSizeBytes),
		inRange("rateLimitIOPS", s.RateLimitIOPS, 0, MaxRateLimitIOPS),
	} {
		if check != nil {
			return check
		}
	}
	if s.QueueDepth > 1 && p.IOEngine == Sync {
		return fmt.Errorf("queueDepth %d with ioEngine %s, which keeps one I/O outstanding for each thread: "+
			"use queueDepth 1 and more threads, or another ioEngine", s.QueueDepth, Sync)
	}
	if s.QueueDepth > 1 && w.Buffered() {
		return fmt.Errorf("queueDepth %d with directIO %s: a thread makes one buffered I/O at a time, "+
			"use queueDepth 1 and more threads", s.QueueDepth, DirectDisabled)
	}
	return nil
}

func (s Stream) validateShape() error {
	if s.Pattern != Random && s.Pattern != Sequential {
		return fmt.Errorf("pattern %q: use %s or %s", s.Pattern, Random, Sequential)
	}
	if s.SharedOffset && (s.Pattern != Sequential || s.RandomPercent > 0) {
		return fmt.Errorf("sharedOffset with random offsets: only the threads of a purely %s stream share an offset", Sequential)
	}
	if s.Pattern == Random && s.RandomPercent != 0 {
		return fmt.Errorf("randomPercent %d with pattern %s: it is the share of jumps in a %s stream", s.RandomPercent, Random, Sequential)
	}
	return inRange("randomPercent", s.RandomPercent, 0, 100)
}

func (s Stream) validateBlockSize(buffered bool) error {
	least := int64(MinBlockSizeBytes)
	if buffered {
		least = 1
	}
	if s.BlockSizeBytes < least || s.BlockSizeBytes > MaxBlockSizeBytes {
		return fmt.Errorf("blockSize %d is outside %d to %s bytes", s.BlockSizeBytes, least, bytesize.Format(MaxBlockSizeBytes))
	}
	if s.BlockSizeBytes%least != 0 {
		return fmt.Errorf("blockSize %d is not a multiple of %d bytes%s", s.BlockSizeBytes, least, binaryHint(s.BlockSizeBytes))
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

// validateStripe makes sure that a block lies within one stripe or covers whole ones.
func (s Stream) validateStripe(stripe int64) error {
	if stripe != 0 && stripe%s.BlockSizeBytes != 0 && s.BlockSizeBytes%stripe != 0 {
		return fmt.Errorf("blockSize %d neither divides nor is a multiple of stripeSize %d: use sizes of which one divides the other",
			s.BlockSizeBytes, stripe)
	}
	return nil
}

// validateNull: the kernel fills a page at a time.
func (s Stream) validateNull(target TargetKind) error {
	if target == NullDevice && s.BlockSizeBytes > 4*kib {
		return fmt.Errorf("blockSize %d on a %s, which gives at most 4Ki at once: lower it", s.BlockSizeBytes, NullDevice)
	}
	return nil
}

func (s Stream) validateSync() error {
	switch s.Sync {
	case SyncNone, SyncWriteThrough:
		if s.FlushEvery != 0 || s.FlushInterval != 0 {
			return fmt.Errorf("flushEvery and flushInterval go with sync %s, not with %s", SyncFlush, s.Sync)
		}
		return nil
	case SyncFlush:
	default:
		return fmt.Errorf("sync %q: use %s, %s or %s", s.Sync, SyncNone, SyncWriteThrough, SyncFlush)
	}
	switch {
	case !s.Writes():
		return fmt.Errorf("sync %s without writes: there is nothing to flush", SyncFlush)
	case (s.FlushEvery == 0) == (s.FlushInterval == 0):
		return fmt.Errorf("sync %s needs either flushEvery, a number of writes, or flushInterval, a time", SyncFlush)
	case s.FlushEvery < 0 || s.FlushEvery > 1_000_000:
		return fmt.Errorf("flushEvery %d is outside 1 to 1000000", s.FlushEvery)
	case s.FlushInterval != 0:
		return durationInRange("flushInterval", s.FlushInterval, MinDuration, maxFlushInterval)
	}
	return nil
}

func (s Stream) validateDistribution() error {
	d := s.Distribution
	switch d.Type {
	case Uniform, Zipf:
		if d.IOPercent != 0 || d.RangePercent != 0 {
			return fmt.Errorf("distribution %s: ioPercent and rangePercent are those of a %s", d.Type, Hotspot)
		}
	case Hotspot:
		if err := errors.Join(inRange("distribution ioPercent", d.IOPercent, 1, 99),
			inRange("distribution rangePercent", d.RangePercent, 1, 99)); err != nil {
			return err
		}
	default:
		return fmt.Errorf("distribution %q: use %s, %s or %s", d.Type, Uniform, Hotspot, Zipf)
	}
	if d.Type != Uniform && s.Pattern == Sequential && s.RandomPercent == 0 {
		return fmt.Errorf("distribution %s with pattern %s: only drawn offsets have a distribution", d.Type, Sequential)
	}
	return nil
}

// validateRange makes sure that the range has a block for each thread.
func (s Stream) validateRange(fileSize int64) error {
	r := s.Range
	if !(r.StartPercent >= 0 && r.StartPercent < r.EndPercent && r.EndPercent <= 100) {
		return fmt.Errorf("range from %g to %g percent: use 0 to 100, with the start below the end", r.StartPercent, r.EndPercent)
	}
	if first, end := r.Blocks(fileSize, s.BlockSizeBytes); end-first < int64(s.Threads) {
		return fmt.Errorf("fileSize %d is too small: %d threads with blocks of %d bytes need at least %d in their range",
			fileSize, s.Threads, s.BlockSizeBytes, s.BlockSizeBytes*int64(s.Threads))
	}
	return nil
}

func inRange[N int | int64](field string, v, low, high N) error {
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
