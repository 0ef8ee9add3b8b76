// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/diskbench/diskbench/internal/assess/size"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
	"github.com/diskbench/diskbench/internal/azure/cost"
	"github.com/diskbench/diskbench/internal/azure/retail"
)

// sizeFlags are a need, and where to price.
type sizeFlags struct {
	capacity     bytesFlag
	iops, mbps   int64
	blockSize    bytesFlag
	headroom     int64
	redundancy   choice[catalog.Redundancy]
	vmSize       string
	controller   choice[catalog.Controller]
	maxDisks     int64
	region       string
	currency     string
	fleet        int64
	discount     int64
	reservation  choice[cost.Reservation]
	busyHours    int64
	rateWhenBusy int64
	livePrices   bool
	pricesURL    string
	output       choice[outputForm]
}

func newSize(s surroundings) *cobra.Command {
	f := sizeFlags{
		output: newOutput(), controller: newController(),
		redundancy:  choice[catalog.Redundancy]{value: catalog.LRS, allowed: []catalog.Redundancy{catalog.LRS, catalog.ZRS}},
		reservation: choice[cost.Reservation]{value: cost.NoReservation, allowed: []cost.Reservation{cost.NoReservation, cost.OneYear}},
	}
	c := &cobra.Command{
		Use:   "size --capacity SIZE",
		Short: "Find the cheapest disks that sustain a need, in each family",
		Long: "Size finds the cheapest Premium SSD, Standard SSD, Premium SSD v2 and striped set that sustain a need by\n" +
			"published limits, with the runner-up of each. Bursts do not count, since they end.",
		Example: "  kubectl diskbench size --capacity 500Gi --iops 6000 --mbps 200 --vm-size Standard_D8s_v5 --headroom 20\n" +
			"  kubectl diskbench size --capacity 1Ti --iops 5000 --redundancy ZRS --region westeurope --live-prices -o json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := f.size(c.Context(), s.now)
			if err != nil {
				return err
			}
			return write(c.OutOrStdout(), f.output.value, result, func(w io.Writer) error { return sizeTable(w, result) })
		},
	}
	c.SetOut(s.stdout)
	f.addFlags(c)
	return c
}

func (f *sizeFlags) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(&f.capacity, "capacity", "what the volume must hold, such as 500Gi")
	flags.Int64Var(&f.iops, "iops", 0, "IOPS to sustain")
	flags.Int64Var(&f.mbps, "mbps", 0, "MB/s to sustain, decimal; without it what --iops of --block-size make")
	flags.Var(&f.blockSize, "block-size", "size of the I/Os, such as 8Ki; transactions are billed by it")
	flags.Int64Var(&f.headroom, "headroom", 0, "percent to add to IOPS and MB/s")
	flags.Var(&f.redundancy, "redundancy", "copies in one zone, or in three")
	flags.StringVar(&f.vmSize, "vm-size", "", "size of the node's VM, such as Standard_D8s_v5; without it no limit of a VM counts")
	flags.Var(&f.controller, "controller", "how the VM sees its disks, where limits differ; without it the lower ones count")
	flags.Int64Var(&f.maxDisks, "max-disks", 0, "most disks of a striped set; without it 16")
	flags.StringVar(&f.region, "region", "eastus", "region to price in")
	flags.StringVar(&f.currency, "currency", "USD", "currency to price in")
	flags.Int64Var(&f.fleet, "fleet", 1, "how many such volumes there are")
	flags.Int64Var(&f.discount, "discount", 0, "percent off the list prices")
	flags.Var(&f.reservation, "reservation", "of Premium SSD of 1 TiB and more")
	flags.Int64Var(&f.busyHours, "busy-hours", 100, "percent of hours with I/O, for what bills transactions")
	flags.Int64Var(&f.rateWhenBusy, "rate-when-busy", 100, "percent of --iops in such an hour")
	flags.BoolVar(&f.livePrices, "live-prices", false, "read list prices from the Azure Retail Prices API now")
	flags.StringVar(&f.pricesURL, "prices-url", retail.DefaultURL, "with --live-prices: address of the API, or of a mirror")
	flags.VarP(&f.output, "output", "o", "form of the result")
}

