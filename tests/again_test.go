package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgain: arguments that a function does not use are not saved when its stack has to grow, after which it begins
// again with what the runtime left in the registers. They are ? at such an entry, and right at all others.
// GOSTAP_TOOLCHAIN says with which releases of Go.
func TestAgain(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	text, err := os.ReadFile("fixtures/again/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	script := `probe process(@1).function("main.(*empty).show") { printf("%s;%s;%s;%s\n", $e$$, $n$$, $s$$, $f$$) }
		probe process(@1).function("main.second") { printf("%s;%s;%s\n", $n$$, $s$$, $m$$) }
		probe process(@1).function("main.all") { printf("%s;%s\n", $n$$, $s$$) }
		probe process(@1).function("main.main.func*.1") { try { printf("%d;%s\n", $n, $s) } catch { println("lost") } }`
	for _, release := range strings.Split(os.Getenv("GOSTAP_TOOLCHAIN"), ",") {
		for _, flags := range []string{"-gcflags=", "-buildmode=pie", "-gcflags=-N -l"} {
			t.Run(release+flags, func(t *testing.T) {
				prog := filepath.Join(dir, "prog")
				build := exec.Command("go", "build", flags, "-o", prog, "main.go")
				if build.Dir = dir; release != "" {
					build.Env = append(os.Environ(), "GOTOOLCHAIN="+release)
				}
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				s := begin(t, "-e", script, prog, "-c", prog)
				if status := s.end(); status != 0 || s.stderr() != "" {
					t.Fatalf("status %d\n%s", status, s.stderr())
				}
				lost, n := 0, 0
				for line := range strings.Lines(s.stdout()) {
					if line == "240 calls\n" {
						continue
					}
					depth := n / 4
					want := [...]string{fmt.Sprintf("&{a:3, b:4};%d;\"text\";main.one\n", depth),
						fmt.Sprintf("%d;\"text\";map[\"k\":%d]\n", depth, depth), fmt.Sprintf("%d;\"text\"\n", depth),
						fmt.Sprintf("%d;text\n", depth)}[n%4]
					if n++; line == "?;?;?;?\n" || line == "lost\n" {
						lost++
					} else if line != want {
						t.Errorf("call %d: %s, not %s", n, line, want)
					}
				}
				if n != 240 {
					t.Errorf("%d calls of 240", n)
				}
				if flags != "-gcflags=-N -l" && (lost == 0 || lost > 110) { // not used: those of two functions
					t.Errorf("%d of %d calls have lost their arguments", lost, n)
				}
			})
		}
	}
}
