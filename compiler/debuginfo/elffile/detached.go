package elffile

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
)

// Detached debug files are looked for as gdb does: by build ID under each debug directory
// (".build-id/xx/yyy.debug"), then by the name in .gnu_debuglink beside the file, in its
// ".debug" directory, and under each debug directory at the file's own path. The directories
// are those of the environment variable DEBUGINFO_PATH (separated by colons), then
// /usr/lib/debug.
func DebugDirs() []string {
	var dirs []string
	for d := range strings.SplitSeq(os.Getenv("DEBUGINFO_PATH"), ":") {
		if d != "" {
			dirs = append(dirs, d)
		}
	}
	return append(dirs, "/usr/lib/debug")
}

// DebugFile is the file that the DWARF comes from when it is not f itself, else "".
func (f *File) DebugFile() string {
	if f.debug == nil {
		return ""
	}
	return f.debug.path
}

// NoDebugFile says in words which debug file f asks for and does not get, "" if it asks for none.
func (f *File) NoDebugFile() string {
	switch {
	case f.debug != nil:
		return ""
	case f.foreign != "":
		return f.foreign + " is the debug file of another build"
	case f.buildID != "":
		return "no debug file for its build ID is installed"
	case f.link != "":
		return "its debug file " + f.link + " is not beside it"
	}
	return ""
}

// Detached opens the detached debug file of f, nil if there is none.
func (f *File) Detached() *File {
	if f.debug != nil || f.noDebug {
		return f.debug
	}
	f.noDebug = true
	try := func(path string, want func(*File) bool) bool {
		g, err := Open(path)
		if err != nil {
			return false
		}
		g.noDebug, g.Kept = true, f.Kept
		if os.SameFile(statOf(g.path), statOf(f.path)) {
			g.Close()
			return false
		}
		if !want(g) {
			f.foreign = g.path
			g.Close()
			return false
		}
		f.debug = g
		return true
	}
	sameID := func(g *File) bool { return g.buildID == f.buildID }
	if id := f.buildID; len(id) > 2 && !strings.ContainsAny(id, "/.") {
		for _, d := range DebugDirs() {
			if try(filepath.Join(d, ".build-id", id[:2], id[2:]+".debug"), sameID) {
				return f.debug
			}
		}
	}
	b, err := f.Section(".gnu_debuglink")
	if err != nil || len(b) < 8 {
		return nil
	}
	name := dwread.CString(string(b), 0)
	if name == "" || strings.Contains(name, "/") {
		return nil
	}
	f.link = name
	crc := dwread.LE32(b[len(b)-4:])
	match := func(g *File) bool {
		if f.buildID != "" && g.buildID != "" {
			return g.buildID == f.buildID
		}
		return crc32.ChecksumIEEE(g.mem) == crc
	}
	dir := filepath.Dir(f.path)
	where := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, d := range DebugDirs() {
		where = append(where, filepath.Join(d, dir, name))
	}
	for _, p := range where {
		if try(p, match) {
			return f.debug
		}
	}
	return nil
}

func statOf(path string) os.FileInfo {
	fi, _ := os.Stat(path)
	return fi
}
