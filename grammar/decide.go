package grammar

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
)

// maxTest bounds the text of a test.
const maxTest = 1 << 12

// Decide tells a test of a condition, such as `kernel_v >= "6.1"`, which may come from anywhere.
func Decide(test string, c Conditions) (bool, error) {
	bad := fmt.Errorf("%q is no condition", test[:min(len(test), 100)])
	if len(test) > maxTest {
		return false, bad
	}
	files := new(source.FileSet)
	f := files.Add("<condition>", []byte("%( "+test+" %? global yes %: global no %)"))
	tree, ds := Parse(f, Options{Files: files, Cond: c})
	if ds.HasErrors() {
		return false, errors.New(ds[0].Message)
	}
	if len(tree.Decls) != 1 {
		return false, bad
	}
	g, ok := tree.Decls[0].(*ast.Globals)
	if !ok || len(g.Vars) != 1 {
		return false, bad
	}
	return g.Vars[0].Name.Name == "yes", nil
}
