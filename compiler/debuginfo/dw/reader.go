package dw

import "errors"

var errShort = errors.New("data ends early")

// reader takes numbers from little-endian bytes. After the first read beyond the end
// err is set and everything reads as 0.
type reader struct {
	b   []byte
	off int
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || r.off < 0 || n > len(r.b)-r.off {
		if r.err == nil {
			r.err = errShort
		}
		r.off = len(r.b)
		return nil
	}
	b := r.b[r.off : r.off+n]
	r.off += n
	return b
}

func (r *reader) skip(n int)  { r.take(n) }
func (r *reader) empty() bool { return r.off >= len(r.b) }

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return le16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return le32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return le64(b)
	}
	return 0
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (r *reader) uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(r.u8())
	case 2:
		return uint64(r.u16())
	case 4:
		return uint64(r.u32())
	case 8:
		return r.u64()
	}
	if r.err == nil {
		r.err = errors.New("unsupported number size")
	}
	return 0
}

// unitLength reads an initial length (DWARF 5, 7.4).
func (r *reader) unitLength() (n uint64, dwarf64 bool) {
	n = uint64(r.u32())
	if n == 0xffffffff {
		return r.u64(), true
	}
	if n >= 0xfffffff0 && r.err == nil {
		r.err = errors.New("reserved unit length")
	}
	return n, false
}

// offset reads a section offset of the unit's format.
func (r *reader) offset(dwarf64 bool) uint64 {
	if dwarf64 {
		return r.u64()
	}
	return uint64(r.u32())
}

// uleb reads an unsigned LEB128 number (DWARF 5, 7.6); bits above 64 are dropped.
func (r *reader) uleb() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.err != nil {
			return v
		}
	}
}

// sleb reads a signed LEB128 number.
func (r *reader) sleb() (v int64) {
	for shift := uint(0); ; {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 || r.err != nil {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// block reads n bytes.
func (r *reader) block(n uint64) []byte {
	if n > uint64(len(r.b)) {
		n = uint64(len(r.b)) + 1
	}
	return r.take(int(n))
}
