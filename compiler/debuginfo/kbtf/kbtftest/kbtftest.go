// Package kbtftest makes up a small kernel for tests: its BTF and its symbols, the same on every machine.
//
// Out: the bytes of a BTF file, the text of a symbol table, or both as files.
package kbtftest

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// Signed and Bool are encodings of integers.
const (
	Signed = 1 << 24
	Bool   = 4 << 24
)

// Builder writes BTF.
type Builder struct {
	types, strs []byte
	n, strOff   uint32
	known       map[string]uint32
}

// New begins the BTF of a kernel.
func New() *Builder { return &Builder{strs: []byte{0}, known: map[string]uint32{"": 0}} }

// Split begins the BTF of a module of the kernel that b described so far.
func (b *Builder) Split() *Builder {
	return &Builder{n: b.n, strOff: b.strOff + uint32(len(b.strs)), known: map[string]uint32{"": 0}}
}

// Str adds a string and gives its offset.
func (b *Builder) Str(s string) uint32 {
	if off, ok := b.known[s]; ok {
		return off
	}
	off := b.strOff + uint32(len(b.strs))
	b.strs = append(append(b.strs, s...), 0)
	b.known[s] = off
	return off
}

// Add appends a type: its name, kind, flag, number of elements, size or reference, and the words behind. It gives
// the type's number.
func (b *Builder) Add(name string, kind int, flag bool, vlen int, ref uint32, words ...uint32) uint32 {
	info := uint32(kind)<<24 | uint32(vlen)
	if flag {
		info |= 1 << 31
	}
	for _, w := range append([]uint32{b.Str(name), info, ref}, words...) {
		b.types = binary.LittleEndian.AppendUint32(b.types, w)
	}
	b.n++
	return b.n
}

// Pointer adds a pointer to a type.
func (b *Builder) Pointer(to uint32) uint32 { return b.Add("", btf.KindPtr, false, 0, to) }

// M is a member of a structure or a parameter.
type M struct {
	Name string
	Type uint32
	// Bit is the first bit of a member, Bits how many a bit field has.
	Bit, Bits uint32
}

// Struct adds a structure or, by kind, a union.
func (b *Builder) Struct(kind int, name string, size uint32, ms ...M) uint32 {
	var w []uint32
	for _, m := range ms {
		w = append(w, b.Str(m.Name), m.Type, m.Bit|m.Bits<<24)
	}
	return b.Add(name, kind, true, len(ms), size, w...)
}

// Prototype adds one.
func (b *Builder) Prototype(result uint32, ps ...M) uint32 {
	var w []uint32
	for _, p := range ps {
		w = append(w, b.Str(p.Name), p.Type)
	}
	return b.Add("", btf.KindFuncProto, false, len(ps), result, w...)
}

// Func adds a function.
func (b *Builder) Func(name string, result uint32, ps ...M) uint32 {
	return b.Add(name, btf.KindFunc, false, 0, b.Prototype(result, ps...))
}

// Bytes is the file.
func (b *Builder) Bytes() []byte {
	le := binary.LittleEndian
	out := le.AppendUint16(nil, 0xeb9f)
	out = append(out, 1, 0)
	for _, w := range []uint32{24, 0, uint32(len(b.types)), uint32(len(b.types)), uint32(len(b.strs))} {
		out = le.AppendUint32(out, w)
	}
	return append(append(out, b.types...), b.strs...)
}

