// Package target starts the program of -c, held back until the probes are in place,
// and watches it or the process of -x until it ends.
package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Target is a process under trace.
type Target struct {
	Pid int

	cmd    *exec.Cmd
	held   *held    // the stub that waits, or
	gate   *os.File // what the shell waits for
	later  func()   // what is done when the command runs
	pidfd  int
	done   chan struct{}
	status string // how it ended when not well, "" otherwise
}

// Options describe the child of -c.
type Options struct {
	Command        string // as the user typed it, for the shell
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string
	Dir            string
}

// Start starts the command and holds it until Release. A command of words, quotes and redirections alone is run
// itself, as the process of the target; what has more signs of the shell is run by one, as stap does. In both cases
// the exec of that program is the first thing that the process does behind Release.
func Start(o Options) (*Target, error) {
	t, err := o.hold()
	if err != nil {
		// Where processes may not be traced by ptrace, a shell waits in the place of the program.
		t, err = o.wait()
	}
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", o.Command, err)
	}
	go t.reap()
	return t, nil
}

// hold starts the command in the stub.
func (o Options) hold() (*Target, error) {
	streams := [3]any{o.Stdin, o.Stdout, o.Stderr}
	file, args := "/bin/sh", []string{"/bin/sh", "-c", o.Command}
	later := func() {}
	if Direct(o.Command) {
		args[2] = "exec " + o.Command
		if s, ok := words(o.Command); ok {
			if f := program(s.words[0], o.Env, o.Dir); f != "" {
				out, files, truncate, ok := s.open(streams, o.Dir)
				done := func() {
					for _, f := range files {
						f.Close()
					}
				}
				if ok {
					streams, file, args = out, f, s.words
					later = func() { truncate(); done() }
				} else {
					done()
				}
			}
		}
	}
	cmd := &exec.Cmd{Env: o.Env, Dir: o.Dir}
	cmd.Stdin, _ = streams[0].(io.Reader)
	cmd.Stdout, _ = streams[1].(io.Writer)
	cmd.Stderr, _ = streams[2].(io.Writer)
	h, err := hold(cmd, file, args)
	if err != nil {
		return nil, err
	}
	return &Target{Pid: cmd.Process.Pid, cmd: cmd, held: h, later: later, pidfd: -1, done: make(chan struct{})}, nil
}

// wait runs the command's shell up to the point where it would run the command, and
// waits there for Release. The process keeps its pid when the command is a simple one.
func (o Options) wait() (*Target, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	there, say, err := os.Pipe()
	if err != nil {
		w.Close()
		return nil, err
	}
	defer there.Close()
	// The gate is descriptor 3: the shell waits for a line on it. It gets end of file instead
	// when the tracer dies, and then must not run the command untraced.
	script := "echo >&4; exec 4>&-; read _ <&3 || exit 127; exec 3<&-; "
	if Direct(o.Command) {
		script += "exec " + o.Command
	} else {
		// A shell of its own, so that the target's program begins behind the gate here as well.
		script += `exec /bin/sh -c "$1"`
	}
	cmd := exec.Command("/bin/sh", "-c", script, "/bin/sh", o.Command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	cmd.ExtraFiles = []*os.File{r, say}
	cmd.Env, cmd.Dir = o.Env, o.Dir
	err = cmd.Start()
	say.Close()
	if err != nil {
		w.Close()
		return nil, err
	}
	// The kernel tells of the shell's exec only behind the point up to which Go waits: probes that were there by then
	// would see it. So it has to speak first.
	there.Read(make([]byte, 1))
	t := &Target{Pid: cmd.Process.Pid, cmd: cmd, gate: w, pidfd: -1, done: make(chan struct{})}
	return t, nil
}

// reap waits for the end of the command.
func (t *Target) reap() {
	if t.held != nil {
		<-t.held.ended // nobody may wait for a process that is being traced
	}
	err := t.cmd.Wait()
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee) && ee.Sys() != nil:
		ws := ee.Sys().(syscall.WaitStatus)
		if ws.Signaled() {
			t.status = fmt.Sprintf("was killed by signal %d (%s)", ws.Signal(), ws.Signal())
		} else {
			t.status = fmt.Sprintf("exited with status %d", ws.ExitStatus())
		}
	case err != nil:
		t.status = err.Error()
	}
	close(t.done)
}

// Direct reports whether command is one program with its arguments, so that the process of the
// target runs that program itself and not a shell.
func Direct(command string) bool {
	if strings.ContainsAny(command, ";|&\n(){}") {
		s, ok := words(command) // in quotes they are ordinary
		return ok && !builtin(s.words[0])
	}
	w, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return !builtin(w) && !strings.Contains(w, "=")
}

// Release lets the command run. That it was killed meanwhile is no error: then it has ended, and Status says how.
func (t *Target) Release() error {
	if t.held != nil {
		t.later()
		t.held.let <- true
		<-t.held.ended
		t.held.let = nil
		if t.held.err == unix.ESRCH {
			return nil
		}
		return t.held.err
	}
	if t.gate == nil {
		return nil
	}
	_, err := t.gate.Write([]byte("go\n"))
	t.gate.Close()
	t.gate = nil
	if errors.Is(err, unix.EPIPE) {
		return nil
	}
	return err
}

// Abandon ends a command that was never released.
func (t *Target) Abandon() {
	if t.held != nil && t.held.let != nil {
		t.held.let <- false
		t.held.let = nil
		<-t.done
	}
	if t.gate == nil {
		return
	}
	t.gate.Close()
	t.gate = nil
	<-t.done
}

// Watch follows a running process.
func Watch(pid int) (*Target, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil, fmt.Errorf("no process %d", pid)
	case errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("%d is not a process (a thread of one?)", pid)
	case err != nil:
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	t := &Target{Pid: pid, pidfd: fd, done: make(chan struct{})}
	go func() {
		for {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(fds, -1); n > 0 || err != nil && err != unix.EINTR {
				break
			}
		}
		close(t.done)
	}()
	return t, nil
}

// Done is closed when the process has ended.
func (t *Target) Done() <-chan struct{} { return t.done }

// Status says how a -c child ended if it did not end well. It waits for the end.
func (t *Target) Status() string {
	<-t.done
	return t.status
}
