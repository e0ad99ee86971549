package aes

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"testing"
)

// TestColumns encrypts blocks by rounds from the table, as crypto/aes does it.
func TestColumns(t *testing.T) {
	key := []byte("0123456789abcdef")
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	// The keys of the rounds.
	w := make([]uint32, 44)
	for i := range 4 {
		w[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	sub := func(b byte) uint32 { return uint32(Columns()[b]>>8) & 0xff }
	rcon := uint32(1)
	for i := 4; i < 44; i++ {
		v := w[i-1]
		if i%4 == 0 {
			v = sub(byte(v>>8)) | sub(byte(v>>16))<<8 | sub(byte(v>>24))<<16 | sub(byte(v))<<24
			v ^= rcon
			rcon = uint32(double(uint8(rcon)))
		}
		w[i] = w[i-4] ^ v
	}
	for n := range 200 {
		in := make([]byte, 16)
		for i := range in {
			in[i] = byte(n*31 + i*i*n + i)
		}
		want := make([]byte, 16)
		block.Encrypt(want, in)
		var s [4]uint32
		for c := range s {
			s[c] = binary.LittleEndian.Uint32(in[4*c:]) ^ w[c]
		}
		for r := 1; r <= 10; r++ {
			var next [4]uint32
			for c := range s {
				for row := range 4 {
					b := byte(s[(c+row)%4] >> (8 * row))
					if r == 10 {
						next[c] |= sub(b) << (8 * row)
					} else {
						next[c] ^= uint32(Columns()[b] >> (32 - 8*row))
					}
				}
				next[c] ^= w[4*r+c]
			}
			s = next
		}
		got := make([]byte, 16)
		for c, v := range s {
			binary.LittleEndian.PutUint32(got[4*c:], v)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%x: %x, want %x", in, got, want)
		}
	}
}
