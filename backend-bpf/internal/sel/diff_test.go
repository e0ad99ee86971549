package sel_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

var logLevel ebpf.LogLevel = ebpf.LogLevelStats

// maxWalk is the most instructions that the verifier may have to walk for one of the programs here: loading them takes
// a tenth of a second then.
var maxWalk = 150000

func posOf(s fmt.Stringer) source.Pos { return s.(plan.Source).Pos }

var listing = flag.Bool("listing", false, "show the instructions")

// machine is a program loaded into the kernel as raw tracepoint programs, which can be run at will.
type machine struct {
	t      testing.TB
	p      *ir.Program
	u      *sel.Unit
	lay    *maps.Layout
	coll   *ebpf.Collection
	rd     *ringbuf.Reader
	halves map[uint16][]byte
	out    strings.Builder // what was printed
	err    strings.Builder // errors and warnings
	insns  []int
	specs  map[string]*ebpf.ProgramSpec
	// cookies of the sites, by handler
	cookies [][]uint64
}

// forms gives the values of Features.MayGoto that the running kernel can do.
func forms() []bool {
	if features.Has(features.MayGoto) {
		return []bool{true, false}
	}
	return []bool{false}
}

func needRoot(t testing.TB) {
	if os.Getuid() != 0 {
		t.Skip("loading programs needs root")
	}
}

func newMachine(t testing.TB, p *ir.Program, feat sel.Features) *machine {
	t.Helper()
	needRoot(t)
	kernel := make([]bool, len(p.Globals))
	for i := range kernel {
		kernel[i] = true
	}
	lay, err := maps.New(p, kernel, maps.Options{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, p: p, lay: lay, halves: map[uint16][]byte{}, specs: map[string]*ebpf.ProgramSpec{}}
	m.u = &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, Feat: feat, CPUs: 2, Schema: &wire.Schema{}, CanStop: true,
		Name: "diff", Types: kernelTypes{}}}
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{}}
	for i, pr := range p.Probes {
		body, err := partition.Inline(p, pr.Handler, p.Nesting())
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("p%d", i)
		subs, err := partition.Subs(p, body, p.Nesting())
		if err != nil {
			t.Fatal(err)
		}
		h := &partition.Handler{Probe: i, Body: body, Subs: subs, Sites: pr.Sites}
		for k := range pr.Sites {
			h.IDs = append(h.IDs, k)
		}
		res, err := m.u.Handler(&sel.Handler{Handler: h, Name: name})
		if err != nil {
			t.Fatalf("%s: %v", pr.Name, err)
		}
		if len(m.u.Diags) > 0 {
			t.Fatalf("%s: %s", pr.Name, m.u.Diags[0].Message)
		}
		if !readsRegs(body) && res.Spec.Type != ebpf.TracePoint {
			res.Spec.Type, res.Spec.AttachType = ebpf.RawTracepoint, ebpf.AttachNone
		}
		if *listing {
			t.Logf("%v", res.Spec.Instructions)
		}
		m.insns = append(m.insns, res.Insns)
		m.specs[name] = res.Spec.Copy()
		for k := range res.Spec.Instructions {
			// The library would make line information of it, which the kernel wants complete.
			res.Spec.Instructions[k] = res.Spec.Instructions[k].WithSource(nil)
		}
		spec.Programs[name] = res.Spec
	}
	spec.Maps = m.u.Maps(1 << 20)
	for k, s := range lay.Maps {
		spec.Maps[k] = s
	}
	start := time.Now()
	m.coll, err = ebpf.NewCollectionWithOptions(spec,
		ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: logLevel}})
	if err == nil {
		t.Logf("loaded in %v", time.Since(start).Round(time.Millisecond))
		for _, pr := range m.coll.Programs {
			for _, l := range strings.Split(pr.VerifierLog, "\n") {
				var n int
				if _, err := fmt.Sscanf(l, "processed %d insns", &n); err == nil {
					t.Log(l)
					if n > maxWalk {
						t.Errorf("the verifier walks %d instructions", n)
					}
				}
			}
		}
	}
	if err != nil { // again, for the verifier's words
		_, err = ebpf.NewCollectionWithOptions(spec,
			ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelBranch}})
	}
	var ve *ebpf.VerifierError
	if errors.As(err, &ve) {
		log := fmt.Sprintf("%+v", ve)
		if len(log) > 12000 {
			log = log[:300] + "\n[...]\n" + log[len(log)-3500:]
		}
		t.Fatal(log)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.coll.Close)
	m.ownStacks(feat)
	ctl := make([]byte, plan.CtlSize)
	binary.LittleEndian.PutUint32(ctl[plan.CtlState:], uint32(wire.Running))
	if err := m.coll.Maps[plan.MapControl].Put(uint32(0), ctl); err != nil {
		t.Fatal(err)
	}
	if m.rd, err = ringbuf.NewReader(m.coll.Maps[plan.MapOutput]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.rd.Close() })
	return m
}

