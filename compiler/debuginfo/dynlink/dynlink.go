// Package dynlink says which libraries a program gets from the dynamic linker when it starts, and where they lie.
//
// In: an ELF file. Out: the files that ld.so(8) would map for it: DT_NEEDED, level by level, looked for as glibc does
// (DT_RPATH of the file and of those that brought it in, LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the default
// directories). Where a directory has variants of a library for newer processors (glibc-hwcaps), all of them are given,
// since it is the machine that picks one.
package dynlink

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine"
)

// Lib is a library that a program needs.
type Lib struct {
	// Name is how the program asks for it, its DT_SONAME usually.
	Name string
	// Paths are the files that it can be, "" standing for none: one, or several for several generations of processors.
	Paths []string
	// By is the file that asks for it first.
	By string
}

// Search says where to look.
type Search struct {
	// Root is the program's root directory, "" if it is the tracer's. Follow then gives the file below it that the
	// program means by a path.
	Root   string
	Follow func(root, path string) string
	// Origin is the program's directory as it sees it itself; "" goes by the path of its file.
	Origin string
	// LibraryPath is LD_LIBRARY_PATH of the program's environment.
	LibraryPath string
}

// ErrLibrary says that a file is a library itself, which no process runs as its program.
var ErrLibrary = errors.New("it is a library, not a program")

// maxLibs bounds the libraries of one program.
const maxLibs = 4096

// maxCache bounds /etc/ld.so.cache, which has some 50 KB.
const maxCache = 64 << 20

// Needed lists the libraries of the program at path, in the order in which the linker maps them, its dynamic linker
// last. A program that is linked statically has none. The error is ErrLibrary for a library.
func Needed(path string, s Search) ([]Lib, error) {
	top, err := s.read(path, nil)
	if err != nil {
		return nil, err
	}
	if top.library {
		return nil, ErrLibrary
	}
	l := &linker{s: s, seen: map[string]bool{}}
	for todo := []*object{top}; len(todo) > 0; todo = todo[1:] {
		o := todo[0]
		for _, name := range o.needed {
			if l.seen[name] || len(l.libs) >= maxLibs {
				continue
			}
			l.seen[name] = true
			lib := Lib{Name: name, Paths: l.find(name, o), By: o.path}
			l.libs = append(l.libs, lib)
			// The variants of one library ask for the same others.
			if len(lib.Paths) > 0 {
				if next, err := s.read(lib.Paths[len(lib.Paths)-1], o); err == nil {
					l.seen[next.soname] = true
					todo = append(todo, next)
				}
			}
		}
	}
	if name := filepath.Base(top.interp); top.interp != "" && !l.seen[name] {
		if p := s.see(top.interp); usable(p, top.machine) {
			l.libs = append(l.libs, Lib{Name: name, Paths: []string{p}, By: path})
		}
	}
	return l.libs, nil
}

func (s *Search) see(path string) string {
	if s.Root == "" {
		return path
	}
	return s.Follow(s.Root, path)
}

// object is what the linker wants to know of a file.
type object struct {
	path           string // to open
	dir            string // $ORIGIN
	soname, interp string
	needed         []string
	machine        *machine.Machine
	rpath, runpath []string
	library        bool
	by             *object
}

// read reads the dynamic section of a file.
func (s *Search) read(path string, by *object) (*object, error) {
	file, err := foreign.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := foreign.ELF(file)
	if err != nil {
		return nil, err
	}
	m, err := machine.ForELF(f.Class, f.Data, f.Machine)
	if err != nil {
		return nil, fmt.Errorf("%s is for another machine: %w", path, err)
	}
	o := &object{machine: m, path: path, dir: filepath.Dir(strings.TrimPrefix(path, s.Root)), by: by}
	if by == nil && s.Origin != "" {
		o.dir = s.Origin
	} else if real, err := filepath.EvalSymlinks(path); err == nil && s.Root == "" {
		o.dir = filepath.Dir(real)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err == nil {
				o.interp, _, _ = strings.Cut(string(b), "\x00")
			}
		}
	}
	first := func(tag elf.DynTag) string {
		if v, err := f.DynString(tag); err == nil && len(v) > 0 {
			return v[0]
		}
		return ""
	}
	o.needed, _ = f.DynString(elf.DT_NEEDED)
	o.soname = first(elf.DT_SONAME)
	o.rpath, o.runpath = list(first(elf.DT_RPATH)), list(first(elf.DT_RUNPATH))
	flags, _ := f.DynValue(elf.DT_FLAGS_1)
	pie := len(flags) > 0 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
	// Programs without a fixed address are of the type of libraries; older linkers do not say which it is.
	o.library = f.Type == elf.ET_DYN && !pie && (o.soname != "" || o.interp == "")
	return o, nil
}

