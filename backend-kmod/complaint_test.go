package kmod

import (
	"testing"

	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/source"
)

// TestComplaint: errors of the C compiler are put at the script's line and column, tabs counted as it does.
func TestComplaint(t *testing.T) {
	files := new(source.FileSet)
	files.Add("a/b.stp", []byte("function f() %{\n\tnosuch();\n%}\n"))
	files.Add("<input>", []byte("probe begin { println(%{ y %}) }"))
	d := diagtest.Find(t, complaint(`make[1]: Entering directory
a/b.stp: In function ‘c_f_body’:
a/b.stp:2:9: error: implicit declaration of function ‘nosuch’ [-Werror=implicit-function-declaration]
<input>:1:26: error: ‘y’ undeclared (first use in this function)
<input>:1:26: note: each undeclared identifier is reported only once
/usr/include/x.h:1:1: error: other
`, files), CodeC)
	if p := files.Position(d.Span.From); p.String() != "a/b.stp:2:2" {
		t.Errorf("at %s", p)
	}
	if want := "the C compiler refuses this: implicit declaration of function 'nosuch' " +
		"[-Werror=implicit-function-declaration]"; d.Message != want {
		t.Errorf("message %q", d.Message)
	}
	if len(d.Notes) != 1 || files.Position(d.Notes[0].Span.From).String() != "<input>:1:26" ||
		d.Notes[0].Text != "'y' undeclared (first use in this function)" {
		t.Errorf("notes %v", d.Notes)
	}
	for _, other := range []string{"", "m.c:3:4: error: x", "error: x", "<input>:1:999999999999999999999: error: x",
		"<input>:-1:1: error: x", ":1:1: error: ", "a/b.stp: error: linker"} {
		if d := complaint(other, files); d != nil {
			t.Errorf("%q: %s", other, d.Message)
		}
	}
	if complaint("<input>:1:2: error: x", nil) != nil {
		t.Error("without files")
	}
}
