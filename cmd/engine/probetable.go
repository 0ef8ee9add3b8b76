// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/diskbench/diskbench/engine/workload"
)

// writeProbe prints what was found, a fact a line.
func writeProbe(w io.Writer, r probeResult) error {
	verdict := "can be measured"
	if !r.Usable {
		verdict = fmt.Sprintf("cannot be measured: %s: %s", r.Reason, r.Message)
	}
	if _, err := fmt.Fprintf(w, "%s %s\n\n", r.Path, verdict); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range slices.Concat(placeFacts(r.Kind, r.Target), engineFacts(r.IOEngines), hostFacts(r.Host)) {
		if f.value != "" {
			fmt.Fprintf(t, "%s\t%s\n", f.name, f.value) //nolint:errcheck // Flush says
		}
	}
	return t.Flush()
}

type fact struct{ name, value string }

func placeFacts(kind workload.TargetKind, p place) []fact {
	what := "block device"
	if kind == workload.Directory {
		what = "directory on " + p.Filesystem
	}
	facts := []fact{{"target", what}}
	for _, m := range p.Mounts {
		facts = append(facts, fact{"mount", fmt.Sprintf("%s at %s (%s)", m.Source, m.Point, m.Options)})
	}
	device := p.Device
	if p.Disk != p.Device {
		device += " of " + p.Disk
	}
	size := gibibytes(p.SizeBytes)
	if p.FreeBytes != nil {
		size += ", " + gibibytes(*p.FreeBytes) + " free"
	}
	return append(facts, fact{"device", device}, fact{"size", size}, fact{"sectors", sectorText(p)}, fact{"queue", queueFact(p.Queue)})
}

func sectorText(p place) string {
	if p.LogicalBlockBytes == 0 {
		return ""
	}
	text := fmt.Sprintf("%d bytes logical", p.LogicalBlockBytes)
	if p.PhysicalBlockBytes > 0 {
		text += fmt.Sprintf(", %d physical", p.PhysicalBlockBytes)
	}
	return text
}

func queueFact(q *queue) string {
	if q == nil {
		return ""
	}
	cache := "no volatile write cache"
	if q.WriteBack {
		cache = "a volatile write cache"
	}
	if q.FUA {
		cache += ", FUA"
	}
	return queueText(*q) + ", " + cache
}

func engineFacts(trials []trial) []fact {
	var facts []fact
	for _, t := range trials {
		value := "works"
		if !t.Works {
			value = "no: " + t.Reason
		}
		facts = append(facts, fact{t.IOEngine, value})
	}
	return facts
}

func hostFacts(h host) []fact {
	cores := fmt.Sprintf("%d cores", h.Cores)
	if h.CPULimit != nil {
		cores += fmt.Sprintf(", limited to %.4g", *h.CPULimit)
	}
	lock := "unlimited"
	if h.MemoryLockBytes != nil {
		lock = inBytes(*h.MemoryLockBytes)
	}
	kernel := h.Kernel
	if h.Seccomp {
		kernel += ", system calls filtered (seccomp)"
	}
	if h.IOURingDisabled != nil && *h.IOURingDisabled > 0 {
		kernel += fmt.Sprintf(", kernel.io_uring_disabled %d", *h.IOURingDisabled)
	}
	aio := ""
	if h.AIORequests != nil && h.AIOMaxRequests != nil {
		aio = fmt.Sprintf("%d of %d taken (fs.aio-nr, fs.aio-max-nr)", *h.AIORequests, *h.AIOMaxRequests)
	}
	return []fact{
		{"user", fmt.Sprintf("uid %d, gid %d", h.UID, h.GID)},
		{"processor", cores},
		{"memory lock", lock},
		{"AIO requests", aio},
		{"kernel", kernel},
	}
}
