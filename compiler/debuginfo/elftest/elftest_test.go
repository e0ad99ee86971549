package elftest

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// TestBomb inflates what Bomb makes with the library.
func TestBomb(t *testing.T) {
	for _, b := range []byte{0, 1, 0xff} {
		r, err := zlib.NewReader(bytes.NewReader(Bomb(3, b)[24:]))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, bytes.Repeat([]byte{b}, 3<<20)) {
			t.Errorf("%d bytes of %#x, %v", len(got), b, err)
		}
	}
}
