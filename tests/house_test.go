package tests

import (
	"encoding/json"
	"go/ast"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/intrinsic"
)

const module = "github.com/gostap/gostap/"

// rules say who may import what. from and to are path prefixes inside the module,
// or import paths of others; except lists the packages that may all the same.
var rules = []struct {
	from, to string
	except   []string
	why      string
}{
	{"compiler", module + "backend-", nil, "the compiler knows no back end"},
	{"grammar", module + "backend-", nil, "the grammar knows no back end"},
	{"runtime", module + "backend-", nil, "the host side knows back ends by their interface only"},
	{"backend-bpf", module + "backend-kmod", nil, "back ends do not know each other"},
	{"backend-kmod", module + "backend-bpf", nil, "back ends do not know each other"},
	{"", module + "cmd/", []string{"cmd/", "tests"}, "nothing imports the command"},
	{"backend-", module + "compiler/internal/", nil, "back ends see the compiler's products only"},
	{"backend-", module + "grammar", nil, "back ends never see syntax"},
	{"", module + "backend-bpf/internal/sel/", []string{"backend-bpf/internal/sel"},
		"the parts of the generator are seen by it alone"},
	{"backend-bpf/internal/sel/emit", module + "backend-bpf/internal/sel", nil,
		"the writer of instructions knows nothing of scripts"},
	{"", "github.com/antlr4-go/", []string{"grammar"}, "only the grammar sees ANTLR"},
	{"", "github.com/go-delve/", []string{"compiler/debuginfo/"}, "only the debug-information readers see Delve"},
	{"", "github.com/ianlancetaylor/", []string{"compiler/debuginfo/scoped"},
		"one package knows how symbols are demangled"},
	{"", "github.com/cilium/", []string{"backend-bpf", "compiler/debuginfo/kbtf", "compiler/debuginfo/btf",
		"tests/bench"}, "only the eBPF back end sees the eBPF library"},
	{"", "github.com/spf13/", []string{"cmd/"}, "only the command sees flags"},
	{"compiler/source", module, []string{}, "a leaf"},
	{"compiler/layout", module, []string{}, "a leaf"},
	{"compiler/types", module, []string{}, "a leaf"},
	{"runtime/wire", module, []string{}, "a leaf"},
	{"", "golang.org/x/arch/", []string{"compiler/machine/"}, "the machines know machine code"},
	{"compiler/intrinsic", module + "compiler/ir", nil, "the table of built-in functions stands below all who ask it"},
	{"compiler/intrinsic", module + "compiler/partition", nil,
		"the table of built-in functions stands below all who ask it"},
	{"runtime/", module + "compiler/partition", nil, "what the host knows of a built-in function stands in its row"},
}

// TestImports holds the import graph against the rules of docs/architecture.md.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type pkg struct {
		ImportPath string
		Imports    []string
	}
	n := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; n++ {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, to := range p.Imports {
			if own := module + "compiler/machine"; strings.HasPrefix(from, "compiler/machine") &&
				!strings.HasSuffix(from, "/gen") && strings.HasPrefix(to, module) && !strings.HasPrefix(to, own+"/") {
				t.Errorf("%s imports %s: a leaf, but for its own parts", from, to)
			}
		}
		for _, r := range rules {
			if !strings.HasPrefix(from, r.from) || has(r.except, from) {
				continue
			}
			for _, to := range p.Imports {
				if strings.HasPrefix(to, r.to) {
					t.Errorf("%s imports %s: %s", from, strings.TrimPrefix(to, module), r.why)
				}
			}
		}
	}
	if n < 10 {
		t.Fatalf("only %d packages were listed", n)
	}
}

// TestLean: the command has none of the libraries that deliver its results, or speak with clusters.
func TestLean(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/gostap")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), module+"cmd/internal/companion\n") {
		t.Fatalf("%v: %s", err, out)
	}
	for dep := range strings.Lines(string(out)) {
		for _, not := range []string{"go.opentelemetry.io/", "google.golang.org/", "github.com/prometheus/",
			module + "cmd/internal/deliver", "k8s.io/", "sigs.k8s.io/", module + "cmd/internal/fleet"} {
			if strings.HasPrefix(dep, not) {
				t.Errorf("the command has %s linked", dep)
			}
		}
	}
}

