package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// files are files in /proc that are read and written.
var files = hook{file: true, spot: func(_ *unit, _ *ir.Probe, s *probe.Site, sp *spot) { sp.event = s.Event }}

// procFiles are the files that the module has in /proc.
type procFiles struct {
	list []*procFile
}

type procFile struct {
	path        string
	mode        uint32
	size        int
	site        int
	read, write string // handlers, "" for none
	places      [2]int
}

// add notes a handler for reading or writing a file.
func (f *procFiles) add(s *probe.Site, handler string, place, site int) {
	i := slices.IndexFunc(f.list, func(p *procFile) bool { return p.path == s.Event })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, &procFile{path: s.Event, site: site})
	}
	p := f.list[i]
	p.mode |= s.Procfs.Mode
	if s.Kind == probe.ProcfsRead {
		p.read, p.places[0], p.size = handler, place, s.Procfs.MaxSize
	} else {
		p.write, p.places[1] = handler, place
	}
}

// folders lists the folders of the paths, outer ones first.
func (f *procFiles) folders() []string {
	var out []string
	for _, p := range f.list {
		for i, c := range p.path {
			if c == '/' && !slices.Contains(out, p.path[:i]) {
				out = append(out, p.path[:i])
			}
		}
	}
	return out
}

// write writes the table and what makes the files and takes them away.
func (f *procFiles) write(u *unit, on, off *strings.Builder) {
	u.printf("#include \"gs_procfs.h\"\n\nstatic struct gs_procfs gs_procfiles[] = {\n")
	for _, p := range f.list {
		size := p.size
		if size == 0 {
			size = u.p.Limits.MaxString - 1
		}
		u.printf("\t{ .path = %s, .mode = 0%o, .size = %d, .site = %d", text(p.path), p.mode, size, p.site)
		if p.read != "" {
			u.printf(", .read = %s, .read_place = %d", p.read, p.places[0])
		}
		if p.write != "" {
			u.printf(", .write = %s, .write_place = %d", p.write, p.places[1])
		}
		u.printf(" },\n")
	}
	u.printf("};\n\nstatic const char *const gs_procfolders[] = {\n")
	for _, d := range f.folders() {
		u.printf("\t%s,\n", text(d))
	}
	u.printf("\tNULL,\n};\n\n")
	fmt.Fprintf(on, "\tif (!err)\n\t\terr = gs_procfs_on(gs_procfiles, ARRAY_SIZE(gs_procfiles), gs_procfolders, site"+
		");\n")
	fmt.Fprintf(off, "\tgs_procfs_off();\n")
}

// replies reports whether somebody has to know whether the handler came to its end: the process at a file in /proc, the
// kernel that has shown it a packet.
func (g *gen) replies() bool {
	return g.probe >= 0 && slices.ContainsFunc(g.probes.Sites, func(s *probe.Site) bool {
		return s.Kind.Class() == probe.File || s.Kind.Class() == probe.Packet
	})
}
