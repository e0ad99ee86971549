package cgen

import (
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// translation is how a module does a built-in function: by an expression of C for a number, by a call that writes a
// string, or by code of its own.
type translation struct {
	// long and text are C, in which each %s stands for the next operand, and %d of a text for the destination.
	long, text string
	write      func(g *gen, in *ir.Instr)
	// light: it needs no context.
	light bool
	// cpu: its C uses the number of the CPU.
	cpu bool
}

// intrinsics are the functions that are translated, by the names of their rows. Those whose text the host makes
// need nothing here, and rows name Module for those that are refused; a test walks the rows.
var intrinsics = map[string]translation{
	"pid":          {long: "gs_pid()", light: true},
	"tid":          {long: "gs_tid()", light: true},
	"ppid":         {long: "gs_ppid()"},
	"uid":          {long: "gs_uid()", light: true},
	"euid":         {long: "gs_euid()", light: true},
	"gid":          {long: "gs_gid()", light: true},
	"egid":         {long: "gs_egid()", light: true},
	"cpu":          {long: "gs_cpu()", light: true, cpu: true},
	"pgrp":         {long: "gs_pgrp()"},
	"sid":          {long: "gs_sid()"},
	"ns_pid":       {long: "gs_ns_pid()"},
	"ns_tid":       {long: "gs_ns_tid()"},
	"task_current": {long: "gs_task_current()"},
	"target":       {long: "gs_target", light: true},
	"stp_pid":      {long: "gs_tracer"},
	"execname":     {text: "gs_execname(%d)"},
	"pexecname":    {text: "gs_pexecname(%d)"},
	"module_name": {write: func(g *gen, in *ir.Instr) {
		if in.Dst != ir.NoReg {
			g.emit("gs_copy(%s, gs_module_name());", g.dst(in.Dst))
		}
	}},
	"is_return": {light: true, write: (*gen).isReturn},

	"gettimeofday_ns": {long: "gs_wall(1)", light: true},
	"gettimeofday_us": {long: "gs_wall(1000)", light: true},
	"gettimeofday_ms": {long: "gs_wall(1000000)", light: true},
	"gettimeofday_s":  {long: "gs_wall(1000000000)", light: true},
	"get_cycles":      {long: "gs_mono()"},
	"local_clock_ns":  {long: "gs_mono()"},
	"ktime_get_ns":    {long: "gs_mono()", light: true},
	"jiffies":         {long: "gs_jiffies()"},
	"tz_gmtoff": {write: func(g *gen, in *ir.Instr) {
		_, off := time.Now().Zone()
		g.set(in, "%s", long(-int64(off)))
	}},
	"tz_name": {write: func(g *gen, in *ir.Instr) {
		name, _ := time.Now().Zone()
		if in.Dst != ir.NoReg {
			g.emit("gs_copy(%s, %s);", g.dst(in.Dst), text(name))
		}
	}},

	"strlen":        {long: "strlen(%s)"},
	"string_word":   {long: "gs_string_word(%s, %s)"},
	"aes_column":    {write: (*gen).aesColumn},
	"isinstr":       {long: "gs_strpos(%s, %s) >= 0"},
	"strpos":        {long: "gs_strpos(%s, %s)"},
	"strtol":        {long: "gs_strtol(%s, %s)"},
	"substr":        {text: "gs_substr(%d, %s, %s, %s)"},
	"str_replace":   {text: "gs_replace(c, %d, %s, %s, %s)"},
	"tolower":       {text: "gs_case(%d, %s, 'A', 'Z', 32)"},
	"toupper":       {text: "gs_case(%d, %s, 'a', 'z', -32)"},
	"text_str":      {text: "gs_quote(c, %d, %s, 0, false)"},
	"string_quoted": {text: "gs_quote(c, %d, %s, 0, true)"},
	"text_strn":     {text: "gs_quote(c, %d, %s, %s, %s != 0)"},
	"char_string":   {text: "gs_set(%d, (char[]){ (char)%s }, 1)"},
	"stringat": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_stringat(c, %d, %s, %s, %s)", in.Pos, g.ref(in.Dst), g.str(in.Args[0]), g.long(in.Args[1]))
	}},
	"table_text": {write: (*gen).tableText},
	"snap_root": {write: func(g *gen, in *ir.Instr) {
		g.emit("gs_snap_root(%s, %s, %s);", snapArea(in), g.long(in.Args[0]), g.long(in.Args[1]))
	}},
	"snap_read": {write: (*gen).snapRead},
	"snap_get": {write: func(g *gen, in *ir.Instr) {
		g.set(in, "gs_snap_get(%s, %s)", snapArea(in), g.long(in.Args[0]))
	}},
	"snap_at": {write: func(g *gen, in *ir.Instr) {
		g.set(in, "*gs_snap_num(%s, %s)", snapArea(in), g.long(in.Args[0]))
	}},
	"snap_set": {write: func(g *gen, in *ir.Instr) {
		g.emit("*gs_snap_num(%s, %s) = %s;", snapArea(in), g.long(in.Args[0]), g.long(in.Args[1]))
	}},
	"snap_table": {write: (*gen).snapTable},
	"randint": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_randint(c, %d, %s, %s)", in.Pos, g.ref(in.Dst), g.long(in.Args[0]))
	}},

	"user_string":      {write: (*gen).readString},
	"user_string2":     {write: (*gen).readString},
	"user_string_n":    {write: (*gen).readString},
	"user_string_n2":   {write: (*gen).readString},
	"kernel_string":    {write: (*gen).readString},
	"kernel_string2":   {write: (*gen).readString},
	"kernel_string_n":  {write: (*gen).readString},
	"kernel_string_n2": {write: (*gen).readString},
	"user_line": {write: func(g *gen, in *ir.Instr) {
		a := in.Args
		g.or(in, "gs_line(c, %d, %s, %s, %s, %s)", in.Pos, g.dst(in.Dst), g.long(a[0]), g.long(a[1]), g.long(a[2]))
	}},
	"user_text":   {write: (*gen).quotedText},
	"kernel_text": {write: (*gen).quotedText},
	"user_block": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_block(c, %d, %s, %s)", in.Pos, g.long(in.Args[0]), g.long(in.Args[1]))
	}},
	"block_word": {long: "c->block[%s & 7]"},
	"aes_schedule": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_block(c, %d, %s, 40)", in.Pos, g.long(in.Args[0]))
	}},
	"user_window": {write: func(g *gen, in *ir.Instr) {
		g.emit("gs_window(c, %s, %s);", g.long(in.Args[0]), g.long(in.Args[1]))
	}},
	"near_uint8":  near(1),
	"near_uint16": near(2),
	"near_uint32": near(4),
	"near_uint64": near(8),
	"user_is": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_is(c, %d, %s, %s, %s)", in.Pos, g.ref(in.Dst), g.long(in.Args[0]), g.str(in.Args[1]))
	}},
	"user_int8":     readInt(1, true),
	"user_uint8":    readInt(1, false),
	"user_int16":    readInt(2, true),
	"user_uint16":   readInt(2, false),
	"user_int32":    readInt(4, true),
	"user_uint32":   readInt(4, false),
	"user_int64":    readInt(8, true),
	"user_uint64":   readInt(8, false),
	"kernel_int8":   readInt(1, true),
	"kernel_uint8":  readInt(1, false),
	"kernel_int16":  readInt(2, true),
	"kernel_uint16": readInt(2, false),
	"kernel_int32":  readInt(4, true),
	"kernel_uint32": readInt(4, false),
	"kernel_int64":  readInt(8, true),
	"kernel_uint64": readInt(8, false),

	"register":     {write: (*gen).namedRegister},
	"u_register":   {write: (*gen).namedRegister},
	"uaddr":        {write: func(g *gen, in *ir.Instr) { g.set(in, "gs_uaddr(hit->regs)") }},
	"addr":         {write: func(g *gen, in *ir.Instr) { g.set(in, "hit->regs ? hit->regs->%s : 0", g.ip()) }},
	"ustack_level": {write: (*gen).stackLevel},
	"stack_level":  {write: (*gen).stackLevel},
	"ustack_kept":  {write: (*gen).keepStack},
	"kstack_kept":  {write: (*gen).keepStack},
	"ustack_below": {write: (*gen).keepStack},
	"gostack_kept": {write: (*gen).walkStack},

	"exit":  {write: func(g *gen, _ *ir.Instr) { g.emit("gs_exit(c);") }},
	"abort": {write: func(g *gen, _ *ir.Instr) { g.emit("gs_exit(c);\n\tgoto %s;", g.end()) }},
	"error": {write: func(g *gen, in *ir.Instr) {
		g.emit("gs_throw(c, %d, GS_ERR_USER, %s);\n\tgoto %s;", in.Pos, g.str(in.Args[0]), g.onErr(in.OnErr))
	}},
	"warn": {write: func(g *gen, in *ir.Instr) { g.say(in, "GS_WARN", "") }},
	"log":  {write: func(g *gen, in *ir.Instr) { g.say(in, "", "\n") }},

	"raise": {long: "gs_raise_signal(%s)"},
	"panic": {write: func(g *gen, in *ir.Instr) { g.emit("gs_panic(%s);", g.str(in.Args[0])) }},
	"leave_function": {write: func(g *gen, in *ir.Instr) {
		if g.probe >= 0 && g.noRegs() {
			g.refuse(in.Pos, "there are no registers of a program at this kind of probe")
			return
		}
		g.emit("gs_skip_call(hit->regs, %s, %s, %s);", g.long(in.Args[0]), g.long(in.Args[1]), g.long(in.Args[2]))
	}},
	"override_return": {write: (*gen).override},
	"set_call_word":   {write: setCallWord},
	"mdelay":          {write: func(g *gen, in *ir.Instr) { g.emit("gs_mdelay(%s);", g.long(in.Args[0])) }},
	"udelay":          {write: func(g *gen, in *ir.Instr) { g.emit("gs_udelay(%s);", g.long(in.Args[0])) }},
	"dump_stack":      {write: func(g *gen, _ *ir.Instr) { g.emit("gs_dump_stack();") }},
	"printk": {write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_printk(c, %d, %s, %s)", in.Pos, g.long(in.Args[0]), g.str(in.Args[1]))
	}},
}

