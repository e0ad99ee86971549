package pages

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	const begin, end = "<!-- a -->\n", "<!-- end of a -->\n"
	file := filepath.Join(t.TempDir(), "page.md")
	if err := Write(file, begin, end, "x\n"); err == nil {
		t.Error("wrote into a page that is not there")
	}
	for page, whole := range map[string]bool{
		"head\n" + begin + "old\n" + end + "tail\n": true, "head\n" + begin + "old\n": false, "head\n" + end: false,
	} {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		if old, err := Table(file, begin, end); whole && (old != "old\n" || err != nil) || !whole && err == nil {
			t.Errorf("%q: %q, %v", page, old, err)
		}
		err := Write(file, begin, end, "new\n")
		want := page
		if whole {
			want = "head\n" + begin + "new\n" + end + "tail\n"
		}
		if got, _ := os.ReadFile(file); string(got) != want || (err == nil) != whole {
			t.Errorf("%q became %q, %v", page, got, err)
		}
	}
}
