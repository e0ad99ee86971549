package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/source"
)

// Printer writes diagnostics as text.
type Printer struct {
	W     io.Writer
	Files *source.FileSet // may be nil when nothing has a place
	Color bool
	Codes bool // a message ends in its code, in brackets
}

// Print writes every diagnostic of l, each once.
func (p *Printer) Print(l List) {
	for _, d := range l {
		p.One(d)
	}
}

// One writes one diagnostic:
//
//	file:line:col: error: message
//	  source line
//	  ^~~~
//	file:line:col: note: text
//	  hint: text
func (p *Printer) One(d *Diagnostic) {
	text := d.Message
	if p.Codes && d.Code != "" {
		text += " [" + string(d.Code) + "]"
	}
	p.place(d.Span, d.Severity.String(), text)
	p.chain(d.Span.From)
	for _, n := range d.Notes {
		p.place(n.Span, "note", n.Text)
	}
	if d.Hint != "" {
		fmt.Fprintf(p.W, "  hint: %s\n", d.Hint)
	}
}

func (p *Printer) chain(at source.Pos) {
	if p.Files == nil {
		return
	}
	for _, l := range p.Files.Chain(at) {
		p.place(source.At(l.Pos), "note", "in "+l.Why)
	}
}

func (p *Printer) place(sp source.Span, kind, text string) {
	head := kind
	if p.Color {
		c := "31"
		switch kind {
		case "warning":
			c = "35"
		case "note":
			c = "36"
		}
		head = "\x1b[1;" + c + "m" + kind + "\x1b[0m"
	}
	if p.Files == nil || !sp.From.IsValid() {
		fmt.Fprintf(p.W, "%s: %s\n", head, text)
		return
	}
	pos := p.Files.Position(sp.From)
	if pos.File == nil {
		fmt.Fprintf(p.W, "%s: %s\n", head, text)
		return
	}
	fmt.Fprintf(p.W, "%s: %s: %s\n", pos, head, text)
	line := pos.File.Line(pos.Line)
	if len(line) > 400 {
		return // a machine wrote this line; a caret would not help
	}
	width := 1
	if end := p.Files.Position(sp.To); end.File == pos.File {
		switch {
		case end.Line == pos.Line:
			width = end.Col - pos.Col
		case end.Line > pos.Line:
			width = utf8.RuneCountInString(line) - pos.Col + 1
		}
	}
	width = max(width, 1)
	var pad strings.Builder
	for i, r := range []rune(line) {
		if i >= pos.Col-1 {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
	}
	fmt.Fprintf(p.W, "  %s\n  %s^%s\n", clean(line), pad.String(), strings.Repeat("~", width-1))
}

// clean keeps control characters of hostile scripts away from the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < 0x20 || r == 0x7f || r == utf8.RuneError) {
			return '?'
		}
		return r
	}, s)
}
