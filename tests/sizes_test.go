package tests

import (
	"bytes"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A type with more methods than mostMethods does more than one thing, and so does a package with more lines than
// mostLines, tests not counted, unless all of it is one subject.
const (
	mostMethods = 65
	mostLines   = 4000
)

// manyLines are the packages that have more lines, each of one subject, with a number that they stay below.
var manyLines = map[string]int{
	"compiler/debuginfo/dw":      4200, // DWARF, of which every question is answered by the same scan
	"compiler/debuginfo/godwarf": 5700, // binaries of Go: what one question finds out the others use
	"compiler/internal/family":   5200, // a file for each family of probe points, which use the same finders
	"compiler/internal/lower":    5000, // a file for each construct, which call each other
	"compiler/internal/target":   4250, // what stands behind a $, where each step begins with what the last one found
	"compiler/internal/sema":     5300, // names and types, which are found together
	"compiler/ir":                4200, // the IR with its text and its checks
	"tapsets":                    7500, // an index, which is generated
}

// TestHouseSizes holds types and packages to sizes that one can know all of.
func TestHouseSizes(t *testing.T) {
	methods, lines := map[string]int{}, map[string]int{}
	for path, file := range parseSources(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/") ||
			strings.Contains(path, "/testdata/") {
			continue
		}
		dir := filepath.Dir(path)
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		lines[dir] += bytes.Count(text, []byte("\n"))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			recv := f.Recv.List[0].Type
			if p, ok := recv.(*ast.StarExpr); ok {
				recv = p.X
			}
			if x, ok := recv.(*ast.IndexExpr); ok {
				recv = x.X
			}
			if id, ok := recv.(*ast.Ident); ok {
				methods[dir+"."+id.Name]++
			}
		}
	}
	if len(methods) < 100 || len(lines) < 50 {
		t.Fatalf("only %d types with methods in %d packages were found", len(methods), len(lines))
	}
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, more than %d", name, n, mostMethods)
		}
	}
	for dir, n := range lines {
		if most := max(mostLines, manyLines[dir]); n > most {
			t.Errorf("%s has %d lines, more than %d", dir, n, most)
		}
	}
}
