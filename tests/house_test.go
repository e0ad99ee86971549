package tests

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
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
	{"", "github.com/antlr4-go/", []string{"grammar"}, "only the grammar sees ANTLR"},
	{"", "github.com/go-delve/", []string{"compiler/debuginfo/"}, "only the debug-information readers see Delve"},
	{"", "github.com/cilium/", []string{"backend-bpf", "compiler/debuginfo/kbtf", "tests/bench"}, "only the eBPF back end sees the eBPF library"},
	{"", "github.com/spf13/", []string{"cmd/"}, "only the command sees flags"},
	{"compiler/source", module, []string{}, "a leaf"},
	{"compiler/layout", module, []string{}, "a leaf"},
	{"compiler/types", module, []string{}, "a leaf"},
	{"runtime/wire", module, []string{}, "a leaf"},
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

func has(prefixes []string, s string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
