package tests

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/grammar"
)

// errorCode is a kind of message, for docs/errors.md. It has an example, or names the test that provokes it where it
// takes a kernel or files that a script alone cannot bring about.
type errorCode struct {
	area    string
	code    diag.Code
	warning bool
	meaning string
	// example is a script. PROGRAM in it is a C program that was built for it, GOPROGRAM one in Go.
	example string
	// with are options that it takes: -g, --privilege=stapusr, --skip-badvars, an argument.
	with string
	// test is a file, below the project's root, that provokes the code; it holds the word behind the colon.
	test string
	// why says why neither can be.
	why string
}

// areas order the page.
var areas = []string{"Reading a script", "Names, types and rules", "Probe points", "Variables of programs", "Translation", "eBPF", "Kernel modules", "The command"}

const (
	points, variables, translation = "Probe points", "Variables of programs", "Translation"
	ebpf, modules, theCommand      = "eBPF", "Kernel modules", "The command"
)

// moreCodes are the codes that no package lists with examples.
var moreCodes = []errorCode{
	{area: points, code: "probe-form", meaning: "a probe point has a word that there is not, or an argument that does not fit", example: `probe begn { println("x") }`},
	{area: points, code: "probe-refused", meaning: "a kind of probe point is known, but not available; the hint says what to use instead", example: `probe java("App").class("A").method("m") { println("x") }`},
	{area: points, code: "no-match", meaning: "the probe point is right, but nothing is there", example: `probe process("PROGRAM").function("nosuch") { println("x") }`},
	{area: points, code: "no-alias", meaning: "a wildcard matches no alias and no form of probe points", example: `probe nosuch* { println("x") }`},
	{area: points, code: "alias-loop", meaning: "an alias stands for itself", example: `probe a = b { } probe b = a { } probe a { println("x") }`},
	{area: points, code: "alias-growth", meaning: "braces and aliases multiply out without bounds", example: `probe {a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a} { println("x") }`},
	{area: points, code: "probe-point", meaning: "a condition stands inside of braces", example: `probe {begin if (1), end} { println("x") }`},
	{area: points, code: "no-probes", meaning: "the script has no probes, or none of its optional ones is there", example: `probe nosuch? { println("x") }`},
	{area: points, code: "left-out", warning: true, meaning: "some of what a wildcard matches cannot be probed", test: "compiler/testdata/kernel.txtar:left out, the kernel allows no probes there"},
	{area: points, code: "blacklist", meaning: "the kernel allows no probe there", test: "compiler/testdata/kernel.txtar:is on the kernel's blacklist"},

	{area: variables, code: "no-variable", meaning: "the probed function has no variable of that name", example: `probe process("PROGRAM").function("traceme") { println($nosuch) }`},
	{area: variables, code: "target", meaning: "what is done with a variable does not fit its type", example: `probe process("PROGRAM").function("traceme") { println($a->x) }`},
	{area: variables, code: "not-live", meaning: "the variable is there, but has no value at this place", test: "compiler/testdata/errors.txtar:has no value"},
	{area: variables, code: "no-dwarf", meaning: "the program carries no types", example: `probe process("STRIPPED").function("main.traceme") { println($a) }`},
	{area: variables, code: "tail-call", warning: true, meaning: "a return that jumps into another function has no results, and is left out", test: "compiler/testdata/errors.txtar:returns by a jump to another function are left out"},
	{area: variables, code: "inline-left", warning: true, meaning: "inlined copies of a function, where a variable has no value, are left out", test: "compiler/testdata/kernel-errors.txtar:inlined copies"},

	{area: translation, code: "not-available", meaning: "a part of the language that this version does not have", example: `global a probe begin { a[1] = 1 ` + strings.Repeat("foreach (k in a) println(k) ", 65) + `}`},
	{area: translation, code: "wrong-context", meaning: "a function needs another kind of probe", example: `probe begin { println(goid()) }`},
	{area: translation, code: "pairing", meaning: "the values at a function's entry cannot be kept until it returns", why: "it takes a program without frame information"},
	{area: translation, code: "cancelled", meaning: "a signal or a time limit ended the translation", test: "compiler/compile_test.go:cancel"},
	{area: translation, code: "internal", meaning: "a mistake of gostap; please report it", why: "no script is known that does this"},
	{area: ebpf, code: "bpf", meaning: "the eBPF back end cannot translate a handler", test: "backend-bpf/backend_test.go:bpf"},
	{area: ebpf, code: "bpf-map", meaning: "a global cannot be a BPF map", test: "backend-bpf/internal/session/refuse_test.go:huge"},
	{area: ebpf, code: "bpf-size", meaning: "a handler is too large for the kernel's verifier or its stack of 512 bytes", why: "it takes a handler of some hundred thousand instructions"},
	{area: ebpf, code: "bpf-probe-kind", meaning: "the eBPF back end does not have this kind of probe", why: "all kinds of probes that a script can name are served, or refused before"},
	{area: ebpf, code: "bpf-deferred", meaning: "a handler that the host has to run needs something that is known only at the probed place", test: "tests/vm/guru_test.go:which has to happen in the kernel"},
	{area: ebpf, code: "late-read", warning: true, meaning: "kernel memory is read by the host, after the hit", test: "tests/testdata/k-peek.txtar:read after the hit"},
	{area: ebpf, code: "kernel-memory", meaning: "kernel memory is read where there is no back end", test: "tests/testdata/k-peek.txtar:does without"},
	{area: ebpf, code: "embedded-c", meaning: "embedded C runs in kernel modules only", example: `function f:long() %{ STAP_RETVALUE = 1; %} probe process("PROGRAM").function("traceme") { println(f()) }`, with: "-g"},
	{area: ebpf, code: "procfs", meaning: "files in /proc are made by kernel modules only", example: `probe procfs("x").read { $value = "text" }`},
	{area: translation, code: "procfs-file", meaning: "two probes cannot have their files in /proc", example: `probe procfs("x").read { $value = "a" } probe procfs("x").read { $value = "b" }`},
	{area: ebpf, code: "no-permission", meaning: "the kernel does not let this user load programs", test: "tests/testdata/e-rights.txtar:no permission"},
	{area: ebpf, code: "kernel-refused", meaning: "the kernel refuses what the script needs", test: "backend-bpf/internal/session/refuse_test.go:huge"},
	{area: ebpf, code: "program-refused", meaning: "the kernel's verifier refuses a program; this is a mistake of gostap", test: "backend-bpf/internal/session/refuse_test.go:CodeVerifier"},
	{area: ebpf, code: "cannot-attach", meaning: "a probe cannot be attached at its place", test: "backend-bpf/internal/session/refuse_test.go:nowhere"},
	{area: ebpf, code: "file-replaced", meaning: "a traced file was replaced by another one meanwhile", test: "backend-bpf/internal/session/refuse_test.go:CodeReplaced"},
	{area: ebpf, code: "no-kprobes", meaning: "this kernel has no kprobes", why: "it takes such a kernel"},

	{area: modules, code: "no-module-support", meaning: "this kernel takes no modules, or what building them needs is not there", test: "backend-kmod/backend_test.go:CodeNoModules"},
	{area: modules, code: "module-build", meaning: "a module cannot be built", example: `probe process("PROGRAM").function("traceme") { println("x") }`, with: "-m 'no name'"},
	{area: modules, code: "embedded-c-error", meaning: "the C compiler refuses C of the script", test: "backend-kmod/complaint_test.go:complaint"},
	{area: modules, code: "module-refused", meaning: "the kernel does not load a module", why: "it takes a kernel that demands signed modules, or a user without the right"},
	{area: modules, code: "module-file", meaning: "a module that was built before does not fit this kernel, or is none of gostap's", why: "it takes a file"},

	{area: theCommand, code: "no-pass", meaning: "--dump names a pass that there is not", test: "tests/testdata/e-options.txtar:there is no pass"},

	{area: translation, code: "unused-argument", warning: true, meaning: "the command line has an argument that the script does not use", example: `probe begin { println("x") }`, with: "argument"},
}