// Kernel is the BTF of the made-up kernel.
func Kernel() *Builder {
	b := New()
	cInt := b.Add("int", btf.KindInt, false, 0, 4, Signed|32)
	char := b.Add("char", btf.KindInt, false, 0, 1, Signed|8)
	uint := b.Add("unsigned int", btf.KindInt, false, 0, 4, 32)
	ulong := b.Add("long unsigned int", btf.KindInt, false, 0, 8, 64)
	long := b.Add("long int", btf.KindInt, false, 0, 8, Signed|64)
	short := b.Add("short int", btf.KindInt, false, 0, 2, Signed|16)
	llong := b.Add("long long int", btf.KindInt, false, 0, 8, Signed|64)
	boolean := b.Add("_Bool", btf.KindInt, false, 0, 1, Bool|8)
	ushort := b.Add("short unsigned int", btf.KindInt, false, 0, 2, 16)
	size := b.Add("size_t", btf.KindTypedef, false, 0, ulong)
	ssize := b.Add("ssize_t", btf.KindTypedef, false, 0, long)
	loff := b.Add("loff_t", btf.KindTypedef, false, 0, llong)
	mode := b.Add("umode_t", btf.KindTypedef, false, 0, ushort)
	cchar := b.Pointer(b.Add("", btf.KindConst, false, 0, char))
	ubuf := b.Pointer(b.Add("user", btf.KindTypeTag, false, 0, char))
	comm := b.Add("", btf.KindArray, false, 0, 0, char, ulong, 16)
	qstr := b.Struct(btf.KindStruct, "qstr", 16, M{Name: "len", Type: uint}, M{Name: "name", Type: cchar, Bit: 64})
	dentry := b.Struct(btf.KindStruct, "dentry", 24, M{Name: "d_flags", Type: uint},
		M{Name: "d_name", Type: qstr, Bit: 64})
	pdentry := b.Pointer(dentry)
	pos := b.Struct(btf.KindUnion, "", 8, M{Name: "f_pos", Type: loff}, M{Name: "f_tag", Type: uint})
	file := b.Struct(btf.KindStruct, "file", 40,
		M{Name: "f_mode", Type: uint}, M{Name: "f_kind", Type: uint, Bit: 32, Bits: 3},
		M{Name: "f_rw", Type: cInt, Bit: 35, Bits: 5},
		M{Name: "f_dentry", Type: pdentry, Bit: 64}, M{Type: pos, Bit: 128}, M{Name: "f_ubuf", Type: ubuf, Bit: 192},
		M{Name: "f_open", Type: boolean, Bit: 256})
	pfile := b.Pointer(file)
	task := b.Struct(btf.KindStruct, "task_struct", 64, M{Name: "pid", Type: cInt, Bit: 32},
		M{Name: "comm", Type: comm, Bit: 64}, M{Name: "files", Type: pfile, Bit: 192})
	ptask := b.Pointer(task)
	b.Add("pid_type", btf.KindEnum, false, 2, 4, b.Str("PIDTYPE_PID"), 0, b.Str("PIDTYPE_TGID"), 1)
	color := b.Add("color", btf.KindEnum, true, 2, 4, b.Str("RED"), 1, b.Str("NONE"), 0xffffffff)
	pair := b.Struct(btf.KindStruct, "pair", 16, M{Name: "a", Type: ulong}, M{Name: "b", Type: cInt, Bit: 64})
	big := b.Struct(btf.KindStruct, "big", 24, M{Name: "a", Type: ulong}, M{Name: "b", Type: ulong, Bit: 64},
		M{Name: "c", Type: ulong, Bit: 128})
	double := b.Add("double", btf.KindFloat, false, 0, 8)
	p := func(name string, t uint32) M { return M{Name: name, Type: t} }
	b.Func("vfs_read", ssize, p("file", pfile), p("buf", ubuf), p("count", size), p("pos", b.Pointer(loff)))
	b.Func("vfs_write", ssize, p("file", pfile), p("buf", ubuf), p("count", size), p("pos", b.Pointer(loff)))
	b.Func("do_sys_open", long, p("dfd", cInt), p("filename", ubuf), p("flags", cInt), p("mode", mode))
	b.Func("many", cInt, p("a", boolean), p("b", short), p("c", cInt), p("d", ulong), p("e", color), p("f", cchar),
		p("g", cInt), p("h", ptask))
	b.Func("take_pair", pair, p("p", pair), p("n", cInt), p("q", pair), p("r", pair), p("last", cInt), p("more", cInt))
	b.Func("take_big", big, p("x", big), p("n", cInt), p("o", cInt), p("q", cInt), p("r", cInt), p("s", cInt),
		p("t", cInt))
	b.Func("take_float", 0, p("x", double), p("n", cInt))
	b.Func("tick", 0)
	b.Func("tcp_sendmsg", cInt, p("sk", b.Pointer(0)), p("msg", b.Pointer(0)), p("size", size))
	b.Func("static_one", 0, p("n", cInt))
	b.Func("shrunk", cInt, p("n", cInt), p("m", cInt))
	b.Func("noinstr_one", 0)
	b.Func("nokprobe_one", 0)
	counter := b.Add("counter", btf.KindVar, false, 0, ulong, 1)
	percpu := b.Add("percpu_counter", btf.KindVar, false, 0, ulong, 1)
	b.Add(".data", btf.KindDatasec, false, 1, 8, counter, 0, 8)
	b.Add(".data..percpu", btf.KindDatasec, false, 1, 8, percpu, 0, 8)
	tp := b.Prototype(0, M{Type: b.Pointer(0)}, p("", ptask))
	b.Add("btf_trace_wakeup", btf.KindTypedef, false, 0, b.Pointer(tp))
	data := p("__data", b.Pointer(0))
	for _, event := range []struct {
		name string
		args []M
	}{
		{"sched_switch", []M{data, p("preempt", boolean), p("prev", ptask), p("next", ptask), p("prev_state", uint)}},
		{"block_rq_issue", []M{data, p("rq", b.Pointer(b.Add("request", btf.KindFwd, false, 0, 0)))}},
	} {
		b.Func("__traceiter_"+event.name, cInt, event.args...)
		b.Add("btf_trace_"+event.name, btf.KindTypedef, false, 0, b.Pointer(b.Prototype(0, event.args...)))
	}
	return b
}