// Translates reports whether an intrinsic can run in a module, or be named on the host when it is printed.
func Translates(name string) bool {
	_, ok := intrinsics[name]
	return ok || intrinsic.Lookup(name).Sent()
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
	a := in.Args
	for _, v := range a {
		if v.Kind == ir.ValReg && g.lazy[v.Reg] != nil {
			g.refuse(in.Pos, "the text is made on the host: in a module it can only be printed")
			return
		}
	}
	if in.Builtin().Sent() {
		g.lazyIntr(in, in.Builtin().Text)
		return
	}
	switch t, ok := intrinsics[in.Name]; {
	case t.long != "":
		g.set(in, t.long, g.operands(a)...)
	case t.text != "":
		if in.Dst != ir.NoReg {
			g.emit("%s;", fmt.Sprintf(strings.Replace(t.text, "%d", g.dst(in.Dst), 1), g.operands(a)...))
		}
	case ok:
		t.write(g, in)
	case in.Builtin().Where == intrinsic.HostOnly:
		g.refuse(in.Pos, "%s() runs on the host only: call it in a begin, end or timer probe", in.Name)
	default:
		g.refuse(in.Pos, "%s() cannot run in a kernel module", in.Name)
	}
}

// readString is user_string() and its family: the row says whose memory it is, and which argument does what.
func (g *gen) readString(in *ir.Instr) {
	f, n, alt := in.Builtin(), "-1", "NULL"
	if f.Len > 0 {
		n = fmt.Sprintf("max_t(s64, %s, 0)", g.long(in.Args[f.Len-1]))
	}
	if f.Else > 0 {
		alt = g.str(in.Args[f.Else-1])
	}
	kernel := f.Reads == caps.ReadKernel
	g.or(in, "gs_string(c, %d, %s, %s, %s, %v, %s)", in.Pos, g.dst(in.Dst), g.long(in.Args[0]), n, kernel, alt)
}

