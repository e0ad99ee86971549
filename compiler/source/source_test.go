package source

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap/tests/patience"
)

// TestLongLine: columns are counted in characters, in lines of any length and with bytes that are no characters.
func TestLongLine(t *testing.T) {
	text := []byte("short\n" + strings.Repeat("aé€\xe2\x82 \x80", 5000) + "\nshort €x")
	fs := new(FileSet)
	f := fs.Add("x", text)
	for _, off := range []int{0, 3, 6, 7, 4095, 4096, 4097, 9000, 20001, len(text) - 12, len(text) - 1} {
		start := bytes.LastIndexByte(text[:off], '\n') + 1
		if got, want := fs.Position(f.Pos(off)).Col, utf8.RuneCount(text[start:off])+1; got != want {
			t.Errorf("byte %d: column %d, not %d", off, got, want)
		}
	}
	text = bytes.Repeat([]byte("x"), 1<<20)
	f = fs.Add("y", text)
	begin := patience.Now()
	for off := range len(text) / 8 {
		if fs.Position(f.Pos(8*off)).Col != 8*off+1 {
			t.Fatal(off)
		}
	}
	if d := patience.Now() - begin; d > 5*time.Second {
		t.Errorf("%v for %d positions in one line", d, len(text)/8)
	}
}
