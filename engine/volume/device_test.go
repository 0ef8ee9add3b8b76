// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package volume_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/diskbench/diskbench/engine"
	"github.com/diskbench/diskbench/engine/disktest"
	"github.com/diskbench/diskbench/engine/report"
	"github.com/diskbench/diskbench/engine/volume"
	"github.com/diskbench/diskbench/engine/workload"
)

// loadOn is a plan for devices that covers every block of them, from the first on, many times.
func loadOn(readPercent int, verify bool, devices ...string) workload.Plan {
	p := workload.Plan{
		Target: workload.BlockDevice, Sets: [][]string{devices}, IOEngine: workload.LibAIO, Repetitions: 1,
		Workloads: []workload.Workload{{
			Name: "sequential", FileSizeBytes: 2 * mib, Layout: workload.Written, DirectIO: workload.DirectRequired, Verify: verify,
			Streams: []workload.Stream{{
				Pattern: workload.Sequential, ReadPercent: readPercent, BlockSizeBytes: 4096, Threads: 1, QueueDepth: 4,
				Range:        workload.Whole,
				Distribution: workload.Distribution{Type: workload.Uniform}, Sync: workload.SyncNone,
			}},
			Duration: workload.Duration(100 * time.Millisecond), Seed: 1,
		}},
	}
	if len(devices) > 1 {
		p.StripeSizeBytes = 64 * kib
	}
	return p
}

// run measures, and makes sure that all of the device was used.
func run(t *testing.T, p workload.Plan, prepared bool) {
	t.Helper()
	for range 10 { // on a machine that has little time for us
		r, err := engine.Run(t.Context(), p, engine.Options{Prepared: prepared})
		if err != nil {
			t.Fatal(err)
		}
		if r.Workloads[0].Total.Bytes >= p.Workloads[0].FileSizeBytes {
			return
		}
		p.Workloads[0].Duration *= 2
	}
	t.Fatal("the device is too slow")
}

func read(t *testing.T, device string, at int64, n int) []byte {
	t.Helper()
	f, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	b := make([]byte, n)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, device string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(device, os.O_WRONLY|os.O_SYNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is synchronous
	if _, err := f.WriteAt([]byte(text), at); err != nil {
		t.Fatal(err)
	}
}

// A workload of writes overwrites the first sector. The device stays one of ours for the next run, for the
// next 'prepare', and for another run of what was prepared.
func TestWritesLeaveTheDeviceOurs(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib)
	writes := loadOn(0, false, device)
	run(t, writes, false)
	run(t, writes, false)
	if err := engine.Prepare(t.Context(), writes, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	run(t, writes, true)
	run(t, writes, true)
}

// The first sector of a prepared device holds a mark, and that of a measured one verifiable data: all of it
// is read, and what is wrong there is found.
func TestVerifyPreparedDevices(t *testing.T) {
	for _, tt := range []struct {
		why     string
		options []string
		devices int
	}{
		{"one device", nil, 1},
		{"with sectors of 4 KiB", []string{"--sector-size", "4096"}, 1},
		{"striped: each member has a mark", nil, 2},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var devices []string
			for range tt.devices {
				devices = append(devices, disktest.Loop(t, disktest.MemoryDir(t), 16*mib, tt.options...))
			}
			reads, mixed := loadOn(100, true, devices...), loadOn(50, true, devices...)
			if err := engine.Prepare(t.Context(), reads, engine.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, p := range []workload.Plan{reads, mixed, reads} {
				run(t, p, true)
			}
			last := devices[len(devices)-1]
			write(t, last, 4096+100, "other data")
			_, err := engine.Run(t.Context(), reads, engine.Options{Prepared: true})
			failed(t, err, report.ReasonDataCorruption)
		})
	}
}

