package amd64

import "github.com/gostap/gostap/compiler/machine/insn"

// StackCheck implements insn.Decoder. These are the forms of cmd/internal/obj/x86 (obj6.go, stacksplit and loadG), by
// the size of the frame:
//
//	[MOVQ TLS, g]; CMPQ SP, 16(g); JLS more
//	[MOVQ TLS, g]; LEAQ -n(SP), tmp; CMPQ tmp, 16(g); JLS more
//	[MOVQ TLS, g]; MOVQ SP, tmp; SUBQ $n, tmp; JCS more; CMPQ tmp, 16(g); JLS more
//
//	MOVQ TLS, CX; MOVQ 16(CX), SI; CMPQ SI, $preempt; JEQ more; LEAQ n(SP), AX; SUBQ SI, AX; CMPQ AX, $n; JLS more
//
// The last one is that of frames above 4 KB before 1.17.
// g is R14 from Go 1.17 on, CX before; tmp is R12, before 1.17 AX. The offset is 24 in code that
// runs on the system stack.
func (Decoder) StackCheck(code []byte) int {
	c := cursor{b: code}
	g := byte(14)
	if r, ok := c.loadTLS(); ok {
		g = r
	}
	if o := c; o.oldLarge(g) {
		return o.n
	}
	stack := byte(4) // the register compared: SP or tmp
	if r, ok := c.lea(); ok {
		stack = r
	} else if r, ok := c.movSP(); ok {
		if !c.sub(r) || !c.jump(0x2) {
			return 0
		}
		stack = r
	}
	if !c.cmp(stack, g) || !c.jump(0x6) || c.n >= len(code) {
		return 0
	}
	return c.n
}

// cursor matches instructions one after the other.
type cursor struct {
	b []byte
	n int
}

// rexW gives REX, opcode and ModRM of an instruction of 64-bit operands without other prefixes.
func (c *cursor) rexW(at int) (rex, op, modrm byte, ok bool) {
	if at+3 > len(c.b) || c.b[at]&0xf8 != 0x48 {
		return 0, 0, 0, false
	}
	return c.b[at], c.b[at+1], c.b[at+2], true
}

func regOf(rex, modrm byte) byte  { return modrm>>3&7 | rex&4<<1 }
func baseOf(rex, modrm byte) byte { return modrm&7 | rex&1<<3 }

// loadTLS matches the loading of g: MOVQ fs:disp32, r, or MOVQ disp(IP), r; MOVQ fs:(r), r, where the
// linker may have turned the first into MOVQ $imm, r.
func (c *cursor) loadTLS() (r byte, ok bool) {
	at := c.n
	if at < len(c.b) && c.b[at] == 0x64 {
		rex, op, modrm, ok := c.rexW(at + 1)
		if !ok || op != 0x8b || modrm&0xc7 != 4 || at+9 > len(c.b) || c.b[at+4] != 0x25 || rex&3 != 0 {
			return 0, false
		}
		c.n += 9
		return regOf(rex, modrm), true
	}
	rex, op, modrm, ok := c.rexW(at)
	if !ok || at+11 > len(c.b) || c.b[at+7] != 0x64 {
		return 0, false
	}
	var off byte
	switch {
	case op == 0x8b && modrm&0xc7 == 5:
		off = regOf(rex, modrm)
	case op == 0xc7 && modrm&0xf8 == 0xc0:
		off = baseOf(rex, modrm)
	default:
		return 0, false
	}
	rex, op, modrm, ok = c.rexW(at + 8)
	if !ok || op != 0x8b || modrm>>6 != 0 || baseOf(rex, modrm) != off || off&7 == 4 || off&7 == 5 {
		return 0, false
	}
	c.n += 11
	return regOf(rex, modrm), true
}

