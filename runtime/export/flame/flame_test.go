package flame

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sample(v int64, names ...string) export.Sample {
	s := export.Sample{Values: []int64{v}}
	for _, n := range names {
		s.Stack = append(s.Stack, export.Frame{Func: n})
	}
	return s
}

func profiles() (before, after *export.Profile) {
	before = &export.Profile{Samples: []export.Sample{sample(600e6, "std::vector<int>::push_back(int&&)", "main"),
		sample(400e6, "slow", "main")}}
	after = &export.Profile{Samples: []export.Sample{sample(600e6, "std::vector<int>::push_back(int&&)", "main"),
		sample(90e6, "slow", "main"),
		sample(10e6, "[sleep]", "]]></script>\x01\xff", "main"), sample(1, "tiny", "main")}}
	return before, after
}

// TestGolden holds what is drawn against files, without the script and the style.
func TestGolden(t *testing.T) {
	before, after := profiles()
	for name, c := range map[string]struct {
		root *export.Node
		o    Options
	}{
		"plain.svg": {export.Tree(after, nil, 0), Options{Title: "a <title>", Unit: "nanoseconds", Notes: []string{
			"a note"}}},
		"diff.svg":  {export.Tree(after, before, 0), Options{Title: "diff", Unit: "nanoseconds", Diff: true}},
		"page.html": {export.Tree(before, nil, 0), Options{Title: "page", Unit: "bytes", HTML: true}},
		"empty.svg": {export.Tree(&export.Profile{}, nil, 0), Options{Title: "empty", Unit: "count"}},
	} {
		var b strings.Builder
		if err := Write(&b, c.root, c.o); err != nil {
			t.Fatal(err)
		}
		all := b.String()
		got := strings.Replace(strings.Replace(all, script, "SCRIPT", 1), style, "STYLE", 1)
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s, %v: got\n%s", name, err, got)
		}
		if !c.o.HTML {
			for d := xml.NewDecoder(strings.NewReader(all)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Errorf("%s is no XML: %v", name, err)
					break
				}
			}
		}
		// The only address is the name of the format.
		if l := regexp.MustCompile(`(https?:)?//[a-z][^"\s]*|@import|url\(`).FindAllString(all, -1); len(l) != 1 ||
			l[0] != "http://www.w3.org/2000/svg" {
			t.Errorf("%s asks for %q", name, l)
		}
	}
}

// TestDeep: a stack of any depth is drawn.
func TestDeep(t *testing.T) {
	p := &export.Profile{Samples: []export.Sample{{Values: []int64{1}}}}
	for range 20000 {
		p.Samples[0].Stack = append(p.Samples[0].Stack, export.Frame{Func: "f"})
	}
	var b strings.Builder
	if err := Write(&b, export.Tree(p, nil, 0), Options{}); err != nil || strings.Count(b.String(),
		"<rect") != 20002 {
		t.Errorf("%v, %d rectangles", err, strings.Count(b.String(), "<rect"))
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		v    int64
		unit string
		want string
	}{{0, "nanoseconds", "0 ns"}, {999, "nanoseconds", "999 ns"}, {1500, "nanoseconds", "1.50 us"}, {-2e9,
		"nanoseconds", "-2.00 s"},
		{2048, "bytes", "2.00 kB"}, {5, "bytes", "5 B"}, {12345, "count", "12345"}, {-9223372036854775808, "count",
			"-9223372036854775808"}} {
		if got := Amount(c.v, c.unit); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