// Symbols is the symbol table of the made-up kernel, in the form of /proc/kallsyms.
const Symbols = `0000000000000000 A __per_cpu_start
ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81000100 t __pfx_vfs_read
ffffffff81000110 T vfs_read
ffffffff81000200 T vfs_write
ffffffff81000300 T do_sys_open
ffffffff81000300 T do_sys_open_alias
ffffffff81000400 t many
ffffffff81000500 t take_pair
ffffffff81000600 t take_big
ffffffff81000640 t take_float
ffffffff81000700 T tick
ffffffff81000800 t static_one
ffffffff81000900 t static_one
ffffffff81000a00 t shrunk.isra.0
ffffffff81000b00 t shrunk.cold
ffffffff81000c00 T assembly
ffffffff81000d00 T nokprobe_one
ffffffff81000e00 T tcp_sendmsg
ffffffff81000f00 T __SCT__tp_func_vfs_read
ffffffff81001000 T __noinstr_text_start
ffffffff81001010 T noinstr_one
ffffffff81001100 T __noinstr_text_end
ffffffff81002000 T _etext
ffffffff81100000 D counter
ffffffff81100008 D undescribed
ffffffff81200000 T _sinittext
ffffffff81200010 t setup_one
ffffffff81200100 T _einittext
ffffffff81300000 d _kbl_addr_nokprobe_one
ffffffffc0000000 t ext4_read	[ext4]
ffffffffc0000100 t helper	[ext4]
ffffffffc0000200 t helper	[ext4]
ffffffffc0000300 t ext4_file_write_iter	[ext4]
ffffffffc0100000 t helper	[nf_nat]
ffffffffc0200000 t bpf_prog_1	[bpf]
`

// Write puts both into dir and gives the names of the files.
func Write(dir string) (btf, symbols string, err error) {
	btf, symbols = filepath.Join(dir, "btf"), filepath.Join(dir, "kallsyms")
	if err = os.WriteFile(btf, Kernel().Bytes(), 0o644); err == nil {
		err = os.WriteFile(symbols, []byte(Symbols), 0o644)
	}
	return btf, symbols, err
}
