// Package companion runs the programs whose libraries are not in gostap itself: gostap-export, which delivers what a
// session says, and gostap-fleet, which makes Traces in clusters of Kubernetes.
//
// In: destinations; arguments. Out: a writer that takes JSON lines (docs/json.md), and the words of gostap-export at
// its end; what it prints of the lines, for a destination that is the standard output; what gostap-fleet prints.
package companion

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// name is that of the program.
const name = "gostap-export"

// ready is what it prints when its destinations are all right.
const ready = "ready\n"

// Companion is one that runs. Lines are written to it, and Close has it deliver what it has and waits for that.
type Companion struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	gone chan error // what became of its output
	full atomic.Pointer[error]
	once sync.Once
	err  error // what Close says
}

// Start runs it with destinations, and waits until it has looked at them. What it prints goes to out, messages to errw.
func Start(destinations []string, out, errw io.Writer) (*Companion, error) {
	path := find(name)
	if path == "" {
		return nil, slip.New("--export needs the program "+name+", which is neither beside gostap nor in $PATH",
			"it comes with gostap: make install, or the package; --format=json writes the same to a file")
	}
	cmd := exec.Command(path, append([]string{"--ready", "--"}, destinations...)...)
	// Ctrl-C is for the session, whose end this one is to deliver.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	before := &until{first: &said, then: errw}
	cmd.Stderr = before
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := bufio.NewReader(printed)
	line, _ := r.ReadString('\n')
	if line != ready {
		in.Close()
		err := cmd.Wait()
		text := strings.TrimSpace(strings.TrimPrefix(said.String(), "error: "))
		if text == "" {
			text = fmt.Sprintf("it ended before it was ready: %v", err)
		}
		message, hint, _ := strings.Cut(text, "\n  hint: ")
		return nil, slip.New("--export: "+message, hint)
	}
	if err := before.pass(); err != nil {
		return nil, err
	}
	c := &Companion{cmd: cmd, in: in, gone: make(chan error, 1)}
	go func() {
		_, err := io.Copy(out, r)
		if err != nil {
			err = fmt.Errorf("write output: %w", err)
			c.full.Store(&err)
			io.Copy(io.Discard, r) // it is not to wait for what nobody reads
		}
		c.gone <- err
	}()
	return c, nil
}

// find is where a program is: beside gostap, or in $PATH. "" is nowhere.
func find(name string) string {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// Write takes lines. It fails where what is printed of them cannot be written.
func (c *Companion) Write(b []byte) (int, error) {
	if full := c.full.Load(); full != nil {
		return 0, *full
	}
	n, err := c.in.Write(b)
	if err != nil {
		if ended := c.Close(); ended != nil {
			err = ended
		} else {
			err = errors.New(name + " has ended before the session")
		}
	}
	return n, err
}

// Close ends the lines and waits until they are delivered. The error says that something was not.
func (c *Companion) Close() error {
	c.once.Do(func() {
		c.in.Close()
		c.err = <-c.gone // Wait closes what it is read from
		if err := c.cmd.Wait(); err != nil {
			c.err = fmt.Errorf("%s: not all was delivered (%w)", name, err)
		}
	})
	return c.err
}

// until keeps what is written at first, and later passes it on.
type until struct {
	mu    sync.Mutex
	first *bytes.Buffer
	then  io.Writer
}

func (u *until) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.first != nil {
		return u.first.Write(b)
	}
	return u.then.Write(b)
}

func (u *until) pass() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, err := u.first.WriteTo(u.then)
	u.first = nil
	return err
}
