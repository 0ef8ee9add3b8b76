// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package accuracy

import (
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// The filesystem lives in a process of its own, so that neither its threads nor its garbage are the
// engine's, and is told what to do through its standard input and output.

// serveThreads is more than the operations that wait in it at the same time.
const serveThreads = 256

// Server is the remote side of a mount. Its methods have the shape that net/rpc asks for.
type Server struct{ fs *filesystem }

// Set changes the behavior.
func (s *Server) Set(b Behavior, _ *int) error {
	s.fs.set(b)
	return nil
}

// Operations gives what was recorded since the last call.
func (s *Server) Operations(_ int, out *[]Operation) error {
	*out = s.fs.operations()
	return nil
}

// Files gives the names in the folder.
func (s *Server) Files(_ int, out *[]string) error {
	*out = s.fs.files()
	return nil
}

// Stuck gives the number of operations that hang.
func (s *Server) Stuck(_ int, out *int) error {
	*out = s.fs.stuck()
	return nil
}

type standardStreams struct {
	io.Reader
	io.WriteCloser
}

// serveFilesystem is the life of that process: it mounts at the directory and unmounts when its
// standard input ends.
func serveFilesystem(directory string) error {
	runtime.GOMAXPROCS(serveThreads) // sleeping threads each hold a processor of the runtime for a while
	fs := newFilesystem()
	server, err := fuse.NewServer(fs, directory, &fuse.MountOptions{
		DirectMountStrict: true, FsName: "diskbench-accuracy", Name: "accuracy", DisableXAttrs: true,
		MaxBackground: 1024, MaxWrite: 1 << 20,
		// Without it io_submit(2) would wait for each answer.
		ExtraCapabilities: fuse.CAP_ASYNC_DIO,
	})
	if err != nil {
		return fmt.Errorf("mount of a FUSE filesystem: %w", err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return err
	}
	control := rpc.NewServer()
	if err := control.Register(&Server{fs: fs}); err != nil {
		return err
	}
	control.ServeConn(standardStreams{os.Stdin, os.Stdout})
	fs.set(Behavior{}) // lets go of what hangs
	return unmount(server, directory)
}

// unmount waits a little for the kernel, which may hold on to a file that a ring used after its process
// has ended.
func unmount(server *fuse.Server, directory string) error {
	var err error
	for range 50 {
		if err = server.Unmount(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.Join(err, unix.Unmount(directory, unix.MNT_DETACH))
}

// mount is a mounted filesystem, seen from a test.
type mount struct {
	dir    string
	client *rpc.Client
}

type childStreams struct {
	io.Reader
	io.WriteCloser
}

// newMount mounts a filesystem until the test ends.
func newMount(t *testing.T) *mount {
	t.Helper()
	needRoot(t)
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	m := &mount{dir: t.TempDir()}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVariable+"="+filesystemRole, directoryVariable+"="+m.dir)
	c.Stderr = os.Stderr
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut, c.Start()); err != nil {
		t.Fatal(err)
	}
	m.client = rpc.NewClient(childStreams{out, in})
	t.Cleanup(func() {
		_ = m.client.Close() // ends the child, whose own end is what counts
		if err := c.Wait(); err != nil {
			t.Errorf("the filesystem's process: %v", err)
		}
	})
	m.set(t, Behavior{}) // returns once it is mounted
	return m
}

func (m *mount) set(t *testing.T, b Behavior) {
	t.Helper()
	if err := m.client.Call("Server.Set", b, new(int)); err != nil {
		t.Fatal(err)
	}
}

func (m *mount) operations(t *testing.T) []Operation {
	t.Helper()
	var log []Operation
	if err := m.client.Call("Server.Operations", 0, &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func (m *mount) files(t *testing.T) []string {
	t.Helper()
	var names []string
	if err := m.client.Call("Server.Files", 0, &names); err != nil {
		t.Fatal(err)
	}
	return names
}

// awaitStuck waits until operations hang.
func (m *mount) awaitStuck(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var n int
		if err := m.client.Call("Server.Stuck", 0, &n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing hangs")
		}
	}
}
