package profile

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gostap/gostap/runtime/export"
)

// mostChildren is how many processes there may be at once besides the first.
const mostChildren = 1 << 14

// following is what scripts have that follow processes with all that they start: ours says whether a process is one of
// them, cgroup_id gives a number for the control group of a task, and sends its path when it is new.
var following = fmt.Sprintf(`global kin[%[1]d], cgroups[4096]
function ours:long(pid:long) { return pid == target() || kin[pid] }
function cgroup_path:string(kn:long) {
  path = ""
  for (i = 0; i < 16; i++) {
    up = @choose_defined(@cast(kn, "kernfs_node", "kernel")->__parent, @cast(kn, "kernfs_node", "kernel")->parent)
    if (!up) break
    path = "/" . kernel_string(@cast(kn, "kernfs_node", "kernel")->name) . path
    kn = up
  }
  return path == "" ? "/" : path
}
function cgroup_id:long(task:long) {
  kn = @cast(task, "task_struct", "kernel")->cgroups->dfl_cgrp->kn
  id = @cast(kn, "kernfs_node", "kernel")->id
  try {
    if (!cgroups[id]) {
      cgroups[id] = 1
      printf("%%d %%d %%s\n", %[2]d, id, cgroup_path(kn))
    }
  } catch {}
  return id
}
probe kernel.trace("sched_process_fork") {
  if (ours($parent->tgid)) {
    try { if ($child->tgid != $parent->tgid) kin[$child->tgid] = 1 } catch { printf("%%d 1\n", %[3]d) }
    printf("%%d %%d\n", %[4]d, $child->pid)
  }
}
probe kernel.trace("sched_process_exec") {
  if (ours(pid())) printf("%%d %%d %%s\n", %[5]d, pid(), execname())
}
probe kernel.trace("sched_process_exit") {
  if (kin[pid()]) {
    now = ktime_get_ns()
    if (now >= from) printf("%%d %%d %%d %%d\n", %[6]d, tid(), now, 0)
    if ($p->signal->live->counter == 0) delete kin[pid()]
  }
}
`, mostChildren, codeCgroup, codeMissed, codeFork, codeExec, codeExit)

// leader is the name of a task's process.
func leader(task string) string { return "task_execname(" + task + "->group_leader)" }

// cgroups are control groups by their numbers.
type cgroups map[int64]string

// label is that of a number.
func (c cgroups) label(id int64) export.Label {
	if t, ok := c[id]; ok {
		return export.Label{Key: "cgroup", Text: t}
	}
	return export.Label{Key: "cgroup", Text: "number " + strconv.FormatInt(id, 10)}
}

// groupNow is the control group that a process is in, "" if that is not known.
func groupNow(pid uint32) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return cgroupOf(string(b))
}

// cgroupOf is the control group in a text of /proc/PID/cgroup, of version 2.
func cgroupOf(text string) string {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path
		}
	}
	return ""
}

// processLabel is that of a process.
func processLabel(name string, pid int64) export.Label {
	return export.Label{Key: "process", Text: name + "/" + strconv.FormatInt(pid, 10)}
}

// withoutSame leaves a label out that all samples have alike.
func withoutSame(p *export.Profile, key string) {
	for i := range p.Samples {
		if p.Samples[i].Label(key) != p.Samples[0].Label(key) {
			return
		}
	}
	for i := range p.Samples {
		var kept []export.Label
		for _, l := range p.Samples[i].Labels {
			if l.Key != key {
				kept = append(kept, l)
			}
		}
		p.Samples[i].Labels = kept
	}
}
