package sel_test

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
)

// libraryHandlers are made of several functions of the library that have loops, or loops in loops.
var libraryHandlers = []struct{ name, body string }{
	{"paths", `t = task_current() println("file ", fullpath_struct_file(0, current_exe_file()) == cmdline_arg(0), " ", fullpath_struct_path(task_cwd_path(t)))`},
	{"path", `println(fullpath_struct_file(0, current_exe_file()))`},
	{"arguments", `println(cmdline_arg(0), cmdline_str(), cmdline_args(1, 3, "+"), process_env("HOME"))`},
	{"threads", `t = task_current() println(pid2task(pid()) == t, pid2execname(1), task_ancestry(t, 1), pstrace(t), target_set_pid(1))`},
	{"threads and files", `t = task_current() println(task_open_file_handles(t), task_ancestry(t, 0), fullpath_struct_path(task_cwd_path(t)), target_set_pid(1), cmdline_str())`},
	{"times", `println(task_time_string(), task_time_string_tid(tid()), proc_mem_string(), cputime_to_string(5), msecs_to_string(7))`},
	{"memory", `println(proc_mem_size(), proc_mem_rss(), proc_mem_txt(), proc_mem_data(), proc_mem_string())`},
	{"quoted", `println(kernel_string_quoted(task_current()), user_string_quoted(0x1000), string_quoted(execname()), user_buffer_quoted(0x1000, 20, 30), text_str(execname()))`},
	{"unicode", `println(user_string_utf16(0x1000), user_string_utf32(0x1000), kernel_string_utf16(task_current()), kernel_string_utf32(task_current()))`},
	{"texts", `s = execname() println(str_replace(s, "a", "bb"), substr(s, 1, 2), tokenize(s, "x"), strtol(s, 10), isinstr(s, "y"))`},
	{"names", `t = task_current() println(d_name(@cast(current_exe_file(), "file", "kernel")->f_path->dentry), inode_path(@cast(current_exe_file(), "file", "kernel")->f_inode), reverse_path_walk(@cast(current_exe_file(), "file", "kernel")->f_path->dentry), task_rlimit(t, "RLIMIT_NOFILE"))`},
	{"all", `t = task_current() println("task ", task_pid(t) == pid(), task_parent(t), task_cpu(t) == cpu(), task_uid(t), task_state(t), task_nice(t))
		println(pid2task(pid()) == t, pid2execname(1) != "", pid2task(999999), task_start_time(tid()) > 0, task_rlimit_nofile(t) > 100, target_set_pid(pid()), target_set_pid(1))
		println(fullpath_struct_file(0, current_exe_file()) == cmdline_arg(0), " ", fullpath_struct_path(task_cwd_path(t)))
		println("args ", cmdline_args(1, -1, "+"), " ", cmdline_arg(9), env_var("LAB_NOTHING"))
		println(proc_mem_size() > proc_mem_rss(), proc_mem_txt() > 0, proc_mem_data() > 0, proc_mem_size(pid()) == proc_mem_size())
		println(inode_name(@cast(current_exe_file(), "file", "kernel")->f_inode))`},
	{"zeros or not", `a[9] = tid() println(a[1], a[2], a[3], a[4], a[5], a[6], a[7], pid() ? tid() : 0, uid() ? gid() : 1, ppid() ? 7 : pid(), cmdline_str())`},
	{"loop around", `for (t = task_current(); n < 10 && task_pid(t) > 1; n++) { println(task_execname(t), fullpath_struct_path(task_cwd_path(t)), cmdline_str()) t = task_parent(t) }`},
}

// compiled is the IR of a script.
func compiled(t *testing.T, script string) *compiler.Result {
	t.Helper()
	r, ds := compiler.Compile(t.Context(),
		compiler.Options{Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Limits: layout.Default(),
			Runtime: "bpf"})
	t.Cleanup(func() { r.Close() })
	if ds.HasErrors() {
		var b strings.Builder
		(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
		t.Fatal(b.String())
	}
	return r
}

// TestLibraryWalk: what the verifier walks for handlers made of functions of the library has a bound. The form that the
// running kernel is not given may take more: later verifiers walk callbacks as bodies of loops.
func TestLibraryWalk(t *testing.T) {
	needRoot(t)
	defer func(n int) { maxWalk = n }(maxWalk)
	for _, h := range libraryHandlers {
		t.Run(h.name, func(t *testing.T) {
			for i, form := range forms() {
				maxWalk = []int{40000, 300000}[i]
				r := compiled(t, `global a; probe process("/bin/true").end { `+h.body+` }`)
				newMachine(t, r.Program, sel.Features{MayGoto: form})
				if i == 0 {
					newMachine(t, r.Program, sel.Features{MayGoto: form, Events: yes})
				}
			}
		})
	}
}
