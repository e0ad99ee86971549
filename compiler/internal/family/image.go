package family

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/internal/rooted"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
)

// Env is what resolving needs from its surroundings. One Env serves a whole script, so
// that each binary is opened once.
type Env struct {
	// Open opens the debug information of a binary.
	Open func(path string) (debuginfo.Image, error)
	// TargetPath is the program of -c or -x, "" if neither was given.
	TargetPath string
	// TargetWord is the word of -c that names the program, "" without -c.
	TargetWord string
	// Program gives the file that a bare "process" means where there is no target, nil for none.
	Program func() (string, error)
	// TargetPID is the process of -x, 0 if there is none: paths are looked up as it sees them.
	TargetPID int
	// SearchPath is $PATH, for programs named without a slash.
	SearchPath string
	// LibraryPath is $LD_LIBRARY_PATH, for libraries that are named through their program.
	LibraryPath string
	// AllCallers makes hits of callees count whoever calls them.
	AllCallers bool
	// Dir is where relative paths begin, "" for the current directory.
	Dir string
	// Privilege is the group of users that the script is checked for (--privilege), "" for none.
	Privilege string
	// Proc is the proc file system, "" for /proc.
	Proc string
	// Kernel is the kernel that kernel.function and @cast(p, "type", "kernel") mean, nil for the running one.
	Kernel *kbtf.Kernel
	// Machine is the one that the script is for, nil for machine.Default.
	Machine *machine.Machine
	// Guru says that functions on the kernel's blacklist are tried.
	Guru bool
	// Brief says that of functions only the texts of their probe points are wanted: see probe.Site.Others.
	Brief bool

	opened  map[string]opened
	tracefs *tracefs.FS // see events
	traced  bool        // tracefs was looked for
	points  []string    // see tracepoints
	images  []debuginfo.Image

	unwinders unwinders
}

type opened struct {
	img debuginfo.Image
	err error
}

// machine is the one that the script is for.
func (e *Env) machine() *machine.Machine { return cmp.Or(e.Machine, machine.Default) }

// Image opens path, or gives the image that was opened before.
func (e *Env) Image(path string) (debuginfo.Image, error) {
	path = e.abs(path)
	if o, ok := e.opened[path]; ok {
		return o.img, o.err
	}
	o := e.open(path)
	if e.opened == nil {
		e.opened = map[string]opened{}
	}
	e.opened[path] = o
	if o.err == nil {
		for _, img := range e.images {
			if img == o.img {
				return o.img, nil
			}
		}
		e.images = append(e.images, o.img)
	}
	return o.img, o.err
}

// real gives the path without links by which sites name a file.
func (e *Env) real(path string) string {
	path = e.abs(path)
	if real, err := filepath.EvalSymlinks(path); err == nil && !e.foreign(path) {
		return real
	}
	return path
}

func (e *Env) open(path string) opened {
	if e.Open == nil {
		return opened{err: errors.New("no reader of debug information")}
	}
	// The same file by another name is the same image: sites are attached by its resolved path.
	// Links below /proc/PID lead into other mount namespaces: only the kernel may follow those.
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path && !e.foreign(path) {
		img, err := e.Image(real)
		return opened{img, err}
	}
	img, err := e.Open(path)
	return opened{img, err}
}

// Images are all images that were opened, in the order of first use.
func (e *Env) Images() []debuginfo.Image { return e.images }

// Close closes the images.
func (e *Env) Close() {
	for _, img := range e.images {
		img.Close()
	}
	e.images, e.opened = nil, nil
	if e.tracefs != nil {
		e.tracefs.Close()
		e.tracefs, e.traced = nil, false
	}
}

func (e *Env) abs(path string) string {
	if filepath.IsAbs(path) || path == "" {
		return filepath.Clean(path)
	}
	dir := e.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return filepath.Join(dir, path)
}

func (e *Env) proc() string {
	if e.Proc != "" {
		return e.Proc
	}
	return "/proc"
}

