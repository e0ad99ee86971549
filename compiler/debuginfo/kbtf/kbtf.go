// Package kbtf knows the kernel: its functions with their prototypes and its types, from BTF, and
// its symbols, from kallsyms. It needs no headers and no debug package.
//
// In: /sys/kernel/btf and /proc/kallsyms, or files of another kernel. Out: Kernel with one Scope for the
// kernel itself and one for each module; types as *types.Ctype, whose parts are read when they are
// asked for.
package kbtf

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Config says which kernel it is. The zero value is the running one.
type Config struct {
	// BTF is a file of raw BTF, or an ELF file with a .BTF section (a vmlinux), "" for the running kernel's.
	BTF string
	// ModuleBTF is a folder with the BTF of another kernel's modules, such as a copy of /sys/kernel/btf, "" for none.
	ModuleBTF string
	// Map is a file of symbols in the form of /proc/kallsyms or System.map, "" for the running kernel's.
	Map string
	// Vmlinux is an ELF file of the kernel with DWARF, "" for the usual places, or for BTF and Map of another kernel if
	// they are one. It is opened only for questions that BTF does not answer.
	Vmlinux string
	// Other, if not "", names a kernel that is not the running one, also when none of its files was found.
	Other string
	// Cache is the directory where the running kernel's symbols are kept until the next boot, "" for nowhere.
	Cache string
	// Machine is the one that the kernel runs on, nil for machine.Default.
	Machine *machine.Machine
	// Portable is for programs that run in other kernels too: fields have Owners, addresses of variables are
	// loc.Offsets, and what only DWARF tells is not known.
	Portable bool
	// Sys and Proc are where sysfs and procfs are mounted, "" for /sys and /proc.
	Sys, Proc string
}

// Foreign reports whether c means another kernel than the running one.
func (c Config) Foreign() bool { return c.BTF != "" || c.Map != "" || c.Other != "" }

// ErrNoBTF is wrapped by errors about types of a kernel that has none.
var ErrNoBTF = btf.ErrNone

// Kernel is one kernel. Use it from one goroutine at a time.
type Kernel struct {
	cfg       Config
	main      *Scope
	err       error // why there are no types
	mods      map[string]*Scope
	syms, own *Symbols
	symErr    error
	images    map[string]*Image
	black     *blacklist
	vm        *vmlinux
	vmWhy     string
	vmAsked   bool
}

// Scope is what a module can name: its own functions and types, then those of the kernel. The
// kernel's own scope has no others.
type Scope struct {
	k     *Kernel
	name  string // "" for the kernel itself
	b     *btf.Types
	above *Scope
	types map[uint32]*types.Ctype
}

// New gives the kernel that cfg describes. Nothing is read before something is asked for.
func New(cfg Config) *Kernel {
	if cfg.Sys == "" {
		cfg.Sys = "/sys"
	}
	if cfg.Proc == "" {
		cfg.Proc = "/proc"
	}
	cfg.Machine = cmp.Or(cfg.Machine, machine.Default)
	return &Kernel{cfg: cfg}
}

func (k *Kernel) other() string {
	if k.cfg.Other != "" {
		return k.cfg.Other
	}
	return "the other kernel"
}

// Foreign reports whether k is another kernel than the running one.
func (k *Kernel) Foreign() bool { return k.cfg.Foreign() }

// Kernel is the scope of the kernel itself. The error wraps ErrNoBTF if there is no BTF.
func (k *Kernel) Kernel() (*Scope, error) {
	if k.main != nil || k.err != nil {
		return k.main, k.err
	}
	path := k.cfg.BTF
	if path == "" {
		if k.cfg.Foreign() {
			k.err = fmt.Errorf("the BTF of %s is not known; --kernel-btf names it", k.other())
			return nil, k.err
		}
		path = filepath.Join(k.cfg.Sys, "kernel/btf/vmlinux")
	}
	b, err := open(path)
	if err != nil {
		k.err = err
		if errors.Is(err, fs.ErrNotExist) && k.cfg.BTF == "" {
			k.err = fmt.Errorf("%w: there is no %s", ErrNoBTF, path)
		}
		return nil, k.err
	}
	k.main = &Scope{k: k, b: b}
	return k.main, nil
}

// open reads the kernel's BTF, the running one's once for all who ask for it.
func open(path string) (*btf.Types, error) {
	if path == btf.RunningPath {
		return btf.Running()
	}
	return btf.Open(path, nil)
}

// Module is the scope of a loaded module ("ext4"). The error is a *debuginfo.NotFoundError if it is not loaded
// (or built into the kernel), or wraps ErrNoBTF.
func (k *Kernel) Module(name string) (*Scope, error) {
	name = ModuleName(name)
	if s := k.mods[name]; s != nil {
		return s, nil
	}
	main, err := k.Kernel()
	if err != nil {
		return nil, err
	}
	folder := k.moduleBTF()
	if folder == "" {
		return nil, fmt.Errorf("%w of module %s: only the kernel's own was given", ErrNoBTF, name)
	}
	path := filepath.Join(folder, name)
	if name == "vmlinux" || !validModule(name) {
		return nil, &debuginfo.NotFoundError{What: "module", Name: name}
	}
	b, err := btf.Open(path, main.b)
	if errors.Is(err, fs.ErrNotExist) {
		if _, serr := os.Stat(filepath.Join(k.cfg.Sys, "module", name)); serr == nil && !k.Foreign() {
			return nil, fmt.Errorf("%w of module %s", ErrNoBTF, name)
		}
		return nil, &debuginfo.NotFoundError{What: "module", Name: name, Detail: "it is not loaded"}
	}
	if err != nil {
		return nil, err
	}
	if k.mods == nil {
		k.mods = map[string]*Scope{}
	}
	s := &Scope{k: k, name: name, b: b, above: main}
	k.mods[name] = s
	return s, nil
}

// ModuleName is how the kernel writes a module's name: with _ for -.
func ModuleName(s string) string { return strings.ReplaceAll(s, "-", "_") }

func validModule(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/\x00") && name != "." && name != ".."
}

// moduleBTF is the folder with the BTF of modules, "" where there is none.
func (k *Kernel) moduleBTF() string {
	if k.cfg.Foreign() {
		return k.cfg.ModuleBTF
	}
	return filepath.Join(k.cfg.Sys, "kernel/btf")
}

// Modules lists the modules that have BTF.
func (k *Kernel) Modules() []string {
	es, err := os.ReadDir(k.moduleBTF())
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range es {
		if e.Name() != "vmlinux" {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out
}

// LoadedModules lists the modules that have symbols, with or without BTF.
func (k *Kernel) LoadedModules() ([]string, error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, fmt.Errorf("the kernel's symbols cannot be read: %w", err)
	}
	return syms.modules(), nil
}

// Name is the module's name, "" for the kernel itself.
func (s *Scope) Name() string { return s.name }

// find lists the types of group g that are called name, of s and then of what is above it.
func (s *Scope) find(g btf.Group, name string) []btf.Record {
	var out []btf.Record
	for x := s; x != nil; x = x.above {
		for _, id := range x.b.Find(g, name) {
			if r, ok := x.b.At(id); ok {
				out = append(out, r)
			}
		}
	}
	return out
}
