package interp

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// TestEveryIntrinsic: each intrinsic runs in the machine, or in the tracer, or needs a session that knows symbols, or
// its row says that the tracer refuses it; nothing is implemented that is no intrinsic; and what ends the session
// says so.
func TestEveryIntrinsic(t *testing.T) {
	known := map[string]bool{}
	for _, f := range intrinsic.All() {
		known[f.Name] = true
		n := 0
		for _, has := range []bool{builtins[f.Name] != nil, hostIntrinsics[f.Name] != nil, f.Idle ||
			f.Text.Kind == wire.Sym || f.Text.Lazy.Kept(),
			f.Refused&intrinsic.Tracer != 0, f.Where == intrinsic.Lowered} {
			if has {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is in %d places", f.Name, n)
		}
		if builtins[f.Name] == nil {
			continue
		}
		out := &exits{}
		m := &Machine{out: out, ctx: &HostContext{}, maxStr: 100}
		if _, err := builtins[f.Name](m, make([]Val, len(f.Params)), 100); out.exited != f.MayEnd() {
			t.Errorf("%s ends the session: %v, its row says %v (%v)", f.Name, out.exited, f.MayEnd(), err)
		}
	}
	for name := range builtins {
		if !known[name] {
			t.Errorf("builtin %s is no intrinsic", name)
		}
	}
	for name := range hostIntrinsics {
		if !known[name] {
			t.Errorf("host intrinsic %s is no intrinsic", name)
		}
	}
}

// exits is an Output that notes the end of the session.
type exits struct{ exited bool }

func (*exits) Print([]byte)         {}
func (*exits) Warn(string)          {}
func (*exits) Log(string)           {}
func (*exits) Error(*textfmt.Fault) {}
func (e *exits) Exit()              { e.exited = true }

// mem is a context with memory: its text lies at address 1000.
type mem struct {
	HostContext
	text string
}

func (m *mem) Reg(n int) int64 { return int64(n) * 11 }
func (m *mem) Read(buf []byte, addr uint64, _ bool) error {
	if addr < 1000 || addr+uint64(len(buf)) > 1000+uint64(len(m.text)) {
		return errors.New("fault")
	}
	copy(buf, m.text[addr-1000:])
	return nil
}

// call runs one intrinsic by way of a program.
func call(t *testing.T, ctx Context, name string, args ...any) string {
	t.Helper()
	f := intrinsic.Lookup(name)
	p := &ir.Program{Limits: layout.Default()}
	p.Limits.MaxString = 40
	b := ir.NewBuilder("")
	var vals []ir.Val
	for _, a := range args {
		switch a := a.(type) {
		case int:
			vals = append(vals, ir.I(int64(a)))
		case string:
			vals = append(vals, ir.S(a))
		}
	}
	conv := "%d"
	dst := ir.NoReg
	switch f.Result {
	case types.Long:
		dst = b.Long("")
	case types.String:
		dst, conv = b.Str("", 39), "%s"
	}
	b.Intr(name, dst, vals...)
	if dst != ir.NoReg {
		format, _ := ir.ParseFormat(conv)
		b.Print(p.AddFormat(format), ir.R(dst))
	}
	p.Probes = []*ir.Probe{{Name: "p", Cond: -1, Handler: b.Finish()}}
	out := &said{}
	m, err := New(p, NewMemStore(p), out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(0, ctx); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type said struct{ strings.Builder }

func (s *said) Print(b []byte)         { s.Write(b) }
func (s *said) Warn(m string)          { s.WriteString("W:" + m) }
func (s *said) Log(m string)           { s.WriteString("L:" + m) }
func (s *said) Error(f *textfmt.Fault) { s.WriteString("E:" + f.Error()) }
func (s *said) Exit()                  { s.WriteString("X") }

func TestIntrinsics(t *testing.T) {
	ctx := &mem{text: "hello\x00\xfe\xff\xff\xff\x01\x02\x03\x04tail"}
	long := strings.Repeat("y", 39)
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"strlen", []any{"abc"}, "3"},
		{"substr", []any{"abcdef", 2, 3}, "cde"},
		{"substr", []any{"abc", 1, 99}, "bc"},
		{"substr", []any{"abc", -1, 2}, ""},
		{"substr", []any{"abc", 3, 1}, ""},
		{"substr", []any{"abc", 0, -1}, ""},
		{"stringat", []any{"a\xffc", 1}, "255"},
		{"stringat", []any{"abc", 3}, "E:string index out of range"},
		{"stringat", []any{"abc", -1}, "E:string index out of range"},
		{"isinstr", []any{"haystack", "yst"}, "1"},
		{"isinstr", []any{"haystack", "z"}, "0"},
		{"strpos", []any{"haystack", "s"}, "3"},
		{"strpos", []any{"haystack", "z"}, "-1"},
		{"strtol", []any{"42abc", 10}, "42"},
		{"strtol", []any{"-0x1F", 16}, "-31"},
		{"strtol", []any{"0x1f", 0}, "31"},
		{"strtol", []any{"017", 0}, "15"},
		{"strtol", []any{" 5", 10}, "0"},
		{"strtol", []any{"zz", 36}, "1295"},
		{"strtol", []any{"99999999999999999999", 10}, "7766279631452241919"},
		{"strtol", []any{"12", 1}, "0"},
		{"str_replace", []any{"a-b-c", "-", "+"}, "a+b+c"},
		{"str_replace", []any{"abc", "", "x"}, "abc"},
		{"text_str", []any{"a\n\t\"\\\x01é"}, `a\n\t\"\\\001\u00E9`},
		{"text_str", []any{long}, long},
		{"text_str", []any{long[:38] + "\n"}, long[:38]}, // a whole escape or nothing
		{"string_quoted", []any{"a\"b"}, `"a\"b"`},
		{"string_quoted", []any{long[:37]}, `"` + long[:37] + `"`},
		{"string_quoted", []any{long}, `"` + long[:34] + `"...`},
		{"text_strn", []any{"abcdef", 3, 0}, "abc"},
		{"text_strn", []any{"abcdef", 7, 1}, `"ab"...`},
		{"text_strn", []any{"abc", 5, 1}, `"abc"`},
		{"text_strn", []any{"abc", 0, 1}, `"abc"`},
		{"text_strn", []any{long, 38, 1}, `"` + long[:33] + `"...`},
		{"tolower", []any{"AbÀ[Z"}, "abÀ[z"},
		{"toupper", []any{"abz{é"}, "ABZ{é"},
		{"char_string", []any{65}, "A"},
		{"char_string", []any{0}, ""},
		{"ctime", []any{0}, "Thu Jan  1 00:00:00 1970"},
		{"ctime", []any{1 << 62}, "far far in the future..."},
		{"ctime", []any{-1 << 62}, "a long, long time ago..."},
		{"user_string", []any{1000}, "hello"},
		{"user_string", []any{5}, "E:read fault at 0x0000000000000005"},
		{"user_string2", []any{5, "none"}, "none"},
		{"user_string_n", []any{1000, 3}, "hel"},
		{"user_string_n", []any{5, 0}, ""},
		{"user_text", []any{1000, -1, 1}, `"hello"`},
		{"user_text", []any{1000, 3, 1}, `"hel"`},
		{"user_text", []any{1000, 3, 0}, `"hel"`},
		{"user_text", []any{1000, 6, 0}, `"hello\000"`},
		{"user_text", []any{1000, 6, 1}, `"hello"`},
		{"user_text", []any{5, 0, 0}, `""`},
		{"user_text", []any{5, 1, 0}, "0x5"},
		{"user_text", []any{0, -1, 1}, "NULL"},
		{"user_text", []any{0, 2, 0}, "0x0"},
		{"user_string_n", []any{5, 1}, "E:read fault at 0x0000000000000005"},
		{"user_line", []any{1000, 3, 43}, "hel"},
		{"user_line", []any{1000, 6, 43}, "hello"},
		{"user_line", []any{1000, 7, 43}, "hello+\xfe"},
		{"user_line", []any{1000, 7, 0}, "hello \xfe"},
		{"user_line", []any{5, 0, 43}, ""},
		{"user_line", []any{5, 1, 43}, "E:read fault at 0x0000000000000005"},
		{"user_string_n2", []any{1014, 4, "x"}, "tail"},
		{"user_string_n2", []any{1014, 5, "x"}, "x"},
		{"kernel_string", []any{1000}, "hello"},
		{"kernel_string2", []any{1, "k"}, "k"},
		{"kernel_string_n", []any{1001, 2}, "el"},
		{"kernel_string_n2", []any{1001, 2, "k"}, "el"},
		{"kernel_string_n2", []any{1, 2, "k"}, "k"},
		{"user_int8", []any{1006}, "-2"},
		{"user_uint8", []any{1006}, "254"},
		{"user_int16", []any{1006}, "-2"},
		{"user_uint16", []any{1006}, "65534"},
		{"user_int32", []any{1006}, "-2"},
		{"user_uint32", []any{1006}, "4294967294"},
		{"user_int64", []any{1006}, "289077008695033854"},
		{"kernel_uint64", []any{1006}, "289077008695033854"},
		{"kernel_int16", []any{1017}, "E:read fault at 0x00000000000003f9"},
		{"register", []any{"rdi"}, "55"},
		{"u_register", []any{"%r15"}, "165"},
		{"register", []any{"xyz"}, "E:unknown register: xyz"},
		{"is_return", nil, "0"},
		{"error", []any{"mine"}, "E:mine"},
		{"warn", []any{"w"}, "W:w"},
		{"log", []any{"l"}, "L:l"},
		{"exit", nil, "X"},
		{"abort", nil, "X"},
		{"randint", []any{0}, "E:randint: 0 is not above 0"},
		{"randint", []any{1}, "0"},
		{"usymname", []any{1}, "E:usymname: not available in a handler that runs on the host"},
		{"system", []any{"true"}, "E:system: not available in a handler that runs on the host"},
	} {
		if got := call(t, ctx, c.name, c.args...); got != c.want {
			t.Errorf("%s(%q): got %q, want %q", c.name, c.args, got, c.want)
		}
	}
}

// TestReadStringAtPageEnd: a string that ends before an unmapped page is read to its end.
func TestReadStringAtPageEnd(t *testing.T) {
	ctx := &mem{text: strings.Repeat("x", 4096-1000-3) + "ab\x00"}
	if got := call(t, ctx, "user_string", 4093); got != "ab" {
		t.Errorf("got %q", got)
	}
}

func TestHostContext(t *testing.T) {
	ctx := &HostContext{Where: &probe.Site{Kind: probe.Begin}, Target: 77}
	if got, want := call(t, ctx, "pid"), fmt.Sprint(os.Getpid()); got != want {
		t.Errorf("pid %s, want %s", got, want)
	}
	if got := call(t, ctx, "target"); got != "77" {
		t.Errorf("target %s", got)
	}
	comm, err := os.ReadFile("/proc/self/comm")
	if got := call(t, ctx, "execname"); err == nil && got != strings.TrimSpace(string(comm)) {
		t.Errorf("execname %q, want %q", got, comm)
	}
	before := time.Now().Unix()
	var s int64
	fmt.Sscan(call(t, ctx, "gettimeofday_s"), &s)
	if s < before || s > time.Now().Unix() {
		t.Errorf("gettimeofday_s %d", s)
	}
	// Every host intrinsic gives something and none fails. printk would write to the log of this machine.
	for name := range hostIntrinsics {
		if name == "printk" {
			continue
		}
		f := intrinsic.Lookup(name)
		var args []any
		for _, p := range f.Params {
			if p == types.Long {
				args = append(args, 2)
			} else {
				args = append(args, "HOME")
			}
		}
		if got := call(t, &HostContext{System: func(string) error { return nil }, Kernel: fewBytes{}}, name,
			args...); strings.HasPrefix(got, "E:") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// fewBytes is a kernel whose memory is 8 bytes from address 64 on.
type fewBytes struct{}

func (fewBytes) Peeks() bool                  { return true }
func (fewBytes) CurrentTask() (uint64, error) { return 64, nil }
func (fewBytes) Jiffies() (int64, error)      { return 65, nil }
func (fewBytes) ReadKernel(buf []byte, addr uint64) error {
	if addr < 64 || addr+uint64(len(buf)) > 72 {
		return errors.New("nothing is there")
	}
	copy(buf, "kernel!\x00"[addr-64:])
	return nil
}

// Kernel memory is read where there is a Peeker; the traced program's never is.
func TestHostPeek(t *testing.T) {
	ctx := &HostContext{Kernel: fewBytes{}}
	for _, c := range []struct {
		name string
		addr int
		want string
	}{
		{"kernel_string", 64, "kernel!"}, {"kernel_string", 67, "nel!"}, {"kernel_uint8", 70, "33"},
		{"kernel_string", 8, "E:read fault at 0x0000000000000008"},
		{"kernel_int32", 69, "E:read fault at 0x0000000000000045"},
		{"user_string", 64, "E:read fault at 0x0000000000000040"},
	} {
		if got := call(t, ctx, c.name, c.addr); got != c.want {
			t.Errorf("%s(%d) = %q, want %q", c.name, c.addr, got, c.want)
		}
	}
	if got := call(t, ctx, "task_current"); got != "64" {
		t.Errorf("task_current() = %s", got)
	}
	if got := call(t, ctx, "jiffies"); got != "65" {
		t.Errorf("jiffies() = %s", got)
	}
	for _, name := range []string{"task_current", "jiffies"} {
		if got := call(t, &HostContext{}, name); !strings.HasPrefix(got, "E:") {
			t.Errorf("%s() without a kernel = %s", name, got)
		}
	}
}

// captured gives recorded values in place of what cannot be read any more.
type captured struct {
	HostContext
	vals map[*ir.Instr]Val
	code ir.Code
}

func (c *captured) Captured(in *ir.Instr) (Val, ir.Code, bool) {
	v, ok := c.vals[in]
	return v, c.code, ok
}

func TestCaptured(t *testing.T) {
	p, err := ir.ParseText(`probe "p" {
  long r0, r1
  string r2 9, r3 99
b0:
  r0 = reg 5
  r1 = load4 r0 !b1
  r2 = intr execname()
  print "%d %d %s\n"(r0, r1, r2)
  end
b1:
  r3 = errmsg
  print "%s\n"(r3)
  end
}`)
	if err != nil {
		t.Fatal(err)
	}
	ins := p.Probes[0].Handler.Blocks[0].Instrs
	for _, c := range []struct {
		ctx  *captured
		want string
	}{
		{&captured{vals: map[*ir.Instr]Val{&ins[0]: {Int: 64}, &ins[1]: {Int: -7}, &ins[2]: {Str: "prog"}}},
			"64 -7 prog\n"},
		{&captured{vals: map[*ir.Instr]Val{&ins[1]: {}}, code: ir.ErrMemory}, "read fault at 0x0000000000000000\n"},
	} {
		out := &said{}
		m, err := New(p, NewMemStore(p), out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(0, c.ctx); err != nil || out.String() != c.want {
			t.Errorf("got %q, %v, want %q", out.String(), err, c.want)
		}
	}
}
