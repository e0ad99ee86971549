package cdwarf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestInlinedParameters: the parameters of an inlined copy come in the order of the declaration. gcc lists them
// from the last to the first.
func TestInlinedParameters(t *testing.T) {
	src := filepath.Join(t.TempDir(), "clamp.c")
	if err := os.WriteFile(src, []byte(`volatile int sink;
static inline int clamp(int x, int lo, int hi) { if (x < lo) sink++; if (x > hi) sink += 2; return x < lo ? lo : x > hi ? hi : x; }
int main(int c, char **v) { for (int i = 0; i < 3; i++) sink += clamp(c + i * 7, c + 3, c + 9); return 0; }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	im := open(t, compile(t, "clamp", "-O2 -g", src))
	copies, err := im.Inlined("clamp")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range copies {
		vars, err := im.Vars(in.Site)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range vars {
			if v.Kind == debuginfo.Param {
				names = append(names, v.Name)
			}
		}
		if got := strings.Join(names, " "); got != "x lo hi" {
			t.Errorf("at %#x: %s", in.Site.PC, got)
		}
	}
}
