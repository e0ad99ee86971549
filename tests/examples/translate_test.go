package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/tests/vm"
)

// folder is where the package systemtap-doc has the scripts, each with a .meta file whose line test_check says how it
// is translated.
const folder = "/usr/share/systemtap/examples"

// asked is the environment variable that asks for everything.
const asked = "GOSTAP_EXAMPLES"

// release is the kernel that is not this machine's.
const release = "6.1.0-56-cloud-amd64"

// example is one script with its command.
type example struct {
	name    string // "io/iotop"
	command string
}

// dir is the script's folder, name's first part.
func (e example) dir() string { return filepath.Dir(e.name) }

// target is what examples are translated for.
type target struct {
	name string
	args []string
}

// found gives the examples, or skips the test.
func found(t *testing.T) []example {
	t.Helper()
	metas, err := filepath.Glob(folder + "/*/*.meta*")
	if err != nil || len(metas) == 0 {
		t.Skip("not installed: systemtap-doc")
	}
	var out []example
	for _, m := range metas {
		name, _, _ := strings.Cut(filepath.Base(m), ".meta")
		if check := checkOf(t, m); check != "" {
			out = append(out, example{filepath.Base(filepath.Dir(m)) + "/" + name, check})
		}
	}
	return out
}

// bench is where examples are translated: a copy of their folder, since commands leave files there, and the command.
type bench struct{ dir, gostap, path string }

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	b.gostap, b.path = filepath.Join(b.dir, "gostap"), filepath.Join(b.dir, "path")
	build := exec.Command("go", "build", "-o", b.gostap, "../../cmd/gostap")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.CopyFS(filepath.Join(b.dir, "examples"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.path, 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	errorLine = regexp.MustCompile(`(?m)^(?:.*?:\d+:\d+: )?error: (.*)\n`)
	codeAtEnd = regexp.MustCompile(`^(.*) \[([a-z-]+)\]$`)
)

// translate runs the command of an example, in which stap is gostap for a target. It gives the first error's text and
// code, "" if all went well. Where only translating is asked for, nothing is compiled.
func (b *bench) translate(e example, to target, compile bool) (message, code, all string) {
	var shim strings.Builder
	shim.WriteString("#!/bin/sh\n")
	if !compile {
		shim.WriteString("for a do shift; case $a in -p4) a=-p3;; -gp4) a=-gp3;; -wp4) a=-wp3;; esac; " +
			`set -- "$@" "$a"; done` + "\n")
	}
	fmt.Fprintf(&shim, "exec %s -v", b.gostap)
	for _, a := range to.args {
		fmt.Fprintf(&shim, " '%s'", a)
	}
	shim.WriteString(` "$@"` + "\n")
	// A function and not a program, so that what examples say of the program stap is about Debian's; programs that
	// call it themselves have to find another.
	stap := filepath.Join(b.path, "stap")
	if err := os.WriteFile(stap, []byte(shim.String()), 0o755); err != nil {
		return err.Error(), "", ""
	}
	cmd := exec.Command("sh", "-c", "stap() { "+stap+` "$@"; }`+"\n"+e.command)
	cmd.Dir = filepath.Join(b.dir, "examples", e.dir())
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	if !strings.HasPrefix(e.command, "stap ") {
		cmd.Env = append(cmd.Env, "PATH="+b.path+":"+os.Getenv("PATH"))
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	all = said.String()
	if err == nil {
		return "", "", all
	}
	m := errorLine.FindStringSubmatch(all)
	if m == nil {
		return err.Error(), "", all
	}
	if c := codeAtEnd.FindStringSubmatch(m[1]); c != nil {
		return c[1], c[2], all
	}
	return m[1], "", all
}

// elsewhere are the codes of errors that examples may end with: what they name is not on this machine or in this
// kernel, or cannot be in eBPF.
var elsewhere = []string{"no-match", "target", "embedded-c", "bpf-write", "bpf-verdict", "bpf-packets",
	"probe-refused"}

// otherwise are the examples with another end: a tapset that does not come with SystemTap, a function that is refused,
// an argument that the shell does not find, a module that is not loaded.
var otherwise = map[string]string{"apps/gmalloc_watch": "probe-form", "memory/numa_faults": "unresolved-function",
	"memory/hw_watch_addr": "bad-number", "network/nfsd-recent": "no-alias", "network/nfsd-trace": "no-alias",
	"network/nfsdtop": "no-alias"}

// here is this machine's kernel.
var here = target{name: "eBPF, this kernel", args: []string{"--runtime=bpf"}}

// TestExamples: no example is refused because the language or the library lacks something, and what the table says is
// so.
func TestExamples(t *testing.T) {
	list := found(t)
	page := readPage(t)
	if pattern := os.Getenv(asked); pattern != "" {
		all(t, list, pattern, page)
		return
	}
	b := newBench(t)
	good, tried := 0, 0
	for i, e := range list {
		if i%5 != 0 || !strings.Contains(e.command, "stap ") {
			continue
		}
		tried++
		message, code, said := b.translate(e, here, false)
		if message == "" {
			good++
			continue
		}
		if !slices.Contains(elsewhere, code) && otherwise[e.name] != code || strings.Contains(said, "internal error") {
			t.Errorf("%s: %s\n%s", e.name, e.command, said)
		}
		if page.kernel == kernelHere() && page.passes(e.name) {
			t.Errorf("%s: %s is translated by what docs/compat.md says\n%s", e.name, e.command, said)
		}
	}
	t.Logf("%d of %d examples are translated", good, tried)
}

// others are the targets that are not this machine's kernel: its modules that examples name are in its description,
// and Debian's debug information.
func others(t *testing.T, dir string) []target {
	t.Helper()
	if miss := vm.Missing(); len(miss) > 0 {
		t.Fatalf("not installed: %s", strings.Join(miss, ", "))
	}
	k, err := vm.Get(release)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := k.Facts(t.Context(), "scsi_debug", "sd_mod", "nfsv3", "nfsv4", "nfsd", "autofs4", "kvm", "st")
	if err != nil {
		t.Fatal(err)
	}
	debug, err := k.Debug()
	if err != nil {
		t.Fatal(err)
	}
	headers, err := k.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	btf := filepath.Join(dir, "btf")
	if err := os.CopyFS(btf, os.DirFS(facts.BTF)); err != nil {
		t.Fatal(err)
	}
	vmlinux := filepath.Join(btf, "vmlinux")
	if err := os.Remove(vmlinux); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(debug, vmlinux); err != nil {
		t.Fatal(err)
	}
	about := []string{"--kernel-btf", btf, "--kernel-map", facts.Kallsyms}
	return []target{
		{"eBPF, 6.1", append([]string{"--runtime=bpf", "-r", release}, about...)},
		{"module, 6.1", append([]string{"--runtime=kernel", "-r", headers}, about...)},
	}
}

// all translates the examples whose names match for every target, which takes long, and holds that against the table
// or writes it. Of the others it takes what the table says.
func all(t *testing.T, list []example, pattern string, page *page) {
	if pattern == "full" {
		pattern = ""
	}
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	targets := append([]target{here}, others(t, b.dir)...)
	var rows []row
	for _, e := range list {
		r := row{example: e}
		if said := page.said[e.name]; said != nil && !wanted.MatchString(e.name) {
			r.said = said
			rows = append(rows, r)
			continue
		}
		for _, to := range targets {
			message, _, said := b.translate(e, to, true)
			if strings.Contains(said, "internal error") {
				t.Errorf("%s, %s: %s", e.name, to.name, said)
			}
			r.said = append(r.said, strings.ReplaceAll(message, b.dir, "..."))
		}
		t.Logf("%s: %q", e.name, r.said)
		rows = append(rows, r)
	}
	writeOrCompare(t, "examples", tableOf(targets, rows))
}
