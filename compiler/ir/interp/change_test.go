package interp

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
)

// changed is a program of which only registers and eight bytes at address 0x100 can be changed.
type changed struct {
	HostContext
	regs map[int]int64
	mem  [8]byte
}

func (c *changed) Reg(n int) int64 { return c.regs[n] }

func (c *changed) SetReg(n int, v int64) error {
	c.regs[n] = v
	return nil
}

func (c *changed) at(addr uint64, n int, kernel bool) ([]byte, error) {
	if kernel || addr < 0x100 || addr+uint64(n) > 0x108 {
		return nil, errors.New("not mapped")
	}
	return c.mem[addr-0x100:][:n], nil
}

func (c *changed) Read(buf []byte, addr uint64, kernel bool) error {
	p, err := c.at(addr, len(buf), kernel)
	copy(buf, p)
	return err
}

func (c *changed) Write(buf []byte, addr uint64, kernel bool) error {
	p, err := c.at(addr, len(buf), kernel)
	copy(p, buf)
	return err
}

func TestChange(t *testing.T) {
	run := func(body string, ctx Context) string {
		p := irtest.Parse(t, "probe \"p\" {\n  long r0, r1\n  string r2 99\n"+body+"}")
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
	catch := "b1:\n r2 = errmsg\n print \"%s\"(r2)\n end\n"
	ctx := func() *changed { return &changed{regs: map[int]int64{5: 1}} }
	for _, c := range []struct{ body, out, after string }{
		{"b0:\n setreg 5, -2\n r0 = reg 5\n print \"%d\"(r0)\n end\n", "-2", "-2 0000000000000000"},
		{"b0:\n store1 0x100, 0x1ff\n store2 0x102, -2\n store4 0x104, 0x12345678\n r0 = load2s 0x102\n print " +
			"\"%d\"(r0)\n end\n", "-2", "1 ff00feff78563412"},
		{"b0:\n store8 0x100, -1\n end\n", "", "1 ffffffffffffffff"},
		{"b0:\n store8 0x101, -1 !b1\n print \"on\"()\n end\n" + catch, "write fault at 0x0000000000000101",
			"1 0000000000000000"},
		{"b0:\n store4k 0x100, -1 !b1\n end\n" + catch, "write fault at 0x0000000000000100", "1 0000000000000000"},
	} {
		x := ctx()
		if out := run(c.body, x); out != c.out {
			t.Errorf("%q printed %q, want %q", c.body, out, c.out)
		}
		if after := fmt.Sprintf("%d %x", x.regs[5], x.mem); after != c.after {
			t.Errorf("%q left %s, want %s", c.body, after, c.after)
		}
	}
	const host = "changing the traced program: not available in a handler that runs on the host"
	if out := run("b0:\n store4 256, 1 !b1\n end\n"+catch, &HostContext{}); out != host {
		t.Errorf("store on the host: %q", out)
	}
	if out := run("b0:\n setreg 5, 1\n end\n", &HostContext{}); out != "E:"+host {
		t.Errorf("setreg on the host: %q", out)
	}
}
