package tests

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// registerWords are the registers of amd64 as assemblers and DWARF name them, as identifiers are made of them, and what
// has the name of the machine in it.
var registerWords = regexp.MustCompile(`(?i)^(reg)?([re][abcd]x|[re][sd]i|[re][sb]p|[re]ip|r([89]|1[0-5])[dwb]?|` +
	`[xyz]mm\d*|[fg]s_?base|orig_r?ax|\w*x86\w*|amd64)$`)

// registerFields are members of struct pt_regs. They are short words, so they count where they are all of a text, or
// behind an arrow.
var registerFields = regexp.MustCompile(`(^|->)(orig_ax|[abcd]x|[sd]i|[sb]p|ip|r([89]|1[0-5])|cs)$`)

// namesRegisters are the files outside of compiler/machine that may name registers, with the reason.
var namesRegisters = map[string]string{
	"tapsets/index.go":                    "generated: functions about addresses of the internet have a parameter ip",
	"compiler/debuginfo/godwarf/gobuf.go": "runtime.gobuf has members sp and bp on all machines",
	"compiler/ir/texttest/texttest.go":    "a text that a test replaces ab by x in",
}

// takesDefault are the files that may take machine.Default: where it is what a zero value means, and where nothing
// tells a machine.
var takesDefault = []string{
	"compiler/passes.go", "compiler/ir/ir.go", "compiler/ir/text.go", "compiler/debuginfo/kbtf/kbtf.go",
	"compiler/debuginfo/dwexpr/expr.go", "compiler/debuginfo/usdt/args.go", "compiler/internal/family/image.go",
	"compiler/internal/target/fake/fake.go", // images for tests
	"compiler/habits/habits.go",             // an example in a hint
	"tapsets/gensys/main.go", "cmd/internal/cli/stapopts.go",
}

// bpfRegisters are the names that registers of BPF have as well.
var bpfRegisters = regexp.MustCompile(`^[rR]([0-9]|10)$`)

// TestHouseMachine: what there is to know of a processor stands below compiler/machine. Nothing else names amd64, or a
// register of it, beside comments.
func TestHouseMachine(t *testing.T) {
	used := map[string]bool{}
	seen := 0
	for path, file := range parseSources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") ||
			has([]string{"compiler/machine/", "tests/"}, path) {
			continue
		}
		seen++
		found := func(pos token.Pos, name string) {
			if strings.HasPrefix(path, "backend-bpf/") && bpfRegisters.MatchString(name) {
				return
			}
			used[path] = true
			if namesRegisters[path] == "" {
				t.Errorf("%s names %s (byte %d): what is amd64's is for compiler/machine", path, name,
					int(pos)-int(file.FileStart))
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && (x.Name == "machine" || x.Name == "arch") && n.Sel.Name == "Default" &&
					!slices.Contains(takesDefault, path) {
					t.Errorf("%s takes machine.Default: the image, the program or the options have a machine", path)
				}
			case *ast.Ident:
				if registerWords.MatchString(n.Name) {
					found(n.Pos(), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind != token.STRING {
					break
				}
				s, err := strconv.Unquote(n.Value)
				if err != nil {
					break
				}
				if registerFields.MatchString(s) {
					found(n.Pos(), s)
				}
				for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !nameRune(r) }) {
					if registerWords.MatchString(w) {
						found(n.Pos(), w)
					}
				}
			}
			return true
		})
	}
	if seen < 300 {
		t.Fatalf("only %d files were looked at", seen)
	}
	for path := range namesRegisters {
		if !used[path] {
			t.Errorf("%s names no register any more", path)
		}
	}
}

// cRegisters are members of struct pt_regs, and names of x86, as C has them.
var cRegisters = regexp.MustCompile(`regs\)?->(orig_ax|[abcd]x|[sd]i|[sb]p|ip|r([89]|1[0-5])|cs)\b|ia32|(?i:x86)`)

// TestHouseMachineHeaders: the headers of modules name registers in the file of their machine only.
func TestHouseMachineHeaders(t *testing.T) {
	headers, err := filepath.Glob("../runtime/kmod/*.h")
	if err != nil || len(headers) < 30 {
		t.Fatalf("%d headers, %v", len(headers), err)
	}
	for _, path := range headers {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch found := cRegisters.Find(b); filepath.Base(path) {
		case "gs_amd64.h":
			if found == nil {
				t.Errorf("%s names no register", path)
			}
		case "gs_machine.h", // which machine it is
			"gs_user.h": // a struct pt_regs for tests
		default:
			if found != nil {
				t.Errorf("%s has %q: that is for gs_amd64.h", path, found)
			}
		}
	}
}

func nameRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
