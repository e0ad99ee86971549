package sel

import (
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/backend-bpf/internal/sel/hook"
	"github.com/gostap/gostap/backend-bpf/internal/sel/output"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"
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
		"pid":          {write: func(g *gen, in *ir.Instr) { g.Result(in, g.task.Tgid()) }},
		"tid":          {write: func(g *gen, in *ir.Instr) { g.Result(in, g.task.CurrentID(true)) }},
		"uid":          {write: func(g *gen, in *ir.Instr) { g.ids(in, 0) }},
		"gid":          {write: func(g *gen, in *ir.Instr) { g.ids(in, 32) }},
		"cpu":          {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnGetSmpProcessorId)) }},
		"task_current": {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnGetCurrentTask)) }},
		"execname":     {write: (*gen).execname, padded: true},
		"target": {write: func(g *gen, in *ir.Instr) {
			g.Load(g.Longs[in.Dst], g.MapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word)
		}},
		"ppid":      {write: func(g *gen, in *ir.Instr) { g.task.Ppid(in) }},
		"euid":      {write: func(g *gen, in *ir.Instr) { g.task.TaskInt(in, "cred", "euid") }},
		"egid":      {write: func(g *gen, in *ir.Instr) { g.task.TaskInt(in, "cred", "egid") }},
		"pgrp":      {write: func(g *gen, in *ir.Instr) { g.task.TaskPid(in, task.PidGroup) }},
		"sid":       {write: func(g *gen, in *ir.Instr) { g.task.TaskPid(in, task.PidSess) }},
		"pexecname": {write: (*gen).pexecname, padded: true},
		"ns_pid":    {write: func(g *gen, in *ir.Instr) { g.task.NsPid(in, false) }},
		"ns_tid":    {write: func(g *gen, in *ir.Instr) { g.task.NsPid(in, true) }},
		"module_name": {write: func(g *gen, in *ir.Instr) { g.str.Assign(g.Strs[in.Dst], body.Literal(g.U.Name)) },
			padded: true},
		"is_return": {write: (*gen).isReturn},

		"gettimeofday_ns": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1) }},
		"gettimeofday_us": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e3) }},
		"gettimeofday_ms": {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e6) }},
		"gettimeofday_s":  {write: func(g *gen, in *ir.Instr) { g.wallClock(in, 1e9) }},
		"ktime_get_ns":    {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnKtimeGetNs)) }},
		"local_clock_ns":  {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnKtimeGetNs)) }},
		// No helper reads the cycle counter; the interpreter's cycles are nanoseconds as well.
		"get_cycles": {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnKtimeGetNs)) }},
		"jiffies":    {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Call(asm.FnJiffies64)) }},
		"stp_pid":    {write: func(g *gen, in *ir.Instr) { g.Result(in, g.Imm(int64(os.Getpid()))) }},
		"tz_gmtoff": {write: func(g *gen, in *ir.Instr) {
			_, off := time.Now().Zone()
			g.Result(in, g.Imm(-int64(off)))
		}},
		"tz_name": {write: func(g *gen, in *ir.Instr) {
			name, _ := time.Now().Zone()
			g.str.Assign(g.Strs[in.Dst], body.Literal(name))
		}, padded: true},

		"ustack_level": {write: func(g *gen, in *ir.Instr) { g.rec.StackLevel(in, true) }},
		"stack_level":  {write: func(g *gen, in *ir.Instr) { g.rec.StackLevel(in, false) }},
		"ustack_kept":  {write: func(g *gen, in *ir.Instr) { g.rec.KeepStack(in, true) }},
		"ustack_below": {write: func(g *gen, in *ir.Instr) { g.rec.KeepBelow(in) }},
		"gostack_kept": {write: func(g *gen, in *ir.Instr) { g.rec.KeepGoStack(in) }},
		"kstack_kept":  {write: func(g *gen, in *ir.Instr) { g.rec.KeepStack(in, false) }},

		"uaddr":      {write: (*gen).uaddr},
		"addr":       {write: (*gen).uaddr},
		"register":   {write: (*gen).namedRegister},
		"u_register": {write: (*gen).namedRegister},

		// FnSendSignalThread is from Linux 5.5.
		"raise": {write: func(g *gen, in *ir.Instr) {
			g.Result(in, g.Call(asm.FnSendSignalThread, emit.InReg(g.Long(in.Args[0]))))
		}},

		"override_return": {write: func(g *gen, in *ir.Instr) { g.hook.Override(in) }},

		"mdelay":         {write: delay(1000)},
		"udelay":         {write: delay(1)},
		"set_call_word":  {write: func(g *gen, in *ir.Instr) { hook.SetCallWord(g.hook, in) }},
		"leave_function": {write: func(g *gen, in *ir.Instr) { g.hook.Leave(in) }},

		"lsm_deny": {write: func(g *gen, in *ir.Instr) { g.hook.Deny(in) }},

		"exit":    {write: func(g *gen, in *ir.Instr) { g.exit() }},
		"error":   {write: func(g *gen, in *ir.Instr) { g.str.ThrowText(in, ir.ErrUser) }},
		"warn":    {write: func(g *gen, in *ir.Instr) { g.say(in, wire.Warn, "%s") }},
		"log":     {write: func(g *gen, in *ir.Instr) { g.say(in, wire.Print, "%s\n") }, prints: true},
		"abort":   {write: (*gen).abort},
		"randint": {write: (*gen).randint},

		"user_line": {write: func(g *gen, in *ir.Instr) { g.str.Line(in) }},
		"user_string": {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, false, ir.Val{}, ir.Val{}) },
			padded: true},
		"user_string2":   {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, false, ir.Val{}, in.Args[1]) }},
		"user_string_n":  {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, false, in.Args[1], ir.Val{}) }},
		"user_string_n2": {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, false, in.Args[1], in.Args[2]) }},
		"user_text":      {write: func(g *gen, in *ir.Instr) { g.str.QuotedText(in, false) }},
		"kernel_text":    {write: func(g *gen, in *ir.Instr) { g.str.QuotedText(in, true) }},
		"kernel_string": {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, true, ir.Val{}, ir.Val{}) },
			padded: true},
		"kernel_string2":   {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, true, ir.Val{}, in.Args[1]) }},
		"kernel_string_n":  {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, true, in.Args[1], ir.Val{}) }},
		"kernel_string_n2": {write: func(g *gen, in *ir.Instr) { g.str.Cstring(in, true, in.Args[1], in.Args[2]) }},

		"user_block": {write: (*gen).block},
		"block_word": {write: (*gen).blockWord},

		"aes_schedule": {write: (*gen).schedule},
		"user_window":  {write: (*gen).openWindow},
		"near_uint8":   {write: func(g *gen, in *ir.Instr) { g.near(in, 1) }},
		"near_uint16":  {write: func(g *gen, in *ir.Instr) { g.near(in, 2) }},
		"near_uint32":  {write: func(g *gen, in *ir.Instr) { g.near(in, 4) }},
		"near_uint64":  {write: func(g *gen, in *ir.Instr) { g.near(in, 8) }},
		"user_is":      {write: func(g *gen, in *ir.Instr) { g.str.Is(in) }},

		"strlen":        {write: func(g *gen, in *ir.Instr) { g.Result(in, g.str.Length(g.StrOf(in.Args[0]))) }},
		"substr":        {write: func(g *gen, in *ir.Instr) { g.str.Substr(in) }},
		"stringat":      {write: func(g *gen, in *ir.Instr) { g.str.Stringat(in) }},
		"string_word":   {write: func(g *gen, in *ir.Instr) { g.str.Word(in) }},
		"aes_column":    {write: func(g *gen, in *ir.Instr) { g.str.AESColumn(in) }},
		"isinstr":       {write: func(g *gen, in *ir.Instr) { g.str.Search(in, true) }},
		"strpos":        {write: func(g *gen, in *ir.Instr) { g.str.Search(in, false) }},
		"strtol":        {write: func(g *gen, in *ir.Instr) { g.str.Strtol(in) }},
		"str_replace":   {write: func(g *gen, in *ir.Instr) { g.str.Replace(in) }},
		"text_str":      {write: func(g *gen, in *ir.Instr) { g.str.Quote(in, false) }},
		"text_strn":     {write: func(g *gen, in *ir.Instr) { g.str.TextStrN(in) }},
		"string_quoted": {write: func(g *gen, in *ir.Instr) { g.str.Quote(in, true) }},
		"tolower":       {write: func(g *gen, in *ir.Instr) { g.str.MapCase(in, 'A', 'a'-'A') }},
		"toupper":       {write: func(g *gen, in *ir.Instr) { g.str.MapCase(in, 'a', 'A'-'a') }},
		"char_string":   {write: func(g *gen, in *ir.Instr) { g.str.CharString(in) }, padded: true},
		"table_text":    {write: func(g *gen, in *ir.Instr) { g.str.TableText(in) }, padded: true},

		"snap_root":  {write: func(g *gen, in *ir.Instr) { g.rec.SnapRoot(in) }},
		"snap_read":  {write: func(g *gen, in *ir.Instr) { g.rec.SnapRead(in) }},
		"snap_get":   {write: func(g *gen, in *ir.Instr) { g.rec.SnapGet(in) }},
		"snap_at":    {write: func(g *gen, in *ir.Instr) { g.rec.SnapAt(in) }},
		"snap_set":   {write: func(g *gen, in *ir.Instr) { g.rec.SnapSet(in) }},
		"snap_table": {write: func(g *gen, in *ir.Instr) { g.rec.SnapTable(in) }},
	}
	for _, kernel := range []bool{false, true} {
		for n, name := range map[int]string{1: "int8", 2: "int16", 4: "int32", 8: "int64"} {
			for _, signed := range []bool{false, true} {
				full := map[bool]string{false: "user_", true: "kernel_"}[kernel] +
					map[bool]string{false: "u", true: ""}[signed] + name
				intrinsics[full] = translation{write: func(g *gen, in *ir.Instr) { g.fetch(in, n, signed, kernel) }}
			}
		}
	}
}

