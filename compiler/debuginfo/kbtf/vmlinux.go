package kbtf

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cdwarf"
	"github.com/gostap/gostap/compiler/loc"
)

// vmlinux is the kernel's file with DWARF. Its addresses are those before the kernel moved itself at boot.
type vmlinux struct {
	img *cdwarf.Image
	// slide is what to add to the file's addresses, if known says so.
	slide uint64
	known bool
}

// NeedsDWARFError says that something is known from DWARF only, and why there is none.
type NeedsDWARFError struct {
	// What, with its verb: "source lines are".
	What string
	Why  string
}

func (e *NeedsDWARFError) Error() string {
	return e.What + " known from DWARF debug information only, and " + e.Why
}

// needs is what is known from DWARF; the error is a *NeedsDWARFError.
func (im *Image) needs(what string) (*vmlinux, error) {
	if im.module != "" {
		return nil, &NeedsDWARFError{what, "that of modules is not supported"}
	}
	k := im.k
	if !k.vmAsked {
		k.vmAsked = true
		k.vm, k.vmWhy = k.openVmlinux()
		if k.vm != nil {
			if syms, err := k.OwnSymbols(); err == nil && !k.Foreign() {
				at, ok := k.vm.img.Symbol("_stext")
				if now := syms.Addr("_stext"); ok && now != 0 {
					k.vm.slide, k.vm.known = now-at, true
				}
			}
		}
	}
	if k.vm == nil {
		return nil, &NeedsDWARFError{what, k.vmWhy}
	}
	return k.vm, nil
}

// vmlinuxFiles are where the file of a kernel with DWARF can be.
func (k *Kernel) vmlinuxFiles() []string {
	if k.cfg.Vmlinux != "" {
		return []string{k.cfg.Vmlinux}
	}
	if k.Foreign() {
		return []string{k.cfg.BTF, k.cfg.Map}
	}
	var uts unix.Utsname
	if unix.Uname(&uts) != nil {
		return nil
	}
	rel := unix.ByteSliceToString(uts.Release[:])
	out := []string{
		"/usr/lib/debug/boot/vmlinux-" + rel, "/usr/lib/debug/lib/modules/" + rel + "/vmlinux", "/lib/modules/" + rel +
			"/build/vmlinux",
		"/usr/lib/debug/boot/vmlinux-" + rel + ".debug", "/boot/vmlinux-" + rel,
	}
	if id := k.buildID(); len(id) > 2 {
		out = append(out, "/usr/lib/debug/.build-id/"+id[:2]+"/"+id[2:]+".debug")
	}
	return out
}

// openVmlinux opens the kernel's file with DWARF; why says why there is none.
func (k *Kernel) openVmlinux() (vm *vmlinux, why string) {
	if k.cfg.Portable {
		return nil, "it is of one kernel, and a plan is for others too"
	}
	why = "there is no vmlinux file with it"
	for _, path := range k.vmlinuxFiles() {
		st, err := os.Stat(path)
		if path == "" || err != nil || !st.Mode().IsRegular() {
			continue
		}
		img, err := cdwarf.OpenKernel(path)
		if errors.Is(err, debuginfo.ErrNotELF) {
			continue // raw BTF, a symbol table
		}
		if err != nil {
			why = fmt.Sprintf("%s cannot be read: %v", path, err)
			continue
		}
		if id := k.buildID(); id != "" && id != img.BuildID() && !k.Foreign() {
			img.Close()
			why = fmt.Sprintf("%s is of another build than the running kernel", path)
			continue
		}
		if !img.HasTypes() {
			img.Close()
			why = path + " has none"
			continue
		}
		return &vmlinux{img: img}, ""
	}
	return nil, why
}

// buildID is the hex of the running kernel's GNU build ID, "" if it does not tell.
func (k *Kernel) buildID() string {
	b, err := os.ReadFile(filepath.Join(k.cfg.Sys, "kernel/notes"))
	if err != nil {
		return ""
	}
	return hex.EncodeToString(gnuBuildID(b))
}

// gnuBuildID finds the note NT_GNU_BUILD_ID (ELF gABI, "Note Section").
func gnuBuildID(b []byte) []byte {
	for len(b) >= 12 {
		name, desc, kind := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		b = b[12:]
		n, d := (name+3)&^3, (desc+3)&^3
		if n > uint64(len(b)) || desc > uint64(len(b))-n {
			return nil
		}
		if kind == 3 && bytes.Equal(b[:name], []byte("GNU\x00")) {
			return b[n : n+desc]
		}
		b = b[min(n+d, uint64(len(b))):]
	}
	return nil
}

