package gostap

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/cgroup"
)

// CodePlan is the kind of message about programs of a plan that are not there.
const CodePlan diag.Code = "plan-program"

// locate finds the files that a loaded program traces: those of Options.Files and of the target process by what is in
// them, else where they were.
func (p *Program) locate() diag.List {
	at := manifest.Places(p.ir)
	var ds diag.List
	p.moved = map[string]string{}
	for i := range p.traced {
		t := &p.traced[i]
		path, why := p.find(t, at[t.Path])
		if path == "" {
			pos := source.NoPos
			for _, pr := range slices.Backward(p.ir.Probes) {
				for _, s := range pr.Sites {
					if s.Program.Path == t.Path || s.Program.Exe == t.Path {
						pos = pr.Pos
					}
				}
			}
			d := ds.Errorf(diag.Load, CodePlan, source.At(pos), "%s", why)
			if found := running(*t); found != "" {
				d.Hintf("%s is that file: --file=%s", found, found)
			} else {
				d.Hintf("%s", cmp.Or(p.o.unseen(),
					"--file=PATH names the file where it is here; a plan for another build is made of that build"))
			}
			continue
		}
		if path != t.Path {
			p.moved[t.Path] = path
			t.Path = path
		}
	}
	for _, pr := range p.ir.Probes {
		for _, s := range pr.Sites {
			if to := p.moved[s.Program.Path]; to != "" {
				s.Program.Path = to
			}
			if to := p.moved[s.Program.Exe]; to != "" {
				s.Program.Exe = to
			}
		}
	}
	return ds
}

// find looks for a file; at are the places in it that have to be the same. Without a path, why says what is there.
func (p *Program) find(t *manifest.Traced, at []uint64) (path, why string) {
	is := func(path string) error {
		got, err := manifest.Look(path, at...)
		if err != nil {
			return foreign.Reason(err)
		}
		if err = t.Is(got); errors.Is(err, manifest.ErrOther) {
			return fmt.Errorf("it has the %s", got.ID)
		}
		return err
	}
	for _, path := range p.o.Files {
		if is(path) == nil {
			if abs, err := filepath.Abs(path); err == nil {
				path = abs
			}
			return path, ""
		}
	}
	// What the target runs comes before the path: in a container that may be another file.
	for _, path := range targetFiles(&p.o) {
		if is(path) == nil {
			return path, ""
		}
	}
	err := is(t.Path)
	switch {
	case err == nil:
		return t.Path, ""
	case errors.Is(err, manifest.ErrCode):
		return "", fmt.Sprintf("%s is not the file that the program was compiled for: %v", t.Path, err)
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Sprintf("%s is traced, but there is no such file", t.Path)
	case strings.HasPrefix(err.Error(), "it has the "):
		return "", fmt.Sprintf("%s is not the file that the program was compiled for: %v, not the %s", t.Path, err,
			t.ID)
	}
	return "", fmt.Sprintf("%s is traced, but cannot be read: %v", t.Path, err)
}

// targetFiles are the files of the target: of the process of -x and of those in pods all that they have mapped, of a
// command its program.
func targetFiles(o *Options) []string {
	var out []string
	path, err := o.targetPath()
	if err == nil && path != "" {
		out = append(out, path)
	}
	if o.PID != 0 {
		out = mapped(out, o.PID)
	}
	if dirs, err := o.inPods(); err == nil {
		pids, _ := cgroup.Programs(dirs)
		for _, pid := range pids {
			out = mapped(out, pid)
		}
	}
	return out
}

// unseen says why no programs of pods are seen here, "" if some are or there are no pods.
func (o *Options) unseen() string {
	if len(o.Pods) == 0 {
		return ""
	}
	dirs, err := o.inPods()
	pids, denied := cgroup.Programs(dirs)
	switch {
	case err != nil:
		return fmt.Sprintf("the control groups of pods are not seen here: %v", err)
	case len(dirs) == 0:
		return "no control group of the pods is seen here: an agent needs the node's /sys/fs/cgroup"
	case denied:
		return "programs of the pods cannot be looked at: an agent needs CAP_SYS_PTRACE"
	case len(pids) == 0:
		return "no process of the pods is seen here: an agent needs the node's processes (hostPID)"
	}
	return ""
}

// mapped adds the files with code that a process has mapped, its program among them, as they are seen from here.
func mapped(out []string, pid int) []string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	same := false // it sees the files that we see
	if a, err := os.Stat(root); err == nil {
		if b, err := os.Stat("/"); err == nil {
			same = os.SameFile(a, b)
		}
	}
	maps, err := foreign.ReadFile(fmt.Sprintf("/proc/%d/maps", pid), 64<<20)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) != 6 || !strings.Contains(f[1], "x") || !strings.HasPrefix(f[5], "/") {
			continue
		}
		path := f[5]
		if !same {
			path = root + path
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// running finds a process that runs the file t, and gives the path of it, "" if there is none.
func running(t manifest.Traced) string {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	seen := map[string]bool{}
	for _, e := range procs {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		exe := "/proc/" + e.Name() + "/exe"
		path, err := os.Readlink(exe)
		if err != nil || seen[path] || filepath.Base(path) != filepath.Base(t.Path) {
			continue
		}
		seen[path] = true
		if got, err := manifest.Look(exe); err == nil && t.Is(manifest.Traced{ID: got.ID, Code: t.Code}) == nil {
			if here, err := manifest.Look(path); err == nil && here.ID == t.ID {
				return path
			}
			return exe
		}
	}
	return ""
}

// unchanged checks that the files that a loaded program traces are those that it was compiled for.
func (p *Program) unchanged() error {
	at := manifest.Places(p.ir)
	for _, t := range p.traced {
		switch err := t.Same(at[t.Path]...); {
		case errors.Is(err, manifest.ErrOther), errors.Is(err, manifest.ErrCode):
			return fmt.Errorf("%s is not the file that the program was compiled for: compile it again", t.Path)
		case err != nil:
			return fmt.Errorf("%s is traced, but cannot be read: %w", t.Path, err)
		}
	}
	return nil
}
