package layout

import (
	"bytes"
	"testing"
)

func TestPutString(t *testing.T) {
	for _, c := range []struct {
		v    string
		max  int
		want string
	}{
		{"", 7, "\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"abc", 7, "abc\x00\x00\x00\x00\x00"},
		{"abcdefgh", 7, "abcdefg\x00"},
		{"abcdefgh", 99, "abcdefg\x00"},
		{"abcdefgh", 2, "ab\x00\x00\x00\x00\x00\x00"},
	} {
		b := bytes.Repeat([]byte{'x'}, 8)
		if PutString(b, c.v, c.max); string(b) != c.want {
			t.Errorf("%q at most %d: %q", c.v, c.max, b)
		}
	}
}