// A run without checksums leaves blocks without, which is no corruption.
func TestPreparedDeviceLosesItsSeals(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib)
	verified, plain := loadOn(50, true, device), loadOn(50, false, device)
	if err := engine.Prepare(t.Context(), verified, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	run(t, verified, true)
	run(t, plain, true)
	_, err := engine.Run(t.Context(), verified, engine.Options{Prepared: true})
	failed(t, err, report.ReasonTargetNotFound, device+" was laid out without the checksums")
}

// RAID of version 1.2, bcache and others leave the first sector as it is: the mark does not say that the
// device is ours.
func TestPreparedDeviceTakenByOthers(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib)
	p := loadOn(0, false, device)
	if err := engine.Prepare(t.Context(), p, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	const raid = "\xfc\x4e\x2b\xa9"
	write(t, device, 4096, raid)
	before := string(read(t, device, 0, 8192))
	_, err := engine.Run(t.Context(), p, engine.Options{Prepared: true})
	failed(t, err, report.ReasonDeviceInUse, device+" was prepared, and carries a Linux RAID member since", "--overwrite-device")
	_, err = engine.Run(t.Context(), p, engine.Options{})
	failed(t, err, report.ReasonDeviceInUse, device+" carries a Linux RAID member, which would be destroyed")
	if string(read(t, device, 0, 8192)) != before {
		t.Error("the refusals have written to the device")
	}
}

// Metadata at the end of a device is as good as that at its start, until it is allowed to be overwritten: what
// a run has not got to then says nothing any more.
func TestMetadataAtTheEnd(t *testing.T) {
	for _, tt := range []struct {
		why    string
		before int64
		magic  string
		text   string
	}{
		{"the second header of a GPT whose first is gone", 512, "EFI PART", "a GPT partition table at its end"},
		{"RAID of version 1.0", 8192, "\xfc\x4e\x2b\xa9", "a Linux RAID member's metadata at its end"},
		{"RAID of version 0.90", 65536, "\xfc\x4e\x2b\xa9", "a Linux RAID member's metadata at its end"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			device := disktest.Loop(t, disktest.MemoryDir(t), 16*mib)
			write(t, device, 16*mib-tt.before, tt.magic)
			p := loadOn(0, false, device)
			_, err := engine.Run(t.Context(), p, engine.Options{})
			failed(t, err, report.ReasonDeviceInUse, device+" carries "+tt.text)
			if head := string(read(t, device, 0, 4096)); head != string(make([]byte, 4096)) {
				t.Error("the refusal has written to the device")
			}
			p.OverwriteDevice = true
			run(t, p, false)
			p.OverwriteDevice = false
			run(t, p, false)
		})
	}
}

// A layout that was interrupted leaves random data, which is nobody's, and is not prepared.
func TestInterruptedLayoutOfADevice(t *testing.T) {
	device := disktest.Loop(t, disktest.MemoryDir(t), 64*mib)
	p := loadOn(0, false, device)
	p.Workloads[0].FileSizeBytes = 64 * mib
	ctx, cancel := context.WithCancel(t.Context())
	s := ready(t, workload.BlockDevice, 0, device)
	err := s.Fill(ctx, 64*mib, volume.FillOptions{Seed: 1}, func(done int64) {
		if done >= 4*mib {
			cancel()
		}
	})
	s.Discard()
	failed(t, err, report.ReasonInterrupted)
	_, err = engine.Run(t.Context(), p, engine.Options{Prepared: true})
	failed(t, err, report.ReasonTargetNotFound, "was not prepared")
	write(t, device, 0x438, "\x53\xef") // as chance may have it
	run(t, p, false)
}

// Sets whose disks differ in their sectors are each verified by their own.
func TestVerifySetsOfDifferentSectors(t *testing.T) {
	p := loadOn(50, true, disktest.Loop(t, disktest.MemoryDir(t), 16*mib))
	p.Sets = append(p.Sets, []string{disktest.Loop(t, disktest.MemoryDir(t), 16*mib, "--sector-size", "4096")})
	p.Repetitions = 2
	if err := engine.Prepare(t.Context(), p, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	run(t, p, true)
}
