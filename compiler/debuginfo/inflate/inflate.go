// Package inflate decompresses sections of ELF files.
//
// In: a zlib stream, all of it in memory, and room for exactly what it contains. Out: the contents, or an error: a
// stream is taken if compress/zlib takes it and if it has that many bytes.
//
// Inflating the debug sections is most of the time that it takes to look at a Go program: the Go linker
// compresses them. compress/flate is made for streams; here all input is in memory and the
// size of the output is known, which is worth a factor of three.
package inflate

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
)

var (
	errInflate  = errors.New("bad compressed data")
	errChecksum = errors.New("wrong checksum")
)

// Zlib decodes a zlib stream (RFC 1950 around RFC 1951) whose contents are exactly len(dst) bytes.
func Zlib(dst, src []byte) error {
	if len(src) < 6 || src[0]&0x0f != 8 || src[0]>>4 > 7 || binary.BigEndian.Uint16(src)%31 != 0 || src[1]&0x20 != 0 {
		return errInflate
	}
	d := &inflater{in: src[2:], out: dst}
	if err := d.run(); err != nil {
		return err
	}
	d.drop(d.n & 7)
	sum := uint32(0)
	for range 4 {
		sum = sum<<8 | uint32(d.take(8))
	}
	if d.over() || d.o != len(dst) {
		return errInflate
	}
	if sum != adler32.Checksum(dst) {
		return errChecksum
	}
	return nil
}

// A table entry is the symbol << 4 | the length of its code. With subTable set it leads to a second
// table for codes longer than tableBits: its index << 4 | the number of bits that it takes.
const (
	tableBits = 10
	subTable  = 1 << 31
	maxLits   = 288
	maxDists  = 32
)

type inflater struct {
	in   []byte
	pos  int
	bits uint64
	n    uint // valid bits
	out  []byte
	o    int

	lits, dists []uint32
	lens        [maxLits + maxDists]uint8
}

// fill makes at least 56 bits valid. Behind the end of the input they are 0; over tells.
func (d *inflater) fill() {
	if d.pos+8 <= len(d.in) {
		d.bits |= binary.LittleEndian.Uint64(d.in[d.pos:]) << d.n
		k := (63 - d.n) >> 3
		d.pos += int(k)
		d.n += k * 8
		return
	}
	for d.n <= 56 {
		if d.pos < len(d.in) {
			d.bits |= uint64(d.in[d.pos]) << d.n
		}
		d.pos++
		d.n += 8
	}
}

// over reports whether more bits were used than there are.
func (d *inflater) over() bool { return d.pos-int(d.n/8) > len(d.in) }

func (d *inflater) drop(k uint) { d.bits >>= k; d.n -= k }

// take reads up to 32 bits.
func (d *inflater) take(k uint) uint {
	if d.n < k {
		d.fill()
	}
	v := uint(d.bits & (1<<k - 1))
	d.drop(k)
	return v
}

func (d *inflater) run() error {
	for {
		last, kind := d.take(1), d.take(2)
		var err error
		switch kind {
		case 0:
			err = d.stored()
		case 1:
			d.lits, d.dists = fixedLits, fixedDists
			err = d.block()
		case 2:
			if err = d.tables(); err == nil {
				err = d.block()
			}
		default:
			err = errInflate
		}
		if err != nil {
			return err
		}
		if last == 1 {
			return nil
		}
	}
}

// stored copies an uncompressed block.
func (d *inflater) stored() error {
	d.drop(d.n & 7)
	size, inv := d.take(16), d.take(16)
	d.pos -= int(d.n / 8)
	d.bits, d.n = 0, 0
	if size != ^inv&0xffff || d.pos > len(d.in) || int(size) > len(d.in)-d.pos || int(size) > len(d.out)-d.o {
		return errInflate
	}
	copy(d.out[d.o:], d.in[d.pos:d.pos+int(size)])
	d.pos += int(size)
	d.o += int(size)
	return nil
}

