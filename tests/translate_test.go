package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/runtime/host"
	"github.com/gostap/gostap/runtime/host/memory"
	"github.com/gostap/gostap/tests/patience"
)

// The files of translate/ hold scripts that are parted by lines of "---".
//
//	parse, semantic  scripts that are refused: their first lines say where, "# want LINE:COL code: text"
//	ok               scripts that are right up to the translated program
//	run              scripts that run without a kernel; "### output" and what they print stand behind them
//	known            what people write with probes in the kernel: only the probe points are refused

// script is one of those. Its first lines can be options: "# option NAME".
type scriptText struct {
	name, text string
	options    map[string]bool
}

func translateScripts(t *testing.T, dir string, edit func(scriptText) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("translate", dir, "*.stp"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts in ", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n---\n")
		for i, text := range parts {
			s := scriptText{name: fmt.Sprintf("%s %d", file, i+1), text: text, options: map[string]bool{}}
			for _, m := range regexp.MustCompile(`(?m)^# option (\S+)$`).FindAllStringSubmatch(text, -1) {
				s.options[m[1]] = true
			}
			parts[i] = edit(s)
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(parts, "\n---\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// madeUpKernel is a small kernel that is the same on every machine (package kbtftest has it).
func madeUpKernel(t *testing.T) (c kbtf.Config) {
	t.Helper()
	madeUp.Do(func() {
		if _, _, err := kbtftest.Write(binDir); err != nil {
			t.Fatal(err)
		}
	})
	return kbtf.Config{BTF: filepath.Join(binDir, "btf"), Map: filepath.Join(binDir, "kallsyms")}
}

var madeUp sync.Once

func translate(t *testing.T, s scriptText, text string) (*compiler.Result, diag.List) {
	t.Helper()
	ctx, cancel := patience.Context(context.Background(), soon)
	defer cancel()
	o := compiler.Options{
		Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(text)}}, Limits: layout.Default(), Kernel: "6.18.0",
		Runtime:    "bpf",
		SearchPath: os.Getenv("PATH"), Verify: true, Guru: s.options["guru"], SkipBadVars: s.options["skip-badvars"],
		Include: []string{filepath.Join("translate", "lib")}, KernelFiles: madeUpKernel(t),
	}
	if s.options["args"] {
		o.Args = []string{"7", "seven"}
	}
	return compiler.Compile(ctx, o)
}

var wanted = regexp.MustCompile(`(?m)^# want .*\n`)

// refusals lists the errors as the scripts name them.
func refusals(res *compiler.Result, ds diag.List) string {
	out := ""
	for _, d := range ds {
		if d.Severity == diag.Error {
			p := res.Files.Position(d.Span.From)
			out += fmt.Sprintf("# want %d:%d %s: %s\n", p.Line, p.Col, d.Code, d.Message)
		}
	}
	return out
}

// TestRefused: the scripts are refused for exactly the reasons that they name.
func TestRefused(t *testing.T) {
	for _, dir := range []string{"parse", "semantic"} {
		translateScripts(t, dir, func(s scriptText) string {
			// Places count from the first line behind the reasons.
			body := wanted.ReplaceAllString(s.text, "")
			res, ds := translate(t, s, body)
			defer res.Close()
			got := refusals(res, ds)
			want := strings.Join(wanted.FindAllString(s.text, -1), "")
			for _, d := range ds {
				if d.Severity == diag.Error && (d.Phase == diag.Parse) != (dir == "parse") {
					t.Errorf("%s: an error of another phase: %s", s.name, d.Message)
				}
			}
			switch {
			case got == "":
				t.Errorf("%s: no error\n%s", s.name, body)
			case got != want && !*update:
				t.Errorf("%s\n%s\n--- got\n%s--- want\n%s", s.name, body, got, want)
			}
			return got + body
		})
	}
}

// TestTranslated: the scripts become programs without an error, and without a warning unless they
// say "# option warns".
func TestTranslated(t *testing.T) {
	translateScripts(t, "ok", func(s scriptText) string {
		res, ds := translate(t, s, s.text)
		defer res.Close()
		var b bytes.Buffer
		(&diag.Printer{W: &b, Files: res.Files}).Print(ds)
		if res.Program == nil || len(ds) > 0 != s.options["warns"] {
			t.Errorf("%s\n%s\n%s", s.name, s.text, b.String())
		}
		return s.text
	})
}

// TestRun: the scripts run in the interpreter and print what they say.
func TestRun(t *testing.T) {
	translateScripts(t, "run", func(s scriptText) string {
		text, want, ok := strings.Cut(s.text+"\n", "### output\n")
		res, ds := translate(t, s, text)
		defer res.Close()
		if res.Program == nil {
			var b bytes.Buffer
			(&diag.Printer{W: &b, Files: res.Files}).Print(ds)
			t.Errorf("%s\n%s\n%s", s.name, text, b.String())
			return s.text
		}
		session, err := memory.New(res.Program)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			return s.text
		}
		ctx, cancel := patience.Context(context.Background(), soon)
		defer cancel()
		var out bytes.Buffer // both streams, since errors belong to what is tested
		r := host.Run(ctx, host.Config{Program: res.Program, Session: session, Stdout: &out, Stderr: &out})
		if ctx.Err() != nil {
			t.Errorf("%s: does not end", s.name)
		}
		got := out.String()
		if !r.OK() {
			got += "status 1\n"
		}
		if (got != want || !ok) && !*update {
			t.Errorf("%s\n%s--- got\n%s--- want\n%s", s.name, text, got, want)
		}
		return strings.TrimSuffix(text+"### output\n"+got, "\n")
	})
}

// TestKnown: in scripts with probes in the kernel nothing but probe points is refused: for what this version does not
// have, and for what the made-up kernel does not have.
func TestKnown(t *testing.T) {
	translateScripts(t, "known", func(s scriptText) string {
		body := wanted.ReplaceAllString(s.text, "")
		res, ds := translate(t, s, body)
		defer res.Close()
		got := refusals(res, ds)
		for _, d := range ds {
			if d.Severity == diag.Error && d.Code != "probe-refused" && d.Code != "no-match" {
				t.Errorf("%s: %s", s.name, d.Message)
			}
		}
		if want := strings.Join(wanted.FindAllString(s.text, -1), ""); got != want && !*update {
			t.Errorf("%s\n%s\n--- got\n%s--- want\n%s", s.name, body, got, want)
		}
		return got + body
	})
}
