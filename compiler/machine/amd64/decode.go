// Package amd64 knows the machine code of x86-64.
//
// In: bytes. Out: what package insn asks of a Decoder. Encodings are those of the Intel 64 manual, volume 2, appendix A
// (opcode maps) and chapter 2 (prefixes, VEX, EVEX), and AMD's XOP.
package amd64

import "github.com/gostap/gostap/compiler/machine/insn"

// Decoder is an insn.Decoder. Emulated are the forms that the kernel emulates (arch/x86/kernel/uprobes.c,
// branch_setup_xol_ops and push_setup_xol_ops). Multi-byte nops other than the five-byte one count as stepped, as
// they were before Linux 6.18.
type Decoder struct{}

var _ insn.Decoder = (*Decoder)(nil)

// refusedOps are the one-byte opcodes on which the kernel allows no uprobe: what is not set in
// good_insns_64 of arch/x86/kernel/uprobes.c, a digit for 16 of them. It looks up the last opcode byte
// of VEX and EVEX instructions in the same table, so that many vector instructions are refused by
// accident. Of those behind 0f all pass that are in its opcode map (arch/x86/lib/x86-opcode-map.txt), where AMD's
// SSE4a and FMA4 are missing. XOP is there from Linux 6.17 on. TestInstructions of backend-bpf/internal/attach tries
// them all.
var refusedOps = [16]uint16{
	0x0: 0x40c0, 0x1: 0xc0c0, 0x2: 0x8080, 0x3: 0x8080, 0x6: 0xf007, 0x8: 0x0004, 0x9: 0x0400,
	0xc: 0xf000, 0xd: 0x0070, 0xe: 0xf4f0, 0xf: 0x0c12,
}

func refusedOp(op byte) bool { return refusedOps[op>>4]>>(op&15)&1 != 0 }

// The opcode maps, a row of 16 to a line. The letters say what follows the opcode:
//
//	.  nothing              m  ModRM                 x  no instruction in 64-bit mode
//	b  imm8                 M  ModRM, imm8           p  a prefix
//	z  imm16/32             Z  ModRM, imm16/32       ^  escape to another map
//	v  imm16/32/64          g  ModRM, imm8 for /0 /1
//	w  imm16                G  ModRM, imm16/32 for /0 /1
//	e  imm16, imm8          j  rel8      J  rel32    a  address
const oneByte = "" +
	"mmmmbzxxmmmmbzx^" +
	"mmmmbzxxmmmmbzxx" +
	"mmmmbzpxmmmmbzpx" +
	"mmmmbzpxmmmmbzpx" +
	"pppppppppppppppp" +
	"................" +
	"xx^mppppzZbM...." +
	"jjjjjjjjjjjjjjjj" +
	"MZxMmmmmmmmmmmm^" +
	"..........x....." +
	"aaaa....bz......" +
	"bbbbbbbbvvvvvvvv" +
	"MMw.^^MZe.w..bx." +
	"mmmmxxx.mmmmmmmm" +
	"jjjjbbbbJJxj...." +
	"p.pp..gG......mm"

const twoByte = "" + // 0f xx
	"mmmmx.....x.xm.M" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmxxxxmmmmmmmm" +
	"......x.^x^xxxxx" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm" +
	"MMMMmmm.mmxxmmmm" +
	"JJJJJJJJJJJJJJJJ" +
	"mmmmmmmmmmmmmmmm" +
	"...mMmxx...mMmmm" +
	"mmmmmmmmmmMmmmmm" +
	"mmMmMMMm........" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm" +
	"mmmmmmmmmmmmmmmm"

// prefixes are what precedes the opcode.
type prefixes struct {
	rex          byte
	op16, addr32 bool // 66, 67
	f2, f3, lock bool
	segment      bool // cs, ds, es or ss
	count        int  // of bytes, REX included
}

const maxLen = 15

// decode is Decode.
func decode(b []byte) (insn.Inst, bool) { return (*Decoder)(nil).Decode(b) }