func (f *sizeFlags) check() error {
	if f.capacity == 0 {
		return errors.New("--capacity is missing: give what the volume must hold, such as 500Gi")
	}
	if f.headroom < 0 || f.headroom > 1000 {
		return fmt.Errorf("--headroom is %d: use a number of percent from 0 to 1000", f.headroom)
	}
	if f.iops > maxNeed || f.mbps > maxNeed {
		return fmt.Errorf("--iops and --mbps are up to %d", int64(maxNeed))
	}
	return errors.Join(
		positive("iops", f.iops), positive("mbps", f.mbps), positive("max-disks", f.maxDisks), positive("fleet", f.fleet),
		percent("discount", f.discount), percent("busy-hours", f.busyHours), percent("rate-when-busy", f.rateWhenBusy),
	)
}

// maxNeed is far beyond all disks of a node.
const maxNeed = 100_000_000

// sizeResult is the JSON form. Money is decimal, in strings.
type sizeResult struct {
	CapacityGiB int64 `json:"capacityGiB"`
	// Required is the need with its headroom.
	RequiredIOPS           int64  `json:"requiredIOPS"`
	RequiredBytesPerSecond int64  `json:"requiredBytesPerSecond"`
	VMSize                 string `json:"vmSize,omitempty"`
	FleetSize              int64  `json:"fleetSize"`
	Prices                 prices `json:"prices"`
	// Options are sorted by price; those without a known one come last.
	Options        []option    `json:"options"`
	Rejected       []shortfall `json:"rejected,omitempty"`
	CatalogVersion string      `json:"catalogVersion"`
	Notes          []string    `json:"notes,omitempty"`
}

// prices say where prices are from.
type prices struct {
	Region   string      `json:"region"`
	Currency string      `json:"currency"`
	From     retail.From `json:"from"`
}

type option struct {
	Group                   size.Group        `json:"group"`
	RunnerUp                bool              `json:"runnerUp,omitempty"`
	Disks                   int64             `json:"disks"`
	SizeGiB                 int64             `json:"sizeGiB"`
	SKU                     catalog.SKU       `json:"sku"`
	Tier                    string            `json:"tier,omitempty"`
	Parameters              map[string]string `json:"parameters"`
	SustainedIOPS           int64             `json:"sustainedIOPS"`
	SustainedBytesPerSecond int64             `json:"sustainedBytesPerSecond"`
	// PerMonth is absent while unknown; PerMonthAtMost is with every hour at the cap on transactions.
	PerMonth        string `json:"perMonth,omitempty"`
	PerMonthAtMost  string `json:"perMonthAtMost,omitempty"`
	FleetPerMonth   string `json:"fleetPerMonth,omitempty"`
	PerThousandIOPS string `json:"perThousandIOPS,omitempty"`
	// Unknown says which parts of the price are not known, and why.
	Unknown []string `json:"unknown,omitempty"`
}

type shortfall struct {
	Group size.Group `json:"group"`
	Name  string     `json:"name"`
	Why   string     `json:"why"`
}

func (f *sizeFlags) size(ctx context.Context, now func() time.Time) (sizeResult, error) {
	if err := f.check(); err != nil {
		return sizeResult{}, err
	}
	c, err := embedded.Load()
	if err != nil {
		return sizeResult{}, err
	}
	vm, err := findVM(c, f.vmSize, f.controller.value)
	if err != nil {
		return sizeResult{}, err
	}
	c, found, notes, err := f.prices(ctx, c)
	if err != nil {
		return sizeResult{}, err
	}
	need := size.Need{
		CapacityGiB: f.capacity.gibibytes(), IOPS: f.iops, MBps: f.mbps, BlockSizeBytes: int64(f.blockSize), HeadroomPercent: f.headroom,
		MaxDisks: f.maxDisks, Redundancy: f.redundancy.value, VMSize: f.vmSize, Controller: f.controller.value,
		Price: cost.Options{
			Region: found.Region, Currency: found.Currency, DiscountPercent: f.discount, Reservation: f.reservation.value, FleetSize: f.fleet, Now: now(),
			Use: cost.Use{BusyHoursPercent: &f.busyHours, RateWhenBusyPercent: &f.rateWhenBusy},
		},
	}
	r := size.Size(c, need)
	result := sizeResult{
		CapacityGiB: need.CapacityGiB, RequiredIOPS: r.Required.IOPS, RequiredBytesPerSecond: r.Required.BytesPerSecond,
		FleetSize: f.fleet, Prices: found, Options: []option{}, CatalogVersion: c.Version(),
	}
	if vm != nil {
		result.VMSize = vm.Size
	}
	if r.UnknownVM {
		notes = append(notes, "no limit of a VM counts: give --vm-size of a size whose limits are published")
	}
	for _, o := range r.Options {
		result.Options = append(result.Options, newOption(o))
		notes = append(notes, optionNotes(o)...)
	}
	notes = append(notes, priceNotes(result)...)
	for _, s := range r.Rejected {
		result.Rejected = append(result.Rejected, shortfall(s))
	}
	result.Notes = unique(notes)
	return result, nil
}

