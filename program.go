package gostap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/cgroup"
	"github.com/gostap/gostap/runtime/host/memory"
)

// Program is a compiled script. It may be run any number of times, also at the same time.
type Program struct {
	o        Options
	ir       *ir.Program
	files    *source.FileSet
	dumps    map[string]string
	warnings []Diagnostic
	close    func()
	cool     func()
	traced   []manifest.Traced // of a program that was loaded
	moved    map[string]string // those of them that lie elsewhere here, with where
	asked    []manifest.Fact   // what conditions asked of the kernel
	scope    *backend.Scope    // of Options.Cgroups, when it was built
	pods     *cgroup.Pods      // where those of Options.Pods are, likewise

	mu    sync.Mutex // what follows
	built bool
	// art is what the kernel is given, nil for a program that the host runs alone. taken: a session has the module.
	art    backend.Artifact
	taken  bool
	opened string // path of OpenModule
}

// modules counts the modules of this process, so that each has a name of its own.
var modules atomic.Int64

// Close frees what the program holds: the files of the traced programs. Sessions that run are to end before.
func (p *Program) Close() {
	if p.cool != nil {
		p.cool()
		p.cool = nil
	}
	if p.close != nil {
		p.close()
		p.close = nil
	}
}

// Warnings are those of compiling and building so far.
func (p *Program) Warnings() []Diagnostic {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.warnings
}

// Dump is the product of a pass of ToolOptions.Dump.
func (p *Program) Dump(pass string) string { return p.dumps[pass] }

// onHost reports whether the process alone runs p; why not is an error where that was asked for.
func (p *Program) onHost() (bool, error) {
	if p.o.Runtime == BPF || p.o.Runtime == Module {
		return false, nil
	}
	why := needsKernel(p.ir)
	if p.o.Runtime == Host && len(why) > 0 {
		return false, &Error{Diagnostics: diagnosed(why, p.files, p.o.here())}
	}
	return len(why) == 0, nil
}

// needsKernel says what the host alone cannot do of prog, empty if it can do all.
func needsKernel(prog *ir.Program) diag.List {
	ds := backend.NoEmbedded(prog, "on the host")
	if ok, s := memory.Fits(prog); !ok && len(ds) == 0 {
		ds.Errorf(diag.Build, "kernel-probe", source.Span{},
			"%s fires in the kernel, which --runtime=host does without", s.Point)
	}
	if len(ds) > 0 {
		return ds
	}
	if k := partition.HostPeek(prog); k.What != "" {
		ds.Errorf(diag.Build, "kernel-memory", source.At(k.Pos), "this %s, which --runtime=host does without", k.What).
			Hintf("leave --runtime=host out")
	}
	return ds
}

// OnHost reports whether this process alone runs p: nothing of it is translated for the kernel.
func (p *Program) OnHost() bool {
	host, err := p.onHost()
	return host && err == nil
}

// Build translates p for the kernel, which Prepare does where it was not done. What the runtime cannot do is an *Error;
// more Warnings may be there afterwards.
func (p *Program) Build(ctx context.Context) (err error) {
	defer guard(&err, nil)()
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.build(ctx)
	return err
}

// build gives what the kernel is given, nil for a program that the host runs.
func (p *Program) build(ctx context.Context) (backend.Artifact, error) {
	if p.built {
		return p.art, nil
	}
	if p.o.Portable {
		return nil, errors.New("the program was compiled for other kernels too: Load what its Bytes give")
	}
	var err error
	if p.scope, p.pods, err = p.o.scope(); err != nil {
		return nil, err
	}
	if host, err := p.onHost(); err != nil || host {
		p.built = err == nil
		return nil, err
	}
	start := time.Now()
	art, ds := p.translate(ctx, p.name(false))
	p.o.logPass(4, "build", time.Since(start))
	msgs := diagnosed(ds, p.files, p.o.here())
	if err := failed(ctx, msgs); err != nil {
		return nil, err
	}
	p.warnings = append(p.warnings, msgs...)
	p.art, p.built = art, true
	return art, nil
}

// name is that of the module or object file.
func (p *Program) name(again bool) string {
	name := p.o.ModuleName
	if name == "" {
		name = fmt.Sprintf("gostap_%d", os.Getpid())
		again = again || p.o.Runtime == Module && modules.Load() > 0
	}
	if p.o.Runtime == Module {
		if n := modules.Add(1); again {
			name = fmt.Sprintf("%s_%d", name, n)
		}
	}
	return name
}

func (p *Program) translate(ctx context.Context, name string) (backend.Artifact, diag.List) {
	cache, _ := p.o.cache()
	b := bpf.New()
	if p.o.Runtime == Module {
		b = kmod.NewFor(kmod.Options{Release: p.o.Kernel.Release, Make: p.o.Tool.MakeModule,
			Info: p.o.Tool.ModuleInfo})
	}
	return b.Build(ctx, p.ir, backend.BuildOptions{Name: name, Guru: p.o.Guru, Fired: p.o.Tool.Unfired,
		Hits: p.o.MaxHits > 0, Share: int(math.Ceil(p.o.MaxCPU * 1000)), Cache: cache,
		Scope: p.scope, Logf: p.log, Verbose: p.o.Tool.Verbose[3]})
}

