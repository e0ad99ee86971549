// Package obj writes a translated program as an ELF object for the kernel's virtual
// machine, in the form that libbpf, bpftool and the ebpf library read.
//
// In: a plan.Plan. Out: the bytes of NAME.bpf.o: a section for each program, .text for
// what they call, .maps and data sections for the maps, the license, .BTF with the
// types, .BTF.ext with functions and script lines.
package obj

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/probe"
)

// Write gives the object.
func Write(p *plan.Plan) ([]byte, error) {
	w := &writer{plan: p, maps: map[string]*mapRef{}, taken: map[string]bool{}}
	if err := w.programs(); err != nil {
		return nil, err
	}
	if err := w.mapSections(); err != nil {
		return nil, err
	}
	w.license()
	if err := w.btfSections(); err != nil {
		return nil, err
	}
	return w.elf.bytes(), nil
}

type writer struct {
	plan  *plan.Plan
	elf   elfFile
	types btf.Builder
	text  *section
	// textSym stands for .text: that is how loaders want static functions to be referred to.
	textSym int
	funcs   []*function // in the order of their sections
	maps    map[string]*mapRef
	taken   map[string]bool // names of symbols
}

// function is a program or a function that programs call.
type function struct {
	name string
	sec  *section
	off  int // bytes into the section
	typ  *btf.Func
	// lines are the places of the script, by byte offset in the section.
	lines []line
	code  []byte
	refs  []load.Ref // At counts from the function's first unit
}

// mapRef is how a map is referred to.
type mapRef struct {
	byFD, byValue bool
	sym           int
}

// programs writes the programs' sections and .text.
func (w *writer) programs() error {
	names := make([]string, 0, len(w.plan.Spec.Programs))
	for n := range w.plan.Spec.Programs {
		names = append(names, n)
	}
	sort.Strings(names)
	var shared, progs []*function
	bySig := map[string]*function{}
	for _, name := range names {
		ps := w.plan.Spec.Programs[name]
		code, err := load.Encode(ps.Instructions)
		if err != nil {
			return fmt.Errorf("program %s: %w", name, err)
		}
		fs := split(code)
		sigs := signatures(fs)
		local := map[string]string{} // what functions are called in the object
		for i, f := range fs {
			f.lines = w.lines(ps.Instructions, code, i)
			if i == 0 {
				f.name = w.unique(identifier(name))
				f.typ = describe(f.typ, f.name, btf.GlobalFunc)
				if f.sec, err = w.section(ps, f.name); err != nil {
					return fmt.Errorf("program %s: %w", name, err)
				}
				progs = append(progs, f)
				continue
			}
			if same := bySig[sigs[i]]; same != nil {
				local[f.name] = same.name
				continue
			}
			bySig[sigs[i]] = f
			old := f.name
			f.name = w.unique(identifier(old))
			link := btf.StaticFunc
			if f.typ != nil && f.typ.Linkage == btf.GlobalFunc {
				link = btf.GlobalFunc // the verifier walks it by itself
			}
			f.typ = describe(f.typ, f.name, link)
			local[old] = f.name
			shared = append(shared, f)
		}
		for _, f := range fs {
			for i := range f.refs {
				if r := &f.refs[i]; r.Kind == load.RefCall || r.Kind == load.RefFunc {
					if n, ok := local[r.Name]; ok {
						r.Name = n
					}
				}
			}
		}
	}
	if len(shared) > 0 {
		w.text = w.elf.add(&section{name: ".text", typ: shtProgbits, flags: shfAlloc | shfExec, align: 8})
		for _, f := range shared {
			f.sec = w.text
		}
	}
	w.funcs = append(progs, shared...)
	called := map[string]*function{}
	if w.text != nil {
		w.textSym = w.elf.symbol(&symbol{info: stbLocal<<4 | sttSection, sec: w.text})
	}
	for _, f := range w.funcs {
		f.off = len(f.sec.data)
		f.sec.data = append(f.sec.data, f.code...)
		bind := byte(stbGlobal)
		if f.sec == w.text && f.typ.Linkage != btf.GlobalFunc {
			bind = stbLocal
		}
		w.elf.symbol(&symbol{name: f.name, info: bind<<4 | sttFunc, sec: f.sec, value: uint64(f.off),
			size: uint64(len(f.code))})
		called[f.name] = f
	}
	for _, f := range w.funcs {
		if err := w.relocate(f, called); err != nil {
			return fmt.Errorf("function %s: %w", f.name, err)
		}
	}
	return nil
}

