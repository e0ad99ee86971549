package tests

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tests/patience"
)

// errorCode is a kind of message, for docs/errors.md. It has an example, or names the test that provokes it where it
// takes a kernel or files that a script alone cannot bring about.
type errorCode struct {
	area    string
	code    diag.Code
	warning bool
	meaning string
	// example is a script. PROGRAM in it is a C program that was built for it, GOPROGRAM one in Go: see provoke.
	example string
	// with are options that it takes: -g, --privilege=stapusr, --skip-badvars, an argument.
	with string
	// test provokes the code where a script alone does not: a file, below the project's root. "x_test.go:TestName" is a
	// test that has diagtest.Find look for the code in what the code under test gave; in a .txtar, a message that ends
	// in the code is part of what has to come out.
	test string
}

// areas order the page.
var areas = []string{"Reading a script", "Names, types and rules", "Probe points", "Variables of programs",
	"Translation", "eBPF", "Kernel modules", "The command"}

const (
	points, variables, translation = "Probe points", "Variables of programs", "Translation"
	ebpf, modules, theCommand      = "eBPF", "Kernel modules", "The command"
)

// moreCodes are the codes that no package lists with examples.
var moreCodes = []errorCode{
	{area: "Names, types and rules", code: "bad-metric",
		meaning: "what a declaration says of a global as a metric is wrong",
		example: `global n metric "requests_total" labels "path" probe begin { n++ }`},
	{area: points, code: "probe-form",
		meaning: "a probe point has a word that there is not, or an argument that does not fit",
		example: `probe begn { println("x") }`},
	{area: points, code: "probe-refused",
		meaning: "a kind of probe point is known, but not available; the hint says what to use instead",
		example: `probe java("App").class("A").method("m") { println("x") }`},
	{area: points, code: "no-match", meaning: "the probe point is right, but nothing is there",
		example: `probe process("PROGRAM").function("nosuch") { println("x") }`},
	{area: points, code: "no-alias", meaning: "a wildcard matches no alias and no form of probe points",
		example: `probe nosuch* { println("x") }`},
	{area: points, code: "alias-loop", meaning: "an alias stands for itself",
		example: `probe a = b { } probe b = a { } probe a { println("x") }`},
	{area: points, code: "alias-growth", meaning: "braces and aliases multiply out without bounds",
		example: `probe {a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a}.{a,a,a,a,a,a,a,a,a,a} { println("x") }`},
	{area: points, code: "probe-point", meaning: "a condition stands inside of braces",
		example: `probe {begin if (1), end} { println("x") }`},
	{area: points, code: "no-probes", meaning: "the script has no probes, or none of its optional ones is there",
		example: `probe nosuch? { println("x") }`},
	{area: points, code: "no-stacks", meaning: "with --folded no array is left to print that has stacks as keys",
		test: "tests/testdata/s47-folded.txtar"},
	{area: points, code: "no-ftrace", meaning: "--emit writes for another tracer, which cannot do this",
		test: "tests/testdata/s34-ftrace.txtar"},
	{area: points, code: "left-out", warning: true, meaning: "some of what a wildcard matches cannot be probed",
		example: `probe kernel.function("*") { println(ppfunc()) }`},
	{area: points, code: "blacklist", meaning: "the kernel allows no probe there",
		example: `probe kernel.function("noinstr_one") { println("x") }`},
	{area: points, code: "file-changed", meaning: "a program was written to or cut short while it was read",
		test: "compiler/changed_test.go:TestChanged"},

	{area: variables, code: "no-variable", meaning: "the probed function has no variable of that name",
		example: `probe process("PROGRAM").function("traceme") { println($nosuch) }`},
	{area: variables, code: "target", meaning: "what is done with a variable does not fit its type",
		example: `probe process("PROGRAM").function("traceme") { println($a->x) }`},
	{area: variables, code: "not-live", meaning: "the variable is there, but has no value at this place",
		example: `probe process("INLINES").function("outer") { println($lost) }`},
	{area: variables, code: "no-dwarf", meaning: "the program carries no types",
		example: `probe process("STRIPPED").function("main.traceme") { println($a) }`},
	{area: variables, code: "tail-call", warning: true,
		meaning: "a return that jumps into another function has no results, and is left out",
		test:    "compiler/testdata/errors.txtar"},
	{area: variables, code: "inline-left", warning: true,
		meaning: "inlined copies of a function, where a variable has no value, are left out",
		example: `probe process("INLINES").function("twice") { println($gone) }`},

	{area: translation, code: "not-available", meaning: "a part of the language that this version does not have",
		example: `global a probe begin { a[1] = 1 ` + strings.Repeat("foreach (k in a) println(k) ", 65) + `}`},
	{area: translation, code: "wrong-context", meaning: "a function needs another kind of probe",
		example: `probe begin { println(goid()) }`},
	{area: translation, code: "pairing", meaning: "the values at a function's entry cannot be kept until it returns",
		example: `probe process("UNKNOWN").function("main.traceme").return { println(@entry(gettimeofday_us())) }`},
	{area: translation, code: "cancelled", meaning: "a signal, a time limit or the caller ended the translation",
		test: "compiler/compile_test.go:TestCancelled"},
	{area: translation, code: "internal", meaning: "a mistake of gostap; please report it",
		test: "compiler/compile_test.go:TestBroken"},
	{area: ebpf, code: "bpf", meaning: "the eBPF back end cannot translate a handler",
		test: "backend-bpf/build_test.go:TestRefused"},
	{area: ebpf, code: "bpf-map", meaning: "a global cannot be a BPF map",
		test: "backend-bpf/build_test.go:TestRefused"},
	{area: ebpf, code: "bpf-size",
		meaning: "a handler is too large for the kernel's verifier or its stack of 512 bytes", example: moments(250)},
	{area: ebpf, code: "bpf-deferred",
		meaning: "a handler that the host has to run needs something that is known only at the probed place",
		example: `global a probe process("PROGRAM").function("traceme") { a[1] = 5 foreach (k in a) $a = a[k] }`,
		with:    "-g"},
	{area: ebpf, code: "bpf-write",
		meaning: "registers or memory are changed where eBPF programs cannot, or the kernel does not let them",
		example: `probe process("PROGRAM").function("traceme") { set_kernel_int(8, 1) }`, with: "-g"},
	{area: ebpf, code: "bpf-no-registers", meaning: "a probe at an event has no registers of the program",
		example: `probe syscall.read { println(u_register("rax")) }`},
	{area: ebpf, code: "bpf-packets", meaning: "the kernel does not show eBPF programs these packets",
		example: `probe netfilter.arp.in { println(nf_drop) }`},
	{area: ebpf, code: "bpf-verdict", meaning: "what becomes of a packet can be said in modules only",
		example: `probe netfilter.ipv4.forward { $verdict = nf_drop }`, with: "-g"},
	{area: ebpf, code: "bpf-override", meaning: "this is no function of the kernel that may be left out",
		example: `probe process("PROGRAM").function("traceme") { override_return(-5) }`, with: "-g"},
	{area: ebpf, code: "bpf-deny", meaning: "a handler cannot answer the kernel's question at this hook",
		test: "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: ebpf, code: "bpf-stack", meaning: "stacks are asked for where the kernel shows eBPF programs none",
		example: `probe netfilter.ipv4.forward { print_backtrace() }`},
	{area: ebpf, code: "bpf-register",
		meaning: "a register that an eBPF program does not see, or that is named by a variable",
		example: `probe process("PROGRAM").function("traceme") { println(u_register(execname())) }`},
	{area: ebpf, code: "bpf-function", meaning: "a function that cannot run in an eBPF program",
		example: `probe process("PROGRAM").function("traceme") { dump_stack() }`, with: "-g"},
	{area: ebpf, code: "bpf-lazy-text", meaning: "the host makes a text that is needed in the kernel",
		test: "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: ebpf, code: "bpf-no-event", meaning: "the arguments of an event are read where none fires",
		test: "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: ebpf, code: "bpf-sprintf", meaning: "a conversion that makes no text in an eBPF program",
		test: "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: ebpf, code: "bpf-bias", meaning: "the kernel does not tell at a return where the program was loaded",
		test: "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: ebpf, code: "bpf-kernel-types",
		meaning: "the kernel does not publish its types, or does not have the one that is needed",
		test:    "backend-bpf/internal/sel/refuse_test.go:TestRefusals"},
	{area: translation, code: "merge",
		meaning: "a part of the script can be run neither on each machine nor once for all (--merge)",
		test:    "compiler/spread/spread_test.go:TestDivide"},
	{area: ebpf, code: "scope", meaning: "a probe cannot be kept to the threads of control groups (--cgroup)",
		test: "backend-bpf/build_test.go:TestScope"},
	{area: ebpf, code: "late-read", warning: true, meaning: "kernel memory is read by the host, after the hit",
		example: `global a probe process("PROGRAM").function("traceme") { a[1] = 5 foreach (k in a) println(kernel_int(a[k])) }`},
	{area: ebpf, code: "kernel-memory", meaning: "kernel memory is read where there is no back end",
		test: "tests/testdata/k-peek.txtar"},
	{area: ebpf, code: "kernel-probe", meaning: "a probe fires in the kernel, where there is no back end",
		test: "tests/testdata/k-peek.txtar"},
	{area: ebpf, code: "embedded-c", meaning: "embedded C runs in kernel modules only",
		example: `function f:long() %{ STAP_RETVALUE = 1; %} probe process("PROGRAM").function("traceme") { println(f()) }`, with: "-g"},
	{area: translation, code: "procfs-file", meaning: "two probes cannot have their files in /proc",
		example: `probe procfs("x").read { $value = "a" } probe procfs("x").read { $value = "b" }`},
	{area: ebpf, code: "no-permission", meaning: "the kernel does not let this user load programs",
		test: "tests/testdata/e-rights.txtar"},
	{area: ebpf, code: "kernel-refused", meaning: "the kernel refuses what the script needs",
		test: "backend-bpf/internal/session/refuse_test.go:TestMapRefusal"},
	{area: ebpf, code: "program-refused",
		meaning: "the kernel's verifier refuses a handler: it is too long, or this kernel wants what gostap has not " +
			"foreseen", test: "backend-bpf/internal/session/refuse_test.go:TestVerifierRefusal"},
	{area: theCommand, code: "overload",
		meaning: "handlers took more of a CPU's time than they may, and the session was ended",
		test:    "tests/testdata/e-overload.txtar"},
	{area: theCommand, code: "budget",
		meaning: "probes were hit more often in a second than --max-hits says, and the session was ended",
		test:    "tests/testdata/e-budget.txtar"},
	{area: ebpf, code: "cannot-attach", meaning: "a probe cannot be attached at its place",
		test: "backend-bpf/internal/session/refuse_test.go:TestAttachErrorDetachesAll"},
	{area: ebpf, code: "file-replaced", meaning: "a traced file was replaced by another one meanwhile",
		test: "backend-bpf/internal/session/refuse_test.go:TestReplaced"},
	{area: ebpf, code: "no-kprobes", meaning: "this kernel has no kprobes",
		test: "backend-bpf/internal/session/refuse_test.go:TestNoKprobes"},

	{area: modules, code: "no-module-support",
		meaning: "this kernel takes no modules, or what building them needs is not there",
		test:    "backend-kmod/backend_test.go:TestLoadRefused"},
	{area: modules, code: "module-build", meaning: "a module cannot be built",
		example: `probe process("PROGRAM").function("traceme") { println("x") }`, with: "-m 'no name'"},
	{area: modules, code: "embedded-c-error", meaning: "the C compiler refuses C of the script",
		test: "backend-kmod/complaint_test.go:TestComplaint"},
	{area: modules, code: "module-refused", meaning: "the kernel does not load a module",
		test: "backend-kmod/internal/session/session_test.go:TestNotTaken"},
	{area: modules, code: "module-file",
		meaning: "a module that was built before does not fit this kernel, or is none of gostap's",
		test:    "backend-kmod/prebuilt_test.go:TestOpen"},

	{area: theCommand, code: "plan-kernel",
		meaning: "a plan takes something for granted that this kernel does not have",
		test:    "compiler/facts/facts_test.go:TestCheck"},
	{area: theCommand, code: "plan-program",
		meaning: "a program or library that a plan traces is not there, or is another one",
		test:    "locate_test.go:TestLocate"},
	{area: theCommand, code: "no-pass", meaning: "--dump names a pass that there is not",
		test: "compiler/compile_test.go:TestStopAndDump"},

	{area: translation, code: "unused-argument", warning: true,
		meaning: "the command line has an argument that the script does not use",
		example: `probe begin { println("x") }`, with: "argument"},
}

