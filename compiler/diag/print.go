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
	// Advice, if given, has the last word on hints.
	Advice func(hint string) string
	// Width is the columns of the screen: lines of the script are cut to what is around the mark. 0: not known.
	Width int
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
	own := Own(p.Files, d.Span)
	p.place(own, d.Severity.String(), text)
	if own != d.Span {
		p.place(d.Span, "note", WithinText)
	}
	p.chain(d.Span.From, own.From)
	for _, n := range d.Notes {
		p.place(n.Span, "note", n.Text)
	}
	if d.more > 0 {
		p.place(source.Span{}, "note", fmt.Sprintf("the same holds for other places of the script and its library: %d",
			d.more))
	}
	if hint := d.Hint; hint != "" {
		if p.Advice != nil {
			hint = p.Advice(hint)
		}
		fmt.Fprintf(p.W, "  hint: %s\n", Visible(hint))
	}
}

// Own gives where the user's text asked for text of the library that was expanded there, else sp itself.
func Own(files *source.FileSet, sp source.Span) source.Span {
	if files == nil {
		return sp
	}
	if f := files.File(sp.From); f == nil || !f.Library {
		return sp
	}
	for _, l := range files.Chain(sp.From) {
		if f := files.File(l.Pos); f != nil && !f.Library {
			return source.At(l.Pos)
		}
	}
	return sp
}

// chain tells how the text at a place came there, as far as that was not told: shown is the place that was.
func (p *Printer) chain(at, shown source.Pos) {
	if p.Files == nil {
		return
	}
	for _, l := range p.Files.Chain(at) {
		if l.Pos == shown {
			p.place(source.Span{}, "note", "in "+l.Why)
			continue
		}
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
		fmt.Fprintf(p.W, "%s: %s\n", head, Visible(text))
		return
	}
	pos := p.Files.Position(sp.From)
	if pos.File == nil {
		fmt.Fprintf(p.W, "%s: %s\n", head, Visible(text))
		return
	}
	fmt.Fprintf(p.W, "%s: %s: %s\n", Visible(pos.String()), head, Visible(text))
	line := []rune(pos.File.Line(pos.Line))
	width := 1
	if end := p.Files.Position(sp.To); end.File == pos.File {
		switch {
		case end.Line == pos.Line:
			width = end.Col - pos.Col
		case end.Line > pos.Line:
			width = len(line) - pos.Col + 1
		}
	}
	room := p.Width - 2 // for the spaces in front
	if p.Width <= 0 {
		room = longLine
		if len(line) > longLine {
			room = 100
		}
	}
	shown, at, width := window(line, pos.Col-1, max(width, 1), room)
	var pad strings.Builder
	for i, r := range shown {
		if i >= at {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
	}
	fmt.Fprintf(p.W, "  %s\n  %s^%s\n", clean(string(shown)), pad.String(), strings.Repeat("~", width-1))
}

// longLine is the longest line of a script that is shown whole where the width of the screen is not known.
const longLine = 400

// window takes the part of a line that is shown: all of it if it has room, else what is around the n characters
// from at on, with "..." for what is left out. It gives where they begin in there, and how many of them there are.
func window(line []rune, at, n, room int) ([]rune, int, int) {
	at = min(max(at, 0), len(line))
	used := 0
	for _, r := range line {
		used++
		if r == '\t' {
			used += 7
		}
	}
	if used <= room {
		return line, at, n
	}
	line = append([]rune(nil), line...)
	for i, r := range line {
		if r == '\t' {
			line[i] = ' '
		}
	}
	if len(line) <= room {
		return line, at, n
	}
	room = max(room, 40)
	// The end of what is marked is shown before what stands in front of it, its beginning before that.
	from := max(0, min(at-room/3, len(line)-room))
	if over := at + n + 3 - (from + room); over > 0 {
		from = min(from+over, max(at-3-room/8, 0))
	}
	to := min(from+room, len(line))
	from = max(0, min(from, to-room))
	out := line[from:to]
	if from > 0 {
		copy(out, []rune("..."))
	}
	if to < len(line) {
		copy(out[len(out)-3:], []rune("..."))
	}
	return out, at - from, max(min(n, len(out)-(at-from)), 1)
}

// hidden reports whether a character would act on the terminal, or on the order of the characters around it,
// instead of being seen.
func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200e || r == 0x200f
}

// clean keeps control characters of hostile scripts away from the terminal. The text has as many characters as before.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (hidden(r) || r == utf8.RuneError) {
			return '?'
		}
		return r
	}, s)
}

// Visible gives s for a message: control characters and bytes that are no text, which the names of files and
// functions and texts of programs may hold, are written as \ooo. New lines and tabs stay.
func Visible(s string) string {
	bad := func(i int) int {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) && r != '\n' && r != '\t' {
			return n
		}
		return 0
	}
	var b []byte
	for i := 0; i < len(s); {
		if s[i] >= 0x20 && s[i] < 0x7f {
			if b != nil {
				b = append(b, s[i])
			}
			i++
			continue
		}
		n := bad(i)
		if n > 0 && b == nil {
			b = append(make([]byte, 0, len(s)+16), s[:i]...)
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[i:])
			if b != nil {
				b = append(b, s[i:i+n]...)
			}
			i += n
			continue
		}
		for range n {
			b = append(b, '\\', '0'+s[i]>>6, '0'+s[i]>>3&7, '0'+s[i]&7)
			i++
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}
