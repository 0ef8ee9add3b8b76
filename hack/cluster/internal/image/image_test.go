// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	manager, engine := filepath.Join(dir, "manager"), filepath.Join(dir, "diskbench-engine")
	for path, content := range map[string]string{manager: "m", engine: "engine"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil { // not executable: the image's mode is its own
			t.Fatal(err)
		}
	}
	const tag = "diskbench.local/diskbench:test"
	img := writeAndRead(t, tag, manager, engine)

	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != "65532:65532" {
		t.Errorf("user %q: a pod with runAsNonRoot needs a number other than 0", file.Config.User)
	}
	if diff := cmp.Diff([]string{"/manager"}, file.Config.Entrypoint); diff != "" {
		t.Errorf("entrypoint (-want +got):\n%s", diff)
	}
	want := map[string]string{"tmp": "trwxrwxrwx", "manager": "-rwxr-xr-x", "diskbench-engine": "-rwxr-xr-x"}
	if diff := cmp.Diff(want, modes(t, img)); diff != "" {
		t.Errorf("files and modes (-want +got):\n%s", diff)
	}

	first, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	second, err := writeAndRead(t, tag, manager, engine).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("the same binaries made %s, then %s", first, second)
	}
}

func TestWriteRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.tar")
	for _, tc := range []struct {
		why, tag string
		binaries []string
	}{
		{why: "no binary, no entrypoint", tag: "diskbench.local/x:1"},
		{why: "a reference without registry or tag would get defaults nobody asked for", tag: "x", binaries: []string{"/proc/self/exe"}},
		{why: "a file that does not exist", tag: "diskbench.local/x:1", binaries: []string{"/no/such/file"}},
	} {
		if err := Write(out, tc.tag, tc.binaries); err == nil {
			t.Errorf("no error: %s", tc.why)
		}
	}
}

func writeAndRead(t *testing.T, tag string, binaries ...string) v1.Image {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.tar")
	if err := Write(out, tag, binaries); err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(out, &ref)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func modes(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	content := mutate.Extract(img)
	defer content.Close()
	got := map[string]string{}
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		mode := header.FileInfo().Mode()
		got[header.Name] = (mode &^ os.ModeDir).String()
	}
}
