// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/diskbench/diskbench/engine"
)

// figures are what a contestant says of its own run.
type figures struct {
	iops float64
	// mean is the latency from submission to completion.
	mean time.Duration
}

// fioDefault is fio as people run it: what to do, where, for how long, and nothing else.
func fioDefault(c Case, at located, t timing) []string {
	args := []string{
		"--name=bench", "--filename=" + at.path, "--size=" + strconv.FormatInt(at.size, 10),
		"--rw=" + c.Pattern, "--bs=" + strconv.Itoa(blockSize),
		"--ioengine=" + fioEngine(c.IOEngine), "--iodepth=" + strconv.Itoa(c.Depth),
		"--numjobs=" + strconv.Itoa(c.Threads), "--group_reporting",
		"--time_based", "--ramp_time=" + millis(t.warmup), "--runtime=" + millis(t.duration),
		"--output-format=json",
	}
	if c.Place != Zero { // /dev/zero refuses O_DIRECT
		args = append(args, "--direct=1")
	}
	return args
}

// fioSame adds what makes fio do the engine's work: threads, blocks drawn without a map of those
// already drawn, one latency instead of three, and the engine's ways into the kernel.
func fioSame(c Case, at located, t timing) []string {
	return append(fioLean(c, at, t), batches(c, engine.BatchSize(c.Depth))...)
}

func fioLean(c Case, at located, t timing) []string {
	args := append(fioDefault(c, at, t), "--thread", "--norandommap", "--disable_clat=1", "--disable_slat=1", "--lat_percentiles=1")
	switch c.IOEngine {
	case "io_uring":
		args = append(args, "--registerfiles", "--fixedbufs")
	case "libaio":
		args = append(args, "--userspace_reap")
	}
	return args
}

// batches makes fio submit and take n I/Os at a time.
func batches(c Case, n int) []string {
	if c.Depth == 1 {
		return nil
	}
	size := strconv.Itoa(min(n, c.Depth))
	return []string{"--iodepth_batch=" + size, "--iodepth_batch_complete_min=1", "--iodepth_batch_complete_max=" + size}
}

// fioCandidates are the settings of which the fastest is fio at its best. All measure latency. They
// leave the written data alone, which the engine makes unlike from block to block.
func fioCandidates(c Case, at located, t timing) [][]string {
	lean := append(fioLean(c, at, t), "--scramble_buffers=0")
	candidates := [][]string{lean}
	for _, n := range []int{4, 8, 16, c.Depth} {
		candidates = append(candidates, append(slices.Clip(lean), batches(c, n)...))
	}
	return candidates
}

func fioEngine(io string) string {
	if io == "sync" {
		return "psync"
	}
	return io
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// parseFio reads fio's JSON, before which it may have printed notes. Mean latency is that of all
// I/Os, weighted by direction.
func parseFio(output []byte) (figures, error) {
	type direction struct {
		IOPS    float64 `json:"iops"`
		Total   int64   `json:"total_ios"`
		Latency struct {
			Mean float64 `json:"mean"`
		} `json:"lat_ns"`
	}
	var result struct {
		Jobs []struct {
			Error int       `json:"error"`
			Read  direction `json:"read"`
			Write direction `json:"write"`
		} `json:"jobs"`
	}
	start := bytes.Index(output, []byte("{\n"))
	if start < 0 {
		return figures{}, fmt.Errorf("fio printed no JSON: %s", bytes.TrimSpace(output))
	}
	if err := json.Unmarshal(output[start:], &result); err != nil {
		return figures{}, fmt.Errorf("fio's JSON: %w", err)
	}
	if len(result.Jobs) != 1 {
		return figures{}, fmt.Errorf("fio reports %d jobs in place of one group", len(result.Jobs))
	}
	job := result.Jobs[0]
	if job.Error != 0 {
		return figures{}, fmt.Errorf("fio's job failed with error %d", job.Error)
	}
	total := job.Read.Total + job.Write.Total
	if total == 0 {
		return figures{}, errors.New("fio completed no I/O")
	}
	sum := job.Read.Latency.Mean*float64(job.Read.Total) + job.Write.Latency.Mean*float64(job.Write.Total)
	return figures{iops: job.Read.IOPS + job.Write.IOPS, mean: time.Duration(sum / float64(total))}, nil
}