var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// tables reads the codes of a block (RFC 1951, 3.2.7).
func (d *inflater) tables() error {
	nl, nd, nc := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if nl > 286 || nd > 30 {
		return errInflate
	}
	var cl [19]uint8
	for i := range nc {
		cl[codeOrder[i]] = uint8(d.take(3))
	}
	codes, ok := makeTable(nil, cl[:], false)
	if !ok {
		return errInflate
	}
	for i := 0; i < nl+nd; {
		if d.n < 32 {
			d.fill()
		}
		e := codes[d.bits&(1<<tableBits-1)]
		if e&15 == 0 {
			return errInflate
		}
		d.drop(uint(e & 15))
		sym, rep, val := e>>4, 1, uint8(0)
		switch {
		case sym < 16:
			val = uint8(sym)
		case sym == 16:
			if i == 0 {
				return errInflate
			}
			rep, val = 3+int(d.take(2)), d.lens[i-1]
		case sym == 17:
			rep = 3 + int(d.take(3))
		default:
			rep = 11 + int(d.take(7))
		}
		if rep > nl+nd-i {
			return errInflate
		}
		for range rep {
			d.lens[i] = val
			i++
		}
	}
	if d.lens[256] == 0 || d.over() {
		return errInflate
	}
	var ok2 bool
	own := d.lits
	if len(own) > 0 && &own[0] == &fixedLits[0] {
		d.lits, d.dists = nil, nil
	}
	d.lits, ok = makeTable(d.lits[:0], d.lens[:nl], false)
	d.dists, ok2 = makeTable(d.dists[:0], d.lens[nl:nl+nd], true)
	if !ok || !ok2 {
		return errInflate
	}
	return nil
}

// makeTable builds the decoding table of canonical codes with these lengths (RFC 1951, 3.2.2). Codes must
// be complete, except that one with a single symbol, or in lone tables with none, may be incomplete.
func makeTable(t []uint32, lens []uint8, lone bool) ([]uint32, bool) {
	var count [16]int
	for _, l := range lens {
		count[l]++
	}
	used := len(lens) - count[0]
	count[0] = 0
	var next [16]int
	code, left := 0, 1
	for l := 1; l < 16; l++ {
		code = (code + count[l-1]) << 1
		next[l] = code
		left = left<<1 - count[l]
		if left < 0 {
			return t, false
		}
	}
	if left > 0 && !(used == 1 && count[1] == 1 || used == 0 && lone) {
		return t, false
	}
	t = append(t[:0], make([]uint32, 1<<tableBits)...)
	var subBits [1 << tableBits]uint8
	for sym, l := range lens { // how many bits the codes with a common beginning need
		if l > tableBits {
			rev := reverse(uint32(next[l]), l)
			next[l]++
			p := rev & (1<<tableBits - 1)
			subBits[p] = max(subBits[p], l-tableBits)
		}
		_ = sym
	}
	code = 0
	for l := 1; l < 16; l++ {
		code = (code + count[l-1]) << 1
		next[l] = code
	}
	for sym, l := range lens {
		if l == 0 {
			continue
		}
		rev := reverse(uint32(next[l]), l)
		next[l]++
		e := uint32(sym)<<4 | uint32(l)
		if l <= tableBits {
			for i := rev; i < 1<<tableBits; i += 1 << l {
				t[i] = e
			}
			continue
		}
		p := rev & (1<<tableBits - 1)
		sb := subBits[p]
		if t[p] == 0 {
			t[p] = subTable | uint32(len(t))<<4 | uint32(sb)
			t = append(t, make([]uint32, 1<<sb)...)
		}
		base := t[p] &^ subTable >> 4
		for i := rev >> tableBits; i < 1<<sb; i += 1 << (l - tableBits) {
			t[base+i] = e
		}
	}
	return t, true
}

// reverse turns the low n bits of v around: codes are packed from their first bit.
func reverse(v uint32, n uint8) uint32 {
	r := uint32(0)
	for range n {
		r = r<<1 | v&1
		v >>= 1
	}
	return r
}

