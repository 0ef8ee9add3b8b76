// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
)

// surroundings are what a command needs of the world.
type surroundings struct {
	stdout, stderr io.Writer
	// now dates prices.
	now func() time.Time
}

// execute runs the command line and gives the exit code.
func execute(ctx context.Context, args []string, s surroundings) int {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(s.stderr, "kubectl diskbench:", err) //nolint:errcheck // there is nowhere else to say it
		return 1
	}
	return 0
}

func newRoot(s surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-diskbench",
		Short: "Predict and size Azure disks from published limits",
		Long: "kubectl diskbench tells from published limits and prices what Azure disks will reach, and which ones do\n" +
			"for a need. Nothing is measured, and no cluster is needed.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl diskbench"},
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		Version:       version,
		// A root that runs is one whose arguments are checked: an unknown command is refused.
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(newPredict(s), newSize(s), newVersion(s))
	return root
}

func newVersion(s surroundings) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of the plugin and of its catalog", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := embedded.Load()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.stdout, "%s, catalog %s\n", version, c.Version())
			return err
		},
	}
}

// write writes a result in the form that was asked for.
func write(w io.Writer, form outputForm, result any, table func(io.Writer) error) error {
	switch form {
	case outputJSON:
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(result)
	case outputYAML:
		text, err := yaml.Marshal(result)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	default:
		return table(w)
	}
}

// findVM is the VM size by its name, in any case; nil for none. An unknown name is an error that
// proposes the nearest ones.
func findVM(c catalog.Catalog, size string, controller catalog.Controller) (*catalog.VM, error) {
	if size == "" {
		if controller != "" {
			return nil, fmt.Errorf("--controller is %s, and --vm-size is missing: give the VM size whose limits differ by controller", controller)
		}
		return nil, nil //nolint:nilnil // no VM was asked for
	}
	vm, _, ok := c.VM(size, controller)
	if ok {
		return &vm, nil
	}
	if vm, _, ok := c.VM(size, ""); ok {
		return nil, fmt.Errorf("--controller is %s, and the limits of %s are for %s", controller, vm.Size, vm.Controller)
	}
	return nil, unknown("VM size", "--vm-size", size, c.VMSizes(), "Standard_")
}
