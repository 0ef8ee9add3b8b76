// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// latest is the newest event that fits.
func latest(events []corev1.Event, fits func(*corev1.Event) bool) *corev1.Event {
	var newest *corev1.Event
	for i := range events {
		e := &events[i]
		if fits(e) && (newest == nil || eventTime(newest).Before(eventTime(e))) {
			newest = e
		}
	}
	return newest
}

// eventTime is when an event happened last; which field has it depends on the API that recorded it.
func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	default:
		return e.CreationTimestamp.Time
	}
}

// hint adds what is known about a driver's error from the field: Premium SSD v2 and Ultra disks
// take no host cache, which the driver refuses at creation or the VM at attach, and an Ultra disk
// attaches only to a VM that has Ultra disks enabled.
func hint(words string, parameters map[string]string) string {
	sku := strings.ToLower(parameter(parameters, "skuname", "storageaccounttype", "sku"))
	lower := strings.ToLower(words)
	ultra := strings.HasPrefix(sku, "ultrassd") || strings.Contains(lower, "ultrassd")
	v2 := strings.HasPrefix(sku, "premiumv2") || strings.Contains(lower, "premiumv2")
	cache := parameter(parameters, "cachingmode")
	switch {
	case (ultra || v2) && cache != "" && !strings.EqualFold(cache, "None"):
		return " (hint: Premium SSD v2 and Ultra disks take only cachingMode None, the class has " + cache + ")"
	case ultra && strings.Contains(lower, "attach"):
		return " (hint: the node's VM must have Ultra disks enabled: use a node pool with --enable-ultra-ssd in a zone that has them)"
	default:
		return ""
	}
}

// parameter is a class parameter by one of its names; Azure's driver ignores their case.
func parameter(parameters map[string]string, names ...string) string {
	for key, v := range parameters {
		for _, name := range names {
			if strings.EqualFold(key, name) {
				return v
			}
		}
	}
	return ""
}
