package place

import (
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// stays reports whether a handler that would run on the host may do so: what changes the traced program must happen
// at the hit, before the program goes on.
func stays(w whole, o Options, ds *diag.List) bool {
	fns := []*ir.Func{w.body}
	for _, f := range w.subs {
		fns = append(fns, f)
	}
	for _, f := range fns {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; changes(in) {
					what := "changes the traced program"
					switch in.Op {
					case ir.OpEmbed:
						what = "is embedded C"
					case ir.OpReply, ir.OpValue:
						what = "is for the process that waits at the file"
					}
					ds.Errorf(diag.Build, "bpf-deferred", source.At(in.Pos), "this %s, which has to happen in the kernel", what).
						Note(source.At(w.pos), "the handler runs on the host because of %s", w.why).
						Hintf("do one of them in another probe, or let the kernel-module back end run it all: --runtime=kernel")
					return false
				}
			}
		}
	}
	return true
}

// changes reports whether in changes the traced program or the kernel where the probe fires.
func changes(in *ir.Instr) bool {
	if in.Op == ir.OpIntr {
		f := intrinsic.Lookup(in.Name)
		return f != nil && f.Guru && f.Where != intrinsic.HostOnly
	}
	// C of the script may change anything, and the host has none.
	return in.Op.ChangesProgram() || in.Op == ir.OpEmbed || in.Op == ir.OpReply || in.Op == ir.OpValue
}

// elsewhere is the end of a hint: who can run a handler that the host cannot.
func (o Options) elsewhere() string {
	if o.Full {
		return ""
	}
	return ", or let the kernel-module back end run it all: --runtime=kernel"
}
