package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestContexts: what contexts carry is what the program itself finds in them. GOSTAP_TOOLCHAIN says with which releases
// of Go.
func TestContexts(t *testing.T) {
	needRoot(t)
	script, err := os.ReadFile("testdata/g-contexts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(script), "-- c.stp --\n")
	text, _, _ = strings.Cut(text, "\n-- ")
	const module = "github.com/gostap/gostap/tests/fixtures/gocontexts"
	for _, release := range strings.Split(os.Getenv("GOSTAP_TOOLCHAIN"), ",") {
		dir := t.TempDir()
		files := map[string]string{"go.mod": "module " + module + "\ngo 1.22\n"}
		for _, name := range []string{"main.go", "other/other.go"} {
			b, err := os.ReadFile("fixtures/gocontexts/" + name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(b)
		}
		if err := os.Mkdir(filepath.Join(dir, "other"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, flags := range []string{"-gcflags=", "-buildmode=pie", "-gcflags=-N -l"} {
			t.Run(release+flags, func(t *testing.T) {
				prog := filepath.Join(dir, "prog")
				build := exec.Command("go", "build", flags, "-o", prog, ".")
				if build.Dir = dir; release != "" {
					build.Env = append(os.Environ(), "GOTOOLCHAIN="+release)
				}
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
				s := begin(t, "-D", "MAXSTRINGLEN=512", "-o", got, "-e", text, prog, "-c", prog+" >"+want)
				if status := s.end(); status != 0 || s.stderr() != "" {
					t.Fatalf("status %d\n%s", status, s.stderr())
				}
				said, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				seen, err := os.ReadFile(got)
				if err != nil {
					t.Fatal(err)
				}
				lines, wants := strings.Split(string(seen), "\n"), strings.Split(string(said), "\n")
				if len(lines) != len(wants) || len(lines) < 1600 {
					t.Fatalf("%d lines of %d", len(lines), len(wants))
				}
				for i, line := range lines {
					if line != wants[i] {
						t.Errorf("%s, not %s", line, wants[i])
					}
				}
			})
		}
	}
}
