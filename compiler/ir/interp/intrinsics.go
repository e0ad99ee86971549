package interp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/aes"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// builtin is an intrinsic that the machine runs by itself. max is the most bytes that a string
// result may have; what is longer is cut afterwards anyway.
type builtin func(m *Machine, args []Val, max int) (Val, error)

func long(n int64) (Val, error)  { return Val{Int: n}, nil }
func text(s string) (Val, error) { return Val{Str: s}, nil }

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func fault(code ir.Code, args ...Val) error { return &textfmt.Fault{Code: code, Args: args} }

func badArg(msg string) error { return fault(ir.ErrArgument, Val{Str: msg}) }

var builtins = map[string]builtin{
	"matched":     matched,
	"speculation": speculation, "speculate": speculate, "commit": commit, "discard": discard,
	"ngroups": ngroups,
	"strlen":  func(_ *Machine, a []Val, _ int) (Val, error) { return long(int64(len(a[0].Str))) },
	"substr":  func(_ *Machine, a []Val, _ int) (Val, error) { return text(substr(a[0].Str, a[1].Int, a[2].Int)) },
	"isinstr": func(_ *Machine, a []Val, _ int) (Val, error) {
		return long(truth(strings.Contains(a[0].Str, a[1].Str)))
	},
	"strpos": func(_ *Machine, a []Val, _ int) (Val, error) { return long(int64(strings.Index(a[0].Str, a[1].Str))) },
	"strtol": func(_ *Machine, a []Val, _ int) (Val, error) { return long(strtol(a[0].Str, a[1].Int)) },
	"stringat": func(_ *Machine, a []Val, _ int) (Val, error) {
		s, i := a[0].Str, a[1].Int
		if i < 0 || i >= int64(len(s)) {
			return Val{}, badArg("string index out of range")
		}
		return long(int64(s[i]))
	},
	"string_word": func(_ *Machine, a []Val, _ int) (Val, error) {
		var w [8]byte
		if s, i := a[0].Str, a[1].Int; i >= 0 && i < int64(len(s)) {
			copy(w[:], s[i:])
		}
		return long(int64(binary.LittleEndian.Uint64(w[:])))
	},
	"aes_column": func(_ *Machine, a []Val, _ int) (Val, error) {
		return long(int64(aes.Columns()[uint8(a[0].Int)]))
	},
	"str_replace": func(_ *Machine, a []Val, _ int) (Val, error) {
		if a[1].Str == "" {
			return text(a[0].Str)
		}
		return text(strings.ReplaceAll(a[0].Str, a[1].Str, a[2].Str))
	},
	"text_str": func(_ *Machine, a []Val, max int) (Val, error) { return text(textfmt.Quote(a[0].Str, max, false)) },
	"text_strn": func(_ *Machine, a []Val, max int) (Val, error) {
		return text(textfmt.QuoteN(a[0].Str, a[1].Int, a[2].Int != 0, max))
	},
	"string_quoted": func(_ *Machine, a []Val, max int) (Val,
		error) {
		return text(textfmt.Quote(a[0].Str, max, true))
	},
	"tolower": func(_ *Machine, a []Val, _ int) (Val,
		error) {
		return text(mapASCII(a[0].Str, 'A', 'Z', 'a'-'A'))
	},
	"toupper": func(_ *Machine, a []Val, _ int) (Val,
		error) {
		return text(mapASCII(a[0].Str, 'a', 'z', -('a' - 'A')))
	},
	"char_string": func(_ *Machine, a []Val, _ int) (Val, error) {
		if byte(a[0].Int) == 0 {
			return text("")
		}
		return text(string([]byte{byte(a[0].Int)}))
	},
	// Numbers with a fraction.
	"fp_add":     onTwo(func(a, b float64) float64 { return a + b }),
	"fp_sub":     onTwo(func(a, b float64) float64 { return a - b }),
	"fp_mul":     onTwo(func(a, b float64) float64 { return a * b }),
	"fp_div":     onTwo(func(a, b float64) float64 { return a / b }),
	"fp_rem":     onTwo(math.Remainder),
	"fp_eq":      compared(func(a, b float64) bool { return a == b }),
	"fp_le":      compared(func(a, b float64) bool { return a <= b }),
	"fp_lt":      compared(func(a, b float64) bool { return a < b }),
	"fp_sqrt":    func(_ *Machine, a []Val, _ int) (Val, error) { return fromFraction(math.Sqrt(fraction(a[0].Int))) },
	"long_to_fp": func(_ *Machine, a []Val, _ int) (Val, error) { return fromFraction(float64(a[0].Int)) },
	"fp32_to_fp64": func(_ *Machine, a []Val, _ int) (Val, error) {
		return fromFraction(float64(math.Float32frombits(uint32(a[0].Int))))
	},
	"fp_to_long": func(_ *Machine, a []Val, _ int) (Val, error) {
		return fractionToLong(fraction(a[0].Int), a[1].Int, a[2].Int != 0)
	},
	"fp_to_string": func(_ *Machine, a []Val, _ int) (Val, error) {
		return text(strconv.FormatFloat(fraction(a[0].Int), 'f', int(max(0, min(a[1].Int, 400))), 64))
	},
	"string_to_fp": func(_ *Machine, a []Val, _ int) (Val, error) {
		f, err := strconv.ParseFloat(strings.TrimSpace(a[0].Str), 64)
		if err != nil && !math.IsInf(f, 0) {
			return Val{}, badArg(fmt.Sprintf("string_to_fp: %q is no number", a[0].Str))
		}
		return fromFraction(f)
	},

	"ctime": func(_ *Machine, a []Val, _ int) (Val, error) { return text(textfmt.CTime(a[0].Int)) },

	"value_text": func(_ *Machine, a []Val, _ int) (Val, error) { return text(textfmt.Decode(a[1].Str, a[0].Int)) },

	"table_text": func(_ *Machine, a []Val, _ int) (Val, error) { return text(textfmt.Entry(a[1].Str, a[0].Int)) },

	"error": func(_ *Machine, a []Val, _ int) (Val, error) { return Val{}, fault(ir.ErrUser, a[0]) },
	"warn":  func(m *Machine, a []Val, _ int) (Val, error) { m.out.Warn(a[0].Str); return Val{}, nil },
	"log":   func(m *Machine, a []Val, _ int) (Val, error) { m.out.Log(a[0].Str); return Val{}, nil },
	"exit":  func(m *Machine, _ []Val, _ int) (Val, error) { m.out.Exit(); return Val{}, nil },
	"abort": func(m *Machine, _ []Val, _ int) (Val, error) { m.out.Exit(); return Val{}, errAbort },

	"is_return": func(m *Machine, _ []Val, _ int) (Val, error) {
		s := m.ctx.Site()
		return long(truth(s != nil && s.IsReturn()))
	},
	"register":   func(m *Machine, a []Val, _ int) (Val, error) { return m.register(a[0].Str) },
	"u_register": func(m *Machine, a []Val, _ int) (Val, error) { return m.register(a[0].Str) },

	"user_line": func(m *Machine, a []Val, max int) (Val, error) {
		return m.line(a[0].Int, a[1].Int, byte(a[2].Int), max)
	},
	"user_string": func(m *Machine, a []Val, max int) (Val, error) { return m.cstring(a[0].Int, max, false) },
	"user_string2": func(m *Machine, a []Val, max int) (Val,
		error) {
		return orElse(a[1])(m.cstring(a[0].Int, max, false))
	},
	"user_string_n": func(m *Machine, a []Val, max int) (Val,
		error) {
		return m.cstringN(a[0].Int, a[1].Int, max, false)
	},
	"user_string_n2": func(m *Machine, a []Val, max int) (Val, error) {
		return orElse(a[2])(m.cstringN(a[0].Int, a[1].Int, max, false))
	},
	"kernel_string": func(m *Machine, a []Val, max int) (Val, error) { return m.cstring(a[0].Int, max, true) },
	"kernel_string2": func(m *Machine, a []Val, max int) (Val,
		error) {
		return orElse(a[1])(m.cstring(a[0].Int, max, true))
	},
	"kernel_string_n": func(m *Machine, a []Val, max int) (Val,
		error) {
		return m.cstringN(a[0].Int, a[1].Int, max, true)
	},
	"kernel_string_n2": func(m *Machine, a []Val, max int) (Val, error) {
		return orElse(a[2])(m.cstringN(a[0].Int, a[1].Int, max, true))
	},
	"user_text":   func(m *Machine, a []Val, max int) (Val, error) { return m.quoted(a, max, false) },
	"kernel_text": func(m *Machine, a []Val, max int) (Val, error) { return m.quoted(a, max, true) },
	"user_int8":   loadInt(1, true, false),
	"user_uint8":  loadInt(1, false, false),
	"user_int16":  loadInt(2, true, false),
	"user_uint16": loadInt(2, false, false),
	"user_int32":  loadInt(4, true, false),
	"user_uint32": loadInt(4, false, false),
	"user_int64":  loadInt(8, true, false),
	"user_block": func(m *Machine, a []Val, _ int) (Val, error) {
		return Val{}, m.read(m.block[:min(max(int(a[1].Int), 0), len(m.block))], uint64(a[0].Int), false)
	},
	"block_word": func(m *Machine, a []Val, _ int) (Val, error) {
		i := min(max(int(a[0].Int), 0), len(m.block)/8-1)
		return long(int64(binary.LittleEndian.Uint64(m.block[8*i:])))
	},
	"aes_schedule": func(m *Machine, a []Val, _ int) (Val, error) {
		return Val{}, m.read(m.block[:40], uint64(a[0].Int), false)
	},
	"user_window": func(*Machine, []Val, int) (Val, error) { return Val{}, nil },
	"near_uint8":  loadInt(1, false, false),
	"near_uint16": loadInt(2, false, false),
	"near_uint32": loadInt(4, false, false),
	"near_uint64": loadInt(8, false, false),
	"user_is": func(m *Machine, a []Val, _ int) (Val, error) {
		have := make([]byte, len(a[1].Str))
		if err := m.read(have, uint64(a[0].Int), false); err != nil && len(have) > 0 {
			return Val{}, err
		}
		return long(truth(string(have) == a[1].Str))
	},
	"user_uint64":   loadInt(8, false, false),
	"kernel_int8":   loadInt(1, true, true),
	"kernel_uint8":  loadInt(1, false, true),
	"kernel_int16":  loadInt(2, true, true),
	"kernel_uint16": loadInt(2, false, true),
	"kernel_int32":  loadInt(4, true, true),
	"kernel_uint32": loadInt(4, false, true),
	"kernel_int64":  loadInt(8, true, true),
	"kernel_uint64": loadInt(8, false, true),
}

