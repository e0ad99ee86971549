// Package monitor is --monitor: a window in the terminal with the probes of a session, what they took, the globals, and
// what the script prints.
//
// In: a program, a terminal. Out: the terminal as it was, with what the script has printed on it.
package monitor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/diag"
)

// Config is what is shown and where.
type Config struct {
	Session *gostap.Session
	Name    string
	// Every is how often the window is drawn anew.
	Every   time.Duration
	In, Out *os.File
	// Log is what is shown as the output: messages, and what the script prints unless Output takes that. Started is
	// called when the probes are there.
	Log     *Log
	Output  io.Writer
	Started func() error
}

// window is a session in its terminal.
type window struct {
	Config
	view
	term *terminal
	stop context.CancelFunc
}

// Run runs the session to its end in a window.
func Run(ctx context.Context, c Config) error {
	t, err := open(c.In, c.Out)
	if err != nil {
		return fmt.Errorf("take the terminal: %w", err)
	}
	now := time.Now()
	w := &window{Config: c, term: t, view: view{name: c.Name, began: now, now: now, focus: theOutput}}
	ctx, w.stop = context.WithCancel(ctx)
	defer w.stop()
	defer func() {
		t.close()
		w.rest()
	}()
	out := c.Output
	if out == nil {
		out = c.Log
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Session.Print(ctx, out, c.Log, c.Started) }()
	return w.loop(ended)
}

// loop shows the session until it has ended.
func (w *window) loop(ended <-chan error) error {
	keys, resized := make(chan string, 16), make(chan os.Signal, 1)
	go w.term.keys(keys)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	w.look()
	for {
		w.draw()
		select {
		case err := <-ended:
			return err
		case k, ok := <-keys:
			if !ok {
				w.stop() // the terminal has gone
				keys = nil
				continue
			}
			w.key(k)
		case <-tick.C:
			w.look()
		case <-w.Log.news:
			// Not for each line: what comes meanwhile is drawn with it.
			select {
			case err := <-ended:
				return err
			case <-time.After(50 * time.Millisecond):
			}
		case <-resized:
		}
	}
}

// look asks the session how it is.
func (w *window) look() {
	w.now = time.Now()
	probes, err := w.Session.Probes()
	if err != nil {
		return // it has not begun, or ends
	}
	globals, err := w.Session.Globals()
	if err == nil {
		w.take(probes, globals, w.now)
	}
}

// draw writes the window.
func (w *window) draw() {
	w.output, w.lost = w.Log.kept()
	cols, rows := w.term.size()
	var b strings.Builder
	b.WriteString("\x1b[H")
	lines := w.frame(cols, rows)
	for i, l := range lines {
		if i == 0 || i == len(lines)-1 {
			l = "\x1b[7m" + l + "\x1b[0m"
		}
		b.WriteString(l + "\x1b[K")
		if i < len(lines)-1 {
			b.WriteString("\r\n")
		}
	}
	w.term.out.WriteString(b.String())
}

// rest writes what the script has printed, when the window is gone.
func (w *window) rest() {
	all, lost := w.Log.kept()
	if lost > 0 {
		fmt.Fprintf(w.Out, "(%d lines before these are not kept: -o FILE keeps all)\n", lost)
	}
	for _, l := range all {
		fmt.Fprintln(w.Out, l)
	}
}

// key does what a key is for.
func (w *window) key(k string) {
	if w.asking {
		w.ask(k)
		return
	}
	w.note = ""
	switch k {
	case "q":
		w.stop()
		w.note = "ending"
	case "p":
		w.all(false)
	case "r":
		w.all(true)
	case "t":
		w.asking, w.typed = true, ""
	case "c":
		w.answer(w.Session.Reset(), "the globals are as they began")
	case "s":
		w.order = (w.order + 1) % len(orders)
	case "g":
		w.next()
	case "x":
		w.hidden = !w.hidden
		w.focus = theOutput
	case "\t":
		w.focus = (w.focus + 1) % panes
	default:
		w.scroll(k)
		return
	}
	w.look()
}

// scroll moves the lines of a pane.
func (w *window) scroll(k string) {
	n := map[string]int{"up": -1, "down": 1, "page up": -w.page[w.focus], "page down": w.page[w.focus],
		"home": -1 << 30, "end": 1 << 30}[k]
	if w.focus == theOutput {
		n = -n
	}
	w.skip[w.focus] = max(0, w.skip[w.focus]+n)
}

// answer notes how it went.
func (w *window) answer(err error, good string) {
	if w.note = good; err != nil {
		w.note = diag.Visible(err.Error())
	}
}

// all switches all probes that can be.
func (w *window) all(on bool) {
	var which []int
	for i := range w.rows {
		if !w.rows[i].Fixed {
			which = append(which, i)
		}
	}
	w.answer(w.Session.Switch(on, which...), map[bool]string{true: "going on", false: "paused"}[on])
}

// ask takes a key of the question for probes.
func (w *window) ask(k string) {
	switch {
	case k == "\r" || k == "\n":
		w.asking = false
		for _, f := range strings.FieldsFunc(w.typed, func(r rune) bool { return r == ' ' || r == ',' }) {
			i, err := strconv.Atoi(f)
			if err != nil || i < 0 || i >= len(w.rows) {
				w.note = "there is no probe " + f
				continue
			}
			on := !w.rows[i].On
			w.answer(w.Session.Switch(on, i), fmt.Sprintf("probe %d is %s", i, map[bool]string{true: "on",
				false: "off"}[on]))
		}
		w.look()
	case k == "\x7f" || k == "\b":
		w.typed = w.typed[:max(0, len(w.typed)-1)]
	case k == "\x1b":
		w.asking = false
	case len(k) == 1 && k[0] >= ' ' && len(w.typed) < 200:
		w.typed += k
	}
}
