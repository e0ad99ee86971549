package target

import (
	"bytes"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWords compares what is taken apart here with what the shell makes of it.
func TestWords(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	pieces := strings.Split("a b1 -x=y 'q r' \"s t\" \"u'v\" 'w\"x' \\y \\\\ \\' \"\\\"z\" \"\\n\" '' \"\" ; | $HOME "+
		"* # ~ ä /b/c.d : % {} 2 12 @ ^", " ")
	same, left := 0, 0
	for range 3000 {
		var b strings.Builder
		b.WriteString("w")
		for range 1 + rnd.Intn(5) {
			b.WriteString([]string{" ", "", "  ", "\t"}[rnd.Intn(4)])
			b.WriteString(pieces[rnd.Intn(len(pieces))])
		}
		s, ok := words(b.String())
		if !ok {
			left++
			continue
		}
		if same++; same > 400 {
			break
		}
		out, err := exec.Command("/bin/sh", "-c", "printf '%s\\0' "+b.String()).Output()
		if err != nil {
			t.Fatalf("%s: %v", b.String(), err)
		}
		if got := strings.Join(s.words, "\x00") + "\x00"; got != string(out) {
			t.Errorf("%q: %q, the shell makes %q of it", b.String(), got, out)
		}
	}
	if same < 200 || left < 50 {
		t.Errorf("%d compared, %d left to the shell", same, left)
	}
}

// TestStreams: redirections are those of the shell, in a folder of the command's own.
func TestStreams(t *testing.T) {
	for _, command := range []string{
		"sh -c 'echo out; echo err >&2'", "sh -c 'echo out; echo err >&2' >f", "sh -c 'echo out; echo err >&2' 2>f",
		"sh -c 'echo out; echo err >&2' >f 2>&1",
		"sh -c 'echo out; echo err >&2' 2>&1 >f", ">f sh -c 'echo out' 2>/dev/null", "cat <in", "cat < in >> f",
		"cat<in>f", "sh -c 'echo out' 2> 'f g'", "cat < none",
		"echo a=b 'c;d' >f", "cat no2>f in", "sh -c 'exit 3' >f",
	} {
		run := func(start func(Options) (*Target, error)) (all string) {
			dir := t.TempDir()
			os.WriteFile(filepath.Join(dir, "in"), []byte("input\n"), 0o644)
			os.WriteFile(filepath.Join(dir, "f"), []byte("before, and much longer than what comes\n"), 0o644)
			var out, errs bytes.Buffer
			tg, err := start(Options{Command: command, Dir: dir, Stdout: &out, Stderr: &errs, Env: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "f")); len(b) < 20 {
				t.Errorf("%s: the file is changed before the command runs", command)
			}
			if err := tg.Release(); err != nil {
				t.Fatal(err)
			}
			all = tg.Status() + "|" + out.String() + "|" + errs.String()
			names, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, n := range names {
				b, _ := os.ReadFile(n)
				all += "|" + filepath.Base(n) + "=" + string(b)
			}
			return all
		}
		got := run(Start)
		want := run(func(o Options) (*Target, error) {
			tg, err := o.wait()
			if err == nil {
				go tg.reap()
			}
			return tg, err
		})
		// The shell tells its line in its messages.
		if strip := strings.NewReplacer("/bin/sh: 1: ", "", "cannot open none: No such file",
			""); strip.Replace(got) != strip.Replace(want) {
			t.Errorf("%s:\n%q\nthe shell:\n%q", command, got, want)
		}
	}
}
