package godwarf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// Goroutine tells how to find the running goroutine at s: compiled code has it in a register from Go 1.17
// on; assembly and older code find it in the thread's own memory.
func (im *Image) Goroutine(s debuginfo.Site) (g *debuginfo.Goroutine) {
	var err error
	defer foreign.Guard(&err)()
	out := *im.scheduled().goroutineFields()
	im.scheduled().machineFields(&out)
	f := s.Func
	if f == nil {
		f = im.FuncAt(s.PC)
	}
	if f != nil && f.ABI == debuginfo.GoABIInternal && !assembly(f.File) {
		out.G = loc.Register(im.m.Goroutine)
	} else {
		out.G = im.scheduled().threadLocalG()
	}
	return &out
}

// InC tells how to find the goroutine that called the C code that the thread runs.
func (im *Image) InC() (g *debuginfo.Goroutine) {
	var err error
	defer foreign.Guard(&err)()
	out := *im.scheduled().goroutineFields()
	out.System = true
	if out.M >= 0 && im.scheduled().machineFields(&out) {
		out.G = im.scheduled().threadLocalG()
	}
	return &out
}

// threadLocalG loads g from thread-local storage. It is empty where the place is not known: in libraries and in
// stripped programs with other thread-local variables.
func (im scheduler) threadLocalG() loc.Prog {
	if !im.f.Executable() {
		return im.libraryG()
	}
	var tls *elf.Prog
	for _, p := range im.f.ELF().Progs {
		if p.Type == elf.PT_TLS {
			tls = p
		}
	}
	at := func(off int64) loc.Prog {
		return loc.Value(loc.Step{Op: loc.TLS}).Plus(off).Load(8, false, false)
	}
	// Go's own linker: the only variable, right below the thread pointer (cmd/link, ELF TLS offset -8 on
	// linux/amd64).
	if tls == nil || tls.Memsz == 8 {
		return at(-8)
	}
	for _, s := range im.f.SymbolsNamed("runtime.tlsg") {
		if s.Kind == elf.STT_TLS && s.Addr+8 <= tls.Memsz {
			// Variant II of the TLS ABI: the block of the program ends at the thread pointer.
			align := max(tls.Align, 1)
			block := tls.Memsz + (-tls.Vaddr-tls.Memsz)&(align-1)
			return at(int64(s.Addr) - int64(block))
		}
	}
	return loc.Prog{}
}

// libraryG is threadLocalG for a library, where the dynamic linker decides on the place and stores its distance from
// the thread pointer. Go's code has one such word, for its only variable; with several it is not
// known which is meant.
func (im scheduler) libraryG() loc.Prog {
	rela, err := im.f.Section(".rela.dyn")
	if err != nil {
		return loc.Prog{}
	}
	var slots []uint64
	const relaSize = 24 // Elf64_Rela: offset, info, addend
	for ; len(rela) >= relaSize; rela = rela[relaSize:] {
		if uint32(binary.LittleEndian.Uint64(rela[8:])) == im.m.Relocs.TPOff {
			slots = append(slots, binary.LittleEndian.Uint64(rela))
		}
	}
	var tls *elf.Prog
	for _, p := range im.f.ELF().Progs {
		if p.Type == elf.PT_TLS {
			tls = p
		}
	}
	if len(slots) != 1 || tls == nil || tls.Memsz != 8 {
		return loc.Prog{}
	}
	off := loc.Static(slots[0], true).Load(8, false, false)
	return off.With(loc.Value(loc.Step{Op: loc.TLS}), loc.Step{Op: loc.Add}).Load(8, false, false)
}

