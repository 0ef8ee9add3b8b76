// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/diskbench/diskbench/engine/bytesize"
	"github.com/diskbench/diskbench/internal/assess/predict"
	"github.com/diskbench/diskbench/internal/azure/catalog"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
	"github.com/diskbench/diskbench/internal/azure/disk"
)

// predictFlags say what disks, on which VM, under which load.
type predictFlags struct {
	sku             string
	size            bytesFlag
	volumes         rangeFlag
	blockSizes      sizesFlag
	vmSize          string
	controller      choice[catalog.Controller]
	caching         choice[disk.Caching]
	readPercent     int64
	queueDepth      int64
	threads         int64
	iops, mbps      int64
	bursting        bool
	performancePlus bool
	output          choice[outputForm]
}

func newController() choice[catalog.Controller] {
	return choice[catalog.Controller]{allowed: []catalog.Controller{catalog.SCSI, catalog.NVMe}}
}

func newPredict(s surroundings) *cobra.Command {
	f := predictFlags{
		volumes: rangeFlag{1}, output: newOutput(), controller: newController(),
		caching: choice[disk.Caching]{allowed: []disk.Caching{disk.CachingNone, disk.CachingReadOnly, disk.CachingReadWrite}},
	}
	c := &cobra.Command{
		Use:   "predict --sku SKU --size SIZE --block-size SIZE",
		Short: "Predict the IOPS and throughput of striped disks on a VM, and what limits them",
		Long: "Predict computes what a load reaches that does not stop, on disks and a VM with full burst credits: now,\n" +
			"while credits last, and sustained. It holds if enough I/Os are outstanding, and says nothing of the\n" +
			"disks' own latency.",
		Example: "  kubectl diskbench predict --sku Premium_LRS --size 1Ti --volumes 1..11 --block-size 8Ki --vm-size Standard_DS14\n" +
			"  kubectl diskbench predict --sku PremiumV2_LRS --size 512Gi --iops 20000 --mbps 600 --block-size 8Ki,64Ki -o json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			result, err := f.predict()
			if err != nil {
				return err
			}
			return write(c.OutOrStdout(), f.output.value, result, func(w io.Writer) error { return predictTable(w, result) })
		},
	}
	c.SetOut(s.stdout)
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.sku, "sku", "", "kind of the disks, such as Premium_LRS")
	flags.Var(&f.size, "size", "size of each disk, such as 1Ti")
	flags.Var(&f.volumes, "volumes", "equal disks, striped: 4, 1,2,4 or 1..11")
	flags.Var(&f.blockSizes, "block-size", "size of each I/O: 8Ki, or 8Ki,64Ki")
	flags.StringVar(&f.vmSize, "vm-size", "", "size of the node's VM, such as Standard_D8s_v5; without it no limit of a VM counts")
	flags.Var(&f.controller, "controller", "how the VM sees its disks, where limits differ; without it the lower ones count")
	flags.Var(&f.caching, "caching", "host cache, whose limit of the VM counts then, too: None, ReadOnly or ReadWrite (default None)")
	flags.Int64Var(&f.readPercent, "read-percent", 50, "share of reads, which matters to a host cache alone")
	flags.Int64Var(&f.threads, "threads", 1, "threads of the load")
	flags.Int64Var(&f.queueDepth, "queue-depth", 0, "outstanding I/Os of each thread, for the latency that queueing makes")
	flags.Int64Var(&f.iops, "iops", 0, "provisioned IOPS of each Premium SSD v2 or Ultra disk")
	flags.Int64Var(&f.mbps, "mbps", 0, "provisioned MB/s of each Premium SSD v2 or Ultra disk")
	flags.BoolVar(&f.bursting, "bursting", false, "on-demand bursting of Premium SSD above 512 GiB")
	flags.BoolVar(&f.performancePlus, "performance-plus", false, "Performance Plus of disks of 513 GiB and more")
	flags.VarP(&f.output, "output", "o", "form of the result")
	return c
}