// prog makes a program of the file one of the running kernel: what it loads is kernel memory, and static addresses have
// moved.
func (v *vmlinux) prog(p loc.Prog) (loc.Prog, error) {
	q := loc.Prog{Steps: append([]loc.Step(nil), p.Steps...)}
	for i := range q.Steps {
		switch s := &q.Steps[i]; s.Op {
		case loc.Deref:
			s.Kernel = true
		case loc.Image:
			if !v.known {
				return q, errors.New("where the kernel is in memory is not known")
			}
			*s = loc.Step{Op: loc.Const, N: int64(v.slide)}
		}
	}
	return q, nil
}

func (v *vmlinux) place(pl loc.Place) (out loc.Place, err error) {
	out = pl
	out.Kernel = true
	if pl.InMemory {
		out.Addr, err = v.prog(pl.Addr)
		return out, err
	}
	out.Pieces = append([]loc.Piece(nil), pl.Pieces...)
	for i := range out.Pieces {
		if out.Pieces[i].Val, err = v.prog(out.Pieces[i].Val); err != nil {
			break
		}
	}
	return out, err
}

// variable makes a variable of the file one of the running kernel.
func (v *vmlinux) variable(x *debuginfo.Var) *debuginfo.Var {
	y := *x
	var err error
	if y.Place, err = v.place(x.Place); err != nil && y.Err == nil {
		y.Err = &debuginfo.NotLiveError{Name: y.Name, Reason: err.Error()}
	}
	if y.Err != nil {
		y.Place = loc.Place{Type: x.Place.Type}
	}
	return &y
}

// site makes a site of the file one of the running kernel.
func (im *Image) site(v *vmlinux, s debuginfo.Site) (debuginfo.Site, error) {
	out := s
	var err error
	if out.CFA, err = v.prog(s.CFA); err != nil {
		return out, err
	}
	if out.Return, err = v.prog(s.Return); err != nil {
		return out, err
	}
	f, err := im.fromFile(v, s.PC, s.Func)
	if err != nil {
		return out, err
	}
	out.Func, out.PC = &f.Func, f.Entry+(s.PC-f.low)
	return out, nil
}

// fromFile is the function of the running kernel that holds the file's address pc, where fn of the file is.
func (im *Image) fromFile(v *vmlinux, pc uint64, fn *debuginfo.Func) (*function, error) {
	if fn == nil {
		return nil, fmt.Errorf("no function covers address %#x of vmlinux", pc)
	}
	syms, err := im.symbols()
	if err != nil {
		return nil, im.noSymbols(err)
	}
	var f *function
	low := fn.Entry
	if v.known {
		if g := im.FuncAt(pc + v.slide); g != nil {
			f = im.byPtr[g]
			low = f.Entry - v.slide
		}
	} else { // by its name
		name := fn.Name
		if fn.Symbol != "" {
			name = fn.Symbol
		}
		var found []Symbol
		for _, s := range syms.Named(name) {
			if im.mine(s) && s.Code() {
				found = append(found, s)
			}
		}
		if len(found) == 1 && pc >= fn.Entry && pc < fn.End {
			f = im.function(syms, found[0], 0)
		}
	}
	if f == nil {
		return nil, fmt.Errorf("the kernel's symbols do not tell where %s is", fn.Name)
	}
	if f.dw == nil {
		f.dw, f.low = fn, low
		if f.File == "" {
			f.File, f.Line = fn.File, fn.Line
		}
	}
	return f, nil
}

// toFile is a site of the running kernel as the file has it.
func (im *Image) toFile(v *vmlinux, s debuginfo.Site) (debuginfo.Site, error) {
	f := im.byPtr[s.Func]
	if f == nil {
		return s, errors.New("no function of the kernel is here")
	}
	if f.dw == nil {
		name := f.sym.Name
		pc := uint64(0)
		if v.known && f.Entry != 0 {
			pc = f.Entry - v.slide
		} else if at, ok := v.img.Symbol(name); ok && !im.ambiguous(f) {
			pc = at
		}
		fn := v.img.FuncAt(pc)
		if pc == 0 || fn == nil {
			return s, fmt.Errorf("%w for %s: vmlinux does not describe it", debuginfo.ErrNoTypes, f.Name)
		}
		f.dw, f.low = fn, pc
		if f.File == "" {
			f.File, f.Line = fn.File, fn.Line
		}
	}
	s.PC, s.Func = f.low+(s.PC-f.Entry), f.dw
	return s, nil
}

// File is the kernel's file with DWARF, in which the code can be read. Its addresses are those before the kernel moved
// itself at boot; Running turns its sites into ones of the running kernel. The error is a *NeedsDWARFError.
func (im *Image) File() (debuginfo.Image, error) {
	v, err := im.needs("the calls of a function are")
	if err != nil {
		return nil, err
	}
	return v.img, nil
}

// Running is a site of File as the running kernel has it.
func (im *Image) Running(s debuginfo.Site) (debuginfo.Site, error) {
	v, err := im.needs("where code has gone is")
	if err != nil {
		return s, err
	}
	return im.site(v, s)
}