// Translates reports whether an intrinsic can run in the kernel.
func Translates(name string) bool {
	return intrinsics[name].write != nil || intrinsic.Lookup(name).Sent()
}

func (g *gen) intrinsic(in *ir.Instr) {
	if in.Builtin().Sent() {
		g.rec.LazyIntr(in)
		return
	}
	if f := intrinsics[in.Name].write; f != nil {
		if in.Dst != ir.NoReg && g.Longs[in.Dst] == mach.None && g.Strs[in.Dst] == nil {
			return // a string that nobody reads
		}
		f(g, in)
		return
	}
	g.Refuse(in, "bpf-function", "%s() cannot run in an eBPF program", in.Name)
}

func (g *gen) ids(in *ir.Instr, shift int64) {
	id := g.task.UidGid()
	if shift == 0 {
		g.AluI(asm.LSh, id, 32)
	}
	g.AluI(asm.RSh, id, 32)
	g.Result(in, id)
}

// execname: before Linux 6.2 the kernel leaves what is behind the name's NUL as it was.
func (g *gen) execname(in *ir.Instr) {
	const n = 16
	dst := g.Strs[in.Dst]
	if dst.Small && dst.Cap >= n-1 {
		g.Zero(dst.At, maps.StringSize(dst.Cap))
		g.task.Comm(dst.At)
		return
	}
	p := emit.Mem{Slot: g.Temp(n)}
	g.Zero(p, n)
	g.task.Comm(p)
	g.str.Assign(dst, body.Padded(p, n-1))
}