// predictResult is the JSON form. Limits and figures are those of all volumes together.
type predictResult struct {
	SKU        catalog.SKU `json:"sku"`
	SizeGiB    int64       `json:"sizeGiB"`
	Tier       string      `json:"tier,omitempty"`
	Caching    string      `json:"caching"`
	VMSize     string      `json:"vmSize,omitempty"`
	Controller string      `json:"controller,omitempty"`
	// OutstandingIOs is absent while unknown.
	OutstandingIOs int64        `json:"outstandingIOs,omitempty"`
	CatalogVersion string       `json:"catalogVersion"`
	Rows           []predictRow `json:"rows"`
	// Notes are what a reader of the figures has to know, in sentences.
	Notes []string `json:"notes,omitempty"`
}

// predictRow is a prediction. IOPS and what belongs to it last for burstSeconds; with 0, without end.
type predictRow struct {
	Volumes                 int             `json:"volumes"`
	BlockSizeBytes          int64           `json:"blockSizeBytes"`
	IOPS                    float64         `json:"iops"`
	BytesPerSecond          float64         `json:"bytesPerSecond"`
	SustainedIOPS           float64         `json:"sustainedIOPS"`
	SustainedBytesPerSecond float64         `json:"sustainedBytesPerSecond"`
	BurstSeconds            float64         `json:"burstSeconds"`
	LimitedBy               predict.Limit   `json:"limitedBy"`
	AlsoAtLimit             []predict.Limit `json:"alsoAtLimit,omitempty"`
	SustainedLimitedBy      predict.Limit   `json:"sustainedLimitedBy"`
	SustainedAlsoAtLimit    []predict.Limit `json:"sustainedAlsoAtLimit,omitempty"`
	// QueueingMillis and SustainedQueueingMillis are outstanding I/Os / IOPS: the mean latency that
	// queueing alone makes.
	QueueingMillis          float64  `json:"queueingMillis,omitempty"`
	SustainedQueueingMillis float64  `json:"sustainedQueueingMillis,omitempty"`
	Warnings                []string `json:"warnings,omitempty"`
}

func (f *predictFlags) check() error {
	switch {
	case f.sku == "":
		return fmt.Errorf("--sku is missing: use one of %s", strings.Join(words(catalog.SKUs()), ", "))
	case f.size == 0:
		return errors.New("--size is missing: give the size of each disk, such as 1Ti")
	case len(f.blockSizes) == 0:
		return errors.New("--block-size is missing: give the size of each I/O, such as 8Ki")
	case f.threads < 1:
		return fmt.Errorf("--threads is %d: use 1 or more", f.threads)
	case f.threads*max(f.queueDepth, 1) > math.MaxInt32:
		return errors.New("--threads and --queue-depth make more outstanding I/Os than a machine can have")
	}
	return errors.Join(percent("read-percent", f.readPercent), positive("queue-depth", f.queueDepth), positive("iops", f.iops), positive("mbps", f.mbps))
}

func (f *predictFlags) predict() (predictResult, error) {
	if err := f.check(); err != nil {
		return predictResult{}, err
	}
	c, err := embedded.Load()
	if err != nil {
		return predictResult{}, err
	}
	vm, err := findVM(c, f.vmSize, f.controller.value)
	if err != nil {
		return predictResult{}, err
	}
	d, notes, err := f.describe(c)
	if err != nil {
		return predictResult{}, err
	}
	result := predictResult{
		SKU: d.SKU, SizeGiB: d.SizeGiB, Caching: string(d.Caching), Controller: string(f.controller.value),
		OutstandingIOs: f.threads * f.queueDepth, CatalogVersion: c.Version(),
	}
	if d.Tier != nil {
		result.Tier = d.Tier.Name
	}
	if vm != nil {
		result.VMSize = vm.Size
	}
	hostCache := false
	for _, volumes := range f.volumes {
		for _, block := range f.blockSizes {
			load := predict.Load{BlockSizeBytes: block, ReadPercent: int(f.readPercent), Outstanding: int(result.OutstandingIOs)}
			p, ok := predict.Predict(d, volumes, load, vm)
			if !ok {
				return predictResult{}, fmt.Errorf("the limits of %s of %d GiB are not known (%s)", d.SKU, d.SizeGiB, d.Coverage)
			}
			hostCache = hostCache || p.HostCache
			result.Rows = append(result.Rows, newPredictRow(volumes, block, p, vm))
		}
	}
	result.Notes = slices.Concat(notes, vmNotes(vm, d), cacheNotes(d, vm, hostCache))
	return result, nil
}

