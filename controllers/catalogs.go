// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/retail"
	"github.com/diskbench/diskbench/internal/evaluate"
)

const (
	// fetchPoll is how soon to look for prices that are being fetched, which takes seconds.
	fetchPoll = 30 * time.Second
	// maxMerged bounds the catalogs that are kept with a user's rows over them. (Judgment: one for each
	// region and currency that is priced, which are few.)
	maxMerged = 64
	// maxReportedRows of one ConfigMap become events; all of them are logged.
	maxReportedRows = 10
	// maxReason is how much of what is wrong with an API a status shows.
	maxReason = 200
)

// Catalogs give what is known of disks and prices: the embedded catalog, over it list prices where a source
// has them, and over both a user's rows from a ConfigMap. They never wait for the network.
type Catalogs struct {
	// Base is the embedded catalog.
	Base catalog.Catalog
	// Overlay is the ConfigMap with a user's rows, which need not exist; empty for none.
	Overlay types.NamespacedName
	// Reader reads it, from a cache.
	Reader client.Reader
	// Retail is the source of list prices; nil leaves it to the catalog.
	Retail *retail.Source

	mu sync.Mutex
	// merged are catalogs with the rows of version over them, by the version of what is below.
	merged  map[string]catalog.Catalog
	version string
}

// prices are those of a benchmark's region and currency; nil before its first run.
func (r *DiskBenchmarkReconciler) prices(ctx context.Context, b *v1alpha1.DiskBenchmark) (*evaluate.Prices, error) {
	if r.Catalogs == nil || b.Status.Run == nil {
		return nil, nil
	}
	return r.Catalogs.prices(ctx, b)
}

func (c *Catalogs) prices(ctx context.Context, b *v1alpha1.DiskBenchmark) (*evaluate.Prices, error) {
	p := c.list(evaluate.Place(c.Base, &b.Spec, b.Status.Run))
	overlay, err := c.overlay(ctx)
	if err != nil {
		return nil, err
	}
	p.Catalog = c.merge(p.Catalog, overlay)
	if p.Source == "" {
		p.Source = "catalog " + p.Catalog.Version()
	}
	return &p, nil
}

// list has the prices without a user's rows. Source is empty for those of the catalog alone.
func (c *Catalogs) list(region, currency string) evaluate.Prices {
	if c.Retail == nil || region == "" {
		return evaluate.Prices{Catalog: c.Base}
	}
	below, status := c.Retail.Prices(region, currency)
	p := evaluate.Prices{Catalog: below, NewerAfter: max(fetchPoll, status.Due)}
	switch {
	case status.From == retail.RetailAPI && status.Err == nil && len(status.Odd) > 0:
		p.Source = fmt.Sprintf("Azure Retail Prices API, and the catalog for what it lacks and for %d that cannot be used, such as: %s", len(status.Odd), shortened(status.Odd[0]))
	case status.From == retail.RetailAPI && status.Err == nil:
		p.Source = "Azure Retail Prices API, and the catalog for what it lacks"
	case status.From == retail.RetailAPI:
		p.Source = "Azure Retail Prices API as read before, since reading it again failed: " + shortened(status.Err.Error())
	case status.Err != nil:
		p.Source = fmt.Sprintf("catalog %s, since the Retail Prices API cannot be read: %s", below.Version(), shortened(status.Err.Error()))
	default:
		p.Source = fmt.Sprintf("catalog %s, until the Retail Prices API has answered", below.Version())
	}
	return p
}

func shortened(words string) string { return words[:min(len(words), maxReason)] }

// overlay is the ConfigMap with a user's rows; nil where there is none.
func (c *Catalogs) overlay(ctx context.Context) (*corev1.ConfigMap, error) {
	if c.Overlay.Name == "" {
		return nil, nil
	}
	m := &corev1.ConfigMap{}
	err := c.Reader.Get(ctx, c.Overlay, m)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the catalog of ConfigMap %s: %w", c.Overlay, err)
	default:
		return m, nil
	}
}

// merge lays a user's rows over a catalog. What was merged before is kept as long as the rows are the same.
func (c *Catalogs) merge(below catalog.Catalog, overlay *corev1.ConfigMap) catalog.Catalog {
	if overlay == nil {
		return below
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	version := string(overlay.UID) + " " + overlay.ResourceVersion
	if c.version != version || len(c.merged) >= maxMerged {
		c.version, c.merged = version, map[string]catalog.Catalog{}
	}
	merged, ok := c.merged[below.Version()]
	if !ok {
		merged, _ = catalog.Overlay(below, overlay.Data) // the CatalogReconciler reports bad rows
		c.merged[below.Version()] = merged
	}
	return merged
}

// CatalogReconciler says what is wrong with a user's catalog: the rows that do not count, in events on the
// ConfigMap and in the log.
type CatalogReconciler struct {
	*Catalogs
	// Recorder records events.
	Recorder events.EventRecorder
	// SkipNameValidation lets several managers of one process have the controller.
	SkipNameValidation bool
}

// The reasons of events about a catalog.
const (
	reasonInvalidRow    = "InvalidCatalogRow"
	reasonCatalogLoaded = "CatalogLoaded"
	catalogAction       = "LoadCatalog"
)

// Reconcile checks the rows.
func (r *CatalogReconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	m, err := r.overlay(ctx)
	if err != nil || m == nil {
		return ctrl.Result{}, err
	}
	merged, bad := catalog.Overlay(r.Base, m.Data)
	for i, row := range bad {
		log.FromContext(ctx).Info("a row of the catalog is left out", "row", row.Error())
		if i < maxReportedRows {
			r.Recorder.Eventf(m, nil, corev1.EventTypeWarning, reasonInvalidRow, catalogAction, "%s", note(row.Error()+": the row is left out"))
		}
	}
	if more := len(bad) - maxReportedRows; more > 0 {
		r.Recorder.Eventf(m, nil, corev1.EventTypeWarning, reasonInvalidRow, catalogAction, "%d more rows are left out: see the manager's log", more)
	}
	r.Recorder.Eventf(m, nil, corev1.EventTypeNormal, reasonCatalogLoaded, catalogAction, "catalog %s is in use, %d rows are left out", merged.Version(), len(bad))
	return ctrl.Result{}, nil
}

// SetupWithManager adds the reconciler to a manager.
func (r *CatalogReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&corev1.ConfigMap{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WithOptions(controller.Options{SkipNameValidation: &r.SkipNameValidation}).
		Complete(r)
}
