// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/api/v1alpha1"
	"github.com/diskbench/diskbench/internal/plan"
)

// manifest is a DiskBenchmark as a user writes it: typed objects could not hold most mistakes.
func manifest(spec string) *unstructured.Unstructured {
	GinkgoHelper()
	object := map[string]any{}
	Expect(yaml.Unmarshal([]byte(spec), &object)).To(Succeed())
	u := &unstructured.Unstructured{Object: map[string]any{"spec": object}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("DiskBenchmark"))
	u.SetNamespace("default")
	u.SetGenerateName("dbm-")
	return u
}

// create sends the manifest to the API server.
func create(u *unstructured.Unstructured) error {
	err := k8s.Create(context.Background(), u)
	if err == nil {
		DeferCleanup(k8s.Delete, u)
	}
	return err
}

// with is a valid spec with one workload of these fields.
func with(workload string) string {
	return "{size: 32Gi, workloads: [{" + workload + "}]}"
}

// of is a valid spec with these further fields.
func of(fields string) string {
	return "{size: 32Gi, workloads: [{preset: vdi}], " + fields + "}"
}

// sized is a valid spec of this size.
func sized(size string) string {
	return "{size: " + size + ", workloads: [{preset: vdi}]}"
}

// custom is a custom workload with this block size.
func custom(blockSize string) string {
	return with("name: x, pattern: Random, readPercent: 50, blockSize: " + blockSize)
}

// streams is a valid spec with a custom workload of these streams and of these further fields.
func streams(list, more string) string {
	return with("name: x, streams: [" + list + "]" + more)
}

// stream is a valid stream with these further fields.
func stream(name, more string) string {
	return "{name: " + name + ", pattern: Random, readPercent: 50, blockSize: 4Ki" + more + "}"
}

// writes is a custom workload of sequential writes with these further fields.
func writes(more string) string {
	return with("name: x, pattern: Sequential, readPercent: 0, blockSize: 4Ki, " + more)
}

const (
	presetList = "use vdi, vdi-fleet, oltp, sql, sharepoint, etcd, postgres-wal, redis-aof, kafka, " +
		"randread, randwrite, seqread, seqwrite, latency, ladder, quick or profile"
	sector      = "is not a multiple of 512 bytes, which direct I/O needs"
	flushPair   = "sync: Flush goes with flushEvery, a number of writes, or flushIntervalSeconds, a time: set sync and one of them, or none"
	oneEnd      = "layout Append needs one stream of one thread with queueDepth 1, pattern Sequential and the whole range: a file has one end"
	writesAlone = "layout Preallocated and Append are for writes alone, since what was never written is read from memory: set readPercent to 0, or layout to Written"
	oneAtATime  = "directIO: Disabled makes one I/O at a time for each thread: set queueDepth to 1, and use more threads"
)

