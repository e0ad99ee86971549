// Package interactive is "gostap -i": a script is built declaration by declaration, checked, and run, again and again.
//
// In: lines, from a terminal or a pipe, and a Command that compiles and runs scripts. Out: what that prints, messages.
// The script of a session is right at any time: what would break it is refused with the messages of the compiler.
package interactive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/prompt"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler"
)

// Command is what a session has done for it. Options are a command line for it, each of the form --name=value.
type Command interface {
	// Option gives the whole name of an option and whether it can be given several times, or says why it is none.
	Option(name string) (long string, many bool, err error)
	// Options are the names of all that can be set.
	Options() []string
	// Try says what is wrong with options.
	Try(options []string) error
	// Check compiles up to a phase and gives the messages, warnings too.
	Check(options []string, script string, to compiler.Phase) ([]gostap.Diagnostic, error)
	// Run runs a script until it ends, or Ctrl-C, and reports whether that went well. It has told if it did not.
	Run(options []string, script string) bool
	// Points lists probe points as -l does, and as -L with vars; Library lists the library's functions and points.
	Points(options []string, script, pattern string, vars bool) ([]string, error)
	Library(options []string, what compiler.Listing) ([]string, error)
	// Show tells of messages, or of what an error says.
	Show(l []gostap.Diagnostic)
	Failed(err error)
}

// Config is what a session is about.
type Config struct {
	Command
	In       io.Reader
	Out, Err io.Writer
	Env      []string
	Options  []string // to begin with
	Script   string   // to begin with
	File     string   // to be loaded then, "" for none
}

// session is a session.
type session struct {
	Config
	lines   prompt.Reader
	typed   bool     // the lines come from a terminal
	decls   []string // of the script, in order; each may have several lines, and ends without a new line
	before  [][]string
	pending string // lines of a declaration that is not whole yet
	draft   string // what edit has left and was not good
	failed  bool
	known   known
}

// errQuit ends a session.
var errQuit = errors.New("quit")

// mostUndone is how many changes can be taken back.
const mostUndone = 100

// Run runs a session to its end, and gives the exit status: that of a terminal is 0; in a pipe all commands have to go
// well for that.
func Run(c Config) int {
	s := &session{Config: c}
	in, ok := c.In.(*os.File)
	out, ok2 := c.Out.(*os.File)
	if ok && ok2 && tty.Is(in) && tty.Is(out) {
		s.typed = true
		path := ""
		if dir := gostap.CacheDir(c.Env); dir != "" {
			path = dir + "/history"
		}
		h, err := prompt.OpenHistory(path)
		if err != nil {
			fmt.Fprintf(c.Err, "note: lines are not kept: %v\n", err)
		}
		defer h.Close()
		s.lines = &prompt.Editor{In: in, Out: out, History: h, Complete: s.complete}
		// Ctrl-C is a key at the prompt. During a run others hear it too; between the two it must not end us.
		ignored := make(chan os.Signal, 1)
		signal.Notify(ignored, os.Interrupt)
		defer signal.Stop(ignored)
		fmt.Fprintln(c.Out, "gostap, interactive: help lists the commands, Tab completes, Ctrl-D ends")
	} else {
		s.lines = prompt.Lines(c.In)
	}
	if s.Script != "" {
		s.try(s.replace(s.Script))
	}
	if s.File != "" {
		s.try(s.load(s.File))
	}
	for {
		if err := s.next(); err != nil {
			break
		}
	}
	if s.failed && !s.typed {
		return 1
	}
	return 0
}

// next reads a line and does what it says.
func (s *session) next() error {
	sign := "gostap> "
	if s.pending != "" {
		sign = "   ...> "
	}
	line, err := s.lines.Line(sign)
	switch {
	case errors.Is(err, prompt.ErrInterrupted):
		s.pending = ""
		return nil
	case err != nil && s.pending != "":
		s.refused(s.Check(s.Options, s.text()+s.pending, compiler.Parse))
		s.pending = ""
		return err
	case errors.Is(err, io.EOF):
		return err
	case err != nil:
		s.try(err)
		return err
	}
	if s.pending != "" {
		s.add(s.pending + line)
		return nil
	}
	return s.do(line)
}

// try tells of an error.
func (s *session) try(err error) {
	if err != nil {
		s.failed = true
		s.Failed(err)
	}
}

// refused tells why something was not done.
func (s *session) refused(l []gostap.Diagnostic, err error) {
	s.failed = true
	if err != nil {
		s.Failed(err)
		return
	}
	s.Show(l)
}

// text is the script.
func (s *session) text() string { return join(s.decls) }

func join(decls []string) string {
	if len(decls) == 0 {
		return ""
	}
	return strings.Join(decls, "\n") + "\n"
}

// add puts a declaration behind the others, or waits for the rest of it.
func (s *session) add(text string) {
	s.pending = ""
	if strings.TrimSpace(text) == "" {
		return
	}
	all := append(s.decls[:len(s.decls):len(s.decls)], text)
	l, err := s.Check(s.Options, join(all), compiler.Parse)
	if err == nil && incomplete(l) {
		s.pending = text + "\n"
		return
	}
	if err != nil || wrong(l) {
		s.refused(l, err)
		return
	}
	s.take(all)
}

// take makes declarations the script, if they are right together.
func (s *session) take(decls []string) bool {
	l, err := s.check(decls)
	if err != nil || wrong(l) {
		s.refused(l, err)
		return false
	}
	if s.before = append(s.before, s.decls); len(s.before) > mostUndone {
		s.before = s.before[1:]
	}
	s.decls = decls
	return true
}

// check compiles declarations as far as they have to be for their mistakes to be found.
func (s *session) check(decls []string) ([]gostap.Diagnostic, error) {
	text := join(decls)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	// It may have no probes yet.
	l, err := s.Check(s.Options, text+"probe never { }\n", compiler.Elaborate)
	return l, err
}

// replace makes a text the script.
func (s *session) replace(text string) error {
	decls, err := s.split(text)
	if err != nil {
		return err
	}
	if !s.take(decls) {
		return slip.New("the script stays as it was", "")
	}
	return nil
}

// split takes a text apart into declarations: each ends with a line where the text so far is whole.
func (s *session) split(text string) (decls []string, err error) {
	part := ""
	for line := range strings.Lines(text) {
		part += strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(part) == "" {
			part = ""
			continue
		}
		if closed(part) {
			l, err := s.Check(s.Options, part, compiler.Parse)
			if err != nil {
				return nil, err
			}
			if !incomplete(l) {
				decls, part = append(decls, part), ""
				continue
			}
		}
		part += "\n"
	}
	if strings.TrimSpace(part) != "" {
		decls = append(decls, strings.TrimSuffix(part, "\n"))
	}
	return decls, nil
}

// wrong reports whether errors are among messages.
func wrong(l []gostap.Diagnostic) bool {
	for _, d := range l {
		if !d.Warning {
			return true
		}
	}
	return false
}

// incomplete reports whether all that is wrong with a text is that it ends too early.
func incomplete(l []gostap.Diagnostic) bool {
	found := false
	for _, d := range l {
		early := strings.HasSuffix(d.Message, "before the end of the script") ||
			strings.HasSuffix(d.Message, "is never closed") || strings.HasSuffix(d.Message, " has no end")
		if !early && !d.Warning {
			return false
		}
		found = found || early
	}
	return found
}
