package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/outfile"
)

// -F: the command starts itself once more, in a session of its own, and ends when the probes of that are in place.
// Until then what it has to say comes on the terminal; from then on it goes to the output file.

// behindEnv says to a process that it is the one in the background; its descriptor startedFD is then a pipe to the one
// that waits.
const (
	behindEnv = "GOSTAP_IN_BACKGROUND"
	startedFD = 3
)

// detached reports whether this process is the one in the background. What tells it so goes no further.
func (c *command) detached() bool {
	i := slices.IndexFunc(c.env, func(s string) bool { return strings.HasPrefix(s, behindEnv+"=") })
	if i < 0 {
		return false
	}
	c.env = slices.Delete(slices.Clone(c.env), i, i+1)
	unix.CloseOnExec(startedFD)
	return true
}

// background starts the process in the background and waits until it traces.
func (c *command) background() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, c.argv...)
	cmd.Env = append(append([]string(nil), c.env...), behindEnv+"=1")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stderr, os.Stderr, []*os.File{w}
	if c.file == "-" {
		cmd.Stdin = os.Stdin
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.Close()
	if n, _ := r.Read(make([]byte, 1)); n == 1 {
		fmt.Fprintf(c.Out, "gostap runs in the background as process %d and writes to %s\n", cmd.Process.Pid, c.output)
		return nil
	}
	// It ended before it traced: by an error, which it has told, or because the script did all in its begin probes.
	err = cmd.Wait()
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return errShown
	}
	return err
}

// detach tells the process that waits that all is in place, and sends messages to the output file from now on.
func (c *command) detach(out io.Writer) error {
	messages := func(f *os.File) error {
		for _, fd := range []int{1, 2} {
			if err := unix.Dup3(int(f.Fd()), fd, 0); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	switch w := out.(type) {
	case *outfile.Rotator:
		err = w.Opened(messages)
	}
	if err != nil {
		return err
	}
	pipe := os.NewFile(startedFD, "pipe")
	_, err = pipe.Write([]byte{1})
	return errors.Join(err, pipe.Close())
}
