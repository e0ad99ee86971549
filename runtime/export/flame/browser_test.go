package flame

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

// hostile are names that would be code if they were not text.
var hostile = []string{`<script>document.title="bad"</script>`, `</script><script>document.title="bad"</script>`,
	`"><img src=x onerror="document.title='bad'">`, `</title></svg><svg onload="document.title='bad'">`,
	`'-(document.title="bad")-'`, `]]><script>document.title="bad"</script>`, "a&lt;b\x00\xff"}

// TestBrowser: names of functions and labels are text in a browser, in both forms and in a comparison; the script of
// the page runs, and all names are there.
func TestBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium")
	}
	p := &export.Profile{Types: []export.Type{{Name: "time", Unit: "nanoseconds"}}}
	for _, name := range hostile {
		p.Samples = append(p.Samples, export.Sample{Stack: []export.Frame{{Func: name}, {Func: "main"}},
			Values: []int64{10}, Labels: []export.Label{{Key: "state", Text: name}}})
	}
	for _, before := range []*export.Profile{nil, p} {
		for _, html := range []bool{true, false} {
			file := filepath.Join(t.TempDir(), "x.svg")
			if html {
				file = filepath.Join(t.TempDir(), "x.html")
			}
			f, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			title := "good " + hostile[0]
			err = Write(f, export.Tree(p, before, 0, "state"), Options{Title: title, Unit: "nanoseconds", HTML: html,
				Diff: before != nil, Notes: hostile})
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1000",
				"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			dom := string(out)
			if m := regexp.MustCompile(`<title>([^<]*)`).FindStringSubmatch(dom); m == nil || m[1] == "bad" {
				t.Errorf("html %v: title %q", html, m)
			}
			if strings.Contains(dom, "<img") || strings.Contains(dom, "<svg onload") ||
				strings.Count(dom, "<script") != 1 {
				t.Errorf("html %v: a name is code: %s", html, dom)
			}
			for _, name := range hostile[:6] {
				if text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(name); !strings.Contains(
					strings.ReplaceAll(dom, "&quot;", `"`), text) {
					t.Errorf("html %v: no %s in %s", html, name, dom)
				}
			}
		}
	}
}