// Decode implements insn.Decoder.
func (*Decoder) Decode(b []byte) (in insn.Inst, ok bool) {
	b = b[:min(len(b), maxLen)]
	var p prefixes
	n := 0
prefix:
	for ; n < len(b); n++ {
		switch c := b[n]; {
		case c == 0x66:
			p.op16 = true
		case c == 0x67:
			p.addr32 = true
		case c == 0xf0:
			p.lock = true
		case c == 0xf2:
			p.f2 = true
		case c == 0xf3:
			p.f3 = true
		case c == 0x26, c == 0x2e, c == 0x36, c == 0x3e:
			p.segment = true
		case c == 0x64, c == 0x65:
		case c&0xf0 == 0x40:
			p.rex = c // counts only directly before the opcode
			continue
		default:
			break prefix
		}
		p.rex = 0
	}
	p.count = n
	if n == len(b) {
		return in, false
	}
	op := b[n]
	n++
	form := oneByte[op]
	switch {
	case op == 0x0f:
		if n == len(b) {
			return in, false
		}
		op2 := b[n]
		n++
		in, ok = decode0f(b, n, op2, p)
		in.Refused = in.Refused || p.lock || p.segment
		return in, ok
	case op == 0xc4, op == 0xc5, op == 0x62:
		return decodeVex(b, n, op, p)
	case op == 0x8f:
		if n < len(b) && b[n]&0x1f >= 8 {
			return decodeVex(b, n, op, p)
		}
		form = 'm'
	}
	reg := -1
	if n < len(b) {
		reg = int(b[n]) >> 3 & 7
	}
	n, ok = operands(b, n, form, p)
	if !ok {
		return in, false
	}
	in.Len = n
	in.Refused = p.lock || p.segment || refusedOp(op)
	switch {
	case op >= 0x50 && op <= 0x57:
		in.Kind = insn.Push
		in.Stepped = !(n == 1 || n == 2 && p.rex == 0x41)
	case op >= 0x70 && op <= 0x7f:
		in.Kind, in.Rel = insn.CondJump, int64(int8(b[n-1]))
		in.Stepped = p.op16
	case op == 0x8f && reg != 0:
		return in, false
	case op == 0x90 && p.rex&1 == 0:
		in.Kind = insn.Nop
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xcf:
		in.Kind = insn.Ret
	case op == 0xc6 || op == 0xc7:
		if reg != 0 && !(reg == 7 && b[p.count+1] == 0xf8) { // else xabort, xbegin
			return in, false
		}
	case op == 0xcc, op == 0xf1, op == 0xf4:
		in.Kind = insn.Trap
	case op >= 0xe0 && op <= 0xe3: // loop, jrcxz
		in.Kind, in.Rel, in.Stepped = insn.CondJump, int64(int8(b[n-1])), true
	case op == 0xe8, op == 0xe9:
		if p.op16 && p.rex&8 == 0 { // Intel and AMD disagree about the length
			return in, false
		}
		in.Kind, in.Rel, in.Stepped = insn.Jump, rel32(b[n-4:]), p.op16
		if op == 0xe8 {
			in.Kind = insn.Call
		}
	case op == 0xeb:
		in.Kind, in.Rel, in.Stepped = insn.Jump, int64(int8(b[n-1])), p.op16
	case op == 0xfe && reg > 1:
		return in, false
	case op == 0xff:
		modrm := b[p.count+1]
		switch reg {
		case 2, 3:
			in.Kind = insn.IndirectCall
		case 4, 5:
			in.Kind = insn.IndirectJump
			if modrm>>6 != 3 && modrm&7 == 4 { // SIB
				sib := b[p.count+2]
				in.Table = sib>>6 == 3 && (sib>>3&7 != 4 || p.rex&2 != 0)
			}
		case 7:
			return in, false
		}
	}
	return in, true
}

func rel32(b []byte) int64 {
	return int64(int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24))
}

// decode0f decodes the two-byte map and the two that it leads to.
func decode0f(b []byte, n int, op byte, p prefixes) (in insn.Inst, ok bool) {
	form := twoByte[op]
	switch {
	case op == 0x38 || op == 0x3a:
		if n == len(b) {
			return in, false
		}
		n++
		form = 'm'
		if op == 0x3a {
			form = 'M'
		}
		in.Len, ok = operands(b, n, form, p)
		return in, ok
	case op == 0x78 && (p.op16 || p.f2): // extrq, insertq of SSE4a: two bytes
		if in.Len, ok = operands(b, n, 'M', p); ok {
			in.Len++
			ok = in.Len <= len(b)
		}
		in.Refused = true
		return in, ok
	case op == 0x79:
		in.Refused = p.op16 || p.f2
	case op >= 0x80 && op <= 0x8f && p.op16 && p.rex&8 == 0:
		return in, false
	}
	n, ok = operands(b, n, form, p)
	if !ok {
		return in, false
	}
	in.Len = n
	switch {
	case op == 0x0b || op == 0xb9 || op == 0xff:
		in.Kind = insn.Trap
	case op == 0x1f && n == 5 && b[0] == 0x0f && b[2] == 0x44 && b[3] == 0 && b[4] == 0:
		in.Kind = insn.Nop5
	case op >= 0x80 && op <= 0x8f:
		in.Kind, in.Rel, in.Stepped = insn.CondJump, rel32(b[n-4:]), p.op16
	}
	return in, true
}