// describe makes the disk from the parameters of a class that would. What the driver or Azure refuses
// is an error.
func (f *predictFlags) describe(c catalog.Catalog) (d disk.Disk, notes []string, err error) {
	if _, ok := catalog.SKU(f.sku).Family(); !ok {
		return disk.Disk{}, nil, unknown("SKU", "--sku", f.sku, words(catalog.SKUs()), "")
	}
	parameters := map[string]string{"skuName": f.sku, "cachingMode": string(cmp.Or(f.caching.value, disk.CachingNone))}
	for name, n := range map[string]int64{"DiskIOPSReadWrite": f.iops, "DiskMBpsReadWrite": f.mbps} {
		if n > 0 {
			parameters[name] = strconv.FormatInt(n, 10)
		}
	}
	for name, on := range map[string]bool{"enableBursting": f.bursting, "enablePerformancePlus": f.performancePlus} {
		if on {
			parameters[name] = "true"
		}
	}
	d, warnings := disk.Describe(c, disk.Facts{
		Driver: disk.Driver, ClassParameters: parameters, CapacityBytes: int64(f.size), Controller: f.controller.value,
		NodeLabels: map[string]string{"node.kubernetes.io/instance-type": f.vmSize},
	})
	for _, w := range warnings {
		if w.Reason == disk.InvalidParameter {
			err = errors.Join(err, errors.New(w.Message))
			continue
		}
		notes = append(notes, w.Message)
	}
	if err == nil && d.Coverage == disk.UnknownSize {
		err = fmt.Errorf("--size is %s, and no disk of %s has that size: %s", f.size.String(), d.SKU, sizes(c, d.Family))
	}
	return d, notes, err
}

func sizes(c catalog.Catalog, family catalog.Family) string {
	if rules, ok := c.Provisioned(family); ok {
		return fmt.Sprintf("use %dGi to %dGi", rules.MinSizeGiB, rules.MaxSizeGiB)
	}
	tiers := c.Tiers(family)
	return fmt.Sprintf("use 1Gi to %dGi", tiers[len(tiers)-1].SizeGiB)
}

func newPredictRow(volumes int, block int64, p predict.Prediction, vm *catalog.VM) predictRow {
	row := predictRow{
		Volumes: volumes, BlockSizeBytes: block,
		IOPS: rounded(p.Now.IOPS, 2), BytesPerSecond: rounded(p.Now.BytesPerSecond, 0), LimitedBy: p.Now.LimitedBy, AlsoAtLimit: p.Now.AlsoAtLimit,
		SustainedIOPS: rounded(p.Sustained.IOPS, 2), SustainedBytesPerSecond: rounded(p.Sustained.BytesPerSecond, 0),
		SustainedLimitedBy: p.Sustained.LimitedBy, SustainedAlsoAtLimit: p.Sustained.AlsoAtLimit,
		BurstSeconds:   rounded(p.BurstSeconds, 1),
		QueueingMillis: rounded(p.Now.MeanLatencySeconds*1000, 3), SustainedQueueingMillis: rounded(p.Sustained.MeanLatencySeconds*1000, 3),
	}
	if vm != nil && vm.MaxDataDisks != nil && int64(volumes) > *vm.MaxDataDisks {
		row.Warnings = append(row.Warnings, fmt.Sprintf("%s takes %d data disks at most", vm.Size, *vm.MaxDataDisks))
	}
	return row
}

func rounded(f float64, places int) float64 {
	scale := math.Pow10(places)
	return math.Round(f*scale) / scale
}

func vmNotes(vm *catalog.VM, d disk.Disk) []string {
	switch {
	case vm == nil:
		return []string{"no limit of a VM counts: give --vm-size"}
	case vm.Uncached == nil && d.VMAmbiguous:
		return []string{fmt.Sprintf("the limits of %s are known for one controller only, and do not count: give --controller", vm.Size)}
	case vm.Uncached == nil:
		return []string{fmt.Sprintf("the limits of %s are not published: none of a VM counts", vm.Size)}
	case d.VMAmbiguous:
		return []string{fmt.Sprintf("the limits of %s differ by controller, and the lower ones count: give --controller", vm.Size)}
	}
	return nil
}

