package facts_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/facts"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/manifest"
)

const program = `probe "a" {
  site kprobe symbol="vfs_read"
  long r0
b0:
  r0 = reg 3
  end
}
probe "b" {
  site tracepoint event="sched:sched_switch"
  long r0
b0:
  r0 = tracearg 1
  end
}
probe "c" {
  site kprobe symbol="vfs_write"
b0:
  end
}
`

// TestOf: the parameters of what a handler looks at are taken for granted, and nothing of what it does not look at.
func TestOf(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel has no BTF")
	}
	fs, bound := facts.Of(irtest.Parse(t, program), kbtf.New(kbtf.Config{}), false)
	if bound != nil || len(fs) != 2 {
		t.Fatalf("%+v %+v", fs, bound)
	}
	if f := fs[0]; f.Kind != facts.Function || f.Name != "vfs_read" ||
		!strings.Contains(f.Text, "struct file *[8] file") {
		t.Errorf("%+v", f)
	}
	if f := fs[1]; f.Kind != facts.Event || !strings.HasPrefix(f.Text, "1: struct task_struct *[8] prev") {
		t.Errorf("%+v", f)
	}
	for _, text := range []string{
		"probe \"a\" {\n  site kprobe symbol=\"_stext\" offset=0x10\nb0:\n  end\n}",
		"probe \"a\" {\n  site timer\n  long r0\nb0:\n  r0 = load8k 4096\n  end\n}",
		"probe \"a\" {\n  site perf type=5 addr=0x10\nb0:\n  end\n}",
	} {
		if _, bound := facts.Of(irtest.Parse(t, text), kbtf.New(kbtf.Config{}), false); bound == nil {
			t.Errorf("fits every kernel:\n%s", text)
		}
	}
}

// TestCheck: what holds is silent, and what does not is named.
func TestCheck(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		t.Skip("this kernel has no BTF")
	}
	h := facts.Here{Kernel: kbtf.New(kbtf.Config{}),
		Holds: func(test string) (bool, error) { return test == "yes", nil }}
	fs, _ := facts.Of(irtest.Parse(t, program), h.Kernel, false)
	fs = append(fs, manifest.Fact{Kind: facts.Condition, Name: "yes", Text: "true"},
		manifest.Fact{Kind: facts.Condition, Name: "no", Text: "false"})
	if ds := facts.Check(fs, h, "6.0"); len(ds) > 0 {
		t.Errorf("%v", ds[0])
	}
	for _, c := range []struct {
		f    manifest.Fact
		want string
	}{
		{manifest.Fact{Kind: facts.Function, Name: "nosuch", Text: "int[4] ()"}, "kernel 6.0 has no function nosuch"},
		{manifest.Fact{Kind: facts.Event, Name: "sched:nosuch", Text: "x"}, "has no event sched:nosuch"},
		{manifest.Fact{Kind: facts.Function, Name: "vfs_read", Text: "int[4] (int[4] n)"},
			"vfs_read has other arguments in the kernel 6.0: int (int n) where it was made"},
		{manifest.Fact{Kind: facts.Condition, Name: "yes", Text: "false"}, "yes is true for the kernel 6.0"},
		{manifest.Fact{Kind: "new"}, "another version"},
	} {
		d := diagtest.Find(t, facts.Check([]manifest.Fact{c.f}, h, "6.0"), facts.Code)
		if !strings.Contains(d.Message, c.want) {
			t.Errorf("%s, want %s", d.Message, c.want)
		}
	}
}
