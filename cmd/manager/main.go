// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager runs the operator.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/diskbench/diskbench/controllers"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
	"github.com/diskbench/diskbench/internal/azure/retail"
)

const (
	// leaderElectionID is the name of the Lease.
	leaderElectionID = "manager.diskbench.dev"
	// recorderName is the reporting controller of our events.
	recorderName = "diskbench.dev/manager"

	priceCatalog   = "catalog"
	priceRetailAPI = "retail-api"
)

// version is set by the linker.
var version = "dev"

type options struct {
	metricsAddress, probeAddress string
	leaderElect                  bool
	engineImage                  string
	watchNamespaces              string
	maxConcurrentRuns            int
	catalogConfigMap             string
	namespace                    string
	priceSource, priceURL        string
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
	fs.StringVar(&o.catalogConfigMap, "catalog-configmap", "diskbench-catalog",
		"ConfigMap in the operator's namespace with rows that go before those of the embedded catalog. It need not exist. Empty: none.")
	fs.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"),
		"The operator's own namespace, where that ConfigMap is. Defaults to the variable POD_NAMESPACE.")
	fs.StringVar(&o.priceSource, "price-source", priceCatalog,
		"Where list prices are from: catalog, or retail-api for the Azure Retail Prices API, and the catalog where it cannot be read.")
	fs.StringVar(&o.priceURL, "price-url", "", "Another address of that API, such as a mirror's.")
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
	if !slices.Contains([]string{priceCatalog, priceRetailAPI}, o.priceSource) {
		return fmt.Errorf("--price-source is %q: use %s or %s", o.priceSource, priceCatalog, priceRetailAPI)
	}
	if o.priceURL != "" && o.priceSource != priceRetailAPI {
		return fmt.Errorf("--price-url is set, and --price-source is %s: set that to %s", o.priceSource, priceRetailAPI)
	}
	return nil
}

// overlay is the ConfigMap of a user's catalog; empty without one, and outside a cluster.
func (o *options) overlay() types.NamespacedName {
	if o.catalogConfigMap == "" || o.namespace == "" {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: o.namespace, Name: o.catalogConfigMap}
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
		Cache:                         controllers.CacheOptions(namespaces(o.watchNamespaces), o.overlay()),
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
	catalogs, err := setupCatalogs(mgr, o)
	if err != nil {
		return err
	}
	reconciler := &controllers.DiskBenchmarkReconciler{
		Client:            mgr.GetClient(),
		Live:              mgr.GetAPIReader(),
		Recorder:          mgr.GetEventRecorder(recorderName),
		Clock:             clock.RealClock{},
		EngineImage:       o.engineImage,
		MaxConcurrentRuns: o.maxConcurrentRuns,
		Catalogs:          catalogs,
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

// setupCatalogs wires what is known of disks and prices.
func setupCatalogs(mgr ctrl.Manager, o options) (*controllers.Catalogs, error) {
	base, err := embedded.Load()
	if err != nil {
		return nil, err
	}
	c := &controllers.Catalogs{Base: base, Overlay: o.overlay(), Reader: mgr.GetClient()}
	if o.priceSource == priceRetailAPI {
		prices, err := retail.NewClient(o.priceURL, base, clock.RealClock{})
		if err != nil {
			return nil, fmt.Errorf("--price-url: %w", err)
		}
		c.Retail = retail.NewSource(prices, base, clock.RealClock{})
		if err := mgr.Add(c.Retail); err != nil {
			return nil, fmt.Errorf("set up the price source: %w", err)
		}
	}
	if o.overlay().Name == "" {
		ctrl.Log.WithName("setup").Info("no ConfigMap goes before the embedded catalog", "catalogConfigMap", o.catalogConfigMap, "namespace", o.namespace)
		return c, nil
	}
	reporter := &controllers.CatalogReconciler{Catalogs: c, Recorder: mgr.GetEventRecorder(recorderName)}
	if err := reporter.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the catalog controller: %w", err)
	}
	return c, nil
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
