package kept

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Child is a gostap that runs for a Trace. What it prints is taken with its lock held, and its fields are read so.
type Child struct {
	sync.Mutex
	// Errs takes its messages apart.
	Errs Lines
	// Ended says that it has, with Err.
	Ended bool
	Err   error

	cmd     *exec.Cmd
	stopped time.Time
}

// Grace is how long it has for its end probes when it was asked to end.
const Grace = 20 * time.Second

// Begin starts cmd, whose standard output goes to out, by start: cmd.Start with what belongs to it. over is called when
// it has ended, before that is known; nil is nothing to call. Who is killed takes it along.
func (c *Child) Begin(cmd *exec.Cmd, out io.Writer, start func() error, over func()) error {
	c.cmd = cmd
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = locked{c, out}, locked{c, &c.Errs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// What holds the streams open when gostap was killed is not waited for.
	cmd.WaitDelay = 5 * time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes with the end of this thread, not only of the process
		err := start()
		if started <- err; err == nil {
			c.wait(over)
		}
	}()
	return <-started
}

// wait waits for its end.
func (c *Child) wait(over func()) {
	err := c.cmd.Wait()
	if over != nil {
		over()
	}
	c.Lock()
	defer c.Unlock()
	c.Errs.End()
	if errors.Is(err, exec.ErrWaitDelay) { // a command of the script goes on, and gostap has ended well
		err = nil
		c.Errs.Line("WARNING: what the script has started goes on, and what that prints is not kept\n")
	}
	c.Ended, c.Err = true, err
}

// PID is its number.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Stop asks it to end, which it says with asked, and ends it if it was asked a while ago.
func (c *Child) Stop() (asked bool) {
	c.Lock()
	defer c.Unlock()
	switch {
	case c.Ended:
	case c.stopped.IsZero():
		c.stopped = time.Now()
		c.cmd.Process.Signal(os.Interrupt)
		return true
	case time.Since(c.stopped) >= Grace:
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
	return false
}

// locked writes with the lock of a child held.
type locked struct {
	c  *Child
	to io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.c.Lock()
	defer l.c.Unlock()
	return l.to.Write(b)
}
