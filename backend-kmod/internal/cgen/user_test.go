package cgen

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/kmod"
	"github.com/gostap/gostap/runtime/wire"
)

// The generated handlers are run in user space, under the sanitizers, and compared with the interpreter: what they
// say, how they end, what the globals hold.

const rounds = 2

// header is what stands around one program's C.
const header = `#define gs_test 1
#include "gs_user.h"
`

// driver writes records to standard output, and at the end the globals.
const driver = `
static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel)
{
	unsigned int i;

	(void)kernel;
	if (addr >= 4096 || addr + n > 4096)
		return -14;
	for (i = 0; i < n; i++) {
		unsigned long at = addr + i, word = at / 8;

		((unsigned char *)dst)[i] = ((unsigned char *)&word)[at %% 8] | 0x20;
	}
	return 0;
}

static void put(unsigned int kind, unsigned int flags, unsigned int len, const void *body)
{
	unsigned int h[3] = { kind, flags, len };

	fwrite(h, 1, sizeof(h), stdout);
	if (len)
		fwrite(body, 1, len, stdout);
}

static bool gs_emit(u8 kind, u8 flags, u32 slot, const void *body, u32 len)
{
	(void)slot;
	put(kind, flags, len, body);
	return true;
}

static void gs_wake(void) { }

static void hit(void (*handler)(struct gs_hit *), unsigned int site, unsigned long pc)
{
	struct pt_regs regs = { .ax = 100, .dx = 101, .cx = 102, .bx = 103, .si = 104, .di = 105, .bp = 106, .sp = 107, .r8 = 108,
				.ip = pc + 0x5000 };
	struct gs_hit h = { .regs = &regs, .site = site };
	u64 before[GS_CAUSES];
	int i;

	memcpy(before, gs_cpus.causes, sizeof(before));
	gs_state = GS_RUNNING;
	handler(&h);
	for (i = 0; i < GS_CAUSES; i++) {
		if (gs_cpus.causes[i] != before[i])
			put(100, i, 0, NULL);
	}
}

static void event(unsigned int n) { put(101, n, 0, NULL); }

static void dump_map(unsigned int g, struct gs_map *m)
{
	static u64 el[4096];
	u32 i;

	for (i = m->first; i != GS_NIL; i = gs_node(m, i)->after) {
		memcpy(el, gs_node(m, i)->data, m->ksize);
		if (!gs_map_peek(m, gs_node(m, i), (char *)el + m->ksize))
			abort();
		put(102, g, m->ksize + m->vsize, el);
	}
}

static void dump_stat(unsigned int g, struct gs_pcpu *p)
{
	u64 sum[1024];

	gs_pcpu_merge(p, (struct gs_agg *)sum, p->need->words);
	put(102, g, GS_AGG_BYTES(p->need->words), sum);
}

static int run(void)
{
	int err, i;
	static struct gs_ctx ctx;

	gs_cpus.ctx[0] = &ctx;
	err = gs_memory_init();
	if (err)
		return 3;
	for (i = 0; i < %d; i++) {
%s	}
%s	gs_memory_free();
	return 0;
}
`

type event struct {
	kind   probe.Kind
	offset uint64
}

// events lists the calls of one round as irgen.Run makes them.
func events(p *ir.Program, u *Unit, names []string) (calls string, evs []event) {
	type call struct {
		handler string
		site    int
		pc      uint64
	}
	by := map[event][]call{}
	n := 0
	for i, pr := range p.Probes {
		for j, s := range pr.Sites {
			e := event{s.Kind, s.Offset()}
			if by[e] == nil {
				evs = append(evs, e)
			}
			by[e] = append(by[e], call{names[i], j, s.At.PC})
			n++
		}
	}
	slices.SortStableFunc(evs, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.offset, b.offset))
	})
	for i, e := range evs {
		calls += fmt.Sprintf("\t\tevent(%d);\n", i)
		for _, c := range by[e] {
			calls += fmt.Sprintf("\t\thit(%s, %d, 0x%xUL);\n", c.handler, c.site, c.pc)
		}
	}
	return calls, evs
}

// cprog writes the C of p as a function of its own file.
func cprog(p *ir.Program) (c string, u *Unit, evs []event, refused bool) {
	u, ds := Generate(p, Options{Name: "test", All: true})
	if ds.HasErrors() {
		return "", nil, nil, true
	}
	var names []string
	for i := range p.Probes {
		name := ""
		for _, line := range strings.Split(u.C, "\n") {
			if rest, ok := strings.CutPrefix(line, fmt.Sprintf("static void probe_%d_", i)); ok {
				name, _, _ = strings.Cut(rest, "(")
				name = fmt.Sprintf("probe_%d_%s", i, name)
			}
		}
		names = append(names, name)
	}
	calls, evs := events(p, u, names)
	dump := ""
	for i, g := range p.Globals {
		if u.Globals[i].Absent {
			continue
		}
		c := "g_" + clean(g.Name)
		switch {
		case g.IsArray():
			dump += fmt.Sprintf("\tdump_map(%d, &%s);\n", i, c)
		case g.Type == types.Stats:
			dump += fmt.Sprintf("\tdump_stat(%d, &%s);\n", i, c)
		case g.Type == types.String:
			dump += fmt.Sprintf("\tput(102, %d, strlen(%s.s) + 1, %s.s);\n", i, c, c)
		default:
			dump += fmt.Sprintf("\tput(102, %d, 8, &%s);\n", i, c)
		}
	}
	return header + u.C + fmt.Sprintf(driver, rounds, calls, dump), u, evs, false
}