// Slide is how far the running kernel is from the addresses of File, if that is known.
func (im *Image) Slide() (uint64, bool) {
	v, err := im.needs("where the kernel is")
	if err != nil {
		return 0, false
	}
	return v.slide, v.known
}

// SourceFuncs lists the functions that match pattern with the files and lines of their declarations.
func (im *Image) SourceFuncs(pattern string) ([]*debuginfo.Func, error) {
	v, err := im.needs("the source files of functions are")
	if err != nil {
		return nil, err
	}
	fs, err := v.img.Funcs(pattern)
	if err != nil {
		return nil, err
	}
	var out []*debuginfo.Func
	for _, fn := range fs {
		if f, err := im.fromFile(v, fn.Entry, fn); err == nil && f.low == fn.Entry {
			out = append(out, &f.Func)
		}
	}
	return out, nil
}

// Inlined lists the inlined copies of functions.
func (im *Image) Inlined(pattern string) ([]*debuginfo.InlineSite, error) {
	v, err := im.needs("inlined copies are")
	if err != nil {
		return nil, err
	}
	all, err := v.img.Inlined(pattern)
	if err != nil {
		return nil, err
	}
	var out []*debuginfo.InlineSite
	for _, in := range all {
		s, err := im.site(v, in.Site)
		if err != nil {
			continue // code that the kernel has dropped
		}
		out = append(out, &debuginfo.InlineSite{Func: in.Func, In: s.Func, CallFile: in.CallFile, CallLine: in.CallLine,
			Site: s})
	}
	return out, nil
}

// Labels lists the labels of functions.
func (im *Image) Labels(pattern string) ([]debuginfo.Label, error) {
	v, err := im.needs("labels are")
	if err != nil {
		return nil, err
	}
	all, err := v.img.Labels(pattern)
	if err != nil {
		return nil, err
	}
	var out []debuginfo.Label
	for _, l := range all {
		if l.Site, err = im.site(v, l.Site); err == nil { // else code that the kernel has dropped
			out = append(out, l)
		}
	}
	return out, nil
}

// LineSites resolves lines.
func (im *Image) LineSites(q debuginfo.LineQuery) ([]debuginfo.Site, error) {
	v, err := im.needs("source lines are")
	if err != nil {
		return nil, err
	}
	all, err := v.img.LineSites(q)
	if err != nil {
		return nil, err
	}
	var out []debuginfo.Site
	var bad error
	for _, s := range all {
		if s, err = im.site(v, s); err != nil {
			bad = err
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 && bad != nil {
		return nil, bad
	}
	return out, nil
}

// fileVars asks the file for the variables at s.
func (im *Image) fileVars(s debuginfo.Site) ([]*debuginfo.Var, error) {
	v, err := im.needs("variables behind a function's entry are")
	if err != nil {
		return nil, err
	}
	if s, err = im.toFile(v, s); err != nil {
		return nil, err
	}
	all, err := v.img.Vars(s)
	if err != nil {
		return nil, err
	}
	out := make([]*debuginfo.Var, len(all))
	for i, x := range all {
		out[i] = v.variable(x)
	}
	return out, nil
}

// fileVar asks the file for one variable at s.
func (im *Image) fileVar(s debuginfo.Site, name string) (*debuginfo.Var, error) {
	v, err := im.needs("locals are")
	if err != nil {
		return nil, err
	}
	if s, err = im.toFile(v, s); err != nil {
		return nil, err
	}
	x, err := v.img.Var(s, name)
	if err != nil {
		return nil, err
	}
	y := v.variable(x)
	if x.Kind == debuginfo.GlobalVar {
		im.checkCPU(v, y, x)
	}
	return y, y.Err
}

// fileGlobal asks the file for a global variable.
func (im *Image) fileGlobal(name string) (*debuginfo.Var, error) {
	v, err := im.needs("the types of most variables are")
	if err != nil {
		return nil, err
	}
	x, err := v.img.Global(name)
	if err != nil {
		return nil, err
	}
	y := v.variable(x)
	im.checkCPU(v, y, x)
	return y, y.Err
}

// checkCPU refuses variables that each CPU has for itself: their addresses count from the beginning of a section that
// is elsewhere.
func (im *Image) checkCPU(v *vmlinux, y, x *debuginfo.Var) {
	if y.Err != nil || !x.Place.InMemory {
		return
	}
	addr := uint64(0)
	for _, s := range x.Place.Addr.Steps {
		if s.Op == loc.Const {
			addr = uint64(s.N)
		}
	}
	lo, _ := v.img.Symbol("__per_cpu_start")
	hi, ok := v.img.Symbol("__per_cpu_end")
	text, _ := v.img.Symbol("_text")
	if ok && addr >= lo && addr < hi || addr < text {
		y.Err = &debuginfo.NotLiveError{Name: y.Name, Reason: "it exists once for each CPU"}
		y.Place = loc.Place{Type: x.Place.Type}
	}
}
