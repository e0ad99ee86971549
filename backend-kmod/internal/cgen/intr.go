package cgen

import (
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/runtime/wire"
)

// longs are the intrinsics that are an expression of C; %N stands for operand N.
var longs = map[string]string{
	"pid": "gs_pid()", "tid": "gs_tid()", "ppid": "gs_ppid()", "uid": "gs_uid()", "euid": "gs_euid()", "gid": "gs_gid()", "egid": "gs_egid()",
	"cpu": "gs_cpu()", "pgrp": "gs_pgrp()", "sid": "gs_sid()", "ns_pid": "gs_ns_pid()", "ns_tid": "gs_ns_tid()", "task_current": "gs_task_current()",
	"target": "gs_target", "stp_pid": "gs_tracer",
	"gettimeofday_ns": "gs_wall(1)", "gettimeofday_us": "gs_wall(1000)", "gettimeofday_ms": "gs_wall(1000000)", "gettimeofday_s": "gs_wall(1000000000)",
	"get_cycles": "gs_mono()", "local_clock_ns": "gs_mono()", "ktime_get_ns": "gs_mono()", "jiffies": "gs_jiffies()",
	"raise":  "gs_raise_signal(%s)",
	"strlen": "strlen(%s)", "isinstr": "gs_strpos(%s, %s) >= 0", "strpos": "gs_strpos(%s, %s)", "strtol": "gs_strtol(%s, %s)",
}

// texts are those that write a string: the destination comes first.
var texts = map[string]string{
	"execname": "gs_execname(%d)", "pexecname": "gs_pexecname(%d)",
	"substr": "gs_substr(%d, %s, %s, %s)", "str_replace": "gs_replace(c, %d, %s, %s, %s)",
	"tolower": "gs_case(%d, %s, 'A', 'Z', 32)", "toupper": "gs_case(%d, %s, 'a', 'z', -32)",
	"text_str": "gs_quote(c, %d, %s, 0, false)", "string_quoted": "gs_quote(c, %d, %s, 0, true)",
	"text_strn": "gs_quote(c, %d, %s, %s, %s != 0)", "char_string": "gs_set(%d, (char[]){ (char)%s }, 1)",
}

// strings of the traced process and the kernel: length, address space, what stands in.
var reads = map[string]struct {
	n, kernel bool
	alt       int
}{
	"user_string": {false, false, 0}, "user_string2": {false, false, 1}, "user_string_n": {true, false, 0}, "user_string_n2": {true, false, 2},
	"kernel_string": {false, true, 0}, "kernel_string2": {false, true, 1}, "kernel_string_n": {true, true, 0}, "kernel_string_n2": {true, true, 2},
}

var loads = map[string]int{"int8": 1, "int16": 2, "int32": 4, "int64": 8}

// Translates reports whether an intrinsic can run in a module, or be named on the host when it is printed.
func Translates(name string) bool {
	_, lazy := place.HostTexts[name]
	_, str := reads[name]
	_, size := loadSize(name)
	return lazy || str || size || longs[name] != "" || texts[name] != "" || others[name]
}

// others have code of their own in intrinsic.
var others = map[string]bool{"exit": true, "abort": true, "error": true, "warn": true, "log": true, "stringat": true, "randint": true,
	"register": true, "u_register": true, "module_name": true, "is_return": true, "uaddr": true, "addr": true, "tz_gmtoff": true, "tz_name": true,
	"ustack_level": true, "stack_level": true, "panic": true, "mdelay": true, "udelay": true, "dump_stack": true, "printk": true, "table_text": true, "user_line": true,
	"user_text": true, "kernel_text": true}

func loadSize(name string) (intr, bool) {
	kernel := strings.HasPrefix(name, "kernel_")
	t, ok := strings.CutPrefix(strings.TrimPrefix(name, "kernel_"), "user_")
	if !ok && !kernel {
		return intr{}, false
	}
	t, unsigned := strings.CutPrefix(t, "u")
	n := loads[t]
	return intr{n, !unsigned, kernel}, n != 0
}

type intr struct {
	size           int
	signed, kernel bool
}

func (g *gen) operands(vs []ir.Val) []any {
	var out []any
	for _, v := range vs {
		if g.isString(v) {
			if v.Kind == ir.ValReg && g.lazy[v.Reg] != nil {
				out = append(out, `""`)
				continue
			}
			out = append(out, g.str(v))
		} else {
			out = append(out, g.long(v))
		}
	}
	return out
}

