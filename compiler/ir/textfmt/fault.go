package textfmt

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Fault is a run-time error with the place in the script that raised it.
type Fault struct {
	Code ir.Code
	Pos  source.Pos
	// Args are as the Code says.
	Args []Val
}

// Error makes a Fault usable where a Go error is wanted. Names of the program are not in it; see
// Message.
func (f *Fault) Error() string { return f.Message(nil) }

func (f *Fault) arg(i int) Val {
	if i < len(f.Args) {
		return f.Args[i]
	}
	return Val{}
}

// Message is the error as catch (msg) gives it. p says what global indexes mean; it may be nil.
func (f *Fault) Message(p *ir.Program) string {
	switch f.Code {
	case ir.ErrUser, ir.ErrArgument:
		return f.arg(0).Str
	case ir.ErrDivZero:
		return "division by 0"
	case ir.ErrMapFull:
		if g := f.arg(0).Int; p != nil && g >= 0 && g < int64(len(p.Globals)) &&
			p.Globals[g].Size != p.Limits.MaxEntries {
			return fmt.Sprintf("Array overflow, check size limit (%d)", p.Globals[g].Size)
		}
		return "Array overflow, check MAXMAPENTRIES"
	case ir.ErrMemory:
		return fmt.Sprintf("read fault at 0x%016x", uint64(f.arg(0).Int))
	case ir.ErrWrite:
		return fmt.Sprintf("write fault at 0x%016x", uint64(f.arg(0).Int))
	case ir.ErrEmptyStat:
		return "empty aggregate"
	case ir.ErrMaxAction:
		return "MAXACTION exceeded"
	case ir.ErrMaxNesting:
		return "MAXNESTING exceeded"
	case ir.ErrExhausted:
		return "all functions exhausted"
	case ir.ErrIndexRange:
		return fmt.Sprintf("index %d is out of range, length %d", f.arg(0).Int, f.arg(1).Int)
	case ir.ErrScratch:
		return "no scratch memory left: too many handlers interrupted each other"
	case ir.ErrUnaligned:
		return "a value does not have the form that was checked at build time"
	}
	return "run-time error " + f.Code.String()
}

// Text is the whole report of an error that was not caught, without a newline:
//
//	ERROR: division by 0 near operator '/' at t.stp:1:21
func (f *Fault) Text(p *ir.Program) string {
	s := "ERROR: " + f.Message(p)
	if p == nil || p.Files == nil {
		return s
	}
	return s + Near(p.Files, f.Pos) + f.wrongMemory(p.Files)
}

// wrongMemory is a hint, in a line of its own, for an error of a function that reads memory of programs and was given
// an address of the kernel, or the other way round.
func (f *Fault) wrongMemory(files *source.FileSet) string {
	file := files.File(f.Pos)
	if f.Code != ir.ErrMemory || file == nil {
		return ""
	}
	_, tok := token(file.Text[min(file.Offset(f.Pos), len(file.Text)):])
	switch addr := f.arg(0).Int; {
	case strings.HasPrefix(tok, "user_") && addr < 0:
		return "\n  hint: this is an address of the kernel; kernel_string and its kin read there"
	case strings.HasPrefix(tok, "kernel_") && addr >= 1<<16:
		return "\n  hint: this is an address of a program; user_string and its kin read there"
	}
	return ""
}

var keywords = map[string]bool{
	"probe": true, "global": true, "private": true, "function": true, "if": true, "else": true, "for": true,
	"foreach": true,
	"in":      true, "limit": true, "return": true, "delete": true, "while": true, "break": true, "continue": true,
	"next":   true,
	"string": true, "long": true, "try": true, "catch": true,
}

// operators are those of more than one character, longest first.
var operators = []string{"<<<", ">>>", "<<=", ">>=", "==", "!=", "<=", ">=", "=~", "!~", "+=", "-=", "*=", "/=", "%=",
	"&=", "^=", "|=", ".=", "&&", "||", "++", "--", "->", "<<", ">>"}

// Near names the token at pos and its place, to be put behind a message: " near identifier 'x' at
// FILE:LINE:COL". It is "" when pos lies in no file.
func Near(files *source.FileSet, pos source.Pos) string {
	file := files.File(pos)
	if file == nil {
		return ""
	}
	kind, tok := token(file.Text[min(file.Offset(pos), len(file.Text)):])
	if tok == "" {
		return " at " + files.Position(pos).String()
	}
	return fmt.Sprintf(" near %s '%s' at %s", kind, tok, files.Position(pos))
}

func token(text []byte) (kind, tok string) {
	if len(text) == 0 {
		return "", ""
	}
	word := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
	}
	n := 0
	switch c := text[0]; {
	case c >= '0' && c <= '9':
		for n < len(text) && word(text[n]) {
			n++
		}
		return "number", string(text[:n])
	case word(c):
		for n < len(text) && word(text[n]) {
			n++
		}
		if w := string(text[:n]); keywords[w] {
			return "keyword", w
		}
		return "identifier", string(text[:n])
	case c == '@':
		for n = 1; n < len(text) && word(text[n]); n++ {
		}
		return "operator", string(text[:n])
	case c == '"':
		for n = 1; n < len(text) && text[n] != '"' && text[n] != '\n'; n++ {
			if text[n] == '\\' && n+1 < len(text) {
				n++
			}
		}
		return "string", string(text[1:min(n, len(text))])
	case c <= ' ':
		return "", ""
	}
	for _, op := range operators {
		if len(text) >= len(op) && string(text[:len(op)]) == op {
			return "operator", op
		}
	}
	return "operator", string(text[:1])
}
