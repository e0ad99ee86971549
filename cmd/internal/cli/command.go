package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/companion"
	"github.com/gostap/gostap/cmd/internal/follow"
	"github.com/gostap/gostap/cmd/internal/kube"
	"github.com/gostap/gostap/cmd/internal/kube/podprogram"
	"github.com/gostap/gostap/cmd/internal/monitor"
	"github.com/gostap/gostap/cmd/internal/page"
	"github.com/gostap/gostap/cmd/internal/ready"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/foreign"
)

// command is one invocation.
type command struct {
	*options
	Streams
	argv []string // as they were given
	tool *toolRun // the tool that argv names, nil if it names none
	rc   []string // those of the file of options
	// counted sends what the session has counted to the machine that asked for it, nil if none did.
	counted func([]byte) error
	page    *page.Page // --http
	// delivery takes what the session says where --export is given.
	delivery *companion.Companion
	folder   string       // of --format=ctf
	log      *monitor.Log // of the window of --monitor, nil without
	env      []string
	sent     *remote.Request // what another machine sent, nil if the command was typed here
	link     *remote.Session // likewise
	fleet    *kube.Fleet     // of "gostap kube": the hosts
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
	if err := c.rlimits.Apply(); err != nil {
		return err
	}
	if err := c.openPage(); err != nil {
		return err
	}
	if err := c.openExport(); err != nil {
		return err
	}
	if c.delivery != nil {
		defer c.delivery.Close()
	}
	if c.page != nil {
		defer c.page.Close()
	}
	if c.monitor > 0 && c.pass == 5 && !c.hasList && !c.lists {
		if err := c.checkMonitor(); err != nil {
			return err
		}
	}
	if c.module != "" {
		return c.runModule()
	}
	if c.plan != "" {
		return c.runPlan()
	}
	script, o, err := c.compileOptions()
	if err != nil {
		return err
	}
	if c.lists {
		return c.listLibrary(o)
	}
	if c.hasList {
		return c.listPoints(o)
	}
	if c.pass >= 4 {
		if err := c.checkTemp(); err != nil {
			return err
		}
	}
	// A signal during the passes ends the command; once the session runs, it ends the session.
	ctx, hangs, done := untilSignal()
	defer done()
	// -p1 and -p2 print the product of their last pass, as stap does.
	product := ""
	if c.pass <= 2 && len(c.dump) == 0 {
		product = [...]string{"parse", "sema"}[c.pass-1]
		o.Tool.Dump = []string{product}
	}
	if c.emit != "" {
		product = c.emit
		o.Tool.Dump = append(slices.Clone(c.dump), product)
	}
	const coverage = "coverage"
	if c.coverage && c.pass > 1 {
		o.Tool.Dump = append(slices.Clone(o.Tool.Dump), coverage)
	}
	usual := lessCollecting(400)
	p, err := gostap.Compile(ctx, script, o)
	usual()
	var failed *gostap.Error
	if errors.As(err, &failed) {
		for _, d := range c.dump {
			fmt.Fprint(c.Out, failed.Dumps[d])
		}
	}
	if err != nil {
		return c.shown(err)
	}
	defer p.Close()
	for _, d := range c.dump {
		fmt.Fprint(c.Out, p.Dump(d))
	}
	if c.coverage {
		io.WriteString(c.Err, p.Dump(coverage))
	}
	said := len(p.Warnings())
	if !c.show(p.Warnings()) {
		return errShown
	}
	if c.dumpOnly {
		return nil
	}
	if c.pass <= 2 || c.emit != "" {
		_, err := io.WriteString(c.Out, p.Dump(product))
		return err
	}
	if c.pass == 4 && c.output != "" { // what this kernel makes of it does not matter
		return c.shown(c.makePlan(p))
	}
	usual = lessCollecting(400)
	err = p.Build(ctx)
	usual()
	if err != nil {
		return c.shown(err)
	}
	if !c.show(p.Warnings()[said:]) {
		return errShown
	}
	if goOn, err := c.translated(ctx, p); err != nil || !goOn {
		return c.shown(err)
	}
	return c.shown(c.trace(ctx, p, hangs))
}

