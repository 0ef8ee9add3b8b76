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
		if err == nil && got != (mount{}) && !isUnder(path, got.point) {
			t.Errorf("%q lies in no mount at %q", path, got.point)
		}
		if err != nil {
			return
		}
		table += fmt.Sprintf("\n99 1 8:16 / %s rw - ext4 %[1]s rw\n", kernelEscapes.Replace(path))
		got, err = findMount(strings.NewReader(table), path)
		if want := (mount{path, "ext4", path}); err == nil && got != want {
			t.Errorf("found %+v, want %+v", got, want)
		}
	})
}

// FuzzMark: only what makeMark makes is a mark, and a marked device shows no signature of another's data.
func FuzzMark(f *testing.F) {
	f.Add(makeMark(4<<30), int64(1))
	f.Add([]byte(markMagic), int64(0))
	f.Fuzz(func(t *testing.T, head []byte, size int64) {
		if n, ok := parseMark(head); ok && !bytes.HasPrefix(head, makeMark(n)) {
			t.Errorf("%q is no mark of %d bytes", head, n)
		}
		sector := make([]byte, 512)
		copy(sector, makeMark(size))
		if n, ok := parseMark(sector); !ok || n != size {
			t.Errorf("a mark of %d bytes says %d, %t", size, n, ok)
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
		if signatureOf(device) == "" {
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