// fetchTimeout is what a person waits for.
const fetchTimeout = time.Minute

// prices are those of the catalog or, with --live-prices, of the API as far as it answers.
func (f *sizeFlags) prices(ctx context.Context, c catalog.Catalog) (over catalog.Catalog, from prices, notes []string, err error) {
	from = prices{Region: catalog.NormalizeRegion(f.region), Currency: strings.ToUpper(f.currency), From: retail.Catalog}
	if !f.livePrices {
		from.Region, err = findRegion(c, f.region)
		return c, from, nil, err
	}
	client, err := retail.NewClient(f.pricesURL, c, clock.RealClock{})
	if err != nil {
		return c, from, nil, fmt.Errorf("--prices-url: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	fetched, err := client.Fetch(ctx, f.region, f.currency)
	if err != nil {
		// Somebody who is offline still gets an answer, and is told.
		notes = []string{fmt.Sprintf("live prices could not be read, and those of the catalog count: %v", err)}
		from.Region, err = findRegion(c, f.region)
		return c, from, notes, err
	}
	over, bad := retail.Overlay(c, fetched.Prices)
	for _, b := range bad {
		fetched.Odd = append(fetched.Odd, b.Error())
	}
	for _, odd := range fetched.Odd {
		notes = append(notes, "a live price was left out: "+odd)
	}
	from.From = retail.RetailAPI
	return over, from, notes, nil
}

func newOption(o size.Option) option {
	out := option{
		Group: o.Group, RunnerUp: o.RunnerUp, Disks: o.Count, SizeGiB: o.SizeGiB, SKU: o.SKU, Tier: o.Tier, Parameters: o.Parameters,
		SustainedIOPS: o.Sustained.IOPS, SustainedBytesPerSecond: o.Sustained.BytesPerSecond,
		PerMonth: money(o.Estimate.PerMonth), PerMonthAtMost: money(o.Estimate.PerMonthAtCap), FleetPerMonth: money(o.Estimate.FleetPerMonth),
		PerThousandIOPS: money(o.Estimate.PerThousandIOPS),
	}
	for _, u := range o.Estimate.Unknown {
		out.Unknown = append(out.Unknown, u.Why)
	}
	return out
}

func money(d *decimal.Decimal) string {
	if d == nil {
		return ""
	}
	return cost.Format(*d)
}

// optionNotes leave unknown prices to priceNotes.
func optionNotes(o size.Option) []string {
	var notes []string
	for _, w := range o.Estimate.Warnings {
		if w.Reason != cost.PriceUnknown {
			notes = append(notes, w.Message)
		}
	}
	return append(notes, "prices are without "+strings.Join(o.Estimate.NotIncluded, ", "))
}

// priceNotes say in a few lines what is unknown; each option has the details.
func priceNotes(r sizeResult) []string {
	var missing []string
	capped := false
	for _, o := range r.Options {
		switch price(o) {
		case o.PerMonth:
		case unknownPrice:
			missing = append(missing, strings.TrimSpace(o.Tier+" "+string(o.SKU)))
		default:
			capped = true
		}
	}
	var notes []string
	if len(missing) > 0 {
		how := "--live-prices asks the Azure Retail Prices API"
		if r.Prices.From == retail.RetailAPI {
			how = "neither the Azure Retail Prices API nor the catalog has it"
		}
		notes = append(notes, fmt.Sprintf("unknown in %s in %s is a price of %s: %s, -o yaml says which parts are missing",
			r.Prices.Region, r.Prices.Currency, strings.Join(unique(missing), ", "), how))
	}
	if capped {
		notes = append(notes, "at most is with every hour at the cap on billed transactions: give --iops for the price of that rate")
	}
	return notes
}

// unique keeps the first of each.
func unique(notes []string) []string {
	var all []string
	for _, n := range notes {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func sizeTable(w io.Writer, r sizeResult) error {
	fmt.Fprintln(w, sizeHeading(r)) //nolint:errcheck // Flush says
	if len(r.Options) == 0 {
		fmt.Fprintln(w, "\nNothing does.") //nolint:errcheck // Flush says
	} else {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		header := []string{"GROUP", "DISKS", "SKU", "IOPS", "MB/s", r.Prices.Currency + "/MONTH"}
		if r.FleetSize > 1 {
			header = append(header, fmt.Sprintf("x %d", r.FleetSize))
		}
		fmt.Fprintln(t, strings.Join(header, "\t")) //nolint:errcheck // Flush says
		for _, o := range r.Options {
			fmt.Fprintln(t, strings.Join(optionFields(o, r.FleetSize > 1), "\t")) //nolint:errcheck // Flush says
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if err := writeRejected(w, r.Rejected); err != nil {
		return err
	}
	return writeNotes(w, append(slices.Clone(r.Notes), "predicted from published limits, catalog "+r.CatalogVersion))
}

func sizeHeading(r sizeResult) string {
	need := fmt.Sprintf("%d GiB", r.CapacityGiB)
	if r.RequiredIOPS > 0 {
		need += fmt.Sprintf(", %d IOPS", r.RequiredIOPS)
	}
	if r.RequiredBytesPerSecond > 0 {
		need += fmt.Sprintf(", %d MB/s", r.RequiredBytesPerSecond/1e6)
	}
	if r.VMSize != "" {
		need += " on " + r.VMSize
	}
	from := "of the catalog"
	if r.Prices.From == retail.RetailAPI {
		from = "of the Retail Prices API"
	}
	return fmt.Sprintf("%s; prices %s for %s", need, from, r.Prices.Region)
}

func optionFields(o option, fleet bool) []string {
	group := string(o.Group)
	if o.RunnerUp {
		group += " (2nd)"
	}
	fields := []string{
		group, fmt.Sprintf("%d x %s", o.Disks, diskName(o)), string(o.SKU),
		strconv.FormatInt(o.SustainedIOPS, 10), strconv.FormatInt(o.SustainedBytesPerSecond/1e6, 10), price(o),
	}
	if fleet && o.FleetPerMonth != "" {
		fields = append(fields, o.FleetPerMonth)
	} else if fleet {
		fields = append(fields, unknownPrice)
	}
	return fields
}

// diskName is a tier, or what is provisioned.
func diskName(o option) string {
	switch {
	case o.Tier == "":
		return fmt.Sprintf("%d GiB, %s IOPS, %s MB/s", o.SizeGiB, o.Parameters["DiskIOPSReadWrite"], o.Parameters["DiskMBpsReadWrite"])
	case o.Parameters["enablePerformancePlus"] != "":
		return o.Tier + " with Performance Plus"
	}
	return o.Tier
}

const unknownPrice = "unknown"

func price(o option) string {
	switch {
	case o.PerMonth != "":
		return o.PerMonth
	case o.PerMonthAtMost != "":
		return "at most " + o.PerMonthAtMost
	}
	return unknownPrice
}

// writeRejected says why the rest does not do: of tiers that fall short in the same way, in order of
// their size, the last one.
func writeRejected(w io.Writer, all []shortfall) error {
	if len(all) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\nFall short:\n")
	for first := 0; first < len(all); {
		last := first
		for last+1 < len(all) && alike(all[first], all[last+1]) {
			last++
		}
		names, why := all[first].Name, all[last].Why
		if last > first {
			names += " to " + all[last].Name
		}
		// What a VM holds back is the same for all.
		if last > first && !strings.HasPrefix(why, "the VM ") {
			why = all[last].Name + " " + why
		}
		fmt.Fprintf(&b, "  %s: %s\n", names, why)
		first = last + 1
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// alike: both hold too little, or both are too slow.
func alike(a, b shortfall) bool {
	verb := func(s shortfall) string { first, _, _ := strings.Cut(s.Why, " "); return first }
	return a.Group == b.Group && a.Group != size.Striped && verb(a) == verb(b)
}