// TestFace: the package at the root leaves the process that uses it alone, and nothing but the command and tests
// stands on it.
func TestFace(t *testing.T) {
	theirs := map[string]string{
		"os.Exit": "ends the process", "os.Stdout": "writes on its streams", "os.Stderr": "writes on its streams",
		"os.Stdin":      "reads its input",
		"signal.Notify": "takes its signals", "signal.NotifyContext": "takes its signals",
		"signal.Ignore": "takes its signals",
		"os.Setenv":     "changes its environment", "os.Chdir": "changes its directory",
		"flag.Parse": "reads its arguments", "os.Args": "reads its arguments",
	}
	seen := 0
	for path, file := range parseSources(t) {
		root := !strings.Contains(path, "/")
		for _, imp := range file.Imports {
			if imp.Path.Value == strconv.Quote(strings.TrimSuffix(module, "/")) && !root &&
				!has([]string{"cmd/", "tests/"}, path) {
				t.Errorf("%s imports the package at the root, which stands above it", path)
			}
		}
		if strings.HasSuffix(path, "_test.go") || !root &&
			!has([]string{"compiler/", "grammar/", "backend-", "runtime/", "tapsets/"}, path) ||
			strings.Contains(path, "/testdata/") || file.Name.Name == "main" {
			continue
		}
		seen++
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := s.X.(*ast.Ident)
			if !ok || pkg.Obj != nil {
				return true
			}
			what := theirs[pkg.Name+"."+s.Sel.Name]
			if pkg.Name == "log" && imports(file, "log") || pkg.Name == "fmt" &&
				strings.HasPrefix(s.Sel.Name, "Print") {
				what = "writes on its streams"
			}
			if what != "" {
				t.Errorf("%s uses %s.%s, which %s: the process belongs to who uses the package", path, pkg.Name,
					s.Sel.Name, what)
			}
			return true
		})
	}
	if seen < 100 {
		t.Fatalf("only %d files were looked at", seen)
	}
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == strconv.Quote(path)
	})
}

func has(prefixes []string, s string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// TestNull: no tool is told to make its output at /dev/null. Some of them remove that first, or rename a file to
// it, and the tests run as root.
func TestNull(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "..").Output()
	if err != nil {
		t.Skip("no list of the files: ", err)
	}
	makes := regexp.MustCompile(`(-o|--output|-O|-m)("?,?\s*"?|=)/dev/` + `null`)
	for _, path := range strings.Fields(string(out)) {
		switch filepath.Ext(path) {
		case ".go", ".sh", ".txtar", ".md", ".yml", ".mk", "":
			if b, err := os.ReadFile(path); err == nil {
				if m := makes.Find(b); m != nil {
					t.Errorf("%s has %q: let it be a file in a folder of its own", path, m)
				}
			}
		}
	}
}

// mappers are the files that map memory, with what they map. Files of others are mapped by package foreign alone:
// it knows which of them a fault was in when one is cut short.
var mappers = map[string]string{
	"compiler/foreign/map.go":                 "files",
	"runtime/host/symbols/events.go":          "a ring of perf events",
	"backend-bpf/internal/ring/ring.go":       "a BPF ring buffer",
	"backend-bpf/internal/session/session.go": "a BPF array",
	"backend-bpf/internal/store/apply.go":     "a BPF array",
	"backend-bpf/internal/peek/peek.go":       "a BPF array",
	"backend-bpf/internal/unwind/unwind.go":   "BPF arrays",
	"backend-bpf/internal/attach/check.go":    "pages for the kernel to look at; they are not read",
	"backend-kmod/internal/stage/stage.go":    "a module's buffers",
}

// goroutines are the files that start goroutines, with how many. One that reads mapped files sets foreign.Guard or
// foreign.Goroutine first, or the program ends when a file is cut short meanwhile; these have been looked at.
var goroutines = map[string]int{
	"cmd/internal/cli/cleanup.go":                1, // removes what ended sessions have left
	"cmd/internal/remote/run.go":                 4, // talks to hosts; says that it is there
	"cmd/internal/follow/follow.go":              1, // looks for pods, guarded
	"cmd/internal/kube/fleet.go":                 2, // read what kubectl says
	"cmd/internal/kube/told.go":                  1, // translates, guarded
	"cmd/internal/cli/remote.go":                 1, // follows pods
	"cmd/internal/merged/merged.go":              3, // talks to hosts; asks a session; waits
	"cmd/internal/companion/companion.go":        1, // passes on what is printed
	"cmd/internal/page/page.go":                  1, // serves
	"cmd/internal/records/points.go":             1, // asks a session now and then
	"runtime/export/feed/feed.go":                1, // reads a pipe
	"cmd/internal/deliver/outbox/outbox.go":      1, // sends
	"cmd/internal/deliver/otlp/otlp.go":          1, // closes
	"cmd/internal/deliver/prom/prom.go":          1, // serves
	"cmd/gostap-export/main.go":                  1, // closes
	"cmd/internal/kept/child.go":                 1, // waits for a process
	"cmd/internal/fleet/session/page.go":         1, // asks a session for its page
	"cmd/internal/monitor/monitor.go":            2, // runs a session, guarded by Session.run; reads keys
	"cmd/internal/prompt/prompt.go":              1, // waits
	"runtime/host/served/served.go":              1, // answers requests by handlers, guarded by whoever calls them
	"runtime/host/symbols/backlog.go":            1, // takes in reports of the kernel
	"cmd/internal/remote/serve.go":               2, // talks to who asked
	"cmd/internal/remote/listen.go":              2, // waits
	"cmd/internal/remote/agent/agent.go":         1, // waits for connections
	"cmd/internal/remote/agent/session.go":       2, // read what a session reports; pass bytes on
	"cmd/gostap-fleet/main.go":                   1, // connects to agents
	"cmd/internal/remote/links/links.go":         3, // run commands, and pass on what these say
	"cmd/internal/remote/mtls/door.go":           1, // meets who connects
	"runtime/host/target/stub.go":                1, // starts and traces a process
	"compiler/debuginfo/elffile/section.go":      1, // guarded by Section
	"compiler/internal/family/parallel.go":       1, // guarded
	"runtime/host/target/target.go":              2, // wait for processes
	"runtime/host/input.go":                      1, // reads standard input
	"runtime/host/run.go":                        1, // waits
	"cmd/internal/cli/signals.go":                1, // waits
	"start.go":                                   1, // runs a session, guarded by Session.run
	"backend-bpf/internal/load/load.go":          1, // loads programs
	"backend-bpf/internal/unwind/unwind.go":      2, // make tables of files, guarded by read
	"backend-bpf/internal/session/errors.go":     1, // waits for the kernel
	"backend-bpf/internal/attach/attach.go":      2, // makes and closes links
	"backend-bpf/internal/attach/warm.go":        1, // makes a link of our own
	"backend-bpf/internal/attach/check.go":       3, // close links
	"cmd/internal/remote/agent/traces/keeper.go": 1, // looks after sessions
	"cmd/internal/remote/agent/traces/notes.go":  2, // read what the kernel and sessions tell
	"cmd/internal/remote/agent/metrics.go":       1, // serves
	"cmd/internal/kube/wait/wait.go":             3, // serve; read what sessions report
}