// list splits a search path. Empty elements, which mean the current directory of a process that may not have started
// yet, are left out.
func list(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == ';' }),
		func(d string) bool { return d == "" })
}

type linker struct {
	s     Search
	seen  map[string]bool
	libs  []Lib
	cache map[string][]string
}

// defaults are the directories that are looked at last: those of Debian's layout, then those of all others.
func defaults(m *machine.Machine) []string {
	return []string{"/lib/" + m.Triplet, "/usr/lib/" + m.Triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib",
		"/usr/local/lib"}
}

// find gives the files that a library can be which o asks for as name; none if it is nowhere.
func (l *linker) find(name string, o *object) []string {
	if strings.Contains(name, "/") {
		for _, p := range o.expand(name) {
			if p = l.s.see(p); usable(p, o.machine) {
				return []string{p}
			}
		}
		return nil
	}
	var dirs []string
	add := func(o *object, path []string) {
		for _, d := range path {
			dirs = append(dirs, o.expand(d)...)
		}
	}
	if len(o.runpath) == 0 {
		for x := o; x != nil; x = x.by {
			if len(x.runpath) == 0 {
				add(x, x.rpath)
			}
		}
	}
	add(o, list(l.s.LibraryPath))
	add(o, o.runpath)
	if p := l.in(dirs, name, o.machine); len(p) > 0 {
		return p
	}
	if l.cache == nil {
		l.cache = map[string][]string{}
		if b, err := foreign.ReadFile(l.s.see("/etc/ld.so.cache"), maxCache); err == nil {
			l.cache = parseCache(b, o.machine.CacheFlags)
		}
	}
	var out []string
	for _, p := range l.cache[name] {
		if p = l.s.see(p); usable(p, o.machine) {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	return l.in(defaults(o.machine), name, o.machine)
}

// in looks for a library in directories: in the first one that has it, with its variants.
func (l *linker) in(dirs []string, name string, m *machine.Machine) (out []string) {
	for _, d := range dirs {
		for _, sub := range slices.Concat(m.HWCaps, []string{""}) {
			if p := l.s.see(filepath.Join(d, sub, name)); usable(p, m) {
				out = append(out, p)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// expand replaces $ORIGIN, $LIB and $PLATFORM in a path of o; $LIB differs between distributions.
func (o *object) expand(path string) []string {
	if !strings.Contains(path, "$") {
		return []string{path}
	}
	var out []string
	for _, lib := range []string{"lib/" + o.machine.Triplet, "lib64", "lib"} {
		p := strings.NewReplacer("$ORIGIN", o.dir, "${ORIGIN}", o.dir, "$LIB", lib, "${LIB}", lib, "$PLATFORM",
			o.machine.Arch, "${PLATFORM}", o.machine.Arch).Replace(path)
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// usable reports whether a file is a library of the machine: the linker passes over those of others.
func usable(path string, m *machine.Machine) bool {
	b := Head(path, 20)
	return len(b) == 20 && string(b[:5]) == "\x7fELF\x02" && elf.Machine(uint16(b[18])|uint16(b[19])<<8) == m.ELF
}

// Head gives the first n bytes of a regular file, fewer where it has no more or cannot be read.
func Head(path string, n int) []byte {
	f, err := foreign.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, n)
	n, _ = f.Read(b)
	return b[:n]
}
