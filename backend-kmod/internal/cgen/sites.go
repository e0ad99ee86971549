package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/probe"
)

// spot is what makes a place in the kernel's sense.
type spot struct {
	kind   probe.Kind
	path   string
	exe    string // the program that a process must run
	offset uint64
	refctr uint64
	event  string
	period int64
	perf   probe.PerfEvent
	nr     int    // of a system call
	except string // name of the set of numbers that it is not for
	pid    int    // -1 for the target
	net    probe.NetHook
	alone  *fn // whose packets: what one handler says about a packet must not pass for another's
	site   int // of alone
}

// at is one place: handlers of several probes can share it.
type at struct {
	spot
	active int  // the most that a return probe asks for
	exact  bool // some probe must have it
	runs   []run
}

type run struct {
	h    *fn
	site int // index into the probe's sites
	p    Place
}

// places lists the places of the handlers' sites, in the order in which they come up.
func (u *unit) places(handlers []*fn) []*at {
	var places []*at
	index := map[spot]*at{}
	for _, h := range handlers {
		for i, s := range u.p.Probes[h.probe].Sites {
			if s.Kind.OnHost() {
				continue
			}
			sp := u.spot(h, s)
			if hooks[s.Kind] != nil && hooks[s.Kind].alone {
				sp.alone, sp.site = h, i
			}
			a := index[sp]
			if a == nil {
				a = &at{spot: sp}
				index[sp] = a
				places = append(places, a)
			}
			a.active = max(a.active, s.Kernel.MaxActive)
			a.exact = a.exact || !s.Kernel.Wild && !s.Optional
			a.runs = append(a.runs, run{h, i, Place{h.probe, s}})
		}
	}
	return places
}

// spot says where a site is.
func (u *unit) spot(h *fn, s *probe.Site) spot {
	pr := u.p.Probes[h.probe]
	p := &s.Program
	sp := spot{kind: s.Kind, path: p.Path, exe: p.Exe, offset: s.Offset(), refctr: p.RefCtr, pid: p.PID}
	if p.Target {
		sp.pid = -1
	}
	if why := Refused(s.Kind); why != "" {
		u.refuse(pr.Pos, "%s: %s", s.Point, why)
	} else if hk := hooks[s.Kind]; hk.spot != nil {
		hk.spot(u, pr, s, &sp)
	}
	return sp
}

// sites writes the tables of places and what attaches them.
func (u *unit) sites(out *Unit, handlers []*fn) {
	places := u.places(handlers)
	files := map[string]int{"": -1}
	for _, a := range places {
		for _, path := range []string{a.path, a.exe} {
			if _, ok := files[path]; !ok {
				files[path] = len(out.Files)
				out.Files = append(out.Files, path)
			}
		}
	}
	u.printf("static struct inode *gs_inodes[GS_NFILES + 1];\n\n")
	several := map[string]string{}
	var entries procFiles
	rows := map[string][]string{}
	for _, a := range places {
		h, site := u.runs(a, several)
		n := len(out.Sites)
		out.Sites = append(out.Sites, a.runs[0].p)
		hk := hooks[a.kind]
		if hk == nil {
			continue // refused
		}
		if hk.file {
			entries.add(a.runs[0].p.Site, h, site, n)
			continue
		}
		common := fmt.Sprintf(".handler = %s, .place = %d, .site = %d", h, site, n)
		if a.pid != 0 {
			common += fmt.Sprintf(", .pid = %d", a.pid)
		}
		row := hk.row(a, files[a.path], files[a.exe], common)
		rows[hk.table] = append(rows[hk.table], "\t{ "+row+" }")
	}
	var on, off strings.Builder
	each := false // something is attached one by one
	left := "\t(void)op;\n\treturn -ENOENT;\n"
	for _, t := range tables {
		if len(rows[t.table]) == 0 {
			continue
		}
		if t.backwards {
			slices.Reverse(rows[t.table])
		}
		u.printf("#include \"gs_%s.h\"\n\nstatic struct gs_%s gs_%ss[] = {\n%s,\n};\n\n", t.table, t.table, t.table,
			strings.Join(rows[t.table], ",\n"))
		if t.together {
			fmt.Fprintf(&on, "\tif (!err)\n\t\terr = gs_%ss_on(gs_%ss, ARRAY_SIZE(gs_%ss), site);\n", t.table, t.table,
				t.table)
		} else {
			each = true
			fmt.Fprintf(&on, "\tfor (i = 0; i < ARRAY_SIZE(gs_%ss) && !err; i++) {\n\t\t*site = "+
				"gs_%ss[i].site;\n\t\terr = gs_%s_on(&gs_%ss[i]%s);\n\t}\n", t.table, t.table, t.table, t.table, t.on)
		}
		fmt.Fprintf(&off, "\tgs_%ss_off(gs_%ss, ARRAY_SIZE(gs_%ss)%s);\n", t.table, t.table, t.table, t.off)
		if t.left {
			left = fmt.Sprintf("\treturn gs_%ss_left(gs_%ss, ARRAY_SIZE(gs_%ss), op);\n", t.table, t.table, t.table)
		}
	}
	decl := ""
	if each {
		decl = "\tu32 i;\n"
	} else if on.Len() > 0 || len(entries.list) > 0 {
		decl = "\n"
	} else {
		decl = "\t(void)site;\n"
	}
	if len(entries.list) > 0 {
		entries.write(u, &on, &off) // last: they are there when all else is
	}
	u.printf("static int gs_left(struct gs_op *op)\n{\n%s}\n\n", left)
	u.printf("static void gs_detach(void)\n{\n%s}\n\n", off.String())
	u.printf("static int gs_attach(s64 *site)\n{\n\tint err = 0;\n%s\n%s\tif (err)\n\t\tgs_detach();\n\treturn err;"+
		"\n}\n", decl, on.String())
}

// runs gives the function that a place calls and the site that it is told: the handler, or one that runs several, by
// what those are in several.
func (u *unit) runs(a *at, several map[string]string) (handler string, site int) {
	if len(a.runs) == 1 {
		return a.runs[0].h.name, a.runs[0].site
	}
	key := ""
	for _, r := range a.runs {
		key += fmt.Sprintf("%s %d,", r.h.name, r.site)
	}
	if several[key] == "" {
		several[key] = u.unique(fmt.Sprintf("several_%d", len(several)))
		u.printf("static void %s(struct gs_hit *hit)\n{\n", several[key])
		for _, r := range a.runs {
			u.printf("\thit->site = %d;\n\t%s(hit);\n", r.site, r.h.name)
		}
		u.printf("}\n\n")
	}
	return several[key], 0
}

// eventful reports whether hits at sites carry the arguments of an event.
func eventful(sites []*probe.Site) bool {
	for _, s := range sites {
		if s.Kind.Words() == probe.NoWords {
			return false
		}
	}
	return true
}
