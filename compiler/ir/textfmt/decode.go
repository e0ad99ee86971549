package textfmt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Decode writes number v as spec says (the intrinsic value_text). The first character of spec is the kind:
//
//	|ZERO;ENTRIES      flags, joined by |; ZERO where none is set
//	=FORMAT;ENTRIES    one of several values; FORMAT (a printf directive, in text) shows others
//	r, x, o            a system call's result: a small negative number as "-2 (ENOENT)", others in decimal, as an address, in octal
//	?FORMAT            FORMAT of v, nothing where v is negative
//
// ENTRIES are separated by commas: "VALUE NAME", or "MASK/VALUE NAME" for flags of several bits. Numbers are as in C. What is left
// of the flags is written in hexadecimal. A spec that cannot be read gives v in decimal.
func Decode(spec string, v int64) string {
	if spec == "" {
		return strconv.FormatInt(v, 10)
	}
	switch spec[0] {
	case '|', '=':
		return tableOf(spec).text(v)
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

// ErrnoName gives the name of an error number, those that the kernel uses within itself too (linux/errno.h); "" if it has none.
func ErrnoName(n int) string {
	if s := kernelErrno[n]; s != "" {
		return s
	}
	return unix.ErrnoName(unix.Errno(n))
}

var kernelErrno = map[int]string{
	512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK", 517: "EPROBE_DEFER", 518: "EOPENSTALE",
	519: "ENOPARAM", 521: "EBADHANDLE", 522: "ENOTSYNC", 523: "EBADCOOKIE", 524: "ENOTSUPP", 525: "ETOOSMALL", 526: "ESERVERFAULT", 527: "EBADTYPE",
	528: "EJUKEBOX", 529: "EIOCBQUEUED", 530: "ERECALLCONFLICT",
}

// table is a spec that has been read.
type table struct {
	flags bool
	other string // ZERO or FORMAT
	rows  []row
}

type row struct {
	mask, value uint64
	name        string
}

// tables keeps them by spec; scripts have few.
var tables sync.Map

func tableOf(spec string) *table {
	if t, ok := tables.Load(spec); ok {
		return t.(*table)
	}
	t := &table{flags: spec[0] == '|'}
	var list string
	t.other, list, _ = strings.Cut(spec[1:], ";")
	for e := range strings.SplitSeq(list, ",") {
		num, name, ok := strings.Cut(strings.TrimSpace(e), " ")
		mask, value, masked := strings.Cut(num, "/")
		if !masked {
			value = mask
		}
		m, ok1 := number64(mask)
		v, ok2 := number64(value)
		if ok && ok1 && ok2 {
			t.rows = append(t.rows, row{m, v, name})
		}
	}
	tables.Store(spec, t)
	return t
}

func number64(s string) (uint64, bool) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return uint64(n), err == nil
}

func (t *table) text(v int64) string {
	if !t.flags {
		for i := range t.rows {
			if t.rows[i].value == uint64(v) {
				return t.rows[i].name
			}
		}
		return formatted(t.other, v)
	}
	var b strings.Builder
	add := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		b.WriteString(s)
	}
	left := uint64(v)
	for i := range t.rows {
		// A field of several bits may be 0 and have a name; a flag is there if all of its bits are.
		if r := &t.rows[i]; uint64(v)&r.mask == r.value && (left&r.mask != 0 || r.value == 0) && (r.mask != 0) {
			add(r.name)
			left &^= r.mask
		}
	}
	if left != 0 {
		add(fmt.Sprintf("0x%x", left))
	}
	if b.Len() == 0 {
		return t.other
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