func cacheNotes(d disk.Disk, vm *catalog.VM, hostCache bool) []string {
	if d.Caching == disk.CachingNone && d.Family.Tiered() && vm != nil && vm.Uncached != nil && vm.Cached != nil && below(*vm.Cached, *vm.Uncached) {
		return []string{fmt.Sprintf("caching is None; a StorageClass without cachingMode gets ReadOnly, and then %s allows %d IOPS and %s MB/s at most: see --caching ReadOnly",
			vm.Size, vm.Cached.IOPS, megabytes(float64(vm.Cached.BytesPerSecond)))}
	}
	if !hostCache {
		return nil
	}
	what := "reads"
	if d.Caching == disk.CachingReadWrite {
		what = "reads and writes"
	}
	return []string{fmt.Sprintf("caching is %s: %s that hit the host cache can go past the limits of the disk and of uncached I/O", d.Caching, what)}
}

func below(a, b catalog.Rate) bool { return a.IOPS < b.IOPS || a.BytesPerSecond < b.BytesPerSecond }

func predictTable(w io.Writer, r predictResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	queueing := r.OutstandingIOs > 0
	header := []string{"VOLUMES", "BLOCK", "IOPS", "MB/s", "LIMITED BY", "FOR", "SUSTAINED IOPS", "MB/s", "LIMITED BY"}
	if queueing {
		header = append(header, "QUEUEING ms", "SUSTAINED ms")
	}
	fmt.Fprintln(w, predictHeading(r)) //nolint:errcheck // Flush says
	fmt.Fprintln(t, tabbed(header))    //nolint:errcheck // Flush says
	notes := []string{}
	for _, row := range r.Rows {
		fields := []string{
			strconv.Itoa(row.Volumes), bytesize.Format(row.BlockSizeBytes),
			fmt.Sprintf("%.1f", row.IOPS), megabytes(row.BytesPerSecond), limits(row.LimitedBy, row.AlsoAtLimit), lasting(row.BurstSeconds),
			fmt.Sprintf("%.1f", row.SustainedIOPS), megabytes(row.SustainedBytesPerSecond), limits(row.SustainedLimitedBy, row.SustainedAlsoAtLimit),
		}
		if queueing {
			fields = append(fields, fmt.Sprintf("%.2f", row.QueueingMillis), fmt.Sprintf("%.2f", row.SustainedQueueingMillis))
		}
		fmt.Fprintln(t, tabbed(fields)) //nolint:errcheck // Flush says
		for _, warning := range row.Warnings {
			notes = append(notes, fmt.Sprintf("%d volumes: %s", row.Volumes, warning))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	notes = slices.Concat(slices.Compact(notes), r.Notes, []string{"predicted from published limits, catalog " + r.CatalogVersion})
	return writeNotes(w, notes)
}

func predictHeading(r predictResult) string {
	parts := []string{fmt.Sprintf("%s of %d GiB", r.SKU, r.SizeGiB)}
	if r.Tier != "" {
		parts[0] += " (" + r.Tier + ")"
	}
	parts = append(parts, "caching "+r.Caching)
	if r.VMSize != "" {
		parts = append(parts, "on "+strings.TrimSpace(r.VMSize+" "+r.Controller))
	}
	if r.OutstandingIOs > 0 {
		parts = append(parts, fmt.Sprintf("%d outstanding I/Os", r.OutstandingIOs))
	}
	return strings.Join(parts, ", ")
}

// tabbed ends each field, since only what is ended is aligned to the right.
func tabbed(fields []string) string { return strings.Join(fields, "\t") + "\t" }

func megabytes(bytesPerSecond float64) string { return fmt.Sprintf("%.1f", bytesPerSecond/1e6) }

func limits(by predict.Limit, also []predict.Limit) string {
	return strings.Join(append([]string{string(by)}, words(also)...), "+")
}

// lasting is how long a burst lasts.
func lasting(seconds float64) string {
	if seconds == 0 {
		return "ever"
	}
	return fmt.Sprintf("%.0fs", seconds)
}

func writeNotes(w io.Writer, notes []string) error {
	var b strings.Builder
	b.WriteString("\n")
	for _, note := range notes {
		b.WriteString("- " + note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