// split cuts a program into its functions.
func split(code *load.Code) []*function {
	var out []*function
	for i, f := range code.Funcs {
		end := len(code.Bytes)
		if i+1 < len(code.Funcs) {
			end = code.Funcs[i+1].At * 8
		}
		fn := &function{name: f.Name, typ: f.Type, code: slices.Clone(code.Bytes[f.At*8 : end])}
		for _, r := range code.Refs {
			if r.At*8 >= f.At*8 && r.At*8 < end {
				r.At -= f.At
				fn.refs = append(fn.refs, r)
				fn.clean(r)
			}
		}
		out = append(out, fn)
	}
	return out
}

// clean takes out of an instruction what the loader's relocation puts in: kind and distance.
func (f *function) clean(r load.Ref) {
	in := f.code[r.At*8:]
	switch r.Kind {
	case load.RefMap:
		in[1] &= 0xf
		clear(in[4:8])
	case load.RefMapValue:
		// The offset goes from the second half to the first.
		in[1] &= 0xf
		copy(in[4:8], in[12:16])
		clear(in[12:16])
	case load.RefCall:
		clear(in[4:8])
	case load.RefFunc:
		in[1] &= 0xf
		clear(in[4:8])
	}
}

// signatures gives each function a text that is the same for functions that do the same: its name and
// code, with what it calls in place of names. The first is a program, which is like no other and has none.
func signatures(fs []*function) []string {
	byName := map[string]*function{}
	for _, f := range fs {
		byName[f.name] = f
	}
	var sig func(f *function, above []*function) string
	sig = func(f *function, above []*function) string {
		if i := slices.Index(above, f); i >= 0 {
			return fmt.Sprintf("<%d>", i) // recursive
		}
		above = append(above, f)
		var b strings.Builder
		fmt.Fprintf(&b, "%q %x", f.name, f.code)
		for _, r := range f.refs {
			fmt.Fprintf(&b, " %d@%d", r.Kind, r.At)
			if g := byName[r.Name]; g != nil && (r.Kind == load.RefCall || r.Kind == load.RefFunc) {
				fmt.Fprintf(&b, "(%s)", sig(g, above))
			} else {
				fmt.Fprintf(&b, "%q", r.Name)
			}
		}
		for _, l := range f.lines {
			fmt.Fprintf(&b, " %v", l)
		}
		return b.String()
	}
	out := make([]string, len(fs))
	for i, f := range fs[1:] {
		out[1+i] = sig(f, nil)
	}
	return out
}

// relocate enters f's references.
func (w *writer) relocate(f *function, funcs map[string]*function) error {
	for _, r := range f.refs {
		off := uint64(f.off + r.At*8)
		switch r.Kind {
		case load.RefMap, load.RefMapValue:
			if w.plan.Spec.Maps[r.Name] == nil {
				return fmt.Errorf("refers to map %s, which is not there", r.Name)
			}
			m := w.maps[r.Name]
			if m == nil {
				m = &mapRef{sym: w.elf.symbol(&symbol{name: w.unique(identifier(r.Name)), info: stbGlobal<<4 |
					sttObject})}
				w.maps[r.Name] = m
			}
			m.byFD = m.byFD || r.Kind == load.RefMap
			m.byValue = m.byValue || r.Kind == load.RefMapValue
			f.sec.rels = append(f.sec.rels, rel{off, m.sym, relData})
		case load.RefCall, load.RefFunc:
			g := funcs[r.Name]
			if g == nil || g.sec != w.text {
				return fmt.Errorf("calls %s, which is not there", r.Name)
			}
			// The place in .text: in instructions, less one, for a call; in bytes for an address.
			imm := f.sec.data[off+4:]
			if r.Kind == load.RefCall {
				binary.LittleEndian.PutUint32(imm, uint32(g.off/8-1))
				f.sec.rels = append(f.sec.rels, rel{off, w.textSym, relCall})
			} else {
				binary.LittleEndian.PutUint32(imm, uint32(g.off))
				f.sec.rels = append(f.sec.rels, rel{off, w.textSym, relData})
			}
		}
	}
	return nil
}

