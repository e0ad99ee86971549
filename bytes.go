package gostap

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/probe"
)

// Bytes writes p down, for Load on this machine or another one with the same programs at the same paths. A program that
// uses the kernel's functions or types fits the kernel that it was compiled for alone.
func (p *Program) Bytes() (_ []byte, err error) {
	defer guard(&err, nil)()
	if p.ir == nil {
		return nil, errors.New("the compiler was told to stop before there was a program")
	}
	m := &manifest.Manifest{Program: p.ir, Runtime: string(p.o.Runtime)}
	if ofKernel(p.ir) {
		if p.o.Kernel != (Kernel{}) {
			return nil, errors.New("a script about another machine's kernel cannot be written down: what this one " +
				"has is not known to be there")
		}
		m.Kernel = kernelVersion()
	}
	paths := map[string]bool{}
	for _, pr := range p.ir.Probes {
		for _, s := range pr.Sites {
			if s.Kind.InUser() && s.Program.Path != "" {
				paths[s.Program.Path] = true
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		t, err := manifest.Look(path)
		if err != nil {
			return nil, plain(err)
		}
		m.Traced = append(m.Traced, t)
	}
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	// What comes out at the other end is looked at now: nothing must have got lost on the way.
	back, err := manifest.Decode(b)
	if err != nil {
		return nil, err
	}
	was, _ := p.ir.Portable()
	if is, _ := back.Program.Portable(); is != was || back.Program.Limits != p.ir.Limits {
		return nil, errors.New("the program cannot be written down completely")
	}
	return b, nil
}

// ofKernel reports whether p holds something that differs between kernels: places in it, its types, C of the script.
func ofKernel(p *ir.Program) bool {
	if len(p.Codes)+len(p.Prelude) > 0 {
		return true
	}
	uses := func(f *ir.Func) bool {
		return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
			return slices.ContainsFunc(b.Instrs, func(in ir.Instr) bool { return in.Kernel })
		})
	}
	return slices.ContainsFunc(p.Funcs, uses) || slices.ContainsFunc(p.Probes, func(pr *ir.Probe) bool {
		return uses(pr.Handler) || slices.ContainsFunc(pr.Sites,
			func(s *probe.Site) bool { return !s.Kind.InUser() && !s.Kind.OnHost() })
	})
}

// Load reads what Bytes gave, from wherever it comes: damaged bytes, those of another version of this package, those
// made for another kernel and those about programs that are not the same here are refused. Of o it takes what is about
// running; a script's own arguments and variables went into the program when it was compiled.
func Load(b []byte, o Options) (_ *Program, err error) {
	defer guard(&err, nil)()
	m, err := manifest.Decode(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the program cannot be loaded: %w", err)
	case m.Digest != manifest.Digest{}:
		return nil, errors.New("the program cannot be loaded: a module carries it, which OpenModule takes")
	case o.Runtime != Auto && m.Runtime != "" && string(o.Runtime) != m.Runtime:
		return nil, fmt.Errorf("the program was compiled for the runtime %s, not %s", m.Runtime, o.Runtime)
	case len(o.Args) > 0 || len(o.Globals) > 0 || len(o.More) > 0 || len(o.Include) > 0:
		return nil, errors.New("arguments, globals, further texts and libraries are for Compile: the program is " +
			"compiled already")
	case m.Kernel != "" && m.Kernel != kernelVersion():
		return nil, fmt.Errorf("the program uses the kernel %s that it was compiled for, not %s that runs", m.Kernel,
			kernelVersion())
	}
	if o.Runtime == Auto {
		o.Runtime = Runtime(m.Runtime)
	}
	p := &Program{o: o, ir: m.Program, files: m.Program.Files, traced: m.Traced}
	if err := p.unchanged(); err != nil {
		return nil, err
	}
	return p, o.sameTarget(m.Program, "the program")
}

// unchanged checks that the files that a loaded program traces are those that it was compiled for.
func (p *Program) unchanged() error {
	for _, t := range p.traced {
		switch err := t.Same(); {
		case errors.Is(err, manifest.ErrOther):
			return fmt.Errorf("%s is not the file that the program was compiled for: compile it again", t.Path)
		case err != nil:
			return fmt.Errorf("%s is traced, but cannot be read: %w", t.Path, err)
		}
	}
	return nil
}
