package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
)

// What a process has mapped is a B-tree of the kernel's (Linux 6.1, Documentation/core-api/maple_tree.rst). It is
// changed by whoever holds a lock, which bpf_find_vma does not wait for; but nodes are replaced rather than changed,
// and outlive who reads them (RCU), so that it can be read without the lock. That is done here word by word, and
// believed only if the mapping that is found has the address in it and is the same when it is read again.

// The words of a pointer to a node (include/linux/maple_tree.h and lib/maple_tree.c, 6.1 to 7.3): the node begins
// at 256 bytes, its kind lies in four bits from the third on, the root's ends in 2 where it is a node. A node has its
// parent, pivots (the last address of each slot, 0 behind the last one that is used), and the slots.
const (
	mapleRoot, mapleRootMask = 2, 3
	mapleKindShift           = 3
	mapleKindMask            = 15
	mapleNode                = 256
	maplePivots              = 15 // of most nodes
	mapleFewPivots           = 9  // of those that know of gaps
	// mapleRead is how much of a node is read at first: the parent and the pivots.
	mapleRead = 8 * (1 + maplePivots)
)

// What is read of a mapping, and the key of its file, in place of the pivots: the stack has no room for them.
const (
	mapAddr = walkPivots + 8*iota
	mapStart
	mapEnd
	mapPage
	mapFile
	mapSpace
	mapKey
)

// maple is where the tree and its kinds of nodes are in this kernel.
type maple struct {
	root, vmSpace int
	leaf, gaps    int64
}

func (m *maple) find(g *Output) bool {
	var err, err2 error
	if m.root, _, err = g.U.Types.Offset("mm_struct", "mm_mt.ma_root"); err != nil {
		return false
	}
	m.vmSpace, _, err = g.U.Types.Offset("vm_area_struct", "vm_mm")
	for _, of := range []struct {
		node   string
		pivots int
	}{{"maple_range_64", maplePivots}, {"maple_arange_64", mapleFewPivots}} {
		var at int
		if at, _, err2 = g.U.Types.Offset(of.node, "slot"); err2 != nil || at != 8*(1+of.pivots) {
			return false
		}
	}
	var ok, ok2 bool
	m.leaf, ok = g.U.Types.Enumerator("maple_type", "maple_leaf_64")
	m.gaps, ok2 = g.U.Types.Enumerator("maple_type", "maple_arange_64")
	return err == nil && ok && ok2
}

// kernelWord gives a word of the kernel's memory at p + off, and goes to fail where it cannot be read.
func (w *walker) kernelWord(p mach.Reg, off int, fail *mach.Block) mach.Reg {
	at := w.BinI(asm.Add, p, int64(off))
	r := w.Call(asm.FnProbeReadKernel, emit.OnStack(w.word, 0), emit.Const(8), emit.InReg(at))
	w.UnlessI(asm.JNE, r, 0, fail)
	return w.GetS(w.word, 0, asm.DWord)
}

// fileRows looks the file of an inode up; it goes to fail where its rows are not known.
func (w *walker) fileRows(m *members, inode mach.Reg, fail *mach.Block) (file mach.Reg) {
	put := func(at int, v mach.Reg) { w.Store(w.base, mapKey+at, v, asm.DWord) }
	put(plan.FileIno, w.kernelWord(inode, m.ino, fail))
	put(plan.FileLength, w.kernelWord(inode, m.size, fail))
	put(plan.FileTime, w.kernelWord(inode, m.time, fail))
	dev := w.kernelWord(w.kernelWord(inode, m.sb, fail), m.dev, fail)
	w.AluI(asm.LSh, dev, 32) // of 32 bits
	w.AluI(asm.RSh, dev, 32)
	put(plan.FileDev, dev)
	file = w.Call(asm.FnMapLookupElem, emit.Map(plan.MapFiles), emit.InReg(w.BinI(asm.Add, w.base, mapKey)))
	w.UnlessI(asm.JEq, file, 0, fail)
	return file
}

