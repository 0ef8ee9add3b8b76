// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/workload"
)

// beTheEngine makes this test binary the command itself, so that tests meet it as users do: with
// exit codes, signals and another user.
const beTheEngine = "DISKBENCH_TEST_BE_THE_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(beTheEngine) != "" {
		main()
	}
	os.Exit(m.Run())
}

// outcome is how a process ended.
type outcome struct {
	code           int
	stdout, stderr string
}

func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), beTheEngine+"=1")
	return c
}

func finish(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func diskbench(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, command(os.Args[0], args...))
}

func expect(t *testing.T, o outcome, reason report.Reason, text string) {
	t.Helper()
	if o.code != reason.ExitCode() || !strings.Contains(o.stderr, string(reason)+": ") || !strings.Contains(o.stderr, text) {
		t.Errorf("exit code %d, want %d of %s: ...%s...\n%s", o.code, reason.ExitCode(), reason, text, o.stderr)
	}
	if o.stdout != "" {
		t.Errorf("standard output is for results: %s", o.stdout)
	}
}

func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".diskbench*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStandaloneJSON(t *testing.T) {
	dir := disktest.Dir(t)
	o := diskbench(t, "run", "--path", dir, "--preset", "latency", "--duration", "500ms", "--warmup", "0s", "--file-size", "16Mi", "--progress", "json", "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	var got result
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	if !got.DirectIO || got.IOEngine == "" || !slices.Equal(got.Target.Paths, []string{dir}) || got.EngineVersion != "dev" {
		t.Errorf("%+v", got)
	}
	if len(got.Workloads) != 2 || got.Workloads[0].Name != "latency-read" || got.Workloads[1].Name != "latency-write" {
		t.Fatalf("workloads %+v", got.Workloads)
	}
	read := got.Workloads[0]
	if read.Write != nil || read.Read == nil || read.Total == nil {
		t.Errorf("directions of a read workload: %+v", read)
	}
	if p := read.Parameters; p.FileSizeBytes != 16<<20 || p.Duration != workload.Duration(500*time.Millisecond) || p.Streams[0].QueueDepth != 1 {
		t.Errorf("parameters %+v", p)
	}
	if f := read.Total; f.Bytes != f.Operations*4096 || math.Abs(f.IOPS-float64(f.Operations)/0.5) > 0.01 {
		t.Errorf("figures %+v", f)
	}
	for _, key := range []string{`"latencyMicros": {`, `"mean"`, `"stddev"`, `"min"`, `"max"`, `"p50"`} {
		if !strings.Contains(o.stdout, key) {
			t.Errorf("no %s in the result", key)
		}
	}
	// A slow or busy machine makes fewer than the 1,000 I/Os of a p99 in half a second.
	if f := read.Total; (f.LatencyMicros.P99 != nil) != (f.Operations >= 1000) {
		t.Errorf("p99 %v of %d operations", f.LatencyMicros.P99, f.Operations)
	}
	if !strings.Contains(o.stderr, `{"phase":"Preparing","bytesDone":16777216,"bytesTotal":16777216}`) {
		t.Errorf("progress on standard error: %s", o.stderr)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

func TestTable(t *testing.T) {
	dir := disktest.Dir(t)
	o := diskbench(t, "run", "--path", dir, "--pattern", "random", "--read-percent", "70", "--block-size", "8Ki", "--threads", "2",
		"--queue-depth", "1", "--sync", "write-through", "--io-engine", "Sync", "--warmup", "0s", "--duration", "300ms", "--file-size", "16Mi")
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	lines := strings.Split(o.stdout, "\n")
	if fields := strings.Fields(lines[0]); fields[0] != "WORKLOAD" || fields[3] != "IOPS" {
		t.Errorf("header %q", lines[0])
	}
	for i, direction := range []string{"read", "write", "total"} {
		if fields := strings.Fields(lines[i+1]); fields[0] != "custom" || fields[1] != direction {
			t.Errorf("line %q, want custom %s", lines[i+1], direction)
		}
	}
	if !strings.Contains(o.stdout, "I/O engine sync, direct I/O, "+dir+" on ") {
		t.Errorf("no line about the run:\n%s", o.stdout)
	}
}

// planJSON is what the operator passes.
func planJSON(t *testing.T, dir string) (string, []workload.Workload) {
	t.Helper()
	duration, size, depth := workload.Duration(300*time.Millisecond), int64(16<<20), 4
	ws, err := workload.Resolve("quick", "", workload.Override{
		Duration: &duration, Warmup: &duration, FileSizeBytes: &size, Stream: workload.StreamOverride{QueueDepth: &depth},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(workload.Plan{
		Target: workload.Directory, Sets: [][]string{{dir}}, IOEngine: workload.Auto, Repetitions: 2, Workloads: ws,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), ws
}

// In a pod, an init container prepares and a container measures.
func TestPod(t *testing.T) {
	dir, message := disktest.Dir(t), filepath.Join(t.TempDir(), "termination-log")
	plan, ws := planJSON(t, dir)
	if o := diskbench(t, "prepare", "--plan", plan, "--termination-message-path", message); o.code != 0 {
		t.Fatalf("prepare: exit code %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(message); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("prepare left a message although it succeeded: %v", err)
	}
	o := diskbench(t, "run", "--prepared", "--plan", plan, "--termination-message-path", message)
	if o.code != 0 {
		t.Fatalf("run: exit code %d: %s", o.code, o.stderr)
	}
	text, err := os.ReadFile(message)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(text, ws)
	if err != nil {
		t.Fatal(err)
	}
	var last resultLine
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	for i, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is no JSON: %s", i, line)
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Phase != "Completed" || len(last.Result.Workloads) != 2 {
		t.Fatalf("the last line is %+v", last)
	}
	for i, w := range r.Workloads {
		if line := last.Result.Workloads[i].Total; line.Operations != w.Total.Operations || line.IOPS != w.Total.IOPS {
			t.Errorf("%s: the line says %d operations, the message %d", w.Name, line.Operations, w.Total.Operations)
		}
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

func TestPodFailure(t *testing.T) {
	dir, message := disktest.Dir(t), filepath.Join(t.TempDir(), "termination-log")
	plan, ws := planJSON(t, dir)
	o := diskbench(t, "run", "--prepared", "--plan", plan, "--termination-message-path", message)
	if o.code != report.ReasonTargetNotFound.ExitCode() {
		t.Errorf("exit code %d", o.code)
	}
	text, err := os.ReadFile(message)
	if err != nil {
		t.Fatal(err)
	}
	_, err = report.Decode(text, ws)
	if f := (*report.Failure)(nil); !errors.As(err, &f) || f.Reason != report.ReasonTargetNotFound {
		t.Errorf("the message says %v", err)
	}
	if !strings.HasPrefix(o.stdout, `{"phase":"Failed","reason":"TargetNotFound","message":"`) {
		t.Errorf("the last line is %s", o.stdout)
	}
}

func TestRefusals(t *testing.T) {
	dir := disktest.Dir(t)
	custom := []string{"--pattern", "random", "--read-percent", "100", "--block-size", "4Ki"}
	run := func(args ...string) []string { return append([]string{"run", "--path", dir}, args...) }
	tests := []struct {
		why    string
		args   []string
		reason report.Reason
		text   string
	}{
		{"an unknown flag", run("--preset", "vdi", "--depth", "3"), report.ReasonInvalidPlan, "unknown flag: --depth"},
		{"an unknown command", []string{"bench"}, report.ReasonInvalidPlan, `unknown command "bench"`},
		{"an argument without a flag", run("vdi"), report.ReasonInvalidPlan, `unknown command "vdi"`},
		{"no path", []string{"run", "--preset", "vdi"}, report.ReasonInvalidPlan, "--path is missing"},
		{"nothing to measure", run(), report.ReasonInvalidPlan, "give --preset, or --pattern, --read-percent and --block-size"},
		{"an unknown preset", run("--preset", "vdo"), report.ReasonInvalidPlan, `unknown preset "vdo"`},
		{"a preset twice", run("--preset", "vdi", "--preset", "vdi"), report.ReasonInvalidPlan, `name "vdi" is there twice`},
		{"DiskSpd's spelling", run("--preset", "vdi", "--block-size", "4K"), report.ReasonInvalidPlan, "did you mean 4Ki?"},
		{"kilo for kibi", run("--preset", "vdi", "--block-size", "8k"), report.ReasonInvalidPlan, "did you mean 8Ki?"},
		{"no unit", run("--preset", "vdi", "--duration", "60"), report.ReasonInvalidPlan, "such as 60s or 1m30s"},
		{"a duration that no number holds", run("--preset", "vdi", "--duration", "99999999h"), report.ReasonInvalidPlan, `for "--duration" flag: at most 24h`},
		{"a warm-up of days", run("--preset", "vdi", "--warmup", "48h"), report.ReasonInvalidPlan, `for "--warmup" flag: at most 24h`},
		{"a window that is too short", run("--preset", "vdi", "--duration", "1ms"), report.ReasonInvalidPlan, "duration 1ms is outside 100ms to 24h"},
		{"an unknown key of a stream", run("--stream", "depth=3"), report.ReasonInvalidPlan, `unknown key "depth": use one of block-size,`},
		{"a key twice", run("--stream", "threads=3,threads=4"), report.ReasonInvalidPlan, "threads is there twice"},
		{"a key without a value", run("--stream", "threads"), report.ReasonInvalidPlan, "write key=value"},
		{"a wrong value in a stream", run("--stream", "threads=many"), report.ReasonInvalidPlan, "threads=many: write a whole number"},
		{"a preset with streams", run("--preset", "vdi", "--stream", "threads=3"), report.ReasonInvalidPlan, "preset vdi with streams"},
		{"a hotspot without shares", run("--preset", "vdi", "--distribution", "hotspot"), report.ReasonInvalidPlan, "hotspot:95/5"},
		{"a range of one number", run("--preset", "vdi", "--range", "50"), report.ReasonInvalidPlan, "such as 0-50"},
		{"a range that is no number", run("--preset", "vdi", "--range", "NaN-NaN"), report.ReasonInvalidPlan, "range from NaN to NaN percent"},
		{"a stripe over one path", run("--preset", "vdi", "--stripe-size", "64Ki"), report.ReasonInvalidPlan, "stripeSize 65536 with one volume"},
		{"a path twice", run("--path", dir, "--preset", "vdi"), report.ReasonInvalidPlan, "is there twice"},
		{"a disk beside no disk", run("--path", "/dev/zero", "--preset", "vdi"), report.ReasonInvalidPlan, "--path /dev/zero is a NullDevice, the one before a Directory"},
		{"an unknown progress", run("--preset", "vdi", "--progress", "bar"), report.ReasonInvalidPlan, "use one of auto, line, plain, json, none"},
		{"a percent sign", run("--preset", "vdi", "--read-percent", "70%"), report.ReasonInvalidPlan, "write a whole number, such as 4"},
		{"a seed of 2^63", run("--preset", "vdi", "--seed", "9223372036854775808"), report.ReasonInvalidPlan, "a whole number below 2^63"},
		{"an unknown I/O engine", run("--preset", "vdi", "--io-engine", "posixaio"), report.ReasonInvalidPlan, "auto, io_uring"},
		{"an unknown pattern", run("--pattern", "zipf"), report.ReasonInvalidPlan, "use one of random, sequential"},
		{"an unknown form", run("--preset", "vdi", "-o", "xml"), report.ReasonInvalidPlan, "use one of table, json, yaml"},
		{"a queue that sync has not", run(append(custom, "--io-engine", "sync", "--queue-depth", "4")...), report.ReasonInvalidPlan, "queueDepth 4 with ioEngine Sync"},
		{"a plan and flags", []string{"run", "--plan", "{}", "--threads", "2", "--termination-message-path", os.DevNull}, report.ReasonInvalidPlan, "--threads with --plan"},
		{"a path that is not there", []string{"run", "--path", filepath.Join(dir, "none"), "--preset", "vdi"}, report.ReasonTargetNotFound, "no such file"},
		{"a path that is a file", []string{"run", "--path", "/etc/passwd", "--preset", "vdi"}, report.ReasonTargetNotFound, "neither a directory nor a block device"},
		{"a character device", []string{"run", "--path", "/dev/null", "--preset", "vdi"}, report.ReasonTargetNotFound, "neither a directory nor a block device"},
		{"a file too large", run("--preset", "vdi", "--file-size", "1000Ti"), report.ReasonNoSpace, "fileSize 1099511627776000 does not fit on " + dir},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			o := diskbench(t, tt.args...)
			if strings.Contains(strings.Join(tt.args, " "), "--plan") {
				o.stdout = "" // progress of a pod
			}
			expect(t, o, tt.reason, tt.text)
		})
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("%v are left", left)
	}
}

// A field that this version does not know must not be ignored: the result would be of another plan.
func TestPlanIsReadToTheLetter(t *testing.T) {
	dir, message := disktest.Dir(t), filepath.Join(t.TempDir(), "termination-log")
	plan, _ := planJSON(t, dir)
	for _, tt := range []struct{ why, plan, text string }{
		{"a field of a later version", `{"target":"Directory","flush":true}`, `unknown field "flush"`},
		{"a second plan that would never run", plan + plan, "something follows the plan"},
		{"a brace too many", plan + "}", "something follows the plan"},
		{"an empty plan, as of a variable that is not set", "", "--plan is empty"},
	} {
		o := diskbench(t, "run", "--plan", tt.plan, "--termination-message-path", message)
		if o.code != report.ReasonInvalidPlan.ExitCode() || !strings.Contains(o.stderr, tt.text) {
			t.Errorf("%s: exit code %d: %s", tt.why, o.code, o.stderr)
		}
	}
}

func TestMemoryIsRefused(t *testing.T) {
	dir := disktest.MemoryDir(t)
	expect(t, diskbench(t, "run", "--path", dir, "--preset", "vdi"), report.ReasonDirectIOUnsupported, "has no direct I/O")
}

func TestUnwritableDirectoryNamesTheUser(t *testing.T) {
	disktest.NeedRoot(t, "running as another user")
	dir := disktest.Dir(t)
	for p := dir; p != "/"; p = filepath.Dir(p) { // reachable, not writable
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, info.Mode()|0o055); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "engine")
	copyFile(t, os.Args[0], binary)
	c := command(binary, "run", "--path", dir, "--preset", "vdi")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	expect(t, finish(t, c), report.ReasonPermissionDenied, "the engine runs as uid 65532, gid 65532")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// SIGTERM is how Kubernetes ends a pod. What was measured until then is printed, marked as a part.
func TestSIGTERM(t *testing.T) {
	for _, tt := range []struct {
		phase, size, text string
		args              []string
		partial           bool
	}{
		{"laying out", "16Gi", `"phase":"Preparing"`, nil, false}, // longer than the first line of progress takes
		{"warming up", "16Mi", `"phase":"Measuring"`, []string{"--warmup", "1h"}, false},
		{"measuring", "16Mi", `"phase":"Measuring"`, []string{"--warmup", "0s", "--duration", "1h"}, true},
		{"measuring again", "16Mi", `"repetition":2`, []string{"--warmup", "0s", "--duration", "1100ms", "--repetitions", "10"}, true},
		{"draining", "16Mi", `"phase":"Draining"`, []string{"--warmup", "0s", "--duration", "1100ms", "--drain"}, true},
	} {
		t.Run(tt.phase, func(t *testing.T) {
			dir := disktest.Dir(t)
			args := append([]string{"run", "--path", dir, "--preset", "vdi", "--file-size", tt.size, "--progress", "json", "-o", "json"}, tt.args...)
			o := terminated(t, tt.text, args...)
			if o.code != 130 || !strings.Contains(o.stderr, "Interrupted: told to stop") {
				t.Errorf("exit code %d, want 130: %s", o.code, o.stderr)
			}
			if (o.stdout != "") != tt.partial {
				t.Fatalf("standard output: %q", o.stdout)
			}
			if tt.partial {
				var got result
				if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
					t.Fatal(err)
				}
				if !got.Interrupted || len(got.Workloads) != 1 || got.Workloads[0].Total == nil || got.Workloads[0].Total.Operations == 0 {
					t.Errorf("the part is %+v", got)
				}
			}
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// The operator reads the failure; whoever reads the log finds the part above it.
func TestSIGTERMInAPod(t *testing.T) {
	message := filepath.Join(t.TempDir(), "termination-log")
	var p workload.Plan
	text, ws := planJSON(t, disktest.Dir(t))
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Workloads {
		p.Workloads[i].Warmup, p.Workloads[i].Duration = 0, workload.Seconds(600)
	}
	long, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	o := terminated(t, `"phase":"Measuring"`, "run", "--plan", string(long), "--termination-message-path", message)
	if o.code != 130 {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if n := len(lines); n < 3 || !strings.HasPrefix(lines[n-2], `{"phase":"Interrupted","result":{"interrupted":true,`) ||
		!strings.HasPrefix(lines[n-1], `{"phase":"Failed","reason":"Interrupted",`) {
		t.Errorf("the last lines are %q", lines[max(n-2, 0):])
	}
	said, err := os.ReadFile(message)
	if err != nil {
		t.Fatal(err)
	}
	_, err = report.Decode(said, ws)
	if f := (*report.Failure)(nil); !errors.As(err, &f) || f.Reason != report.ReasonInterrupted {
		t.Errorf("the message says %v", err)
	}
}

// terminated runs the engine until it has said text, and tells it to stop.
func terminated(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	log, printed := filepath.Join(t.TempDir(), "stderr"), filepath.Join(t.TempDir(), "stdout")
	stderr, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close() //nolint:errcheck // the process writes to it
	stdout, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close() //nolint:errcheck // likewise
	progress := log
	if slices.Contains(args, "--plan") {
		progress = printed
	}
	c := command(os.Args[0], args...)
	c.Stdout, c.Stderr = stdout, stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill() //nolint:errcheck // in case the test ends early
	waitFor(t, progress, text)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code is looked at by the caller
	said, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	result, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), string(result), string(said)}
}

func waitFor(t *testing.T, file, text string) {
	t.Helper()
	var content []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		content, _ = os.ReadFile(file)
		if bytes.Contains(content, []byte(text)) {
			return
		}
		if bytes.Contains(content, []byte("NoSpace")) {
			t.Skipf("too little room: %s", content)
		}
	}
	t.Fatalf("no %s in time in:\n%s", text, content)
}

// A killed engine leaves nothing either: the file never has a name while it is written or measured.
func TestSIGKILL(t *testing.T) {
	for _, tt := range []struct{ phase, fileSize string }{
		{"Preparing", "16Gi"}, // longer than the first line of progress takes
		{"Measuring", "16Mi"},
	} {
		t.Run(tt.phase, func(t *testing.T) {
			dir, log := disktest.Dir(t), filepath.Join(t.TempDir(), "log")
			stderr, err := os.Create(log)
			if err != nil {
				t.Fatal(err)
			}
			c := command(os.Args[0], "run", "--path", dir, "--preset", "vdi", "--file-size", tt.fileSize, "--progress", "json")
			c.Stderr = stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, log, `"phase":"`+tt.phase)
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if left := leftovers(t, dir); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// The kernel allows a device 500 reads a second: that, and the latency that follows from it, is
// what must be reported. A worker that gets no processor in time cannot use its share, and the
// other packages' tests may take both: one of three tries has to find the machine quiet. An engine
// that counts wrongly fails all of them.
func TestKernelCap(t *testing.T) {
	const iops, depth, tries = 500, 16, 3
	device := disktest.Loop(t, disktest.MemoryDir(t), 64<<20, "--direct-io=on")
	g := disktest.NewGroup(t)
	g.Limit(t, device, disktest.Caps{ReadIOPS: iops})
	for try := range tries {
		w := measureCapped(t, device, g.Procs(), depth)
		outstanding := w.Total.IOPS * w.Total.LatencyMicros.Mean / 1e6
		t.Logf("%.1f IOPS, mean %.0f µs, %.2f outstanding, worker at %d%%",
			w.Total.IOPS, w.Total.LatencyMicros.Mean, outstanding, w.CPU.BusiestWorkerPercent)
		if math.Abs(w.Total.IOPS-iops) <= 0.02*iops && math.Abs(outstanding-depth) <= 0.02*depth && w.CPU.BusiestWorkerPercent <= 20 {
			return
		}
		if try == tries-1 {
			t.Errorf("want %d IOPS, %d outstanding and at most 20%% of a core", iops, depth)
		}
	}
}

// measureCapped reads from the device as a member of the control group with this cgroup.procs.
func measureCapped(t *testing.T, device, procs string, depth int) workloadResult {
	t.Helper()
	// The shell joins the group and becomes the engine.
	c := command("sh", "-c", `echo $$ > "$0" && exec "$@"`, procs, os.Args[0], "run", "--path", device, "--pattern", "random",
		"--read-percent", "100", "--block-size", "4Ki", "--queue-depth", strconv.Itoa(depth), "--io-engine", "libaio",
		"--warmup", "1s", "--duration", "10s", "--file-size", "64Mi", "-o", "json")
	o := finish(t, c)
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.stderr)
	}
	var got result
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
		t.Fatal(err)
	}
	return got.Workloads[0]
}

func TestVersionAndHelp(t *testing.T) {
	if o := diskbench(t, "version"); o.code != 0 || o.stdout != "dev\n" {
		t.Errorf("%+v", o)
	}
	o := diskbench(t, "run", "--help")
	for _, text := range []string{"--queue-depth", "--io-engine auto|io_uring|libaio|sync", "  9  NoSpace", "130  Interrupted",
		"\nTarget:\n", "\nWorkload:\n", "\nStream:\n", "\nOutput:\n"} {
		if !strings.Contains(o.stdout, text) {
			t.Errorf("no %q in the help:\n%s", text, o.stdout)
		}
	}
}
