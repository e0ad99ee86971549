package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// gdbScript stops once at each pc of EVENTS and prints the scalars that are in scope there: "@G pc name size value
// kind", ? for what was optimised out. kind says whether the pc is a function's entry, or one at which several
// lines begin. A name in an inner block hides that of an outer one; those of the function around an inlined copy
// are not the copy's.
//
// At an entry the kind is "unmade" for a variable that LLVM finds by a register of the frame, which the function sets
// only behind the entry: gdb takes what the caller has in it. Of an eighth argument of 80, which is at "frame base reg
// $rsp offset 0+200", and at the entry at $rsp+16, gdb reads what is at $rsp+200.
const gdbScript = `
import gdb, os
for c in ("pagination off", "width 0", "confirm off", "debuginfod enabled off", "disable-randomization on", "print thread-events off"):
    gdb.execute("set " + c)
pcs = [int(l, 16) for l in open(os.environ["EVENTS"])]
out = open(os.environ["ANSWER"], "w")
lines = {} # by address, of each file
def several(frame, pc):
    tab = frame.find_sal().symtab
    if tab is None:
        return False
    if tab.filename not in lines:
        at = lines[tab.filename] = {}
        for e in tab.linetable():
            at.setdefault(e.pc, set()).add(e.line)
    return len(lines[tab.filename].get(pc, ())) > 1
# unmade names the variables at pc, a function's entry, that are found by a register of the frame. It is asked before the
# program runs: an error of a command while it does would stop it.
def unmade(pc):
    try:
        text = gdb.execute("info scope *%#x" % pc, to_string=True)
    except gdb.error:
        return set()
    return set(l.split()[1] for l in text.splitlines() if l.startswith("Symbol ") and "at frame base reg" in l)
def begins(pc):
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block is not None and block.start == pc
class Stop(gdb.Breakpoint):
    def stop(self):
        self.enabled = False
        frame = gdb.newest_frame()
        try:
            block = frame.block()
        except RuntimeError:
            return False
        seen = set()
        kind = "line"
        if several(frame, self.pc):
            kind = "several"
        elif frame.function() is not None and frame.function().symtab is not None and frame.function().value().address is not None and int(frame.function().value().address) == self.pc:
            kind = "entry"
        while block is not None and not block.is_global and not block.is_static:
            for s in block:
                if not (s.is_argument or s.is_variable or s.is_constant) or s.name in seen or s.addr_class == gdb.SYMBOL_LOC_STATIC:
                    continue
                seen.add(s.name)
                t = s.type.strip_typedefs()
                if t.code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_PTR):
                    continue
                try:
                    v = s.value(frame)
                    text = "?" if v.is_optimized_out else str(int(v))
                except Exception:
                    text = "?"
                how = kind
                if kind == "entry" and s.name in self.unmade:
                    how = "unmade"
                out.write("@G %x %s %d %s %s\n" % (self.pc, s.name, t.sizeof, text, how))
            if block.function:
                break
            block = block.superblock
        return False
for pc in pcs:
    try:
        b = Stop("*%#x" % pc) # at an internal one gdb is not in the inlined copy that begins there, but in the function around it
        b.pc, b.silent, b.unmade = pc, True, unmade(pc) if begins(pc) else ()
    except Exception:
        pass
gdb.execute("set exec-wrapper env -i")
gdb.execute("run > /dev/null 2>&1")
out.write("@END %d\n" % (gdb.selected_inferior().pid == 0))
out.close()
`

// sameSpace runs a program as gdbScript does, so that addresses are the same: no environment, no randomisation.
const sameSpace = "#!/bin/sh\nexec env -i setarch -R %s > /dev/null 2>&1\n"

// gdbProgram is a C program to compare at: sources with flags.
type gdbProgram struct {
	name    string
	dir     string
	sources []string
	flags   []string
	points  []string
}

// TestGdb: C variables at entries and lines are what gdb reads when it is stopped at the same pc.
func TestGdb(t *testing.T) {
	needRoot(t)
	need(t, "gdb")
	need(t, "setarch")
	var all Figures
	for _, p := range gdbPrograms(t) {
		for _, b := range cBuilds(t) {
			t.Run(strings.ReplaceAll(p.name+" "+b.String(), " ", "_"), func(t *testing.T) {
				dir := t.TempDir()
				bin := filepath.Join(dir, "prog")
				args := append(append([]string{"-w", "-g", "-no-pie", "-fno-pie", "-o", bin}, b.flags...), p.flags...)
				if b.cc == "gcc" {
					args = append(args, "-gno-variable-location-views") // gdb does not know them
				}
				must(t, p.dir, nil, b.cc, append(args, append(p.sources, "-lm", "-lpthread", "-ldl")...)...)
				f := againstGdb(t, dir, bin, p.points, b.flags[0] != "-O0")
				f.Report(t, 20)
				all.Add(f)
			})
		}
	}
	t.Logf("in all: %s", &all)
	if all.Compared() < 100 {
		t.Errorf("only %d compared", all.Compared())
	}
}

