// Package aes has the table by which a round of AES is computed where there is no instruction for it.
//
// In: nothing. Out: numbers. Go hashes the keys of its maps by such rounds.
package aes

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
)

// Columns gives for each byte, as the first one of a column, the column that SubBytes and MixColumns make of it, twice:
// in the low 32 bits and in the high ones (FIPS 197, 5.1). Those of the other rows are its rotations.
var Columns = sync.OnceValue(func() *[256]uint64 {
	var out [256]uint64
	for i := range out {
		s := uint64(subst(uint8(i)))
		d := uint64(double(uint8(s)))
		c := d | s<<8 | s<<16 | (d^s)<<24
		out[i] = c | c<<32
	}
	return &out
})

// Text is Columns as bytes, in little-endian order.
var Text = sync.OnceValue(func() string {
	var b strings.Builder
	for _, c := range Columns() {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], c)
		b.Write(w[:])
	}
	return b.String()
})

// double is 2 * b in the field of AES.
func double(b uint8) uint8 { return b<<1 ^ b>>7*0x1b }

// subst is SubBytes of one byte: its inverse in the field, and an affine transformation.
func subst(b uint8) uint8 {
	inv := uint8(0)
	for x := 1; x < 256 && b != 0; x++ {
		if mul(b, uint8(x)) == 1 {
			inv = uint8(x)
			break
		}
	}
	s := inv
	for n := 1; n < 5; n++ {
		s ^= bits.RotateLeft8(inv, n)
	}
	return s ^ 0x63
}

func mul(a, b uint8) (p uint8) {
	for ; b > 0; b >>= 1 {
		if b&1 != 0 {
			p ^= a
		}
		a = double(a)
	}
	return p
}
