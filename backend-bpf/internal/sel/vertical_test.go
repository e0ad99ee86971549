package sel

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/place"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

const target = `
struct pair { int a; short b; };
__attribute__((noinline)) long probed(long n, struct pair *p) { asm volatile("" ::: "memory"); return n + p->a; }
int main(void) {
	struct pair p = {-5, -7};
	long s = 0;
	for (long i = 0; i < 10; i++) { p.a--; s += probed(i, &p); }
	return s == 12345;
}
`

func buildC(t testing.TB, src string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	c := filepath.Join(dir, "t.c")
	if err := os.WriteFile(c, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "t")
	if b, err := exec.Command("gcc", "-O1", "-g", "-o", out, c).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// TestUprobe runs a handler at a real probe: registers, memory, arithmetic, a counter, output.
func TestUprobe(t *testing.T) {
	bin := buildC(t, target)
	p := &ir.Program{Limits: layout.Default()}
	n := p.AddGlobal(&ir.Global{Name: "n", Type: types.Long})
	fm := p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Conv('d'), ir.Literal(" "), ir.Conv('d'), ir.Literal(" "), ir.Conv('d'), ir.Literal("\n")}})
	b := ir.NewBuilder("")
	arg, ptr := b.Long("n"), b.Long("p")
	in := b.Make(ir.OpReg, arg)
	in.N = 5
	b.Emit(in)
	in = b.Make(ir.OpReg, ptr)
	in.N = 4
	b.Emit(in)
	a := b.Load(ir.R(ptr), 4, true, false)
	sh := b.Load(b.Bin(ir.OpAdd, ir.R(ptr), ir.I(4)), 2, true, false)
	b.OnGlobal(ir.OpGAdd, n, ir.NoReg, ir.I(1))
	q := b.Bin(ir.OpDiv, b.Bin(ir.OpMul, a, sh), ir.I(-3))
	b.Print(fm, ir.R(arg), a, q)
	h := b.Finish()
	p.Probes = []*ir.Probe{{Name: "test", Handler: h, Cond: -1, Sites: []*probe.Site{{Kind: probe.Uprobe}}}}

	lay, err := maps.New(p, []bool{true}, maps.Options{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	u := &Unit{P: p, Layout: lay, CPUs: 2, Schema: &wire.Schema{}, CanStop: true}
	res, err := u.Handler(&Handler{Name: "test", Handler: &place.Handler{Body: h, Sites: p.Probes[0].Sites, IDs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v", res.Spec.Instructions)
	spec := &ebpf.CollectionSpec{Maps: u.Maps(1 << 20), Programs: map[string]*ebpf.ProgramSpec{"test": res.Spec}}
	for k, m := range lay.Maps {
		spec.Maps[k] = m
	}
	coll, err := ebpf.NewCollection(spec)
	var ve *ebpf.VerifierError
	if errors.As(err, &ve) {
		t.Fatalf("%+v", ve)
	} else if err != nil {
		t.Fatal(err)
	}
	defer coll.Close()
	ctl := make([]byte, plan.CtlSize)
	binary.LittleEndian.PutUint32(ctl[plan.CtlState:], uint32(wire.Running))
	if err := coll.Maps[plan.MapControl].Put(uint32(0), ctl); err != nil {
		t.Fatal(err)
	}
	ex, err := link.OpenExecutable(bin)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ex.Uprobe("probed", coll.Programs["test"], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := exec.Command(bin).Run(); err != nil {
		t.Fatal(err)
	}
	rd, err := ringbuf.NewReader(coll.Maps[plan.MapOutput])
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	var got [][3]int64
	var d wire.Decoder
	for i := range 10 {
		rd.SetDeadline(time.Now().Add(time.Second))
		rec, err := rd.Read()
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		hd, body, err := wire.ParseHeader(rec.RawSample)
		if err != nil || hd.Kind != wire.Print {
			t.Fatalf("%+v %v", hd, err)
		}
		if err := d.Print(body, u.Schema, func(_ int, v []wire.Value) error {
			got = append(got, [3]int64{v[0].Int, v[1].Int, v[2].Int})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	var want [][3]int64
	for i := int64(0); i < 10; i++ {
		a := -6 - i
		want = append(want, [3]int64{i, a, a * -7 / -3})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	var sc []byte
	if err := coll.Maps[plan.MapScalars].Lookup(uint32(0), &sc); err != nil {
		t.Fatal(err)
	}
	if v := binary.LittleEndian.Uint64(sc); v != 10 {
		t.Errorf("n = %d", v)
	}
}