// substr gives n bytes of s from start on; nothing when start lies outside.
func substr(s string, start, n int64) string {
	if start < 0 || start >= int64(len(s)) || n <= 0 {
		return ""
	}
	return s[start : start+min(n, int64(len(s))-start)]
}

// strtol reads as the kernel's simple_strtol does: an optional -, with base 0 or 16 an optional 0x,
// with base 0 a leading 0 for octal, then digits up to the first byte that is none. It wraps.
func strtol(s string, base int64) int64 {
	s, neg := strings.CutPrefix(s, "-")
	hex := len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digit(s[2]) < 16
	switch {
	case base == 0 && hex:
		base, s = 16, s[2:]
	case base == 0 && strings.HasPrefix(s, "0"):
		base = 8
	case base == 0:
		base = 10
	case base == 16 && hex:
		s = s[2:]
	}
	n := uint64(0)
	for i := 0; i < len(s); i++ {
		d := digit(s[i])
		if d >= base {
			break
		}
		n = n*uint64(base) + uint64(d)
	}
	if neg {
		n = -n
	}
	return int64(n)
}

func digit(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int64(c|0x20-'a') + 10
	}
	return 1 << 62
}

// mapASCII moves the letters from..to by a distance.
func mapASCII(s string, from, to byte, by int) string {
	b := []byte(s)
	for i, c := range b {
		if c >= from && c <= to {
			b[i] = byte(int(c) + by)
		}
	}
	return string(b)
}