// gFields are the fields of runtime.g by release, for programs without DWARF. They were read from
// the DWARF of programs built with that release; a test compares them with the toolchain at hand.
var gFields = map[string]debuginfo.Goroutine{
	"go1.21": {GoID: 152, StackLo: 0, StackHi: 8, ParentGoID: 272, GoPC: 280, StartPC: 296, M: 48, Status: 144,
		WaitReason: 176, SchedPC: 64, SchedSP: 56, SchedBP: 104},
	"go1.22": {GoID: 152, StackLo: 0, StackHi: 8, ParentGoID: 272, GoPC: 280, StartPC: 296, M: 48, Status: 144,
		WaitReason: 176, SchedPC: 64, SchedSP: 56, SchedBP: 104},
	"go1.23": {GoID: 160, StackLo: 0, StackHi: 8, ParentGoID: 280, GoPC: 288, StartPC: 304, M: 48, Status: 152,
		WaitReason: 184, SchedPC: 64, SchedSP: 56, SchedBP: 104},
	"go1.24": {GoID: 160, StackLo: 0, StackHi: 8, ParentGoID: 280, GoPC: 288, StartPC: 304, M: 48, Status: 152,
		WaitReason: 184, SchedPC: 64, SchedSP: 56, SchedBP: 104},
	"go1.25": {GoID: 152, StackLo: 0, StackHi: 8, ParentGoID: 272, GoPC: 280, StartPC: 296, M: 48, Status: 144,
		WaitReason: 176, SchedPC: 64, SchedSP: 56, SchedBP: 96},
	"go1.26": {GoID: 152, StackLo: 0, StackHi: 8, ParentGoID: 280, GoPC: 288, StartPC: 304, M: 48, Status: 144,
		WaitReason: 176, SchedPC: 64, SchedSP: 56, SchedBP: 96},
}

// mFields are the fields of runtime.m that are needed, as gFields are those of runtime.g.
var mFields = map[string]debuginfo.Goroutine{
	"go1.21": {CurG: 192, GSignal: 80, NCgo: 312},
	"go1.22": {CurG: 192, GSignal: 80, NCgo: 304},
	"go1.23": {CurG: 192, GSignal: 80, NCgo: 328},
	"go1.24": {CurG: 192, GSignal: 80, NCgo: 328},
	"go1.25": {CurG: 184, GSignal: 72, NCgo: 320},
	"go1.26": {CurG: 184, GSignal: 72, NCgo: 328},
}

// machineFields sets the offsets in runtime.m, which are looked for once.
func (im scheduler) machineFields(g *debuginfo.Goroutine) bool {
	if im.ofM == nil {
		im.ofM = &debuginfo.Goroutine{CurG: -1, GSignal: -1, NCgo: -1}
		im.findMachineFields(im.ofM)
	}
	g.CurG, g.GSignal, g.NCgo = im.ofM.CurG, im.ofM.GSignal, im.ofM.NCgo
	return g.CurG >= 0 && g.GSignal >= 0 && g.NCgo >= 0
}

func (im scheduler) findMachineFields(g *debuginfo.Goroutine) {
	if d, err := im.DWARF(); err == nil {
		if t, err := im.registry().namedType(d, "runtime.m"); err == nil {
			for _, f := range t.Fields() {
				switch f.Name {
				case "curg":
					g.CurG = f.Off
				case "gsignal":
					g.GSignal = f.Off
				case "ncgo":
					g.NCgo = f.Off
				}
			}
		}
	} else if known, ok := mFields[im.release()]; ok {
		g.CurG, g.GSignal, g.NCgo = known.CurG, known.GSignal, known.NCgo
	}
}

var unknownFields = debuginfo.Goroutine{GoID: -1, StackLo: -1, StackHi: -1, ParentGoID: -1, GoPC: -1, StartPC: -1,
	M: -1, Status: -1, WaitReason: -1, SchedPC: -1, SchedSP: -1, SchedBP: -1}

// goroutineFields gives the offsets in runtime.g: from DWARF, or for a known release without it from
// a table, since all but the release decides them.
func (im scheduler) goroutineFields() *debuginfo.Goroutine {
	if im.g != nil {
		return im.g
	}
	g := unknownFields
	im.g = &g
	if im.HasTypes() {
		if im.dwarfFields(&g) {
			return im.g
		}
	}
	if known, ok := gFields[im.release()]; ok {
		g = known
	}
	return im.g
}

