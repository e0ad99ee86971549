package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/probe"
)

// members are what tells which file is mapped where, by structure and member: of mm_struct the program's own code and
// its file, the others are what the callback of bpf_find_vma reads.
type members struct{ code, codeEnd, exe, start, end, pgoff, file, inode, ino, sb, size, time, dev int }

// find looks them up; ok is false where this kernel has other ones.
func (m *members) find(g *Output) (ok bool) {
	if g.U.Types == nil {
		return false
	}
	for _, x := range []struct {
		to    *int
		of    string
		names []string
	}{
		{&m.code, "mm_struct", []string{"start_code"}}, {&m.codeEnd, "mm_struct", []string{"end_code"}},
		{&m.exe, "mm_struct", []string{"exe_file"}},
		{&m.start, "vm_area_struct", []string{"vm_start"}}, {&m.end, "vm_area_struct", []string{"vm_end"}},
		{&m.pgoff, "vm_area_struct", []string{"vm_pgoff"}}, {&m.file, "vm_area_struct", []string{"vm_file"}},
		{&m.inode, "file", []string{"f_inode"}}, {&m.ino, "inode", []string{"i_ino"}},
		{&m.sb, "inode", []string{"i_sb"}}, {&m.size, "inode", []string{"i_size"}},
		// from 6.11 on, from 6.6 on, and before
		{&m.time, "inode", []string{"i_mtime_sec", "__i_mtime.tv_sec", "i_mtime.tv_sec"}},
		{&m.dev, "super_block", []string{"s_dev"}},
	} {
		ok = false
		for _, name := range x.names {
			if off, _, err := g.U.Types.Offset(x.of, name); err == nil {
				*x.to, ok = off, true
				break
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// mapped gives the name of the callback of bpf_find_vma that enters the code around an address into the words of a
// walk, if its file is known: long (struct task_struct *, struct vm_area_struct *, struct { words } *). It is "" where
// the handler runs while interrupts are off, so that the kernel answers at most once.
func (g *Output) mapped() string {
	var m members
	if g.H.Sites[0].Kind.Code() != probe.UserCode || !m.find(g) {
		return ""
	}
	name := g.H.Name + "_mapped"
	f := mach.New(name)
	f.Params, f.Callback = 3, true
	c := emit.Code{F: f, Lock: -1}
	c.Set(c.Block())
	vma, fr := c.Copy(mach.R2), c.Copy(mach.R3)
	base := c.Get(fr, 0, asm.DWord)
	out := c.Block()
	pointer := func(from mach.Reg, off int) mach.Reg {
		p := c.Get(from, off, asm.DWord)
		c.UnlessI(asm.JEq, p, 0, out)
		return p
	}
	inode := pointer(pointer(vma, m.file), m.inode)
	sb := pointer(inode, m.sb)
	key := f.NewSlot(plan.FileKey)
	c.StoreS(key, plan.FileIno, c.Get(inode, m.ino, asm.DWord), asm.DWord)
	c.StoreS(key, plan.FileDev, c.Get(sb, m.dev, asm.Word), asm.DWord)
	c.StoreS(key, plan.FileLength, c.Get(inode, m.size, asm.DWord), asm.DWord)
	c.StoreS(key, plan.FileTime, c.Get(inode, m.time, asm.DWord), asm.DWord)
	start, end, off := c.Get(vma, m.start, asm.DWord), c.Get(vma, m.end, asm.DWord), c.Get(vma, m.pgoff, asm.DWord)
	c.AluI(asm.LSh, off, pageShift)
	file := c.Call(asm.FnMapLookupElem, emit.Map(plan.MapFiles), emit.OnStack(key, 0))
	c.UnlessI(asm.JEq, file, 0, out)
	c.Unless(asm.JLT, off, c.Get(file, plan.FileBegin, asm.DWord), out)
	c.Unless(asm.JGE, off, c.Get(file, plan.FileEnd, asm.DWord), out)
	c.Store(base, walkLow, start, asm.DWord)
	c.Store(base, walkHigh, end, asm.DWord)
	c.Alu(asm.Sub, start, off)
	c.Alu(asm.Sub, start, c.Get(file, plan.FileAddition, asm.DWord))
	c.Store(base, walkBias, start, asm.DWord)
	c.Store(base, walkRows, c.Get(file, plan.FileRows, asm.DWord), asm.DWord) // with walkMany
	c.Here(out)
	c.Ret(0)
	g.Funcs = append(g.Funcs, f)
	return name
}

// program enters the code of the program that the process was started with, if x is in it: where that lies is known
// without a lock, and before anything was told of the process (mm_struct's start_code, end_code and exe_file). The
// stack is cut where it is not.
func (w *walker) program(g *Output, x mach.Reg) {
	var m members
	if !m.find(g) {
		w.Jump(w.cut)
		return
	}
	space := w.Get(w.base, walkSpace, asm.DWord)
	low, high := w.kernelWord(space, m.code, w.cut), w.kernelWord(space, m.codeEnd, w.cut)
	w.Unless(asm.JLT, x, low, w.cut)
	w.Unless(asm.JGE, x, high, w.cut)
	inode := w.kernelWord(w.kernelWord(space, m.exe, w.cut), m.inode, w.cut)
	file := w.fileRows(&m, inode, w.cut)
	begin := w.Get(file, plan.FileBegin, asm.DWord)
	w.Unless(asm.JGT, w.Bin(asm.Sub, high, low), w.Bin(asm.Sub, w.Get(file, plan.FileEnd, asm.DWord), begin), w.cut)
	w.Store(w.base, walkLow, low, asm.DWord)
	w.Store(w.base, walkHigh, high, asm.DWord)
	// The segment is mapped from the begin of a page on, in the file as in memory.
	bias := w.Copy(low)
	w.AluI(asm.And, bias, -pageSize)
	w.Alu(asm.Sub, bias, begin)
	w.Alu(asm.Sub, bias, w.Get(file, plan.FileAddition, asm.DWord))
	w.Store(w.base, walkBias, bias, asm.DWord)
	w.Store(w.base, walkRows, w.Get(file, plan.FileRows, asm.DWord), asm.DWord) // with walkMany
}

// Pages are those of x86-64.
const (
	pageShift = 12
	pageSize  = 1 << pageShift
)
