// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/api/v1alpha1"
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

const presetList = "use vdi, oltp, sharepoint, randread, randwrite, seqread, seqwrite, latency, quick or profile"

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
	Entry("less than a byte", custom("500m"), "blockSize 500m is not a multiple of 512 bytes"),
	Entry("0.1Ki is 102.4 bytes", custom("0.1Ki"), "blockSize 0.1Ki is not a multiple of 512 bytes"),
	Entry("zero", custom("0"), "blockSize 0 is outside 512 to 16Mi bytes"),
	Entry("negative", custom("-4096"), "blockSize -4096 is outside 512 to 16Mi bytes"),
	Entry("far above the largest I/O", custom("9Ei"), "blockSize 9Ei is outside 512 to 16Mi bytes"),
	Entry("above the largest I/O", custom("32Mi"), "blockSize 32Mi is outside 512 to 16Mi bytes"),

	Entry("a file without a unit", with("preset: vdi, fileSize: 4000"),
		"fileSize 4000 must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi"),
	Entry("a file below the largest I/O", with("preset: vdi, fileSize: 4Ki"),
		"fileSize 4Ki must be a quantity with a unit from 1Mi to 64Ti, such as 4Gi"),
	Entry("a file as large as its volume leaves no room for the filesystem", with("preset: vdi, fileSize: 32Gi"),
		"fileSize must be smaller than size: a filesystem needs part of the volume for itself"),

	Entry("no volume at all", "{workloads: [{preset: vdi}]}",
		"set size (and optionally storageClassName) for a new volume, or claimName for an existing one"),
	Entry("a claim with a size", "{claimName: data, size: 32Gi, workloads: [{preset: vdi}]}",
		"claimName names an existing volume: remove size, storageClassName, volumeMode, volumeAttributesClassName, volumeCount and stripeSize, or remove claimName"),
	Entry("a claim is never measured as a block device: it would be overwritten", "{claimName: data, volumeMode: Block, workloads: [{preset: vdi}]}",
		"claimName names an existing volume: remove size"),
	Entry("a stripe over one volume", of("stripeSize: 64Ki"), "stripeSize needs volumeCount of 2 or more"),
	Entry("a stripe without a unit", of("stripeSize: 64, volumeCount: 2"),
		"stripeSize 64 must be a quantity with a unit from 4Ki to 16Mi, such as 64Ki"),
	Entry("an unknown volume mode", of("volumeMode: Raw"), `supported values: "Filesystem", "Block"`),
	Entry("too many volumes", of("volumeCount: 65"), "spec.volumeCount in body should be less than or equal to 64"),

	Entry("no workload", "{size: 32Gi, workloads: []}", "spec.workloads"),
	Entry("an unknown preset", with("preset: vdo"), "unknown preset vdo: "+presetList),
	Entry("neither preset nor name", with("pattern: Random, readPercent: 50, blockSize: 4Ki"),
		"a workload needs a preset or, when custom, a name"),
	Entry("a custom workload with parts missing", with("name: x, pattern: Random"),
		"a workload without a preset needs pattern, readPercent and blockSize"),
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
		"at most 8 workloads after expansion: quick and latency measure reads and writes apart and count as two"),
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
		"targets need at least one of minIOPS, minThroughputBytesPerSecond, maxMeanMicros and maxP99Micros"),
	Entry("a target for a workload that is not there", of("targets: {workload: oltp, minIOPS: 500}"),
		"targets.workload oltp is not in workloads: use the name (or preset) of an entry, or remove it to judge all of them"),
	Entry("a currency in words", of("cost: {currency: eur}"),
		"currency must be an ISO 4217 code of three capital letters, such as USD or EUR"),
	Entry("a price that is no number", of("cost: {costPerMonth: '12,50'}"),
		"costPerMonth must be a decimal number in quotes, such as '12.50'"),

	Entry("not yet: striping", of("volumeCount: 2"), "volumeCount above 1 (striping) is not supported by this release: set it to 1 or remove it"),
	Entry("not yet: draining", of("sustained: Drain"), "sustained: Drain is not supported by this release: set it to Predict or remove it"),
	Entry("not yet: new volumes", of("repetitionScope: NewVolume"),
		"repetitionScope: NewVolume is not supported by this release: set it to SameVolume or remove it"),
	Entry("not yet: streams", with("name: x, streams: [{name: log, pattern: Sequential}]"),
		"streams are not supported by this release: write one stream inline (pattern, readPercent, blockSize, threads, queueDepth)"),
	Entry("not yet: flushes", with("preset: vdi, sync: Flush"), "sync: Flush is not supported by this release: use None or WriteThrough"),
	Entry("not yet: flush counts", with("preset: vdi, flushEvery: 1"),
		"flushEvery and flushIntervalSeconds are not supported by this release: remove them"),
	Entry("not yet: rates", with("preset: vdi, rateLimitIOPS: 500"), "rateLimitIOPS is not supported by this release: remove it"),
	Entry("not yet: distributions", with("preset: vdi, distribution: {type: Zipf}"),
		"distribution is not supported by this release: remove it, offsets are uniform"),
	Entry("not yet: ranges", with("preset: vdi, range: {endPercent: 50}"),
		"range is not supported by this release: remove it, the whole file is used"),
	Entry("not yet: layouts", with("preset: vdi, layout: Append"), "layout: Append is not supported by this release: set it to Written or remove it"),
	Entry("not yet: buffered I/O", with("preset: vdi, directIO: Disabled"),
		"directIO: Disabled is not supported by this release: set it to Required or remove it"),
	Entry("not yet: vdi-fleet", with("preset: vdi-fleet"), "preset vdi-fleet is not supported by this release: "+presetList),
	Entry("not yet: sql", with("preset: sql"), "preset sql is not supported by this release: "+presetList),
	Entry("not yet: etcd", with("preset: etcd"), "preset etcd is not supported by this release: "+presetList),
	Entry("not yet: postgres-wal", with("preset: postgres-wal"), "preset postgres-wal is not supported by this release: "+presetList),
	Entry("not yet: redis-aof", with("preset: redis-aof"), "preset redis-aof is not supported by this release: "+presetList),
	Entry("not yet: kafka", with("preset: kafka"), "preset kafka is not supported by this release: "+presetList),
	Entry("not yet: ladder", with("preset: ladder"), "preset ladder is not supported by this release: "+presetList),
)

