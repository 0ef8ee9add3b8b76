// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image assembles container images from static binaries, without a container engine.
package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// User is the user and group that the image runs as: the "nonroot" of distroless images.
const User = "65532:65532"

// Write writes an image archive that `cluster load` and `docker load` take.
// Each binary lies at /<its file name>, and the first one is the entrypoint.
// The same binaries make the same image: nothing in it carries a time or an owner.
func Write(out, tag string, binaries []string) error {
	if len(binaries) == 0 {
		return errors.New("an image needs at least one binary")
	}
	ref, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return err
	}
	img, err := build(binaries)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(out, ref, img)
}

func build(binaries []string) (v1.Image, error) {
	content, err := layerTar(binaries)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config.User = User
	file.Config.Entrypoint = []string{"/" + filepath.Base(binaries[0])}
	return mutate.ConfigFile(img, file)
}

func layerTar(binaries []string) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	// Programs that make temporary files find the usual place for them.
	if err := w.WriteHeader(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, path := range binaries {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.Base(path), Mode: 0o755, Size: int64(len(data))}); err != nil {
			return nil, fmt.Errorf("add %s: %w", path, err)
		}
		if _, err := w.Write(data); err != nil {
			return nil, fmt.Errorf("add %s: %w", path, err)
		}
	}
	return buf.Bytes(), w.Close()
}
