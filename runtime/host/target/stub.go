package target

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/machine"
)

// stub is an ELF file of the code that starts programs (machine.Machine.Exec).
func stub(m *machine.Machine) []byte {
	const base, head = 0x400000, 64 + 56
	var b bytes.Buffer
	put := func(vs ...any) {
		for _, v := range vs {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	size := uint64(head + len(m.Exec))
	put([16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, uint16(2), uint16(m.ELF), uint32(1), uint64(base+head), uint64(64),
		uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(64), uint16(0), uint16(0))
	put(uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), size, size, uint64(0x1000))
	b.Write(m.Exec)
	return b.Bytes()
}

// stubFile puts the stub where it can be run from, without a name.
func stubFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("gostap-start", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("gostap-start", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "gostap-start")
	if _, err := f.Write(stub(machine.Host)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// held is a process that the stub runs in, stopped in front of its first instruction. Whoever let it go sees the
// exec of the program as the first thing that it does. If the tracer dies before, the kernel kills it.
type held struct {
	cmd *exec.Cmd
	// let is answered once, and nil then: true lets it go, false ends it. ended is closed when that was done.
	let   chan bool
	ended chan struct{}
	err   error
}

// hold starts path with args (argv[0] among them) in the stub.
func hold(cmd *exec.Cmd, path string, args []string) (*held, error) {
	f, err := stubFile()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Path = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	// A process is named after the file that it runs: by a link it has the name of the program from the beginning.
	if dir, err := os.MkdirTemp("", "gostap-start-"); err == nil {
		defer os.RemoveAll(dir)
		if link := filepath.Join(dir, filepath.Base(path)); os.Symlink(cmd.Path, link) == nil {
			cmd.Path = link
		}
	}
	cmd.Args = append([]string{"gostap-start", path}, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	let := make(chan bool, 1)
	h := &held{cmd: cmd, let: let, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// What one thread traces, no other one can let go.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(h.ended)
		err := cmd.Start()
		if err == nil {
			if err = stopped(cmd.Process.Pid); err != nil {
				cmd.Process.Kill()
				cmd.Wait()
			}
		}
		started <- err
		if err != nil {
			return
		}
		if <-let {
			h.err = unix.PtraceDetach(cmd.Process.Pid)
			return
		}
		cmd.Process.Kill()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return h, nil
}

// stopped waits until a process that its parent traces has stopped behind its exec.
func stopped(pid int) error {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	if !ws.Stopped() {
		return fmt.Errorf("the process did not stop")
	}
	return unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL)
}
