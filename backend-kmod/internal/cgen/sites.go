package cgen

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

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
			if sp.kind == probe.Netfilter {
				sp.alone, sp.site = h, i
			}
			a := index[sp]
			if a == nil {
				a = &at{spot: sp}
				index[sp] = a
				places = append(places, a)
			}
			a.active = max(a.active, s.MaxActive)
			a.exact = a.exact || !s.Wild && !s.Optional
			a.runs = append(a.runs, run{h, i, Place{h.probe, s}})
		}
	}
	return places
}

// spot says where a site is.
func (u *unit) spot(h *fn, s *probe.Site) spot {
	pr := u.p.Probes[h.probe]
	sp := spot{kind: s.Kind, path: s.Path, exe: s.Exe, offset: s.Offset, refctr: s.RefCtr, pid: s.PID}
	if s.Target {
		sp.pid = -1
	}
	switch s.Kind {
	case probe.Uprobe:
	case probe.Uretprobe:
		if s.Go() {
			u.refuse(pr.Pos, "%s: the kernel's return probe must not be used on Go functions: it kills programs whose stacks move", s.Point)
		}
	case probe.Kprobe, probe.Kretprobe:
		sp.event = s.Symbol
		if s.Symbol == "" {
			u.refuse(pr.Pos, "%s: the kernel function has no name", s.Point)
		}
	case probe.Tracepoint:
		sp.event = s.Event[strings.LastIndexByte(s.Event, ':')+1:]
	case probe.Profile:
		sp.period = int64(s.Period)
		if sp.period <= 0 {
			sp.period = 1e6
		}
	case probe.Perf:
		sp.perf = s.Perf
		if s.Perf.Type != unix.PERF_TYPE_SOFTWARE && s.Perf.Type != unix.PERF_TYPE_BREAKPOINT {
			u.refuse(pr.Pos, "%s: the processor's counters interrupt the kernel where handlers of modules cannot run", s.Point)
		}
	case probe.ProcfsRead, probe.ProcfsWrite:
		sp.event = s.Event
	case probe.Netfilter:
		var err error
		if sp.net, err = probe.ParseNetHook(s.Event); err != nil {
			u.refuse(pr.Pos, "%s: %v", s.Point, err)
		}
	case probe.ProcessSyscall, probe.ProcessSyscallReturn:
		sp.nr = s.Syscall
		if sp.nr == probe.AnySyscall {
			sp.except = u.except(pr.Sites, s.Kind)
		}
		if sp.pid != 0 {
			sp.path = ""
		}
	case probe.ProcessBegin, probe.ProcessFork, probe.ProcessEnd, probe.ThreadBegin, probe.ThreadEnd:
		if sp.pid != 0 {
			sp.path = "" // whatever it runs
		}
	}
	return sp
}

// tables are the kinds of places, each with a table, a header and functions named after it, and what else its functions take for
// a row and for the table.
var tables = []struct{ kind, on, off string }{
	{"uprobe", ", gs_inodes[gs_uprobes[i].file]", ", gs_inodes"}, {kind: "kprobe"}, {kind: "trace"}, {kind: "process"}, {kind: "syscall"}, {kind: "profile"}, {kind: "perf"}, {kind: "netfilter"},
}

// processEvents are the runtime's names (enum gs_process_event).
var processEvents = map[probe.Kind]string{probe.ProcessBegin: "GS_ON_EXEC", probe.ProcessFork: "GS_ON_FORK", probe.ProcessEnd: "GS_ON_END",
	probe.ThreadBegin: "GS_ON_THREAD_BEGIN", probe.ThreadEnd: "GS_ON_THREAD_END"}