var _ = DescribeTable("a mistake is refused with a sentence that says what would be right",
	func(spec, sentence string) {
		err := create(manifest(spec))
		Expect(err).To(HaveOccurred())
		Expect(err.Error()).To(ContainSubstring(sentence))
	},

	Entry("an empty class would silently mean no dynamic provisioning", of(`storageClassName: ""`),
		"storageClassName must not be empty: name a class, or omit the field to use the cluster default"),
	Entry("an empty attributes class", of(`volumeAttributesClassName: ""`),
		"volumeAttributesClassName must not be empty: name a class or omit the field"),
	Entry("an empty claim", `{claimName: "", workloads: [{preset: vdi}]}`,
		"claimName must not be empty: name an existing PersistentVolumeClaim in this namespace"),
	Entry("an empty image", of(`engine: {image: ""}`),
		"engine.image must not be empty: name an image or omit the field to use the operator's own"),

	Entry("a bare number is bytes", sized("45"), "size 45 has no unit and would mean bytes, did you mean 45Gi?"),
	Entry("a bare number in quotes", sized(`"45"`), "size 45 has no unit and would mean bytes, did you mean 45Gi?"),
	Entry("a large bare number is no number of GiB", sized("34359738368"),
		"size 34359738368 has no unit and would mean bytes: write a quantity of at least 1Gi, such as 45Gi or 2Ti"),
	Entry("zero", sized("0"), "size 0 has no unit and would mean bytes: write a quantity of at least 1Gi, such as 45Gi or 2Ti"),
	Entry("a negative size", sized("-1Gi"), "size -1Gi is below the smallest volume, 1Gi"),
	Entry("below a GiB", sized("512Mi"), "size 512Mi is below the smallest volume, 1Gi"),
	Entry("above the largest disk", sized("65Ti"), "size 65Ti is above the largest volume, 64Ti"),
	Entry("GiB is no Kubernetes unit", sized("100GiB"), "size 100GiB is not a quantity, did you mean 100Gi?"),
	Entry("neither is GB", sized("100GB"), "size 100GB is not a quantity, did you mean 100Gi?"),
	Entry("nor TB", sized("2TB"), "size 2TB is not a quantity, did you mean 2Ti?"),
	Entry("a word", sized("large"), "size large is not a quantity: write a number with a unit, such as 45Gi or 2Ti"),
	Entry("an unquoted fraction gets the type's own message", sized("1.5"), "spec.size"),

	Entry("4K is no quantity", custom("4K"), "blockSize 4K is not a quantity, did you mean 4Ki?"),
	Entry("4k is 4,000 bytes", custom("4k"), "blockSize 4k is not a multiple of 512 bytes, did you mean 4Ki?"),
	Entry("4000 is no multiple of a sector", custom("4000"), "blockSize 4000 is not a multiple of 512 bytes, did you mean 4Ki?"),
	Entry("4000 in quotes", custom(`"4000"`), "blockSize 4000 is not a multiple of 512 bytes, did you mean 4Ki?"),
	Entry("64K", custom("64K"), "blockSize 64K is not a quantity, did you mean 64Ki?"),
	Entry("4KB", custom("4KB"), "blockSize 4KB is not a quantity, did you mean 4Ki?"),
	Entry("4kib", custom("4kib"), "blockSize 4kib is not a quantity, did you mean 4Ki?"),
	Entry("1MiB", custom("1MiB"), "blockSize 1MiB is not a quantity, did you mean 1Mi?"),
	Entry("1M is 1,000,000 bytes", custom("1M"), "blockSize 1M is not a multiple of 512 bytes, did you mean 1Mi?"),
	Entry("a word", custom("big"), "blockSize big is not a number of bytes: write 4Ki, 64Ki or 1Mi"),
	Entry("2300 has no binary neighbor", custom("2301"), "blockSize 2301 "+sector+": round it, or set directIO to Disabled"),
	Entry("of a stream", streams("{name: log, pattern: Sequential, readPercent: 0, blockSize: 4k}", ""), "the blockSize of stream log "+sector),
	Entry("of a preset with direct I/O", with("preset: etcd, directIO: Required, blockSize: 2300"), "blockSize 2300 "+sector),
	Entry("less than a byte", custom("500m"), "blockSize 500m is not a whole number of bytes"),
	Entry("0.1Ki is 102.4 bytes", custom("0.1Ki"), "blockSize 0.1Ki is not a whole number of bytes"),
	Entry("zero", custom("0"), "blockSize 0 is outside 1 to 16Mi bytes"),
	Entry("negative", custom("-4096"), "blockSize -4096 is outside 1 to 16Mi bytes"),
	Entry("far above the largest I/O", custom("9Ei"), "blockSize 9Ei is outside 1 to 16Mi bytes"),
	Entry("above the largest I/O", custom("32Mi"), "blockSize 32Mi is outside 1 to 16Mi bytes"),

	Entry("a file without a unit", with("preset: vdi, fileSize: 4000"),
		"fileSize 4000 must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi"),
	Entry("a file below the largest I/O", with("preset: vdi, fileSize: 4Ki"),
		"fileSize 4Ki must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi"),
	Entry("a file as large as its volume leaves no room for the filesystem", with("preset: vdi, fileSize: 32Gi"),
		"fileSize must be smaller than size: a filesystem needs part of the volume for itself"),

	Entry("no volume at all", "{workloads: [{preset: vdi}]}",
		"set size (and optionally storageClassName) for a new volume, or claimName for an existing one"),
	Entry("a claim with a size", "{claimName: data, size: 32Gi, workloads: [{preset: vdi}]}",
		"claimName names an existing volume: remove size, storageClassName, volumeMode, volumeAttributesClassName, volumeCount, stripeSize and repetitionScope NewVolume, or remove claimName"),
	Entry("a claim is one volume", "{claimName: data, volumeCount: 2, workloads: [{preset: vdi}]}", "claimName names an existing volume: remove size"),
	Entry("a claim is no new volume", "{claimName: data, repetitionScope: NewVolume, workloads: [{preset: vdi}]}", "claimName names an existing volume: remove size"),
	Entry("a claim is never measured as a block device: it would be overwritten", "{claimName: data, volumeMode: Block, workloads: [{preset: vdi}]}",
		"claimName names an existing volume: remove size"),
	Entry("a stripe over one volume", of("stripeSize: 64Ki"), "stripeSize needs volumeCount of 2 or more"),
	Entry("a stripe without a unit", of("stripeSize: 64, volumeCount: 2"),
		"stripeSize 64 must be a quantity with a unit from 4Ki to 16Mi, in steps of 4Ki, such as 64Ki"),
	Entry("a stripe of no whole pages", of("stripeSize: 6Ki, volumeCount: 2"), "stripeSize 6Ki must be a quantity with a unit"),
	Entry("more volumes at once than a VM takes", of("volumeCount: 16, repetitions: 5, repetitionScope: NewVolume"),
		"repetitionScope NewVolume attaches volumeCount volumes for each of the repetitions at once, at most 64: lower volumeCount or repetitions, or use SameVolume"),
	Entry("a file as large as its striped volumes", "{size: 32Gi, volumeCount: 2, workloads: [{preset: vdi, fileSize: 64Gi}]}",
		"fileSize must be smaller than size: a filesystem needs part of the volume for itself"),
	Entry("an unknown volume mode", of("volumeMode: Raw"), `supported values: "Filesystem", "Block"`),
	Entry("too many volumes", of("volumeCount: 65"), "spec.volumeCount in body should be less than or equal to 64"),

	Entry("no workload", "{size: 32Gi, workloads: []}", "spec.workloads"),
	Entry("an unknown preset", with("preset: vdo"), "unknown preset vdo: "+presetList),
	Entry("neither preset nor name", with("pattern: Random, readPercent: 50, blockSize: 4Ki"),
		"a workload needs a preset or, when custom, a name"),
	Entry("a custom workload with parts missing", with("name: x, pattern: Random"),
		"a workload without a preset needs pattern, readPercent and blockSize, or streams"),
	Entry("a name that cannot be a label", with("preset: vdi, name: VDI_2"),
		"workload name VDI_2 must be lower-case letters, digits and dashes, and begin and end with a letter or digit"),
	Entry("the same preset twice", "{size: 32Gi, workloads: [{preset: vdi}, {preset: vdi, queueDepth: 32}]}",
		"two workloads have the same name: a preset is named after itself unless name is set, so give each a different name"),
	Entry("a name that is another's preset", "{size: 32Gi, workloads: [{preset: vdi}, {preset: oltp, name: vdi}]}",
		"two workloads have the same name"),
	Entry("profile beside another", "{size: 32Gi, workloads: [{preset: profile}, {preset: vdi}]}",
		"preset profile expands to several workloads and must be the only one"),
	Entry("more than eight after expansion",
		"{size: 32Gi, workloads: [{preset: quick}, {preset: latency}, {preset: vdi}, {preset: oltp}, {preset: seqread}, {preset: seqwrite}, {preset: randread}]}",
		"at most 8 workloads after expansion: quick and latency measure reads and writes apart and count as two, ladder counts as five"),
	Entry("two ladders", "{size: 32Gi, workloads: [{preset: ladder}, {preset: ladder, name: writes, readPercent: 0}]}", "at most 8 workloads after expansion"),
	Entry("a mix above all", with("preset: vdi, readPercent: 101"), "readPercent in body should be less than or equal to 100"),
	Entry("no thread", with("preset: vdi, threads: 0"), "threads in body should be greater than or equal to 1"),
	Entry("no time", with("preset: vdi, durationSeconds: 0"), "durationSeconds in body should be greater than or equal to 1"),
	Entry("no repetition", of("repetitions: 0"), "spec.repetitions in body should be greater than or equal to 1"),
	Entry("eleven repetitions", of("repetitions: 11"), "spec.repetitions in body should be less than or equal to 10"),

	Entry("a Windows node", of("pod: {nodeSelector: {kubernetes.io/os: windows}}"),
		"the engine runs on Linux nodes only: remove kubernetes.io/os from pod.nodeSelector or set it to linux"),
	Entry("the operator's own labels", of("pod: {labels: {diskbench.dev/run: '7'}}"),
		"pod.labels under diskbench.dev/ and batch.kubernetes.io/, job-name and controller-uid are the operator's: remove them"),
	Entry("the Job controller's labels", of("pod: {labels: {batch.kubernetes.io/job-name: x}}"),
		"pod.labels under diskbench.dev/ and batch.kubernetes.io/, job-name and controller-uid are the operator's: remove them"),
	Entry("the operator's own annotations", of("pod: {annotations: {diskbench.dev/x: z}}"),
		"pod.annotations under diskbench.dev/ are the operator's: remove them"),
	Entry("root", of("pod: {runAsUser: 0}"), "pod.runAsUser must be above 0: the engine never runs as root"),

	Entry("targets without a target", of("targets: {onMiss: Fail}"),
		"targets need at least one of minIOPS, minThroughputBytesPerSecond, maxMeanMicros, maxP99Micros and maxFlushP99Micros"),
	Entry("a target for a workload that is not there", of("targets: {workload: oltp, minIOPS: 500}"),
		"targets.workload oltp is not in workloads: use the name (or preset) of an entry, or remove it to judge all of them"),
	Entry("a currency in words", of("cost: {currency: eur}"),
		"currency must be an ISO 4217 code of three capital letters, such as USD or EUR"),
	Entry("a price that is no number", of("cost: {costPerMonth: '12,50'}"),
		"costPerMonth must be a decimal number in quotes, such as '12.50'"),

	Entry("a preset with streams", with("preset: oltp, streams: ["+stream("a", "")+"]"),
		"preset oltp has streams of its own: remove streams, or remove preset and set name"),
	Entry("a field of which of the two streams", with("preset: vdi-fleet, queueDepth: 4"),
		"preset vdi-fleet has several streams, and a field of one stream says nothing about which: write the streams in full instead of the preset"),
	Entry("likewise of sql", with("preset: sql, rateLimitIOPS: 4"), "preset sql has several streams"),
	Entry("a field beside streams", streams(stream("a", ""), ", threads: 4"),
		"streams with a field of a stream beside them: put the field into each stream"),
	Entry("a stream with parts missing", streams("{name: a, pattern: Random}", ""), "stream a needs pattern, readPercent and blockSize"),
	Entry("a stream without a name", streams("{pattern: Random, readPercent: 0, blockSize: 4Ki}", ""), "streams[0].name"),
	Entry("a stream's name that cannot be one", streams(stream("A", ""), ""),
		"stream name A must be lower-case letters, digits and dashes, and begin and end with a letter or digit"),
	Entry("two streams of one name", streams(stream("a", "")+", "+stream("a", ""), ""), "two streams have the same name: give each a different one"),
	Entry("more threads than a workload has", streams(stream("a", ", threads: 64")+", "+stream("b", ""), ""),
		"streams have more than 64 threads in all: lower threads"),
	Entry("more streams than a result holds", "{size: 32Gi, workloads: [{preset: sql}, {preset: vdi-fleet}, {name: x, streams: ["+
		strings.Join([]string{stream("a", ""), stream("b", ""), stream("c", ""), stream("d", ""), stream("e", "")}, ", ")+"]}]}",
		"at most 8 streams in all workloads that have several (vdi-fleet and sql have two): use several benchmarks"),

	Entry("a flush of nothing in particular", writes("sync: Flush"), flushPair),
	Entry("a flush without its mode", writes("flushEvery: 1"), flushPair),
	Entry("a preset's flush of nothing in particular", with("preset: vdi, sync: Flush"), flushPair),
	Entry("a stream's flush without its mode", streams(stream("a", ", flushIntervalSeconds: 1"), ""), "stream a: "+flushPair),
	Entry("two kinds of flush", writes("sync: Flush, flushEvery: 1, flushIntervalSeconds: 1"),
		"flushEvery counts writes and flushIntervalSeconds seconds: set one of them"),
	Entry("a flush of what is written through", writes("sync: WriteThrough, flushEvery: 1"),
		"flushEvery and flushIntervalSeconds go with sync: Flush, not with WriteThrough"),
	Entry("a flush of reads", with("name: x, pattern: Random, readPercent: 100, blockSize: 4Ki, sync: Flush, flushEvery: 1"),
		"sync: Flush without writes has nothing to flush: lower readPercent, or remove sync"),
	Entry("a flush that comes after the kernel's own", writes("sync: Flush, flushIntervalSeconds: 31"),
		"flushIntervalSeconds in body should be less than or equal to 30"),
	Entry("flushes too rare to be any", writes("sync: Flush, flushEvery: 1000001"), "flushEvery in body should be less than or equal to 1000000"),

	Entry("jumps in a random stream", custom("4Ki, randomPercent: 20"),
		"randomPercent is the share of jumps in a Sequential stream: set pattern to Sequential, or remove randomPercent"),
	Entry("random offsets are not shared", custom("4Ki, sequentialOffset: Shared"),
		"sequentialOffset: Shared is for purely sequential streams: set pattern to Sequential and remove randomPercent, or remove sequentialOffset"),
	Entry("nor jumping ones", writes("sequentialOffset: Shared, randomPercent: 1"), "sequentialOffset: Shared is for purely sequential streams"),
	Entry("a distribution of no drawn offset", writes("distribution: {type: Zipf}"),
		"distribution is that of drawn offsets: set pattern to Random, give randomPercent, or remove distribution"),
	Entry("a hotspot of no size", custom("4Ki, distribution: {type: Hotspot, ioPercent: 95}"),
		"distribution Hotspot needs ioPercent and rangePercent: so much of the I/O goes to so much of the range"),
	Entry("the size of no hotspot", custom("4Ki, distribution: {type: Zipf, ioPercent: 95}"),
		"distribution Zipf has no ioPercent and rangePercent, which are those of a Hotspot: remove them, or set type to Hotspot"),
	Entry("an unknown distribution", custom("4Ki, distribution: {type: Normal}"), `supported values: "Uniform", "Hotspot", "Zipf"`),
	Entry("a range that ends where it starts", custom("4Ki, range: {startPercent: 50, endPercent: 50}"),
		"range.startPercent (default 0) must be below range.endPercent (default 100)"),
	Entry("a range that starts at the end", custom("4Ki, range: {startPercent: 100}"), "range.startPercent (default 0) must be below"),
	Entry("a rate that no thread has", custom("4Ki, rateLimitIOPS: 10000001"), "rateLimitIOPS in body should be less than or equal to 10000000"),

	Entry("deep buffered I/O", custom("4Ki, directIO: Disabled, queueDepth: 2"), oneAtATime),
	Entry("a deep preset, buffered", with("preset: randread, directIO: Disabled"), oneAtATime),
	Entry("a buffered preset, deep", with("preset: etcd, queueDepth: 4"), oneAtATime),
	Entry("a deep buffered stream", streams(stream("a", ", queueDepth: 2"), ", directIO: Disabled"), oneAtATime),
	Entry("buffered I/O with an engine for direct I/O", "{size: 32Gi, engine: {ioEngine: LibAIO}, workloads: [{preset: etcd}]}",
		"directIO: Disabled (presets etcd, postgres-wal and redis-aof) is pread and pwrite: set engine.ioEngine to Auto or Sync"),
	Entry("reads of a file that was not written", with("preset: oltp, layout: Preallocated"), writesAlone),
	Entry("reads of a preset's new file", with("preset: etcd, readPercent: 50"), writesAlone),
	Entry("a stream that reads a new file", streams(stream("a", ""), ", layout: Append"), writesAlone),
	Entry("two threads at the end of a file", writes("layout: Append, threads: 2"), oneEnd),
	Entry("two I/Os at the end of a file", writes("layout: Append, queueDepth: 2"), oneEnd),
	Entry("jumps at the end of a file", writes("layout: Append, randomPercent: 1"), oneEnd),
	Entry("a part of a file that grows", writes("layout: Append, range: {endPercent: 50}"), oneEnd),
	Entry("random offsets at the end of a file", with("name: x, pattern: Random, readPercent: 0, blockSize: 4Ki, layout: Append"), oneEnd),
	Entry("a deep preset at the end of a file", with("preset: seqwrite, layout: Append"), oneEnd),
	Entry("a preset that appends, with threads", with("preset: redis-aof, threads: 2"), oneEnd),
	Entry("two streams at the end of a file", streams("{name: a, pattern: Sequential, readPercent: 0, blockSize: 4Ki}, {name: b, pattern: Sequential, readPercent: 0, blockSize: 4Ki}", ", layout: Append"), oneEnd),
	Entry("a file on a block device", "{size: 32Gi, volumeMode: Block, workloads: [{preset: etcd}]}",
		"layout Preallocated and Append (presets etcd and redis-aof) make a file, which a block device has not: set volumeMode to Filesystem, or layout to Written"),
	Entry("a file of its own on striped volumes", "{size: 32Gi, volumeCount: 2, workloads: [{preset: redis-aof}]}",
		"layout Preallocated and Append (presets etcd and redis-aof) make a file of their own, which lies on one volume: leave volumeCount at 1, or set layout to Written"),
	Entry("a check of the page cache", custom("4Ki, directIO: Disabled, verification: Checksum"),
		"verification: Checksum with directIO Disabled would check the page cache: remove one of them"),
	Entry("a check of nothing", writes("verification: Checksum"), "verification: Checksum without reads checks nothing: raise readPercent, or remove verification"),
	Entry("a check of a preset that writes", with("preset: seqwrite, verification: Checksum"), "verification: Checksum without reads checks nothing"),
	Entry("a check of streams that write", streams("{name: a, pattern: Random, readPercent: 0, blockSize: 4Ki}", ", verification: Checksum"), "verification: Checksum without reads checks nothing"),
	Entry("no operation", custom("4Ki, operations: 0"), "operations in body should be greater than or equal to 1"),
)

