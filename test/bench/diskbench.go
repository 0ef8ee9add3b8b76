// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// layout are the engine's flags that prepare and run have to share.
func layout(c Case, path string, size int64) []string {
	return []string{
		"--path=" + path, "--file-size=" + strconv.FormatInt(size, 10),
		"--pattern=random", "--read-percent=" + strconv.Itoa(patterns[c.Pattern]), "--block-size=" + strconv.Itoa(blockSize),
		"--io-engine=" + c.IOEngine, "--queue-depth=" + strconv.Itoa(c.Depth), "--threads=" + strconv.Itoa(c.Threads),
	}
}

// engineRun is the command line of a run of what lies there already.
func engineRun(c Case, at located, t timing) []string {
	args := append([]string{"run"}, layout(c, at.enginePath, at.size)...)
	if at.prepared {
		args = append(args, "--prepared")
	}
	return append(args, "--warmup="+t.warmup.String(), "--duration="+t.duration.String(), "--output=json")
}

// parseEngine reads the engine's JSON.
func parseEngine(output []byte) (figures, error) {
	var result struct {
		Workloads []struct {
			Total *struct {
				IOPS          float64 `json:"iops"`
				LatencyMicros struct {
					Mean float64 `json:"mean"`
				} `json:"latencyMicros"`
			} `json:"total"`
		} `json:"workloads"`
	}
	if err := json.Unmarshal(output, &result); err != nil {
		return figures{}, fmt.Errorf("the engine's JSON: %w", err)
	}
	if len(result.Workloads) != 1 || result.Workloads[0].Total == nil {
		return figures{}, errors.New("the engine's JSON has no total of one workload")
	}
	total := result.Workloads[0].Total
	mean := time.Duration(total.LatencyMicros.Mean * float64(time.Microsecond))
	return figures{iops: total.IOPS, mean: mean}, nil
}
