// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/diskbench/diskbench/hack/cluster/internal/layout"
)

// PauseImage is the image that holds the namespaces of a pod.
const PauseImage = "diskbench.local/pause:1"

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Option("missingkey=error").ParseFS(templateFiles, "templates/*"))

// configPlaces are the configuration files: template, then place below the cluster's state.
var configPlaces = map[string]string{
	"containerd.toml": "conf/containerd.toml",
	"cni.conflist":    "conf/cni/diskbench.conflist",
	"kubelet.yaml":    "conf/kubelet.yaml",
	"kube-proxy.yaml": "conf/kube-proxy.yaml",
}

// WriteConfig writes the configuration files of the daemons.
func WriteConfig(c *layout.Cluster) error {
	for name, place := range configPlaces {
		path := c.Path(place)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := writeTemplate(path, name, c); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

func writeTemplate(path, name string, c *layout.Cluster) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	return templates.ExecuteTemplate(f, name, map[string]any{
		"Cluster":    c,
		"Dir":        c.NodePath(),
		"PauseImage": PauseImage,
	})
}