// TestForeignBytes finds who maps files, who reads ELF files without limits, and who starts goroutines.
func TestForeignBytes(t *testing.T) {
	started := map[string]int{}
	for path, file := range parseSources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/") ||
			strings.Contains(path, "/testdata/") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				started[path]++
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					break
				}
				if s.Sel.Name == "Go" && len(n.Args) == 1 {
					started[path]++
				}
				if (s.Sel.Name == "Mmap" || s.Sel.Name == "MmapPtr") && mappers[path] == "" {
					t.Errorf("%s maps something: if it is a file, that is done by package foreign", path)
				}
				pkg, _ := s.X.(*ast.Ident)
				reads := pkg != nil && pkg.Name == "elf" && (s.Sel.Name == "Open" || s.Sel.Name == "NewFile")
				if reads && path != "compiler/foreign/elf.go" &&
					!strings.HasPrefix(path, "compiler/debuginfo/elftest/") {
					t.Errorf("%s reads an ELF file by itself: foreign.Open and foreign.ELF do that with limits", path)
				}
			}
			return true
		})
	}
	for path, n := range started {
		if goroutines[path] != n {
			t.Errorf("%s starts goroutines at %d places, %d are known: one that reads mapped files begins with "+
				"foreign.Guard", path, n, goroutines[path])
		}
	}
}

// implementers are the files that know more than a few built-in functions by name: the table, and for each executor the
// implementations. What else there is to know of a function stands in its row.
var implementers = []string{
	"compiler/intrinsic/rows.go",
	"compiler/ir/interp/intrinsics.go", "compiler/ir/interp/context.go",
	"compiler/internal/lower/lowering.go",
	"backend-bpf/internal/sel/intr.go",
	"runtime/host/filecontext.go", // who asks for a file, in place of the current process
	"backend-kmod/internal/cgen/intr.go",
	"compiler/internal/ftrace/value.go", // the kernel's tracer has some of them in each line
	"compiler/ir/texttest/texttest.go",  // the cases that all of them are held against
}

// fewNames is how many built-in functions another file may compare or list by name. Names of fields and of options
// that are spelled alike count too.
const fewNames = 4

// TestBuiltinNames finds lists of built-in functions outside of their table.
func TestBuiltinNames(t *testing.T) {
	known := map[string]bool{}
	for path, file := range parseSources(t) {
		names := map[string]bool{}
		note := func(x ast.Expr) {
			if l, ok := x.(*ast.BasicLit); ok {
				if s, err := strconv.Unquote(l.Value); err == nil && intrinsic.Lookup(s) != nil {
					names[s] = true
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, x := range n.List {
					note(x)
				}
			case *ast.KeyValueExpr:
				note(n.Key)
				note(n.Value)
			case *ast.CompositeLit:
				for _, x := range n.Elts {
					note(x)
				}
			case *ast.BinaryExpr:
				note(n.X)
				note(n.Y)
			}
			return true
		})
		if slices.Contains(implementers, path) {
			known[path] = len(names) > fewNames
			continue
		}
		inside := strings.HasPrefix(path, "compiler/") || strings.HasPrefix(path, "backend-") ||
			strings.HasPrefix(path, "runtime/")
		if inside && !strings.HasSuffix(path, "_test.go") && len(names) > fewNames {
			t.Errorf("%s knows %d built-in functions by name: %v", path, len(names), slices.Sorted(maps.Keys(names)))
		}
	}
	for _, path := range implementers {
		if !known[path] {
			t.Errorf("%s is no list of built-in functions any more", path)
		}
	}
}