// lessCollecting has Go's collector of garbage wait longer, where there is not much that lives: large scripts take a
// third less of a CPU to build then. percent is as for GOGC; usual is to be called afterwards.
func lessCollecting(percent int) (usual func()) {
	const much = 64 << 20
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > much {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
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

// compileOptions reads the script and turns flags into options.
func (c *command) compileOptions() (script string, o gostap.Options, err error) {
	o = c.sessionOptions()
	o.Args, o.Limits, o.Guru, o.Include, o.Globals = c.args, c.limits, c.guru, c.include, map[string]string{}
	o.Unoptimised, o.PrintGlobals, o.SkipBadVars, o.AllCallers = c.unopt, !c.quietEnd, c.badVars, c.allCallers
	o.Folded = c.folded
	o.Privilege, o.Language, o.Elsewhere, o.ModuleName = c.privilege, c.language, c.pass < 5 ||
		c.emit != "", c.name
	o.Portable = c.pass == 4 && c.output != ""
	o.Kernel = gostap.Kernel{Release: c.release, BTF: c.kernelBTF, Symbols: c.kernelMap}
	t := &o.Tool
	t.KeepIndexes, t.NewIndexes = len(c.include) > 0 && !c.noCache, c.newCache
	t.MakeModule, t.ModuleInfo = c.makeModule, c.moduleInfo
	t.Dump, t.Verify, t.Soon = c.dump, environ.Get(c.env, "GOSTAP_DEBUG") != "", c.pass == 5
	if c.pass < 3 {
		t.Stop = compiler.Phase(c.pass)
	}
	if c.emit != "" {
		t.Stop, t.Soon = compiler.Elaborate, false
	}
	for _, g := range c.globals {
		name, val, _ := strings.Cut(g, "=")
		o.Globals[name] = val
	}
	if !c.hasList && !c.lists {
		if o.Name, script, err = c.text(); err != nil {
			return "", o, err
		}
	}
	if c.fleet != nil {
		dir := gostap.CacheDir(c.env)
		if c.noCache {
			dir = ""
		}
		o.Program = func() (string, error) { return c.fleet.Program(dir) }
	} else if len(c.pods) > 0 {
		o.Program = func() (string, error) {
			p, err := podprogram.One(c.pods, "")
			return p.Path, err
		}
	} else if c.program != "" {
		o.Program = func() (string, error) { return c.program, nil }
	}
	if c.summary && !c.inScript {
		o.More = append(o.More, c.summaryOf())
	}
	for i, e := range c.extra {
		name := "<input>"
		if len(c.extra) > 1 || c.hasText {
			name = fmt.Sprintf("<input %d>", i+2)
		}
		o.More = append(o.More, gostap.Source{Name: name, Text: e})
	}
	if c.sent != nil && strings.Contains(script, "remote_") {
		o.More = append(o.More, gostap.Source{Name: "<remote>", Text: fmt.Sprintf(
			"function remote_id:long () { return %d }\nfunction remote_uri:string () { return %q }\n", c.sent.ID,
			c.sent.URI)})
	}
	return script, o, nil
}

// text gives the script with the name that messages have for it.
func (c *command) text() (name, script string, err error) {
	switch {
	case c.hasText:
		return "<input>", c.script, nil
	case c.sent != nil && c.sent.Script != nil:
		return c.sent.Script.Name, string(c.sent.Script.Text), nil
	case c.tool != nil:
		return c.tool.name, c.tool.text, nil
	case c.file == "-":
		text, err := foreign.Read(c.In, "standard input", maxScript)
		if err != nil {
			return "", "", plain(err)
		}
		return "<stdin>", string(text), nil
	}
	text, err := readScript(c.file, c.env)
	return c.file, string(text), err
}

// sessionOptions are the options about running.
func (c *command) sessionOptions() gostap.Options {
	o := gostap.Options{
		Runtime: gostap.Runtime(c.runtime), Text: true, PID: c.pid, Command: c.command, Stdin: c.In, Stdout: c.Out,
		Stderr: c.Err,
		Env:    ready.Without(c.env), Timeout: c.timeout, BufferMB: c.bufferMB, QuietErrors: c.quietErrors,
		Timing: c.timing, MaxHits: c.maxHits, MaxCPU: c.maxCPU / 100, Serve: c.serve, Cgroups: c.cgroups, Pods: c.pods,
	}
	if c.command == "" && c.file == "-" {
		o.Stdin = nil // the script came from there
	}
	o.Tool.Log, o.Tool.Warn, o.Tool.Heat = c.logf, func(text string) { c.warnf("%s", text) }, c.command == "" ||
		tty.Is(c.Err)
	o.Tool.Unfired = c.fired()
	if c.format != "" {
		o.Text = false
		if o.Tool.Warn = nil; c.noWarn {
			o.Tool.Warn = func(string) {}
		}
		if c.output == "" && c.delivery == nil {
			o.Stdout = c.Err // not between the lines
		}
	}
	if c.log != nil || c.page != nil {
		o.Tool.Watched, o.Timing = true, true
	}
	if c.log != nil {
		o.Bare = true
		o.Stdin, o.Stdout, o.Stderr = nil, c.log, c.log
	}
	for i := range o.Tool.Verbose {
		o.Tool.Verbose[i] = c.level(i + 1)
	}
	return o
}

// fired reports whether the user is told at the end which probe points never fired.
func (c *command) fired() bool { return c.pass == 5 && (tty.Is(c.Err) || c.level(5) > 0) }

// translated serves -p3, -p4, -m and -k, and says whether the session is to be run.
func (c *command) translated(ctx context.Context, p *gostap.Program) (goOn bool, err error) {
	if err := c.nowhere(p); err != nil {
		return false, err
	}
	if c.pass == 3 {
		text, err := p.Listing(ctx)
		if err == nil {
			_, err = io.WriteString(c.Out, text)
		}
		return false, err
	}
	if c.name == "" && !c.keep && c.pass != 4 || p.OnHost() {
		return c.pass != 4, nil
	}
	dir := "."
	if c.keep && c.name == "" {
		if dir, err = c.keepDir(); err != nil {
			return false, err
		}
	}
	files, err := p.Files(ctx)
	if err != nil {
		return false, err
	}
	if c.pass == 4 && c.name == "" && !c.keep {
		files = nil
	}
	if c.keep {
		text, err := p.Listing(ctx)
		if err != nil {
			return false, err
		}
		files = append(files, gostap.File{Name: cmp.Or(c.name, fmt.Sprintf("gostap_%d", os.Getpid())) + ".txt",
			Data: []byte(text)})
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return false, plain(err)
		}
		if c.pass == 4 || c.keep {
			fmt.Fprintln(c.Out, path)
		}
	}
	return c.pass != 4, nil
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

// trace runs the program to its end; hangs has HUP end it.
func (c *command) trace(ctx context.Context, p *gostap.Program, hangs func()) error {
	if err := c.checkValues(p); err != nil {
		return err
	}
	s, err := p.Prepare(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	out, done, err := c.openOutput()
	if err != nil {
		return plain(err)
	}
	defer done()
	teller, err := c.teller(s)
	if err != nil {
		return err
	}
	var follower *follow.Follower
	var started func() error
	if !c.behind && (tty.Is(c.Err) || c.command == "" && c.level(5) > 0) {
		ends := "; Ctrl-C ends"
		if c.command != "" {
			ends = " has begun"
		}
		started = func() error {
			if text := placesOf(p.Places()); text != "" {
				c.logf("tracing %s%s", text, ends)
			}
			return nil
		}
	}
	if c.behind {
		started = func() error { return c.detach(out) }
	}
	inPlace := func() error {
		teller.Begin()
		if c.link != nil {
			follower = follow.Begin(s, *c.link, c.pods)
		}
		c.tellServed(s.Served())
		status := "STATUS=the probes are in place"
		if text := placesOf(p.Places()); text != "" {
			status = "STATUS=tracing " + text
		}
		if err := ready.Tell(c.env, "READY=1", status); err != nil {
			c.warnf("whoever waits for this session was not told that it traces: %v", err)
		}
		if started == nil {
			return nil
		}
		return started()
	}
	hangs()
	switch {
	case c.log != nil:
		err = c.window(ctx, s, out, inPlace)
	case c.page != nil:
		err = c.shownAt(ctx, s, out, c.Err, inPlace)
	case c.format != "":
		err = c.export(ctx, p, s, out, inPlace)
	default:
		err = s.Print(ctx, out, c.Err, inPlace)
	}
	follower.End()
	if c.link != nil {
		c.link.Missing(s.Lost())
	}
	if told := teller.End(); err == nil {
		err = told
	}
	if times := s.Times(); c.timing && times != nil {
		timeReport(c.Err, times)
	}
	return err
}