func (m *Machine) register(name string) (Val, error) {
	n, ok := m.p.On().Number(name)
	if !ok {
		return Val{}, badArg("unknown register: " + name)
	}
	return long(m.ctx.Reg(n))
}

// orElse gives alt where reading failed.
func orElse(alt Val) func(Val, error) (Val, error) {
	return func(v Val, err error) (Val, error) {
		if err != nil {
			return alt, nil
		}
		return v, nil
	}
}

// cstring reads bytes up to a NUL, at most max of them.
func (m *Machine) cstring(addr int64, max int, kernel bool) (Val, error) {
	return m.readString(uint64(addr), max, kernel)
}

// cstringN is cstring for at most n bytes; none for n <= 0.
func (m *Machine) cstringN(addr, n int64, max int, kernel bool) (Val, error) {
	if n <= 0 {
		return Val{}, nil
	}
	return m.readString(uint64(addr), int(min(n, int64(max))), kernel)
}

// quoted is user_text() and kernel_text().
func (m *Machine) quoted(a []Val, max int, kernel bool) (Val, error) {
	addr, n, cstr := a[0].Int, a[1].Int, a[2].Int != 0
	most := m.maxStr
	var v Val
	var err error
	switch {
	case cstr && addr == 0 && n != 0:
		return Val{Str: textfmt.NoText(0, true)}, nil
	case n == 0 || n < 0 && !cstr:
	case cstr && n < 0:
		v, err = m.cstring(addr, most, kernel)
	case cstr:
		v, err = m.cstringN(addr, n, most, kernel)
	default:
		buf := make([]byte, min(n, int64(most)))
		err = m.read(buf, uint64(addr), kernel)
		v.Str = string(buf)
	}
	if err != nil {
		return Val{Str: textfmt.NoText(uint64(addr), cstr)}, nil
	}
	q := textfmt.Quote(v.Str, most, true)
	return Val{Str: q[:min(len(q), max)]}, nil
}

