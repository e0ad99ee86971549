package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// hourFiles are what lies about where the newcomer types.
var hourFiles = map[string]string{
	"main.go": `package main

import "fmt"

type Store struct{ n map[string]int }

//go:noinline
func (s *Store) Get(key string) (int, error) {
	if v, ok := s.n[key]; ok {
		return v, nil
	}
	return 0, fmt.Errorf("no %s", key)
}

func small(n int) int { return n + 1 }

//go:noinline
func add(a, b int) int { return small(a) + b }

func main() {
	s := &Store{map[string]int{"a": 1}}
	v, err := s.Get("a")
	fmt.Println(add(v, 2), err)
}
`,
	"go.mod": "module app\n\ngo 1.24\n",
	"shop.cc": `namespace shop {
struct Cart { int n; __attribute__((noinline)) int add(int k); };
int Cart::add(int k) { n += k; return n; }
}
int main() { shop::Cart c{1}; return c.add(3); }
`,
	"empty.stp": "", "dir/x.stp": "",
	"crlf.stp":  "probe begin {\r\n  println(\"hi\")\r\n  exit()\r\n}\r\n",
	"bom.stp":   "\xef\xbb\xbfprobe begin { println(\"hi\") exit() }\n",
	"smart.stp": "probe begin { println(“hi”) exit() }\n",
	"tabs.stp":  "probe begin {\n\tprntln(\"x\")\n}\n",
	"brace.stp": "probe begin {\n\tif (1) {\n\t\tprintln(\"x\")\n}\n",
	"return.stp": `global n
function f(x) {
  if (x) return
  n++
}
probe begin { f(1) f(0) println(n) exit() }
`,
	"a.stp": "probe begin { println(\"hi\") exit() }\n", "b.stp": "probe begin { exit() }\n",
	"binary.stp": "\x00\x01\x02\xff\xfe",
}

// TestFirstHour types what newcomers type, and holds each answer against testdata/firsthour.txt: lines that begin with
// $ are commands, those behind them are what is answered, DIR being where the files lie; ## begins a heading.
func TestFirstHour(t *testing.T) {
	golden, err := os.ReadFile("testdata/firsthour.txt")
	if err != nil {
		t.Fatal(err)
	}
	there, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/dir", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range hourFiles {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, tool := range []string{"g++", "strip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range [][]string{{"go", "build", "-o", "app", "main.go"},
		{"g++", "-g", "-o", "shop", "shop.cc"}, {"strip", "-o", "bare", "shop"}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", c, err, out)
		}
	}
	var got strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(string(golden), "\n"), "\n") {
		typed, ok := strings.CutPrefix(line, "$ gostap")
		if !ok {
			if strings.HasPrefix(line, "## ") {
				fmt.Fprintln(&got, line)
			}
			continue
		}
		var out bytes.Buffer
		status := Run(shellWords(t, typed), Streams{In: strings.NewReader(""), Out: &out, Err: &out},
			[]string{"PATH=/bin:/usr/bin", "SYSTEMTAP_DIR=" + dir, "TMPDIR=" + dir})
		fmt.Fprintf(&got, "%s\n%s", line, strings.ReplaceAll(out.String(), dir, "DIR"))
		if status != 0 {
			fmt.Fprintf(&got, "[%d]\n", status)
		}
	}
	if *update {
		if err := os.WriteFile(there+"/testdata/firsthour.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(string(golden), "\n$ ")
	for i, answer := range strings.Split(got.String(), "\n$ ") {
		if i >= len(want) || strings.TrimSpace(want[i]) != strings.TrimSpace(answer) {
			t.Errorf("$ %s\n\nwant\n\n$ %s", answer, want[min(i, len(want)-1)])
		}
	}
}

// shellWords splits a line as a shell does: words in '...' and "...", the second without variables.
func shellWords(t *testing.T, line string) (words []string) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && c == ' ':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		t.Fatalf("%s: a quote is open", line)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
