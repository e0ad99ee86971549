package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// seen is what testdata/page/browse.mjs saw.
type seen struct {
	Errors, Elsewhere, Violations []string
	Moved                         map[string]bool
	Log, Title                    string
	Bold, Overflow                int
	Filtered, Paused, End         bool
	Turns                         int
	Skipped                       string
	Shown                         []string
	Enabled                       int
}

// browser makes a folder with what drives one, and gives a function that looks at a page.
func browser(t *testing.T) (folder string, look func(url string, more ...string) seen) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium")
	}
	need := func(name string) {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs " + name)
		}
	}
	need("node")
	need("npm")
	folder = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "browse.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata/page", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), string(text))
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0",
		"--fetch-timeout=20000")
	npm.Dir = folder
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("what drives a browser cannot be had from npm: %v\n%s", err, out)
	}
	return folder, func(url string, more ...string) (s seen) {
		t.Helper()
		cmd := exec.Command("node", append([]string{"browse.mjs", url, chromium, folder}, more...)...)
		cmd.Dir = folder
		// Not a pipe: what a browser leaves behind for a while would hold it open.
		said, err := os.Create(filepath.Join(folder, "said"))
		if err != nil {
			t.Fatal(err)
		}
		defer said.Close()
		cmd.Stdout, cmd.Stderr = said, said
		err = cmd.Run()
		out, _ := os.ReadFile(said.Name())
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return s
	}
}

// address waits until a session says where its page is.
func address(t *testing.T, s *session) string {
	t.Helper()
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(10 * time.Millisecond) {
		m := regexp.MustCompile(`the (?:session|trace) is at (http://127\.0\.0\.1:\d+/\S+/)[\n;]`).FindStringSubmatch(
			s.stderr())
		if m != nil {
			return m[1]
		}
	}
	t.Fatalf("no address\n%s", s.stderr())
	return ""
}

// looks runs the program that is looked at.
func looks(t *testing.T, args ...string) string {
	t.Helper()
	prog := bin(t, "looks")
	cmd := exec.Command(prog, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return prog
}

// TestPage: in a browser the histogram, the heat map, the flame graph and the output move while the program runs; what
// the program says is text; buttons pause and stop; nothing is asked elsewhere, nothing is wrong for those who cannot
// see it, in light and dark and on a phone.
func TestPage(t *testing.T) {
	needRoot(t)
	prog := looks(t)
	_, look := browser(t)
	s := begin(t, "--http", "0", "-e", `# Looks.
global calls, lat, stacks
probe process("`+prog+`").function("leaf") { calls++ stacks[ustack()]++ }
probe process("`+prog+`").function("top").return { lat <<< gettimeofday_ns() - @entry(gettimeofday_ns()) }
probe timer.ms(200) { printf("<b>%d</b> calls </script><script>document.title = 'bad'</script>\n", calls) }
probe end { print(@hist_log(lat)) println("the end") }`)
	got := look(address(t, s))
	if status := s.end(); status != 0 {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	if len(got.Errors)+len(got.Elsewhere)+len(got.Violations) > 0 {
		t.Errorf("errors %q, elsewhere %q, violations %q", got.Errors, got.Elsewhere, got.Violations)
	}
	for _, what := range []string{"hits", "histogram", "heat", "flame", "log"} {
		if !got.Moved[what] {
			t.Errorf("%s does not move", what)
		}
	}
	if !strings.HasPrefix(got.Log, "<b>") || got.Bold != 0 || !strings.HasSuffix(got.Title, " - gostap") {
		t.Errorf("what the program says is not text: %+v", got)
	}
	if !got.Filtered || !got.Paused || !got.End || got.Overflow > 0 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(s.stdout(), "the end") || !strings.Contains(s.stdout(), "value |") {
		t.Errorf("end probes of a session that was stopped from the page:\n%s", s.stdout())
	}
}

// TestPageFlood: while a script prints as fast as it can the page goes on, and says how much it does not show; the
// session has every line, and none is lost for the page.
func TestPageFlood(t *testing.T) {
	needRoot(t)
	prog := looks(t, "0")
	_, look := browser(t)
	out := filepath.Join(t.TempDir(), "out")
	s := begin(t, "--http", "0", "-s", "64", "-o", out, "-e", `global calls
probe process("`+prog+`").function("leaf") { printf("%d\n", calls++) }
probe end { printf("in all %d\n", calls) }`)
	got := look(address(t, s), "flood")
	s.signal(syscall.SIGINT)
	s.end()
	if len(got.Errors) > 0 || got.Turns < 5 || !strings.Contains(got.Skipped, "lines are not kept here") {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`in all (\d+)\n`).FindSubmatch(text)
	// What the kernel's buffer had no room for is counted there.
	lost := 0
	if l := regexp.MustCompile(`(\d+) (prints|records|events|hits)`).FindStringSubmatch(s.stderr()); l != nil {
		lost = atoi(t, l[1])
	}
	lines := len(regexp.MustCompile(`(?m)^\d+$`).FindAll(text, -1))
	if m == nil || lines+lost != atoi(t, string(m[1])) {
		t.Errorf("%d lines and %d lost of %s\n%s", lines, lost, m, s.stderr())
	}
}
