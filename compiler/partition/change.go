package partition

import (
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// stays reports whether a handler that would run on the host may do so: what changes the traced program must happen
// at the hit, before the program goes on.
func stays(p *ir.Program, pr *ir.Probe, w whole, ds *diag.List) bool {
	for _, f := range w.funcs() {
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
					at, inner := p.Blame(pr, in.Pos, in.Via)
					d := ds.Errorf(diag.Build, "bpf-deferred", source.At(at),
						"this %s, which has to happen in the kernel", what).Within(inner)
					because(d, p, pr, w).
						Hintf("do one of them in another probe, or let the kernel-module back end run it all: " +
							"--runtime=kernel")
					return false
				}
			}
		}
	}
	return true
}

// because notes why the handler w of pr runs on the host.
func because(d *diag.Diagnostic, p *ir.Program, pr *ir.Probe, w whole) *diag.Diagnostic {
	at, inner := p.Blame(pr, w.pos, w.via)
	d.Note(source.At(at), "the handler runs on the host because of %s", w.why)
	if inner.IsValid() {
		d.Note(source.At(inner), "in the library, that is this")
	}
	return d
}

// changes reports whether in changes the traced program or the kernel where the probe fires.
func changes(in *ir.Instr) bool {
	if in.Op == ir.OpIntr {
		f := in.Builtin()
		return f.Guru() && f.Where != intrinsic.HostOnly
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
