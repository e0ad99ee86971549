package sel

import (
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
}

// maxWatched is the most processes that are kept for each path.
const maxWatched = 16384

// aside makes a program at an event of the kernel ("group:name") that belongs to no probe. write writes what it does; end is its end.
func (u *Unit) aside(name, event string, write func(g *gen, end *mach.Block)) (*ebpf.ProgramSpec, error) {
	return u.asideOf(name, event, u.records(), write)
}

// asideOf says whether the program is given the event's record.
func (u *Unit) asideOf(name, event string, record bool, write func(g *gen, end *mach.Block)) (*ebpf.ProgramSpec, error) {
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

// Watchers gives the programs that the handlers translated so far need besides.
func (u *Unit) Watchers() ([]Watcher, error) {
	var out []Watcher
	for _, path := range slices.Sorted(maps.Keys(u.watched)) {
		m := &ebpf.MapSpec{Name: u.watched[path], Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: maxWatched}
		for _, pid := range running(path) {
			m.Contents = append(m.Contents, ebpf.MapKV{Key: uint32(pid), Value: uint32(1)})
		}
		spec, err := u.aside(m.Name+"_exec", eventExec, func(g *gen, end *mach.Block) {
			g.executable(&ir.Instr{}, path, end)
			s := g.temp(16)
			g.storeS(s, 0, g.tgid(), asm.Word)
			g.storeIS(s, 8, 1, asm.Word)
			g.call(asm.FnMapUpdateElem, aMap(m.Name), aSlot(s, 0), aSlot(s, 8), aImm(updateAny))
		})
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Path: path, Map: m, Spec: spec})
	}
	if u.family {
		spec, err := u.aside(plan.ProgFamily, eventFork, (*gen).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: familyMap(), Spec: spec})
	}
	if u.family && u.records() {
		// A fork that was missed would leave out a process for as long as it lives. The program above is not run while a thread on the CPU is
		// interrupted in a system call that works on a map, this one is not while a thread is interrupted in it.
		spec, err := u.asideOf(plan.ProgFamilyRaw, eventFork, false, (*gen).keepFamily)
		if err != nil {
			return nil, err
		}
		out = append(out, Watcher{Map: familyMap(), Spec: spec})
	}
	return out, nil
}
