package patch

import (
	"fmt"
	"strings"
)

// script makes the script. Each line of a body stands in the line where the description has it, so that messages name
// the right places. one: only the process of -c or -x is meant.
func (d *description) script(one bool) string {
	n := 0
	var counts []string
	var said strings.Builder
	only := ""
	if one {
		only = "if (pid() != target()) next; "
	}
	for _, p := range d.programs {
		for _, f := range p.functions {
			for _, c := range f.changes {
				n++
				count := fmt.Sprintf("gostap_patch_%d", n)
				point := map[string]string{"entry": "call", "return": "return"}[c.what]
				d.out[c.line-1] = fmt.Sprintf("probe process(%s).function(%s).%s { %s%s++", quoted(p.path),
					quoted(f.name), point, only, count)
				counts = append(counts, count)
				fmt.Fprintf(&said, "  printf(\"%%s, %s: %%d hits\\n\", %s, %s)\n", c.what, quoted(f.name), count)
			}
		}
	}
	return strings.TrimRight(strings.Join(d.out, "\n"), "\n") + "\nglobal " + strings.Join(counts, ", ") +
		"\nprobe end {\n" + said.String() + "}\n"
}

// quoted is s, which matches named, as scripts have it.
func quoted(s string) string { return `"` + s + `"` }
