package dw

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/op"
)

// TestExpressionsOfPrograms evaluates every location of whole programs, against Delve's evaluator. GOSTAP_ORACLE=full
// adds cmd/go and what GOSTAP_ORACLE_BINARIES names.
func TestExpressionsOfPrograms(t *testing.T) {
	paths := programs(t)
	if os.Getenv("GOSTAP_ORACLE") == "full" {
		paths = append(paths, goBinary(t))
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
		err := eachExpression(d, func(u *Unit, expr []byte) {
			if key := fmt.Sprint(u.bases.addr, string(expr)); seen[key] {
				return
			} else {
				seen[key] = true
			}
			env := testEnv()
			env.Addrx, env.TLS = u.Addrx, nil
			own, err := evaluate(expr, env)
			dw := *op.NewDwarfRegisters(0, dregs, binary.LittleEndian, 16, 7, 6, 16)
			dw.CFA, dw.FrameBase = int64(regs[7]+16), int64(regs[6])
			addr, pieces, err2 := op.ExecuteStackProgram(dw, expr, 8, func(b []byte, addr uint64) (int, error) {
				var w [8]byte
				binary.LittleEndian.PutUint64(w[:], memory8(addr, len(b)))
				return copy(b, w[:]), nil
			})
			var un *Unavailable
			if err != nil && err2 == nil && !errors.As(err, &un) {
				t.Fatalf("%s: %x: %v, Delve has %#x %v", path, expr, err, addr, pieces)
			}
			if err != nil || err2 != nil {
				refused++ // the value at the entry, a thread's own; operations that Delve does not know
				return
			}
			if err := samePieces(own, addr, pieces, regs); err != nil {
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
func eachExpression(d *Data, f func(u *Unit, expr []byte)) error {
	units, err := d.Units()
	if err != nil {
		return err
	}
	for _, u := range units {
		if err := u.load(); err != nil {
			return err
		}
		r := d.d.Reader()
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
				if errors.Is(err, ErrNoLocation) {
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

// samePieces compares what the two evaluators make of an expression.
func samePieces(own []piece, addr int64, theirs []op.Piece, regs []uint64) error {
	if theirs == nil {
		if len(own) != 1 || own[0].kind != inMemory || runProg(own[0].prog, regs) != uint64(addr) {
			return fmt.Errorf("%+v, Delve has the address %#x", own, uint64(addr))
		}
		return nil
	}
	if len(own) != len(theirs) {
		return fmt.Errorf("%d pieces, Delve has %d", len(own), len(theirs))
	}
	for i, p := range own {
		w := theirs[i]
		same := len(own) == 1 || p.size == int64(w.Size)
		switch {
		case p.kind == inMemory:
			same = same && w.Kind == op.AddrPiece && runProg(p.prog, regs) == w.Val
		case p.kind == inReg:
			same = same && w.Kind == op.RegPiece && uint64(p.reg) == w.Val
		case p.kind == isValue:
			same = same && w.Kind == op.ImmPiece && runProg(p.prog, regs) == w.Val
		case p.kind == isBytes:
			same = same && w.Kind == op.ImmPiece && bytes.Equal(p.data, w.Bytes)
		default: // lost: Delve has an address of 0 or a value of nothing
			same = same && w.Val == 0 && len(w.Bytes) == 0
		}
		if !same {
			return fmt.Errorf("piece %d is %+v, Delve has %+v", i, p, w)
		}
	}
	return nil
}
