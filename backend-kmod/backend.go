// Package kmod is the kernel-module back end: it translates an ir.Program into C, has the
// kernel's build system make a module of it, loads that and passes its records on.
package kmod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/kbuild"
	"github.com/gostap/gostap/backend-kmod/internal/session"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
)

// Codes of what stands in the way of building a module.
const (
	CodeNoModules diag.Code = "no-module-support"
	CodeBuild     diag.Code = "module-build"
)

// Options choose the kernel; the zero value is the running one.
type Options struct {
	// Release is a kernel release as uname -r gives it (-r), or a build directory when it has a slash.
	Release string
	// Cache is where built modules are kept, "" for the user's cache directory.
	Cache string
	// Make are arguments NAME=VALUE of make, Info entries NAME=VALUE of the module's information (modinfo).
	Make, Info []string
}

type kmodBackend struct{ o Options }

// NewFor gives the back end for a kernel.
func NewFor(o Options) backend.Backend { return kmodBackend{o} }

// Name implements backend.Backend.
func (kmodBackend) Name() string { return "kernel" }

// Provides implements backend.Backend.
func (kmodBackend) Provides() caps.Set {
	return caps.Of(caps.Uprobe, caps.Uretprobe, caps.Kprobe, caps.Tracepoint, caps.Perf, caps.ReadUser, caps.ReadKernel,
		caps.ReadRegs, caps.WriteRegs, caps.WriteUser, caps.Loops, caps.Recursion, caps.Iterate, caps.HostCommands,
		caps.EmbeddedC)
}

func (b kmodBackend) config(logf func(string, ...any)) kbuild.Config {
	c := kbuild.Config{Cache: b.o.Cache, Make: b.o.Make, Logf: logf}
	if strings.Contains(b.o.Release, "/") {
		c.Dir = b.o.Release
		c.Release = kbuild.ReleaseOf(b.o.Release)
	} else {
		c.Release = b.o.Release
	}
	return c
}

// Build implements backend.Backend: it writes the C. The module itself is made when it is asked for.
func (b kmodBackend) Build(ctx context.Context, p *ir.Program, o backend.BuildOptions) (backend.Artifact, diag.List) {
	name := o.Name
	if name == "" {
		name = fmt.Sprintf("gostap_%d", os.Getpid())
	}
	if !moduleName(name) {
		var ds diag.List
		ds.Errorf(diag.Build, CodeBuild, source.Span{}, "%q is no name for a module: letters, digits and _, at most 40",
			name)
		return nil, ds
	}
	if o.Scope != nil {
		var ds diag.List
		d := ds.Errorf(diag.Build, backend.CodeScope, source.Span{},
			"the probes of a module cannot be kept to control groups")
		d.Hintf("leave --runtime=kernel out, so that they are eBPF programs")
		return nil, ds
	}
	if o.Share > 0 {
		var ds diag.List
		d := ds.Errorf(diag.Build, CodeBuild, source.Span{}, "--max-cpu: what hits take on the way to "+
			"a module's handlers is not counted")
		d.Hintf("leave --runtime=kernel out, or say what handlers alone may take: -D STP_OVERLOAD_THRESHOLD=N")
		return nil, ds
	}
	u, ds := cgen.Generate(p, cgen.Options{Name: "module"})
	if ds.HasErrors() {
		return nil, ds
	}
	for _, entry := range b.o.Info {
		tag, text, _ := strings.Cut(entry, "=")
		u.C += fmt.Sprintf("MODULE_INFO(%s, %s);\n", tag, quoted(text))
	}
	a := &artifact{unit: u, name: name, files: traced.Identify(p), config: b.config(nil), warn: o.Logf}
	if o.Verbose > 0 && o.Logf != nil {
		a.config.Logf = o.Logf
	}
	return a, ds
}

// quoted writes s as a string of C.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c < ' ' || c == '"' || c == '\\' || c == '?' || c >= 0x7f {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

func moduleName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 40
}

// artifact is a translated program.
type artifact struct {
	unit   *cgen.Unit
	name   string
	files  map[string]debuginfo.FileID
	config kbuild.Config
	ko     []byte
	// traced and path are those of a module that was built before.
	traced []manifest.Traced
	path   string
	warn   func(format string, args ...any)
}

// Listing implements backend.Artifact: the C text.
func (a *artifact) Listing() string { return a.unit.C }

// Files implements backend.Artifact: NAME.ko, which can be run without the script (see Open).
func (a *artifact) Files() ([]backend.File, error) {
	if err := a.build(context.Background()); err != nil {
		return nil, err
	}
	ko, err := a.carry()
	if err != nil {
		if a.warn != nil {
			a.warn("warning: %s.ko cannot be run without its script: %v", a.name, err)
		}
		ko = a.ko
	}
	return []backend.File{{Name: a.name + ".ko", Data: ko}}, nil
}

func (a *artifact) build(ctx context.Context) error {
	if a.ko != nil {
		return nil
	}
	ko, err := kbuild.Module(ctx, kbuild.Source{C: a.unit.C}, a.config)
	if err == nil {
		a.ko, err = kbuild.Rename(ko, a.name)
		return err
	}
	if e, ok := errors.AsType[*kbuild.Error](err); ok {
		if e.Output != "" && a.config.Logf != nil {
			a.config.Logf("%s", e.Output)
		}
		if d := complaint(e.Output, a.unit.Program.Files); d != nil {
			return d
		}
		return &diag.Diagnostic{Phase: diag.Build, Code: CodeBuild, Message: e.Msg, Hint: e.Hint}
	}
	return err
}

// Load implements backend.Artifact.
func (a *artifact) Load(ctx context.Context, o backend.LoadOptions) (backend.Session, error) {
	if err := a.mayLoad(ctx); err != nil {
		return nil, err
	}
	if err := a.build(ctx); err != nil {
		return nil, err
	}
	s, err := session.Load(ctx, session.Config{Unit: a.unit, Name: a.name, KO: a.ko, Files: a.files, LoadOptions: o})
	if err != nil {
		return nil, err
	}
	return s, nil
}
