package sel_test

import (
	"bufio"
	"encoding/binary"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// relatives makes a thread, then a child, which makes a thread and a child. It says its own number, waits for a line,
// and says the numbers of the children and, below zero, those of the threads; then it waits again.
const relatives = `
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int tid;
static void *thread(void *p) { tid = syscall(SYS_gettid); return p; }
static void say(void) { pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); printf("%d\n", -tid); fflush(stdout); }
int main(void)
{
	char c;
	printf("%d\n", getpid()); fflush(stdout);
	read(0, &c, 1);
	say();
	if (!fork()) {
		printf("%d\n", getpid());
		say();
		if (!fork()) {
			printf("%d\n", getpid());
			fflush(stdout);
			_exit(0);
		}
		wait(0);
		_exit(0);
	}
	wait(0);
	puts("done");
	fflush(stdout);
	read(0, &c, 1);
	return 0;
}`

// TestFamily watches what a process makes, with each of the programs that do.
func TestFamily(t *testing.T) {
	needRoot(t)
	bin := compile(t, relatives, "-pthread")
	for _, c := range []struct {
		name    string
		records bool
		progs   []string
	}{{"arguments", false, []string{plan.ProgFamily}}, {"record", true, []string{plan.ProgFamily}},
		{"beside", true, []string{plan.ProgFamilyRaw}}} {
		t.Run(c.name, func(t *testing.T) {
			p := irtest.Parse(t, "probe \"b\" {\n  site process.begin target=1\nb0:\n  end\n}\n")
			lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
			if err != nil {
				t.Fatal(err)
			}
			u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay,
				Feat: sel.Features{MayGoto: forms()[0], Events: func() bool { return c.records }}, CPUs: 2,
				Schema: &wire.Schema{}, Types: kernelTypes{}}}
			if _, err := u.Handler(&sel.Handler{Handler: &partition.Handler{Body: p.Probes[0].Handler,
				Sites: p.Probes[0].Sites, IDs: []int{0}}, Name: "x"}); err != nil {
				t.Fatal(err)
			}
			ws, err := u.Watchers()
			if err != nil {
				t.Fatal(err)
			}
			spec := &ebpf.CollectionSpec{Maps: u.Maps(4096), Programs: map[string]*ebpf.ProgramSpec{}}
			for _, w := range ws {
				spec.Programs[w.Spec.Name] = w.Spec
			}
			col, err := load.Load(spec, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer col.Close()
			var set attach.Set
			defer set.Detach()
			for _, name := range c.progs {
				prog := col.Progs[name]
				if prog.Type == ebpf.TracePoint {
					err = set.Event(prog.FD(), prog.AttachTo, 0)
				} else {
					err = set.Tracing(prog.FD(), uint32(prog.AttachType), prog.AttachTo, 0)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(bin)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer in.Close()
			ctl := make([]byte, plan.CtlSize)
			binary.LittleEndian.PutUint32(ctl[plan.CtlTarget:], uint32(cmd.Process.Pid))
			if err := kern.Update(col.Maps[plan.MapControl].FD(), make([]byte, 4), ctl, kern.UpdateAny); err != nil {
				t.Fatal(err)
			}
			in.Write([]byte("g"))
			lines := bufio.NewScanner(out)
			children, threads := 0, 0
			for lines.Scan() && lines.Text() != "done" {
				n, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
				if err != nil {
					t.Fatal(err)
				}
				if n == cmd.Process.Pid {
					continue
				}
				err = kern.Lookup(col.Maps[plan.MapFamily].FD(),
					binary.LittleEndian.AppendUint32(nil, uint32(max(n, -n))), make([]byte, 4))
				if n > 0 {
					children++
				} else {
					threads++
				}
				if (err == nil) != (n > 0) {
					t.Errorf("%d (below 0: a thread): %v", n, err)
				}
			}
			if children != 2 || threads != 2 {
				t.Errorf("%d children, %d threads", children, threads)
			}
		})
	}
}
