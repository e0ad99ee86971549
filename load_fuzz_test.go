package gostap

import (
	"context"
	"errors"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
)

// FuzzLoad: whatever program and facts a plan carries, it is refused or translated, and nothing breaks.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"probe \"begin\" {\n  site begin point=\"begin\"\nb0:\n  print \"%d\\n\"(1)\n  end\n}",
		"probe \"a\" {\n  site uprobe path=\"/proc/self/exe\" offset=0x1000 pc=0x1000\n  long r0, r1\nb0:\n" +
			"  r0 = reg 5\n" +
			"  r1 = load8 r0 !b1\n  print \"%d\\n\"(r1)\n  end\nb1:\n  end\n}",
		"global n long [long, string 16] size 100\nprobe \"b\" {\n  site tracepoint event=\"sched:sched_switch\"\n" +
			"  long r0, r1, r2\nb0:\n  r0 = tracearg 1\n  r1 = offset 8 \"member struct~task_struct pid 4s\"\n" +
			"  r2 = add r0, r1\n  r2 = load4sk r2 !b1\n  madd @n[r2, \"x\"], 1 !b1\n  end\nb1:\n  end\n}",
		"probe \"c\" {\n  site kprobe symbol=\"vfs_read\" offset=0x3\n  site syscall syscall=3\n" +
			"  site lsm event=\"x\"\nb0:\n  end\n}",
		"probe \"d\" {\n  site netfilter event=\"1\"\n  site perf type=5 addr=0x10 len=9\n  site timer period=-3\n" +
			"  site procfs.read mode=0777 event=\"../x\"\nb0:\n  end\n}",
	} {
		f.Add(text, "event", "sched:sched_switch", "1: struct task_struct *[8] prev")
	}
	f.Add("probe \"c\" {\n  site profile\nb0:\n  end\n}", "condition", `kernel_v >= "6"`, "true")
	f.Fuzz(func(t *testing.T, text, kind, name, fact string) {
		p, err := ir.ParseText(text)
		if err != nil || ir.Verify(p) != nil || p.Limits.MaxEntries > 1<<16 {
			return
		}
		for _, g := range p.Globals {
			if g.Size > 1<<16 {
				return // takes its memory, as in a script
			}
		}
		m := &manifest.Manifest{Program: p, Facts: []manifest.Fact{{Kind: kind, Name: name, Text: fact}}}
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := Load(b, Options{Tool: ToolOptions{Cache: NoCache}})
		if err == nil {
			err = q.Build(context.Background())
			q.Close()
		}
		if bug, ok := errors.AsType[*InternalError](err); ok {
			t.Fatalf("%v\n%s", bug, bug.Stack)
		}
	})
}
