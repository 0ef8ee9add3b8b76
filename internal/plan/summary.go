// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"
	"strings"
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
)

// missing stands for a figure that one of several workloads lacks.
const missing = "-"

// Summarize gives the figures as text for people, workload by workload: IOPS as 7,844, throughput
// in 10^6 bytes per second as 32.1, the 99th percentile as 1.23 ms, or 1.23 ms (flush).
func Summarize(ms []v1alpha1.Measurement) *v1alpha1.Summary {
	if len(ms) == 0 {
		return nil
	}
	var names, iops, throughput, p99 []string
	for i := range ms {
		total := &ms[i].Total
		names = append(names, ms[i].Name)
		iops = append(iops, grouped(total.IOPS))
		throughput = append(throughput, megabytes(total.ThroughputBytesPerSecond))
		p99 = append(p99, p99Words(&ms[i]))
	}
	return &v1alpha1.Summary{
		Workloads: join(names), IOPS: join(iops), Throughput: join(throughput), P99: join(p99),
	}
}

// join keeps the figures apart from the commas inside them.
func join(parts []string) string { return strings.Join(parts, " / ") }

// grouped writes 7844 as 7,844.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// megabytes writes bytes per second in MB/s with about three digits.
func megabytes(bytesPerSecond int64) string {
	mb := float64(bytesPerSecond) / 1e6
	if mb >= 99.95 {
		return grouped(round(mb))
	}
	return threeDigits(mb)
}

// p99Words is the percentile that a workload is about. Who flushes waits for the flush: a journal's
// writes are done when they are in the page cache.
func p99Words(m *v1alpha1.Measurement) string {
	if m.Flush != nil && m.Flush.P99Nanos != nil {
		return Latency(*m.Flush.P99Nanos) + " (flush)"
	}
	return nanosOrMissing(m.Total.P99Nanos)
}

func nanosOrMissing(n *int64) string {
	if n == nil {
		return missing
	}
	return Latency(*n)
}

// Latency writes nanoseconds with about three digits and the unit that suits them.
func Latency(nanos int64) string {
	switch n := float64(nanos); {
	case nanos < int64(time.Microsecond):
		return strconv.FormatInt(nanos, 10) + " ns"
	case n < 999.5e3:
		return threeDigits(n/1e3) + " µs"
	case n < 999.5e6:
		return threeDigits(n/1e6) + " ms"
	default:
		return threeDigits(n/1e9) + " s"
	}
}

// threeDigits writes 1.234 as 1.23, 12.34 as 12.3 and 123.4 as 123.
func threeDigits(v float64) string {
	decimals := 2
	switch {
	case v >= 99.95:
		decimals = 0
	case v >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
