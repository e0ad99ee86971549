// Package dwread reads the numbers and names that DWARF and ELF files are made of.
//
// In: bytes of a section, little-endian. Out: numbers of fixed and of variable length, blocks, names (Reader), and the
// sizes of the forms that attributes have (FixedSize). It knows nothing of sections, units or entries.
//
// Bytes are foreign: nothing here reads beyond the end, and nothing is allocated.
package dwread

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

var errShort = errors.New("data ends early")

// Reader takes numbers from little-endian bytes. After the first read beyond the end
// Err is set and everything reads as 0.
type Reader struct {
	Bytes []byte
	Off   int
	Err   error
}

// Take reads n bytes, without copying them; nil if there are fewer.
func (r *Reader) Take(n int) []byte {
	if r.Err != nil || n < 0 || r.Off < 0 || n > len(r.Bytes)-r.Off {
		if r.Err == nil {
			r.Err = errShort
		}
		r.Off = len(r.Bytes)
		return nil
	}
	b := r.Bytes[r.Off : r.Off+n]
	r.Off += n
	return b
}

// Skip passes over n bytes.
func (r *Reader) Skip(n int) { r.Take(n) }

// Empty reports whether everything was read.
func (r *Reader) Empty() bool { return r.Off >= len(r.Bytes) }

// U8 reads an unsigned number of 1 byte.
func (r *Reader) U8() uint8 {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads an unsigned number of 2 bytes.
func (r *Reader) U16() uint16 {
	if b := r.Take(2); b != nil {
		return LE16(b)
	}
	return 0
}

// U32 reads an unsigned number of 4 bytes.
func (r *Reader) U32() uint32 {
	if b := r.Take(4); b != nil {
		return LE32(b)
	}
	return 0
}

// U64 reads an unsigned number of 8 bytes.
func (r *Reader) U64() uint64 {
	if b := r.Take(8); b != nil {
		return LE64(b)
	}
	return 0
}

// Uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (r *Reader) Uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(r.U8())
	case 2:
		return uint64(r.U16())
	case 4:
		return uint64(r.U32())
	case 8:
		return r.U64()
	}
	if r.Err == nil {
		r.Err = errors.New("unsupported number size")
	}
	return 0
}

// UnitLength reads an initial length (DWARF 5, 7.4).
func (r *Reader) UnitLength() (n uint64, dwarf64 bool) {
	n = uint64(r.U32())
	if n == 0xffffffff {
		return r.U64(), true
	}
	if n >= 0xfffffff0 && r.Err == nil {
		r.Err = errors.New("reserved unit length")
	}
	return n, false
}

// Offset reads a section offset of the unit's format.
func (r *Reader) Offset(dwarf64 bool) uint64 {
	if dwarf64 {
		return r.U64()
	}
	return uint64(r.U32())
}

// Uleb reads an unsigned LEB128 number (DWARF 5, 7.6); bits above 64 are dropped.
func (r *Reader) Uleb() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		b := r.U8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.Err != nil {
			return v
		}
	}
}

// Sleb reads a signed LEB128 number.
func (r *Reader) Sleb() (v int64) {
	for shift := uint(0); ; {
		b := r.U8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 || r.Err != nil {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// Block reads n bytes.
func (r *Reader) Block(n uint64) []byte {
	if n > uint64(len(r.Bytes)) {
		n = uint64(len(r.Bytes)) + 1
	}
	return r.Take(int(n))
}

// LE16 is the number in the first 2 bytes.
func LE16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

// LE32 is the number in the first 4 bytes.
func LE32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// LE64 is the number in the first 8 bytes.
func LE64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// CString is the NUL-terminated string at off, "" when off is out of range.
func CString(s string, off uint64) string {
	if off >= uint64(len(s)) {
		return ""
	}
	s = s[off:]
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}

// maxName is the size of a name in bytes that is believed; real ones have some thousand.
const maxName = 1 << 16

// Name is the NUL-terminated string at off, without the NUL; nil if it is longer than any name is.
func Name(b []byte, off uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	b = b[off:]
	b = b[:min(len(b), maxName)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	if len(b) == maxName {
		return nil
	}
	return b
}
