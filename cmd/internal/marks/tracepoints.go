package marks

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/diag"
)

// tracepoints lists the kernel's, sorted, with the fields of their records if verbose.
func tracepoints(w io.Writer, filter string, verbose bool) error {
	fs, err := tracefs.Open()
	if err != nil {
		return err
	}
	defer fs.Close()
	all, err := fs.Events()
	if err != nil {
		return err
	}
	slices.Sort(all)
	n := 0
	var names []string
	for _, e := range all {
		system, name, _ := strings.Cut(e, ":")
		names = append(names, name)
		if !fits(filter, system, name) {
			continue
		}
		n++
		fmt.Fprintln(w, e)
		if !verbose {
			continue
		}
		fields, err := fs.Format(system, name)
		if err != nil {
			return err
		}
		for _, f := range fields {
			typ, dims := f.Type, ""
			if i := strings.IndexByte(typ, '['); i > 0 {
				typ, dims = typ[:i], typ[i:]
			}
			fmt.Fprintf(w, "    %s %s%s;\n", typ, f.Name, dims)
		}
	}
	if n > 0 {
		return nil
	}
	s := &slip{text: fmt.Sprintf("no tracepoint fits %s", filter)}
	_, name, ok := strings.Cut(filter, ":")
	if !ok {
		name = filter
	}
	if l := diag.Nearest(name, names, 3); len(l) > 0 {
		s.hint = "did you mean " + strings.Join(l, " or ") + "?"
	}
	return s
}

// absolute is the path of a file without symbolic links, as GDB names it.
func absolute(file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}
