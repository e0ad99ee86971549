package sel

import (
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// translation is how this back end does a built-in function.
type translation struct {
	write func(g *gen, in *ir.Instr)
	// padded: it makes a string that can be written padded, without its length being needed.
	padded bool
	// prints: it puts an entry of its own into the buffer, which has the argument in it.
	prints bool
}

// intrinsics are the functions that are translated, by the names of their rows. Those whose text the host makes
// need nothing here, and rows name EBPF for those that are refused; a test walks the rows.
var intrinsics map[string]translation

func init() {
	intrinsics = map[string]translation{
		"pid":          {write: func(g *gen, in *ir.Instr) { g.result(in, g.tgid()) }},
		"tid":          {write: func(g *gen, in *ir.Instr) { g.result(in, g.currentID(true)) }},
		"uid":          {write: func(g *gen, in *ir.Instr) { g.ids(in, 0) }},
		"gid":          {write: func(g *gen, in *ir.Instr) { g.ids(in, 32) }},
		"cpu":          {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnGetSmpProcessorId)) }},
		"task_current": {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnGetCurrentTask)) }},
		"execname":     {write: (*gen).execname, padded: true},
		"target": {write: func(g *gen, in *ir.Instr) {
			g.load(g.longs[in.Dst], g.mapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word)
		}},
		"ppid":        {write: (*gen).ppid},
		"euid":        {write: func(g *gen, in *ir.Instr) { g.taskInt(in, "cred", "euid") }},
		"egid":        {write: func(g *gen, in *ir.Instr) { g.taskInt(in, "cred", "egid") }},
		"pgrp":        {write: func(g *gen, in *ir.Instr) { g.taskPid(in, pidGroup) }},
		"sid":         {write: func(g *gen, in *ir.Instr) { g.taskPid(in, pidSess) }},
		"pexecname":   {write: (*gen).pexecname, padded: true},
		"ns_pid":      {write: func(g *gen, in *ir.Instr) { g.nsPid(in, false) }},
		"ns_tid":      {write: func(g *gen, in *ir.Instr) { g.nsPid(in, true) }},
		"module_name": {write: func(g *gen, in *ir.Instr) { g.assign(g.strs[in.Dst], literal(g.u.Name)) }, padded: true},
		"is_return":   {write: (*gen).isReturn},

		"gettimeofday_ns": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1) }},
		"gettimeofday_us": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e3) }},
		"gettimeofday_ms": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e6) }},
		"gettimeofday_s":  {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e9) }},
		"ktime_get_ns":    {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnKtimeGetNs)) }},
		"local_clock_ns":  {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnKtimeGetNs)) }},
		// No helper reads the cycle counter; the interpreter's cycles are nanoseconds as well.
		"get_cycles": {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnKtimeGetNs)) }},
		"jiffies":    {write: func(g *gen, in *ir.Instr) { g.result(in, g.call(asm.FnJiffies64)) }},
		"stp_pid":    {write: func(g *gen, in *ir.Instr) { g.result(in, g.imm(int64(os.Getpid()))) }},
		"tz_gmtoff": {write: func(g *gen, in *ir.Instr) {
			_, off := time.Now().Zone()
			g.result(in, g.imm(-int64(off)))
		}},
		"tz_name": {write: func(g *gen, in *ir.Instr) {
			name, _ := time.Now().Zone()
			g.assign(g.strs[in.Dst], literal(name))
		}, padded: true},

		"ustack_level": {write: func(g *gen, in *ir.Instr) { g.stackLevel(in, true) }},
		"stack_level":  {write: func(g *gen, in *ir.Instr) { g.stackLevel(in, false) }},

		"uaddr":      {write: (*gen).uaddr},
		"addr":       {write: (*gen).uaddr},
		"register":   {write: (*gen).namedRegister},
		"u_register": {write: (*gen).namedRegister},

		// FnSendSignalThread is from Linux 5.5.
		"raise": {write: func(g *gen, in *ir.Instr) {
			g.result(in, g.call(asm.FnSendSignalThread, aReg(g.long(in.Args[0]))))
		}},

		"exit":    {write: func(g *gen, in *ir.Instr) { g.exit() }},
		"error":   {write: func(g *gen, in *ir.Instr) { g.throwText(in, ir.ErrUser) }},
		"warn":    {write: func(g *gen, in *ir.Instr) { g.say(in, wire.Warn, "%s") }},
		"log":     {write: func(g *gen, in *ir.Instr) { g.say(in, wire.Print, "%s\n") }, prints: true},
		"abort":   {write: (*gen).abort},
		"randint": {write: (*gen).randint},

		"user_line":        {write: (*gen).line},
		"user_string":      {write: func(g *gen, in *ir.Instr) { g.cstring(in, false, ir.Val{}, ir.Val{}) }, padded: true},
		"user_string2":     {write: func(g *gen, in *ir.Instr) { g.cstring(in, false, ir.Val{}, in.Args[1]) }},
		"user_string_n":    {write: func(g *gen, in *ir.Instr) { g.cstring(in, false, in.Args[1], ir.Val{}) }},
		"user_string_n2":   {write: func(g *gen, in *ir.Instr) { g.cstring(in, false, in.Args[1], in.Args[2]) }},
		"user_text":        {write: func(g *gen, in *ir.Instr) { g.quotedText(in, false) }},
		"kernel_text":      {write: func(g *gen, in *ir.Instr) { g.quotedText(in, true) }},
		"kernel_string":    {write: func(g *gen, in *ir.Instr) { g.cstring(in, true, ir.Val{}, ir.Val{}) }, padded: true},
		"kernel_string2":   {write: func(g *gen, in *ir.Instr) { g.cstring(in, true, ir.Val{}, in.Args[1]) }},
		"kernel_string_n":  {write: func(g *gen, in *ir.Instr) { g.cstring(in, true, in.Args[1], ir.Val{}) }},
		"kernel_string_n2": {write: func(g *gen, in *ir.Instr) { g.cstring(in, true, in.Args[1], in.Args[2]) }},

		"strlen":        {write: func(g *gen, in *ir.Instr) { g.result(in, g.length(g.strOf(in.Args[0]))) }},
		"substr":        {write: (*gen).substr},
		"stringat":      {write: (*gen).stringat},
		"isinstr":       {write: func(g *gen, in *ir.Instr) { g.search(in, true) }},
		"strpos":        {write: func(g *gen, in *ir.Instr) { g.search(in, false) }},
		"strtol":        {write: (*gen).strtol},
		"str_replace":   {write: (*gen).replace},
		"text_str":      {write: func(g *gen, in *ir.Instr) { g.quote(in, false) }},
		"text_strn":     {write: (*gen).textStrN},
		"string_quoted": {write: func(g *gen, in *ir.Instr) { g.quote(in, true) }},
		"tolower":       {write: func(g *gen, in *ir.Instr) { g.mapCase(in, 'A', 'a'-'A') }},
		"toupper":       {write: func(g *gen, in *ir.Instr) { g.mapCase(in, 'a', 'A'-'a') }},
		"char_string":   {write: (*gen).charString, padded: true},
		"table_text":    {write: (*gen).tableText, padded: true},
	}
	for _, kernel := range []bool{false, true} {
		for n, name := range map[int]string{1: "int8", 2: "int16", 4: "int32", 8: "int64"} {
			for _, signed := range []bool{false, true} {
				full := map[bool]string{false: "user_", true: "kernel_"}[kernel] + map[bool]string{false: "u", true: ""}[signed] + name
				intrinsics[full] = translation{write: func(g *gen, in *ir.Instr) { g.fetch(in, n, signed, kernel) }}
			}
		}
	}
}

