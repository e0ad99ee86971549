package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	bpf "github.com/gostap/gostap/backend-bpf"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/host"
	"github.com/gostap/gostap/runtime/host/memory"
	"github.com/gostap/gostap/runtime/host/target"
)

// command is one invocation.
type command struct {
	*options
	Streams
	argv []string // as they were given
	env  []string
	kept *string // what cache gives, which may warn
}

// run compiles and does what -p, -l or nothing asks for.
func (c *command) run() error {
	for _, d := range c.dump {
		if d == "help" {
			fmt.Fprintln(c.Out, strings.Join(compiler.PassNames(), "\n"))
			return nil
		}
	}
	if c.behind && c.pass == 5 && !c.hasList && !c.lists && !c.detached() {
		return c.background() // before anything is read: the other process does that
	}
	if err := applyRlimits(c.rlimits); err != nil {
		return err
	}
	if c.module != "" {
		return c.runModule()
	}
	o, err := c.compilerOptions()
	if err != nil {
		return err
	}
	if c.lists {
		return c.listLibrary(o)
	}
	if c.hasList {
		return c.listPoints(o)
	}
	// A signal during the passes ends the command; once the session runs, the host loop takes them.
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	// -p1 and -p2 print the product of their last pass, as stap does.
	product := ""
	if c.pass <= 2 && len(c.dump) == 0 {
		product = [...]string{"parse", "sema"}[c.pass-1]
		o.Dump = []string{product}
	}
	if c.probesPrograms(o) {
		defer bpf.Warm()()
	}
	res, ds := compiler.Compile(ctx, o)
	defer res.Close()
	for _, d := range c.dump {
		fmt.Fprint(c.Out, res.Dumps[d])
	}
	c.timings(res)
	p := c.printer(res.Files)
	if !c.show(p, ds) {
		return errShown
	}
	if c.pass <= 2 {
		_, err := io.WriteString(c.Out, res.Dumps[product])
		return err
	}
	return shown(p, c.execute(ctx, p, res))
}

// probesPrograms reports whether it looks as if the session will attach probes to programs with eBPF: then the kernel is
// told while the script is compiled, which saves most of the first probe's wait. A wrong guess costs some
// milliseconds of another thread.
func (c *command) probesPrograms(o compiler.Options) bool {
	if c.pass != 5 || c.runtime != "" && c.runtime != "bpf" || os.Geteuid() != 0 {
		return false
	}
	return slices.ContainsFunc(o.Scripts, func(s compiler.Script) bool { return bytes.Contains(s.Text, []byte("process")) })
}

// timings prints a line and a time for each pass.
func (c *command) timings(res *compiler.Result) {
	for _, t := range res.Timings {
		if c.level(int(t.Phase)) == 0 {
			continue
		}
		c.logf("pass %d %-8s %8.2f ms", t.Phase, t.Pass, float64(t.Took.Microseconds())/1000)
	}
}

// level is the verbosity of a pass, 1 to 5.
func (c *command) level(pass int) int { return c.verbose + c.perPass[pass-1] }

func (c *command) warnf(format string, args ...any) {
	if c.noWarn {
		return
	}
	fmt.Fprintf(c.Err, "WARNING: "+format+"\n", args...)
}

func (c *command) logf(format string, args ...any) {
	fmt.Fprintln(c.Err, diag.Visible(fmt.Sprintf(format, args...)))
}

// compilerOptions reads the script and turns flags into options.
func (c *command) compilerOptions() (compiler.Options, error) {
	o := compiler.Options{
		Args: c.args, Limits: c.limits, Guru: c.guru, Include: c.include, Globals: map[string]string{},
		TargetPID: c.pid, SearchPath: getenv(c.env, "PATH"), LibraryPath: getenv(c.env, "LD_LIBRARY_PATH"), Unoptimised: c.unopt, NoAutoPrint: c.quietEnd, Dump: c.dump,
		SkipBadVars: c.badVars, AllCallers: c.allCallers, Privilege: c.privilege, Language: c.language, Config: kernelConfig(),
		Open: open.Open, Runtime: c.runtime, Verify: getenv(c.env, "GOSTAP_DEBUG") != "",
	}
	cache := c.cache()
	if len(c.include) > 0 && !c.noCache {
		o.CacheDir, o.CacheAnew = cache, c.newCache
	}
	var err error
	o.Kernel, _ = uname()
	if o.KernelFiles, err = c.kernelFiles("", o.Kernel); err != nil {
		return o, err
	}
	if !o.KernelFiles.Foreign() {
		o.KernelFiles.Cache = cache
	}
	if c.pass == 5 && (c.runtime == "" || c.runtime == "bpf") && !c.hasList && !c.lists {
		o.Lacks = bpf.Lacks
	}
	if c.pass < 3 {
		o.Stop = compiler.Phase(c.pass)
	}
	for _, g := range c.globals {
		name, val, _ := strings.Cut(g, "=")
		o.Globals[name] = val
	}
	if !c.hasList && !c.lists {
		switch {
		case c.hasText:
			o.Scripts = append(o.Scripts, compiler.Script{Name: "<input>", Text: []byte(c.script)})
		case c.file == "-":
			text, err := foreign.Read(c.In, "standard input", maxScript)
			if err != nil {
				return o, plain(err)
			}
			o.Scripts = append(o.Scripts, compiler.Script{Name: "<stdin>", Text: text})
		default:
			text, err := readScript(c.file)
			if err != nil {
				return o, err
			}
			o.Scripts = append(o.Scripts, compiler.Script{Name: c.file, Text: text})
		}
	}
	for i, e := range c.extra {
		name := "<input>"
		if len(c.extra) > 1 || c.hasText {
			name = fmt.Sprintf("<input %d>", i+2)
		}
		o.Scripts = append(o.Scripts, compiler.Script{Name: name, Text: []byte(e)})
	}
	for _, dir := range c.include {
		if st, err := os.Stat(dir); err != nil {
			return o, plain(err)
		} else if !st.IsDir() {
			return o, fmt.Errorf("%s is not a directory", dir)
		}
	}
	o.TargetWord = c.commandWord()
	o.TargetPath, err = c.targetPath()
	return o, err
}

