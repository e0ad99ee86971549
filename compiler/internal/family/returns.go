package family

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
	"github.com/gostap/gostap/compiler/internal/rooted"
	"github.com/gostap/gostap/compiler/probe"
)

// How a function of C is left is told in one of two ways. The kernel's return probe puts an address of its own in
// the place of the return address. It knows a call's end whichever function the last jump led to, with the result;
// a stack that is unwound while it is there ends at that address, and the process with it. Breakpoints at all
// places where the function is left know nothing of a result that another function will give, and do no harm. The
// first is for programs in which nobody unwinds, and only for the program itself: the code of a library is shared
// with programs of which nothing is known. It begins with a breakpoint on the first instruction; where the kernel
// refuses that, there is the second.

// unwinders remembers what was found about programs.
type unwinders struct {
	mu  sync.Mutex
	why map[string]string
}

// unwinds says why the stacks of processes that run the code of f may be unwound, "" if they are not.
func (f *finder) unwinds() string {
	if f.prog.of != "" {
		return "any program may use the library"
	}
	e := f.env
	e.unwinders.mu.Lock()
	defer e.unwinders.mu.Unlock()
	if why, ok := e.unwinders.why[f.prog.path]; ok {
		return why
	}
	s := e.search(f.prog)
	why := dynlink.Unwinds(f.prog.path, s)
	if e.unwinders.why == nil {
		e.unwinders.why = map[string]string{}
	}
	e.unwinders.why[f.prog.path] = why
	return why
}

// search says where the libraries of p are looked for.
func (e *Env) search(p program) dynlink.Search {
	s := dynlink.Search{Root: e.rootOf(p), Follow: rooted.Below, LibraryPath: e.LibraryPath}
	if s.Root != "" {
		if link, err := os.Readlink(filepath.Join(filepath.Dir(s.Root), "exe")); err == nil {
			s.Origin = filepath.Dir(link)
		}
	}
	return s
}

// returns adds the sites at which fn returns.
func (f *finder) returns(fn *debuginfo.Func, name string) error {
	why := ""
	if fn.ABI == debuginfo.SysV {
		if why = f.unwinds(); why != "" {
			why = fmt.Sprintf("would end processes whose stack is unwound (%s)", why)
		} else if s, err := f.img.SiteAt(fn.Entry); err != nil || s.Insn != debuginfo.InsnRefused {
			return f.uretprobe(fn, name)
		} else {
			why = fmt.Sprintf("begins at the function's first instruction, at %#x, where the kernel allows no probe",
				fn.Entry)
		}
	}
	rets, err := f.img.ReturnSites(fn)
	if err != nil && why != "" {
		return fmt.Errorf("%w, and the kernel's return probe %s", err, why)
	}
	if err != nil {
		return err
	}
	if len(rets) == 0 {
		if fn.ABI != debuginfo.SysV {
			return &debuginfo.NoReturnError{Name: fn.Name}
		}
		return f.uretprobe(fn, name)
	}
	for _, s := range rets {
		if err := f.add(probe.Uprobe, s, "function", name); err != nil {
			return err
		}
	}
	return nil
}

// uretprobe adds the kernel's return probe on fn.
func (f *finder) uretprobe(fn *debuginfo.Func, name string) error {
	s := debuginfo.Site{PC: fn.Entry, Kind: debuginfo.AfterRet, Func: fn, File: fn.File, Line: fn.Line}
	s.CFA, s.Return = debuginfo.Returned(f.img.Machine())
	return f.add(probe.Uretprobe, s, "function", name)
}
