package textfmt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Decode writes number v as spec says (the intrinsic value_text). The first character of spec is the kind:
//
//	|ZERO;ENTRIES      flags, joined by |; ZERO where none is set
//	=FORMAT;ENTRIES    one of several values; FORMAT (a printf directive, in text) shows others
//	r, x, o            a system call's result: a small negative number as "-2 (ENOENT)", others in decimal,
//	                   as an address, in octal
//	?FORMAT            FORMAT of v, nothing where v is negative
//
// ENTRIES are separated by commas: "VALUE NAME", or "MASK/VALUE NAME" for flags of several bits. Numbers are as in C.
// What is left of the flags is written in hexadecimal. A spec that cannot be read gives v in decimal.
func Decode(spec string, v int64) string {
	if spec == "" {
		return strconv.FormatInt(v, 10)
	}
	switch spec[0] {
	case '|', '=':
		return TableOf(spec).text(v)
	case '?':
		if v < 0 {
			return ""
		}
		return formatted(spec[1:], v)
	case 'r', 'x', 'o':
		if v < 0 && v > -4096 {
			if name := ErrnoName(int(-v)); name != "" {
				return strconv.FormatInt(v, 10) + " (" + name + ")"
			}
			return strconv.FormatInt(v, 10)
		}
		switch spec[0] {
		case 'x':
			return "0x" + strconv.FormatUint(uint64(v), 16)
		case 'o':
			return "0" + strconv.FormatUint(uint64(v), 8)
		}
	}
	return strconv.FormatInt(v, 10)
}

// Table is a spec of the kinds | and = that has been read.
type Table struct {
	Flags bool
	Other string // ZERO or FORMAT
	Rows  []Row
}

// Row is one of its entries. Mask is Value where none was given.
type Row struct {
	Mask, Value uint64
	Name        string
}

// tables keeps them by spec; scripts have few.
var tables sync.Map

// TableOf reads a spec of the kinds | and =. What is no entry is left out. The result is shared: nobody may change it.
func TableOf(spec string) *Table {
	if t, ok := tables.Load(spec); ok {
		return t.(*Table)
	}
	t := &Table{Flags: spec[0] == '|'}
	var list string
	t.Other, list, _ = strings.Cut(spec[1:], ";")
	for e := range strings.SplitSeq(list, ",") {
		num, name, ok := strings.Cut(strings.TrimSpace(e), " ")
		mask, value, masked := strings.Cut(num, "/")
		if !masked {
			value = mask
		}
		m, ok1 := number64(mask)
		v, ok2 := number64(value)
		if ok && ok1 && ok2 {
			t.Rows = append(t.Rows, Row{m, v, name})
		}
	}
	tables.Store(spec, t)
	return t
}

// DecodeCap bounds the texts that Decode gives by spec, in bytes.
func DecodeCap(spec string) int {
	const number = 22 // the longest number, in octal
	if spec == "" {
		return number
	}
	switch spec[0] {
	case '|', '=':
		t := TableOf(spec)
		n, all := len(t.Other)+number, 0
		for i := range t.Rows {
			n, all = max(n, len(t.Rows[i].Name)), all+len(t.Rows[i].Name)+1
		}
		if t.Flags {
			return max(n, all+2+number)
		}
		return n
	case '?':
		return len(spec) + number
	}
	return 32 // -4095 (ERESTART_RESTARTBLOCK)
}

func number64(s string) (uint64, bool) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return uint64(n), err == nil
}

func (t *Table) text(v int64) string {
	if !t.Flags {
		for i := range t.Rows {
			if t.Rows[i].Value == uint64(v) {
				return t.Rows[i].Name
			}
		}
		return formatted(t.Other, v)
	}
	var b strings.Builder
	add := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		b.WriteString(s)
	}
	left := uint64(v)
	for i := range t.Rows {
		// A field of several bits may be 0 and have a name; a flag is there if all of its bits are.
		if r := &t.Rows[i]; uint64(v)&r.Mask == r.Value && (left&r.Mask != 0 || r.Value == 0) && r.Mask != 0 {
			add(r.Name)
			left &^= r.Mask
		}
	}
	if left != 0 {
		add(fmt.Sprintf("0x%x", left))
	}
	if b.Len() == 0 {
		return t.Other
	}
	return b.String()
}

// formatted writes v in place of the one directive in format: %d %u %x %o, with # or not.
func formatted(format string, v int64) string {
	i := strings.IndexByte(format, '%')
	if i < 0 {
		return format
	}
	alt, rest := false, format[i+1:]
	if after, ok := strings.CutPrefix(rest, "#"); ok {
		alt, rest = true, after
	}
	if rest == "" {
		return format
	}
	text := ""
	switch rest[0] {
	case 'x':
		if text = strconv.FormatUint(uint64(v), 16); alt {
			text = "0x" + text
		}
	case 'o':
		if text = strconv.FormatUint(uint64(v), 8); alt && v != 0 {
			text = "0" + text
		}
	case 'u':
		text = strconv.FormatUint(uint64(v), 10)
	default:
		text = strconv.FormatInt(v, 10)
	}
	return format[:i] + text + rest[1:]
}
