package pclntab

import (
	"bytes"
	"strings"
)

// SplitMethod takes a linker name apart: "main", "(*T[int])", "M" of "main.(*T[int]).M"; without receiver the
// middle is empty.
func SplitMethod(name string) (pkg, recv, method string) {
	start := strings.LastIndexByte(strings.SplitN(name, "[", 2)[0], '/') + 1
	k := strings.IndexByte(name[start:], '.')
	if k < 0 {
		return "", "", name
	}
	pkg, name = name[:start+k], name[start+k+1:]
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ']', ')', '}':
			depth++
		case '[', '(', '{':
			depth--
		case '.':
			if depth == 0 {
				return pkg, name[:i], name[i+1:]
			}
		}
	}
	return pkg, "", name
}

// Unescape undoes the linker's escapes in import paths: %2e for a dot in the last element, %xx for
// others.
func Unescape(name []byte) []byte {
	if bytes.IndexByte(name, '%') < 0 {
		return name
	}
	hex := func(c byte) int {
		switch {
		case '0' <= c && c <= '9':
			return int(c - '0')
		case 'a' <= c && c <= 'f':
			return int(c-'a') + 10
		}
		return -1
	}
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if h, l := hex(name[i+1]), hex(name[i+2]); h >= 0 && l >= 0 {
				out = append(out, byte(h<<4|l))
				i += 2
				continue
			}
		}
		out = append(out, name[i])
	}
	return out
}
