package pp

import (
	"strconv"
	"strings"
)

// Number reads an unsigned literal as C's strtoull does with base 0: decimal, 0x
// or leading-0 octal, up to 2^64-1. msg says what is wrong with it, "" if nothing.
func Number(text string) (n uint64, msg string) {
	digits, base, name := text, 10, "decimal"
	switch {
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		digits, base, name = text[2:], 16, "hexadecimal"
		if digits == "" {
			return 0, "number " + text + " has no digits"
		}
	case len(text) > 1 && text[0] == '0':
		digits, base, name = text[1:], 8, "octal"
	}
	for i := 0; i < len(digits); i++ {
		if d := digit(digits[i]); d >= base {
			msg = "'" + digits[i:i+1] + "' is not a digit of a " + name + " number"
			if base == 8 {
				msg += "; a leading 0 makes it octal"
			}
			return 0, strings.Replace(msg, "a octal", "an octal", 1)
		}
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, "number " + cut(text, 40) + " does not fit in 64 bits"
	}
	return n, ""
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// Unquote gives the value of a string literal with its quotes. Escapes are those
// of C: \a \b \t \n \v \f \r \\, one to three octal digits, \x with hexadecimal
// digits; any other escaped character stands for itself. msg says what is wrong
// with the bytes at[0]:at[1] of text, "" if nothing.
func Unquote(text string) (value string, at [2]int, msg string) {
	s := text[1 : len(text)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s, at, ""
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		begin := i
		i++
		switch c := s[i]; c {
		case 'a':
			b = append(b, '\a')
		case 'b':
			b = append(b, '\b')
		case 't':
			b = append(b, '\t')
		case 'n':
			b = append(b, '\n')
		case 'v':
			b = append(b, '\v')
		case 'f':
			b = append(b, '\f')
		case 'r':
			b = append(b, '\r')
		case '0', '1', '2', '3', '4', '5', '6', '7':
			j := i
			for j < len(s) && j < i+3 && '0' <= s[j] && s[j] <= '7' {
				j++
			}
			n, err := strconv.ParseUint(s[i:j], 8, 8)
			if err != nil {
				return "", [2]int{begin + 1, j + 1}, "escape " + s[begin:j] + " is larger than one byte"
			}
			b = append(b, byte(n))
			i = j - 1
		case 'x':
			j := i + 1
			for j < len(s) && digit(s[j]) < 16 {
				j++
			}
			if j == i+1 {
				return "", [2]int{begin + 1, j + 1}, "escape \\x needs hexadecimal digits"
			}
			n, err := strconv.ParseUint(s[i+1:j], 16, 8)
			if err != nil {
				return "", [2]int{begin + 1, j + 1}, "escape " + cut(s[begin:j], 20) + " is larger than one byte"
			}
			b = append(b, byte(n))
			i = j - 1
		default:
			b = append(b, c)
		}
	}
	return string(b), at, ""
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// CompareVersions orders as glibc's strverscmp does: runs of digits by value,
// except that runs with leading zeros are fractions and sort before.
func CompareVersions(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return 0
	}
	// The run of digits that the difference stands in, or begins.
	start := i
	for start > 0 && isDigit(a[start-1]) {
		start--
	}
	da, db := i < len(a) && isDigit(a[i]), i < len(b) && isDigit(b[i])
	plain := func() int {
		var ca, cb int
		if i < len(a) {
			ca = int(a[i])
		}
		if i < len(b) {
			cb = int(b[i])
		}
		return ca - cb
	}
	if start == i && !(da && db) {
		return plain()
	}
	if start < i && !da && !db {
		return plain()
	}
	// Leading zeros: the common part begins with 0, or one of the runs does here.
	zeros := 0
	for j := start; j < i && a[j] == '0'; j++ {
		zeros++
	}
	onlyZeros := zeros == i-start
	switch {
	case start == i:
		if a[i] == '0' || b[i] == '0' {
			return plain()
		}
	case a[start] == '0':
		if !onlyZeros {
			return plain() // a fraction: digit by digit
		}
		// 0 against 00, 01, 09: more leading zeros come first, and all of them
		// before the number that has fewer.
		if da && db {
			return plain()
		}
		if da {
			return -1
		}
		return 1
	}
	la, lb := runLength(a, i), runLength(b, i)
	if la != lb {
		return la - lb
	}
	return plain()
}

func runLength(s string, i int) int {
	n := 0
	for i+n < len(s) && isDigit(s[i+n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Glob matches as fnmatch does without escapes and without special slashes:
// * ? [abc] [a-z] [!a].
func Glob(pattern, s string) bool {
	// The last * seen and where its match began; on a mismatch it takes one more.
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) {
			switch pattern[p] {
			case '*':
				star, mark = p, i
				p++
				continue
			case '?':
				p++
				i++
				continue
			case '[':
				if n, ok := class(pattern[p:], s[i]); n > 0 {
					if ok {
						p += n
						i++
						continue
					}
					break
				}
				fallthrough
			default:
				if pattern[p] == s[i] {
					p++
					i++
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// class matches c with the bracket expression at the start of p, of n bytes; n is
// 0 if it has no end and [ stands for itself.
func class(p string, c byte) (n int, ok bool) {
	i, not := 1, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		not = true
		i++
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			return i + 1, ok != not
		}
		lo, hi := p[i], p[i]
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			hi = p[i+2]
			i += 2
		}
		if lo <= c && c <= hi {
			ok = true
		}
		i++
	}
	return 0, false
}
