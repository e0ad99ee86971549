package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/probe"
)

// at is one place in the kernel's sense: handlers of several probes can share it.
type at struct {
	kind   probe.Kind
	path   string
	offset uint64
	refctr uint64
	event  string
	period int64
	nr     int    // of a system call
	except string // name of the set of numbers that it is not for
	pid    int
	active int  // the most that a return probe asks for
	exact  bool // some probe must have it
	runs   []run
}

type run struct {
	h    *fn
	site int // index into the probe's sites
	p    Place
}

// sites writes the tables of places and what attaches them.
func (u *unit) sites(out *Unit, handlers []*fn) {
	var places []*at
	find := func(a at) *at {
		for _, o := range places {
			if o.kind == a.kind && o.path == a.path && o.offset == a.offset && o.event == a.event && o.nr == a.nr && o.except == a.except && o.period == a.period && o.pid == a.pid && o.refctr == a.refctr {
				return o
			}
		}
		places = append(places, &a)
		return &a
	}
	index := map[string]*at{}
	for _, h := range handlers {
		for i, s := range u.p.Probes[h.probe].Sites {
			if s.Kind.OnHost() {
				continue
			}
			a := at{kind: s.Kind, path: s.Path, offset: s.Offset, refctr: s.RefCtr, pid: s.PID}
			if s.Target {
				a.pid = -1
			}
			switch s.Kind {
			case probe.Uprobe:
			case probe.Uretprobe:
				if s.Go() {
					u.refuse(u.p.Probes[h.probe].Pos, "%s: the kernel's return probe must not be used on Go functions: it kills programs whose stacks move", s.Point)
				}
			case probe.Kprobe, probe.Kretprobe:
				a.event = s.Symbol
				if s.Symbol == "" {
					u.refuse(u.p.Probes[h.probe].Pos, "%s: the kernel function has no name", s.Point)
				}
			case probe.Tracepoint:
				a.event = s.Event[strings.LastIndexByte(s.Event, ':')+1:]
			case probe.Profile:
				a.period = int64(s.Period)
				if a.period <= 0 {
					a.period = 1e6
				}
			case probe.ProcfsRead, probe.ProcfsWrite:
				a.event = s.Event
			case probe.ProcessSyscall, probe.ProcessSyscallReturn:
				a.nr = s.Syscall
				if a.nr == probe.AnySyscall {
					a.except = u.except(u.p.Probes[h.probe].Sites, s.Kind)
				}
				if s.Target || s.PID != 0 {
					a.path = ""
				}
			case probe.ProcessBegin, probe.ProcessEnd, probe.ThreadEnd:
				if s.Target || s.PID != 0 {
					a.path = "" // whatever it runs
				}
			default:
				u.refuse(u.p.Probes[h.probe].Pos, "%s: modules cannot attach probes of this kind (%s)", s.Point, s.Kind)
				continue
			}
			key := fmt.Sprint(a.kind, a.path, a.offset, a.refctr, a.event, a.nr, a.except, a.period, a.pid)
			p := index[key]
			if p == nil {
				p = find(a)
				index[key] = p
			}
			p.active = max(p.active, s.MaxActive)
			p.exact = p.exact || !s.Wild
			p.runs = append(p.runs, run{h, i, Place{h.probe, s}})
		}
	}
	files := map[string]int{}
	for _, a := range places {
		if a.path != "" {
			if _, ok := files[a.path]; !ok {
				files[a.path] = len(out.Files)
				out.Files = append(out.Files, a.path)
			}
		}
	}
	u.printf("static struct inode *gs_inodes[GS_NFILES + 1];\n\n")
	several := map[string]string{}
	call := func(a *at) (handler string, place int) {
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
	var entries procFiles
	var tab struct{ uprobe, kprobe, trace, profile, process, syscall []string }
	for _, a := range places {
		h, site := call(a)
		n := len(out.Sites)
		out.Sites = append(out.Sites, a.runs[0].p)
		common := fmt.Sprintf(".handler = %s, .place = %d, .site = %d", h, site, n)
		if a.pid != 0 {
			common += fmt.Sprintf(", .pid = %d", a.pid)
		}
		switch a.kind {
		case probe.Uprobe, probe.Uretprobe:
			t := fmt.Sprintf("\t{ .file = %d, .offset = 0x%x, %s", files[a.path], a.offset, common)
			if a.refctr != 0 {
				t += fmt.Sprintf(", .refctr = 0x%x", a.refctr)
			}
			if a.kind == probe.Uretprobe {
				t += ", .ret = true"
			}
			tab.uprobe = append(tab.uprobe, t+" }")
		case probe.Kprobe, probe.Kretprobe:
			t := fmt.Sprintf("\t{ .symbol = %s, .offset = %d, %s", text(a.event), a.offset, common)
			if a.kind == probe.Kretprobe {
				t += ", .ret = true"
				if a.active > 0 {
					t += fmt.Sprintf(", .maxactive = %d", a.active)
				}
			}
			if !a.exact {
				t += ", .wild = true"
			}
			tab.kprobe = append(tab.kprobe, t+" }")
		case probe.Tracepoint:
			tab.trace = append(tab.trace, fmt.Sprintf("\t{ .name = %s, %s }", text(a.event), common))
		case probe.ProcessBegin, probe.ProcessEnd, probe.ThreadEnd:
			file := -1
			if a.path != "" {
				file = files[a.path]
			}
			tab.process = append(tab.process, fmt.Sprintf("\t{ .file = %d, .end = %v, .thread = %v, %s }", file, a.kind != probe.ProcessBegin, a.kind == probe.ThreadEnd, common))
		case probe.ProcfsRead, probe.ProcfsWrite:
			entries.add(a.runs[0].p.Site, h, site, n)
		case probe.ProcessSyscall, probe.ProcessSyscallReturn:
			file := -1
			if a.path != "" {
				file = files[a.path]
			}
			t := fmt.Sprintf("\t{ .nr = %d, .ret = %v, .file = %d, %s", a.nr, a.kind == probe.ProcessSyscallReturn, file, common)
			if a.except != "" {
				t += ", .except = " + a.except
			}
			tab.syscall = append(tab.syscall, t+" }")
		case probe.Profile:
			tab.profile = append(tab.profile, fmt.Sprintf("\t{ .period = %d, %s }", a.period, common))
		}
	}
	var on, off strings.Builder
	table := func(kind, arg, offArg string, rows []string) {
		if len(rows) == 0 {
			return
		}
		u.printf("#include \"gs_%s.h\"\n\nstatic struct gs_%s gs_%ss[] = {\n%s,\n};\n\n", kind, kind, kind, strings.Join(rows, ",\n"))
		fmt.Fprintf(&on, "\tfor (i = 0; i < ARRAY_SIZE(gs_%ss) && !err; i++) {\n\t\t*site = gs_%ss[i].site;\n\t\terr = gs_%s_on(&gs_%ss[i]%s);\n\t}\n",
			kind, kind, kind, kind, arg)
		fmt.Fprintf(&off, "\tgs_%ss_off(gs_%ss, ARRAY_SIZE(gs_%ss)%s);\n", kind, kind, kind, offArg)
	}
	table("uprobe", ", gs_inodes[gs_uprobes[i].file]", ", gs_inodes", tab.uprobe)
	table("kprobe", "", "", tab.kprobe)
	table("trace", "", "", tab.trace)
	table("process", "", "", tab.process)
	table("syscall", "", "", tab.syscall)
	table("profile", "", "", tab.profile)
	decl := ""
	if on.Len() > 0 {
		decl = "\tu32 i;\n"
	} else if len(entries.list) > 0 {
		decl = "\n"
	} else {
		decl = "\t(void)site;\n"
	}
	if len(entries.list) > 0 {
		entries.write(u, &on, &off) // last: they are there when all else is
	}
	left := "\t(void)op;\n\treturn -ENOENT;\n"
	if len(tab.kprobe) > 0 {
		left = "\treturn gs_kprobes_left(gs_kprobes, ARRAY_SIZE(gs_kprobes), op);\n"
	}
	u.printf("static int gs_left(struct gs_op *op)\n{\n%s}\n\n", left)
	u.printf("static void gs_detach(void)\n{\n%s}\n\n", off.String())
	u.printf("static int gs_attach(s64 *site)\n{\n\tint err = 0;\n%s\n%s\tif (err)\n\t\tgs_detach();\n\treturn err;\n}\n", decl, on.String())
}

// eventful reports whether hits at sites carry the arguments of an event.
func eventful(sites []*probe.Site) bool {
	for _, s := range sites {
		if s.Kind != probe.Tracepoint && s.Kind != probe.ProcessSyscall && s.Kind != probe.ProcessSyscallReturn {
			return false
		}
	}
	return true
}

// except writes the set of the system calls for which a probe has sites of their own, and gives its name, "" for none.
func (u *unit) except(sites []*probe.Site, kind probe.Kind) string {
	const slots = 512
	var set [slots / 64]uint64
	some := false
	for _, s := range sites {
		if s.Kind == kind && s.Syscall >= 0 && s.Syscall < slots {
			set[s.Syscall/64] |= 1 << (s.Syscall % 64)
			some = true
		}
	}
	if !some {
		return ""
	}
	name := u.unique("not_those")
	u.printf("static const u64 %s[] = {", name)
	for _, w := range set {
		u.printf(" 0x%xULL,", w)
	}
	u.printf(" };\n\n")
	return name
}