// instead are other examples than those in the lists, which package sema tests with variables that it makes up.
var instead = map[diag.Code]string{
	diag.AddressOf:     "",
	diag.EntryLocal:    `probe process("PROGRAM").function("traceme").return { x = 1 println(@entry(x)) }`,
	diag.TargetContext: `function f() { return @probewrite(x) } probe begin { println(f()) }`,
	diag.TargetWrite:   `probe process("PROGRAM").function("traceme") { $a = 1 }`,
}

// allCodes joins the lists.
func allCodes() []errorCode {
	var all []errorCode
	for _, c := range grammar.Codes() {
		all = append(all, errorCode{area: areas[0], code: c.Code, warning: c.Warning, meaning: c.Meaning, example: c.Example})
	}
	for _, c := range diag.SemanticCodes() {
		e := errorCode{area: areas[1], code: c.Code, warning: c.Warning, meaning: c.Meaning, example: c.Example}
		if other, ok := instead[c.Code]; ok {
			e.example = other
		}
		all = append(all, e)
	}
	return append(all, moreCodes...)
}

var (
	// declared matches constants of type diag.Code, and codes that are written where they are used.
	declared = regexp.MustCompile(`diag\.Code += "([a-z-]+)"|\b(?:Errorf|Warnf)\(diag\.\w+, "([a-z-]+)"|\bCode: +"([a-z-]+)"|(?m:^\t\w+ +Code = "([a-z-]+)")`)
)

// codesInSource finds all codes in the project's source, with the file of each.
func codesInSource(t *testing.T) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			found[m[1]+m[2]+m[3]+m[4]] = path
		}
		return nil
	})
	if err != nil || len(found) < 50 {
		t.Fatal(len(found), err)
	}
	return found
}

