// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/report"
)

// defaultMessagePath is where Kubernetes looks for a container's last words.
const defaultMessagePath = "/dev/termination-log"

// pod is where a run in a pod says everything: JSON lines on standard output, and a compact last
// word in the termination message.
type pod struct {
	stdout, stderr io.Writer
	messagePath    string
}

// The phases of lines that are no progress.
const (
	phaseCompleted   = "Completed"
	phaseInterrupted = "Interrupted"
	phaseFailed      = "Failed"
)

type failureLine struct {
	Phase   string        `json:"phase"`
	Reason  report.Reason `json:"reason"`
	Message string        `json:"message"`
}

type resultLine struct {
	Phase  string `json:"phase"`
	Result result `json:"result"`
}

// result writes the line first: it is complete, and there even when the message cannot be written.
// The message of an interrupted run is its failure.
func (p pod) result(result result, r *report.Report) error {
	if result.Interrupted {
		return writeLine(p.stdout, resultLine{phaseInterrupted, result})
	}
	if err := writeLine(p.stdout, resultLine{phaseCompleted, result}); err != nil {
		return err
	}
	message, err := report.Encode(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.messagePath, message, 0o644); err != nil {
		return fmt.Errorf("the termination message: %w", err)
	}
	return nil
}

// failure leaves the reason for the operator.
func (p pod) failure(err error) {
	failure := engine.AsFailure(err)
	_ = writeLine(p.stdout, failureLine{phaseFailed, failure.Reason, failure.Message})
	if err := os.WriteFile(p.messagePath, report.EncodeFailure(failure), 0o644); err != nil {
		fmt.Fprintln(p.stderr, "diskbench-engine: the termination message:", err) //nolint:errcheck // there is nowhere else to say it
	}
}

func writeLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
