// Package index makes what is generated from the library files: the Go source of
// their index, and the page of the documentation that describes them. In: the
// files. Out: the bytes of index.go and of docs/tapsets.md, for the command that
// writes them and for the test that compares them.
package index

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"slices"
	"strings"

	"github.com/gostap/gostap/grammar"
)

// File is a library file with its declarations.
type File struct {
	Name, Text string
	Entries    []grammar.Entry
}

// Read indexes the library files of a folder, sorted by name.
func Read(dir fs.FS) ([]File, error) {
	var files []File
	list, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".stp") && !strings.HasSuffix(e.Name(), ".stpm") {
			continue
		}
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, err
		}
		entries, ok := grammar.Index(text)
		if !ok {
			return nil, fmt.Errorf("%s cannot be indexed: a bracket is open, or a condition holds half of a "+
				"declaration", e.Name())
		}
		files = append(files, File{e.Name(), string(text), entries})
	}
	return files, nil
}

// Source is the text of index.go. It calls files by constants that are made of their
// names, so that one file more is a constant, its own rows, and nothing else.
func Source(files []File) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated from the library files by go generate; DO NOT EDIT.\n\npackage tapsets\n\n")
	b.WriteString("import \"github.com/gostap/gostap/grammar\"\n\n")
	b.WriteString("// The library files, by their places in Files.\nconst (\n")
	for i, f := range files {
		b.WriteString(constant(f.Name))
		if i == 0 {
			b.WriteString(" = iota")
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n\n// Files are the library files, sorted by name.\nvar Files = [...]File{\n")
	type name struct {
		name string
		kind grammar.Kind
		row  string
	}
	var names []name
	for _, f := range files {
		fmt.Fprintf(&b, "%s: {Name: %q, Entries: []grammar.Entry{\n", constant(f.Name), f.Name)
		for i, e := range f.Entries {
			writeEntry(&b, e)
			for _, s := range e.Names {
				names = append(names, name{s, e.Kind, fmt.Sprintf("%s, %d", constant(f.Name), i)})
			}
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n\n// Names are all declared names, sorted; one name may stand for several declarations.\nvar " +
		"Names = [...]Name{\n")
	slices.SortStableFunc(names, func(a, b name) int { return strings.Compare(a.name, b.name) })
	for _, n := range names {
		fmt.Fprintf(&b, "{%q, grammar.%s, %s},\n", n.name, kindNames[n.kind], n.row)
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}

// constant is the Go name of a file: signalEventsStp for signal_events.stp.
func constant(file string) string {
	words := strings.FieldsFunc(file, func(r rune) bool { return r == '_' || r == '.' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

var kindNames = map[grammar.Kind]string{
	grammar.FunctionEntry: "FunctionEntry", grammar.GlobalEntry: "GlobalEntry", grammar.AliasEntry: "AliasEntry",
	grammar.ProbeEntry: "ProbeEntry", grammar.MacroEntry: "MacroEntry", grammar.EmbeddedEntry: "EmbeddedEntry",
}

// writeEntry leaves out what is zero.
func writeEntry(b *bytes.Buffer, e grammar.Entry) {
	b.WriteString("{")
	if e.Kind != grammar.FunctionEntry {
		fmt.Fprintf(b, "Kind: grammar.%s, ", kindNames[e.Kind])
	}
	if e.Private {
		b.WriteString("Private: true, ")
	}
	list := func(field string, s []string) {
		if len(s) > 0 {
			fmt.Fprintf(b, "%s: %#v, ", field, s)
		}
	}
	list("Names", e.Names)
	fmt.Fprintf(b, "Off: %d, End: %d, Line: %d, ", e.Off, e.End, e.Line)
	if len(e.Guards) > 0 {
		b.WriteString("Guards: []grammar.Guard{")
		for _, g := range e.Guards {
			fmt.Fprintf(b, "{Off: %d, End: %d, Else: %t}, ", g.Off, g.End, g.Else)
		}
		b.WriteString("}, ")
	}
	list("Refs", e.Refs)
	list("Points", e.Points)
	list("Params", e.Params)
	if e.BodyEnd > 0 {
		fmt.Fprintf(b, "BodyOff: %d, BodyEnd: %d, ", e.BodyOff, e.BodyEnd)
	}
	b.WriteString("},\n")
}