// gdbPrograms are random programs, and in the full form SQLite, which a Go module brings along.
func gdbPrograms(t *testing.T) (out []gdbProgram) {
	for _, seed := range Seeds(1, 4) {
		g := &lines{Rand: rand.New(rand.NewPCG(seed, 6))}
		dir := t.TempDir()
		write(t, dir, "lines.c", g.program(9))
		out = append(out, gdbProgram{fmt.Sprint("random ", seed), dir, []string{"lines.c"}, nil,
			[]string{`function("f*@lines.c").call`, `statement("*@lines.c:*")`}})
	}
	if !Full() {
		return out
	}
	mod := exec.Command("go", "mod", "download", "-json", "github.com/mattn/go-sqlite3@v1.14.24")
	text, err := mod.Output()
	var at struct{ Dir string }
	if json.Unmarshal(text, &at) != nil || err != nil || at.Dir == "" {
		t.Logf("SQLite's source cannot be had: %v", err)
		return out
	}
	dir := t.TempDir()
	write(t, dir, "work.c", sqliteWork)
	return append(out, gdbProgram{"sqlite", dir, []string{"work.c", filepath.Join(at.Dir, "sqlite3-binding.c")},
		[]string{"-I", at.Dir, "-DSQLITE_THREADSAFE=0"},
		[]string{`function("sqlite3*@sqlite3-binding.c").call`, `statement("sqlite3VdbeExec@sqlite3-binding.c:*")`,
			`statement("balance*@sqlite3-binding.c:*")`,
			`statement("where*@sqlite3-binding.c:*")`, `statement("sqlite3Select@sqlite3-binding.c:*")`}})
}

const sqliteWork = `#include "sqlite3-binding.h"
#include <stdio.h>
static int row(void *p, int n, char **v, char **c) { for (int i = 0; i < n; i++) printf("%s=%s ", c[i], v[i] ? v[i] : "NULL"); puts(""); return 0; }
int main(void)
{
	sqlite3 *db;
	const char *q[] = {"create table t(a integer primary key, b text, c real)", "insert into t values(1,'one',1.5),(2,'two',2.5),(3,'three',null)",
		"create index i on t(b)", "select a, upper(b), c*2 from t where b > 'o' order by b desc", "select count(*), sum(c), group_concat(b) from t",
		"with recursive n(i) as (select 1 union all select i+1 from n where i < 900) insert into t(b) select 'row' || i from n",
		"update t set b = b || 'x' where a = 2", "select * from t a join t b on a.a = b.a + 1 where a.c is not null", "delete from t where a % 3 = 1", "select bogus from t", 0};
	sqlite3_open(":memory:", &db);
	for (int i = 0; q[i]; i++) sqlite3_exec(db, q[i], row, 0, 0);
	return sqlite3_close(db);
}
`

