// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Behavior is how a filesystem answers reads and writes.
type Behavior struct {
	// Delays are how long operations take, one after another and over again; none: no delay.
	Delays []time.Duration
	// StallAfter the behavior was set, nothing is answered for the time of Stall.
	StallAfter, Stall time.Duration
	// OnlySize is the size in bytes of the operations that fail or hang, 0 for any. From the one
	// with the number After, counted from 0, they fail with Errno, or hang until released.
	OnlySize int
	After    int
	Errno    syscall.Errno
	Hang     bool
}

// Operation is a read or write as the filesystem saw it.
type Operation struct {
	// Handle is the number of the open file, counted from 1 in the order of opening.
	Handle uint64
	Write  bool
	Offset int64
	Size   int
	// Arrived is when, since the filesystem began, and Took how long until it was answered.
	Arrived, Took time.Duration
}

const (
	rootNode = fuse.FUSE_ROOT_ID
	// capacity is what statfs says, in bytes.
	capacity  = int64(1) << 30
	blockSize = 4096
)

// node is a file; its data is in memory.
type node struct {
	mu   sync.RWMutex
	data []byte
}

// filesystem is one folder of files with a programmable delay, whose every read and write passes the
// page cache and is recorded.
type filesystem struct {
	fuse.RawFileSystem
	base time.Time

	mu       sync.Mutex
	nodes    map[uint64]*node
	names    map[string]uint64
	nextNode uint64
	handles  uint64
	log      []Operation

	behavior Behavior
	// since is when the behavior was set, served and matched how many operations there were since,
	// of any size and of OnlySize.
	since           time.Duration
	served, matched int
	released        chan struct{}
	// hanging is how many operations wait for their release.
	hanging int
}

func newFilesystem() *filesystem {
	return &filesystem{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), base: time.Now(),
		nodes: map[uint64]*node{}, names: map[string]uint64{}, nextNode: rootNode + 1, released: make(chan struct{}),
	}
}

// set changes the behavior, lets go of what hangs and counts from 0 again.
func (f *filesystem) set(b Behavior) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.released)
	f.released = make(chan struct{})
	f.behavior, f.since, f.served, f.matched = b, time.Since(f.base), 0, 0
}

// operations gives what was recorded since it was last asked.
func (f *filesystem) operations() []Operation {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = make([]Operation, 0, 1<<20)
	return log
}

// files are the names in the folder.
func (f *filesystem) files() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.names))
}

// fate is what becomes of an operation.
type fate struct {
	until time.Duration
	errno syscall.Errno
	hang  <-chan struct{}
}

// decide finds the fate of an operation that arrived at this time.
func (f *filesystem) decide(arrived time.Duration, size int) fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, out := &f.behavior, fate{}
	if n := len(b.Delays); n > 0 {
		out.until = arrived + b.Delays[f.served%n]
	}
	f.served++
	begin := f.since + b.StallAfter
	if end := begin + b.Stall; out.until >= begin && arrived < end || arrived >= begin && arrived < end {
		out.until = max(out.until, end)
	}
	if b.OnlySize != 0 && b.OnlySize != size {
		return out
	}
	if f.matched++; f.matched > b.After {
		out.errno = b.Errno
		if b.Hang {
			out.hang = f.released
		}
	}
	return out
}

// serve lets an operation take its time, and records it.
func (f *filesystem) serve(handle uint64, write bool, offset uint64, size int) fuse.Status {
	arrived := time.Since(f.base)
	fate := f.decide(arrived, size)
	if fate.hang != nil {
		f.hang(1)
		<-fate.hang
		f.hang(-1)
	}
	sleepUntil(f.base, fate.until)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, Operation{
		Handle: handle, Write: write, Offset: int64(offset), Size: size, Arrived: arrived, Took: time.Since(f.base) - arrived,
	})
	return fuse.Status(fate.errno)
}

func (f *filesystem) hang(more int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hanging += more
}

// stuck is how many operations hang.
func (f *filesystem) stuck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hanging
}

// sleepUntil blocks the thread: the runtime's own timers are late by up to a millisecond.
func sleepUntil(base time.Time, until time.Duration) {
	for {
		left := until - time.Since(base)
		if left <= 0 {
			return
		}
		t := unix.NsecToTimespec(int64(left))
		_ = unix.Nanosleep(&t, nil) // cut short by a signal, it looks again
	}
}

func (f *filesystem) find(id uint64) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[id]
}

