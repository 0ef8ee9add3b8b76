// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
)

// Reason says why a run failed, in one word that programs can act on.
type Reason string

// The reasons. Each has its own exit code.
const (
	// ReasonInvalidPlan: the plan or the flags ask for something that cannot be done.
	ReasonInvalidPlan Reason = "InvalidPlan"
	// ReasonInternal: the engine itself is at fault.
	ReasonInternal Reason = "InternalError"
	// ReasonInterrupted: the run was told to stop (SIGTERM, SIGINT).
	ReasonInterrupted Reason = "Interrupted"
	// ReasonDirectIOUnsupported: the target has no real O_DIRECT (tmpfs).
	ReasonDirectIOUnsupported Reason = "DirectIOUnsupported"
	// ReasonIOEngineUnavailable: the chosen I/O engine does not work here.
	ReasonIOEngineUnavailable Reason = "IOEngineUnavailable"
	// ReasonPermissionDenied: the target cannot be written by this user.
	ReasonPermissionDenied Reason = "PermissionDenied"
	// ReasonTargetNotFound: the target does not exist or is not what the plan says.
	ReasonTargetNotFound Reason = "TargetNotFound"
	// ReasonDeviceInUse: the device carries a filesystem or other data that would be lost.
	ReasonDeviceInUse Reason = "DeviceInUse"
	// ReasonTargetBusy: another engine is at work on the same target.
	ReasonTargetBusy Reason = "TargetBusy"
	// ReasonNoSpace: the file does not fit on the volume.
	ReasonNoSpace Reason = "NoSpace"
	// ReasonIOError: an I/O failed or was short.
	ReasonIOError Reason = "IOError"
	// ReasonNoOperations: no I/O completed in a window.
	ReasonNoOperations Reason = "NoOperations"
	// ReasonDataCorruption: a verified read gave something else than what was written.
	ReasonDataCorruption Reason = "DataCorruption"
)

// exitCodes keeps each reason apart for scripts. 130 is the shell's customary code for an
// interrupted program; 0 is success.
var exitCodes = map[Reason]int{
	ReasonInternal:            1,
	ReasonInvalidPlan:         2,
	ReasonTargetNotFound:      3,
	ReasonPermissionDenied:    4,
	ReasonDeviceInUse:         5,
	ReasonTargetBusy:          6,
	ReasonDirectIOUnsupported: 7,
	ReasonIOEngineUnavailable: 8,
	ReasonNoSpace:             9,
	ReasonIOError:             10,
	ReasonNoOperations:        11,
	ReasonDataCorruption:      12,
	ReasonInterrupted:         130,
}

// Reasons lists every reason, in the order of the exit codes.
func Reasons() []Reason {
	return slices.SortedFunc(maps.Keys(exitCodes), func(a, b Reason) int { return exitCodes[a] - exitCodes[b] })
}

// ExitCode is the exit code of a process that failed for this reason; that of an internal error
// for a reason this version does not know.
func (r Reason) ExitCode() int {
	if code, ok := exitCodes[r]; ok {
		return code
	}
	return exitCodes[ReasonInternal]
}

// Failure is why there is no result.
type Failure struct {
	Reason  Reason
	Message string
}

// Error is "reason: message".
func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Message }

// Failf makes a failure with a formatted message.
func Failf(reason Reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