func (g *gen) intrinsic(in *ir.Instr) {
	f := intrinsic.Lookup(in.Name)
	a := in.Args
	for _, v := range a {
		if v.Kind == ir.ValReg && g.lazy[v.Reg] != nil {
			g.refuse(in.Pos, "the text is made on the host: in a module it can only be printed")
			return
		}
	}
	if arg, ok := place.HostTexts[in.Name]; ok {
		g.lazyIntr(in, arg)
		return
	}
	if e := longs[in.Name]; e != "" {
		g.set(in, e, g.operands(a)...)
		return
	}
	if e := texts[in.Name]; e != "" {
		if in.Dst != ir.NoReg {
			g.emit("%s;", fmt.Sprintf(strings.Replace(e, "%d", g.dst(in.Dst), 1), g.operands(a)...))
		}
		return
	}
	if s, ok := reads[in.Name]; ok {
		n, alt := "-1", "NULL"
		if s.n {
			n = fmt.Sprintf("max_t(s64, %s, 0)", g.long(a[1]))
		}
		if s.alt > 0 {
			alt = g.str(a[s.alt])
		}
		g.or(in, "gs_string(c, %d, %s, %s, %s, %v, %s)", in.Pos, g.dst(in.Dst), g.long(a[0]), n, s.kernel, alt)
		return
	}
	if l, ok := loadSize(in.Name); ok {
		g.or(in, "gs_load(c, %d, %s, %s, %d, %v, %v)", in.Pos, g.ref(in.Dst), g.long(a[0]), l.size, l.signed, l.kernel)
		return
	}
	switch in.Name {
	case "exit":
		g.emit("gs_exit(c);")
	case "abort":
		g.emit("gs_exit(c);\n\tgoto %s;", g.end())
	case "error":
		g.emit("gs_throw(c, %d, GS_ERR_USER, %s);\n\tgoto %s;", in.Pos, g.str(a[0]), g.onErr(in.OnErr))
	case "warn":
		g.say(in, "GS_WARN", "")
	case "log":
		g.say(in, "", "\n")
	case "user_line":
		g.or(in, "gs_line(c, %d, %s, %s, %s, %s)", in.Pos, g.dst(in.Dst), g.long(a[0]), g.long(a[1]), g.long(a[2]))
	case "user_text", "kernel_text":
		g.quotedText(in)
	case "table_text":
		g.tableText(in)
	case "ustack_level", "stack_level":
		g.stacks = true
		g.set(in, "gs_%s(hit->regs, %s, %d, %v)", in.Name, g.long(a[0]), g.p.Limits.MaxBacktrace, place.ReturnOnTop(g.sites()))
	case "panic":
		g.emit("gs_panic(%s);", g.str(a[0]))
	case "mdelay", "udelay":
		g.emit("gs_%s(%s);", in.Name, g.long(a[0]))
	case "dump_stack":
		g.emit("gs_dump_stack();")
	case "printk":
		g.or(in, "gs_printk(c, %d, %s, %s)", in.Pos, g.long(a[0]), g.str(a[1]))
	case "stringat":
		g.or(in, "gs_stringat(c, %d, %s, %s, %s)", in.Pos, g.ref(in.Dst), g.str(a[0]), g.long(a[1]))
	case "randint":
		g.or(in, "gs_randint(c, %d, %s, %s)", in.Pos, g.ref(in.Dst), g.long(a[0]))
	case "register", "u_register":
		if a[0].Kind != ir.ValStr {
			g.refuse(in.Pos, "the name of a register must be a constant in a module")
			return
		}
		n, ok := ir.RegNumber(a[0].Str)
		if !ok {
			g.emit("gs_throw(c, %d, GS_ERR_ARGUMENT, %s);\n\tgoto %s;", in.Pos, text("unknown register: "+a[0].Str), g.onErr(in.OnErr))
			return
		}
		g.set(in, "hit->regs ? hit->regs->%s : 0", regs[n])
	case "uaddr":
		g.set(in, "gs_uaddr(hit->regs)")
	case "addr":
		g.set(in, "hit->regs ? hit->regs->ip : 0")
	case "module_name":
		if in.Dst != ir.NoReg {
			g.emit("gs_copy(%s, gs_module_name());", g.dst(in.Dst))
		}
	case "is_return":
		if g.probe < 0 {
			g.refuse(in.Pos, "is_return() inside of a function")
			return
		}
		g.set(in, "%s", g.siteTable("bool", isReturn(g.probes.Sites)))
	case "tz_gmtoff":
		_, off := time.Now().Zone()
		g.set(in, "%s", long(-int64(off)))
	case "tz_name":
		name, _ := time.Now().Zone()
		if in.Dst != ir.NoReg {
			g.emit("gs_copy(%s, %s);", g.dst(in.Dst), text(name))
		}
	default:
		if f != nil && f.Where == intrinsic.HostOnly {
			g.refuse(in.Pos, "%s() runs on the host only: call it in a begin, end or timer probe", in.Name)
			return
		}
		g.refuse(in.Pos, "%s() cannot run in a kernel module", in.Name)
	}
}