// hasTarget reports whether there is a target, also one whose program is not known: -c 'for ...; do ...; done'.
func (e *Env) hasTarget() bool { return e.TargetPath != "" || e.TargetWord != "" || e.TargetPID != 0 }

// program is one file that a process(...) component names.
type program struct {
	path   string // to open
	pid    int
	target bool
	of     string // the program that path is a library of, "" for a program
}

// foreign reports whether path leads through /proc/PID, where the text of a link says nothing.
func (e *Env) foreign(path string) bool { return strings.HasPrefix(path, e.proc()+"/") }

// programs finds the files that m's process component means. opens says that they
// must be binaries whose code is looked at.
func (m *match) programs() []program {
	c := &m.req.Comps[0]
	switch {
	case c.Arg == nil:
		switch {
		case m.env.TargetPath != "":
			return []program{{path: m.env.TargetPath, target: true}}
		case m.env.TargetWord != "":
			m.errorf(c, "a process without a path is the program of -c, and there is no program %q", m.env.TargetWord).
				Hintf(`name the program: process("path")`)
		case m.env.Program == nil:
			m.errorf(c, "a process without a path is the program of -c or -x, and neither is given").
				Hintf(`give -c COMMAND, -x PID, --exe FILE, or a path: process("path")`)
		default:
			path, err := m.env.Program()
			if err == nil {
				return []program{{path: path}}
			}
			m.errorf(c, "the program of the pods: %v", err)
		}
		return nil
	case !c.Arg.IsString:
		return m.byPID(c)
	}
	name := c.Arg.Str
	switch {
	case name == "":
		m.errorf(c, "the path is empty")
		return nil
	case strings.ContainsAny(name, "*?["):
		return m.byGlob(c, name)
	case strings.Contains(name, "/"):
		if p := m.env.inside(name); p != "" {
			return []program{{path: p}}
		}
		return []program{{path: m.inUse(m.env.abs(name))}}
	}
	if p := m.env.inPath(name); p != "" {
		return []program{{path: m.inUse(p)}}
	}
	d := m.errorf(c, "there is no program %q in PATH", name)
	if _, err := os.Stat(m.env.abs(name)); err == nil {
		d.Hintf(`a file in the current directory is written process("./%s")`, name)
	}
	return nil
}

