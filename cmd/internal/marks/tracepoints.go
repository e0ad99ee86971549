package marks

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
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
	return slip.New(fmt.Sprintf("no tracepoint fits %s", filter), meant(filter, names))
}

// absolute is the path of a file without symbolic links, as GDB names it.
func absolute(file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}
