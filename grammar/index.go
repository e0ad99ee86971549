package grammar

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/pp"
)

// Kind says what an Entry declares.
type Kind uint8

// The kinds of declarations.
const (
	FunctionEntry Kind = iota
	GlobalEntry
	AliasEntry
	ProbeEntry
	MacroEntry
	EmbeddedEntry
)

func (k Kind) String() string {
	return [...]string{"function", "global", "alias", "probe", "macro", "embedded code"}[k]
}

// Entry is one top-level declaration of a library file, found without parsing it.
type Entry struct {
	Kind Kind
	// Private is set where the word itself stands there, not where a macro makes it.
	Private bool
	// Names has one name, but for "global a, b", for an alias with several names
	// and for a probe or embedded code, which have none. An alias is named as
	// written, without spaces: "syscall.open.return".
	Names []string
	// Off and End bound the declaration in the text, with macros that stand before it; Line is its first line, from 1.
	Off, End, Line int
	// Guards are the top-level conditions around it, outermost first.
	Guards []Guard
	// Refs are the names it uses, each once, in order: identifiers of its blocks
	// and conditions, and words with an @ that are no operators of the language.
	Refs []string
	// Points are the probe points of an alias or probe as written, without spaces
	// and arguments: "kernel.function.return".
	Points []string
	// Params are the parameters of a function or macro.
	Params []string
	// BodyOff and BodyEnd bound the body of a macro.
	BodyOff, BodyEnd int
}

// Guard is one %( %) around a declaration.
type Guard struct {
	// Off and End bound the test with the %? behind it.
	Off, End int
	// Else says that the declaration stands behind %:.
	Else bool
}

// Macro makes the macro of an entry of kind MacroEntry. f holds the text that was indexed.
func (e *Entry) Macro(f *source.File) *Macro {
	return &Macro{
		Name: e.Names[0], Params: e.Params, File: f, Off: e.BodyOff, End: e.BodyEnd,
		At: source.Span{From: f.Pos(e.Off), To: f.Pos(e.BodyOff)},
	}
}

// Index lists the declarations of a library file in the order of the text, by a
// scan that only tells tokens and brackets apart: about a hundred times cheaper
// than parsing. ok is false where that is not enough (a bracket or comment is
// never closed, a condition wraps half a declaration, something is no
// declaration): such a file has to be parsed whole.
func Index(text []byte) (entries []Entry, ok bool) {
	x := indexer{scanner: scanner{s: string(text)}}
	x.line = 1
	for x.next() {
		if !x.top() {
			return x.entries, false
		}
	}
	return x.entries, !x.broken && len(x.guards) == 0
}

// maxGuards bounds conditions inside each other.
const maxGuards = 50

type indexer struct {
	scanner
	line   int // of byte lined
	lined  int
	guards []Guard

	entries []Entry
	e       *Entry
	seen    map[string]bool
}

// top reads the declaration or condition that begins with the current token.
func (x *indexer) top() bool {
	start := x.at
	switch x.tok {
	case "%(":
		off := x.i
		for x.next() && x.tok != "%?" {
			if x.tok == "%(" || x.tok == "%)" || x.tok == "%:" {
				return false
			}
		}
		x.guards = append(x.guards, Guard{Off: off, End: x.i})
		return x.tok == "%?" && len(x.guards) <= maxGuards
	case "%:":
		n := len(x.guards)
		if n == 0 || x.guards[n-1].Else {
			return false
		}
		x.guards[n-1].Else = true
		return true
	case "%)":
		if len(x.guards) == 0 {
			return false
		}
		x.guards = x.guards[:len(x.guards)-1]
		return true
	}
	x.line += strings.Count(x.s[x.lined:start], "\n")
	x.lined = start
	x.e = &Entry{Off: start, Line: x.line, Guards: slices.Clone(x.guards)}
	x.seen = map[string]bool{}
	if x.kind == scanAt && x.tok != "@define" {
		// A macro that stands for "private"; others may make whole declarations.
		x.refer()
		if !x.next() || x.tok != "function" && x.tok != "global" && x.tok != "probe" {
			return false
		}
	}
	if !x.declaration() || x.broken {
		return false
	}
	x.e.End = x.end
	x.entries = append(x.entries, *x.e)
	return true
}

