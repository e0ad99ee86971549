package prompt

import (
	"io"
	"unicode/utf8"
)

// controls are the names of keys that come as one byte, beside those of Ctrl with a letter ("^a").
var controls = map[byte]string{'\r': "enter", '\n': "enter", '\t': "tab", 0x7f: "backspace", '\b': "backspace"}

// escapes are the names of keys that come as several bytes, the first of which is ESC.
var escapes = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "OA": "up", "OB": "down", "OC": "right", "OD": "left",
	"[H": "home", "[F": "end", "OH": "home", "OF": "end", "[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end",
	"[3~": "delete", "[1;5C": "word right", "[1;5D": "word left", "[1;3C": "word right", "[1;3D": "word left",
	"f": "word right", "b": "word left", "d": "word delete", "\x7f": "word backspace", "\b": "word backspace",
	"[200~": "paste", "[201~": "pasted",
}

// readKey reads one key and no byte more: its name, or the character. What is no key that is known has the name "".
func readKey(r io.Reader) (string, error) {
	c, err := readByte(r)
	switch {
	case err != nil:
		return "", err
	case controls[c] != "":
		return controls[c], nil
	case c == 0x1b:
		return readEscape(r)
	case c < ' ':
		return "^" + string(rune(c|0x60)), nil
	case c < utf8.RuneSelf:
		return string(rune(c)), nil
	}
	b := []byte{c}
	for !utf8.FullRune(b) {
		if c, err = readByte(r); err != nil {
			return "", err
		}
		b = append(b, c)
	}
	if ch, n := utf8.DecodeRune(b); ch != utf8.RuneError && n == len(b) {
		return string(ch), nil
	}
	return "", nil
}

// readEscape reads what follows an ESC.
func readEscape(r io.Reader) (string, error) {
	c, err := readByte(r)
	if err != nil {
		return "", err
	}
	s := string(rune(c))
	if c != '[' && c != 'O' {
		return escapes[s], nil
	}
	for len(s) < 16 {
		if c, err = readByte(r); err != nil {
			return "", err
		}
		s += string(rune(c))
		if c >= '@' && c <= '~' { // the last byte of a sequence
			break
		}
	}
	return escapes[s], nil
}

func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}
