package tapsets

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// flagHeaders are the kernel's and the library's, as far as they go together in one file.
const flagHeaders = `#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <signal.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/fanotify.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <linux/kexec.h>
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/quota.h>
#include <linux/dqblk_xfs.h>
#include <linux/reboot.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <linux/xattr.h>
#include <asm/prctl.h>
#include <stdio.h>
`

var (
	flagTable = regexp.MustCompile(`(?s)value_text\([^"]*("[^)]*")\)`)
	flagGlue  = regexp.MustCompile(`"\s*"`)
	flagEntry = regexp.MustCompile(`^(?:(?:0x[0-9a-f]+|-?\d+)/)?(0x[0-9a-f]+|-?\d+) \|?([A-Z][A-Z0-9_]{4,})\|?$`)
	flagGone  = regexp.MustCompile(`‘([A-Z0-9_]+)’ undeclared`)
)

// TestFlags holds the numbers that texts of flags are made of against those of the C headers. What the headers do not
// have, being older, is left out; there has to be enough of the rest.
func TestFlags(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("not installed: gcc")
	}
	values := map[string]string{}
	for _, file := range []string{"syscall_text.stp", "syscall_struct.stp"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flagTable.FindAllSubmatch(text, -1) {
			table := strings.Trim(flagGlue.ReplaceAllString(string(m[1]), ""), `"`)
			_, entries, _ := strings.Cut(table, ";")
			for _, e := range strings.Split(entries, ",") {
				if p := flagEntry.FindStringSubmatch(e); p != nil {
					if was := values[p[2]]; was != "" && was != p[1] {
						t.Errorf("%s: %s is %s and %s", file, p[2], was, p[1])
					}
					values[p[2]] = p[1]
				}
			}
		}
	}
	delete(values, "O_LARGEFILE") // 0 in the headers of 64-bit programs
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range values {
			if !yield(n) {
				return
			}
		}
	})
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "flags.c"), filepath.Join(dir, "flags")
	for range 3 { // without what is not declared, and without what only then is not
		c := flagHeaders + "int main(void) {\n"
		for _, n := range names {
			v := values[n]
			c += fmt.Sprintf("if ((unsigned)(%s) != (unsigned)(%s)) ", n, v) +
				fmt.Sprintf("printf(\"%s is %%#x, not %s\\n\", (unsigned)(%s));\n", n, v, n)
		}
		if err := os.WriteFile(src, []byte(c+"}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("gcc", "-w", "-fmax-errors=0", "-o", exe, src)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		gone := map[string]bool{}
		for _, m := range flagGone.FindAllSubmatch(out, -1) {
			gone[string(m[1])] = true
		}
		if len(gone) == 0 {
			t.Fatalf("%v\n%.2000s", err, out)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return gone[n] })
	}
	t.Logf("%d names of %d", len(names), len(values))
	if len(names) < len(values)*7/10 {
		t.Errorf("the headers know %d of %d names", len(names), len(values))
	}
	out, err := exec.Command(exe).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