// lazyIntr notes what the text of a PrintOnly intrinsic will be made of.
func (g *gen) lazyIntr(in *ir.Instr, arg wire.Arg) {
	if in.Dst == ir.NoReg || g.reads[in.Dst] == 0 {
		if in.Dst != ir.NoReg {
			g.lazy[in.Dst] = &arg
		}
		return
	}
	if !g.printed[in.Dst] || g.writes[in.Dst] != 1 {
		g.refuse(in.Pos, "the text of %s() is made on the host: in a module it can only be printed, not compared, stored or used as a key", in.Name)
		return
	}
	if arg.Lazy == wire.Decoded {
		if in.Args[1].Kind != ir.ValStr {
			g.refuse(in.Pos, "value_text() with a table that is no constant cannot run in a kernel module")
			return
		}
		arg.Names = &wire.Names{List: [][]byte{[]byte(in.Args[1].Str)}}
	}
	g.lazy[in.Dst] = &arg
	if len(in.Args) > 0 {
		g.emit("%s = %s;", g.name(in.Dst), g.long(in.Args[0]))
	}
}

// quotedText is user_text and kernel_text. Where the text is only printed, its bytes are sent and the host puts the quotes and escapes;
// not in guru mode, where they may have changed when it is printed.
func (g *gen) quotedText(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	kernel := in.Name == "kernel_text"
	cstr := in.Args[2].Kind != ir.ValInt || in.Args[2].Int != 0
	limit := g.p.Limits.MaxString - 1
	if !g.printed[in.Dst] || g.writes[in.Dst] != 1 || g.changes {
		g.emit("gs_quoted(c, %s, %s, %s, %v, %v);", g.dst(in.Dst), g.long(in.Args[0]), g.long(in.Args[1]), cstr, kernel)
		return
	}
	g.lazy[in.Dst] = &wire.Arg{Kind: wire.Quoted, Max: limit, CString: cstr}
	g.fromKernel[in.Dst] = kernel
	g.emit("%s = %s;\n\t%s_n = %s;", g.name(in.Dst), g.long(in.Args[0]), g.name(in.Dst), g.long(in.Args[1]))
}

// tableText gives an entry of a constant table.
func (g *gen) tableText(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	if in.Args[1].Kind != ir.ValStr {
		g.refuse(in.Pos, "the table of %s() must be a constant in a module", in.Name)
		return
	}
	list := textfmt.Entries(in.Args[1].Str)
	if len(list) == 0 {
		g.emit("gs_copy(%s, \"\");", g.dst(in.Dst))
		return
	}
	g.emit("gs_entry(%s, %s, %d, %s);", g.dst(in.Dst), g.textTable(in.Args[1].Str, list), len(list), g.long(in.Args[0]))
}

// textTable writes a table of texts, once, and gives its name.
func (u *unit) textTable(table string, list []string) string {
	if name := u.texts[table]; name != "" {
		return name
	}
	if u.texts == nil {
		u.texts = map[string]string{}
	}
	name := u.unique("texts")
	u.texts[table] = name
	fmt.Fprintf(&u.fmts, "static const char *const %s[] = {\n", name)
	for _, e := range list {
		fmt.Fprintf(&u.fmts, "\t%s,\n", text(e))
	}
	u.fmts.WriteString("};\n\n")
	return name
}