// What the schema lets through and the engine's plan does not would end as InvalidSpec, minutes later.
var _ = DescribeTable("what is right is accepted, and has a plan",
	func(spec string) {
		u := manifest(spec)
		Expect(create(u)).To(Succeed())
		var b v1alpha1.DiskBenchmark
		Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(u), &b)).To(Succeed())
		_, err := plan.Build(&b.Spec)
		Expect(err).NotTo(HaveOccurred())
	},
	Entry("the smallest manifest", sized("32Gi")),
	Entry("decimal gigabytes", sized("100G")),
	Entry("a fraction with a unit", sized("1.5Gi")),
	Entry("the smallest volume", sized("1Gi")),
	Entry("the largest volume", sized("64Ti")),
	Entry("512 bytes as a fraction of a KiB", custom("0.5Ki")),
	Entry("512 bytes as a number", custom("512")),
	Entry("an eighth of a MiB", custom("0.125Mi")),
	Entry("a block of bytes in quotes", custom(`"8192"`)),
	Entry("the largest block", custom("16Mi")),
	Entry("an existing claim", "{claimName: data, workloads: [{preset: vdi}]}"),
	Entry("one volume, said so", of("volumeCount: 1")),
	Entry("striping", of("volumeCount: 64, stripeSize: 4Ki")),
	Entry("striping with the default stripe", of("volumeCount: 2")),
	Entry("the largest stripe", of("volumeCount: 2, stripeSize: 16Mi")),
	Entry("as many volumes at once as a VM takes", of("volumeCount: 16, repetitions: 4, repetitionScope: NewVolume")),
	Entry("an existing claim, measured again and again", "{claimName: data, repetitionScope: SameVolume, repetitions: 6, workloads: [{preset: vdi}]}"),
	Entry("a file larger than one of its volumes", "{size: 32Gi, volumeCount: 2, workloads: [{preset: vdi, fileSize: 63Gi}]}"),
	Entry("a file as large as its block devices", "{size: 32Gi, volumeCount: 2, volumeMode: Block, workloads: [{preset: vdi, fileSize: 64Gi}]}"),
	Entry("draining", of("sustained: Drain")),
	Entry("each preset with streams or flushes", "{size: 32Gi, workloads: [{preset: vdi-fleet}, {preset: sql}, {preset: etcd}, {preset: postgres-wal}, {preset: redis-aof}, {preset: kafka}]}"),
	Entry("ladder, as five", "{size: 32Gi, workloads: [{preset: ladder}, {preset: quick}, {preset: vdi}]}"),
	Entry("a preset of several streams with fields of its workload", with("preset: sql, durationSeconds: 120, fileSize: 10Gi, seed: 7")),
	Entry("eight streams", streams(strings.Join([]string{stream("a", ""), stream("b", ""), stream("c", ""), stream("d", ""),
		stream("e", ""), stream("f", ""), stream("g", ""), stream("h", "")}, ", "), "")),
	Entry("single streams do not count", "{size: 32Gi, workloads: [{preset: sql}, {preset: vdi-fleet}, {name: x, streams: ["+stream("a", "")+", "+stream("b", "")+"]}, "+
		"{name: w, streams: ["+stream("a", "")+", "+stream("b", "")+"]}, {name: v, streams: ["+stream("a", "")+"]}, {preset: vdi}]}"),
	Entry("everything about streams", streams("{name: data, pattern: Random, readPercent: 70, blockSize: 8Ki, threads: 4, queueDepth: 32, rateLimitIOPS: 1500, range: {startPercent: 25}, "+
		"distribution: {type: Hotspot, ioPercent: 95, rangePercent: 5}, sync: WriteThrough}, {name: log, pattern: Sequential, randomPercent: 20, readPercent: 0, blockSize: 32Ki, "+
		"range: {endPercent: 25}, distribution: {type: Zipf}, sync: Flush, flushEvery: 8}, {name: scan, pattern: Sequential, readPercent: 100, blockSize: 1Mi, threads: 2, sequentialOffset: Shared}", ", verification: Checksum, operations: 1000000")),
	Entry("flushes beside the writes", writes("sync: Flush, flushIntervalSeconds: 30")),
	Entry("a preset's flushes, rarer", with("preset: etcd, flushEvery: 10")),
	Entry("a preset's flushes, in time", with("preset: postgres-wal, flushIntervalSeconds: 5")),
	Entry("a preset's journal, written through", with("preset: postgres-wal, sync: WriteThrough")),
	Entry("any block through the page cache", custom("2300, directIO: Disabled, threads: 8")),
	Entry("the smallest block", custom("1, directIO: Disabled")),
	Entry("any block of a stream through the page cache", streams("{name: a, pattern: Sequential, readPercent: 0, blockSize: 100}", ", directIO: Disabled")),
	Entry("a preset through the page cache", with("preset: randread, directIO: Disabled, queueDepth: 1")),
	Entry("buffered I/O with the engine that it has", "{size: 32Gi, engine: {ioEngine: Sync}, workloads: [{preset: etcd}]}"),
	Entry("a new file of a preset that writes", with("preset: randwrite, layout: Preallocated")),
	Entry("a file that grows", writes("layout: Append, range: {startPercent: 0, endPercent: 100}")),
	Entry("a stream that grows its file", streams("{name: a, pattern: Sequential, readPercent: 0, blockSize: 4Ki}", ", layout: Append")),
	Entry("a preset that appends, in small blocks", with("preset: redis-aof, blockSize: 100")),
	Entry("a preset's journal on a block device", "{size: 32Gi, volumeMode: Block, workloads: [{preset: etcd, layout: Written}, {preset: postgres-wal}]}"),
	Entry("a check of a preset that reads and writes", with("preset: quick, verification: Checksum")),
	Entry("no check, said so", writes("verification: None")),
	Entry("a file as large as a block device", "{size: 32Gi, volumeMode: Block, workloads: [{preset: vdi, fileSize: 32Gi}]}"),
	Entry("a preset beside its variation", "{size: 2Ti, workloads: [{preset: vdi}, {preset: vdi, name: vdi-qd32, queueDepth: 32}]}"),
	Entry("profile alone", with("preset: profile")),
	Entry("eight workloads after expansion", "{size: 32Gi, workloads: [{preset: quick}, {preset: latency}, {preset: vdi}, {preset: oltp}, {preset: seqread}, {preset: seqwrite}]}"),
	Entry("everything else", of(`storageClassName: fast, volumeMode: Block, repetitions: 6, cleanup: OnSuccess, runToken: "7", suspend: true,
		engine: {ioEngine: LibAIO, image: "example.com/diskbench:v1"}, timeouts: {blockedSeconds: 60, provisioningSeconds: 60, schedulingSeconds: 60, preparingSeconds: 60, runningSeconds: 60, cleanupSeconds: 60},
		targets: {workload: vdi, minIOPS: 500, maxP99Micros: 20000, maxFlushP99Micros: 10000, onMiss: Fail}, cost: {region: westeurope, currency: EUR, fleetSize: 2500, busyHoursPercent: 20, costPerMonth: "12.50"},
		pod: {nodeSelector: {kubernetes.io/os: linux}, tolerations: [{operator: Exists}], resources: {requests: {cpu: 1}}, labels: {team: storage}, annotations: {a: b}, priorityClassName: low, imagePullSecrets: [{name: x}], runtimeClassName: kata, runAsUser: 1000, supplementalGroups: [2000]}`)),
)

