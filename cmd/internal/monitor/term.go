package monitor

import (
	"os"

	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/runtime/stoppable"
)

// terminal is a terminal that shows the window and gives keys one by one.
type terminal struct {
	in, out *os.File
	back    func()
	keyed   *stoppable.Reader // in
	// over is closed when nobody wants keys any more, gone when none is read any more.
	over, gone chan struct{}
}

const (
	enter = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	leave = "\x1b[?25h\x1b[?1049l"
)

// open takes the terminal. Ctrl-C stays a signal.
func open(in, out *os.File) (*terminal, error) {
	back, err := tty.Raw(in, 0, 0)
	if err != nil {
		return nil, err
	}
	_, err = out.WriteString(enter)
	return &terminal{in: in, out: out, back: back, keyed: stoppable.New(in), over: make(chan struct{}),
		gone: make(chan struct{})}, err
}

// close gives the terminal back as it was.
func (t *terminal) close() {
	close(t.over)
	t.keyed.Stop()
	if t.keyed.Ends() {
		<-t.gone
		t.keyed.Close()
	}
	t.out.WriteString(leave)
	t.back()
}

// size gives columns and rows.
func (t *terminal) size() (w, h int) {
	if w, h = tty.Size(t.out); w > 0 && h > 0 {
		return w, h
	}
	return 80, 24
}

// keys reads keys until the terminal gives no more, or is closed.
func (t *terminal) keys(to chan<- string) {
	defer close(t.gone)
	defer close(to)
	buf := make([]byte, 64)
	for {
		n, err := t.keyed.Read(buf)
		if err != nil || n == 0 {
			return
		}
		for _, k := range split(string(buf[:n])) {
			select {
			case to <- k:
			case <-t.over:
				return
			}
		}
	}
}

// arrows are the names of keys that come as several bytes.
var arrows = map[string]string{"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down", "\x1b[5~": "page up",
	"\x1b[6~": "page down", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end"}

// split takes what was read apart into keys.
func split(s string) (keys []string) {
next:
	for s != "" {
		for code, name := range arrows {
			if len(s) >= len(code) && s[:len(code)] == code {
				keys, s = append(keys, name), s[len(code):]
				continue next
			}
		}
		keys, s = append(keys, s[:1]), s[1:]
	}
	return keys
}