// plain says what went wrong with a file without Go's name of the call.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// targetPath is the program that a bare "process" means: the file of -x, the first word of -c.
func (c *command) targetPath() (string, error) {
	switch {
	case c.pid != 0:
		exe := fmt.Sprintf("/proc/%d/exe", c.pid)
		path, err := os.Readlink(exe)
		if err != nil {
			if os.IsNotExist(err) {
				if c.pass < 5 {
					return exe, nil // nothing is traced: only a bare "process" misses it
				}
				return "", fmt.Errorf("no process %d", c.pid)
			}
			return "", plain(err)
		}
		// In another mount namespace, or replaced since: the link itself is the file that runs.
		if a, err := os.Stat(path); err == nil {
			if b, err := os.Stat(exe); err == nil && os.SameFile(a, b) {
				return path, nil
			}
		}
		return exe, nil
	case c.command != "":
		word := c.commandWord()
		if path, err := exec.LookPath(word); err == nil {
			if abs, err := filepath.Abs(path); err == nil {
				return abs, nil
			}
		}
	}
	return "", nil
}

// commandWord is the first word of -c that is not an assignment to a variable of the environment.
func (c *command) commandWord() string {
	// The shell's signs end a word without a space as well.
	for _, w := range strings.FieldsFunc(c.command, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";&|()<>", r) }) {
		if name, _, ok := strings.Cut(w, "="); !ok || strings.Contains(name, "/") {
			return strings.Trim(w, `"'`)
		}
	}
	return ""
}

// shown prints an error that knows its place in the script, or has a hint, as the compiler's are printed.
func shown(p *diag.Printer, err error) error {
	var d *diag.Diagnostic
	if !errors.As(err, &d) {
		return err
	}
	p.One(d)
	return errShown
}

// execute goes from the program to its end: translate, load, run.
func (c *command) execute(ctx context.Context, p *diag.Printer, res *compiler.Result) error {
	prog := res.Program
	session, err := c.session(ctx, p, prog)
	if err != nil || session == nil {
		return err
	}
	return c.trace(ctx, session, prog, res.Files)
}

// session makes what runs prog, on the host alone where that will do. nil: -p3 or -p4 was all.
func (c *command) session(ctx context.Context, p *diag.Printer, prog *ir.Program) (backend.Session, error) {
	kernel := c.runtime == "bpf" || c.runtime == "kernel"
	var why diag.List
	if !kernel {
		why = needsKernel(prog)
	}
	switch {
	case c.runtime == "host" && len(why) > 0:
		c.show(p, why)
		return nil, errShown
	case kernel || len(why) > 0:
		art, err := c.build(ctx, p, prog)
		if err != nil || art == nil {
			return nil, err
		}
		return c.load(ctx, art)
	case c.pass == 3:
		_, err := fmt.Fprint(c.Out, prog.Dump())
		return nil, err
	case c.pass == 4:
		return nil, nil
	}
	return memory.New(prog)
}

// needsKernel says what the host alone cannot do of prog, empty if it can do all.
func needsKernel(prog *ir.Program) diag.List {
	ds := backend.NoEmbedded(prog, "on the host")
	if ok, s := memory.Fits(prog); !ok && len(ds) == 0 {
		ds.Errorf(diag.Build, "kernel-probe", source.Span{}, "%s fires in the kernel, which --runtime=host does without", s.Point)
	}
	if len(ds) > 0 {
		return ds
	}
	if k := place.HostPeek(prog); k.What != "" {
		ds.Errorf(diag.Build, "kernel-memory", source.At(k.Pos), "this %s, which --runtime=host does without", k.What).
			Hintf("leave --runtime=host out")
	}
	return ds
}