// section makes the section of a program. Its name says to loaders what kind of program it is.
func (w *writer) section(ps *ebpf.ProgramSpec, name string) (*section, error) {
	n := ""
	switch ps.Type {
	case ebpf.Kprobe:
		switch ps.AttachType {
		case ebpf.AttachTraceKprobeMulti:
			n = "kprobe.multi/" + name
		default:
			// Not uprobe.multi: that only newer loaders and kernels know, and these take this as well.
			n = "uprobe/" + name
			for _, a := range w.plan.Attach {
				if a.Kind.Class() != probe.Instruction || identifier(a.Prog) != name {
					continue
				}
				n = a.Kind.String() + "/" + name // uprobe, uretprobe, kprobe, kretprobe
				if a.Kind.InKernel() {
					n = a.Kind.String() + "/" + ps.AttachTo
				}
			}
		}
		if ps.Flags&kern.FlagSleepable != 0 {
			kind, rest, _ := strings.Cut(n, "/")
			n = kind + ".s/" + rest
		}
	case ebpf.RawTracepoint:
		n = "raw_tp/" + ps.AttachTo
	case ebpf.TracePoint:
		n = "tracepoint/" + strings.Replace(ps.AttachTo, ":", "/", 1)
	case ebpf.Tracing:
		kind, ok := map[ebpf.AttachType]string{ebpf.AttachTraceRawTp: "tp_btf/", ebpf.AttachTraceFEntry: "fentry/",
			ebpf.AttachTraceFExit: "fexit/"}[ps.AttachType]
		if !ok {
			return nil, fmt.Errorf("no section is known for programs of attach type %v", ps.AttachType)
		}
		n = kind + ps.AttachTo
	case ebpf.LSM:
		n = "lsm/" + ps.AttachTo
	case ebpf.Netfilter:
		n = "netfilter"
	case ebpf.PerfEvent:
		n = "perf_event"
	case ebpf.SocketFilter:
		n = "socket"
	default:
		return nil, fmt.Errorf("no section is known for programs of type %v", ps.Type)
	}
	return w.elf.add(&section{name: n, typ: shtProgbits, flags: shfAlloc | shfExec, align: 8}), nil
}

// mapSections writes .maps, and a data section for each map whose value is addressed directly: loaders make a map
// of each such section.
func (w *writer) mapSections() error {
	names := make([]string, 0, len(w.plan.Spec.Maps))
	for n := range w.plan.Spec.Maps {
		names = append(names, n)
	}
	sort.Strings(names)
	maps := &section{name: ".maps", typ: shtProgbits, flags: shfAlloc | shfWrite, align: 8}
	ds := &btf.Datasec{Name: ".maps"}
	for _, name := range names {
		ms, r := w.plan.Spec.Maps[name], w.maps[name]
		if r == nil {
			// No program refers to it, but it is part of the whole.
			r = &mapRef{byFD: true, sym: w.elf.symbol(&symbol{name: w.unique(identifier(name)), info: stbGlobal<<4 |
				sttObject})}
		}
		if r.byValue {
			if err := w.dataSection(name, ms, r); err != nil {
				return err
			}
			continue
		}
		if len(ms.Contents) > 0 {
			return fmt.Errorf("map %s has first contents but is not addressed directly: an object cannot hold it", name)
		}
		sym := w.elf.syms[r.sym]
		st := mapType(ms)
		sym.sec, sym.value, sym.size = maps, uint64(len(maps.data)), uint64(st.Size)
		ds.Vars = append(ds.Vars, btf.VarSecinfo{Type: &btf.Var{Name: sym.name, Type: st, Linkage: btf.GlobalVar},
			Offset: uint32(len(maps.data)), Size: st.Size})
		maps.data = append(maps.data, make([]byte, st.Size)...)
	}
	if len(maps.data) > 0 {
		ds.Size = uint32(len(maps.data))
		w.elf.add(maps)
		if _, err := w.types.Add(ds); err != nil {
			return err
		}
	}
	return nil
}

