package prompt

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeys types keys, and looks at the line; the bar is the cursor.
func TestKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"abc":                                 "abc|",
		"a\x1b[Db":                            "b|a",
		"one two\x1b[D\x1b[H\x1b[3~X":         "X|ne two",
		"one two\x17three":                    "one three|",
		"one two\x01\x0b\x19\x19":             "one twoone two|",
		"one two.three\x1bb\x1bb\x1bd":        "one |.three",
		"one two\x15\x7f":                     "|",
		"é日本\x02\x7f":                         "é|本",
		"x\x1b[A\x1b[A\x1b[A":                 "first|",
		"x\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B":     "x|",
		"a\x1b[99;99Xb\x1bOC\x00\x1c\xff\xfe": "ab|",
	} {
		l := line{recall: []string{"first", "second"}}
		for r := strings.NewReader(keys); ; {
			k, err := readKey(r)
			if err == io.EOF {
				break
			}
			l.key(k)
		}
		if got := string(l.text[:l.pos]) + "|" + string(l.text[l.pos:]); got != want {
			t.Errorf("%q: %q, want %q", keys, got, want)
		}
	}
}

// FuzzKeys: no bytes put the cursor outside of the line.
func FuzzKeys(f *testing.F) {
	f.Add("one two\x1b[A\x1b[3~\x17\x1bb\x1bd\x19\x7f")
	f.Fuzz(func(t *testing.T, keys string) {
		l := line{recall: []string{"first", "", "日本"}}
		for r := strings.NewReader(keys); ; {
			k, err := readKey(r)
			if err != nil {
				break
			}
			if l.key(k); l.pos < 0 || l.pos > len(l.text) {
				t.Fatalf("%q: at %d of %d", keys, l.pos, len(l.text))
			}
		}
	})
}

// TestHistory: lines are kept from one time to the next, for nobody else, and not without end.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history")
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * mostKept {
		h.add("one")
		h.add("one")
		h.add("  ")
		h.add("two")
	}
	h.Close()
	if h, err = OpenHistory(path); err != nil || len(h.lines()) != mostKept {
		t.Fatal(len(h.lines()), err)
	}
	h.Close()
	if h, err = OpenHistory(path); err != nil || len(h.lines()) != mostKept || h.lines()[mostKept-1] != "two" {
		t.Fatal(len(h.lines()), err)
	}
	h.Close()
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Error(st, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	h, err = OpenHistory(path)
	if h.add("secret"); err == nil || len(h.lines()) != 1 {
		t.Errorf("a file that others can write is read: %v %d", err, len(h.lines()))
	}
}

// TestCommon: what all words begin with.
func TestCommon(t *testing.T) {
	if got := common([]string{"日本", "日曜", "日"}); got != "日" {
		t.Error(got)
	}
	if got := common([]string{"ab", "cd"}); got != "" {
		t.Error(got)
	}
}
