package family

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/rooted"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// process("PROGRAM").library("LIB") is about the files of a library that the program uses, in processes that run the
// program. Probes in a file are hit by every process that maps it, so the sites carry the program as a condition
// (probe.Site.Exe).

// libraries turns programs into the files of the libraries that m names.
func (m *match) libraries(of []program) []program {
	c := m.at("library")
	if c == nil {
		return of
	}
	var out []program
	for _, p := range of {
		one := &match{env: m.env, req: m.req}
		for _, path := range one.librariesOf(c, p) {
			lib := program{path: path, pid: p.pid, target: p.target, of: p.path}
			if !slices.Contains(out, lib) {
				out = append(out, lib)
			}
		}
		m.diag.AddAll(one.diag)
	}
	if len(out) == 0 {
		return nil
	}
	// One of several programs may have no such library.
	m.diag = slices.DeleteFunc(m.diag, func(d *diag.Diagnostic) bool { return d.Severity == diag.Error })
	return out
}

// library is what a program uses.
type library struct {
	name  string // as it is asked for
	paths []string
	// gone: the process has a file mapped that is not at its path any more.
	gone bool
}

// librariesOf finds the files of the library that c names for one program.
func (m *match) librariesOf(c *probe.Comp, p program) []string {
	name := c.Arg.Str
	wild := strings.ContainsAny(name, "*?")
	if name == "" {
		m.errorf(c, "the library's name is empty")
		return nil
	}
	libs, err := m.env.needed(p)
	switch {
	case errors.Is(err, dynlink.ErrLibrary):
		m.errorf(&m.req.Comps[0], "%s is a library itself: no process has it as its program", p.path).
			Hintf(`name the program, or the second library alone for all programs: process("LIBRARY")`)
		return nil
	case err != nil:
		// The reader of debug information has the better words for it.
		if m.image(p) != nil {
			m.errorf(&m.req.Comps[0], "%v", err)
		}
		return nil
	}
	if strings.Contains(name, "/") && !wild {
		path := m.env.abs(name)
		if root := m.env.rootOf(p); root != "" && filepath.IsAbs(name) {
			path = rooted.Below(root, name)
		} else if in := m.env.inside(name); in != "" {
			path = in
		}
		return []string{path} // it may be one that the program loads later
	}
	var out, names []string
	for _, l := range libs {
		names = append(names, l.name)
		if !l.means(name, wild) {
			continue
		}
		if l.gone {
			m.errorf(c, "the process has a %s mapped that was deleted or replaced since",
				l.name).Hintf("start the process again")
			return nil
		}
		if len(l.paths) == 0 {
			m.errorf(c, "%s, which %s needs, is nowhere that its dynamic linker looks", l.name, p.path)
			return nil
		}
		out = append(out, l.paths...)
	}
	if len(out) > 0 {
		return out
	}
	if len(libs) == 0 {
		m.errorf(c, "%s is linked statically: it needs no libraries",
			p.path).Hintf("a library that it loads while it runs is named by its full path")
		return nil
	}
	d := m.errorf(c, "%s needs no library %q", p.path, name)
	d.Note(source.Span{}, "it needs %s; a library that it loads while it runs is named by its full path",
		diag.Few(names))
	if near := nearLibrary(name, names); len(near) > 0 {
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	}
	return nil
}

// means reports whether name (a pattern if wild) is one of l's: what it is asked for as, its file's name, or the whole
// path.
func (l *library) means(name string, wild bool) bool {
	all := append([]string{l.name}, l.paths...)
	for _, p := range l.paths {
		all = append(all, filepath.Base(p))
		if real, err := filepath.EvalSymlinks(p); err == nil {
			all = append(all, real, filepath.Base(real))
		}
	}
	return slices.ContainsFunc(all, func(s string) bool { return s == name || wild && glob(name, s) })
}

// nearLibrary gives what may have been meant: libc.so.6 for libc and libc.so.
func nearLibrary(name string, names []string) []string {
	stem, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), "lib"), ".so")
	var out []string
	for _, n := range names {
		if s, _, ok := strings.Cut(strings.TrimPrefix(n, "lib"), ".so"); ok && s == stem {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		out = diag.Nearest(name, names, 3)
	}
	return out
}

// rootOf is the directory below which the process that p was found through has its files, "" if it is the tracer's own.
func (e *Env) rootOf(p program) string {
	rest, ok := strings.CutPrefix(p.path, e.proc()+"/")
	if !ok {
		return ""
	}
	pid, _, _ := strings.Cut(rest, "/")
	return filepath.Join(e.proc(), pid, "root")
}

// needed lists the libraries of a program: those that it needs to start, and those that the process which it was found
// through has mapped.
func (e *Env) needed(p program) ([]library, error) {
	s := e.search(p)
	static, err := dynlink.Needed(p.path, s)
	if err != nil {
		return nil, err
	}
	pid := p.pid
	if p.target {
		pid = e.TargetPID
	}
	var out []library
	have := func(name string) bool {
		return slices.ContainsFunc(out, func(l library) bool { return l.means(name, false) })
	}
	if pid > 0 {
		out = e.mapped(pid, s.Root)
	}
	for _, l := range static {
		if !have(l.Name) {
			out = append(out, library{name: l.Name, paths: l.Paths})
		}
	}
	return out, nil
}

// inode is a file's number in decimal.
func inode(fi os.FileInfo) string {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(st.Ino)
	}
	return ""
}

// mapped lists the libraries whose code a process has mapped.
func (e *Env) mapped(pid int, root string) []library {
	dir := filepath.Join(e.proc(), fmt.Sprint(pid))
	text, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		return nil
	}
	exe, _ := os.Stat(filepath.Join(dir, "exe"))
	var out []library
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		// from-to perms offset device inode path
		f := strings.Fields(line)
		at := strings.IndexByte(line, '/')
		if len(f) < 6 || !strings.Contains(f[1], "x") || at < 0 {
			continue
		}
		path := strings.TrimSuffix(line[at:], "\n")
		if seen[path] {
			continue
		}
		seen[path] = true
		if was, ok := strings.CutSuffix(path, " (deleted)"); ok && strings.Contains(filepath.Base(was), ".so") {
			out = append(out, library{name: filepath.Base(was), gone: true})
			continue
		}
		if root != "" {
			path = rooted.Below(root, path)
		}
		st, err := os.Stat(path)
		if err != nil || inode(st) != f[4] || exe != nil && os.SameFile(st, exe) || !isELF(path) {
			continue
		}
		out = append(out, library{name: filepath.Base(path), paths: []string{path}})
	}
	return out
}
