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
	gate   *os.File
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

// Start runs the command's shell up to the point where it would run the command, and
// waits there for Release. The process keeps its pid when the command is a simple one.
func Start(o Options) (*Target, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", o.Command, err)
	}
	defer r.Close()
	there, say, err := os.Pipe()
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("start %q: %w", o.Command, err)
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
		return nil, fmt.Errorf("start %q: %w", o.Command, err)
	}
	// The kernel tells of the shell's exec only behind the point up to which Go waits: probes that were there by then would
	// see it. So it has to speak first.
	there.Read(make([]byte, 1))
	t := &Target{Pid: cmd.Process.Pid, cmd: cmd, gate: w, pidfd: -1, done: make(chan struct{})}
	go func() {
		err := cmd.Wait()
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
	}()
	return t, nil
}

// Direct reports whether command is one program with its arguments, so that the process of the
// target runs that program itself and not a shell.
func Direct(command string) bool {
	return !strings.ContainsAny(command, ";|&\n(){}") && !builtin(command)
}

// builtin reports whether the command begins with a word that only the shell knows.
func builtin(cmd string) bool {
	w, _, _ := strings.Cut(strings.TrimSpace(cmd), " ")
	switch w {
	case "exit", "cd", "for", "if", "while", "case", "until", "set", "read", ":", "eval", "exec", "ulimit", "umask", ".", "trap", "wait":
		return true
	}
	return strings.Contains(w, "=")
}

// Release lets the command run.
func (t *Target) Release() error {
	if t.gate == nil {
		return nil
	}
	_, err := t.gate.Write([]byte("go\n"))
	t.gate.Close()
	t.gate = nil
	return err
}

// Abandon ends a command that was never released.
func (t *Target) Abandon() {
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
