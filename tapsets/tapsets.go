// Package tapsets is the library of the script language: functions, aliases and
// macros in .stp and .stpm files by topic, embedded, with an index of their
// declarations so that none has to be read before a script asks for it.
//
// index.go and docs/tapsets.md are generated from the files by "go generate"; a test compares them.
package tapsets

import (
	"embed"

	"github.com/gostap/gostap/grammar"
)

//go:generate go run ./gensys
//go:generate go run ./gen

// FS holds the library files.
//
//go:embed *.stp *.stpm
var FS embed.FS

// File is one library file with its declarations in the order of the text.
type File struct {
	Name    string
	Entries []grammar.Entry
}

// Name leads from a declared name to its declarations in Files.
type Name struct {
	Name string
	Kind grammar.Kind
	// File and Entry are indexes: Files[File].Entries[Entry]. index.go has a constant for each file.
	File, Entry int
}
