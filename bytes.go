package gostap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/facts"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// Bytes writes p down, for Load on this machine or another one with the same programs. What it takes for granted of the
// kernel goes with it, and is held against the kernel that it is loaded for; Fits says if it fits this one alone.
func (p *Program) Bytes() (_ []byte, err error) {
	defer guard(&err, nil)()
	if p.ir == nil {
		return nil, errors.New("the compiler was told to stop before there was a program")
	}
	if d := ofProcess(p.ir); d != nil {
		return nil, placed(d, p.files, true)
	}
	m := &manifest.Manifest{Program: p.ir, Runtime: string(p.o.Runtime), Guru: p.o.Guru}
	fs, bound, err := p.facts()
	if err != nil {
		return nil, err
	}
	if bound == nil {
		m.Facts = fs
	} else {
		if p.o.Kernel != (Kernel{}) {
			return nil, errors.New("a script about another machine's kernel cannot be written down: what this one " +
				"has is not known to be there")
		}
		m.Kernel = kernelVersion()
	}
	places := manifest.Places(p.ir)
	for _, path := range slices.Sorted(maps.Keys(places)) {
		t, err := manifest.Look(path, places[path]...)
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

// facts is what p takes for granted of the kernel; bound says that it fits the one that it was compiled for alone.
func (p *Program) facts() ([]manifest.Fact, *facts.Bound, error) {
	kf, err := p.o.Kernel.files("", "")
	if err != nil {
		return nil, nil, err
	}
	fs, bound := facts.Of(p.ir, kbtf.New(kf), p.o.Portable)
	for _, a := range p.asked {
		if !slices.ContainsFunc(fs, func(f manifest.Fact) bool { return f.Kind == a.Kind && f.Name == a.Name }) {
			fs = append(fs, a)
		}
	}
	return fs, bound, nil
}

// Fits says which kernels p fits when it is written down: nil for all that have what it takes for granted, else the
// place in the script for which it fits the kernel alone that it was compiled for, as a warning.
func (p *Program) Fits() (_ *Diagnostic, err error) {
	defer guard(&err, nil)()
	_, bound, err := p.facts()
	if err != nil || bound == nil {
		return nil, err
	}
	d := &diag.Diagnostic{Severity: diag.Warning, Phase: diag.Build, Code: facts.Code, Span: source.At(bound.Pos),
		Message: fmt.Sprintf("the plan fits the kernel %s alone: %s", kernelVersion(), bound.Why)}
	return &diagnosed(diag.List{d}, p.files, true)[0], nil
}

// ofProcess refuses a program that names a process of this machine.
func ofProcess(p *ir.Program) *diag.Diagnostic {
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Program.PID != 0 {
				return &diag.Diagnostic{Phase: diag.Build, Code: CodePlan, Span: source.At(pr.Pos),
					Message: fmt.Sprintf("%s is for process %d of this machine, which no other one has", s.Title(),
						s.Program.PID),
					Hint: "name the program, or leave the process out and give -x where the plan is run"}
			}
		}
	}
	return nil
}

// Load reads what Bytes gave, from wherever it comes: damaged bytes, those of another version of this package, those
// that do not fit the kernel that runs and those about programs that are not the same here are refused. Of o it takes
// what is about running, and MaxErrors and MaxSkipped of Limits; a script's own arguments and variables went into the
// program when it was compiled.
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
	case m.Guru && !o.Guru:
		return nil, errors.New("the program may change what it traces, as it was compiled in guru mode: it is run in " +
			"guru mode only")
	case m.Kernel != "" && m.Kernel != kernelVersion():
		return nil, fmt.Errorf("the program uses the kernel %s that it was compiled for, not %s that runs", m.Kernel,
			kernelVersion())
	}
	if o.Runtime == Auto {
		o.Runtime = Runtime(m.Runtime)
	}
	if o.Limits != (layout.Limits{}) {
		m.Program.Limits.MaxErrors, m.Program.Limits.MaxSkipped = o.Limits.MaxErrors, o.Limits.MaxSkipped
	}
	p := &Program{o: o, ir: m.Program, files: m.Program.Files, traced: m.Traced}
	if err := o.holds(m); err != nil {
		return nil, err
	}
	if err := failed(context.Background(), diagnosed(p.locate(), p.files, true)); err != nil {
		return nil, err
	}
	return p, o.sameTarget(m.Program, "the program")
}

// holds checks what the program takes for granted of the kernel.
func (o *Options) holds(m *manifest.Manifest) error {
	release, _ := uname()
	kernel := kbtf.New(kbtf.Config{})
	here := facts.Here{Kernel: kernel, Holds: func(test string) (bool, error) {
		return grammar.Decide(test, grammar.Conditions{Kernel: release, Config: kernelConfig()})
	}}
	ds := facts.Check(m.Facts, here, release)
	ds = append(ds, facts.Settle(m.Program, release, m.Kernel != "", kernel.Resolve)...)
	if !ds.HasErrors() {
		return nil
	}
	return &Error{Diagnostics: diagnosed(ds, m.Program.Files, true)}
}
