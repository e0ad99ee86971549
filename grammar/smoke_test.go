package grammar

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

func TestSmoke(t *testing.T) {
	var fs source.FileSet
	f := fs.Add("x.stp", []byte(`
global a%[10], n = -1
@define foo(x) %( (@x + 1) %)
probe process("x").function("*").return ? if (n > 1), timer.s(1) { 
  if (a[1] in b) x; else if (y) z++ else { printf("%d\n", @foo(tid()), $1->x[2]$$) }
  foreach ([a+, b] in arr[*,1] @sum - limit 10) { delete arr[a,b] }
  %( kernel_v > "2.6" %? foo() %: bar() %)
}
probe x { if (a b) }
function f:long(a:string) { return 1 } 
probe begin { `))
	file, l := Parse(f, Options{Files: &fs, Args: []string{"$a"}, Cond: Conditions{Kernel: "6.1"}})
	(&diag.Printer{W: os.Stdout, Files: &fs}).Print(l)
	t.Log(len(file.Decls))
}
