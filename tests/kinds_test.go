package tests

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler/probe"
)

// TestKinds prints which kind of probe fires where: each executor has a row for it, or refuses it with words. There is
// none that eBPF refuses.
func TestKinds(t *testing.T) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\ttracer\teBPF\tmodule")
	for k := range probe.NumKinds {
		row := func(refused string) string {
			switch {
			case k.OnHost():
				return "-"
			case refused != "":
				return "no: " + refused
			}
			return "yes"
		}
		tracer, ebpf := "-", row("")
		switch {
		case k.OnHost():
			tracer = "yes"
		case k.Served():
			tracer, ebpf = "without a module", "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k, tracer, ebpf, row(kmod.Refused(k)))
	}
	w.Flush()
}

// mostAsk bounds the files that ask which kind a site is; what is known of a kind stands in the rows of probe, sel
// and cgen.
const mostAsk = 15

// TestKindsAsked counts the files that compare kinds, outside of package probe.
func TestKindsAsked(t *testing.T) {
	kinds := map[string]bool{}
	for _, name := range []string{"Begin", "End", "ErrorEnd", "Never", "Timer", "Profile", "Uprobe", "Uretprobe",
		"ProcessBegin", "ProcessFork", "ProcessEnd", "ThreadBegin", "ThreadEnd", "ProcessSyscall",
		"ProcessSyscallReturn", "Kprobe", "Kretprobe", "Tracepoint", "Perf", "InputChar",
		"InputLine", "ProcfsRead", "ProcfsWrite", "Netfilter", "LSM"} {
		kinds[name] = true
	}
	if len(kinds) != int(probe.NumKinds) {
		t.Fatalf("%d names for %d kinds", len(kinds), probe.NumKinds)
	}
	ask := map[string]int{}
	for path, file := range parseSources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "compiler/probe/") {
			continue
		}
		is := func(x ast.Expr) {
			if sel, ok := x.(*ast.SelectorExpr); ok && kinds[sel.Sel.Name] {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "probe" {
					ask[path]++
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, x := range n.List {
					is(x)
				}
			case *ast.BinaryExpr:
				is(n.X)
				is(n.Y)
			}
			return true
		})
	}
	t.Logf("%d files ask for a kind: %v", len(ask), ask)
	if len(ask) > mostAsk {
		t.Errorf("%d files compare kinds of probes, at most %d are to: %v", len(ask), mostAsk,
			slices.Sorted(maps.Keys(ask)))
	}
}
