package vm

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var gccWarning = regexp.MustCompile(`\.[ch]:\d+(:\d+)?: warning:`)

// bench holds what all tests share: the runner and a traced program, by the release modules built for it.
type bench struct {
	dir, prog string
	off       map[string]uint64 // of the traced function: behind the stack check
}

var shared = sync.OnceValues(func() (*bench, error) {
	dir, err := os.MkdirTemp("", "gostap-vmtest-")
	if err != nil {
		return nil, err
	}
	for out, pkg := range map[string]string{"kmodrun": "./kmodrun", "prog": "./testdata/prog"} {
		if err := goBuild(filepath.Join(dir, out), pkg); err != nil {
			return nil, err
		}
	}
	// The kernel's symbols are read once, which takes an emulated CPU two seconds.
	Warm = &Options{Files: map[string]string{"/lab/warm": filepath.Join(dir, "kmodrun")},
		Command: "./warm -bpf -build -e 'probe kernel.function(\"vfs_read\") { exit() }'; rm warm"}
	b := &bench{dir: dir, prog: filepath.Join(dir, "prog"), off: map[string]uint64{}}
	return b, b.find()
})

// builds holds the programs of goBuild in a folder, by their packages.
var builds struct {
	sync.Mutex
	dir  string
	made map[string]string
}

// goBuild builds a program that needs no libraries, so that it runs in the guest: once for all tests that want it.
func goBuild(out, pkg string) error {
	builds.Lock()
	defer builds.Unlock()
	if builds.dir == "" {
		dir, err := os.MkdirTemp("", "gostap-vmbuilt-")
		if err != nil {
			return err
		}
		builds.dir, builds.made = dir, map[string]string{}
	}
	made := builds.made[pkg]
	if made == "" {
		made = filepath.Join(builds.dir, strings.ReplaceAll(pkg, "/", "_"))
		cmd := exec.Command("go", "build", "-o", made, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400") // as make test compiles
		if b, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, b)
		}
		builds.made[pkg] = made
	}
	return os.Link(made, out)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if b, err := shared(); err == nil {
		os.RemoveAll(b.dir)
	}
	os.RemoveAll(builds.dir)
	os.Exit(code)
}

// find looks up the offsets of functions: of the PUSHQ BP where there is one, else of the first byte.
func (b *bench) find() error {
	f, err := elf.Open(b.prog)
	if err != nil {
		return err
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return err
	}
	for _, s := range syms {
		name, ok := strings.CutPrefix(s.Name, "main.")
		if !ok || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || s.Value < p.Vaddr || s.Value >= p.Vaddr+p.Filesz {
				continue
			}
			off := s.Value - p.Vaddr + p.Off
			code := make([]byte, min(s.Size, 32))
			if _, err := p.ReadAt(code, int64(s.Value-p.Vaddr)); err != nil {
				return err
			}
			// CMPQ SP, 16(R14); JBE x; PUSHQ BP
			if len(code) > 6 && code[0] == 0x49 && code[1] == 0x3b && code[4] == 0x76 && code[6] == 0x55 {
				off += 6
			}
			b.off[name] = off
		}
	}
	if b.off["traceme"] == 0 || b.off["leaf"] == 0 {
		return fmt.Errorf("functions of the traced program were not found: %v", b.off)
	}
	return nil
}

// each runs a test on every kernel of Releases.
func each(t *testing.T, fn func(t *testing.T, k *Kernel, b *bench)) {
	t.Helper()
	on(t, Releases(), fn)
}

// on runs a test on kernels, beside others: a guest waits often, and modules are built on one CPU of the host.
func on(t *testing.T, releases []string, fn func(t *testing.T, k *Kernel, b *bench)) {
	t.Parallel()
	if miss := Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	b, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range releases {
		t.Run(r, func(t *testing.T) {
			k, err := Get(r)
			if err != nil {
				t.Fatalf("kernel %s: %v", r, err)
			}
			fn(t, k, b)
		})
	}
}

// stage builds modules for programs (by name) and gives the files for the guest.
func (b *bench) stage(t *testing.T, k *Kernel, programs map[string]string) map[string]string {
	t.Helper()
	kdir, err := k.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	files := map[string]string{"/lab/kmodrun": filepath.Join(b.dir, "kmodrun"), "/lab/prog": b.prog,
		"/lab/cache": cache}
	for name, text := range programs {
		for fn, off := range b.off {
			text = strings.ReplaceAll(text, "$"+fn, fmt.Sprintf("0x%x", off))
		}
		path := filepath.Join(dir, name+".ir")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files["/lab/"+name+".ir"] = path
		out, err := exec.Command(filepath.Join(b.dir, "kmodrun"), "-v", "-r", kdir, "-cache", cache, "-name", name,
			"-build", path).CombinedOutput()
		if err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
		if gccWarning.Match(out) {
			t.Errorf("%s: gcc warns:\n%s", name, out)
		}
		t.Logf("%s: %s", name, strings.TrimSpace(string(out)))
	}
	return files
}

// guest runs a command and fails the test when the kernel complained.
func guest(t *testing.T, k *Kernel, o Options) *Result {
	t.Helper()
	o.Log = t.Logf
	res, err := k.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if said := Complaints(res.Console); len(said) > 0 {
		t.Errorf("the kernel complains %d times:\n%s", len(said), Excerpt(res.Console))
	}
	return res
}

// part is what was said between a line "== name" and the next one like it.
func part(res *Result, name string) string {
	_, s, _ := strings.Cut(res.Output, "== "+name+"\n")
	s, _, _ = strings.Cut(s, "== ")
	return s
}

func lines(text, prefix string) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, prefix) {
			out = append(out, l)
		}
	}
	return out
}
