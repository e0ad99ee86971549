package cgen

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestOrder: what a text is made of is known where it is printed, in whatever order blocks stand.
func TestOrder(t *testing.T) {
	for name, intr := range map[string]string{"named by the host": "usymname(5)", "a time": "ctime(5)",
		"quoted": "user_text(5, -1, 1)"} {
		text := "probe \"p\" {\n site uprobe path=\"/a\" offset=16\n long r1\n string r0 40\nb0:\n jump b2\nb1:\n" +
			" print \"%s\"(r0)\n end\nb2:\n r0 = intr " + intr + "\n r1 = reg 0\n branch r1, b1, b3\nb3:\n end\n}"
		u, ds := Generate(irtest.Parse(t, text), Options{Name: "m"})
		if ds.HasErrors() {
			t.Fatal(name, ds)
		}
		if strings.Contains(u.C, "gs_put_text") {
			t.Errorf("%s: the text is sent as if the module had made it:\n%s", name, u.C)
		}
	}
}