// provokedBy names tests of codes in the lists that have no example (see errorCode.test).
var provokedBy = map[diag.Code]string{
	diag.CrossFile:    "compiler/compile_test.go:TestCrossFile",
	diag.LibraryDir:   "compiler/internal/load/load_test.go:TestBadDirs",
	diag.InitialValue: "compiler/internal/sema/codes_test.go:TestInitialValues",
	"macro-file":      "grammar/grammar_test.go:TestParseMacros",
}

// instead are other examples than those in the lists, which package sema tests with variables that it makes up.
var instead = map[diag.Code]string{
	diag.EntryLocal:    `probe process("PROGRAM").function("traceme").return { x = 1 println(@entry(x)) }`,
	diag.TargetContext: `function f() { return @probewrite(x) } probe begin { println(f()) }`,
	diag.TargetWrite:   `probe process("PROGRAM").function("traceme") { $a = 1 }`,
}

// allCodes joins the lists.
func allCodes() []errorCode {
	var all []errorCode
	for _, c := range grammar.Codes() {
		all = append(all, errorCode{area: areas[0], code: c.Code, warning: c.Warning, meaning: c.Meaning,
			example: c.Example, test: provokedBy[c.Code]})
	}
	for _, c := range diag.SemanticCodes() {
		e := errorCode{area: areas[1], code: c.Code, warning: c.Warning, meaning: c.Meaning, example: c.Example}
		if other, ok := instead[c.Code]; ok {
			e.example = other
		}
		e.test = provokedBy[c.Code]
		all = append(all, e)
	}
	return append(all, moreCodes...)
}

