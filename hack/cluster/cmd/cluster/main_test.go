// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestParseStartTime(t *testing.T) {
	const tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	for _, tc := range []struct{ why, stat, want string }{
		{"plain", "42 (cluster)" + tail, "4711"},
		{"a command may hold what looks like the end of its field", "42 (a) b (c)" + tail, "4711"},
		{"cut short", "42 (cluster) S 1 2", ""},
	} {
		got, err := parseStartTime(tc.stat)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: got %q, %v, want %q", tc.why, got, err, tc.want)
		}
	}
}

func TestMountBelow(t *testing.T) {
	for _, tc := range []struct {
		why, mountinfo, want string
	}{
		{"nothing mounted", "36 35 98:0 / / rw - ext4 /dev/x rw\n", ""},
		{"the folder itself", "36 35 98:0 / /c/x rw - ext4 /dev/x rw\n", "/c/x"},
		{"deep inside, with a blank", "36 35 98:0 / /c/x/a\\040b rw - ext4 /dev/x rw\n", "/c/x/a b"},
		{"a neighbor whose name starts the same", "36 35 98:0 / /c/x2 rw - ext4 /dev/x rw\n", ""},
	} {
		got, ok := mountBelow(tc.mountinfo, "/c/x")
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: got %q, %v, want %q", tc.why, got, ok, tc.want)
		}
	}
}

func TestTagOf(t *testing.T) {
	for reference, want := range map[string]string{
		"diskbench.local/x:1":          "1",
		"localhost:5000/x":             "", // the colon is of the port
		"localhost:5000/x:latest":      "latest",
		"diskbench.local/x":            "",
		"diskbench.local/group/x:v1.2": "v1.2",
	} {
		if got := tagOf(reference); got != want {
			t.Errorf("tagOf(%q) = %q, want %q", reference, got, want)
		}
	}
}