// wallClock gives the real time in units of ns. CLOCK_BOOTTIME is what programs can read cheaply; the host keeps the
// difference, which changes only when the clock is set.
func (g *gen) wallClock(in *ir.Instr, unit int64) {
	t := g.Call(asm.FnKtimeGetBootNs)
	g.Alu(asm.Add, t, g.Get(g.MapVal(plan.MapControl, 0), plan.CtlBootOffset, asm.DWord))
	if unit != 1 {
		g.AluI(asm.Div, t, unit) // not before 1970
	}
	g.Result(in, t)
}

func (g *gen) isReturn(in *ir.Instr) {
	dst := g.Longs[in.Dst]
	n := 0
	for _, s := range g.H.Sites {
		if s.IsReturn() {
			n++
		}
	}
	switch n {
	case 0:
		g.MovI(dst, 0)
	case len(g.H.Sites):
		g.MovI(dst, 1)
	default:
		table := make([]byte, len(g.U.P.Probes[g.H.Probe].Sites))
		for i, s := range g.H.Sites {
			if s.IsReturn() {
				table[g.H.IDs[i]] = 1
			}
		}
		i := g.Tight(g.hook.SiteIndex(), len(table)-1)
		p := g.MapVal(plan.MapText, g.TextOf("\x00is_return\x00"+string(table))+len("\x00is_return\x00"))
		g.Alu(asm.Add, p, i)
		g.Load(dst, p, 0, asm.Byte)
	}
}

// uaddr is addr(), the address of the probed instruction, and uaddr(), which is where the program is: at probes in the
// kernel, and where a clock or a counter interrupted the kernel, that is where it goes on behind it.
func (g *gen) uaddr(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	dst, kind := g.Longs[in.Dst], g.H.Sites[0].Kind
	switch {
	case in.Name == "uaddr" && (kind.InKernel() || kind.Class() == probe.Event || kind.Class() == probe.Syscall ||
		kind.Class() == probe.Lifetime):
		g.Mov(dst, g.hook.UserIP())
	case !g.hook.UserRegs(in, in.Name+"()"):
		g.MovI(dst, 0)
	case in.Name == "uaddr" && kind.Code() == probe.AnyCode:
		done := g.Block()
		g.Mov(dst, g.hook.IP())
		g.hook.UnlessUser(g.Ctx, done)
		g.Mov(dst, g.hook.UserIP())
		g.Here(done)
	default:
		g.Mov(dst, g.hook.IP())
	}
}

