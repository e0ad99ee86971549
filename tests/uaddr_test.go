package tests

import (
	"strings"
	"testing"
)

// TestUserAddress: uaddr() is an address of the program wherever a hit finds the thread: in a system call, in the
// kernel under a clock's interrupt, where it is switched away, where it ends. dd spends nearly all of its time in the
// kernel, in read(2) and write(2) of libc.
func TestUserAddress(t *testing.T) {
	needRoot(t)
	s := begin(t, "-e", `global good, bad, where
		function note(kind, addr, name) {
			if (addr > 0 && addr < 0x800000000000) good[kind]++; else bad[kind, addr]++
			where[kind, name]++
		}
		probe perf.type(1).config(1).hz(1000).process { note("clock", uaddr(), "") }
		probe timer.profile { if (pid() == target()) note("profile", uaddr(), "") }
		probe syscall.read { if (pid() == target()) note("read", uaddr(), umodname(uaddr())) }
		probe syscall.write.return { if (pid() == target()) note("write", uaddr(), umodname(uaddr())) }
		probe kernel.trace("sched_switch") { if (pid() == target()) note("switch", uaddr(), "") }
		probe process.end { if (pid() == target()) note("end", uaddr(), "") }
		probe end {
			foreach ([kind, addr] in bad) printf("%s: 0x%x %d times\n", kind, addr, bad[kind, addr])
			foreach (kind in good+) printf("%s ", good[kind] > 0 ? kind : "")
			printf("%d %d\n", where["read", "libc.so.6"] > 50, where["write", "libc.so.6"] > 50)
		}`, "-c", "dd if=/dev/zero of=/dev/null bs=4M count=100 status=none")
	if status := s.end(); status != 0 {
		t.Fatalf("status %d\n%s", status, s.stderr())
	}
	out := s.stdout()
	for _, kind := range []string{"clock", "profile", "read", "write", "switch", "end"} {
		if !strings.Contains(" "+out, " "+kind+" ") {
			t.Errorf("no address at %s", kind)
		}
	}
	if strings.Contains(out, "times") || !strings.HasSuffix(out, " 1 1\n") {
		t.Error(out)
	}
}