var _ = DescribeTable("what is right is accepted",
	func(spec string) { Expect(create(manifest(spec))).To(Succeed()) },
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
	Entry("a file as large as a block device", "{size: 32Gi, volumeMode: Block, workloads: [{preset: vdi, fileSize: 32Gi}]}"),
	Entry("a preset beside its variation", "{size: 2Ti, workloads: [{preset: vdi}, {preset: vdi, name: vdi-qd32, queueDepth: 32}]}"),
	Entry("profile alone", with("preset: profile")),
	Entry("eight workloads after expansion", "{size: 32Gi, workloads: [{preset: quick}, {preset: latency}, {preset: vdi}, {preset: oltp}, {preset: seqread}, {preset: seqwrite}]}"),
	Entry("everything else", of(`storageClassName: fast, volumeMode: Block, repetitions: 6, cleanup: OnSuccess, runToken: "7", suspend: true,
		engine: {ioEngine: LibAIO, image: "example.com/diskbench:v1"}, timeouts: {blockedSeconds: 60, provisioningSeconds: 60, schedulingSeconds: 60, preparingSeconds: 60, runningSeconds: 60, cleanupSeconds: 60},
		targets: {workload: vdi, minIOPS: 500, maxP99Micros: 20000, onMiss: Fail}, cost: {region: westeurope, currency: EUR, fleetSize: 2500, busyHoursPercent: 20, costPerMonth: "12.50"},
		pod: {nodeSelector: {kubernetes.io/os: linux}, tolerations: [{operator: Exists}], resources: {requests: {cpu: 1}}, labels: {team: storage}, annotations: {a: b}, priorityClassName: low, imagePullSecrets: [{name: x}], runtimeClassName: kata, runAsUser: 1000, supplementalGroups: [2000]}`)),
)

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
