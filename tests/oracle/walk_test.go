package oracle

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// walkScript stops once at each address at which a line of the file FILE begins, and goes through the variables that
// are in scope there: into members, bases, what references and pointers lead to, and arrays. For each number it writes
// "pc kind expression size value lines" with tabs between them, the expression being that of a script and the value ?
// where gdb has none; lines is how many the place is behind the variable's declaration. kind is as in gdbScript, or
// "result", where pc is the entry of the function that has returned.
const walkScript = `
import gdb, os
for c in ("pagination off", "width 0", "confirm off", "debuginfod enabled off", "disable-randomization on", "print object off", "exec-wrapper env -i"):
    gdb.execute("set " + c)
for c in ("quit no", "corefile no"): # references that are in pieces, in gdb 13: an error like others
    gdb.execute("maint set internal-error " + c)
FILE = os.environ["FILE"]
out = open(os.environ["ANSWER"], "w")
SCALAR = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_PTR)
MOST = 14 # numbers of one variable
def number(v):
    try:
        return "?" if v.is_optimized_out else str(int(v))
    except Exception:
        return "?"
def plain(name):
    return name != "" and (name[0].isalpha() or name[0] == "_") and all(c.isalnum() or c == "_" for c in name)
# ours reports whether an address is one of the program's own: of its image and heap, or of its stack. What is not set yet
# may lead to the data of the dynamic linker, which holds times.
def ours(text):
    if text in ("?", "0"):
        return False
    a = int(text)
    return 0x200000 <= a < 1 << 32 or int(gdb.newest_frame().read_register("rsp")) <= a < 1 << 47
def walk(e, v, depth, found):
    if len(found) >= MOST or depth > 5:
        return
    try:
        t = v.type.strip_typedefs()
    except gdb.error:
        return
    if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        try:
            to = v.referenced_value()
            to.fetch_lazy()
        except BaseException:
            return
        if to.type.strip_typedefs().code in SCALAR:
            e += "[0]"
        walk(e, to, depth + 1, found)
    elif t.code in SCALAR:
        found.append((e, t.sizeof, number(v)))
        if t.code == gdb.TYPE_CODE_PTR and depth < 2 and ours(found[-1][2]):
            try:
                to = v.dereference()
                code = to.type.strip_typedefs().code
                to.fetch_lazy()
            except Exception:
                return
            if code in SCALAR:
                walk(e + "[0]", to, depth + 3, found)
            elif code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
                walk(e, to, depth + 1, found)
    elif t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        if t.dynamic: # which of the variants of an enumeration it is
            return
        members(e, e, v, t, depth, found, set())
    elif t.code == gdb.TYPE_CODE_ARRAY:
        lo, hi = t.range()
        for i in {lo, hi}:
            if hi >= lo:
                walk("%s[%d]" % (e, i), v[i], depth + 1, found)
# members goes into a struct; those of bases and of structs without a name are its own, unless they are hidden.
def members(top, e, v, t, depth, found, hidden):
    fields = [f for f in t.fields() if hasattr(f, "bitpos") and not f.artificial]
    own = set(f.name for f in fields if f.name and not f.is_base_class)
    for f in fields:
        if f.name and f.name.startswith("_vptr"):
            continue
        try:
            m = v[f]
            mt = m.type.strip_typedefs()
        except Exception:
            continue
        if f.is_base_class or not f.name:
            if mt.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
                members(top, e, m, mt, depth + 1, found, hidden | (own if f.is_base_class else set()))
        elif f.name not in hidden:
            name = f.name
            if name.isdigit(): # of a tuple
                name = "__" + name
            elif not plain(name):
                continue
            if f.bitsize and mt.code in SCALAR:
                if len(found) < MOST:
                    found.append((e + "->" + name, mt.sizeof, number(m)))
            else:
                walk(e + "->" + name, m, depth + 1, found)
lines = {}
for n in gdb.decode_line(FILE + ":1")[1]:
    tab = n.symtab
for x in tab.linetable():
    if x.line > 0:
        lines.setdefault(x.pc, set()).add(x.line)
class Fin(gdb.FinishBreakpoint):
    def stop(self):
        v = self.return_value
        if v is not None:
            found = []
            walk("$return", v, 0, found)
            for e, size, text in found:
                out.write("%x\tresult\t%s\t%d\t%s\t0\n" % (self.entry, e, size, text))
        return False
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
            block, fn = frame.block(), frame.function()
        except RuntimeError:
            return False
        kind = "line"
        entry = fn is not None and frame.type() == gdb.NORMAL_FRAME and fn.value().address is not None and int(fn.value().address) == self.pc
        if entry and fn.type.target() is not None and fn.type.target().code != gdb.TYPE_CODE_VOID:
            pending.append(self.pc)
        if len(lines.get(self.pc, ())) > 1:
            kind = "several"
        elif entry:
            kind = "entry"
        seen, line = set(), frame.find_sal().line
        while block is not None and not block.is_global and not block.is_static:
            for s in block:
                if not (s.is_argument or s.is_variable or s.is_constant) or s.name in seen or s.addr_class == gdb.SYMBOL_LOC_STATIC:
                    continue
                seen.add(s.name)
                if not plain(s.name):
                    continue
                found = []
                try:
                    v = s.value(frame)
                    if v.is_optimized_out:
                        walk("$" + s.name, v, 5, found)
                    else:
                        walk("$" + s.name, v, 0, found)
                except Exception:
                    pass
                how = kind
                if kind == "entry" and s.name in self.unmade:
                    how = "unmade"
                for e, size, text in found:
                    out.write("%x\t%s\t%s\t%d\t%s\t%d\n" % (self.pc, how, e, size, text, line - s.line))
            if block.function:
                break
            block = block.superblock
        return len(pending) > 0
pending = []
for pc in lines:
    b = Stop("*%#x" % pc)
    b.pc, b.silent, b.unmade = pc, True, unmade(pc) if begins(pc) else ()
gdb.execute("run > /dev/null 2>&1")
while pending:
    pc = pending.pop()
    try: # only while the program is stopped
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        b = Fin(frame, internal=True)
        b.entry, b.silent = pc, True
    except Exception:
        pass
    gdb.execute("continue")
out.write("END %d\n" % (gdb.selected_inferior().pid == 0))
out.close()
`

