package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// words asks all that the language has words for of the values that tests/fixtures/words hands to a function.
const words = `
probe process(@1).function("main.show") {
  n++
  printf("%d nil=%d len=%d chlen=%d chcap=%d b=%s typeof=%s is=%d ok=%s %d", n, $err == nil, $m->len, $ch->len, $ch->cap,
    $b, @typeof($x), @typeof($x) == "*main.NotFound", $ok$, $ok)
  try { printf(" key=%d", $m["key"]) } catch (e) { printf(" (%s)", e) }
  try {
    printf(" asserted=%s/%d/%g", $err.(*main.NotFound)->Key, $err.(*main.NotFound)->Code, $err.(*main.NotFound)->F)
  } catch (e) { printf(" (%s)", e) }
  if (@is($x, "main.Color")) printf(" color=%d", $x.(main.Color))
  if (@is($x, "float64")) printf(" float=%g", $x.(float64) * 2)
  printf(" slice=%s mf=%g in=%d\n", $s[1:3]$, $mf[3] + 1, "b" in $m)
  foreach (v = i in $f) sum += v
  foreach (w = i in $s limit 2) all = all . w
  foreach (c = key in $m) of += c
  printf("%g %s %d\n", sum, all, of)
}
global n
`

// TestWords: what scripts ask of values is what the program says of them, for each release of Go and kind of build.
func TestWords(t *testing.T) {
	needRoot(t)
	gostap := bin(t, "gostap")
	source, err := os.ReadFile("fixtures/words/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []string{"", "go1.25.5", "go1.24.13", "go1.23.12", "go1.22.12"} {
		for _, flag := range []string{"", "-gcflags=all=-N -l", "-buildmode=pie"} {
			t.Run(strings.TrimSpace(release+" "+flag), func(t *testing.T) {
				dir := t.TempDir()
				for name, text := range map[string]string{"main.go": string(source), "s.stp": words,
					"go.mod": "module words\n\ngo 1.22\n"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				args := []string{"build", "-o", "words"}
				if flag != "" {
					args = append(args, flag)
				}
				cmd := exec.Command("go", args...)
				cmd.Dir = dir
				cmd.Env = os.Environ()
				if release != "" {
					cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+release)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					if release != "" && strings.Contains(string(out), "toolchain") {
						t.Skipf("%s cannot be had: %s", release, out)
					}
					t.Fatalf("%v\n%s", err, out)
				}
				cmd = exec.Command(gostap, "--no-global-var-display", "s.stp", "./words", "-c", "./words >want")
				cmd.Dir = dir
				got, err := cmd.CombinedOutput()
				want, _ := os.ReadFile(filepath.Join(dir, "want"))
				if err != nil || string(got) != string(want) || len(want) == 0 {
					t.Errorf("%v\n--- got\n%s--- the program says\n%s", err, got, want)
				}
			})
		}
	}
}
