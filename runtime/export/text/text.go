// Package text prints what a session says as it is printed where nothing is delivered, beside the places that get it.
//
// In: lines of a session. Out: text on a writer; of several machines each line with the machine's name in front; the
// messages among them, for standard error.
package text

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/runtime/export/feed"
)

// Kind is how the destination is written: it has no address.
const Kind = "text"

// Printer is the destination. Unlike others it is waited for: who reads the text sees all of it.
type Printer struct {
	to   io.Writer
	buf  []byte
	rest map[string][]byte // of machines, what has no end of line so far
	err  error             // the first of to
}

// New makes one that prints on w.
func New(w io.Writer) *Printer { return &Printer{to: w, rest: map[string][]byte{}} }

// mostBuffered is how many bytes wait while there are more lines.
const mostBuffered = 64 << 10

// Take prints a line.
func (p *Printer) Take(l *feed.Line) {
	switch l.Type {
	case "print", "span", "text", "histogram":
		s := l.Text
		if b, ok := l.Bytes("/text"); ok {
			s = string(b)
		}
		p.add(l.Machine, s)
	case "global":
		p.add(l.Machine, Global(l))
	case "machine-end":
		p.flush(l.Machine)
	}
	if len(p.buf) >= mostBuffered {
		p.Idle()
	}
}

// Message is what a line says on standard error, "" if it is no message. What the compiler warns of was told before.
func Message(l *feed.Line) string {
	word := "WARNING"
	switch {
	case l.Type == "error":
		word = "ERROR"
	case l.Type == "lost", l.Type == "warning" && l.Code == "":
	default:
		return ""
	}
	text := l.Message
	if l.File != "" {
		text = fmt.Sprintf("%s at %s:%d:%d", text, l.File, l.Line, l.Column)
	}
	if l.Machine != "" {
		word = l.Machine + ": " + word
	}
	return diag.Visible(word) + ": " + diag.Visible(text)
}

// add adds text of a machine, whole lines of it.
func (p *Printer) add(machine, s string) {
	if machine == "" {
		p.buf = append(p.buf, s...)
		return
	}
	p.buf, p.rest[machine] = Named(p.buf, append(p.rest[machine], s...), machine)
}

// flush adds what a machine has said without an end of line.
func (p *Printer) flush(machine string) {
	if len(p.rest[machine]) > 0 {
		p.add(machine, "\n")
	}
	delete(p.rest, machine)
}

// Idle prints what waits.
func (p *Printer) Idle() {
	if p.err == nil && len(p.buf) > 0 {
		_, p.err = p.to.Write(p.buf)
	}
	p.buf = p.buf[:0]
}

// Err is the first error of the writer, behind which nothing is printed.
func (p *Printer) Err() error { return p.err }

// Close prints what is left. The error is that of Err.
func (p *Printer) Close(context.Context) error {
	for machine := range p.rest {
		p.flush(machine)
	}
	p.Idle()
	return p.err
}

// Global is the line that a global is printed as at the end.
func Global(l *feed.Line) string {
	var b []byte
	b = append(b, l.Name...)
	for i, k := range l.Keys {
		b = value(append(b, "[,"[min(i, 1)]), k, l, "/keys/"+strconv.Itoa(i))
	}
	if len(l.Keys) > 0 {
		b = append(b, ']')
	}
	s := l.Stats
	if s == nil {
		return string(append(value(append(b, '='), l.Value, l, "/value"), '\n'))
	}
	b = fmt.Appendf(b, " @count=%d", s.Count)
	if s.Count > 0 {
		for _, x := range []struct {
			name string
			n    int64
		}{{"min", s.Min}, {"max", s.Max}, {"sum", s.Sum}, {"avg", s.Avg}} {
			b = append(append(append(b, " @"...), x.name...), '=')
			if s.Scale > 1 {
				b = float(b, float64(x.n)/float64(s.Scale))
			} else {
				b = strconv.AppendInt(b, x.n, 10)
			}
		}
	}
	return string(append(b, '\n'))
}

// value appends a value, which stands at a place of the line.
func value(b []byte, v feed.Value, l *feed.Line, place string) []byte {
	switch x := v.V.(type) {
	case string:
		if exact, ok := l.Bytes(place); ok {
			x = string(exact)
		}
		b = append(append(b, '"'), textfmt.Quote(x, math.MaxInt, false)...)
		return append(b, '"')
	case float64:
		return float(b, x)
	}
	return append(b, v.String()...)
}

func float(b []byte, x float64) []byte {
	g := ir.Conv('g')
	return textfmt.Conv(b, &g, -1, -1, textfmt.Val{Int: int64(math.Float64bits(x))})
}
