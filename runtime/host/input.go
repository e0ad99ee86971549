package host

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/stoppable"
)

// input feeds the probes on the standard input: a goroutine reads, the loop runs the handlers.
type input struct {
	chars, lines []timer
	data         chan []byte
	line         []byte // not ended yet
	rest         []byte // of a character that is not complete
}

// maxLine bounds a line; what is longer comes in pieces.
const maxLine = 1 << 16

// listen begins to read when the script has probes on the input.
func (r *run) listen() error {
	in := &input{chars: byPriority(r.Program, probe.InputChar), lines: byPriority(r.Program, probe.InputLine)}
	if len(in.chars)+len(in.lines) == 0 {
		return nil
	}
	if r.Stdin == nil {
		return fmt.Errorf("the script has probes on the standard input, which is taken by the traced command or by " +
			"the script")
	}
	in.data = make(chan []byte, 16)
	r.in = in
	stdin, over, gone := stoppable.New(r.Stdin), make(chan struct{}), make(chan struct{})
	r.hush = func() {
		close(over)
		stdin.Stop()
		if stdin.Ends() { // else it ends with the process at the latest: a read cannot be called off
			<-gone
			stdin.Close()
		}
	}
	go func() {
		defer close(gone)
		for {
			buf := make([]byte, 4096)
			n, err := stdin.Read(buf)
			if n > 0 {
				select {
				case in.data <- buf[:n]:
				case <-over:
				}
			}
			if err != nil {
				close(in.data)
			}
			select {
			case <-over: // the session may be gone
				return
			default:
				r.Session.Wake()
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

// typed runs the handlers for what has come in.
func (r *run) typed() error {
	for r.in != nil {
		select {
		case data, ok := <-r.in.data:
			if !ok {
				in := r.in
				r.in = nil
				if len(in.line) > 0 {
					return r.fired(in.lines, in.line)
				}
				return nil
			}
			if err := r.took(data); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (r *run) took(data []byte) error {
	in := r.in
	if len(in.chars) > 0 {
		in.rest = append(in.rest, data...)
		for len(in.rest) > 0 && utf8.FullRune(in.rest) {
			_, n := utf8.DecodeRune(in.rest)
			if err := r.fired(in.chars, in.rest[:n]); err != nil {
				return err
			}
			in.rest = in.rest[n:]
		}
	}
	if len(in.lines) == 0 {
		return nil
	}
	in.line = append(in.line, data...)
	for {
		text, rest, ended := bytes.Cut(in.line, []byte("\n"))
		if !ended && len(in.line) < maxLine {
			return nil
		}
		in.line = rest
		if err := r.fired(in.lines, text); err != nil {
			return err
		}
	}
}

// fired runs the handlers of one kind, as long as the session runs.
func (r *run) fired(probes []timer, text []byte) error {
	r.hosted.ctx.Input = string(text)
	defer func() { r.hosted.ctx.Input = "" }()
	for _, t := range probes {
		if !r.running() {
			return nil
		}
		if err := r.hosted.run(t.probe, t.site); err != nil {
			return err
		}
	}
	return nil
}