// walkValue is a number that gdb has found.
type walkValue struct {
	pc         uint64
	kind, expr string
	size       int
	want       string
	lines      int
}

// walked runs bin, which dir has, under gdb and gives the numbers that are at the lines of file.
func walked(t *testing.T, dir, bin, file string) (out []walkValue) {
	answer := filepath.Join(dir, "answer")
	os.Remove(answer)
	said := must(t, dir, []string{"FILE=" + file, "ANSWER=" + answer}, "gdb", "-nx", "-batch", "-x",
		write(t, dir, "walk.py", walkScript), bin)
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	text, ended := bytes.CutSuffix(text, []byte("END 1\n"))
	if !ended {
		t.Errorf("the program did not end under gdb: the script stopped it\n%s", said)
	}
	for line := range strings.Lines(string(text)) {
		w := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(w) != 6 {
			t.Fatalf("gdb's script wrote %q", line)
		}
		v := walkValue{kind: w[1], expr: w[2], want: w[4]}
		v.pc, _ = strconv.ParseUint(w[0], 16, 64)
		v.size, _ = strconv.Atoi(w[3])
		v.lines, _ = strconv.Atoi(w[5])
		out = append(out, v)
	}
	return out
}

// functionNames are the linker's names of functions by address.
func functionNames(t *testing.T, bin string) map[uint64]string {
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint64]string{}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && names[s.Value] == "" {
			names[s.Value] = s.Name
		}
	}
	return names
}

