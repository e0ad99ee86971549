package hook

import (
	"fmt"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Watcher is a program that belongs to no probe: it keeps processes in a map, those that run Path, or the target's
// family where that is "".
type Watcher struct {
	Path string
	Spec *ebpf.ProgramSpec
	Map  *ebpf.MapSpec
	// Enters: what ran before is entered into the map when this one is attached, which of those for a path comes last.
	Enters bool
}

// maxWatched is the most processes that are kept for each path; beyond, the ones that were not looked for lately drop
// out.
const maxWatched = 16384

// maxEnded is how many processes MapEnded holds; threads of a process that end at the same time come one after the
// other. endedKey is the size of its keys.
const (
	maxEnded = 4096
	endedKey = 24
)

// EndedMap is the map of the processes whose end a handler has seen.
func EndedMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapEnded, Type: ebpf.LRUHash, KeySize: endedKey, ValueSize: 8, MaxEntries: maxEnded}
}

// watch gives the map of the processes that run path.
func watch(u *body.Unit, path string) string {
	if u.Watching == nil {
		u.Watching = map[string]string{}
	}
	if u.Watching[path] == "" {
		u.Watching[path] = fmt.Sprintf("gostap_procs%d", len(u.Watching))
	}
	return u.Watching[path]
}

// watched goes on only if the current process is known to run the file at path.
func (g *Hook) watched(path string, out *mach.Block) {
	m, in := watch(g.U, path), g.Block()
	key := g.Temp(8)
	g.StoreS(key, 0, g.task.KernelTgid(), asm.Word)
	g.UnlessI(asm.JNE, g.Call(asm.FnMapLookupElem, emit.Map(m), emit.OnStack(key, 0)), 0, in)
	if !g.U.OtherPidNS {
		g.Jump(out)
		g.Set(in)
		return
	}
	g.inside(key)
	g.UnlessI(asm.JEq, g.Call(asm.FnMapLookupElem, emit.Map(m), emit.OnStack(key, 0)), 0, out)
	g.Here(in)
}

// inside writes the key of the current process as one that ran before.
func (g *Hook) inside(key mach.Slot) {
	id := g.task.Tgid()
	g.AluI(asm.Or, id, plan.WatchedInside)
	g.StoreS(key, 0, id, asm.Word)
}

// watchExec writes the program that notes at an exec that a process runs path, or runs it no longer.
func (g *Hook) watchExec(path string, end *mach.Block) {
	m, other := watch(g.U, path), g.Block()
	key := g.Temp(16)
	if g.U.OtherPidNS {
		g.inside(key)
		g.Call(asm.FnMapDeleteElem, emit.Map(m), emit.OnStack(key, 0))
	}
	g.StoreS(key, 0, g.task.KernelTgid(), asm.Word)
	g.StoreIS(key, 8, 1, asm.Word)
	g.Executable(&ir.Instr{}, path, other)
	g.Call(asm.FnMapUpdateElem, emit.Map(m), emit.OnStack(key, 0), emit.OnStack(key, 8), emit.Const(emit.UpdateAny))
	g.Jump(end)
	g.Set(other)
	g.Call(asm.FnMapDeleteElem, emit.Map(m), emit.OnStack(key, 0))
}

// watchFork writes the program that notes at a fork that what is made runs what its maker runs.
func (g *Hook) watchFork(path string, end *mach.Block) {
	// sched_process_fork(struct task_struct *parent, struct task_struct *child), run by the parent.
	tgid, ok := g.task.Offset(&ir.Instr{}, "task_struct", "tgid")
	if !ok {
		return
	}
	child, other := g.task.KernelWord(g.Get(g.Copy(mach.R1), 8, asm.DWord), tgid, 4), g.Block()
	g.Unless(asm.JEq, g.task.KernelTgid(), child, end) // a thread
	g.watched(path, other)
	key := g.Temp(16)
	g.StoreS(key, 0, child, asm.Word)
	g.StoreIS(key, 8, 1, asm.Word)
	g.Call(asm.FnMapUpdateElem, emit.Map(watch(g.U, path)), emit.OnStack(key, 0), emit.OnStack(key, 8),
		emit.Const(emit.UpdateAny))
	g.Jump(end)
	g.Set(other)
	g.StoreS(key, 0, child, asm.Word)
	g.Call(asm.FnMapDeleteElem, emit.Map(watch(g.U, path)), emit.OnStack(key, 0))
}

// aside makes a program at an event of the kernel ("group:name") that belongs to no probe. write writes what it does;
// end is its end.
func aside(u *body.Unit, name, event string, write func(g *Hook, end *mach.Block)) (*ebpf.ProgramSpec, error) {
	return asideOf(u, name, event, records(u), write)
}

// asideOf says whether the program is given the event's record.
func asideOf(u *body.Unit, name, event string, record bool, write func(g *Hook, end *mach.Block)) (*ebpf.ProgramSpec,
	error) {
	f := mach.New(name)
	f.Params = 1
	b := &body.Body{U: u, Record: record}
	b.Code = emit.Code{F: f, Lock: -1}
	t := task.New(b)
	g := New(b, t, text.New(b))
	g.Set(g.Block())
	end := g.Block()
	write(g, end)
	g.Here(end)
	g.Ret(0)
	if g.Err != nil {
		return nil, g.Err
	}
	ins, err := emit.Finish(f, nil)
	if err != nil {
		return nil, err
	}
	typ, attach, to := atEvent(event, record)
	return &ebpf.ProgramSpec{Name: name, Type: typ, AttachType: attach, AttachTo: to, Instructions: ins,
		License: "GPL"}, nil
}

// Watchers gives the programs that the handlers translated so far need besides, in the reverse of the order in which
// they are attached.
func Watchers(u *body.Unit) ([]Watcher, error) {
	var out []Watcher
	for _, path := range slices.Sorted(maps.Keys(u.Watching)) {
		m := &ebpf.MapSpec{Name: u.Watching[path], Type: ebpf.LRUHash, KeySize: 4, ValueSize: 4, MaxEntries: maxWatched}
		for _, w := range []struct {
			name, event string
			write       func(g *Hook, path string, end *mach.Block)
		}{{"_fork", eventFork, (*Hook).watchFork}, {"_exec", eventExec, (*Hook).watchExec}} {
			// Only kernels before 6.16 need these programs, and there the arguments of tracepoints are given.
			spec, err := asideOf(u, m.Name+w.name, w.event, false,
				func(g *Hook, end *mach.Block) { w.write(g, path, end) })
			if err != nil {
				return nil, err
			}
			out = append(out, Watcher{Path: path, Map: m, Spec: spec, Enters: w.event == eventFork})
		}
	}
	if u.Family {
		spec, err := aside(u, plan.ProgFamily, eventFork, (*Hook).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: FamilyMap(), Spec: spec})
	}
	if u.Family && records(u) {
		// A fork that was missed would leave out a process for as long as it lives. The program above is not run while
		// a thread on the CPU is interrupted in a system call that works on a map, this one is not while a thread is
		// interrupted in it.
		spec, err := asideOf(u, plan.ProgFamilyRaw, eventFork, false, (*Hook).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: FamilyMap(), Spec: spec})
	}
	return out, nil
}
