package traces

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
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
	// mostWaits is how long probes may take to be in place.
	mostWaits = 10 * time.Minute
	// mostLate is how long after its time a session may go on.
	mostLate = time.Minute
)

// session is a running gostap.
type session struct {
	child kept.Child // whose lock holds what follows behind began
	place string     // where its script is from, in place of <input>
	most  time.Duration
	began time.Time

	out     kept.Tail
	said    kept.Tail
	lost    int64
	refuses bool
	ran     time.Time // its probes are in place since then
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
	s.child.Errs.Line = s.line
	if !strings.HasSuffix(file, ".stp") {
		s.place += ": spec.script"
	}
	words := append(append([]string{}, c.Command[1:]...), append(head, args...)...)
	cmd := exec.Command(c.Command[0], words...)
	cmd.Env = env
	// An agent that is killed takes it along.
	if err := s.child.Begin(cmd, &s.out, func() error {
		return know(func() (*session, error) { return s, cmd.Start() })
	}, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// late says that it should have ended.
func (s *session) late() bool {
	s.child.Lock()
	defer s.child.Unlock()
	if s.ran.IsZero() {
		return time.Since(s.began) > mostWaits
	}
	return time.Since(s.ran) > s.most+mostLate
}

// runs takes word that its probes are in place.
func (s *session) runs() {
	s.child.Lock()
	defer s.child.Unlock()
	if s.ran.IsZero() {
		s.ran = time.Now()
	}
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