// dwarfFields reads the offsets from the type runtime.g.
func (im scheduler) dwarfFields(g *debuginfo.Goroutine) bool {
	d, err := im.DWARF()
	if err != nil {
		return false
	}
	t, err := im.registry().namedType(d, "runtime.g")
	if err != nil {
		return false
	}
	for _, f := range t.Fields() {
		switch f.Name {
		case "goid":
			g.GoID = f.Off
		case "stack":
			for _, s := range f.Type.Fields() {
				switch s.Name {
				case "lo":
					g.StackLo = f.Off + s.Off
				case "hi":
					g.StackHi = f.Off + s.Off
				}
			}
		case "sched":
			gobuf(g, f)
		case "parentGoid":
			g.ParentGoID = f.Off
		case "gopc":
			g.GoPC = f.Off
		case "startpc":
			g.StartPC = f.Off
		case "m":
			g.M = f.Off
		case "atomicstatus":
			g.Status = f.Off // atomic.Uint32: the number is its only field with a size
		case "waitreason":
			g.WaitReason = f.Off
		}
	}
	return g.GoID >= 0
}

// release is "go1.N", without the patch; "" if the version is unknown, a development version, or has
// experiments that may change the runtime.
func (im *Image) release() string { return releaseOf(im.Version()) }

// releaseOf does that for a version as the linker writes it: "go1.26.8", "go1.26.8 X:boringcrypto,jsonv2", or with
// what a distribution puts behind it, "go1.22.9 (Red Hat 1.22.9-1.el9)", "go1.25.1-microsoft".
func releaseOf(v string) string {
	v, rest := cutVersion(v)
	parts := strings.SplitN(v, ".", 3)
	// rc1, beta1
	if len(parts) < 2 || parts[0] != "go1" || parts[1] == "" || strings.Trim(parts[1], "0123456789") != "" {
		return ""
	}
	if strings.Contains(rest, "devel") {
		return ""
	}
	if _, list, ok := strings.Cut(rest, "X:"); ok {
		list, _, _ = strings.Cut(list, " ")
		for _, x := range strings.Split(list, ",") {
			if !harmless[strings.TrimPrefix(x, "no")] {
				return ""
			}
		}
	}
	return "go1." + parts[1]
}

// cutVersion parts a version from what stands behind it.
func cutVersion(v string) (version, rest string) {
	if i := strings.IndexAny(v, " -+"); i >= 0 {
		return v[:i], v[i:]
	}
	return v, ""
}

// harmless are experiments (internal/goexperiment) that change neither the runtime's structures nor how functions
// are called.
var harmless = map[string]bool{
	"boringcrypto": true, "jsonv2": true, "loopvar": true, "rangefunc": true, "aliastypeparams": true,
	"newinliner": true, "arenas": true,
	"coverageredesign": true, "cacheprog": true, "greenteagc": true, "dwarf5": true, "swissmap": true,
	"heapminimum512kib": true, "simd": true, "sizespecializedmalloc": true,
}

// Version is the Go version that built the program, such as "go1.26.8"; "" if unknown.
func (im *Image) Version() (v string) {
	var err error
	defer foreign.Guard(&err)()
	if !im.haveVer {
		im.haveVer = true
		im.version = im.scheduled().readVersion()
	}
	return im.version
}

// readVersion reads .go.buildinfo (debug/buildinfo): a header of 32 bytes, then, from Go 1.18 on, the
// version as a string with a length; before, pointers to strings.
func (im scheduler) readVersion() string {
	b, err := im.f.Section(".go.buildinfo")
	if err != nil || len(b) < 32 || !bytes.HasPrefix(b, []byte("\xff Go buildinf:")) {
		return ""
	}
	str := func(b []byte, n uint64) string {
		if n > 256 || n > uint64(len(b)) {
			return ""
		}
		return string(b[:n])
	}
	if b[15]&2 != 0 {
		n, k := binary.Uvarint(b[32:])
		if k <= 0 {
			return ""
		}
		return str(b[32+k:], n)
	}
	hdr, err := im.f.Bytes(binary.LittleEndian.Uint64(b[16:]), 16)
	if err != nil || len(hdr) < 16 {
		return ""
	}
	n := binary.LittleEndian.Uint64(hdr[8:])
	s, err := im.f.Bytes(binary.LittleEndian.Uint64(hdr), int(min(n, 256)))
	if err != nil {
		return ""
	}
	return str(s, n)
}
