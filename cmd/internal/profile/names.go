package profile

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/host/symbols"
)

// namer names the addresses of stacks, each stack once.
type namer struct {
	table  symbols.Table
	pid    uint32
	stacks map[string][]export.Frame
	polled time.Time
	notes  []string // of the profile
	key    []byte   // for one call
	// programs is how many programs other processes than pid have run before, if any.
	programs map[int64]int64
}

// poll takes in what the kernel tells of new mappings, now and then.
func (n *namer) poll() {
	if now := time.Now(); n.table.Events != nil && now.Sub(n.polled) > 10*time.Millisecond {
		n.polled = now
		n.table.Poll()
	}
}

// cut is the frame at the bottom of a stack of which no more is known.
var cut = export.Frame{Func: "..."}

// user names a stack of the program, as ubacktrace() gave it.
func (n *namer) user(v gostap.Value) []export.Frame {
	if f, ok := n.stacks[v.Text]; ok {
		return f
	}
	return n.keep(v.Text, v.Stack, strings.HasSuffix(strings.TrimSpace(v.Text), "..."))
}

// of names a stack of a process, which may be another one than pid.
func (n *namer) of(pid int64, v gostap.Value) []export.Frame {
	ran := n.programs[pid]
	if pid == int64(n.pid) && ran == 0 {
		return n.user(v)
	}
	n.key = append(n.key[:0], 'p')
	n.key = binary.LittleEndian.AppendUint64(n.key, uint64(pid))
	n.key = binary.LittleEndian.AppendUint64(n.key, uint64(ran))
	n.key = append(n.key, v.Text...)
	if f, ok := n.stacks[string(n.key)]; ok {
		return f
	}
	defer func(was uint32) { n.pid = was }(n.pid)
	n.pid = uint32(pid)
	return n.keep(string(n.key), v.Stack, strings.HasSuffix(strings.TrimSpace(v.Text), "..."))
}

// exec says that a process runs another program from now on.
func (n *namer) exec(pid int64) {
	if n.programs == nil {
		n.programs = map[int64]int64{}
	}
	n.programs[pid]++
}

// addresses names a stack that was read of the program's memory.
func (n *namer) addresses(stack []uint64, more bool) []export.Frame {
	n.key = append(n.key[:0], 'a')
	for _, addr := range stack {
		n.key = binary.LittleEndian.AppendUint64(n.key, addr)
	}
	if more {
		n.key = append(n.key, '.')
	}
	if f, ok := n.stacks[string(n.key)]; ok {
		return f
	}
	return n.keep(string(n.key), stack, more)
}

// keep names a stack that is known by key from then on.
func (n *namer) keep(key string, stack []uint64, more bool) (out []export.Frame) {
	for i, addr := range stack {
		out = append(out, n.at(addr, i > 0)...)
	}
	if more {
		out = append(out, cut)
	}
	if len(n.stacks) < 1<<16 {
		n.stacks[key] = out
	}
	return out
}

// at names one address; caller: it may be that where a call returns to.
func (n *namer) at(addr uint64, caller bool) (out []export.Frame) {
	var f symbols.Frame
	if caller {
		f = n.table.At(n.pid, addr)
	} else {
		f = n.table.Name(n.pid, addr, false)
	}
	module := ""
	if f.Module != "" {
		module = filepath.Base(f.Module)
	}
	for k, fr := range f.Frames {
		out = append(out, export.Frame{Func: fr.Func, File: fr.File, Line: fr.Line, Module: module, Addr: addr,
			Inlined: k < len(f.Frames)-1})
	}
	if len(out) == 0 {
		out = []export.Frame{{Module: module, Addr: addr}}
	}
	return out
}

// kernel names a stack of the kernel. The frames' names end in "_[k]", as they do in flamegraph.pl's.
func (n *namer) kernel(v gostap.Value) []export.Frame {
	key := "k" + v.Text
	if f, ok := n.stacks[key]; ok {
		return f
	}
	var out []export.Frame
	for i, addr := range v.Stack {
		k := n.table.KernelName(addr, i > 0)
		f := export.Frame{Func: k.Func, Module: k.Module, Addr: addr}
		if f.Func != "" {
			f.Func += "_[k]"
		}
		out = append(out, f)
	}
	if len(n.stacks) < 1<<16 {
		n.stacks[key] = out
	}
	return out
}

// syscall is the name of the system call that a stack of the kernel is in, "page fault" for one of these, else "".
func syscallOf(stack []export.Frame) string {
	for i := len(stack) - 1; i >= 0; i-- {
		name := strings.TrimSuffix(stack[i].Func, "_[k]")
		for _, prefix := range []string{"__x64_sys_", "__ia32_sys_", "__do_sys_", "__se_sys_"} {
			if s, ok := strings.CutPrefix(name, prefix); ok {
				return s
			}
		}
		if name == "exc_page_fault" || name == "asm_exc_page_fault" {
			return pageFault
		}
	}
	return tailCalled(stack)
}

// tailCalled is the name of a system call that is no longer on the stack, since it has jumped to the function that does
// the work: ksys_read, do_sendfile.
func tailCalled(stack []export.Frame) string {
	at := slices.IndexFunc(stack, func(f export.Frame) bool {
		return f.Func == "do_syscall_64_[k]" || f.Func == "x64_sys_call_[k]"
	}) - 1
	if at < 0 {
		return ""
	}
	name := strings.TrimSuffix(stack[at].Func, "_[k]")
	for _, prefix := range []string{"ksys_", "__do_", "do_", "__"} {
		if s, ok := strings.CutPrefix(name, prefix); ok {
			return s
		}
	}
	return name
}
