package outfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRotator: whatever the writes are, all lines are in the files in order, none is cut, and no file is larger than it
// may be by more than a line.
func TestRotator(t *testing.T) {
	for _, keep := range []int{0, 1, 3} {
		path := filepath.Join(t.TempDir(), "out")
		w, err := New(path, Rotation{1000, keep})
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for i := range 2000 {
			all = fmt.Appendf(all, "line %d %s\n", i, strings.Repeat("x", rand.IntN(80)))
		}
		all = append(all, strings.Repeat("long", 500)+"\nlast"...)
		for b := all; len(b) > 0; {
			n := min(1+rand.IntN(400), len(b))
			if k, err := w.Write(b[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			b = b[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(path + ".*")
		if keep > 0 && len(files) != keep || keep == 0 && len(files) < 20 {
			t.Errorf("%d files of %d", len(files), keep)
		}
		var got []byte
		for i := w.n - len(files) + 1; i <= w.n; i++ {
			b, err := os.ReadFile(w.name(i))
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > 1000+100 && !bytes.Contains(b, []byte("longlong")) { // a line that was begun ends there
				t.Errorf("file %d has %d bytes", i, len(b))
			}
			if i < w.n && !bytes.HasSuffix(b, []byte("\n")) {
				t.Errorf("file %d ends within a line", i)
			}
			got = append(got, b...)
		}
		if !bytes.HasSuffix(all, got) || keep == 0 && len(got) != len(all) {
			t.Errorf("keep %d: %d bytes of %d", keep, len(got), len(all))
		}
	}
	for s, ok := range map[string]bool{"1": true, "5,2": true, "": false, "0": false, "x": false, "5,": false,
		"5,0": false, "-1": false, "5,2,1": false, "99999999": false} {
		if _, err := ParseRotation(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}