var _ = Describe("each sample", func() {
	It("is accepted, and has a plan", func() {
		files, err := filepath.Glob("../../config/samples/*.yaml")
		Expect(err).NotTo(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">", 5))
		for _, file := range files {
			data, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			var b v1alpha1.DiskBenchmark
			Expect(yaml.Unmarshal(data, &b)).To(Succeed(), file)
			if b.Kind != "DiskBenchmark" {
				continue
			}
			Expect(yaml.UnmarshalStrict(data, &b)).To(Succeed(), file)
			u := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal(data, &u.Object)).To(Succeed(), file)
			u.SetNamespace("default")
			Expect(create(u)).To(Succeed(), file)
			_, err = plan.Build(&b.Spec)
			Expect(err).NotTo(HaveOccurred(), file)
		}
	})
})

var _ = Describe("the stored object", func() {
	It("keeps a preset's fields unset, since a default would override the preset", func() {
		u := manifest(sized("32Gi"))
		Expect(create(u)).To(Succeed())
		Expect(u.Object["spec"]).To(Equal(map[string]any{
			"size": "32Gi", "workloads": []any{map[string]any{"preset": "vdi"}},
		}))
	})

	It("says that its status is about no generation yet, so that GitOps tools wait", func() {
		u := manifest(sized("32Gi"))
		Expect(create(u)).To(Succeed())
		Expect(u.Object["status"]).To(HaveKeyWithValue("observedGeneration", int64(-1)))
	})

	It("is read into the Go types with its quantities", func() {
		u := manifest(custom("0.5Ki"))
		Expect(create(u)).To(Succeed())
		var b v1alpha1.DiskBenchmark
		Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(u), &b)).To(Succeed())
		Expect(b.Spec.Size.Value()).To(Equal(int64(32 << 30)))
		Expect(b.Spec.Workloads[0].BlockSize.Value()).To(Equal(int64(512)))
	})

	It("has a name that fits a label", func() {
		u := manifest(sized("32Gi"))
		u.SetGenerateName("")
		u.SetName(strings.Repeat("x", 64))
		Expect(create(u)).To(MatchError(ContainSubstring("metadata.name must be at most 63 characters: it becomes a label value")))
		u.SetName(strings.Repeat("x", 63))
		Expect(create(u)).To(Succeed())
	})

	It("can be edited as far as its parts allow, such as being suspended", func() {
		u := manifest(sized("32Gi"))
		Expect(create(u)).To(Succeed())
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, true))
		Expect(k8s.Patch(context.Background(), u, patch)).To(Succeed())
		Expect(u.GetGeneration()).To(Equal(int64(2)))
	})
})
