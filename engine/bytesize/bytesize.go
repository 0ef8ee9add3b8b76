// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bytesize reads and writes sizes in bytes the way Kubernetes writes quantities: 4Ki is
// 4,096, 4k is 4,000.
package bytesize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units maps each suffix to its bytes. Binary ones first: "Ki" must not be read as "i" of "k".
var units = []struct {
	suffix string
	bytes  int64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50},
	{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15},
}

// Parse reads a size of at least 0 bytes: digits, an optional fraction and an optional suffix. The
// error quotes the text and proposes the nearest right spelling, where there is one.
func Parse(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	if number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("size %q: %s", s, hint(s))
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n <= math.MaxInt64/unit {
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: %s", s, hint(s))
	}
	bytes := f * float64(unit)
	if bytes != math.Trunc(bytes) || bytes >= math.MaxInt64 {
		return 0, fmt.Errorf("size %q is not a whole number of bytes below 8Ei", s)
	}
	return int64(bytes), nil
}

// hint proposes the Kubernetes spelling of the common others: 4K, 4KB, 4KiB, 4m.
func hint(s string) string {
	digits := strings.TrimRight(s, "BbIiKkMmGgTtPp")
	letter := strings.TrimLeft(strings.TrimPrefix(s, digits), "Bb")
	if _, err := strconv.ParseFloat(digits, 64); err != nil || letter == "" || strings.Trim(digits, "0123456789.") != "" {
		return "write a number of bytes with a unit, such as 4Ki, 1Mi or 4Gi"
	}
	return fmt.Sprintf("did you mean %s%si?", digits, strings.ToUpper(letter[:1]))
}

// Format writes n with the largest binary suffix that leaves a whole number: 4Ki, 1536Mi, 700.
func Format(n int64) string {
	for i := 4; i >= 0; i-- {
		if u := units[i]; n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}