// decodeVex decodes what VEX (c4, c5), EVEX (62) and XOP (8f) introduce; n is behind that byte.
func decodeVex(b []byte, n int, intro byte, p prefixes) (in insn.Inst, ok bool) {
	if p.rex != 0 || p.op16 || p.f2 || p.f3 || p.lock || n+1 >= len(b) {
		return in, false
	}
	m, pp := 1, b[n]&3
	switch intro {
	case 0xc5:
		n++
	case 0xc4, 0x8f:
		m, pp = int(b[n]&0x1f), b[n+1]&3
		n += 2
	case 0x62:
		if n+2 >= len(b) || b[n]&8 != 0 || b[n+1]&4 == 0 {
			return in, false
		}
		m = int(b[n] & 7)
		n += 3
	}
	if n >= len(b) {
		return in, false
	}
	op := b[n]
	n++
	form := byte('m')
	xop, evex := intro == 0x8f, intro == 0x62
	switch {
	case !xop && m == 1:
		switch op {
		case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
			form = 'M'
		case 0x77:
			form = '.'
			if evex || pp != 0 {
				return in, false
			}
		}
	case !xop && m == 2:
	case !xop && m == 3:
		form = 'M'
	case evex && (m == 5 || m == 6): // AVX512-FP16
	case xop && m == 8:
		form = 'M'
	case xop && m == 9:
	case xop && m == 10:
		form = 'Z'
	default:
		return in, false
	}
	in.Refused = p.segment || xop || refusedOp(op) || intro == 0xc4 && m == 3 && fma4(op)
	in.Len, ok = operands(b, n, form, prefixes{addr32: p.addr32})
	return in, ok
}

// fma4 reports whether an opcode of map 3 behind VEX is one of AMD's FMA4, or vpermil2 of XOP.
func fma4(op byte) bool {
	switch op & 0xf8 {
	case 0x48:
		return op <= 0x49
	case 0x58:
		return op >= 0x5c
	}
	return op >= 0x68 && op <= 0x6f || op >= 0x78 && op <= 0x7f
}

// operands gives the length with everything that follows the opcode, which ends at n.
func operands(b []byte, n int, form byte, p prefixes) (int, bool) {
	immz := 4
	if p.op16 && p.rex&8 == 0 {
		immz = 2
	}
	switch form {
	case 'm', 'M', 'Z', 'g', 'G':
		if n >= len(b) {
			return 0, false
		}
		modrm := b[n]
		n++
		mod, rm := modrm>>6, modrm&7
		if mod != 3 {
			disp := 0
			switch mod {
			case 0:
				if rm == 5 {
					disp = 4
				}
			case 1:
				disp = 1
			case 2:
				disp = 4
			}
			if rm == 4 {
				if n >= len(b) {
					return 0, false
				}
				if mod == 0 && b[n]&7 == 5 {
					disp = 4
				}
				n++
			}
			n += disp
		}
		switch form {
		case 'M':
			n++
		case 'Z':
			n += immz
		case 'g':
			if modrm&0x30 == 0 {
				n++
			}
		case 'G':
			if modrm&0x30 == 0 {
				n += immz
			}
		}
	case '.':
	case 'b', 'j':
		n++
	case 'w':
		n += 2
	case 'e':
		n += 3
	case 'z':
		n += immz
	case 'J':
		n += 4
	case 'v':
		if p.rex&8 != 0 {
			n += 8
		} else {
			n += immz
		}
	case 'a':
		if p.addr32 {
			n += 4
		} else {
			n += 8
		}
	default:
		return 0, false
	}
	return n, n <= len(b)
}