func (p *Program) log(format string, args ...any) {
	if p.o.Tool.Log != nil {
		p.o.Tool.Log(format, args...)
	}
}

// take gives what a session of p loads, and what is to be called when the session has ended. A module has one name, so
// that of two sessions at the same time the second gets a module of its own.
func (p *Program) take(ctx context.Context) (_ backend.Artifact, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	art, err := p.build(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case p.o.Runtime != Module:
		return art, func() {}, nil
	case p.taken && p.opened != "":
		return nil, nil, fmt.Errorf("%s is running: a module serves one session at a time", p.opened)
	case p.taken:
		art, ds := p.translate(ctx, p.name(true))
		return art, func() {}, failed(ctx, diagnosed(ds, p.files, p.o.here()))
	}
	p.taken = true
	return art, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken = false
	}, nil
}

// Values reports whether the prints of p make values: it was compiled without Options.Text, or prints nothing.
func (p *Program) Values() bool {
	if p.ir == nil {
		return false
	}
	bare := func(f *ir.Func) bool {
		return f != nil && slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
			return slices.ContainsFunc(b.Instrs, func(in ir.Instr) bool {
				return in.Op == ir.OpPrint && len(in.Args) > 0 && !p.ir.Formats[in.N].IsHeaded()
			})
		})
	}
	return !slices.ContainsFunc(p.ir.Funcs, bare) &&
		!slices.ContainsFunc(p.ir.Probes, func(pr *ir.Probe) bool { return bare(pr.Handler) })
}

// Metrics reports whether globals of p are metrics, which Session.Globals has then (Global.Metric).
func (p *Program) Metrics() bool {
	return slices.ContainsFunc(p.ir.Globals, func(g *ir.Global) bool { return g.Metric != "" && g.Shown })
}

// Fields are the names (Event.Names) of the values that prints of p make, if all statements that make any have the same
// ones; else there are none.
func (p *Program) Fields() (names []string) {
	for _, f := range p.ir.Formats {
		list := slices.DeleteFunc(slices.Clone(f.ArgNames()), func(n string) bool {
			return n == "" || n == ir.Unread || n == ir.SpanName || n == ir.SpanTime
		})
		switch {
		case len(list) == 0:
		case names == nil:
			names = list
		case !slices.Equal(names, list):
			return nil
		}
	}
	return names
}

// Listing is the translation in readable form.
func (p *Program) Listing(ctx context.Context) (_ string, err error) {
	defer guard(&err, nil)()
	p.mu.Lock()
	defer p.mu.Unlock()
	art, err := p.build(ctx)
	switch {
	case err != nil:
		return "", err
	case art == nil:
		return p.ir.Dump(), nil
	}
	return art.Listing(), nil
}

// File is a file that a program is translated to.
type File = backend.File

// Files are what the kernel is given: NAME.bpf.o, or NAME.ko, which OpenModule takes. None for what the process runs
// alone.
func (p *Program) Files(ctx context.Context) (_ []File, err error) {
	defer guard(&err, nil)()
	p.mu.Lock()
	defer p.mu.Unlock()
	art, err := p.build(ctx)
	if err != nil || art == nil {
		return nil, err
	}
	files, err := art.Files()
	return files, placed(err, p.files, p.o.here())
}

// OpenModule gives the program of a NAME.ko that Files gave before, perhaps on another machine. What o says about
// compiling has no effect.
func OpenModule(path string, o Options) (_ *Program, err error) {
	defer guard(&err, nil)()
	prog, art, err := kmod.Open(path)
	if err != nil {
		return nil, placed(err, nil, true)
	}
	if err := o.sameTarget(prog, path); err != nil {
		return nil, err
	}
	o.Runtime = Module
	return &Program{o: o, ir: prog, files: prog.Files, art: art, built: true, opened: path}, nil
}

// Place is where a probe is.
type Place struct {
	// Point is the probe point as the script has it, after wildcards.
	Point string
	// File is the program or library that it is in, "" for places in the kernel, and Address is that of the
	// instruction.
	File    string
	Address uint64
	// Kernel tells places in the kernel.
	Kernel bool
}

// Places are where p puts its probes: in programs and in the kernel.
func (p *Program) Places() []Place {
	var out []Place
	for _, pr := range p.ir.Probes {
		for _, s := range pr.Sites {
			switch {
			case s.Kind.InUser():
				out = append(out, Place{Point: s.Point, File: s.Program.Path, Address: s.At.PC})
			case s.Kind.InKernel():
				out = append(out, Place{Point: s.Point, Address: s.At.PC, Kernel: true})
			}
		}
	}
	return out
}