// Translates reports whether an intrinsic can run in the kernel.
func Translates(name string) bool {
	return intrinsics[name].write != nil || intrinsic.Lookup(name).Sent()
}

// result sets in's Long result.
func (g *gen) result(in *ir.Instr, r mach.Reg) {
	if in.Dst != ir.NoReg {
		g.mov(g.longs[in.Dst], r)
	}
}

func (g *gen) intrinsic(in *ir.Instr) {
	if in.Builtin().Sent() {
		g.lazyIntr(in)
		return
	}
	if f := intrinsics[in.Name].write; f != nil {
		if in.Dst != ir.NoReg && g.longs[in.Dst] == mach.None && g.strs[in.Dst] == nil {
			return // a string that nobody reads
		}
		f(g, in)
		return
	}
	g.refuse(in, "bpf-function", "%s() cannot run in an eBPF program", in.Name)
}

func (g *gen) ids(in *ir.Instr, shift int64) {
	id := g.uidGid()
	if shift == 0 {
		g.aluI(asm.LSh, id, 32)
	}
	g.aluI(asm.RSh, id, 32)
	g.result(in, id)
}

// execname: before Linux 6.2 the kernel leaves what is behind the name's NUL as it was.
func (g *gen) execname(in *ir.Instr) {
	const n = 16
	dst := g.strs[in.Dst]
	if dst.small && dst.cap >= n-1 {
		g.zero(dst.at, maps.StringSize(dst.cap))
		g.comm(dst.at)
		return
	}
	p := mem{slot: g.temp(n)}
	g.zero(p, n)
	g.comm(p)
	g.assign(dst, padded(p, n-1))
}

// wallClock gives the real time in units of ns. CLOCK_BOOTTIME is what programs can read cheaply; the host keeps the
// difference, which changes only when the clock is set.
func (g *gen) wallClock(in *ir.Instr, unit int64) {
	t := g.call(asm.FnKtimeGetBootNs)
	g.alu(asm.Add, t, g.get(g.mapVal(plan.MapControl, 0), plan.CtlBootOffset, asm.DWord))
	if unit != 1 {
		g.aluI(asm.Div, t, unit) // not before 1970
	}
	g.result(in, t)
}

