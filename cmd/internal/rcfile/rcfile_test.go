package rcfile

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		text, warns, fails string
		mode               os.FileMode
		words              []string
	}{
		{text: "-v  'a b'\t\"c\\\"d\" # -w\n-D\\ x e''f", mode: 0o600,
			words: []string{"-v", "a b", `c"d`, "-D x", "ef"}},
		{text: "-v 'open", mode: 0o600, fails: "a quote is not closed"},
		{text: "-v", mode: 0o666, warns: "are not used"},
		{text: "", mode: 0o600},
	} {
		path := dir + "/rc"
		os.Remove(path)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		var warned bytes.Buffer
		words, _, err := Read([]string{"SYSTEMTAP_DIR=" + dir}, &warned)
		said := ""
		if err != nil {
			said = err.Error()
		}
		ok := strings.Contains(warned.String(), c.warns) && (c.warns == "") == (warned.Len() == 0) &&
			strings.Contains(said, c.fails) && (c.fails == "") == (err == nil)
		if !slices.Equal(words, c.words) || !ok {
			t.Errorf("%q: %q, %v, %s", c.text, words, err, &warned)
		}
	}
	words, path, err := Read([]string{"HOME=" + dir + "/none"}, os.Stderr)
	if words != nil || path != "" || err != nil {
		t.Error(words, path, err)
	}
}
