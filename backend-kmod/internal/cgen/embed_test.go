package cgen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestEmbedded runs C of a script in user space under the sanitizers: arguments, results, errors, faults, output,
// globals.
func TestEmbedded(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	text, err := os.ReadFile("testdata/embed.ir")
	if err != nil {
		t.Fatal(err)
	}
	p := irtest.Parse(t, string(text))
	c, u, evs, refused := cprog(p)
	if refused {
		t.Fatal("refused")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(c+"\nint main(void) { return run(); }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(build(t, dir, "main.c"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	got := said(t, p, u, evs, out)
	for _, w := range []string{
		"5 7 <long text 42 tex\nin 1065\nsaid 7\n", "WARNING: careful 1\nend\n8265\n", "caught nothing in 5\n",
		"caught read fault at 0x0000000000001388\n",
		"caught Array overflow, check size limit (3)\n",
	} {
		if strings.Count(got.Text, w) != rounds {
			t.Errorf("%q is not there %d times in\n%s", w, rounds, got.Text)
		}
	}
	if strings.Contains(got.Text, "not reached") {
		t.Errorf("%s", got.Text)
	}
	want := map[string]string{
		"n": " = 4 \"\"\n", "s": " = 0 \"nine\"\n",
		"arr": "[{Int:1 Str:} {Int:0 Str:none}] = 1 \"\"\n[{Int:2 Str:} {Int:0 Str:none}] = 1 \"\"\n[{Int:3 Str:} " +
			"{Int:0 Str:nine}] = 1 \"\"\n[{Int:4 Str:} {Int:0 Str:nine}] = 1 \"\"\n",
		"names": "[{Int:7 Str:}] = 0 \"seven\"\n[{Int:8 Str:}] = 0 \"eight\"\n[{Int:9 Str:}] = 0 \"nine\"\n",
	}
	for name, w := range want {
		if got.Globals[name] != w {
			t.Errorf("%s: %s", name, got.Globals[name])
		}
	}
}

// TestEndsStatement tells expressions from statement lists.
func TestEndsStatement(t *testing.T) {
	for c, want := range map[string]bool{"1": false, "1;": true, "int x = 1; x": false, "x; /* ; */ ": true,
		"1 // ;": false, "1; // y": true, `";"`: false, "{ 1; }": true, "/*": false, `"\";`: false, "': ": false} {
		if got := endsStatement(c); got != want {
			t.Errorf("%q: %v", c, got)
		}
	}
}
