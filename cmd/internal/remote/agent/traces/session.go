package traces

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/kept"
	"github.com/gostap/gostap/cmd/internal/ready"
	"github.com/gostap/gostap/compiler/environ"
	printed "github.com/gostap/gostap/runtime/export/text"
)

const (
	mostLog     = 64 << 10 // bytes of messages
	mostMessage = 8 << 10  // of them in a status
	grace       = 20 * time.Second
	// mostWaits is how long probes may take to be in place.
	mostWaits = 10 * time.Minute
	// mostLate is how long after its time a session may go on.
	mostLate = time.Minute
)

// session is a running gostap.
type session struct {
	cmd   *exec.Cmd
	place string // where its script is from, in place of <input>
	most  time.Duration
	began time.Time

	mu      sync.Mutex
	out     kept.Tail
	said    kept.Tail
	errs    kept.Lines // standard error
	lost    int64
	refuses bool
	ran     time.Time // its probes are in place since then
	ended   bool
	err     error // of Wait
	stopped time.Time
}

// start runs a Trace of a file. It says at the socket notify that it runs; know is called before.
func (c *Config) start(t *Trace, name, file, notify string, know func(start func() (*session, error)) error) (
	*session, error) {
	args, err := t.Words()
	if err != nil {
		return nil, err
	}
	exports, err := c.Exports.Of("gostap agent", t.Export)
	if err != nil {
		return nil, err
	}
	head := []string{"--color=never", "--timeout=" + strconv.Itoa(t.Seconds)}
	if t.HitsPerSecond > 0 {
		head = append(head, "--max-hits="+strconv.Itoa(t.HitsPerSecond))
	}
	if t.CPUPercent > 0 {
		head = append(head, "--max-cpu="+strconv.Itoa(t.CPUPercent))
	}
	if t.Program != "" {
		head = append(head, "--exe="+t.Program)
	}
	if t.Folded {
		head = append(head, "--folded")
	}
	// Options of a user's own (~/.systemtap/rc) are for what is typed.
	env := append(ready.Without(c.Env), "SYSTEMTAP_DIR=/nonexistent", ready.Variable+"="+notify)
	if len(exports) > 0 {
		for _, to := range append(exports, printed.Kind) {
			head = append(head, "--export="+to)
		}
		attributes := "gostap.trace.name=" + name
		if more := environ.Get(c.Env, "OTEL_RESOURCE_ATTRIBUTES"); more != "" {
			attributes = more + "," + attributes
		}
		env = append(env, "OTEL_RESOURCE_ATTRIBUTES="+attributes)
	}
	s := &session{place: file, most: time.Duration(t.Seconds) * time.Second, began: time.Now(),
		out: kept.Tail{Most: t.Bytes, First: t.Folded}, said: kept.Tail{Most: mostLog}}
	s.errs.Line = s.line
	if !strings.HasSuffix(file, ".stp") {
		s.place += ": spec.script"
	}
	words := append(append([]string{}, c.Command[1:]...), append(head, args...)...)
	s.cmd = exec.Command(c.Command[0], words...)
	s.cmd.Env, s.cmd.Dir = env, "/"
	s.cmd.Stdout, s.cmd.Stderr = (*stdout)(s), (*stderr)(s)
	// An agent that is killed takes it along.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// What holds the streams open when gostap was killed is not waited for.
	s.cmd.WaitDelay = 5 * time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes with the end of this thread, not only of the process
		err := know(func() (*session, error) { return s, s.cmd.Start() })
		if started <- err; err != nil {
			return
		}
		err = s.cmd.Wait()
		s.mu.Lock()
		s.errs.End()
		if errors.Is(err, exec.ErrWaitDelay) { // a command of the script goes on, and gostap has ended well
			err = nil
			s.line("WARNING: what the script has started goes on, and what that prints is not kept")
		}
		s.ended, s.err = true, err
		s.mu.Unlock()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return s, nil
}

// stop asks it to end, and ends it if it has been asked a while ago.
func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case s.stopped.IsZero():
		s.stopped = time.Now()
		s.cmd.Process.Signal(os.Interrupt)
	case time.Since(s.stopped) >= grace:
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// late says that it should have ended.
func (s *session) late() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ran.IsZero() {
		return time.Since(s.began) > mostWaits
	}
	return time.Since(s.ran) > s.most+mostLate
}

// runs takes word that its probes are in place.
func (s *session) runs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ran.IsZero() {
		s.ran = time.Now()
	}
}

// stdout and stderr are the session as what gostap writes to.
type (
	stdout session
	stderr session
)

func (s *stdout) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

func (s *stderr) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errs.Write(b)
}

// input is a place of the script, as gostap calls it.
var input = regexp.MustCompile(`<input>(:\d+:\d+)`)

// line takes a line of standard error.
func (s *session) line(text string) {
	text = strings.TrimSuffix(text, "\n")
	s.refuses = s.refuses || kept.Refuses(text)
	text = input.ReplaceAllString(text, strings.ReplaceAll(s.place, "$", "$$")+"$1")
	s.lost += kept.Lost(text)
	s.said.Write([]byte(text + "\n"))
}

// refusal is a text of one that is refused before it begins.
func refusal(err error) string {
	if r, ok := err.(*asked.Refusal); ok {
		return r.Text
	}
	return err.Error()
}