// againstWalk compares all numbers that gdb finds in the program bin in dir, built of file, with those that gostap
// reads at the same addresses. excluded gives the reason for which one is not compared, "" for most.
func againstWalk(t *testing.T, f *Figures, what, dir, bin, file string, optimized bool,
	excluded func(fn string, v walkValue) string) {
	t.Helper()
	names := functionNames(t, filepath.Join(dir, bin))
	byPlace := map[string][]int{}
	var values []walkValue
	for _, v := range walked(t, dir, bin, file) {
		why := ""
		switch {
		case v.kind == "several":
			why = "at addresses at which several lines begin, which gdb does not tell apart"
		case v.kind == "unmade" && optimized:
			why = "at entries, where gdb finds it by a register that the function has yet to set"
		case (v.kind == "entry" || v.kind == "unmade") && !optimized:
			why = "at entries of code without optimisation, where gdb reads what is not stored yet"
		case excluded != nil:
			why = excluded(names[v.pc], v)
		}
		if why != "" {
			f.Note(why, 1)
			continue
		}
		place := fmt.Sprintf("statement(%#x)", v.pc)
		if v.kind == "result" {
			if names[v.pc] == "" {
				continue
			}
			place = fmt.Sprintf("function(%q).return", names[v.pc])
		}
		byPlace[place] = append(byPlace[place], len(values))
		values = append(values, v)
	}
	places := make([]string, 0, len(byPlace))
	for p := range byPlace {
		places = append(places, p)
	}
	slices.Sort(places)
	var script strings.Builder
	script.WriteString("global n\n")
	for i, p := range places {
		fmt.Fprintf(&script, "probe process(@1).%s ? {\n\tif (n[%d]++) next\n", p, i)
		for _, k := range byPlace[p] {
			fmt.Fprintf(&script, "\ttry { if (@defined(%[1]s)) printf(\"@W %[2]d %%d\\n\", %[1]s) else "+
				"printf(\"@W %[2]d ?\\n\") } catch { printf(\"@W %[2]d fault\\n\") }\n", values[k].expr, k)
		}
		script.WriteString("}\n")
	}
	write(t, dir, "walk.stp", script.String())
	run := write(t, dir, "run", fmt.Sprintf(sameSpace, filepath.Join(dir, bin)))
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	out, errs, err := trace(t, dir, nil, "-w", "-D", "MAXACTION=100000", "walk.stp", "./"+bin, "-c", "./run")
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, errs)
	}
	got := map[int]string{}
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) == 3 && w[0] == "@W" {
			k, _ := strconv.Atoi(w[1])
			got[k] = w[2]
		}
	}
	again := map[walkValue]bool{} // what gdb reads differently when it is asked again is not compared
	for k, v := range values {
		g, seen := got[k]
		if seen && g != "?" && g != "fault" && v.want != "?" && !same(g, v.want, v.size) && len(again) == 0 {
			for _, v := range walked(t, dir, bin, file) {
				again[v] = true
			}
		}
		switch {
		case !seen:
			f.Note("places that only gdb has come by", 1)
		case g == "fault":
			f.Refused("reading it ends with an error")
		case g == "?" && v.want == "?":
			f.Note("neither has a value", 1)
		case g == "?":
			f.Refused("gostap leaves it open, gdb gives something: " + v.kind)
		case v.want == "?":
			f.Note("gdb has no value, gostap has", 1)
		case same(g, v.want, v.size):
			f.Equal(1)
		case !again[v]:
			f.Note("values that gdb itself reads differently when it is asked again", 1)
		default:
			f.Wrong("%s: %#x %s (%s) %s: %s, gdb has %s", what, v.pc, names[v.pc], v.kind, v.expr, g, v.want)
		}
	}
}

// same reports whether two numbers in text are the same in their low size bytes.
func same(a, b string, size int) bool {
	num := func(s string) uint64 {
		if n, err := strconv.ParseInt(s, 0, 64); err == nil {
			return uint64(n)
		}
		n, _ := strconv.ParseUint(s, 0, 64)
		return n
	}
	mask := ^uint64(0)
	if size < 8 {
		mask = 1<<(8*size) - 1
	}
	return num(a)&mask == num(b)&mask
}