// provoke translates the example and gives the message of its code, as it is printed.
func (c *errorCode) provoke(t *testing.T) string {
	o := compiler.Options{
		Limits: layout.Default(), Kernel: "6.18.0", Runtime: "bpf", SearchPath: os.Getenv("PATH"), KernelFiles: madeUpKernel(t),
	}
	text := c.example
	for word, fixture := range map[string]string{"GOPROGRAM": "stap", "STRIPPED": "stap-nodwarf", "PROGRAM": "trace"} {
		if strings.Contains(text, `"`+word+`"`) {
			text = strings.ReplaceAll(text, `"`+word+`"`, `"`+bin(t, fixture)+`"`)
		}
	}
	switch {
	case c.code == diag.Privilege:
		o.Privilege, c.with = "stapusr", "--privilege=stapusr"
	case c.code == "arg-nested":
		o.Args = []string{"1", "2", "3", "$1"}
	case c.with == "argument":
		o.Args = []string{"extra"}
	}
	if strings.Contains(c.with, "-g") {
		o.Guru = true
	}
	o.Scripts = []compiler.Script{{Name: "x.stp", Text: []byte(text)}}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	res, ds := compiler.Compile(ctx, o)
	defer res.Close()
	if res.Program != nil {
		var more diag.List
		switch c.area {
		case ebpf:
			_, more = bpf.New().Build(ctx, res.Program, backend.BuildOptions{Name: "x"})
		case modules:
			_, more = kmod.NewFor(kmod.Options{}).Build(ctx, res.Program, backend.BuildOptions{Name: "no name"})
		}
		ds = append(ds, more...)
	}
	for _, d := range ds {
		if d.Code != c.code {
			continue
		}
		if (d.Severity == diag.Warning) != c.warning {
			t.Errorf("%s: is it a warning? the table says %v", c.code, c.warning)
		}
		var b bytes.Buffer
		(&diag.Printer{W: &b, Files: res.Files}).One(d)
		root, err := filepath.Abs("..")
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(binDir, "/bin", root, "/src").Replace(b.String())
	}
	var b bytes.Buffer
	(&diag.Printer{W: &b, Files: res.Files}).Print(ds)
	t.Errorf("%s: the example gives\n%s", c.code, b.String())
	return ""
}

// TestErrors: each kind of message is provoked, by its example or by a test that is named, and docs/errors.md, which
// is made of the examples (-update), is up to date.
func TestErrors(t *testing.T) {
	codes := allCodes()
	listed := map[string]bool{}
	for _, c := range codes {
		if listed[string(c.code)] && c.code != diag.NoEffect {
			t.Errorf("%s is listed twice", c.code)
		}
		listed[string(c.code)] = true
	}
	source := codesInSource(t)
	for code, file := range source {
		if !listed[code] {
			t.Errorf("%s gives messages of the kind %q, which is not listed here: add what it means and an example, or the test that provokes it", file, code)
		}
	}
	var page strings.Builder
	page.WriteString(errorsHead)
	for _, area := range areas {
		fmt.Fprintf(&page, "\n## %s\n", area)
		list := codes[:0:0]
		for _, c := range codes {
			if c.area == area {
				list = append(list, c)
			}
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].code < list[j].code })
		for i := range list {
			c := &list[i]
			if source[string(c.code)] == "" {
				t.Errorf("%s is listed, but nothing gives it", c.code)
			}
			kind := ""
			if c.warning {
				kind = " (a warning)"
			}
			fmt.Fprintf(&page, "\n### %s\n\n%s%s.\n", c.code, strings.ToUpper(c.meaning[:1])+c.meaning[1:], kind)
			switch {
			case c.example != "":
				message := c.provoke(t)
				if c.with != "" {
					fmt.Fprintf(&page, "With %s:\n", strings.Replace(c.with, "argument", "an argument on the command line", 1))
				}
				fmt.Fprintf(&page, "\n```text\n%s\n```\n```text\n%s```\n", shorten(c.example), shorten(message))
			case c.test != "":
				file, word, _ := strings.Cut(c.test, ":")
				text, err := os.ReadFile(filepath.Join("..", file))
				if err != nil || word == "" || !bytes.Contains(text, []byte(word)) {
					t.Errorf("%s: %s does not provoke it (%v)", c.code, c.test, err)
				}
			case c.why != "":
				fmt.Fprintf(&page, "There is no example: %s.\n", c.why)
			case c.area != areas[0] && c.area != areas[1]:
				t.Errorf("%s: neither an example nor a test", c.code)
			}
		}
	}
	const file = "../docs/errors.md"
	old, _ := os.ReadFile(file)
	switch {
	case page.String() == string(old):
	case *update:
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/errors.md is not what the examples give: go test ./tests -run TestErrors -update")
	}
}

const errorsHead = `# Errors and warnings

Each message of gostap is of one of these kinds. What follows is made from the examples that the tests run: the script,
and what gostap says about it.
`

// shorten keeps examples that are long for a reason from filling the page.
func shorten(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if r := []rune(l); len(r) > 150 {
			lines[i] = string(r[:120]) + " ..."
		}
	}
	return strings.Join(lines, "\n")
}