func (f *filesystem) newHandle() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handles++
	return f.handles
}

func (f *filesystem) attributes(id uint64, out *fuse.Attr) fuse.Status {
	out.Ino, out.Nlink, out.Blksize = id, 1, blockSize
	if id == rootNode {
		out.Mode = unix.S_IFDIR | 0o700
		return fuse.OK
	}
	n := f.find(id)
	if n == nil {
		return fuse.ENOENT
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	out.Mode, out.Size = unix.S_IFREG|0o600, uint64(len(n.data))
	out.Blocks = out.Size / 512
	return fuse.OK
}

// GetAttr is stat(2).
func (f *filesystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.attributes(in.NodeId, &out.Attr)
}

// SetAttr changes the size; all else stays.
func (f *filesystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if n := f.find(in.NodeId); n != nil && in.Valid&fuse.FATTR_SIZE != 0 {
		n.resize(int64(in.Size))
	}
	return f.attributes(in.NodeId, &out.Attr)
}

func (n *node) resize(size int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if size <= int64(len(n.data)) {
		n.data = n.data[:size]
		return
	}
	n.data = append(n.data, make([]byte, size-int64(len(n.data)))...)
}

// Lookup finds a file by its name.
func (f *filesystem) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	id, found := f.names[name]
	f.mu.Unlock()
	if !found {
		return fuse.ENOENT
	}
	out.NodeId = id
	return f.attributes(id, &out.Attr)
}

// Create makes a file and opens it.
func (f *filesystem) Create(_ <-chan struct{}, _ *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	f.mu.Lock()
	id := f.nextNode
	f.nextNode++
	f.nodes[id], f.names[name] = &node{}, id
	f.mu.Unlock()
	out.NodeId = id
	f.open(&out.OpenOut)
	return f.attributes(id, &out.Attr)
}

// Open opens a file.
func (f *filesystem) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.open(out)
	return fuse.OK
}

func (f *filesystem) open(out *fuse.OpenOut) {
	out.Fh = f.newHandle()
	out.OpenFlags = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES
}

// Unlink takes the name away; who has the file open keeps it.
func (f *filesystem) Unlink(_ <-chan struct{}, _ *fuse.InHeader, name string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.names, name)
	return fuse.OK
}

// Rename changes the name, in place of another file that has it.
func (f *filesystem) Rename(_ <-chan struct{}, _ *fuse.RenameIn, from, to string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names[to] = f.names[from]
	delete(f.names, from)
	return fuse.OK
}

// Forget frees a file that nobody has any more.
func (f *filesystem) Forget(id, _ uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(slices.Collect(maps.Values(f.names)), id) {
		delete(f.nodes, id)
	}
}

// Read answers with the data after its delay.
func (f *filesystem) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n := f.find(in.NodeId)
	if n == nil {
		return nil, fuse.ENOENT
	}
	if status := f.serve(in.Fh, false, in.Offset, len(buf)); status != fuse.OK {
		return nil, status
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if int64(in.Offset) >= int64(len(n.data)) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	return fuse.ReadResultData(buf[:copy(buf, n.data[in.Offset:])]), fuse.OK
}

// Write takes the data after its delay.
func (f *filesystem) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	n := f.find(in.NodeId)
	if n == nil {
		return 0, fuse.ENOENT
	}
	if status := f.serve(in.Fh, true, in.Offset, len(data)); status != fuse.OK {
		return 0, status
	}
	end := int64(in.Offset) + int64(len(data))
	n.mu.RLock()
	short := int64(len(n.data)) < end
	n.mu.RUnlock()
	if short {
		n.resize(end)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return uint32(copy(n.data[in.Offset:], data)), fuse.OK
}

// Fallocate makes room, as the engine does before it writes.
func (f *filesystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	n := f.find(in.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	if in.Mode != 0 {
		return fuse.Status(unix.EOPNOTSUPP)
	}
	n.mu.RLock()
	size := int64(len(n.data))
	n.mu.RUnlock()
	n.resize(max(size, int64(in.Offset+in.Length)))
	return fuse.OK
}

// Fsync has nothing to do: memory is all there is.
func (f *filesystem) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }

// OpenDir lets the engine open the folder.
func (f *filesystem) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

// StatFs says that there is room.
func (f *filesystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = blockSize, blockSize, 255
	out.Blocks = uint64(capacity / blockSize)
	out.Bfree, out.Bavail = out.Blocks, out.Blocks
	return fuse.OK
}
