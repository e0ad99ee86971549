package sel

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// Watcher is a program that belongs to no probe: it keeps processes in a map, those that run Path, or the target's family
// where that is "".
type Watcher struct {
	Path string
	Spec *ebpf.ProgramSpec
	Map  *ebpf.MapSpec
	// Enters: what ran before is entered into the map when this one is attached, which of those for a path comes last.
	Enters bool
}

// maxWatched is the most processes that are kept for each path; beyond, the ones that were not looked for lately drop out.
const maxWatched = 16384

// maxEnded is how many processes MapEnded holds; threads of a process that end at the same time come one after the other.
// endedKey is the size of its keys.
const (
	maxEnded = 4096
	endedKey = 24
)

func endedMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapEnded, Type: ebpf.LRUHash, KeySize: endedKey, ValueSize: 8, MaxEntries: maxEnded}
}

// watch gives the map of the processes that run path.
func watch(u *Unit, path string) string {
	if u.watching == nil {
		u.watching = map[string]string{}
	}
	if u.watching[path] == "" {
		u.watching[path] = fmt.Sprintf("gostap_procs%d", len(u.watching))
	}
	return u.watching[path]
}

// watched goes on only if the current process is known to run the file at path.
func (g *gen) watched(path string, out *mach.Block) {
	m, in := watch(g.u, path), g.block()
	key := g.temp(8)
	g.storeS(key, 0, g.kernelTgid(), asm.Word)
	g.unlessI(asm.JNE, g.call(asm.FnMapLookupElem, aMap(m), aSlot(key, 0)), 0, in)
	if !g.u.OtherPidNS {
		g.jump(out)
		g.set(in)
		return
	}
	g.inside(key)
	g.unlessI(asm.JEq, g.call(asm.FnMapLookupElem, aMap(m), aSlot(key, 0)), 0, out)
	g.here(in)
}

// inside writes the key of the current process as one that ran before.
func (g *gen) inside(key mach.Slot) {
	id := g.tgid()
	g.aluI(asm.Or, id, plan.WatchedInside)
	g.storeS(key, 0, id, asm.Word)
}

// watchExec writes the program that notes at an exec that a process runs path, or runs it no longer.
func (g *gen) watchExec(path string, end *mach.Block) {
	m, other := watch(g.u, path), g.block()
	key := g.temp(16)
	if g.u.OtherPidNS {
		g.inside(key)
		g.call(asm.FnMapDeleteElem, aMap(m), aSlot(key, 0))
	}
	g.storeS(key, 0, g.kernelTgid(), asm.Word)
	g.storeIS(key, 8, 1, asm.Word)
	g.executable(&ir.Instr{}, path, other)
	g.call(asm.FnMapUpdateElem, aMap(m), aSlot(key, 0), aSlot(key, 8), aImm(updateAny))
	g.jump(end)
	g.set(other)
	g.call(asm.FnMapDeleteElem, aMap(m), aSlot(key, 0))
}

// watchFork writes the program that notes at a fork that what is made runs what its maker runs.
func (g *gen) watchFork(path string, end *mach.Block) {
	// sched_process_fork(struct task_struct *parent, struct task_struct *child), run by the parent.
	tgid, ok := g.offset(&ir.Instr{}, "task_struct", "tgid")
	if !ok {
		return
	}
	child, other := g.kernelWord(g.get(g.copy(mach.R1), 8, asm.DWord), tgid, 4), g.block()
	g.unless(asm.JEq, g.kernelTgid(), child, end) // a thread
	g.watched(path, other)
	key := g.temp(16)
	g.storeS(key, 0, child, asm.Word)
	g.storeIS(key, 8, 1, asm.Word)
	g.call(asm.FnMapUpdateElem, aMap(watch(g.u, path)), aSlot(key, 0), aSlot(key, 8), aImm(updateAny))
	g.jump(end)
	g.set(other)
	g.storeS(key, 0, child, asm.Word)
	g.call(asm.FnMapDeleteElem, aMap(watch(g.u, path)), aSlot(key, 0))
}

// aside makes a program at an event of the kernel ("group:name") that belongs to no probe. write writes what it does; end is its end.
func aside(u *Unit, name, event string, write func(g *gen, end *mach.Block)) (*ebpf.ProgramSpec, error) {
	return asideOf(u, name, event, records(u), write)
}

// asideOf says whether the program is given the event's record.
func asideOf(u *Unit, name, event string, record bool, write func(g *gen, end *mach.Block)) (*ebpf.ProgramSpec, error) {
	f := mach.New(name)
	f.Params = 1
	g := &gen{u: u}
	g.code = code{f: f, lock: -1}
	g.record = record
	g.set(g.block())
	end := g.block()
	write(g, end)
	g.here(end)
	g.ret(0)
	if g.err != nil {
		return nil, g.err
	}
	ins, err := finish(f, nil)
	if err != nil {
		return nil, err
	}
	typ, attach, to := atEvent(event, record)
	return &ebpf.ProgramSpec{Name: name, Type: typ, AttachType: attach, AttachTo: to, Instructions: ins, License: "GPL"}, nil
}

// watchers gives the programs that the handlers translated so far need besides, in the reverse of the order in which they are attached.
func watchers(u *Unit) ([]Watcher, error) {
	var out []Watcher
	for _, path := range slices.Sorted(maps.Keys(u.watching)) {
		m := &ebpf.MapSpec{Name: u.watching[path], Type: ebpf.LRUHash, KeySize: 4, ValueSize: 4, MaxEntries: maxWatched}
		for _, w := range []struct {
			name, event string
			write       func(g *gen, path string, end *mach.Block)
		}{{"_fork", eventFork, (*gen).watchFork}, {"_exec", eventExec, (*gen).watchExec}} {
			// Only kernels before 6.16 need these programs, and there the arguments of tracepoints are given.
			spec, err := asideOf(u, m.Name+w.name, w.event, false, func(g *gen, end *mach.Block) { w.write(g, path, end) })
			if err != nil {
				return nil, err
			}
			out = append(out, Watcher{Path: path, Map: m, Spec: spec, Enters: w.event == eventFork})
		}
	}
	if u.family {
		spec, err := aside(u, plan.ProgFamily, eventFork, (*gen).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: familyMap(), Spec: spec})
	}
	if u.family && records(u) {
		// A fork that was missed would leave out a process for as long as it lives. The program above is not run while a thread on the CPU is
		// interrupted in a system call that works on a map, this one is not while a thread is interrupted in it.
		spec, err := asideOf(u, plan.ProgFamilyRaw, eventFork, false, (*gen).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: familyMap(), Spec: spec})
	}
	return out, nil
}