var fixedLits, fixedDists = func() (l, d []uint32) {
	var lens [maxLits]uint8
	for i := range lens {
		switch {
		case i < 144:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		case i < 280:
			lens[i] = 7
		default:
			lens[i] = 8
		}
	}
	l, _ = makeTable(nil, lens[:], false)
	var dl [maxDists]uint8
	for i := range dl {
		dl[i] = 5
	}
	d, _ = makeTable(nil, dl[:], false)
	return l, d
}()

// Lengths and distances: the base and the number of extra bits of each code (RFC 1951, 3.2.5).
var (
	lenBase = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258}
	lenExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distBase = [30]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
		2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	distExtra = [30]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
		13}
)

// block decodes the symbols of a compressed block.
func (d *inflater) block() error {
	in, out, o := d.in, d.out, d.o
	bits, n, pos := d.bits, d.n, d.pos
	lits, dists := (*[1 << tableBits]uint32)(d.lits), (*[1 << tableBits]uint32)(d.dists)
	for {
		// 56 bits: enough for a length (15+5) and a distance (15+13) behind a literal.
		if pos+8 <= len(in) {
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
			k := (63 - n) >> 3
			pos += int(k)
			n += k * 8
		} else {
			d.bits, d.n, d.pos = bits, n, pos
			if d.fill(); d.over() {
				return errInflate
			}
			bits, n, pos = d.bits, d.n, d.pos
		}
		e := lits[bits&(1<<tableBits-1)]
		if e&subTable != 0 {
			e = d.lits[e&^subTable>>4+uint32(bits>>tableBits)&(1<<(e&15)-1)]
		}
		l := uint(e & 15)
		bits >>= l
		n -= l
		if e < 256<<4 {
			if l == 0 || o >= len(out) {
				return errInflate
			}
			out[o] = byte(e >> 4)
			o++
			// Literals come in rows. One more fits, and leaves 56-15-15 bits: a third of up to tableBits too.
			e = lits[bits&(1<<tableBits-1)]
			if e >= 256<<4 || e&15 == 0 || o >= len(out) {
				continue
			}
			l = uint(e & 15)
			bits >>= l
			n -= l
			out[o] = byte(e >> 4)
			o++
			e = lits[bits&(1<<tableBits-1)]
			if e >= 256<<4 || e&15 == 0 || o >= len(out) {
				continue
			}
			l = uint(e & 15)
			bits >>= l
			n -= l
			out[o] = byte(e >> 4)
			o++
			continue
		}
		sym := e>>4 - 257
		if sym >= uint32(len(lenBase)) {
			if e>>4 == 256 {
				d.bits, d.n, d.pos, d.o = bits, n, pos, o
				return nil
			}
			return errInflate
		}
		x := uint(lenExtra[sym])
		length := int(lenBase[sym]) + int(bits&(1<<x-1))
		bits >>= x
		n -= x
		e = dists[bits&(1<<tableBits-1)]
		if e&subTable != 0 {
			e = d.dists[e&^subTable>>4+uint32(bits>>tableBits)&(1<<(e&15)-1)]
		}
		sym = e >> 4
		if e&15 == 0 || sym >= uint32(len(distBase)) {
			return errInflate
		}
		l, x = uint(e&15), uint(distExtra[sym])
		bits >>= l
		dist := int(distBase[sym]) + int(bits&(1<<x-1))
		bits >>= x
		n -= l + x
		if dist > o || length > len(out)-o {
			return errInflate
		}
		from := o - dist
		switch {
		case dist >= 16 && length <= 16 && len(out)-o >= 16: // most of them: one copy of fixed size
			*(*[16]byte)(out[o:]) = *(*[16]byte)(out[from:])
			o += length
		case dist >= length:
			copy(out[o:o+length], out[from:from+length])
			o += length
		default:
			for end := o + length; o < end; { // the copy reads what it writes
				o += copy(out[o:end], out[from:o])
			}
		}
	}
}
