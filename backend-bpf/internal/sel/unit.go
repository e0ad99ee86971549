// Package sel writes the eBPF code of handlers: it walks the blocks of an ir.Func and
// writes machine instructions over virtual registers (package mach), which package
// regalloc then places.
//
// In: an ir.Program with its layout (package maps) and handlers whose calls are
// inlined (package place). Out: instructions, and what the host must know to read the
// records (wire.Schema).
package sel

import (
	"errors"
	"fmt"
	maps2 "maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/regalloc"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/backend-bpf/internal/sel/hook"
	"github.com/gostap/gostap/backend-bpf/internal/sel/output"
	"github.com/gostap/gostap/backend-bpf/internal/sel/scope"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// Unit is one program being translated. Handler adds one handler to it.
type Unit struct{ Shared }

// Shared is what the unit's handlers share, Handler is one program to be made, Features what the kernel can do beyond
// Linux 6.1, Watcher a program that stands beside the handlers.
type (
	Shared   = body.Unit
	Handler  = body.Handler
	Features = body.Features
	Types    = body.Types
	Watcher  = hook.Watcher
)

// Result is a translated handler.
type Result struct {
	Spec    *ebpf.ProgramSpec
	Cookies []uint64
	// Args are the forms of the values that a deferred handler's record carries.
	Args []wire.Arg
	// Stack is the bytes of the largest frame.
	Stack int
	// Insns is the number of instructions.
	Insns int
	// Funcs: a kprobe.multi link can serve the handler (plan.Attach).
	Funcs bool
}

// Handler translates h. A handler that does not fit the stack is translated again with less on it.
func (u *Unit) Handler(h *Handler) (*Result, error) {
	sites, text, at := len(u.Schema.Sites), len(u.Text), maps2.Clone(u.TextAt)
	var err error
	// Through the dispatcher of recursive functions the verifier finds no end in one piece; step by step it does.
	steps := len(h.Subs) > 0
	for lv := 0; lv < len(levels); {
		u.Schema.Sites, u.Text, u.TextAt = u.Schema.Sites[:sites], u.Text[:text], maps2.Clone(at)
		var res *Result
		res, err = u.handler(h, levels[lv], steps)
		switch {
		case errors.Is(err, errSteps) && !steps:
			steps = true
		case errors.Is(err, regalloc.ErrStack):
			lv++
		default:
			return res, err
		}
	}
	return nil, err
}

func (u *Unit) handler(h *Handler, lv level, steps bool) (*Result, error) {
	g := newGen(&u.Shared, h, lv, steps)
	if err := g.run(); err != nil {
		return nil, err
	}
	var out asm.Instructions
	res := &Result{Cookies: g.hook.Cookies(), Args: g.rec.Sent, Funcs: g.hook.Multi()}
	funcs := referenced(g.Funcs)
	for _, f := range funcs {
		ins, err := emit.Finish(f, u.note)
		if err != nil {
			return nil, err
		}
		if len(funcs) > 1 {
			ins[0] = describe(ins[0], f)
		}
		out = append(out, ins...)
		res.Stack = max(res.Stack, f.Stack)
	}
	if err := chained(funcs); err != nil {
		return nil, err
	}
	typ, attach, to := g.hook.ProgType()
	res.Insns = int(out.Size() / asm.InstructionSize)
	res.Spec = &ebpf.ProgramSpec{Name: h.Name, Type: typ, AttachType: attach, AttachTo: to, Instructions: out,
		License: "GPL"}
	if g.Sleeps {
		res.Spec.Flags = kern.FlagSleepable
	}
	u.Scratch = max(u.Scratch, g.scratchSize())
	return res, nil
}

// chained sees to it that functions that call each other have room on one stack, on each way down from the first one
// (check_max_stack_depth of kernel/bpf/verifier.c, to which a callback is called where its address is taken). A single
// one has, or would not be there.
func chained(funcs []*mach.Func) error {
	const most, unit = 512, 32
	below := map[*mach.Func]int{}
	var deepest func(f *mach.Func) int
	deepest = func(f *mach.Func) int {
		if d, ok := below[f]; ok {
			return d
		}
		own, sum := (max(f.Stack, 1)+unit-1)&^(unit-1), 0
		below[f] = own // where functions call each other in a circle, which the kernel refuses
		for _, c := range callees(funcs, f) {
			sum = max(sum, deepest(c))
		}
		below[f] = own + sum
		return own + sum
	}
	if sum := deepest(funcs[0]); len(funcs) > 1 && sum > most {
		return fmt.Errorf("%w: %d with what it calls", regalloc.ErrStack, sum)
	}
	return nil
}

// callees are those of all that f calls, or whose address it takes.
func callees(all []*mach.Func, f *mach.Func) (out []*mach.Func) {
	for _, b := range f.Blocks {
		for k := range b.Ins {
			in := &b.Ins[k]
			if in.Op != mach.FuncPtr && in.Op != mach.CallFn {
				continue
			}
			i := slices.IndexFunc(all, func(c *mach.Func) bool { return c.Name == in.Sym })
			if i >= 0 && !slices.Contains(out, all[i]) {
				out = append(out, all[i])
			}
		}
	}
	return out
}

// referenced lists the first function and those that are called, or whose address is taken, by code that can run; the
// kernel wants no others.
func referenced(all []*mach.Func) []*mach.Func {
	out := all[:1:1]
	for i := 0; i < len(out); i++ {
		out[i].Link()
		for _, c := range callees(all, out[i]) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Maps gives the maps that the handlers translated so far need besides those of the layout.
func (u *Unit) Maps(ringBytes int) map[string]*ebpf.MapSpec {
	m := map[string]*ebpf.MapSpec{
		plan.MapOutput: {Name: plan.MapOutput, Type: ebpf.RingBuf, MaxEntries: uint32(ringBytes)},
		plan.MapControl: {Name: plan.MapControl, Type: ebpf.Array, KeySize: 4, ValueSize: plan.CtlSize, MaxEntries: 1,
			Flags: kern.FlagMmapable},
		plan.MapCounters: {Name: plan.MapCounters, Type: ebpf.Array, KeySize: 4, ValueSize: 8,
			MaxEntries: uint32(u.CPUs * plan.CounterRow), Flags: kern.FlagMmapable},
	}
	if u.Scratch > 0 {
		m[plan.MapScratch] = &ebpf.MapSpec{Name: plan.MapScratch, Type: ebpf.Array, KeySize: 4,
			ValueSize: uint32(u.Scratch), MaxEntries: uint32(u.CPUs * slotsPerCPU)}
	}
	if u.Family {
		m[plan.MapFamily] = hook.FamilyMap()
	}
	if u.Scope != nil {
		m[plan.MapScope] = scope.Map()
	}
	if u.Kept {
		maps2.Copy(m, output.StackMaps(u.P.Limits.MaxBacktrace))
	}
	if u.Walks {
		maps2.Copy(m, output.WalkMaps())
	}
	if u.Timed {
		m[plan.MapSpent] = spentMap(&u.Shared)
	}
	if u.Ended {
		m[plan.MapEnded] = hook.EndedMap()
	}
	if u.Zeros > 0 {
		m[plan.MapZero] = &ebpf.MapSpec{Name: plan.MapZero, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(u.Zeros),
			MaxEntries: 1, Flags: kern.FlagReadOnlyProg,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: make([]byte, u.Zeros)}}}
	}
	if len(u.Text) > 0 {
		// Strings are read a word at a time, so the last one has some zeros behind it.
		u.Text = append(u.Text, make([]byte, 16+u.Slack)...)
		m[plan.MapText] = &ebpf.MapSpec{Name: plan.MapText, Type: ebpf.Array, KeySize: 4,
			ValueSize: uint32(len(u.Text)), MaxEntries: 1, Flags: kern.FlagReadOnlyProg,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: u.Text}}}
	}
	return m
}