// row writes the line of a table for a place, and says which table that is. file is the number of the place's file, exe that of its
// program, -1 for none; common is what all tables have.
func (a *at) row(file, exe int, common string) (table, row string) {
	switch a.kind {
	case probe.Uprobe, probe.Uretprobe:
		row = fmt.Sprintf(".file = %d, .offset = 0x%x, %s", file, a.offset, common)
		if a.refctr != 0 {
			row += fmt.Sprintf(", .refctr = 0x%x", a.refctr)
		}
		if a.kind == probe.Uretprobe {
			row += ", .ret = true"
		}
		if exe >= 0 {
			row += fmt.Sprintf(", .exe = %d", exe+1)
		}
		return "uprobe", row
	case probe.Perf:
		row = fmt.Sprintf(".type = %d, .config = 0x%xULL, .every = %d, .hz = %d, ", a.perf.Type, a.perf.Config, a.perf.Period, a.perf.Hz)
		if a.perf.Type == unix.PERF_TYPE_BREAKPOINT {
			row += fmt.Sprintf(".access = %d, .addr = 0x%xULL, .len = %d, ", a.perf.Access, a.perf.Addr, a.perf.Len)
		}
		return "perf", row + common
	case probe.Kprobe, probe.Kretprobe:
		row = fmt.Sprintf(".symbol = %s, .offset = %d, %s", text(a.event), a.offset, common)
		if a.kind == probe.Kretprobe {
			row += ", .ret = true"
			if a.active > 0 {
				row += fmt.Sprintf(", .maxactive = %d", a.active)
			}
		}
		if !a.exact {
			row += ", .wild = true"
		}
		return "kprobe", row
	case probe.Netfilter:
		return "netfilter", fmt.Sprintf(".family = %d, .hook = %d, .priority = %d, %s", a.net.Family, a.net.Hook, a.net.Priority, common)
	case probe.Tracepoint:
		return "trace", fmt.Sprintf(".name = %s, %s", text(a.event), common)
	case probe.ProcessBegin, probe.ProcessFork, probe.ProcessEnd, probe.ThreadBegin, probe.ThreadEnd:
		return "process", fmt.Sprintf(".file = %d, .event = %s, %s", file, processEvents[a.kind], common)
	case probe.ProcessSyscall, probe.ProcessSyscallReturn:
		row = fmt.Sprintf(".nr = %d, .ret = %v, .file = %d, %s", a.nr, a.kind == probe.ProcessSyscallReturn, file, common)
		if a.except != "" {
			row += ", .except = " + a.except
		}
		return "syscall", row
	}
	return "profile", fmt.Sprintf(".period = %d, %s", a.period, common)
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
		if a.kind == probe.ProcfsRead || a.kind == probe.ProcfsWrite {
			entries.add(a.runs[0].p.Site, h, site, n)
			continue
		}
		common := fmt.Sprintf(".handler = %s, .place = %d, .site = %d", h, site, n)
		if a.pid != 0 {
			common += fmt.Sprintf(", .pid = %d", a.pid)
		}
		table, row := a.row(files[a.path], files[a.exe], common)
		rows[table] = append(rows[table], "\t{ "+row+" }")
	}
	slices.Reverse(rows["netfilter"]) // of those with one priority, the kernel runs the one first that came last
	var on, off strings.Builder
	each := false // something is attached one by one
	for _, t := range tables {
		if len(rows[t.kind]) == 0 {
			continue
		}
		u.printf("#include \"gs_%s.h\"\n\nstatic struct gs_%s gs_%ss[] = {\n%s,\n};\n\n", t.kind, t.kind, t.kind, strings.Join(rows[t.kind], ",\n"))
		if t.kind == "kprobe" {
			on.WriteString("\tif (!err)\n\t\terr = gs_kprobes_on(gs_kprobes, ARRAY_SIZE(gs_kprobes), site);\n")
			fmt.Fprintf(&off, "\tgs_%ss_off(gs_%ss, ARRAY_SIZE(gs_%ss)%s);\n", t.kind, t.kind, t.kind, t.off)
			continue
		}
		each = true
		fmt.Fprintf(&on, "\tfor (i = 0; i < ARRAY_SIZE(gs_%ss) && !err; i++) {\n\t\t*site = gs_%ss[i].site;\n\t\terr = gs_%s_on(&gs_%ss[i]%s);\n\t}\n",
			t.kind, t.kind, t.kind, t.kind, t.on)
		fmt.Fprintf(&off, "\tgs_%ss_off(gs_%ss, ARRAY_SIZE(gs_%ss)%s);\n", t.kind, t.kind, t.kind, t.off)
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
	left := "\t(void)op;\n\treturn -ENOENT;\n"
	if len(rows["kprobe"]) > 0 {
		left = "\treturn gs_kprobes_left(gs_kprobes, ARRAY_SIZE(gs_kprobes), op);\n"
	}
	u.printf("static int gs_left(struct gs_op *op)\n{\n%s}\n\n", left)
	u.printf("static void gs_detach(void)\n{\n%s}\n\n", off.String())
	u.printf("static int gs_attach(s64 *site)\n{\n\tint err = 0;\n%s\n%s\tif (err)\n\t\tgs_detach();\n\treturn err;\n}\n", decl, on.String())
}

// runs gives the function that a place calls and the site that it is told: the handler, or one that runs several, by what those
// are in several.
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
		if s.Kind != probe.Tracepoint && s.Kind != probe.Netfilter && s.Kind != probe.ProcessSyscall && s.Kind != probe.ProcessSyscallReturn {
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
