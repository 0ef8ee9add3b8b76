// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// kernelEscapes are those of mangle(seq, path, " \t\n\\#") in the kernel's fs/proc_namespace.c.
var kernelEscapes = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`, "#", `\043`)

// FuzzFindMount: whatever the table, what is found lies above the path; and whatever else is in the
// table and whatever its name, the mount that covers the path last is found.
func FuzzFindMount(f *testing.F) {
	f.Add("22 1 254:0 / / rw - ext4 /dev/vda rw\n", "data/with space")
	f.Add("22 1 254:0 / /a\\040b rw shared:1 - xfs /dev/sdb rw\nbroken - \n", `back\slash\04`)
	f.Add("", "a\nb\tc#d")
	f.Fuzz(func(t *testing.T, table, name string) {
		path := "/" + name
		got, err := findMount(strings.NewReader(table), path)
		if err == nil && got != (Mount{}) && !isUnder(path, got.Point) {
			t.Errorf("%q lies in no mount at %q", path, got.Point)
		}
		if err != nil {
			return
		}
		table += fmt.Sprintf("\n99 1 8:16 / %s rw - ext4 %[1]s rw\n", kernelEscapes.Replace(path))
		got, err = findMount(strings.NewReader(table), path)
		if want := (Mount{ID: "99", Device: "8:16", Point: path, Source: path, Filesystem: "ext4", Options: "rw"}); err == nil && got != want {
			t.Errorf("found %+v, want %+v", got, want)
		}
	})
}

// FuzzMark: what is taken for a mark is one to the last bit, and a marked device shows no signature of
// another's data.
func FuzzMark(f *testing.F) {
	f.Add(mark{size: 4 << 30, sector: 512}.encode(), int64(1), uint8(0), true)
	f.Add([]byte(markMagic), int64(0), uint8(3), false)
	f.Fuzz(func(t *testing.T, head []byte, size int64, shift uint8, sealed bool) {
		if m, ok := parseMark(head); ok {
			other := bytes.Clone(head)
			other[int(shift)%markBytes] ^= 1 << (shift & 7)
			if damaged, ok := parseMark(other); ok {
				t.Errorf("%+v, with a bit changed, is %+v", m, damaged)
			}
		}
		want := mark{size: max(0, size), sector: minSector << (shift % 8), sealed: sealed}
		sector := make([]byte, want.sector)
		copy(sector, want.encode())
		if got, ok := parseMark(sector); !ok || got != want {
			t.Errorf("%+v says %+v, %t", want, got, ok)
		}
		if what := signatureOf(sector); what != "" {
			t.Errorf("a marked sector looks like %s", what)
		}
	})
}

// FuzzSignature: what a device carries shows, whatever lies around it and however short the device is.
func FuzzSignature(f *testing.F) {
	for i := range signatures {
		f.Add([]byte("something else"), uint(i), uint(0))
	}
	f.Fuzz(func(t *testing.T, head []byte, which, missing uint) {
		s := signatures[which%uint(len(signatures))]
		end := s.offset + len(s.magic)
		device := make([]byte, max(end, len(head)))
		copy(device, head)
		copy(device[s.offset:], s.magic)
		if signatureOf(device) == "" && (s.holds == nil || s.holds(device)) {
			t.Errorf("%s does not show", s.what)
		}
		// Cut within the magic, it says nothing of it; nor does it panic.
		cut := device[:end-1-int(missing%uint(len(s.magic)))]
		if what := signatureOf(cut); what != "" && !carries(cut, what) {
			t.Errorf("%d bytes carry no %s", len(cut), what)
		}
	})
}

// carries looks for any of the signatures of that name.
func carries(head []byte, what string) bool {
	for _, s := range signatures {
		if s.what == what && s.offset+len(s.magic) <= len(head) && string(head[s.offset:s.offset+len(s.magic)]) == s.magic {
			return true
		}
	}
	return false
}
