// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager runs the operator.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/diskbench/diskbench/controllers"
)

const (
	// leaderElectionID is the name of the Lease.
	leaderElectionID = "manager.diskbench.dev"
	// recorderName is the reporting controller of our events.
	recorderName = "diskbench.dev/manager"
)

// version is set by the linker.
var version = "dev"

type options struct {
	metricsAddress, probeAddress string
	leaderElect                  bool
	engineImage                  string
	watchNamespaces              string
	maxConcurrentRuns            int
	printVersion                 bool
	log                          zap.Options
}

func main() {
	o := parse(flag.CommandLine, os.Args[1:])
	if o.printVersion {
		fmt.Println(version)
		return
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	if err := run(o); err != nil {
		ctrl.Log.WithName("setup").Error(err, "the manager ended")
		os.Exit(1)
	}
}

func parse(fs *flag.FlagSet, args []string) options {
	var o options
	fs.StringVar(&o.metricsAddress, "metrics-bind-address", "0",
		"Address of the metrics over plain HTTP, such as :8080. 0 turns them off.")
	fs.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz. 0 turns them off.")
	fs.BoolVar(&o.leaderElect, "leader-elect", false, "Let one of several replicas be active.")
	fs.StringVar(&o.engineImage, "engine-image", os.Getenv("ENGINE_IMAGE"),
		"Image of the engine's pods, usually the operator's own. Defaults to the variable ENGINE_IMAGE.")
	fs.StringVar(&o.watchNamespaces, "watch-namespaces", "", "Namespaces to watch, separated by commas. Empty: all.")
	fs.IntVar(&o.maxConcurrentRuns, "max-concurrent-runs", 1,
		"How many benchmarks run at a time. Two may disturb each other's figures.")
	fs.BoolVar(&o.printVersion, "version", false, "Print the version and exit.")
	o.log.BindFlags(fs)
	_ = fs.Parse(args) // flag.CommandLine exits on an error
	return o
}

func (o *options) validate() error {
	if o.engineImage == "" {
		return errors.New("--engine-image is empty: give the image that holds /diskbench-engine, or set ENGINE_IMAGE")
	}
	if o.maxConcurrentRuns < 1 {
		return fmt.Errorf("--max-concurrent-runs is %d: use 1 or more", o.maxConcurrentRuns)
	}
	return nil
}

func run(o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        controllers.Scheme(),
		Cache:                         controllers.CacheOptions(namespaces(o.watchNamespaces)),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.probeAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if err := setup(mgr, o); err != nil {
		return err
	}
	ctrl.Log.WithName("setup").Info("starting", "version", version, "engineImage", o.engineImage)
	return mgr.Start(ctrl.SetupSignalHandler())
}

func setup(mgr ctrl.Manager, o options) error {
	reconciler := &controllers.DiskBenchmarkReconciler{
		Client:            mgr.GetClient(),
		Live:              mgr.GetAPIReader(),
		Recorder:          mgr.GetEventRecorder(recorderName),
		Clock:             clock.RealClock{},
		EngineImage:       o.engineImage,
		MaxConcurrentRuns: o.maxConcurrentRuns,
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the DiskBenchmark controller: %w", err)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("set up /healthz: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("set up /readyz: %w", err)
	}
	return nil
}

func namespaces(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}