// line is user_line().
func (m *Machine) line(addr, n int64, c byte, max int) (Val, error) {
	if n <= 0 {
		return Val{}, nil
	}
	if c == 0 {
		c = ' '
	}
	buf := make([]byte, min(n, int64(max)))
	if err := m.read(buf, uint64(addr), false); err != nil {
		return Val{}, err
	}
	if last := len(buf) - 1; int64(len(buf)) == n && last >= 0 && buf[last] == 0 {
		buf = buf[:last]
	}
	return Val{Str: string(bytes.ReplaceAll(buf, []byte{0}, []byte{c}))}, nil
}

// readString reads up to a NUL or max bytes. It reads in pieces that cross no page, and byte by byte where
// a piece cannot be read, so that a string is read to its end when that lies just before what is not mapped.
func (m *Machine) readString(addr uint64, max int, kernel bool) (Val, error) {
	const page = 4096
	out, step := m.mem[:0], 64
	for len(out) < max {
		at := addr + uint64(len(out))
		n := min(step, max-len(out), int(page-at%page))
		out = append(out, make([]byte, n)...)
		piece := out[len(out)-n:]
		if err := m.read(piece, at, kernel); err != nil {
			if n == 1 {
				return Val{}, err
			}
			out, step = out[:len(out)-n], 1
			continue
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 {
			out = out[:len(out)-n+i]
			break
		}
	}
	m.mem = out[:0]
	return Val{Str: string(out)}, nil
}

// read turns whatever error the context gives into a memory fault.
func (m *Machine) read(buf []byte, addr uint64, kernel bool) error {
	err := m.ctx.Read(buf, addr, kernel)
	if err == nil {
		return nil
	}
	if f, ok := err.(*textfmt.Fault); ok {
		return f
	}
	return fault(ir.ErrMemory, Val{Int: int64(addr)})
}

func loadInt(size int, signed, kernel bool) builtin {
	return func(m *Machine, a []Val, _ int) (Val, error) {
		n, err := m.load(uint64(a[0].Int), size, signed, kernel)
		return Val{Int: n}, err
	}
}

// load reads a little-endian integer.
func (m *Machine) load(addr uint64, size int, signed, kernel bool) (int64, error) {
	clear(m.word[:])
	if err := m.read(m.word[:size], addr, kernel); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(m.word[:]))
	if shift := 64 - 8*size; signed && shift > 0 {
		n = n << shift >> shift
	}
	return n, nil
}
