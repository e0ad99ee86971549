package textfmt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape writes one byte as C source does between two quote, when it is not printable, or is quote or \.
func Escape(dst []byte, c, quote byte) []byte {
	if c >= ' ' && c <= '~' && c != quote && c != '\\' {
		return append(dst, c)
	}
	if c == quote {
		return append(dst, '\\', c)
	}
	if i := strings.IndexByte("\a\b\f\n\r\t\v\\", c); i >= 0 {
		return append(dst, '\\', "abfnrtv\\"[i])
	}
	return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
}

// EscapeNext writes the first character of s: one of UTF-8 beyond ASCII by its number, as \u00E9 or \U0001F600, and
// anything else as Escape does its first byte. It gives how many bytes of s that was.
func EscapeNext(dst []byte, s string, quote byte) ([]byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case n <= 1:
		return Escape(dst, s[0], quote), 1
	case r > 0xffff:
		return fmt.Appendf(dst, `\U%08X`, r), n
	}
	return fmt.Appendf(dst, `\u%04X`, r), n
}

// Quote escapes s up to room bytes, whole escapes only. quoted puts quotation marks around it, and "..." behind those
// when something was left out.
func Quote(s string, room int, quoted bool) string {
	dst := make([]byte, 0, len(s)+2)
	if quoted {
		dst = append(dst, '"')
		room -= 2
	}
	base, keep := len(dst), -1
	for size := 0; len(s) > 0; s = s[size:] {
		n := len(dst)
		dst, size = EscapeNext(dst, s, '"')
		if quoted && len(dst)-base > room-3 && keep < 0 {
			keep = n // as far as it may go when the dots have to fit in
		}
		if len(dst)-base > room {
			if !quoted {
				return string(dst[:n])
			}
			return string(dst[:keep]) + `"...`
		}
	}
	if quoted {
		dst = append(dst, '"')
	}
	return string(dst)
}

// QuoteN is Quote for text_strn: room is what the script asks for, 0 or less for as much as a string holds.
func QuoteN(s string, room int64, quoted bool, most int) string {
	if room <= 0 || room > int64(most) {
		room = int64(most)
	}
	if quoted {
		room = max(room, int64(len(`""...`)))
	}
	return Quote(s, int(room), quoted)
}

// QuotedCap bounds what user_text and kernel_text give for n bytes.
func QuotedCap(n int) int { return max(4*n+2, len("0xffffffffffffffff")) }

// NoText is what user_text and kernel_text give for a string that cannot be read. C's have a name for the address 0.
func NoText(addr uint64, cstr bool) string {
	if cstr && addr == 0 {
		return "NULL"
	}
	return "0x" + strconv.FormatUint(addr, 16)
}
