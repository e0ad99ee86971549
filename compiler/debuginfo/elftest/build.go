package elftest

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/foreign"
)

// sources are the programs that readers are tested with.
//
//go:embed testdata
var sources embed.FS

var (
	buildDir string
	built    = map[string]string{}
	buildMu  sync.Mutex
)

// Main runs the tests of packages that read files of compilers, and gives the code to exit with. It makes the directory
// of C, Go and Run, and makes what foreign.Guard catches end the test: while sound files are read that is a mistake of
// ours.
func Main(m *testing.M) int {
	foreign.OnPanic = func(r any) { panic(r) }
	var err error
	if buildDir, err = os.MkdirTemp("", "elftest"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(buildDir)
	return m.Run()
}

// Dir is the directory that programs are built in. It is gone when the tests have run.
func Dir() string { return buildDir }

// Source is the path of one of the programs' sources: code.c, types.c or types.go.
func Source(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(buildDir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	text, err := sources.ReadFile("testdata/" + name)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Tolerant lets Guard work as it does in production, for the rest of the test.
func Tolerant(tb testing.TB) {
	old := foreign.OnPanic
	foreign.OnPanic = nil
	tb.Cleanup(func() { foreign.OnPanic = old })
}

// Run runs a command in the build directory.
func Run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = buildDir
	b, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s %v: %v\n%s", name, args, err, b)
	}
	return string(b)
}

// C compiles one of the C programs with gcc and flags, once.
func C(tb testing.TB, flags, src string) string {
	tb.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	key := flags + " " + src
	if p := built[key]; p != "" {
		return p
	}
	path := Source(tb, src)
	out := filepath.Join(buildDir, strings.NewReplacer(" ", "", ",", "", "=", "", ".", "").Replace(key))
	Run(tb, "gcc", append(strings.Fields(flags), "-w", "-o", out, path)...)
	built[key] = out
	return out
}

// Go builds one of the Go programs, once.
func Go(tb testing.TB, flags, src string) string {
	tb.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	key := "go " + flags + " " + src
	if p := built[key]; p != "" {
		return p
	}
	path := Source(tb, src)
	out := filepath.Join(buildDir, strings.NewReplacer(" ", "", "=", "", ".", "").Replace(key))
	args := []string{"build", "-o", out}
	if flags != "" {
		args = append(args, flags)
	}
	Run(tb, "go", append(args, path)...)
	built[key] = out
	return out
}

// Programs are of every kind that the differential tests read as a whole.
func Programs(tb testing.TB) []string {
	return []string{
		C(tb, "-g -O2 -gdwarf-5", "code.c"), C(tb, "-g -O0 -gdwarf-4 -no-pie -fno-pie", "code.c"),
		C(tb, "-g -gdwarf-5 -fdebug-types-section", "types.c"), C(tb, "-g -O2 -gdwarf-5 -gdwarf64", "code.c"),
		Go(tb, "", "types.go"),
	}
}

// Command is a command that runs in the build directory.
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = buildDir
	return cmd
}

// GoCommand builds cmd/go, a program of 20 MB with compressed DWARF.
func GoCommand(tb testing.TB) string {
	tb.Helper()
	if p := os.Getenv("BENCH_BINARY"); p != "" {
		return p
	}
	out := filepath.Join(tb.TempDir(), "go")
	if b, err := exec.Command("go", "build", "-o", out, "cmd/go").CombinedOutput(); err != nil {
		tb.Skipf("go build: %v\n%s", err, b)
	}
	return out
}

// CPU runs f as often as the benchmark wants and reports the CPU time of all threads, which a busy machine does not
// change.
func CPU(b *testing.B, f func()) {
	b.ReportAllocs()
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	n, start := 0, used()
	for b.Loop() {
		f()
		n++
	}
	b.ReportMetric(float64(used()-start)/float64(n), "cpu-ns/op")
}
