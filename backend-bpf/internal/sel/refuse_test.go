package sel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// translateOne translates the handler of a program with one probe as if it could run in the kernel, and gives the
// messages.
func translateOne(t *testing.T, site, body string, types sel.Types, feat sel.Features) diag.List {
	t.Helper()
	p := irtest.Parse(t, fmt.Sprintf("probe \"x\" {\n  site %s\n  long r0, r1\n  string r2 100, r3 100\nb0:\n  r0 = "+
		"mov 1\n  r2 = mov \"\"\n  r3 = mov \"\"\n  %s\n  print \"%%d%%s\\n\"(r0, r2)\n  end\n}\n", site, body))
	lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, CPUs: 2, Schema: &wire.Schema{}, CanStop: true, Types: types,
		Feat: feat}}
	pr := p.Probes[0]
	_, err = u.Handler(&sel.Handler{Handler: &partition.Handler{Body: pr.Handler, Sites: pr.Sites, IDs: []int{0}},
		Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return u.Diags
}

// TestRefusals: what an eBPF program cannot do is refused by name, also what the rest of the compiler would not ask
// for.
func TestRefusals(t *testing.T) {
	const (
		uprobe    = `uprobe path="/bin/true" offset=0x1000`
		uretprobe = `uretprobe path="/bin/true" offset=0x1000`
		trace     = `tracepoint event="sched:sched_switch"`
	)
	no := sel.Features{WriteUser: func() error { return errors.New("locked down") }}
	find := func(site, body string, code diag.Code, words string) {
		t.Helper()
		d := diagtest.Find(t, translateOne(t, site, body, kernelTypes{}, no), code)
		if !strings.Contains(d.Message, words) || !strings.Contains(d.Hint, "--runtime=kernel") {
			t.Errorf("%s: %s (%s)", body, d.Message, d.Hint)
		}
	}
	find(uretprobe, "r2 = site probefunc\n  r0 = intr strlen(r2)", "bpf-lazy-text", "probefunc() in a return probe")
	find(uprobe, "r2 = intr usymname(r0)\n  r0 = intr strlen(r2)", "bpf-lazy-text", "usymname() is made on the host")
	find(uretprobe, "r0 = bias", "bpf-bias", "where the program was loaded")
	find(uprobe, "r0 = tracearg 1", "bpf-no-event", "no arguments of an event")
	find(uprobe, `r2 = sprint "%b"(r0)`, "bpf-sprintf", "%b")
	find(uprobe, "intr dump_stack()", "bpf-function", "dump_stack()")
	find(trace, "intr udelay(r0)", "bpf-function", "udelay() waits")
	find(uprobe, "r0 = reg 40", "bpf-register", "register 40")
	find(uprobe, "r0 = intr u_register(r3)", "bpf-register", "must be a constant")
	find(`kprobe symbol="vfs_read"`, `r0 = intr u_register("rax")`, "bpf-register", "it is register()")
	find(trace, "r0 = reg 1", "bpf-no-registers", "tracepoint")
	find("process.begin", "r0 = reg 1", "bpf-no-registers", "process or thread begins")
	find(trace, "setreg 1, r0", "bpf-write", "only where a user program was probed")
	find(uprobe, "store8k r0, r0", "bpf-write", "memory of the kernel")
	find("syscall syscall=0", "intr set_call_word(2, r0)", "bpf-write", "arguments of a system call")
	find("syscall.return syscall=0", "intr set_call_word(7, r0)", "bpf-write", "the result of a system call")
	find(uprobe, "store8 r0, r0", "bpf-write", "locked down")
	d := diagtest.Find(t, translateOne(t, uprobe, "r0 = intr ppid()", nil, no), "bpf-kernel-types")
	if !strings.Contains(d.Message, "does not publish") {
		t.Error(d.Message)
	}
	for site, words := range map[string]string{
		uprobe:                            "answers a hook",
		`lsm event="inode_free_security"`: "answers a hook",
	} {
		d := diagtest.Find(t, translateOne(t, site, "intr lsm_deny(r0)", kernelTypes{}, no), "bpf-deny")
		if !strings.Contains(d.Message, words) {
			t.Errorf("%s: %s", site, d.Message)
		}
	}
	loop := "jump b1\nb1:\n  intr lsm_deny(r0)\n  r0 = sub r0, 1\n  branch r0, b1, b2\nb2:"
	d = diagtest.Find(t, translateOne(t, `lsm event="file_open" decides=1`, loop, kernelTypes{}, no), "bpf-deny")
	if !strings.Contains(d.Message, "with loops") {
		t.Error(d.Message)
	}
}