// readsRegs reports whether a handler needs the context of a uprobe.
func readsRegs(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			switch in := &b.Instrs[i]; in.Op {
			case ir.OpReg:
				return true
			case ir.OpIntr:
				switch in.Name {
				case "register", "u_register", "uaddr", "addr", "ubacktrace", "sprint_ubacktrace":
					return true
				}
			}
		}
	}
	return false
}

// counter adds up the counter of a cause.
func (m *machine) counter(c ir.Cause) (sum uint64) {
	m.t.Helper()
	all := m.coll.Maps[plan.MapCounters]
	for i := uint32(c); i < all.MaxEntries(); i += uint32(plan.CounterRow) {
		var n uint64
		if err := all.Lookup(i, &n); err != nil {
			m.t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// run runs handler i once and reads what it sent.
func (m *machine) run(i int) {
	m.t.Helper()
	defer func() {
		for c := range ir.Cause(ir.NumCauses) + 1 {
			if n := m.counter(c); n > 0 && c < ir.NumCauses {
				m.t.Errorf("%d hits lost: %s", n, c)
			}
		}
	}()
	if _, err := m.coll.Programs[fmt.Sprintf("p%d", i)].Run(&ebpf.RunOptions{Context: make([]uint64, 12)}); err != nil {
		m.t.Fatalf("run: %v", err)
	}
	m.read()
}

func (m *machine) read() {
	m.t.Helper()
	var d wire.Decoder
	for {
		m.rd.SetDeadline(time.Now().Add(-time.Second))
		rec, err := m.rd.Read()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			m.t.Fatal(err)
		}
		h, body, err := wire.ParseHeader(rec.RawSample)
		if err != nil {
			m.t.Fatal(err)
		}
		print := func(site int, args []wire.Value) error {
			var vals []textfmt.Val
			for _, a := range args {
				v := textfmt.Val{Int: a.Int}
				if a.Kind == wire.Text || a.Kind == wire.Mem {
					v.Str = string(a.Bytes)
				}
				vals = append(vals, v)
			}
			text := textfmt.Format(m.p.Formats[m.u.Schema.Sites[site].Format], vals)
			if h.Kind == wire.Warn {
				fmt.Fprintf(&m.err, "WARNING: %s\n", text)
				return nil
			}
			m.out.WriteString(text)
			return nil
		}
		switch h.Kind {
		case wire.Print, wire.Warn:
			if h.Kind == wire.Print {
				body = append(m.halves[h.Slot], body...)
				if h.Flags&wire.More != 0 {
					m.halves[h.Slot] = append([]byte(nil), body...)
					continue
				}
				delete(m.halves, h.Slot)
			}
			if err := d.Print(body, m.u.Schema, print); err != nil {
				m.t.Fatal(err)
			}
		case wire.Error:
			e, err := d.ParseError(body)
			if err != nil {
				m.t.Fatal(err)
			}
			f := textfmt.Fault{Code: ir.Code(e.Code)}
			for _, a := range e.Args {
				f.Args = append(f.Args, textfmt.Val{Int: a.Int, Str: string(a.Bytes)})
			}
			fmt.Fprintf(&m.err, "ERROR: %s\n", f.Message(m.p))
		case wire.Exit:
			m.err.WriteString("EXIT\n")
		default:
			m.t.Fatalf("record of kind %d", h.Kind)
		}
	}
}

// state writes the globals as text.
func (m *machine) state() string {
	var b strings.Builder
	for i, g := range m.p.Globals {
		gl := &m.lay.Globals[i]
		mp := m.coll.Maps[gl.Map]
		switch {
		case g.IsArray():
			var lines []string
			it := mp.Iterate()
			var k, v []byte
			for it.Next(&k, &v) {
				lines = append(lines, m.key(g, gl, k)+m.value(g, gl, v))
			}
			if err := it.Err(); err != nil {
				m.t.Fatal(err)
			}
			sort.Strings(lines)
			fmt.Fprintf(&b, "%s: %s\n", g.Name, strings.Join(lines, "; "))
		case gl.PerCPU:
			var vs [][]byte
			if err := mp.Lookup(uint32(0), &vs); err != nil {
				m.t.Fatal(err)
			}
			var all interp.Agg
			for _, v := range vs {
				a := m.agg(g, gl, v)
				merge(&all, a)
			}
			fmt.Fprintf(&b, "%s: %s\n", g.Name, aggText(&all, gl))
		default:
			var v []byte
			if err := mp.Lookup(uint32(0), &v); err != nil {
				m.t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n", g.Name, m.value(g, gl, v))
		}
	}
	return b.String()
}

func cstr(b []byte) string { s, _, _ := strings.Cut(string(b), "\x00"); return s }

func (m *machine) key(g *ir.Global, gl *plan.GlobalLayout, k []byte) string {
	var parts []string
	for i, c := range gl.Keys {
		b := k[c.Off : c.Off+c.Size]
		if g.Keys[i].Type == types.String {
			s := cstr(b)
			if strings.Trim(string(b[len(s):]), "\x00") != "" {
				m.t.Errorf("key of %s is not padded with zeros: %q", g.Name, b)
			}
			parts = append(parts, fmt.Sprintf("%q", s))
		} else {
			parts = append(parts, fmt.Sprint(int64(binary.LittleEndian.Uint64(b))))
		}
	}
	return "[" + strings.Join(parts, ",") + "]="
}

func (m *machine) value(g *ir.Global, gl *plan.GlobalLayout, v []byte) string {
	v = v[gl.ValueOff:]
	switch g.Type {
	case types.Long:
		return fmt.Sprint(int64(binary.LittleEndian.Uint64(v)))
	case types.String:
		s := cstr(v[:gl.ValueSize])
		if strings.Trim(string(v[len(s):gl.ValueSize]), "\x00") != "" {
			m.t.Errorf("value of %s is not padded with zeros: %q", g.Name, v[:gl.ValueSize])
		}
		return fmt.Sprintf("%q", s)
	}
	a := m.agg(g, gl, v)
	return aggText(&a, gl)
}

func (m *machine) agg(g *ir.Global, gl *plan.GlobalLayout, v []byte) interp.Agg {
	at := func(off int) uint64 {
		if off < 0 {
			return 0
		}
		return binary.LittleEndian.Uint64(v[off:])
	}
	s := &gl.Stat
	a := interp.Agg{Count: int64(at(s.Count)), Sum: int64(at(s.Sum)), SqHi: at(s.SqHi), SqLo: at(s.SqLo)}
	a.Min, a.Max = int64(at(s.Min))^(1<<63-1), int64(at(s.Max))^(-1<<63)
	for i, h := range s.Hists {
		counts := make([]int64, g.Stat.Hists[i].Buckets())
		for j := range counts {
			if h >= 0 {
				counts[j] = int64(at(h + 8*j))
			}
		}
		a.Hists = append(a.Hists, counts)
	}
	return a
}

func merge(to *interp.Agg, a interp.Agg) {
	if a.Count == 0 {
		a.Count, a.Min, a.Max = 0, to.Min, to.Max
		to.Sum += a.Sum
		return
	}
	to.Merge(&a)
}

// aggText shows the fields that are kept.
func aggText(a *interp.Agg, gl *plan.GlobalLayout) string {
	s := &gl.Stat
	var b strings.Builder
	show := func(name string, off int, v any) {
		if off >= 0 {
			fmt.Fprintf(&b, " %s=%v", name, v)
		}
	}
	show("count", s.Count, a.Count)
	if s.Count < 0 || a.Count > 0 {
		show("sum", s.Sum, a.Sum)
		show("min", s.Min, a.Min)
		show("max", s.Max, a.Max)
		show("sq", s.SqLo, []uint64{a.SqHi, a.SqLo})
		for i, h := range s.Hists {
			if h >= 0 && i < len(a.Hists) {
				for j, n := range a.Hists[i] {
					if n != 0 {
						fmt.Fprintf(&b, " h%d[%d]=%d", i, j, n)
					}
				}
			}
		}
	}
	return "(" + strings.TrimSpace(b.String()) + ")"
}

// reference runs the same with the interpreter.
type reference struct {
	p     *ir.Program
	lay   *maps.Layout
	store *interp.MemStore
	m     *interp.Machine
	out   strings.Builder
	err   strings.Builder
}

func (r *reference) Print(b []byte)         { r.out.Write(b) }
func (r *reference) Warn(s string)          { r.err.WriteString("WARNING: " + s + "\n") }
func (r *reference) Log(s string)           { r.out.WriteString(s + "\n") }
func (r *reference) Error(f *textfmt.Fault) { fmt.Fprintf(&r.err, "ERROR: %s\n", f.Message(r.p)) }
func (r *reference) Exit()                  { r.err.WriteString("EXIT\n") }

func newReference(t testing.TB, p *ir.Program, lay *maps.Layout) *reference {
	r := &reference{p: p, lay: lay, store: interp.NewMemStore(p)}
	var err error
	if r.m, err = interp.New(p, r.store, r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reference) state(t testing.TB) string {
	var b strings.Builder
	val := func(g *ir.Global, v interp.Val) string {
		if g.Type == types.String {
			return fmt.Sprintf("%q", v.Str)
		}
		return fmt.Sprint(v.Int)
	}
	for i, g := range r.p.Globals {
		gl := &r.lay.Globals[i]
		switch {
		case g.IsArray():
			elems, err := r.store.Elems(i)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, e := range elems {
				var parts []string
				for j, k := range e.Key {
					if g.Keys[j].Type == types.String {
						parts = append(parts, fmt.Sprintf("%q", k.Str))
					} else {
						parts = append(parts, fmt.Sprint(k.Int))
					}
				}
				line := "[" + strings.Join(parts, ",") + "]="
				if e.Agg != nil {
					line += aggText(e.Agg, gl)
				} else {
					line += val(g, e.Val)
				}
				lines = append(lines, line)
			}
			sort.Strings(lines)
			fmt.Fprintf(&b, "%s: %s\n", g.Name, strings.Join(lines, "; "))
		case g.Type == types.Stats:
			a, _, err := r.store.Stat(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n", g.Name, aggText(&a, gl))
		default:
			v, _, err := r.store.Get(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n", g.Name, val(g, v))
		}
	}
	return b.String()
}

// same runs every handler of a program in both executors, times times, and compares what they print and leave
// behind.
func same(t testing.TB, p *ir.Program, times int, feat sel.Features) *machine {
	t.Helper()
	m := newMachine(t, p, feat)
	r := newReference(t, p, m.lay)
	for range times {
		for i := range p.Probes {
			m.run(i)
			ctx := &interp.HostContext{Where: p.Probes[i].Sites[0]}
			if _, err := r.m.Run(i, ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := m.out.String(), r.out.String(); got != want {
		t.Errorf("output differs\nkernel:\n%s\ninterpreter:\n%s", got, want)
	}
	if got, want := m.err.String(), r.err.String(); got != want {
		t.Errorf("errors differ\nkernel:\n%s\ninterpreter:\n%s", got, want)
	}
	if got, want := m.state(), r.state(t); got != want {
		t.Errorf("globals differ\nkernel:\n%s\ninterpreter:\n%s", got, want)
	}
	return m
}

// TestDifferential runs testdata/*.ir in the kernel and in the interpreter.
func TestDifferential(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".ir")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			p := irtest.Parse(t, string(text))
			for _, may := range forms() {
				m := same(t, p, 2, sel.Features{MayGoto: may})
				t.Logf("instructions: %v", m.insns)
				if *listing {
					t.Logf("%s", m.out.String())
				}
			}
		})
	}
}