// mapType gives the type that stands for a map in .maps: a structure of pointers to arrays, whose lengths are the
// numbers (the macros of libbpf's bpf_helpers.h make the same).
func mapType(ms *ebpf.MapSpec) *btf.Struct {
	st := &btf.Struct{}
	num := func(name string, v uint32) {
		if v == 0 {
			return
		}
		st.Members = append(st.Members, btf.Member{Name: name, Offset: btf.Bits(st.Size * 8),
			Type: &btf.Pointer{Target: &btf.Array{Index: u32Type, Type: intType, Nelems: v}}})
		st.Size += 8
	}
	num("type", uint32(ms.Type))
	num("key_size", ms.KeySize)
	num("value_size", ms.ValueSize)
	num("max_entries", ms.MaxEntries)
	num("map_flags", uint32(ms.Flags))
	return st
}

var (
	intType  = &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	u32Type  = &btf.Int{Name: "unsigned int", Size: 4}
	charType = &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
)

func (w *writer) dataSection(name string, ms *ebpf.MapSpec, r *mapRef) error {
	if r.byFD || ms.Type != ebpf.Array || ms.MaxEntries != 1 {
		return fmt.Errorf("map %s is addressed directly and by key: an object cannot express that", name)
	}
	data := make([]byte, ms.ValueSize)
	for _, kv := range ms.Contents {
		v, err := load.Value(kv.Value, len(data))
		if err != nil {
			return fmt.Errorf("first contents of map %s: %w", name, err)
		}
		data = v
	}
	sec := &section{name: ".data." + identifier(name), typ: shtProgbits, flags: shfAlloc | shfWrite, align: 8,
		data: data}
	if ms.Flags&kern.FlagReadOnlyProg != 0 {
		sec.name, sec.flags = ".rodata."+identifier(name), shfAlloc
	}
	w.elf.add(sec)
	sym := w.elf.syms[r.sym]
	sym.sec, sym.size = sec, uint64(len(data))
	_, err := w.types.Add(&btf.Datasec{Name: sec.name, Size: uint32(len(data)), Vars: []btf.VarSecinfo{{
		Type: &btf.Var{Name: sym.name, Type: &btf.Array{Index: u32Type, Type: charType, Nelems: uint32(len(data))},
			Linkage: btf.GlobalVar},
		Size: uint32(len(data))}}})
	return err
}

func (w *writer) license() {
	lic := "GPL"
	for _, ps := range w.plan.Spec.Programs {
		if ps.License != "" {
			lic = ps.License
		}
	}
	sec := w.elf.add(&section{name: "license", typ: shtProgbits, flags: shfAlloc | shfWrite, align: 1,
		data: append([]byte(lic), 0)})
	w.elf.symbol(&symbol{name: w.unique("_license"), info: stbGlobal<<4 | sttObject, sec: sec,
		size: uint64(len(sec.data))})
}

// describe gives a function's type, made up where the generator gave none: it takes a context and returns a number.
func describe(t *btf.Func, name string, link btf.FuncLinkage) *btf.Func {
	if t == nil {
		return &btf.Func{Name: name, Linkage: link, Type: &btf.FuncProto{Return: intType,
			Params: []btf.FuncParam{{Name: "ctx", Type: &btf.Pointer{Target: &btf.Void{}}}}}}
	}
	c := *t
	c.Name, c.Linkage = name, link
	return &c
}

// identifier makes s a name that the kernel takes.
func identifier(s string) string {
	var b strings.Builder
	for i, r := range s {
		ok := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9'
		if !ok {
			r = '_'
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// unique gives a symbol name that is not taken yet.
func (w *writer) unique(name string) string {
	n := name
	for i := 2; w.taken[n]; i++ {
		n = fmt.Sprintf("%s_%d", name, i)
	}
	w.taken[n] = true
	return n
}