// declaration leaves end behind the last byte of the declaration.
func (x *indexer) declaration() bool {
	if x.kind == scanEmbedded {
		x.e.Kind = EmbeddedEntry
		x.end = x.i
		return true
	}
	switch x.tok {
	case "@define":
		return x.define()
	case "private":
		x.e.Private = true
		if !x.next() {
			return false
		}
		switch x.tok {
		case "function":
			return x.next() && x.function()
		case "global":
			return x.next() && x.globals()
		}
		return x.globals()
	case "global":
		return x.next() && x.globals()
	case "function":
		return x.next() && x.function()
	case "probe":
		return x.probe()
	}
	return false
}

func (x *indexer) define() bool {
	x.e.Kind = MacroEntry
	if !x.next() || x.kind != scanWord {
		return false
	}
	x.e.Names = []string{x.tok}
	if !x.next() {
		return false
	}
	if x.tok == "(" {
		for x.next() && x.tok != ")" {
			if x.kind == scanWord {
				x.e.Params = append(x.e.Params, x.tok)
			}
		}
		x.next()
	}
	if x.tok != "%(" {
		return false
	}
	x.e.BodyOff = x.i
	for depth := 0; x.next(); {
		switch x.tok {
		case "%(":
			depth++
		case "%)":
			if depth == 0 {
				x.e.BodyEnd, x.end = x.at, x.i
				return true
			}
			depth--
		default:
			x.refer()
		}
	}
	return false
}

// globals begins at the first name.
func (x *indexer) globals() bool {
	x.e.Kind = GlobalEntry
	for {
		if x.kind != scanWord {
			return false
		}
		x.e.Names = append(x.e.Names, x.tok)
		x.end = x.i
		more := x.peek()
		if more == "%" {
			x.take()
			more = x.peek()
		}
		if more == "[" {
			for x.take(); x.tok != "]"; x.take() {
				if x.kind == scanEnd || x.tok == "{" {
					return false
				}
			}
			more = x.peek()
		}
		if more == "=" {
			x.take()
			if x.peek() == "-" {
				x.take()
			}
			if x.take(); x.tok == "%(" {
				if _, ok := x.choice(); !ok {
					return false
				}
				x.end = x.i
			}
			for x.kind == scanString && strings.HasPrefix(x.peek(), `"`) {
				x.take()
			}
			more = x.peek()
		}
		switch more {
		case ",":
			x.take()
			x.take()
		case ";":
			x.take()
			return true
		default:
			return true
		}
	}
}

// function begins at the name.
func (x *indexer) function() bool {
	x.e.Kind = FunctionEntry
	if x.kind != scanWord {
		return false
	}
	x.e.Names = []string{x.tok}
	inParams := false
	for x.next() {
		switch {
		case x.kind == scanEmbedded:
			x.end = x.i
			return true
		case x.tok == "{":
			return x.block()
		case x.tok == "%(":
			// A body in each arm, or a piece of the head.
			if body, ok := x.choice(); body || !ok {
				x.end = x.i
				return ok
			}
		case x.tok == "(":
			inParams = true
		case x.tok == ")":
			inParams = false
		case x.kind == scanWord && inParams && x.prev != ":":
			x.e.Params = append(x.e.Params, x.tok)
		}
	}
	return false
}

// choice reads up to the %) of the current %( and says whether a body was in it.
func (x *indexer) choice() (body, ok bool) {
	for depth := 1; x.next(); {
		switch {
		case x.kind == scanEmbedded || x.tok == "{":
			body = true
		case x.tok == "%(":
			depth++
		case x.tok == "%)":
			if depth--; depth == 0 {
				return body, true
			}
		default:
			x.refer()
		}
	}
	return false, false
}

