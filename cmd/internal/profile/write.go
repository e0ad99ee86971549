package profile

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/export/bars"
	"github.com/gostap/gostap/runtime/export/flame"
	"github.com/gostap/gostap/runtime/export/folded"
	"github.com/gostap/gostap/runtime/export/pprof"
)

// form is how a file is to be written, by its name; "" if that does not tell.
func form(name string) string {
	for _, end := range []string{".pb.gz", ".folded", ".svg", ".html"} {
		if strings.HasSuffix(name, end) {
			return end
		}
	}
	return ""
}

// write writes p to the file that is asked for, or as a table.
func write(o *options, s Streams, p *export.Profile) error {
	labels := []string{"state"}
	if o.what == "cpu" {
		labels = nil // whether it was the kernel is seen on the stack
	}
	if o.output == "" {
		b := bars.Options{Most: 20, Width: s.Columns, Label: "state"}
		switch o.what {
		case "create":
			b.Label = ""
			b.Skip = ofRuntime
		case "alloc":
			b.Label = ""
			if p.Labelled("type") {
				b.Label = "type"
			}
			b.Skip = ofRuntime
		case "cpu":
		default:
			b.Skip = ofRuntime
		}
		if o.by != "" {
			b.Label = o.by
		}
		if b.Width == 0 {
			b.Width = 100
		}
		return bars.Write(s.Out, p, b)
	}
	return file(o.output, func(w io.Writer) error {
		switch form(o.output) {
		case ".pb.gz":
			return pprof.Write(w, p)
		case ".folded":
			return folded.Write(w, p, 0, labels...)
		}
		return flame.Write(w, export.Tree(p, nil, 0, labels...), flame.Options{Title: p.Title, Unit: p.Types[0].Unit,
			Notes: p.Notes, HTML: form(o.output) == ".html"})
	})
}

// CheckName refuses a name of a file whose form it does not tell; "" is a table.
func CheckName(name string) error {
	if name != "" && form(name) == "" {
		return slip.New(fmt.Sprintf("%s: its name does not say what it is to be", name),
			".svg and .html are flame graphs, .pb.gz is for go tool pprof, .folded for other programs")
	}
	return nil
}

// Draw writes a profile of processors, which others have made, to a file by the name's ending, or as a table to out if
// there is no name.
func Draw(p *export.Profile, name string, out io.Writer) error {
	return write(&options{what: "cpu", output: name}, Streams{Out: out}, p)
}

// ofRuntime reports whether a function is one of Go's own, which wait, allocate and start goroutines for others.
func ofRuntime(name string) bool {
	return name == "..." || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/")
}

// file writes a file, which is not left behind half written.
func file(name string, f func(io.Writer) error) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	err = f(out)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// redraw writes a file that was written before in another form.
func redraw(o *options, s Streams) error {
	p, err := read(o.files[0])
	if err != nil {
		return err
	}
	if p.Title == "" {
		p.Title = o.files[0]
	}
	return write(o, s, p)
}

// difference writes what changed between two files.
func difference(o *options, s Streams) error {
	before, err := read(o.files[0])
	if err != nil {
		return err
	}
	after, err := read(o.files[1])
	if err != nil {
		return err
	}
	if a, b := before.Types[0], after.Types[0]; a != b {
		return slip.New(fmt.Sprintf("%s has %s in %s, and %s has %s in %s", o.files[0], a.Name, a.Unit, o.files[1],
			b.Name,
			b.Unit), "compare two profiles of the same kind and form")
	}
	if o.output != "" && (form(o.output) == ".svg" || form(o.output) == ".html") {
		return file(o.output, func(w io.Writer) error {
			return flame.Write(w, export.Tree(after, before, 0, "state"), flame.Options{
				Title: o.files[0] + " → " + o.files[1], Unit: after.Types[0].Unit, Diff: true,
				Notes: []string{"red: a greater share than before; blue: a smaller one"},
				HTML:  form(o.output) == ".html"})
		})
	}
	if o.output != "" {
		return slip.New("a difference is written as .svg or .html", "")
	}
	return differenceTable(s.Out, before, after)
}

// read reads a profile that was written before.
func read(name string) (*export.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var p *export.Profile
	switch form(name) {
	case ".pb.gz":
		p, err = pprof.Read(f)
	case ".folded":
		p, err = folded.Read(f)
	default:
		return nil, slip.New(fmt.Sprintf("%s is no profile by its name", name), "write .pb.gz or .folded files")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(p.Types) == 0 {
		return nil, fmt.Errorf("%s has no values", name)
	}
	return p, nil
}
