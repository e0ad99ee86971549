package sel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// kernelTypes is what the back end uses.
type kernelTypes struct{}

func (kernelTypes) Offset(s, path string) (int, int, error) { return load.KernelMember(s, path) }
func (kernelTypes) Enumerator(string, string) (int64, bool) { return 0, true }
func (kernelTypes) TracepointArgs(string) int               { return 2 }

// hasRegs are those that look at registers, which there are none of at events.
var hasRegs = map[string]bool{"register": true, "u_register": true, "uaddr": true, "addr": true}

// yes is for sel.Features.
func yes() bool { return true }

// TestTranslates walks the rows: each function is translated, or its text is made on the host, or the row says that
// eBPF refuses it.
func TestTranslates(t *testing.T) {
	for _, f := range intrinsic.All() {
		want := f.Where == intrinsic.PrintOnly || f.Where == intrinsic.Anywhere && f.Refused&intrinsic.EBPF == 0
		if got := sel.Translates(f.Name); got != want {
			t.Errorf("%s: translated %v, its row says %v", f.Name, got, want)
		}
	}
	if sel.Translates("nothing") {
		t.Error("a function that there is none of is translated")
	}
}

// TestIntrinsics translates every intrinsic, with constants and with values in registers as arguments, and has the
// verifier look at it.
func TestIntrinsics(t *testing.T) {
	needRoot(t)
	for _, f := range intrinsic.All() {
		// lsm_deny, leave_function and override_return need another kernel (TestLSM and TestGuru of tests/vm). Stacks
		// of programs that are kept are loaded by TestKeptStacks and TestGoStacks of tests. set_call_word is refused.
		if slices.Contains([]string{"lsm_deny", "leave_function", "override_return", "set_call_word"}, f.Name) ||
			!sel.Translates(f.Name) || f.Keeps && f.Name != "kstack_kept" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			p := &ir.Program{Limits: layout.Default()}
			p.AddGlobal(&ir.Global{Name: "n", Type: types.Long})
			p.AddGlobal(&ir.Global{Name: "s", Type: types.String, Cap: 100})
			for _, constant := range []bool{true, false} {
				b := ir.NewBuilder("")
				var args []ir.Val
				for _, typ := range f.Params {
					switch {
					case typ == types.Long && constant:
						args = append(args, ir.I(16))
					case typ == types.Long:
						r := b.Long("")
						b.OnGlobal(ir.OpGGet, 0, r)
						args = append(args, ir.R(r))
					case constant || strings.HasSuffix(f.Name, "register") || f.Name == "table_text":
						args = append(args, ir.S("rax"))
					default:
						r := b.Str("", 100)
						b.OnGlobal(ir.OpGGet, 1, r)
						args = append(args, ir.R(r))
					}
				}
				dst := ir.NoReg
				for _, n := range []int{511, 15, 3} {
					switch f.Result {
					case types.Long:
						dst = b.Long("")
					case types.String:
						dst = b.Str("", n)
					}
					b.Intr(f.Name, dst, args...)
					if f.Result != types.String {
						break
					}
					b.Print(p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Conv('s')}}), ir.R(dst))
				}
				if f.Result == types.Long {
					b.OnGlobal(ir.OpGSet, 0, ir.NoReg, ir.R(dst))
				}
				b.End()
				site := &probe.Site{Kind: probe.Uprobe, Func: "f", Point: "p"}
				if f.Name == "ustack_level" {
					site.At.Kind = debuginfo.AtReturn // the programs are loaded for a place without registers
				}
				p.Probes = append(p.Probes, &ir.Probe{Name: fmt.Sprint(f.Name, constant), Handler: b.Finish(), Cond: -1,
					Sites: []*probe.Site{site}})
			}
			if err := ir.Verify(p); err != nil {
				t.Fatal(err)
			}
			for _, may := range forms() {
				newMachine(t, p, sel.Features{MayGoto: may})
			}
			if hasRegs[f.Name] {
				return
			}
			for _, pr := range p.Probes {
				pr.Sites = []*probe.Site{{Kind: probe.ProcessSyscall,
					Syscall: probe.SyscallPart{Nr: probe.AnySyscall}, Point: "p"}}
			}
			newMachine(t, p, sel.Features{MayGoto: forms()[0], Events: yes})
		})
	}
}
