package dwexpr_test

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// TestExpressionsOfPrograms evaluates every location of whole programs, against Delve's evaluator. GOSTAP_ORACLE=full
// adds cmd/go and what GOSTAP_ORACLE_BINARIES names.
func TestExpressionsOfPrograms(t *testing.T) {
	paths := elftest.Programs(t)
	if os.Getenv("GOSTAP_ORACLE") == "full" {
		paths = append(paths, elftest.GoCommand(t))
		paths = append(paths, strings.Fields(strings.ReplaceAll(os.Getenv("GOSTAP_ORACLE_BINARIES"), ":", " "))...)
	}
	rnd := rand.New(rand.NewSource(1))
	regs := make([]uint64, 17)
	var dregs []*op.DwarfRegister
	for i := range regs {
		regs[i] = rnd.Uint64()
		dregs = append(dregs, op.DwarfRegisterFromUint64(regs[i]))
	}
	total := 0
	for _, path := range paths {
		d := openDwarf(t, path)
		seen := map[string]bool{}
		compared, refused := 0, 0
		err := eachExpression(d, func(u *dw.Unit, expr []byte) {
			first, _ := u.Addrx(0)
			if key := fmt.Sprint(first, string(expr)); seen[key] {
				return
			} else {
				seen[key] = true
			}
			env := dwexpr.TestEnv()
			env.Addrx, env.TLS = u.Addrx, nil
			own, err := dwexpr.Evaluate(expr, env)
			dw := *op.NewDwarfRegisters(0, dregs, binary.LittleEndian, 16, 7, 6, 16)
			dw.CFA, dw.FrameBase = int64(regs[7]+16), int64(regs[6])
			addr, pieces, err2 := op.ExecuteStackProgram(dw, expr, 8, func(b []byte, addr uint64) (int, error) {
				var w [8]byte
				binary.LittleEndian.PutUint64(w[:], dwexpr.Memory8(addr, len(b)))
				return copy(b, w[:]), nil
			})
			var un *dwexpr.Unavailable
			if err != nil && err2 == nil && !errors.As(err, &un) {
				t.Fatalf("%s: %x: %v, Delve has %#x %v", path, expr, err, addr, pieces)
			}
			if err != nil || err2 != nil {
				refused++ // the value at the entry, a thread's own; operations that Delve does not know
				return
			}
			if err := dwexpr.SamePieces(own, addr, pieces, regs); err != nil {
				t.Fatalf("%s: %x: %v", path, expr, err)
			}
			compared++
		})
		if err != nil {
			t.Fatal(path, err)
		}
		t.Logf("%s: %d compared, %d that one of the two refuses", path, compared, refused)
		total += compared
	}
	if total < 200 {
		t.Errorf("only %d expressions compared", total)
	}
}

// eachExpression calls f with every location and frame base, whole or by range.
func eachExpression(d *dw.Data, f func(u *dw.Unit, expr []byte)) error {
	units, err := d.Units()
	if err != nil {
		return err
	}
	for _, u := range units {
		if _, err := u.Entry(); err != nil {
			return err
		}
		r := d.DWARF().Reader()
		r.Seek(u.Die)
		for {
			e, err := r.Next()
			if err != nil {
				return err
			}
			if e == nil || e.Offset >= u.End {
				break
			}
			for _, a := range []dwarf.Attr{dwarf.AttrLocation, dwarf.AttrFrameBase} {
				list, err := u.Locations(e, a)
				if errors.Is(err, dwexpr.ErrNoLocation) {
					continue
				}
				if err != nil {
					return err
				}
				for _, l := range list {
					f(u, l.Expr)
				}
			}
		}
	}
	return nil
}