// moments is a script that keeps n numbers at a time.
func moments(n int) string {
	var now, then strings.Builder
	for i := range n {
		fmt.Fprintf(&now, " t%d = gettimeofday_us()", i)
		fmt.Fprintf(&then, " println(t%d)", i)
	}
	return `probe process("PROGRAM").function("traceme") {` + now.String() + then.String() + ` }`
}

// sources are the parsed files of the project, by their path below its root.
type sources map[string]*ast.File

func parseSources(t *testing.T) sources {
	t.Helper()
	all := sources{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "stapparse") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		all[strings.TrimPrefix(filepath.ToSlash(path), "../")] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isCode reports whether an expression is the type diag.Code.
func isCode(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "Code"
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && x.Name == "diag" && e.Sel.Name == "Code"
	}
	return false
}

// codeForm is how codes are written. Functions of the same name may take other texts there.
var codeForm = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// lit gives the text of a string constant that can be a code.
func lit(e ast.Expr) (string, bool) {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(b.Value)
	return s, err == nil && codeForm.MatchString(s)
}

// last is the name that an expression ends in: f of p.f.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// codes finds all kinds of messages in the source, with the file of each: constants of type diag.Code, and texts where
// one is assigned, stands in a composite literal or is the argument of a function that takes one. names are the
// constants' names.
func (all sources) codes() (found map[string]string, names map[string][]string) {
	found, names = map[string]string{}, map[string][]string{}
	takes := map[string][]bool{} // by the function's name: which parameters are codes
	for path, f := range all {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				var is []bool
				for _, p := range d.Type.Params.List {
					for range max(1, len(p.Names)) {
						is = append(is, isCode(p.Type))
					}
				}
				if slices.Contains(is, true) {
					takes[d.Name.Name] = is
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					if !ok || !isCode(v.Type) || len(v.Values) != len(v.Names) {
						continue
					}
					for i, n := range v.Names {
						if s, ok := lit(v.Values[i]); ok {
							found[s] = path
							names[s] = append(names[s], n.Name)
						}
					}
				}
			}
		}
	}
	for path, f := range all {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				for i, is := range takes[last(n.Fun)] {
					if is && i < len(n.Args) {
						if s, ok := lit(n.Args[i]); ok {
							found[s] = path
						}
					}
				}
			case *ast.KeyValueExpr:
				if s, ok := lit(n.Value); ok && last(n.Key) == "Code" {
					found[s] = path
				}
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if last(l) == "Code" && i < len(n.Rhs) {
						if s, ok := lit(n.Rhs[i]); ok {
							found[s] = path
						}
					}
				}
			}
			return true
		})
	}
	return found, names
}