// fired reports whether the user is told at the end which probe points never fired.
func (c *command) fired() bool { return c.pass == 5 && (terminal(c.Err) || c.level(5) > 0) }

// build translates for the kernel and serves -p3, -p4, -m and -k. A nil artifact means that this was all.
func (c *command) build(ctx context.Context, p *diag.Printer, prog *ir.Program) (backend.Artifact, error) {
	start := time.Now()
	name := c.name
	if name == "" {
		name = fmt.Sprintf("gostap_%d", os.Getpid())
	}
	art, ds := c.kernelBackend().Build(ctx, prog, backend.BuildOptions{Name: name, Guru: c.guru, Fired: c.fired(), Logf: c.logf, Verbose: c.level(4)})
	if c.level(4) > 0 {
		c.logf("pass 4 %-8s %8.2f ms", "build", float64(time.Since(start).Microseconds())/1000)
	}
	if !c.show(p, ds) {
		return nil, errShown
	}
	if c.pass == 3 {
		_, err := io.WriteString(c.Out, art.Listing())
		return nil, err
	}
	if c.name != "" || c.keep || c.pass == 4 {
		dir := "."
		if c.keep && c.name == "" {
			d, err := c.keepDir()
			if err != nil {
				return nil, err
			}
			dir = d
		}
		files, err := art.Files()
		if err != nil {
			return nil, err
		}
		if c.pass == 4 && c.name == "" && !c.keep {
			files = nil
		}
		if c.keep {
			files = append(files, backend.File{Name: name + ".txt", Data: []byte(art.Listing())})
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name)
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				return nil, plain(err)
			}
			if c.pass == 4 || c.keep {
				fmt.Fprintln(c.Out, path)
			}
		}
	}
	if c.pass == 4 {
		return nil, nil
	}
	return art, nil
}

// keepDir makes the directory that -k leaves files in.
func (c *command) keepDir() (string, error) {
	if c.tmpdir == "" {
		return os.MkdirTemp("", "gostap-")
	}
	if err := os.MkdirAll(c.tmpdir, 0o755); err != nil {
		return "", plain(err)
	}
	return c.tmpdir, nil
}

func (c *command) load(ctx context.Context, art backend.Artifact) (backend.Session, error) {
	start := time.Now()
	s, err := art.Load(ctx, backend.LoadOptions{Target: c.pid, BufferMB: c.bufferMB, Timing: c.timing, Fired: c.fired(),
		Cache: c.cache(), Heat: c.command == "" || terminal(c.Err), Warnf: c.warnf, Logf: c.logf, Verbose: c.level(5)})
	if err == nil && c.level(5) > 0 {
		c.logf("pass 5 %-8s %8.2f ms", "load", float64(time.Since(start).Microseconds())/1000)
	}
	return s, err
}

// trace runs the session to its end.
func (c *command) trace(ctx context.Context, s backend.Session, prog *ir.Program, files *source.FileSet) error {
	out, done, err := c.openOutput()
	if err != nil {
		s.Close()
		return plain(err)
	}
	defer done()
	cfg := host.Config{
		Program: prog, Session: s, Stdout: out, Stderr: c.Err, Timeout: c.timeout, Signals: true, QuietErrors: c.quietErrors, Timing: c.timing,
		Open: func(path string) (debuginfo.Image, error) { return open.Open(path) },
	}
	if c.command == "" && c.file != "-" {
		cfg.Stdin = c.In
	}
	if c.level(5) > 0 {
		cfg.Logf = c.logf
	}
	if !c.behind && (terminal(c.Err) || c.command == "" && c.level(5) > 0) {
		ends := "; Ctrl-C ends"
		if c.command != "" {
			ends = " has begun"
		}
		cfg.Started = func() error {
			if text := placesOf(prog); text != "" {
				c.logf("tracing %s%s", text, ends)
			}
			return nil
		}
	}
	if c.behind {
		cfg.Started = func() error { return c.detach(out) }
	}
	switch {
	case c.command != "":
		cfg.Target, err = target.Start(target.Options{Command: c.command, Stdin: c.In, Stdout: c.Out, Stderr: c.Err, Env: c.env})
	case c.pid != 0:
		cfg.Target, err = target.Watch(c.pid)
	}
	if err != nil {
		s.Close()
		return err
	}
	if text := price(prog, func() backend.Prices { return prices(s) }); text != "" {
		c.warnf("%s", text)
	}
	res := host.Run(ctx, cfg)
	if c.level(5) > 0 {
		for _, line := range res.Report {
			c.logf("%s", line)
		}
	}
	if c.timing {
		timeReport(c.Err, files, prog, res.Times)
	}
	if res.Err != nil {
		return res.Err
	}
	if !res.OK() {
		return errShown
	}
	return nil
}
