// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"encoding/json"
	"math"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/plan"
)

// loadOf is what a workload asked of the disks. Of several streams the block size and the share of reads
// are the measured means: limits count the I/Os and the bytes of all together.
func loadOf(m *v1alpha1.Measurement) predict.Load {
	l := predict.Load{BlockSizeBytes: m.Parameters.BlockSizeBytes, Outstanding: outstanding(m)}
	if operations := m.Total.Operations; operations > 0 {
		if l.BlockSizeBytes == 0 {
			l.BlockSizeBytes = (m.Total.Bytes + operations/2) / operations
		}
		if m.Read != nil {
			l.ReadPercent = int(100 * m.Read.Operations / operations)
		}
	}
	if p := m.Parameters.ReadPercent; p != nil {
		l.ReadPercent = int(*p)
	}
	return l
}

// streamsOf are the parameters of each stream.
func streamsOf(m *v1alpha1.Measurement) []v1alpha1.StreamParameters {
	if len(m.Streams) == 0 {
		return []v1alpha1.StreamParameters{m.Parameters.StreamParameters}
	}
	var out []v1alpha1.StreamParameters
	for i := range m.Streams {
		out = append(out, m.Streams[i].Parameters)
	}
	return out
}

// rateOf is the rate that was asked for; 0 when a stream had none.
func rateOf(m *v1alpha1.Measurement) int64 {
	var sum int64
	for _, p := range streamsOf(m) {
		if p.RateLimitIOPS == 0 {
			return 0
		}
		sum += p.RateLimitIOPS * int64(p.Threads)
	}
	return sum
}

// variant is all that makes two loads differ, but for the depth and for how long they ran.
func variant(m *v1alpha1.Measurement) string {
	p := m.Parameters
	p.WarmupSeconds, p.DurationSeconds, p.Operations = 0, 0, 0
	p.StreamParameters = v1alpha1.StreamParameters{}
	streams := streamsOf(m)
	for i := range streams {
		streams[i].Threads, streams[i].QueueDepth = 0, 0
	}
	words, err := json.Marshal([]any{p, streams})
	utilruntime.Must(err) // all of it came from JSON
	return string(words)
}

// layoutBytes are what the files of all sets were written with. A file that is only allocated, or grows
// with the load, was not.
func layoutBytes(spec *v1alpha1.DiskBenchmarkSpec, s *v1alpha1.DiskBenchmarkStatus) int64 {
	var file int64
	for i := range s.Measurements {
		if p := &s.Measurements[i].Parameters; p.Layout == v1alpha1.LayoutWritten {
			file = max(file, p.FileSizeBytes)
		}
	}
	return file * int64(plan.Volumes(spec)/plan.VolumesOfSet(spec))
}

// outstanding I/Os of all streams.
func outstanding(m *v1alpha1.Measurement) int {
	sum := 0
	for _, p := range streamsOf(m) {
		sum += int(p.Threads * p.QueueDepth)
	}
	return sum
}

// diskIO is what the disks had to do for a workload.
type diskIO struct {
	// operations of the windows, and IOPS.
	operations, iops int64
	// size of each in bytes; the mean where it is not the same for all.
	size int64
}

// units of so many bytes that an I/O begins, as limits and bills count them.
func (d diskIO) units(unitBytes int64) int64 { return max(1, (d.size+unitBytes-1)/unitBytes) }

// diskIOOf a workload is what it asked for. With buffered I/O it is what the kernel counted, since the page
// cache answers reads, and writes many at once; false where it counted nothing.
func diskIOOf(m *v1alpha1.Measurement) (diskIO, bool) {
	if !buffered(m) {
		return diskIO{operations: m.Total.Operations, iops: m.Total.IOPS, size: loadOf(m).BlockSizeBytes}, true
	}
	d := m.Device
	if d == nil || m.WindowNanos <= 0 {
		return diskIO{}, false
	}
	io := diskIO{operations: d.ReadOperations + d.WriteOperations}
	io.iops = int64(math.Round(float64(io.operations) / time.Duration(m.WindowNanos).Seconds()))
	if io.operations > 0 {
		io.size = (d.ReadBytes + d.WriteBytes + io.operations/2) / io.operations
	}
	return io, true
}

func buffered(m *v1alpha1.Measurement) bool {
	return m.Parameters.DirectIO == v1alpha1.DirectIODisabled
}

// ioUnits are the I/Os of a workload, each counted for every unit that it begins: in the windows, and before
// and after them at the same rate; false while they are not known.
func ioUnits(m *v1alpha1.Measurement, unitBytes int64) (int64, bool) {
	io, ok := diskIOOf(m)
	if !ok {
		return 0, false
	}
	repetitions := int64(max(1, len(m.Repetitions)))
	around := io.iops * int64(m.Parameters.WarmupSeconds) * repetitions
	if m.Drained != nil {
		around += m.Drained.IOPS * m.Drained.Seconds * repetitions
	}
	if probe := ptr.Deref(m.ProbeMeanNanos, 0); probe > 0 {
		around += plan.ProbeSeconds * int64(time.Second) / probe
	}
	return (io.operations + around) * io.units(unitBytes), true
}
