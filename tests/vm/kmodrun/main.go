// Command kmodrun runs a program in the text form of package ir as a kernel module, or with eBPF: what the
// tests in the virtual machine use where no script makes the same program.
//
//	kmodrun [-bpf] [-r DIR] [-cache DIR] [-c COMMAND] [-x PID] [-T DURATION] [-name NAME] [-build] [-p3]
//	        FILE.ir | -e SCRIPT
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/runtime/host"
	"github.com/gostap/gostap/runtime/host/target"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kmodrun:", err)
		os.Exit(1)
	}
}

func run() error {
	release := flag.String("r", "", "kernel release or build directory")
	cache := flag.String("cache", "", "where built modules are kept")
	command := flag.String("c", "", "command to trace")
	pid := flag.Int("x", 0, "process to trace")
	timeout := flag.Duration("T", 0, "time limit")
	name := flag.String("name", "kmodrun", "name of the module")
	script := flag.String("e", "", "script to run instead of a file")
	withBPF := flag.Bool("bpf", false, "run it with eBPF")
	guru := flag.Bool("g", true, "guru mode")
	flag.StringVar(&kernelFiles.BTF, "kernel-btf", "", "types of the kernel that the script is for")
	flag.StringVar(&kernelFiles.Map, "kernel-map", "", "its symbols")
	build := flag.Bool("build", false, "only build")
	list := flag.Bool("p3", false, "only print the C")
	verbose := flag.Bool("v", false, "say more")
	flag.Parse()
	debug.SetGCPercent(400) // as gostap translates; guests are slow
	if dir, err := os.UserCacheDir(); err == nil && !kernelFiles.Foreign() {
		kernelFiles.Cache = filepath.Join(dir, "gostap")
	}
	ctx := context.Background()
	traced, _, _ := strings.Cut(*command, " ")
	if *pid != 0 {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", *pid))
		if err != nil {
			return err
		}
		traced = path
	}
	p, err := program(ctx, *script, traced, *guru)
	if err != nil {
		return err
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	level := 0
	if *verbose {
		level = 2
	}
	be := kmod.NewFor(kmod.Options{Release: *release, Cache: *cache})
	if *withBPF {
		be = bpf.New()
	}
	art, ds := be.Build(ctx, p, backend.BuildOptions{Name: *name, Logf: logf, Verbose: level})
	for _, d := range ds {
		logf("%s", d.Message)
	}
	if art == nil {
		return fmt.Errorf("not translated")
	}
	if *list {
		fmt.Print(art.Listing())
		return nil
	}
	if *build {
		_, err := art.Files()
		return err
	}
	s, err := art.Load(ctx, backend.LoadOptions{Target: *pid, Logf: logf, Verbose: level})
	if err != nil {
		return err
	}
	cfg := host.Config{Program: p, Session: s, Stdout: os.Stdout, Stderr: os.Stderr, Timeout: *timeout,
		Cache: kernelFiles.Cache,
		Open:  func(path string) (debuginfo.Image, error) { return open.Open(path) }}
	if *verbose {
		cfg.Logf = logf
	}
	switch {
	case *command != "":
		cfg.Target, err = target.Start(target.Options{Command: *command, Stdin: os.Stdin, Stdout: os.Stdout,
			Stderr: os.Stderr, Env: os.Environ()})
	case *pid != 0:
		cfg.Target, err = target.Watch(*pid)
	}
	if err != nil {
		s.Close()
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	start := time.Now()
	res := host.Run(ctx, cfg)
	if *verbose {
		logf("ran for %v", time.Since(start))
		for _, l := range res.Report {
			logf("%s", l)
		}
	}
	if res.Err != nil {
		return res.Err
	}
	if !res.OK() {
		return fmt.Errorf("ended with errors")
	}
	return nil
}

// kernelFiles say of which kernel a script speaks, where that is not the running one.
var kernelFiles kbtf.Config

// program gives the program of a script that traces a file, or of the file in the text form.
func program(ctx context.Context, script, traced string, guru bool) (*ir.Program, error) {
	if script == "" {
		text, err := os.ReadFile(flag.Arg(0))
		if err != nil {
			return nil, err
		}
		p, err := ir.ParseText(string(text))
		if err != nil {
			return nil, err
		}
		return p, ir.Verify(p)
	}
	limits := layout.Default()
	limits.OverloadTime = 0 // handlers of an emulated processor take as long as the machine is busy
	res, ds := compiler.Compile(ctx,
		compiler.Options{Scripts: []compiler.Script{{Name: "<input>", Text: []byte(script)}}, Limits: limits,
			Guru: guru, Open: open.Open, KernelFiles: kernelFiles, TargetPath: traced, Runtime: "kernel",
			Globals: map[string]string{}})
	(&diag.Printer{W: os.Stderr, Files: res.Files}).Print(ds)
	if ds.HasErrors() {
		return nil, fmt.Errorf("the script has errors")
	}
	return res.Program, nil
}