// finds reports whether the test looks for the code, by one of its names, in what the code under test gave: itself, or
// by a function within it that passes its own parameter on.
func finds(f *ast.File, test, code string, names []string) bool {
	ok := false
	for _, d := range f.Decls {
		fn, is := d.(*ast.FuncDecl)
		if !is || fn.Name.Name != test || fn.Recv != nil {
			continue
		}
		passes := map[string]int{} // functions of the test that look for the code in their n-th argument
		ast.Inspect(fn, func(n ast.Node) bool {
			a, assigned := n.(*ast.AssignStmt)
			if !assigned || len(a.Rhs) != 1 {
				return true
			}
			inner, is := a.Rhs[0].(*ast.FuncLit)
			if !is {
				return true
			}
			at, n1 := map[string]int{}, 0
			for _, p := range inner.Type.Params.List {
				for _, n := range p.Names {
					at[n.Name], n1 = n1, n1+1
				}
			}
			ast.Inspect(inner, func(n ast.Node) bool {
				if c, is := n.(*ast.CallExpr); is && last(c.Fun) == "Find" && len(c.Args) == 3 {
					if k, is := at[last(c.Args[2])]; is {
						passes[last(a.Lhs[0])] = k
					}
				}
				return true
			})
			return true
		})
		ast.Inspect(fn, func(n ast.Node) bool {
			c, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			k, by := passes[last(c.Fun)]
			if last(c.Fun) == "Find" && len(c.Args) == 3 {
				k, by = 2, true
			}
			if by && k < len(c.Args) {
				s, text := lit(c.Args[k])
				ok = ok || text && s == code || slices.Contains(names, last(c.Args[k]))
			}
			return true
		})
	}
	return ok
}

