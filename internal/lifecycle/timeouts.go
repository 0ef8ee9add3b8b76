// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/engine/workload"
	"github.com/diskbench/diskbench/internal/plan"
)

// The defaults of spec.timeouts, as its documentation tells them.
const (
	defaultBlocked      = 600 * time.Second
	defaultProvisioning = 600 * time.Second
	defaultScheduling   = 1200 * time.Second
	minPreparing        = 900 * time.Second
	runningMargin       = 300 * time.Second
	defaultCleanup      = 600 * time.Second

	// slowestLayout is below the throughput of the smallest disks (Standard HDD, 60 MB/s; a small
	// burstable VM, 10 MB/s), with room for their neighbors.
	slowestLayoutBytesPerSecond = 5_000_000

	// backstopMargin is for phases that are entered late because the operator was away.
	backstopMargin = time.Hour
)

// phaseLimits name each timed phase's field and the reason when it is exceeded.
var phaseLimits = map[v1alpha1.Phase]struct{ field, reason string }{
	v1alpha1.PhaseProvisioning: {"timeouts.provisioningSeconds", v1alpha1.ReasonProvisioningTimedOut},
	v1alpha1.PhaseScheduling:   {"timeouts.schedulingSeconds", v1alpha1.ReasonSchedulingTimedOut},
	v1alpha1.PhasePreparing:    {"timeouts.preparingSeconds", v1alpha1.ReasonPreparingTimedOut},
	v1alpha1.PhaseRunning:      {"timeouts.runningSeconds", v1alpha1.ReasonRunningTimedOut},
}

// limit is how long a phase may last.
func limit(phase v1alpha1.Phase, spec *v1alpha1.DiskBenchmarkSpec, p workload.Plan) time.Duration {
	t := spec.Timeouts
	if t == nil {
		t = &v1alpha1.Timeouts{}
	}
	switch phase {
	case v1alpha1.PhaseProvisioning:
		return secondsOr(t.ProvisioningSeconds, defaultProvisioning)
	case v1alpha1.PhaseScheduling:
		return secondsOr(t.SchedulingSeconds, defaultScheduling)
	case v1alpha1.PhasePreparing:
		layout := time.Duration(plan.LayoutBytes(p)/slowestLayoutBytesPerSecond) * time.Second
		return secondsOr(t.PreparingSeconds, max(minPreparing, layout))
	case v1alpha1.PhaseRunning:
		return secondsOr(t.RunningSeconds, time.Duration(plan.Seconds(p))*time.Second+runningMargin)
	case v1alpha1.PhaseCleaningUp:
		return secondsOr(t.CleanupSeconds, defaultCleanup)
	default:
		return 0
	}
}

func blockedLimit(spec *v1alpha1.DiskBenchmarkSpec) time.Duration {
	if spec.Timeouts == nil {
		return defaultBlocked
	}
	return secondsOr(spec.Timeouts.BlockedSeconds, defaultBlocked)
}

func secondsOr(v *int32, otherwise time.Duration) time.Duration {
	if v == nil {
		return otherwise
	}
	return time.Duration(*v) * time.Second
}

// BackstopSeconds is when Kubernetes itself ends the Job, counted from its creation: later than all
// phases together, which the operator times itself, with a result to show for it.
func BackstopSeconds(spec *v1alpha1.DiskBenchmarkSpec, p workload.Plan) int64 {
	total := backstopMargin + blockedLimit(spec)
	for phase := range phaseLimits {
		total += limit(phase, spec, p)
	}
	return int64(total / time.Second)
}

// timedOut ends a run whose phase took too long, with the last thing known about why.
func timedOut(phase v1alpha1.Phase, allowed time.Duration, last string) Decision {
	l := phaseLimits[phase]
	message := fmt.Sprintf("%s took longer than %s (%d)", phase, l.field, int64(allowed/time.Second))
	if last != "" {
		message += ": " + last
	}
	return conclude(l.reason, message)
}
