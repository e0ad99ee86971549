// Package tools is the collection of ready scripts, embedded, with their heads taken apart.
//
// A script lies at SUBJECT/NAME.stp. Its first comment says what it is for, and its globals and macros say which
// options it has (see Parse). In: files. Out: what is to be known of a tool, and its text with values for its options.
package tools

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed */*.stp
var files embed.FS

// Subjects are those of the collection in the order in which they are listed, with what they are about.
var Subjects = []struct{ Name, About string }{
	{"process", "programs, processes, threads and signals"},
	{"files", "files, their names and the file systems under them"},
	{"block", "requests of disks"},
	{"cpu", "processors, the scheduler, interrupts and system calls"},
	{"memory", "memory of processes and of the kernel"},
	{"network", "connections, packets and names"},
	{"kernel", "any function of the kernel, and who may do what"},
	{"user", "functions of programs and libraries in C, C++ and Rust"},
	{"go", "goroutines, locks, channels, memory and requests of Go programs"},
}

// Tool is a script with what its head says.
type Tool struct {
	Name    string
	Subject string
	// File is how messages call the script.
	File string
	// Source is the script.
	Source  string
	Purpose string   // one line
	About   []string // more lines, "" between paragraphs
	Options []Option // those with names, then arguments in their order
	Output  []Column
	// Examples are command lines with what they do.
	Examples []Example
}

// Column is something that a tool prints: a column of a table, or a word.
type Column struct{ Name, Text string }

// Example is a command line with what it is for.
type Example struct {
	Command string
	Text    []string
}

// All gives the collection, by subjects and then by names.
var All = sync.OnceValue(func() []*Tool {
	var list []*Tool
	err := fs.WalkDir(files, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := files.ReadFile(p)
		if err != nil {
			return err
		}
		t, err := Parse(strings.TrimSuffix(path.Base(p), ".stp"), path.Dir(p), string(text))
		if err != nil {
			return err
		}
		list = append(list, t)
		return nil
	})
	if err != nil {
		panic(err) // a test reads them all
	}
	slices.SortFunc(list, func(a, b *Tool) int {
		if n := place(a.Subject) - place(b.Subject); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
})

// place is where a subject stands in lists; those of users come behind.
func place(subject string) int {
	for i, s := range Subjects {
		if s.Name == subject {
			return i
		}
	}
	return len(Subjects)
}

// Find gives the tool of the collection with this name, nil if there is none. It reads no other tool.
func Find(name string) *Tool {
	if name == "" || strings.ContainsAny(name, "/.*?[\\") {
		return nil
	}
	for _, s := range Subjects {
		text, err := files.ReadFile(s.Name + "/" + name + ".stp")
		if err != nil {
			continue
		}
		t, err := Parse(name, s.Name, string(text))
		if err != nil {
			panic(err) // a test reads them all
		}
		return t
	}
	return nil
}

// Names are those of the collection.
func Names() []string {
	var names []string
	for _, s := range Subjects {
		dir, _ := files.ReadDir(s.Name)
		for _, e := range dir {
			names = append(names, strings.TrimSuffix(e.Name(), ".stp"))
		}
	}
	return names
}
