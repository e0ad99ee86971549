package cgen

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/aes"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/snapshot"
	"github.com/gostap/gostap/runtime/wire"
)

// snapBytes is what one snapshot takes in a context.
const snapBytes = snapshot.Bytes + snapshot.Piece + 8*snapshot.Numbers

// snapArea is the C of the snapshot that in is for.
func snapArea(in *ir.Instr) string { return fmt.Sprintf("&c->snap[%d]", in.N) }

func (g *gen) snapRead(in *ir.Instr) {
	call := fmt.Sprintf("gs_snap_read(c, %s, %s, %s)", snapArea(in), g.long(in.Args[0]), g.long(in.Args[1]))
	if in.Dst == ir.NoReg {
		g.emit("%s;", call)
		return
	}
	g.set(in, "%s", call)
}

// snapTable gives a number of a constant table.
func (g *gen) snapTable(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	table := in.Args[1].Str
	if in.Args[1].Kind != ir.ValStr || len(table) < 8 {
		g.set(in, "0")
		return
	}
	g.set(in, "gs_snap_table(%s, %d, %s)", g.numbers(table), len(table)/8, g.long(in.Args[0]))
}

// aesColumn is a number of the table of AES.
func (g *gen) aesColumn(in *ir.Instr) {
	if in.Dst != ir.NoReg {
		g.set(in, "(s64)%s[(u8)%s]", g.numbers(aes.Text()), g.long(in.Args[0]))
	}
}

// numbers writes a table of numbers, once, and gives its name.
func (u *unit) numbers(table string) string {
	key := "\x00numbers" + table
	if name := u.texts[key]; name != "" {
		return name
	}
	if u.texts == nil {
		u.texts = map[string]string{}
	}
	name := u.unique("numbers")
	u.texts[key] = name
	fmt.Fprintf(&u.fmts, "static const u64 %s[] = {\n", name)
	for i := 0; i+8 <= len(table); i += 32 {
		var line []string
		for k := i; k < min(i+32, len(table)-7); k += 8 {
			line = append(line, fmt.Sprintf("%dULL", binary.LittleEndian.Uint64([]byte(table[k:k+8]))))
		}
		fmt.Fprintf(&u.fmts, "\t%s,\n", strings.Join(line, ", "))
	}
	u.fmts.WriteString("};\n\n")
	return name
}

// snapshot notes what the text of values will be made of.
func (g *gen) snapshot(in *ir.Instr, arg *wire.Arg) {
	arg.Names = &wire.Names{List: [][]byte{[]byte(in.Args[0].Str)}}
	if g.snapOf == nil {
		g.snapOf = map[ir.Reg]string{}
	}
	g.snapOf[in.Dst] = snapArea(in)
}