func (g *gen) isReturn(in *ir.Instr) {
	dst := g.longs[in.Dst]
	n := 0
	for _, s := range g.h.Sites {
		if s.IsReturn() {
			n++
		}
	}
	switch n {
	case 0:
		g.movI(dst, 0)
	case len(g.h.Sites):
		g.movI(dst, 1)
	default:
		table := make([]byte, len(g.u.P.Probes[g.h.Probe].Sites))
		for i, s := range g.h.Sites {
			if s.IsReturn() {
				table[g.h.IDs[i]] = 1
			}
		}
		i := g.tight(g.siteIndex(), len(table)-1)
		p := g.mapVal(plan.MapText, g.textOf("\x00is_return\x00"+string(table))+len("\x00is_return\x00"))
		g.alu(asm.Add, p, i)
		g.load(dst, p, 0, asm.Byte)
	}
}

// uaddr is addr(), the address of the probed instruction, and uaddr(), which is where the program is: at probes in the kernel, and where a
// clock or a counter interrupted the kernel, that is where it goes on behind it.
func (g *gen) uaddr(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	dst, kind := g.longs[in.Dst], g.h.Sites[0].Kind
	switch {
	case in.Name == "uaddr" && (kind.InKernel() || kind.Class() == probe.Event || kind.Class() == probe.Syscall || kind.Class() == probe.Lifetime):
		g.mov(dst, g.userIP())
	case !g.userRegs(in, in.Name+"()"):
		g.movI(dst, 0)
	case in.Name == "uaddr" && kind.Code() == probe.AnyCode:
		done := g.block()
		g.mov(dst, g.ip())
		g.unlessI(asm.JSet, g.get(g.ctx, regsCS, asm.DWord), 3, done)
		g.mov(dst, g.userIP())
		g.here(done)
	default:
		g.mov(dst, g.ip())
	}
}

func (g *gen) namedRegister(in *ir.Instr) {
	v := in.Args[0]
	if !g.userRegs(in, in.Name+"()") {
		return
	}
	if v.Kind != ir.ValStr {
		g.refuse(in, "bpf-register", "with eBPF the name of a register must be a constant")
		return
	}
	n, ok := ir.RegNumber(v.Str)
	if !ok {
		g.raiseText(ir.ErrArgument, literal("unknown register: "+v.Str), in.OnErr)
		g.set(g.cold())
		return
	}
	if in.Name == "u_register" && g.h.Sites[0].Kind.InKernel() {
		g.refuse(in, "bpf-register", "u_register() reads the registers of a program: at a probe in the kernel it is register()")
		return
	}
	if in.Dst != ir.NoReg {
		g.readReg(g.longs[in.Dst], n)
	}
}

// exit asks the session to stop; the handler goes on.
func (g *gen) exit() {
	g.storeI(g.mapVal(plan.MapControl, 0), plan.CtlState, int64(wire.Stopping), asm.Word)
	lost := g.cold()
	r := g.reserve(wire.HeaderSize, lost)
	r.header(wire.Exit, 0)
	r.submit()
	g.here(lost)
}

func (g *gen) abort(in *ir.Instr) {
	g.exit()
	g.unlock()
	g.jump(g.end)
	g.set(g.cold())
}

func (g *gen) throwText(in *ir.Instr, c ir.Code) {
	g.raiseText(c, g.strOf(in.Args[0]), in.OnErr)
	g.set(g.cold())
}

// say is warn() and log().
func (g *gen) say(in *ir.Instr, kind wire.Kind, format string) {
	f := &ir.Format{Pieces: []ir.Piece{ir.Conv('s')}}
	if tail := strings.TrimPrefix(format, "%s"); tail != "" {
		f.Pieces = append(f.Pieces, ir.Literal(tail))
	}
	g.send(kind, g.u.P.AddFormat(f), []field{g.field(in.Args[0])})
}

func (g *gen) randint(in *ir.Instr) {
	n := g.long(in.Args[0])
	bad := g.cold()
	g.unlessI(asm.JSLE, n, 0, bad)
	r := g.call(asm.FnGetPrandomU32)
	if in.Args[0].Kind != ir.ValInt || in.Args[0].Int > 1<<31 {
		hi := g.call(asm.FnGetPrandomU32)
		g.aluI(asm.LSh, hi, 32)
		g.alu(asm.Or, r, hi)
		g.aluI(asm.LSh, r, 1)
		g.aluI(asm.RSh, r, 1)
	}
	g.alu(asm.Mod, r, n)
	g.result(in, r)
	on := g.cur
	g.set(bad)
	msg := g.tempStr(64)
	g.format(msg, &ir.Format{Pieces: []ir.Piece{ir.Literal("randint: "), ir.Conv('d'), ir.Literal(" is not above 0")}}, []fmtArg{{num: n}})
	g.raiseText(ir.ErrArgument, msg.str(), in.OnErr)
	g.set(on)
}

// fetch is user_int8() and its family.
func (g *gen) fetch(in *ir.Instr, n int, signed, kernel bool) {
	ld := *in
	ld.N, ld.Signed, ld.Kernel = int64(n), signed, kernel
	g.memory(&ld)
}
