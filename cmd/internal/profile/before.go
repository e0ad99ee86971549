package profile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gostap/gostap/runtime/export"
)

// before gives the threads of a running process that wait, as /proc tells: most of them would not be seen otherwise,
// since they wait all the time. now is the time that they are counted from. Their stacks are one address: where the
// program goes on.
func (c *threads) before(proc string, now int64) {
	if name, err := os.ReadFile(filepath.Join(proc, "comm")); err == nil {
		c.procs[int64(c.pid)] = strings.TrimSpace(string(name))
	}
	tasks, _ := filepath.Glob(filepath.Join(proc, "task", "*"))
	for _, dir := range tasks {
		id, err := strconv.ParseInt(filepath.Base(dir), 10, 64)
		if err != nil || c.all[id] != nil {
			continue
		}
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.TrimSpace(string(b))
		}
		stat := read("stat")
		_, rest, ok := strings.Cut(stat, ") ")
		if !ok || rest == "" || rest[0] == 'R' || rest[0] == 'Z' || rest[0] == 'X' {
			continue // one that runs is seen as soon as it does anything else
		}
		k := kernelStack(read("stack"))
		if len(k) == 0 { // it is not told, or the thread runs by now
			continue
		}
		var stack []export.Frame
		if l := strings.Fields(read("syscall")); len(l) > 1 {
			if pc, err := strconv.ParseUint(l[len(l)-1], 0, 64); err == nil && pc != 0 {
				stack = append(c.names.at(pc, false), cut)
			}
		}
		t := &timeline{label: fmt.Sprintf("%s/%d", read("comm"), id)}
		t.process = int64(c.pid)
		if g := cgroupOf(read("cgroup")); g != "" {
			t.labels = []export.Label{{Key: "cgroup", Text: g}}
		}
		t.set(cmp.Or(syscallOf(k), kernelReason(k)), now, stack)
		c.all[id] = t
	}
}

// kernelStack reads a stack as /proc/PID/stack has it: lines of "[<0>] name+0x74/0xf0 [module]".
func kernelStack(text string) (out []export.Frame) {
	for line := range strings.Lines(text) {
		_, name, ok := strings.Cut(line, "] ")
		if at := strings.IndexByte(name, '+'); ok && at > 0 {
			out = append(out, export.Frame{Func: name[:at] + "_[k]"})
		}
	}
	return out
}