// readInt is user_int8() and its family.
func readInt(size int, signed bool) translation {
	return translation{write: func(g *gen, in *ir.Instr) {
		kernel := in.Builtin().Reads == caps.ReadKernel
		g.or(in, "gs_load(c, %d, %s, %s, %d, %v, %v)", in.Pos, g.ref(in.Dst), g.long(in.Args[0]), size, signed, kernel)
	}}
}

// near is near_uint8() and its family.
func near(size int) translation {
	return translation{write: func(g *gen, in *ir.Instr) {
		g.or(in, "gs_near(c, %d, %s, %s, %d)", in.Pos, g.ref(in.Dst), g.long(in.Args[0]), size)
	}}
}

func (g *gen) stackLevel(in *ir.Instr) {
	g.stacks = true
	top := partition.ReturnOnTop(g.sites())
	g.set(in, "gs_%s(hit->regs, %s, %d, %v)", in.Name, g.long(in.Args[0]), g.p.Limits.MaxBacktrace, top)
}

// keepStack is ustack_kept, ustack_below and kstack_kept.
func (g *gen) keepStack(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	g.stacks, g.keeps = true, true
	if in.Name == "kstack_kept" {
		g.or(in, "gs_kstack_kept(c, %d, %s, hit->regs)", in.Pos, g.ref(in.Dst))
		return
	}
	if !partition.FramePointers(g.sites()) {
		g.walkStack(in)
		return
	}
	below := "0"
	if in.Name == "ustack_below" {
		below = g.long(in.Args[0])
	}
	g.or(in, "gs_ustack_kept(c, %d, %s, hit->regs, %v, %s)", in.Pos, g.ref(in.Dst), partition.ReturnOnTop(g.sites()),
		below)
}

