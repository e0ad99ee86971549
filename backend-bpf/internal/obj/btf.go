package obj

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/source"
)

// line says that the code from off on came from a place in the script.
type line struct {
	off       int // bytes into the function
	file      string
	text      string
	num, colm int
}

// lines finds the places that function i of a program came from. The kernel wants one at the first instruction of
// each function if it gets any.
func (w *writer) lines(insns asm.Instructions, code *load.Code, i int) []line {
	from, to := code.Funcs[i].At, len(code.Insn)
	if i+1 < len(code.Funcs) {
		to = code.Funcs[i+1].At
	}
	var out []line
	for at := from; at < to; at++ {
		if at > from && code.Insn[at] == code.Insn[at-1] {
			continue // the second half of a wide instruction
		}
		src := insns[code.Insn[at]].Source()
		if src == nil && at > from {
			continue
		}
		l := w.line(src)
		l.off = (at - from) * 8
		if n := len(out); n > 0 && out[n-1].file == l.file && out[n-1].num == l.num && out[n-1].colm == l.colm &&
			out[n-1].text == l.text {
			continue
		}
		out = append(out, l)
	}
	return out
}

func (w *writer) line(src fmt.Stringer) line {
	switch s := src.(type) {
	case nil:
		return line{}
	case plan.Source:
		if w.plan.Program != nil && w.plan.Program.Files != nil && s.Pos != source.NoPos {
			if p := w.plan.Program.Files.Position(s.Pos); p.File != nil {
				return line{file: p.File.Name, text: strings.TrimRight(string(p.File.Line(p.Line)), "\r\n"),
					num: p.Line, colm: p.Col}
			}
		}
		return line{text: s.Text}
	}
	return line{text: src.String()}
}

// Limits of a place in line_info: 22 bits for the line, 10 for the column.
const (
	maxLine   = 1<<22 - 1
	maxColumn = 1<<10 - 1
)

// btfSections writes .BTF and .BTF.ext.
func (w *writer) btfSections() error {
	ids := make([]btf.TypeID, len(w.funcs))
	for i, f := range w.funcs {
		id, err := w.types.Add(f.typ)
		if err != nil {
			return fmt.Errorf("type of %s: %w", f.name, err)
		}
		ids[i] = id
	}
	raw, err := w.types.Marshal(nil, &btf.MarshalOptions{Order: binary.LittleEndian, PreventNoTypeFound: true})
	if err != nil {
		return fmt.Errorf("write type information: %w", err)
	}
	// The strings are the last part of it: those of .BTF.ext go behind them.
	le := binary.LittleEndian
	const strLenAt = 20
	strs := strTail{raw: raw, base: le.Uint32(raw[strLenAt:]), known: map[string]uint32{"": 0}}
	var fi, li []byte
	fi = le.AppendUint32(fi, 8)
	li = le.AppendUint32(li, 16)
	for i := 0; i < len(w.funcs); {
		j := i
		for j < len(w.funcs) && w.funcs[j].sec == w.funcs[i].sec {
			j++
		}
		name := strs.add(w.funcs[i].sec.name)
		fi = le.AppendUint32(fi, name)
		fi = le.AppendUint32(fi, uint32(j-i))
		li = le.AppendUint32(li, name)
		count := len(li)
		li = le.AppendUint32(li, 0)
		n := uint32(0)
		for ; i < j; i++ {
			f := w.funcs[i]
			fi = le.AppendUint32(fi, uint32(f.off))
			fi = le.AppendUint32(fi, uint32(ids[i]))
			for _, l := range f.lines {
				li = le.AppendUint32(li, uint32(f.off+l.off))
				li = le.AppendUint32(li, strs.add(l.file))
				li = le.AppendUint32(li, strs.add(l.text))
				li = le.AppendUint32(li, uint32(min(l.num, maxLine))<<10|uint32(min(l.colm, maxColumn)))
				n++
			}
		}
		le.PutUint32(li[count:], n)
	}
	raw = strs.raw
	le.PutUint32(raw[strLenAt:], strs.base+uint32(len(strs.tail)))
	raw = append(raw, strs.tail...)
	w.elf.add(&section{name: ".BTF", typ: shtProgbits, align: 4, data: raw})

	const hdr = 32
	ext := le.AppendUint16(nil, 0xeb9f)
	ext = append(ext, 1, 0)
	ext = le.AppendUint32(ext, hdr)
	ext = le.AppendUint32(ext, 0)
	ext = le.AppendUint32(ext, uint32(len(fi)))
	ext = le.AppendUint32(ext, uint32(len(fi)))
	ext = le.AppendUint32(ext, uint32(len(li)))
	ext = le.AppendUint32(ext, uint32(len(fi)+len(li))) // no relocations against the kernel's types
	ext = le.AppendUint32(ext, 0)
	ext = append(append(ext, fi...), li...)
	w.elf.add(&section{name: ".BTF.ext", typ: shtProgbits, align: 4, data: ext})
	return nil
}

// strTail collects strings that are appended to a table.
type strTail struct {
	raw   []byte
	base  uint32
	tail  []byte
	known map[string]uint32
}

func (t *strTail) add(s string) uint32 {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if at, ok := t.known[s]; ok {
		return at
	}
	at := t.base + uint32(len(t.tail))
	t.tail = append(append(t.tail, s...), 0)
	t.known[s] = at
	return at
}