// peek goes on from walkNode, or the root, to the node below it that x is in, and takes another turn, in which the
// kernel is asked again first; at a leaf it enters the code around x into the walk's words and goes to found. It goes
// to fail where the tree is none, or x is in no code that is known.
func (w *walker) peek(g *Output, x mach.Reg, again func(), found, fail *mach.Block) {
	var m members
	var t maple
	if !m.find(g) || !t.find(g) {
		w.Jump(fail)
		return
	}
	node := w.Get(w.base, walkNode, asm.DWord)
	w.StoreI(w.base, walkNode, 0, asm.DWord) // from the root on, if this fails
	below := w.Block()
	w.UnlessI(asm.JNE, node, 0, below)
	w.Mov(node, w.kernelWord(w.Get(w.base, walkSpace, asm.DWord), t.root, fail))
	w.UnlessI(asm.JNE, w.BinI(asm.And, node, mapleRootMask), mapleRoot, fail)
	w.Here(below)
	kind := w.BinI(asm.And, w.BinI(asm.RSh, node, mapleKindShift), mapleKindMask)
	w.AluI(asm.And, node, -mapleNode)
	r := w.Call(asm.FnProbeReadKernel, emit.InReg(w.BinI(asm.Add, w.base, walkPivots)), emit.Const(mapleRead),
		emit.InReg(node))
	w.UnlessI(asm.JNE, r, 0, fail)

	// The slot is that of the first pivot that is not below x. They are counted without a branch, over which the
	// verifier would walk all that follows again: pivots are the last bytes of pages, and behind few of them lie slots,
	// which are addresses of the kernel or 0.
	i, used, page := w.Imm(0), w.Imm(1), w.BinI(asm.RSh, x, pageShift)
	for k := range maplePivots {
		p := w.Get(w.base, walkPivots+8*(1+k), asm.DWord)
		some := w.Copy(p)
		w.Neg(some)
		w.Alu(asm.Or, some, p)
		w.AluI(asm.RSh, some, 63)
		w.Alu(asm.And, used, some)
		w.AluI(asm.RSh, p, pageShift)
		w.Alu(asm.Sub, p, page)
		w.AluI(asm.RSh, p, 63)
		w.Alu(asm.And, p, used)
		w.Alu(asm.Add, i, p)
	}
	at := w.Block()
	w.AluI(asm.Add, i, 1+mapleFewPivots)
	w.UnlessI(asm.JEq, kind, t.gaps, at)
	w.AluI(asm.Add, i, maplePivots-mapleFewPivots)
	w.Here(at)
	w.AluI(asm.LSh, i, 3)
	next := w.kernelWord(w.Bin(asm.Add, node, i), 0, fail)
	leaf := w.Block()
	w.UnlessI(asm.JEq, kind, t.leaf, leaf)
	w.Store(w.base, walkNode, next, asm.DWord)
	again()

	w.Set(leaf)
	w.Store(w.base, mapAddr, next, asm.DWord)
	was := func(at int) mach.Reg { return w.Get(w.base, at, asm.DWord) }
	held := []struct{ at, off int }{{mapStart, m.start}, {mapEnd, m.end}, {mapPage, m.pgoff}, {mapFile, m.file},
		{mapSpace, t.vmSpace}}
	for _, h := range held {
		w.Store(w.base, h.at, w.kernelWord(was(mapAddr), h.off, fail), asm.DWord)
	}
	w.Unless(asm.JLT, x, was(mapStart), fail)
	w.Unless(asm.JGE, x, was(mapEnd), fail)
	w.Unless(asm.JNE, was(mapSpace), w.Get(w.base, walkSpace, asm.DWord), fail)
	file := w.fileRows(&m, w.kernelWord(was(mapFile), m.inode, fail), fail)
	for _, h := range held {
		now := w.kernelWord(was(mapAddr), h.off, fail)
		w.Unless(asm.JNE, now, was(h.at), fail)
	}
	off := was(mapPage)
	w.AluI(asm.LSh, off, pageShift)
	w.Unless(asm.JLT, off, w.Get(file, plan.FileBegin, asm.DWord), fail)
	w.Unless(asm.JGE, off, w.Get(file, plan.FileEnd, asm.DWord), fail)
	bias := was(mapStart)
	w.Store(w.base, walkLow, bias, asm.DWord)
	w.Store(w.base, walkHigh, was(mapEnd), asm.DWord)
	w.Alu(asm.Sub, bias, off)
	w.Alu(asm.Sub, bias, w.Get(file, plan.FileAddition, asm.DWord))
	w.Store(w.base, walkBias, bias, asm.DWord)
	w.Store(w.base, walkRows, w.Get(file, plan.FileRows, asm.DWord), asm.DWord) // with walkMany
	w.Jump(found)
}