// lea matches LEAQ disp(SP), r.
func (c *cursor) lea() (r byte, ok bool) {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || op != 0x8d || rex&3 != 0 || modrm&7 != 4 || c.n+3 >= len(c.b) || c.b[c.n+3] != 0x24 {
		return 0, false
	}
	switch modrm >> 6 {
	case 1:
		c.n += 5
	case 2:
		c.n += 8
	default:
		return 0, false
	}
	return regOf(rex, modrm), true
}

// movSP matches MOVQ SP, r.
func (c *cursor) movSP() (r byte, ok bool) {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || modrm>>6 != 3 {
		return 0, false
	}
	switch {
	case op == 0x89 && regOf(rex, modrm) == 4:
		r = baseOf(rex, modrm)
	case op == 0x8b && baseOf(rex, modrm) == 4:
		r = regOf(rex, modrm)
	default:
		return 0, false
	}
	c.n += 3
	return r, r != 5 // MOVQ SP, BP makes a frame
}

// sub matches SUBQ $imm, r.
func (c *cursor) sub(r byte) bool {
	rex, op, modrm, ok := c.rexW(c.n)
	switch {
	case ok && op == 0x2d && r == 0: // its imm32 begins where modrm would be
		c.n += 6
	case ok && op == 0x81 && modrm>>3 == 0x1d && baseOf(rex, modrm) == r:
		c.n += 7
	case ok && op == 0x83 && modrm>>3 == 0x1d && baseOf(rex, modrm) == r:
		c.n += 4
	default:
		return false
	}
	return true
}

// oldLarge matches the check of large frames before Go 1.17, behind the loading of g.
func (c *cursor) oldLarge(g byte) bool {
	const si, ax = 6, 0
	rex, op, modrm, ok := c.rexW(c.n) // MOVQ 16(g), SI
	if !ok || op != 0x8b || modrm>>6 != 1 || regOf(rex, modrm) != si || baseOf(rex, modrm) != g || g&7 == 4 ||
		c.n+4 > len(c.b) || c.b[c.n+3] != 16 && c.b[c.n+3] != 24 {
		return false
	}
	c.n += 4
	rex, op, modrm, ok = c.rexW(c.n) // CMPQ SI, $imm32
	if !ok || op != 0x81 || modrm != 0xf8|si || rex != 0x48 {
		return false
	}
	c.n += 7
	if !c.jump(0x4) {
		return false
	}
	if r, ok := c.lea(); !ok || r != ax {
		return false
	}
	rex, op, modrm, ok = c.rexW(c.n) // SUBQ SI, AX
	if !ok || rex != 0x48 || op != 0x29 || modrm != 0xc0|si<<3|ax {
		return false
	}
	c.n += 3
	rex, op, _, ok = c.rexW(c.n) // CMPQ AX, $imm32
	if !ok || rex != 0x48 || op != 0x3d {
		return false
	}
	c.n += 6
	return c.jump(0x6) && c.n < len(c.b)
}

// cmp matches CMPQ r, off(g) with off 16 or 24.
func (c *cursor) cmp(r, g byte) bool {
	rex, op, modrm, ok := c.rexW(c.n)
	if !ok || op != 0x3b || modrm>>6 != 1 || regOf(rex, modrm) != r || baseOf(rex, modrm) != g || g&7 == 4 ||
		c.n+4 > len(c.b) {
		return false
	}
	off := c.b[c.n+3]
	c.n += 4
	return off == 16 || off == 24
}

// jump matches a forward conditional jump within the function.
func (c *cursor) jump(cond byte) bool {
	if c.n >= len(c.b) {
		return false
	}
	in, ok := decode(c.b[c.n:])
	if !ok || in.Kind != insn.CondJump {
		return false
	}
	if op := c.b[c.n]; op != 0x70|cond && !(op == 0x0f && c.b[c.n+1] == 0x80|cond) {
		return false
	}
	c.n += in.Len
	return in.Rel > 0 && in.Rel < int64(len(c.b)-c.n)
}
