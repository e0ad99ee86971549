package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Value is one decoded argument. Bytes and Stack point into the record or into the
// decoder's own buffer and are valid until the next call.
type Value struct {
	Kind ArgKind
	Lazy Lazy
	// Int holds an Int, a Sym's address.
	Int int64
	// Bytes holds a Text, Mem, Quoted or Snapshot; Plan is that of a Snapshot.
	Bytes []byte
	Plan  []byte
	// Stack holds return addresses, innermost first.
	Stack []uint64
	// Regs are the registers of a RawStack, in the order of struct pt_regs; its memory is in Bytes.
	Regs *[RegsSize / 8]uint64
	// Tgid is the process that Sym and Stack addresses belong to.
	Tgid uint32
	// Unread: a Quoted that could not be read at the address in Int. Max and CString are as in Arg.
	Unread, CString bool
	Max             int
	// Fault is the ir.Code that reading a captured value raised, 0 if it was read.
	Fault int64
}

// ErrShort says that a record ends before what it promised.
var ErrShort = errors.New("record is cut short")

var le = binary.LittleEndian

// ParseHeader splits a record.
func ParseHeader(rec []byte) (Header, []byte, error) {
	if len(rec) < HeaderSize {
		return Header{}, nil, ErrShort
	}
	h := Header{Kind: Kind(rec[0]), Flags: Flags(rec[1]), Slot: le.Uint16(rec[2:]), CPU: le.Uint32(rec[4:])}
	return h, rec[HeaderSize:], nil
}

// PutHeader writes h into the first HeaderSize bytes of b.
func PutHeader(b []byte, h Header) {
	b[0], b[1] = byte(h.Kind), byte(h.Flags)
	le.PutUint16(b[2:], h.Slot)
	le.PutUint32(b[4:], h.CPU)
}

// Decoder turns bodies into values. It keeps its buffers from call to call.
type Decoder struct {
	vals  []Value
	stack []uint64
}

// Print calls fn for each entry of a Print, Warn or Log body.
func (d *Decoder) Print(body []byte, s *Schema, fn func(site int, args []Value) error) error {
	for len(body) > 0 {
		if len(body) < 8 {
			return ErrShort
		}
		site := int(le.Uint32(body))
		if site >= len(s.Sites) {
			return fmt.Errorf("record names print site %d of %d", site, len(s.Sites))
		}
		args, rest, err := d.Args(body[8:], s.Sites[site].Args, false)
		if err != nil {
			return err
		}
		if err := fn(site, args); err != nil {
			return err
		}
		body = rest
	}
	return nil
}

// Deferred decodes a Deferred body: the index of the capture and its values.
func (d *Decoder) Deferred(body []byte, s *Schema) (int, []Value, error) {
	if len(body) < 8 {
		return 0, nil, ErrShort
	}
	n := int(le.Uint32(body))
	if n >= len(s.Captures) {
		return 0, nil, fmt.Errorf("record names handler %d of %d", n, len(s.Captures))
	}
	args, _, err := d.Args(body[8:], s.Captures[n].Args, s.Captures[n].Faults)
	return n, args, err
}

// Args decodes arguments of the given kinds and returns what is behind them.
func (d *Decoder) Args(b []byte, kinds []Arg, faults bool) ([]Value, []byte, error) {
	d.vals, d.stack = d.vals[:0], d.stack[:0]
	for _, k := range kinds {
		v := Value{Kind: k.Kind, Lazy: k.Lazy, Max: k.Max, CString: k.CString}
		if faults {
			if len(b) < 8 {
				return nil, nil, ErrShort
			}
			v.Fault = int64(le.Uint64(b))
			b = b[8:]
		}
		var err error
		if b, err = d.arg(&v, b); err != nil {
			return nil, nil, err
		}
		if k.Kind == Snapshot && k.Names != nil && len(k.Names.List) == 1 {
			v.Plan = k.Names.List[0]
		} else if k.Lazy == Decoded && k.Names != nil && len(k.Names.List) > 0 {
			v.Bytes = k.Names.List[0]
		} else if k.Names != nil {
			if v.Int < 0 || v.Int >= int64(len(k.Names.List)) {
				return nil, nil, fmt.Errorf("record names text %d of %d", v.Int, len(k.Names.List))
			}
			v.Kind, v.Bytes = Text, k.Names.List[v.Int]
		}
		d.vals = append(d.vals, v)
	}
	return d.vals, b, nil
}

