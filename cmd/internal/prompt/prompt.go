// Package prompt reads lines that somebody types.
//
// In: a terminal, or any stream. Out: its lines, one at a time. At a terminal they can be edited, recalled (History)
// and completed; what is typed ahead and not read yet stays with the terminal, for whatever reads it next.
package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler/diag"
)

// ErrInterrupted is Ctrl-C: the line is given up.
var ErrInterrupted = errors.New("interrupted")

// Reader gives lines without their ends, and io.EOF after the last.
type Reader interface {
	Line(prompt string) (string, error)
}

// maxLine bounds a line in bytes, so that a device or a program that never ends one is told from somebody who types.
const maxLine = 1 << 20

// lines are those of a stream.
type lines struct{ s *bufio.Scanner }

// Lines reads the lines of a stream that is no terminal; prompts are not shown.
func Lines(r io.Reader) Reader {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	return lines{s}
}

func (l lines) Line(string) (string, error) {
	if l.s.Scan() {
		return l.s.Text(), nil
	}
	if err := l.s.Err(); err != nil {
		return "", err
	}
	return "", io.EOF
}

// Editor reads lines from a terminal.
type Editor struct {
	In, Out *os.File
	History *History
	// Complete gives what may stand from start on in place of the end of before, the line up to the cursor.
	Complete func(before string) (start int, words []string)
}

// Line lets somebody type a line. Ctrl-D in an empty one is the end.
func (e *Editor) Line(prompt string) (string, error) {
	back, err := tty.Raw(e.In, unix.ICRNL|unix.IXON, unix.ISIG|unix.IEXTEN)
	if err != nil {
		return "", err
	}
	const paste, noPaste = "\x1b[?2004h", "\x1b[?2004l" // have pasted text marked as such
	e.Out.WriteString(paste)
	defer whileRaw(func() {
		e.Out.WriteString(noPaste)
		back()
	})()
	return e.edit(prompt)
}

// whileRaw has back called before a signal ends the process, and when the function that it gives is called.
func whileRaw(back func()) func() {
	sigs, over, gone := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	for _, s := range []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(sigs, s)
		}
	}
	go func() {
		defer close(gone)
		select {
		case s := <-sigs:
			back()
			signal.Reset(s) // so that the process ends by the signal, as who sent it expects
			unix.Kill(unix.Getpid(), s.(unix.Signal))
			<-over
		case <-over:
			back()
		}
	}()
	return func() {
		signal.Stop(sigs)
		close(over)
		<-gone
		select {
		case s := <-sigs:
			unix.Kill(unix.Getpid(), s.(unix.Signal)) // it came last, and waits for nobody any more
		default:
		}
	}
}

func (e *Editor) edit(prompt string) (string, error) {
	l := line{recall: e.History.lines()}
	pasted := false
	for {
		e.draw(prompt, &l)
		k, err := readKey(e.In)
		if err != nil {
			e.Out.WriteString("\n")
			return "", io.EOF // the terminal has gone
		}
		switch k {
		case "paste":
			pasted = true
		case "pasted":
			pasted = false
		case "enter":
			l.end()
			e.draw(prompt, &l)
			e.Out.WriteString("\n")
			text := string(l.text)
			e.History.add(text)
			return text, nil
		case "^c":
			e.Out.WriteString("^C\n")
			return "", ErrInterrupted
		case "^d":
			if len(l.text) == 0 {
				e.Out.WriteString("\n")
				return "", io.EOF
			}
			l.key("delete")
		case "^l":
			e.Out.WriteString("\x1b[H\x1b[2J")
		case "tab":
			if before := string(l.text[:l.pos]); pasted || strings.TrimSpace(before) == "" || e.Complete == nil {
				l.insert("    ")
			} else {
				e.complete(&l, before)
			}
		default:
			l.key(k)
		}
	}
}

// complete puts in what all words have in common, and shows them if that is nothing.
func (e *Editor) complete(l *line, before string) {
	start, words := e.Complete(before)
	if len(words) == 0 || start > len(before) {
		e.Out.WriteString("\a")
		return
	}
	more := common(words)
	if len(more) > len(before)-start || more != before[start:] && len(words) == 1 {
		for range utf8.RuneCountInString(before[start:]) {
			l.key("backspace")
		}
		l.insert(more)
		return
	}
	e.Out.WriteString("\n")
	const most = 60
	for i, w := range words {
		if i == most {
			e.Out.WriteString(fmt.Sprintf("  ... of %d that fit\n", len(words)))
			break
		}
		e.Out.WriteString("  " + diag.Visible(w) + "\n")
	}
}

// draw writes the line, or the part of it around the cursor that there is room for.
func (e *Editor) draw(prompt string, l *line) {
	room := max(e.columns()-len(prompt)-1, 8)
	from := 0
	if l.pos >= room {
		from = l.pos - room + 1
	}
	shown := l.text[from:min(len(l.text), from+room)]
	var b strings.Builder
	b.WriteString("\r" + prompt + string(shown) + "\x1b[K")
	if back := len(shown) - (l.pos - from); back > 0 {
		b.WriteString(strings.Repeat("\b", back))
	}
	e.Out.WriteString(b.String())
}

func (e *Editor) columns() int {
	if n, _ := tty.Size(e.Out); n > 0 {
		return n
	}
	return 80
}

// common is the longest beginning that all words have.
func common(words []string) string {
	c := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, c) {
			_, n := utf8.DecodeLastRuneInString(c)
			c = c[:len(c)-n]
		}
	}
	return c
}
