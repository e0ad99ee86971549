package kmod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gostap/gostap/backend-kmod/internal/carry"
	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/kbuild"
	"github.com/gostap/gostap/backend-kmod/internal/session"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
)

// CodePrebuilt is what is wrong with a module that was built before.
const CodePrebuilt diag.Code = "module-file"

// carry puts what the host needs into a copy of the module, so that Open can run it without the script.
func (a *artifact) carry() ([]byte, error) {
	m := &manifest.Manifest{Program: a.unit.Program, Digest: a.unit.Digest()}
	paths := slices.Clone(a.unit.Files)
	slices.Sort(paths)
	at := manifest.Places(m.Program)
	for _, p := range paths {
		t, err := manifest.Look(p, at[p]...)
		if err != nil {
			return nil, err
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
	u, ds := cgen.Generate(back.Program, cgen.Options{Name: "module"})
	if ds.HasErrors() || u.Digest() != m.Digest || back.Program.Limits != m.Program.Limits {
		return nil, errors.New("its program cannot be written down completely")
	}
	return carry.Attach(a.ko, b)
}

// maxModule bounds a module's file. Those that are built here have some 100 KB.
const maxModule = 256 << 20

// Open makes an artifact of a NAME.ko that Files gave before, perhaps on another machine, and gives its program. Errors
// are *diag.Diagnostic.
func Open(path string) (*ir.Program, backend.Artifact, error) {
	fail := func(format string, args ...any) *diag.Diagnostic {
		return &diag.Diagnostic{Phase: diag.Load, Code: CodePrebuilt, Message: path + ": " +
			fmt.Sprintf(format, args...)}
	}
	again := fmt.Sprintf("build it again: gostap -p4 -m %s --runtime=kernel SCRIPT",
		strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".ko"))
	ko, err := foreign.ReadFile(path, maxModule)
	if err != nil {
		return nil, nil, fail("%v", foreign.Reason(err))
	}
	mod, err := carry.Read(ko)
	if errors.Is(err, carry.ErrNone) {
		return nil, nil, fail("%v", err).Hintf(
			"gostap -p4 -m NAME --runtime=kernel SCRIPT makes modules that can be run alone")
	}
	if err != nil {
		return nil, nil, fail("%v", err)
	}
	m, err := manifest.Decode(mod.Carried)
	if err != nil {
		d := fail("%v", err)
		if errors.Is(err, manifest.ErrVersion) {
			d.Message = path + ": " + manifest.ErrVersion.Error()
		}
		return nil, nil, d.Hintf("%s", again)
	}
	u, ds := cgen.Generate(m.Program, cgen.Options{Name: "module"})
	if ds.HasErrors() || u.Digest() != m.Digest {
		return nil, nil, fail("%v", manifest.ErrVersion).Hintf("%s", again)
	}
	if !moduleName(mod.Name) {
		return nil, nil, fail("%q is no name for a module", mod.Name)
	}
	a := &artifact{unit: u, name: mod.Name, ko: ko, traced: m.Traced, path: path}
	a.config.Release = mod.Release
	return m.Program, a, nil
}

// unchanged checks that the traced files are those that the module was built for.
func (a *artifact) unchanged() error {
	at := manifest.Places(a.unit.Program)
	for _, t := range a.traced {
		d := &diag.Diagnostic{Phase: diag.Load, Code: session.CodeReplaced}
		switch err := t.Same(at[t.Path]...); {
		case err == nil:
			continue
		case errors.Is(err, manifest.ErrOther), errors.Is(err, manifest.ErrCode):
			d.Message = fmt.Sprintf("%s is not the file that %s was built for", t.Path, a.path)
			d.Hint = "the probes would lie at wrong places: build the module again for this file"
		default:
			d.Message = fmt.Sprintf("%s is traced by %s, but cannot be read: %v", t.Path, a.path, err)
		}
		return d
	}
	return nil
}

// mayLoad says what stands in the way of loading the module, before anything is built or loaded.
func (a *artifact) mayLoad(context.Context) error {
	if why := kbuild.NoModules(); why != "" {
		return &diag.Diagnostic{Phase: diag.Load, Code: CodeNoModules, Message: why, Hint: "use --runtime=bpf"}
	}
	if r := a.config.Release; r != "" && r != kbuild.Running() {
		d := &diag.Diagnostic{Phase: diag.Load, Code: CodeNoModules,
			Message: fmt.Sprintf("the module is for kernel %s, but %s is running", r, kbuild.Running()),
			Hint:    "-p4 with -m NAME leaves NAME.ko"}
		if a.path != "" {
			d.Hint = fmt.Sprintf("build it for this kernel: -r %s", kbuild.Running())
		}
		return d
	}
	if os.Geteuid() != 0 {
		return &diag.Diagnostic{Phase: diag.Load, Code: session.CodeLoad,
			Message: "loading kernel modules is not permitted", Hint: "run as root (CAP_SYS_MODULE)"}
	}
	return a.unchanged()
}