// againstGdb traces bin, runs it under gdb with stops at the same places, and compares the scalars.
func againstGdb(t *testing.T, dir, bin string, points []string, optimized bool) *Figures {
	var list []string
	for _, p := range points {
		list = append(list, fmt.Sprintf("process(%q).%s ?", bin, p))
	}
	script := "global n\nprobe " + strings.Join(list, ", ") + ` {
	if (n[uaddr()]++ >= 1) next
	try { printf("@E %x %s %s\n", uaddr(), ppfunc(), $$vars) } catch (e) { printf("@F %x %s %s\n", uaddr(), ppfunc(), e) }
}`
	run := write(t, dir, "run", fmt.Sprintf(sameSpace, bin))
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	out, errs, err := trace(t, dir, nil, "-w", "-s", "64", "-D", "MAXMAPENTRIES=100000", "-D", "MAXSTRINGLEN=1000",
		"-e", script, "-c", run)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	events := map[uint64]goEvent{}
	var pcs strings.Builder
	var faults []string
	f := &Figures{}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "@F ") { // such as a variable that is where a pointer leads that is 0
			f.Refused("reading the variables of a place ends with an error")
			if len(faults) < 20 {
				faults = append(faults, strings.TrimSpace(line))
			}
			continue
		}
		rest, ok := strings.CutPrefix(line, "@E ")
		w := strings.SplitN(strings.TrimSuffix(rest, "\n"), " ", 3)
		if !ok || len(w) < 3 {
			continue
		}
		pc, err := strconv.ParseUint(w[0], 16, 64)
		if err != nil {
			continue
		}
		if _, again := events[pc]; again { // an entry and a line at one pc: gdb stops but once
			continue
		}
		events[pc] = goEvent{w[1], splitVars(w[2])}
		fmt.Fprintf(&pcs, "%x\n", pc)
	}
	env := []string{"EVENTS=" + write(t, dir, "events", pcs.String()), "ANSWER=" + filepath.Join(dir, "answer")}
	ask := func() []string {
		said := must(t, dir, env, "gdb", "-nx", "-batch", "-x", write(t, dir, "stop.py", gdbScript), bin)
		text, err := os.ReadFile(filepath.Join(dir, "answer"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(text), "@END 1\n") {
			t.Errorf("the program did not end under gdb: the script stopped it\n%s", said)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	for _, s := range faults {
		t.Logf("no variables: %s", s)
	}
	answers := ask()
	got := &Figures{}
	compareAnswers(got, events, answers, nil, optimized)
	if len(got.wrong) > 0 {
		again := map[string]bool{}
		for _, l := range ask() {
			again[l] = true
		}
		got = &Figures{}
		compareAnswers(got, events, answers, again, optimized)
	}
	f.Note("places", len(events))
	f.Add(got)
	return f
}

// compareAnswers compares with lines of gdbScript. again are those that gdb has given again, nil if it was asked once:
// what differs from one run of gdb to the next is what a variable holds that has no value yet, and is not compared.
func compareAnswers(f *Figures, events map[uint64]goEvent, answers []string, again map[string]bool, optimized bool) {
	for _, line := range answers {
		w := strings.Fields(line)
		if len(w) != 6 {
			continue
		}
		if w[5] == "several" {
			f.Note("at addresses at which several lines begin, which gdb does not tell apart", 1)
			continue
		}
		if w[5] == "unmade" && optimized {
			f.Note("at entries, where gdb finds it by a register that the function has yet to set", 1)
			continue
		}
		if (w[5] == "entry" || w[5] == "unmade") && !optimized {
			f.Note("at entries of code without optimisation, where gdb reads what is not stored yet", 1)
			continue
		}
		if again != nil && !again[line] {
			f.Note("values that gdb itself reads differently when it is asked again", 1)
			continue
		}
		pc, _ := strconv.ParseUint(w[1], 16, 64)
		size, _ := strconv.Atoi(w[3])
		compareScalar(f, events[pc], pc, w[2], size, w[4])
	}
}

// compareScalar compares one variable; gdb's value is want.
func compareScalar(f *Figures, e goEvent, pc uint64, name string, size int, want string) {
	var got []string
	for _, v := range e.vars {
		if v[0] == name {
			got = append(got, v[1])
		}
	}
	if len(got) == 0 {
		f.Note("variables that gostap does not list", 1)
		return
	}
	mask := uint64(math.MaxUint64)
	if size < 8 {
		mask = 1<<(8*size) - 1
	}
	open := false
	for _, g := range got {
		if g == "?" {
			open = true
			continue
		}
		if want == "?" {
			f.Note("gdb has no value, gostap has", 1)
			return
		}
		n, err1 := strconv.ParseUint(strings.TrimPrefix(g, "0x"), 16, 64)
		if !strings.HasPrefix(g, "0x") {
			m, err := strconv.ParseInt(g, 10, 64)
			n, err1 = uint64(m), err
		}
		m, err2 := strconv.ParseInt(want, 10, 64)
		k := uint64(m)
		if err2 != nil {
			k, err2 = strconv.ParseUint(want, 10, 64)
		}
		if err1 == nil && err2 == nil && n&mask == k&mask {
			f.Equal(1)
			return
		}
	}
	switch {
	case open && want == "?":
		f.Note("neither has a value", 1)
	case open:
		f.Refused("gostap leaves it open, gdb gives something")
	default:
		f.Wrong("%x %s: %s: %v, gdb has %s", pc, e.fn, name, got, want)
	}
}
