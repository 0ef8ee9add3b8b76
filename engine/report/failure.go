// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

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
	// ReasonNoSpace: the file does not fit on the volume.
	ReasonNoSpace Reason = "NoSpace"
	// ReasonIOError: an I/O failed or was short.
	ReasonIOError Reason = "IOError"
	// ReasonNoOperations: no I/O completed in a window.
	ReasonNoOperations Reason = "NoOperations"
)

// Failure is why there is no result.
type Failure struct {
	Reason  Reason
	Message string
}

// Error is "reason: message".
func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Message }