// inside gives the path below /proc/PID/root of the file that the target of -x sees as name,
// if the target has another root or other mounts than the tracer; "" if it has not, or if
// it sees no such file.
func (e *Env) inside(name string) string {
	if e.TargetPID <= 0 || !filepath.IsAbs(name) {
		return ""
	}
	dir := filepath.Join(e.proc(), fmt.Sprint(e.TargetPID))
	ours, err1 := os.Readlink(filepath.Join(e.proc(), "self/ns/mnt"))
	theirs, err2 := os.Readlink(filepath.Join(dir, "ns/mnt"))
	if err1 != nil || err2 != nil {
		return ""
	}
	if ours == theirs {
		a, err1 := os.Stat("/")
		b, err2 := os.Stat(filepath.Join(dir, "root"))
		if err1 != nil || err2 != nil || os.SameFile(a, b) {
			return ""
		}
	}
	path := rooted.Below(filepath.Join(dir, "root"), name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (e *Env) inPath(name string) string {
	for _, dir := range filepath.SplitList(e.SearchPath) {
		p := filepath.Join(e.abs(dir), name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// FindProgram gives the file that a command word means, as a shell would: by path if it
// has a slash, else in PATH; "" if there is none.
func (e *Env) FindProgram(word string) string {
	if strings.Contains(word, "/") {
		return e.abs(word)
	}
	return e.inPath(word)
}

func (m *match) byPID(c *probe.Comp) []program {
	pid := c.Arg.Num
	if pid <= 0 || pid > 1<<22 {
		m.errorf(c, "%d is not the number of a process", pid)
		return nil
	}
	p, err := m.env.PIDPath(int(pid))
	if err != nil {
		m.errorf(c, "%v", err)
		return nil
	}
	return []program{{path: p, pid: int(pid)}}
}

// PIDPath gives a path under which the tracer can open the program that process pid runs:
// its own name if that is the same file here, else one through /proc, for processes in
// other mount namespaces and for files that were replaced.
func (e *Env) PIDPath(pid int) (string, error) {
	exe := filepath.Join(e.proc(), fmt.Sprint(pid), "exe")
	link, err := os.Readlink(exe)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, serr := os.Stat(filepath.Dir(exe)); serr != nil {
				return "", fmt.Errorf("there is no process %d", pid)
			}
			return "", fmt.Errorf("process %d has no program (a kernel thread or a zombie)", pid)
		}
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	want, err := os.Stat(exe)
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	for _, p := range []string{link, filepath.Join(e.proc(), fmt.Sprint(pid), "root") + link} {
		if st, err := os.Stat(p); err == nil && os.SameFile(st, want) {
			return p, nil
		}
	}
	return exe, nil
}

func (m *match) byGlob(c *probe.Comp, pattern string) []program {
	dirs := []string{""}
	if !strings.Contains(pattern, "/") {
		dirs = filepath.SplitList(m.env.SearchPath)
	}
	var files []string
	for _, dir := range dirs {
		found, err := filepath.Glob(m.env.abs(filepath.Join(dir, pattern)))
		if err != nil {
			m.errorf(c, "bad pattern %q", pattern)
			return nil
		}
		files = append(files, found...)
	}
	if !slices.ContainsFunc(files, isELF) {
		// What stands in /lib64 elsewhere, Debian has in /lib/x86_64-linux-gnu.
		if dir, name := filepath.Split(pattern); strings.HasPrefix(filepath.Base(dir), "lib") {
			more, _ := filepath.Glob(m.env.abs(filepath.Join(dir, "*-linux-gnu*", name)))
			files = append(files, more...)
		}
	}
	var out, bad []program
	var why []string
	seen := map[string]bool{}
	for _, p := range files {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || seen[real] || !isELF(real) {
			continue
		}
		seen[real] = true
		if _, err := m.env.Image(real); err != nil {
			bad, why = append(bad, program{path: real}), append(why, unusable(real, err))
			continue
		}
		out = append(out, program{path: real})
	}
	switch {
	case len(out) == 0 && len(bad) > 0:
		m.image(bad[0])
	case len(bad) > 0:
		list := why[0]
		if len(why) > 1 {
			list = fmt.Sprintf("%s; and %d more", list, len(why)-1)
		}
		m.diag.Warnf(diag.Semantic, CodeLeftOut, c.Span, "%q: left out: %s", pattern, list)
	case len(out) == 0:
		m.errorf(c, "no ELF file has a name like %q", pattern)
	}
	return out
}

// unusable says what is wrong with a file that matched a pattern.
func unusable(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + path
	case errors.Is(err, debuginfo.ErrNotELF):
		return path + " is not an ELF executable"
	case errors.Is(err, debuginfo.ErrArch):
		return path + " is for another machine"
	}
	return err.Error()
}

func isELF(path string) bool { return string(dynlink.Head(path, 4)) == "\x7fELF" }

// image opens a program, or reports why that does not work.
func (m *match) image(p program) debuginfo.Image {
	img, err := m.env.Image(p.path)
	if err == nil {
		return img
	}
	c := &m.req.Comps[0]
	if p.of != "" {
		c = m.at("library")
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.errorf(c, "there is no file %s", p.path)
	case errors.Is(err, fs.ErrPermission):
		m.errorf(c, "no permission to read %s", p.path)
	case errors.Is(err, debuginfo.ErrNotELF):
		_, why, _ := strings.Cut(err.Error(), debuginfo.ErrNotELF.Error())
		d := m.errorf(c, "%s is not an ELF executable%s", p.path, why)
		d.Hint = near.Program(p.path)
	case errors.Is(err, debuginfo.ErrArch):
		_, why, _ := strings.Cut(err.Error(), debuginfo.ErrArch.Error())
		m.errorf(c, "%s is for another machine%s", p.path, why)
	default:
		m.errorf(c, "%v", err)
	}
	return nil
}
