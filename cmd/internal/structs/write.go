package structs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// cacheLine is how many bytes a cache line has on all machines that gostap knows.
const cacheLine = 64

// deepest bounds structures in structures.
const deepest = 32

// writer writes declarations with offsets and sizes.
type writer struct {
	*bufio.Writer
	expand bool
	line   int64 // the cache line that the last member began in
}

// layout writes t as a declaration, with the room that it does not use.
func layout(out io.Writer, s debuginfo.Structure, expand, where bool) error {
	w := &writer{Writer: bufio.NewWriter(out), expand: expand}
	if file, line := s.Declared(); where && file != "" {
		fmt.Fprintf(w, "/* declared at %s:%d */\n", file, line)
	} else if where {
		w.WriteString("/* where it is declared is not known: neither BTF nor Go's debug information says that */\n")
	}
	t := s.Type
	if t.Go {
		fmt.Fprintf(w, "type %s struct {\n", t.Name)
	} else {
		fmt.Fprintf(w, "%s {\n", named(t))
	}
	g := w.members(t, 0, 1)
	w.sums(t, g)
	if t.Go {
		w.WriteString("}\n")
	} else {
		w.WriteString("};\n")
	}
	return w.Flush()
}

// named is the name of a structure with its keyword, which typedefs have not, and with its scopes in C++ and Rust.
func named(t *types.Ctype) string {
	name := bare(t.Name)
	word := t.Name[:len(t.Name)-len(name)]
	if scope := t.More().Scope; scope != "" {
		name = scope + "::" + name
	}
	return word + name
}

// members writes the members of t, which lies at off.
func (w *writer) members(t *types.Ctype, off int64, depth int) gaps {
	g := find(t)
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		w.gap(g.before[i], depth)
		w.boundary(off+f.Off, depth)
		w.member(f, off, depth)
	}
	return g
}

func (w *writer) indent(depth int) { w.WriteString(strings.Repeat("\t", depth)) }

// gap tells of room in front of a member.
func (w *writer) gap(h gap, depth int) {
	var parts []string
	if h.bits > 0 {
		parts = append(parts, count(h.bits, "bit"))
	}
	if h.bytes > 0 {
		parts = append(parts, count(h.bytes, "byte"))
	}
	if len(parts) > 0 {
		w.WriteString("\n")
		w.indent(depth)
		fmt.Fprintf(w, "/* hole of %s */\n\n", strings.Join(parts, " and "))
	}
}

// boundary tells where a cache line begins.
func (w *writer) boundary(at int64, depth int) {
	line := at / cacheLine
	if line <= w.line {
		return
	}
	w.line = line
	ago := ""
	if d := at % cacheLine; d > 0 {
		ago = " was " + count(d, "byte") + " ago"
	}
	w.indent(depth)
	fmt.Fprintf(w, "/* cache line %d, byte %d%s */\n", line, line*cacheLine, ago)
}

func (w *writer) member(f *types.Field, off int64, depth int) {
	t, at := f.Type, off+f.Off
	if t == nil {
		return
	}
	inner := (t.Kind == types.Struct || t.Kind == types.Union) && len(t.Fields()) > 0 && depth < deepest
	if inner && (w.expand || f.Name == "" && !f.Base && !t.Go) {
		w.indent(depth)
		head := strings.TrimSuffix(named(t), " {...}")
		if t.Go {
			head = cmp.Or(f.Name, "_") + " " + t.Name + " struct"
		}
		fmt.Fprintf(w, "%s {\n", strings.TrimSuffix(head, " <anonymous>"))
		g := w.members(t, at, depth+1)
		if g.end.bytes > 0 {
			w.indent(depth + 1)
			fmt.Fprintf(w, "/* padding of %s */\n", count(g.end.bytes, "byte"))
		}
		w.indent(depth)
		end := "}"
		if !t.Go && f.Name != "" {
			end += " " + f.Name
		}
		if !t.Go {
			end += ";"
		}
		w.line0(end, at, width(f), "", depth)
		return
	}
	w.indent(depth)
	bits := ""
	text := ""
	switch {
	case t.Go:
		text = fmt.Sprintf("%-21s %s", cmp.Or(f.Name, "_"), t.Name)
		if f.Embedded {
			text = t.Name
		}
	case f.Base && f.Virtual:
		text = fmt.Sprintf("%-26s %s", t.Name, "<virtual base>;")
	case f.Base:
		text = fmt.Sprintf("%-26s %s", t.Name, "<base>;")
	default:
		text = declare(t.Name, f.Name)
		if f.BitSize > 0 {
			text += fmt.Sprintf(":%d", f.BitSize)
			bits = fmt.Sprintf(":%d", f.BitOff)
		}
		text += ";"
	}
	w.line0(text, at, width(f), bits, depth)
}

// line0 writes the rest of a line with where a member begins and how many bytes it takes.
func (w *writer) line0(text string, at, size int64, bits string, depth int) {
	wide := max(8, 60-8*depth)
	fmt.Fprintf(w, "%-*s /* %5d%s %5d */\n", wide, text, at, bits, size)
}

// sums writes what there is to say of the whole.
func (w *writer) sums(t *types.Ctype, g gaps) {
	lines := []string{fmt.Sprintf("size: %d, cache lines: %d, members: %d", t.Size, (t.Size+cacheLine-1)/cacheLine,
		g.members)}
	if g.holes > 0 {
		lines = append(lines, fmt.Sprintf("members take: %d, holes: %d, holes take: %d", g.sum, g.holes, g.holeBytes))
	}
	if g.sumBits > 0 {
		lines = append(lines, fmt.Sprintf("bit fields take: %d bits, bit holes: %d, bit holes take: %d bits", g.sumBits,
			g.bitHoles, g.holeBits))
	}
	if g.end.bytes > 0 {
		lines = append(lines, fmt.Sprintf("padding: %d", g.end.bytes))
	}
	if g.end.bits > 0 {
		lines = append(lines, fmt.Sprintf("bit padding: %d bits", g.end.bits))
	}
	if d := t.Size % cacheLine; d > 0 && t.Size > cacheLine {
		lines = append(lines, "last cache line: "+count(d, "byte"))
	}
	w.WriteString("\n")
	for _, l := range lines {
		fmt.Fprintf(w, "\t/* %s */\n", l)
	}
}

// declare writes the declaration of a member in C.
func declare(typ, name string) string {
	if name == "" {
		return typ
	}
	if i := strings.Index(typ, "(*"); i >= 0 {
		at := i + 2
		for at < len(typ) && typ[at] == '*' {
			at++
		}
		for _, word := range []string{"const", "volatile", "restrict"} {
			if rest := strings.TrimLeft(typ[at:], " "); strings.HasPrefix(rest, word) {
				at, name = len(typ)-len(rest)+len(word), " "+strings.TrimSpace(name)
			}
		}
		if at < len(typ) && (typ[at] == ')' || typ[at] == '[') {
			return typ[:at] + name + typ[at:]
		}
	}
	dims := ""
	for strings.HasSuffix(typ, "]") {
		i := strings.LastIndexByte(typ, '[')
		if i < 0 {
			break
		}
		typ, dims = strings.TrimSpace(typ[:i]), typ[i:]+dims
	}
	return fmt.Sprintf("%-26s %s%s", typ, name, dims)
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