// note gives the script's line for a listing.
func (u *Unit) note(p source.Pos) fmt.Stringer {
	n := plan.Source{Pos: p}
	if u.P.Files == nil {
		return n
	}
	if at := u.P.Files.Position(p); at.File != nil {
		n.Text = fmt.Sprintf("%s:%d: %s", at.File.Name, at.Line, strings.TrimSpace(at.File.Line(at.Line)))
	}
	if n.Text == u.LastNote {
		n.Text = "" // listings show a line once for all that is made of it in a row
	} else {
		u.LastNote = n.Text
	}
	return n
}

// Changes gives the program that walks along stacks rely on: it counts when processes map something in place of code.
func (u *Unit) Changes() (*ebpf.ProgramSpec, error) { return output.ChangedProgram(&u.Shared) }

// Watchers gives the programs that the handlers translated so far need besides, in the reverse of the order in which
// they are attached.
func (u *Unit) Watchers() ([]hook.Watcher, error) { return hook.Watchers(&u.Shared) }

// Dispatcher makes a program that goes to the one in table at the number of the system call.
func (u *Unit) Dispatcher(name, table string, kind probe.Kind) (*ebpf.ProgramSpec, *ebpf.MapSpec, error) {
	return hook.Dispatcher(&u.Shared, name, table, kind)
}

// ExitKeepsMemory reports whether sched_process_exit comes before a process's memory is gone.
func (u *Unit) ExitKeepsMemory() bool { return hook.ExitKeepsMemory(&u.Shared) }