// probe begins at "probe".
func (x *indexer) probe() bool {
	x.e.Kind = ProbeEntry
	var name strings.Builder
	groups, conds := 0, 0
	flush := func() {
		if name.Len() > 0 {
			x.e.Points = append(x.e.Points, name.String())
			name.Reset()
		}
	}
	start := true
	for x.next() {
		began := start
		start = false
		switch {
		case x.tok == "{" && !began:
			flush()
			return x.bodies()
		case x.tok == "{":
			groups++
			start = true
			name.WriteString("{")
		case x.tok == "}":
			groups--
			if name.WriteString("}"); groups < 0 {
				return false
			}
		case (x.tok == "=" || x.tok == "+=") && groups == 0:
			x.e.Kind = AliasEntry
			flush()
			x.e.Names, x.e.Points = append(x.e.Names, x.e.Points...), nil
			start = true
		case x.tok == ",":
			if start = true; groups == 0 {
				flush()
			} else {
				name.WriteString(",")
			}
		case x.tok == "(":
			if !x.skipParens() {
				return false
			}
		case x.tok == ".":
			start = true
			name.WriteString(".")
		case x.tok == "?" || x.tok == "!" || x.tok == "if" && !began:
		case x.kind == scanAt:
			x.refer()
		case x.tok == "%(" || x.tok == "%?" || x.tok == "%:" || x.tok == "%)":
			// Points that depend on a condition: all of them are listed.
			switch x.tok {
			case "%(":
				conds++
				for x.next() && x.tok != "%?" {
				}
			case "%)":
				conds--
			case "%:":
				flush()
			}
			if conds < 0 || conds == 0 && x.tok != "%)" {
				return false // of a condition that began before the probe
			}
			start = began
		default:
			name.WriteString(x.tok)
		}
	}
	return false
}

// skipParens reads an argument or a condition up to its ).
func (x *indexer) skipParens() bool {
	for depth := 1; x.next(); {
		switch x.tok {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return true
			}
		case "{", "}":
			return false
		default:
			x.refer()
		}
	}
	return false
}

// bodies reads one block or, of an alias, two.
func (x *indexer) bodies() bool {
	if !x.block() {
		return false
	}
	if x.peek() == "," {
		x.take()
		return x.next() && x.tok == "{" && x.block()
	}
	return true
}

// block begins at "{" and ends behind its "}". Arms of a condition must leave as
// many braces open as there were before.
func (x *indexer) block() bool {
	depth := 1
	type arms struct {
		before, then int
		inElse       bool
	}
	var conds []arms
	for x.next() {
		switch x.tok {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				x.end = x.i
				return len(conds) == 0
			}
		case "%(":
			conds = append(conds, arms{before: depth})
		case "%:":
			n := len(conds)
			if n == 0 || conds[n-1].inElse {
				return false
			}
			c := &conds[n-1]
			c.then, c.inElse = depth, true
			depth = c.before
		case "%)":
			n := len(conds)
			if n == 0 {
				return false
			}
			c := conds[n-1]
			conds = conds[:n-1]
			if c.inElse && depth != c.then || !c.inElse && depth != c.before {
				return false
			}
		default:
			x.refer()
		}
	}
	return false
}

// refer notes the current token if it is a name that may be declared somewhere.
func (x *indexer) refer() {
	switch {
	case x.kind == scanAt && !pp.AtOps[x.tok[1:]]:
	case x.kind == scanWord && x.prev != "->" && !keywords[x.tok]:
	default:
		return
	}
	if !x.seen[x.tok] {
		x.seen[x.tok] = true
		x.e.Refs = append(x.e.Refs, x.tok)
	}
}

var keywords = map[string]bool{
	"probe": true, "global": true, "private": true, "function": true, "if": true, "else": true, "for": true,
	"foreach": true, "in": true, "limit": true, "return": true, "delete": true, "while": true, "break": true,
	"continue": true, "next": true, "string": true, "long": true, "try": true, "catch": true,
}