// wants reports whether a message with the code, of an error or a warning, is part of what a whole-program test wants
// to come out.
func wants(file, code string, warning bool) bool {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		return false
	}
	kind := "error"
	if warning {
		kind = "warning"
	}
	line := regexp.MustCompile(`(?m)^(.*: )?` + kind + `: .* \[` + regexp.QuoteMeta(code) + `\]$`)
	for _, f := range ar.Files {
		if (f.Name == "stdout" || f.Name == "stderr" || strings.HasSuffix(f.Name, ".out")) && line.Match(f.Data) {
			return true
		}
	}
	return false
}

// provoke translates the example and gives it, with its programs' names, and the message of its code, as it is printed.
func (c *errorCode) provoke(t *testing.T) (script, message string) {
	o := compiler.Options{
		Limits: layout.Default(), Kernel: "6.18.0", Runtime: "bpf", SearchPath: binDir + ":" + os.Getenv("PATH"),
		KernelFiles: madeUpKernel(t),
	}
	text := c.example
	for word, fixture := range map[string]string{"GOPROGRAM": "stap", "STRIPPED": "stap-nodwarf",
		"UNKNOWN": "stap-unknown", "INLINES": "codes", "PROGRAM": "trace"} {
		if strings.Contains(text, `"`+word+`"`) {
			bin(t, fixture)
			text = strings.ReplaceAll(text, `"`+word+`"`, `"`+fixture+`"`)
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
	ctx, cancel := patience.Context(context.Background(), soon)
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
		return text, strings.NewReplacer(binDir, "/bin", root, "/src").Replace(b.String())
	}
	var b bytes.Buffer
	(&diag.Printer{W: &b, Files: res.Files}).Print(ds)
	t.Errorf("%s: the example gives\n%s", c.code, b.String())
	return text, ""
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
	files := parseSources(t)
	source, names := files.codes()
	if len(source) < 50 {
		t.Fatal("few codes in the source: ", len(source))
	}
	for code, file := range source {
		if !listed[code] {
			t.Errorf("%s gives messages of the kind %q, which is not listed here: add what it means and an example, "+
				"or the test that provokes it", file, code)
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
				script, message := c.provoke(t)
				if c.with != "" {
					fmt.Fprintf(&page, "With %s:\n",
						strings.Replace(c.with, "argument", "an argument on the command line", 1))
				}
				fmt.Fprintf(&page, "\n```text\n%s\n```\n```text\n%s```\n", shorten(script), shorten(message))
			case c.test != "":
				file, test, unit := strings.Cut(c.test, ":")
				switch {
				case unit && (files[file] == nil || !finds(files[file], test, string(c.code), names[string(c.code)])):
					t.Errorf("%s: %s in %s does not look for it with diagtest.Find", c.code, test, file)
				case !unit && !wants(filepath.Join("..", file), string(c.code), c.warning):
					t.Errorf("%s: no message of that kind comes out of %s", c.code, file)
				}
				if unit {
					file = test + " in " + file
				}
				fmt.Fprintf(&page, "No script alone brings this about; %s does.\n", file)
			default:
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

Each message of gostap is of one of these kinds; with -v it ends in the name of its kind, in brackets. What follows is made from the examples that the tests run: the script,
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