// walkStack is ustack_kept and ustack_below where frame pointers are not certain, and gostack_kept.
func (g *gen) walkStack(in *ir.Instr) {
	sites := g.sites()
	if g.probe < 0 { // whoever calls it
		for _, p := range g.p.Probes {
			sites = append(sites, p.Sites...)
		}
	}
	for _, s := range sites {
		if !s.Kind.InUser() && !s.Kind.OnHost() {
			g.refuse(in.Pos, "a module walks stacks of programs in probes of programs only: elsewhere what a process "+
				"has mapped cannot be looked at; print_ubacktrace() works here")
			return
		}
	}
	if in.Dst == ir.NoReg {
		return
	}
	g.stacks, g.keeps, g.walks = true, true, true
	from, below := "0, 0, 0, 0, ~0ULL", "0"
	if in.Name == "gostack_kept" {
		a := in.Args
		from = fmt.Sprintf("%s, %s, %s, %s, %s", g.long(a[0]), g.long(a[1]), g.long(a[2]), g.long(a[3]), g.long(a[4]))
		below = g.long(a[5])
	} else if in.Name == "ustack_below" {
		below = g.long(in.Args[0])
	}
	g.or(in, "gs_walk_kept(c, %d, %s, hit->regs, %s, %s)", in.Pos, g.ref(in.Dst), from, below)
}

func (g *gen) isReturn(in *ir.Instr) {
	if g.probe < 0 {
		g.refuse(in.Pos, "is_return() inside of a function")
		return
	}
	g.set(in, "%s", g.siteTable("bool", isReturn(g.probes.Sites)))
}

func (g *gen) namedRegister(in *ir.Instr) {
	a := in.Args
	if a[0].Kind != ir.ValStr {
		g.refuse(in.Pos, "the name of a register must be a constant in a module")
		return
	}
	n, ok := g.p.On().Number(a[0].Str)
	if !ok {
		name := text("unknown register: " + a[0].Str)
		g.emit("gs_throw(c, %d, GS_ERR_ARGUMENT, %s);\n\tgoto %s;", in.Pos, name, g.onErr(in.OnErr))
		return
	}
	g.set(in, "hit->regs ? hit->regs->%s : 0", g.field(n))
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
		g.refuse(in.Pos, "the text of %s() is made on the host: in a module it can only be printed, not compared, "+
			"stored or used as a key", in.Name)
		return
	}
	if arg.Lazy == wire.Decoded {
		if in.Args[1].Kind != ir.ValStr {
			g.refuse(in.Pos, "%s() with a table that is no constant cannot run in a kernel module", in.Name)
			return
		}
		arg.Names = &wire.Names{List: [][]byte{[]byte(in.Args[1].Str)}}
	}
	g.lazy[in.Dst] = &arg
	if arg.Kind == wire.Snapshot {
		g.snapshot(in, &arg)
	} else if len(in.Args) > 0 {
		g.emit("%s = %s;", g.name(in.Dst), g.long(in.Args[0]))
	}
}

// quotedText is user_text and kernel_text. Where the text is only printed, its bytes are sent and the host puts the
// quotes and escapes; not in guru mode, where they may have changed when it is printed.
func (g *gen) quotedText(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	kernel := in.Builtin().Reads == caps.ReadKernel
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