// said turns the output of a run into the text of irgen.Run.
func said(t *testing.T, p *ir.Program, u *Unit, evs []event, out []byte) *irgen.Said {
	t.Helper()
	s := &irgen.Said{Globals: map[string]string{}}
	tr := &irgen.Transcript{Program: p}
	var dec wire.Decoder
	format := func(body []byte) (text []byte) {
		err := dec.Print(body, u.Schema, func(site int, args []wire.Value) error {
			var vals []textfmt.Val
			for _, a := range args {
				vals = append(vals, textfmt.Val{Int: a.Int, Str: string(a.Bytes)})
			}
			text = textfmt.Append(text, p.Formats[u.Schema.Sites[site].Format], vals)
			return nil
		})
		if err != nil {
			t.Fatalf("record: %v", err)
		}
		return text
	}
	elems := map[int]*strings.Builder{}
	for len(out) > 0 {
		if len(out) < 12 {
			t.Fatal("output is cut")
		}
		kind, flags, n := binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:]),
			binary.LittleEndian.Uint32(out[8:])
		body := out[12 : 12+n]
		out = out[12+n:]
		switch kind {
		case uint32(wire.Print):
			tr.Print(format(body))
		case uint32(wire.Warn):
			tr.Warn(string(format(body)))
		case uint32(wire.Exit):
			tr.Exit()
		case uint32(wire.Error):
			e, err := dec.ParseError(body)
			if err != nil {
				t.Fatal(err)
			}
			f := &textfmt.Fault{Code: ir.Code(e.Code), Pos: source.Pos(e.Pos)}
			for _, a := range e.Args {
				f.Args = append(f.Args, textfmt.Val{Int: a.Int, Str: string(a.Bytes)})
			}
			tr.Error(f)
		case 100:
			fmt.Fprintf(tr, "SKIPPED %s\n", ir.Cause(flags))
		case 101:
			fmt.Fprintf(tr, "--- %s %d\n", evs[flags].kind, evs[flags].offset)
		case 102:
			g := int(flags)
			if elems[g] == nil {
				elems[g] = &strings.Builder{}
			}
			elems[g].WriteString(element(p.Globals[g], &u.Globals[g], body))
		default:
			t.Fatalf("record of kind %d", kind)
		}
	}
	s.Text = tr.String()
	for i, g := range p.Globals {
		if b := elems[i]; b != nil {
			s.Globals[g.Name] = b.String()
		} else if !u.Globals[i].Absent {
			s.Globals[g.Name] = ""
		}
	}
	return s
}

// element writes an element or scalar as irgen.Globals does.
func element(g *ir.Global, l *Layout, b []byte) string {
	out := ""
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	if g.IsArray() {
		var key []textfmt.Val
		for i, k := range g.Keys {
			if k.Type == types.String {
				s, _, _ := bytes.Cut(b[l.Off[i]:l.Off[i]+l.Size[i]], []byte{0})
				key = append(key, textfmt.Val{Str: string(s)})
			} else {
				key = append(key, textfmt.Val{Int: word(l.Off[i] / 8)})
			}
		}
		out = fmt.Sprintf("%+v", key)
		b = b[l.KeySize:]
	}
	switch g.Type {
	case types.Stats:
		var hists [][]int64
		at := AggHead / 8
		for _, h := range g.Stat.Hists {
			var c []int64
			for range h.Buckets() {
				c = append(c, word(at))
				at++
			}
			if word(0) > 0 {
				hists = append(hists, c)
			}
		}
		return out + fmt.Sprintf(" = %d %d %d %d %d %d\n", word(0), word(1), word(2), word(3), uint64(word(4)), hists)
	case types.String:
		s, _, _ := bytes.Cut(b, []byte{0})
		return out + fmt.Sprintf(" = %d %q\n", 0, s)
	}
	return out + fmt.Sprintf(" = %d %q\n", word(0), "")
}

// build compiles C files with the sanitizers.
func build(t *testing.T, dir, main string) string {
	t.Helper()
	if err := os.CopyFS(dir, kmod.Headers); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "run")
	cmd := exec.Command("gcc", "-std=gnu11", "-O1", "-g0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
		"-Wno-sign-compare", "-Wno-unused-variable", "-Wno-tautological-compare", "-Wno-type-limits",
		"-Wno-format-truncation", "-fwrapv", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", exe,
		main)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return exe
}

// TestRandom compares random programs.
func TestRandom(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	first, n := uint64(1), 8
	if s := os.Getenv("GOSTAP_SEED"); s != "" {
		fmt.Sscanf(s, "%d,%d", &first, &n)
	}
	done := 0
	for seed := first; done < n; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		p := irgen.Program(r)
		p.Limits.MaxErrors = 1 << 30
		if compare(t, seed, p) {
			done++
		}
		if t.Failed() {
			return
		}
	}
}

// compare runs p both ways; false when p is refused.
func compare(t *testing.T, seed uint64, p *ir.Program) bool {
	t.Helper()
	want, err := irgen.Run(p, rounds, irgen.Context{})
	if err != nil {
		t.Fatal(err)
	}
	c, u, evs, refused := cprog(p)
	if refused {
		return false
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(c+"\nint main(void) { return run(); }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	exe := build(t, dir, "main.c")
	var stderr bytes.Buffer
	cmd := exec.Command(exe)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, stderr.String(), p)
	}
	got := said(t, p, u, evs, out)
	fail := func(what, got, want string) {
		t.Errorf("seed %d: %s\n got %s\nwant %s\n%s", seed, what, got, want, p)
	}
	if got.Text != want.Text {
		fail("text", got.Text, want.Text)
	}
	for name, g := range got.Globals {
		if g != want.Globals[name] {
			fail("global "+name, g, want.Globals[name])
		}
	}
	return true
}