func (g *gen) namedRegister(in *ir.Instr) {
	v := in.Args[0]
	if !g.hook.UserRegs(in, in.Name+"()") {
		return
	}
	if v.Kind != ir.ValStr {
		g.Refuse(in, "bpf-register", "with eBPF the name of a register must be a constant")
		return
	}
	n, ok := g.U.P.On().Number(v.Str)
	if !ok {
		g.str.RaiseText(ir.ErrArgument, body.Literal("unknown register: "+v.Str), in.OnErr)
		g.Set(g.Cold())
		return
	}
	if in.Name == "u_register" && g.H.Sites[0].Kind.InKernel() {
		g.Refuse(in, "bpf-register", "u_register() reads the registers of a program: at a probe in the kernel it is "+
			"register()")
		return
	}
	if in.Dst != ir.NoReg {
		g.hook.ReadReg(g.Longs[in.Dst], n)
	}
}

// exit asks the session to stop; the handler goes on.
func (g *gen) exit() {
	g.StoreI(g.MapVal(plan.MapControl, 0), plan.CtlState, int64(wire.Stopping), asm.Word)
	lost := g.Cold()
	r := g.rec.Reserve(wire.HeaderSize, lost)
	r.Header(wire.Exit, 0)
	r.Submit()
	g.Here(lost)
}

func (g *gen) abort(in *ir.Instr) {
	g.exit()
	g.unlock()
	g.Jump(g.end)
	g.Set(g.Cold())
}

// say is warn() and log().
func (g *gen) say(in *ir.Instr, kind wire.Kind, format string) {
	f := &ir.Format{Pieces: []ir.Piece{ir.Conv('s')}}
	if tail := strings.TrimPrefix(format, "%s"); tail != "" {
		f.Pieces = append(f.Pieces, ir.Literal(tail))
	}
	g.rec.Send(kind, g.U.P.AddFormat(f), []output.Field{g.rec.Field(in.Args[0])})
}

func (g *gen) randint(in *ir.Instr) {
	n := g.Long(in.Args[0])
	bad := g.Cold()
	g.UnlessI(asm.JSLE, n, 0, bad)
	r := g.Call(asm.FnGetPrandomU32)
	if in.Args[0].Kind != ir.ValInt || in.Args[0].Int > 1<<31 {
		hi := g.Call(asm.FnGetPrandomU32)
		g.AluI(asm.LSh, hi, 32)
		g.Alu(asm.Or, r, hi)
		g.AluI(asm.LSh, r, 1)
		g.AluI(asm.RSh, r, 1)
	}
	g.Alu(asm.Mod, r, n)
	g.Result(in, r)
	on := g.Cur
	g.Set(bad)
	msg := g.str.TempStr(64)
	g.str.Format(msg, &ir.Format{Pieces: []ir.Piece{ir.Literal("randint: "), ir.Conv('d'),
		ir.Literal(" is not above 0")}}, []text.Arg{{Num: n}})
	g.str.RaiseText(ir.ErrArgument, msg.Str(), in.OnErr)
	g.Set(on)
}

// fetch is user_int8() and its family.
func (g *gen) fetch(in *ir.Instr, n int, signed, kernel bool) {
	ld := *in
	ld.N, ld.Signed, ld.Kernel = int64(n), signed, kernel
	g.memory(&ld)
}

func (g *gen) pexecname(in *ir.Instr) {
	dst := g.Strs[in.Dst]
	par, ok := g.task.Offset(in, "task_struct", "real_parent")
	comm, ok2 := g.task.Offset(in, "task_struct", "comm")
	if !ok || !ok2 {
		g.str.Assign(dst, body.Literal(""))
		return
	}
	const n = 16
	p := g.task.KernelWord(g.Call(asm.FnGetCurrentTask), par, 8)
	s := emit.Mem{Slot: g.Temp(n)}
	g.Zero(s, n)
	g.Call(asm.FnProbeReadKernelStr, g.ArgP(s), emit.Const(n), emit.InReg(g.BinI(asm.Add, p, int64(comm))))
	g.str.Assign(dst, body.Padded(s, n-1))
}