func (d *Decoder) arg(v *Value, b []byte) ([]byte, error) {
	if v.Kind == Const {
		return b, nil
	}
	if len(b) < 8 {
		return nil, ErrShort
	}
	switch v.Kind {
	case Int:
		v.Int = int64(le.Uint64(b))
		return b[8:], nil
	case Text, Mem, Quoted, Snapshot:
		if v.Kind == Snapshot {
			v.Tgid = le.Uint32(b)
			if b = b[8:]; len(b) < 8 {
				return nil, ErrShort
			}
		}
		n, room := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
		b = b[8:]
		if v.Kind == Quoted && n&Unread != 0 {
			n &^= Unread
			v.Unread = true
			if n < 8 || room < 8 || len(b) < 8 {
				return nil, ErrShort
			}
			v.Int = int64(le.Uint64(b))
		}
		if n > room || room > uint64(len(b)) {
			return nil, ErrShort
		}
		v.Bytes = b[:n]
		if v.Kind == Text {
			v.Bytes = bytes.TrimRight(v.Bytes, "\x00")
		}
		return b[room:], nil
	case Sym:
		if len(b) < 16 {
			return nil, ErrShort
		}
		v.Int, v.Tgid = int64(le.Uint64(b)), le.Uint32(b[8:])
		return b[16:], nil
	case Stack, RawStack:
		if len(b) < 16 {
			return nil, ErrShort
		}
		size := uint64(le.Uint32(b[12:]))
		n, room := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
		v.Tgid = le.Uint32(b[8:])
		b = b[16:]
		if n > room || room > uint64(len(b))/8 {
			return nil, ErrShort
		}
		start := len(d.stack)
		for i := uint64(0); i < n; i++ {
			d.stack = append(d.stack, le.Uint64(b[i*8:]))
		}
		v.Stack = d.stack[start:len(d.stack):len(d.stack)]
		b = b[room*8:]
		if v.Kind == Stack {
			return b, nil
		}
		if uint64(len(b)) < RegsSize || uint64(len(b))-RegsSize < size {
			return nil, ErrShort
		}
		v.Regs = new([RegsSize / 8]uint64)
		for i := range v.Regs {
			v.Regs[i] = le.Uint64(b[8*i:])
		}
		v.Bytes = b[RegsSize : RegsSize+size]
		return b[RegsSize+size:], nil
	}
	return nil, fmt.Errorf("unknown kind of argument %d", v.Kind)
}

// ErrorBody is the body of an Error record.
type ErrorBody struct {
	Code  int32
	Pos   int32
	Probe uint32
	Args  []Value
}

// ParseError decodes an Error body. Its arguments are: u32 kind, u32 0, then the argument.
func (d *Decoder) ParseError(b []byte) (ErrorBody, error) {
	if len(b) < 16 {
		return ErrorBody{}, ErrShort
	}
	e := ErrorBody{Code: int32(le.Uint32(b)), Pos: int32(le.Uint32(b[4:])), Probe: le.Uint32(b[8:])}
	n := le.Uint32(b[12:])
	b = b[16:]
	if n > 4 {
		return e, fmt.Errorf("error record has %d arguments", n)
	}
	d.vals = d.vals[:0]
	for range n {
		if len(b) < 8 {
			return e, ErrShort
		}
		v := Value{Kind: ArgKind(le.Uint32(b))}
		if v.Kind > Text {
			return e, fmt.Errorf("unknown kind of argument %d", v.Kind)
		}
		var err error
		if b, err = d.arg(&v, b[8:]); err != nil {
			return e, err
		}
		d.vals = append(d.vals, v)
	}
	e.Args = d.vals
	return e, nil
}

// ProcessBody is the body of a Process record.
type ProcessBody struct {
	Event uint32 // 0 begin (exec), 1 end
	Pid   uint32
	Time  uint64
}

// ParseProcess decodes a Process body.
func ParseProcess(b []byte) (ProcessBody, error) {
	if len(b) < 16 {
		return ProcessBody{}, ErrShort
	}
	return ProcessBody{le.Uint32(b), le.Uint32(b[4:]), le.Uint64(b[8:])}, nil
}
