package godwarf

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
)

// large is a big program with debug information: GODWARF_BENCH_BINARY, or cmd/compile, built here.
func large(b *testing.B) string {
	if p := os.Getenv("GODWARF_BENCH_BINARY"); p != "" {
		return p
	}
	out := filepath.Join(buildDir, "compile")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if o, err := exec.Command("go", "build", "-o", out, "cmd/compile").CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, o)
	}
	return out
}

const benchFunc = "cmd/compile/internal/ssa.(*Func).newValue"

func one(b *testing.B, im *Image) *debuginfo.Func {
	fs, err := im.Funcs(benchFunc)
	if err != nil || len(fs) != 1 {
		b.Fatal(fs, err)
	}
	return fs[0]
}

// BenchmarkEntry: from a path and a name to the entry site, without debug information.
func BenchmarkEntry(b *testing.B) {
	path := large(b)
	b.ReportAllocs()
	for b.Loop() {
		im, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := im.EntrySite(one(b, im)); err != nil {
			b.Fatal(err)
		}
		im.Close()
	}
}

// BenchmarkVars: the same, and all variables at the entry and the returns; most of it is inflating.
func BenchmarkVars(b *testing.B) {
	path := large(b)
	b.ReportAllocs()
	for b.Loop() {
		im, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		vars(b, im)
		im.Close()
	}
}

func vars(b *testing.B, im *Image) {
	f := one(b, im)
	s, err := im.EntrySite(f)
	if err != nil {
		b.Fatal(err)
	}
	rs, err := im.ReturnSites(f)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range append(rs, s) {
		if _, err := im.Vars(s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVarsOnly: without opening and inflating.
func BenchmarkVarsOnly(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	vars(b, im)
	b.ReportAllocs()
	for b.Loop() {
		clear(im.sigs)
		vars(b, im)
	}
}

func BenchmarkGlob(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	b.ReportAllocs()
	for b.Loop() {
		if fs, err := im.Funcs("cmd/compile/internal/ssa.(*Func).*"); err != nil || len(fs) < 50 {
			b.Fatal(len(fs), err)
		}
	}
}

func BenchmarkInlined(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	b.ReportAllocs()
	for b.Loop() {
		if s, err := im.inlines().inlined(funcname.Parse("strings.HasPrefix")); err != nil || len(s) < 50 {
			b.Fatal(len(s), err)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	b.ReportAllocs()
	for b.Loop() {
		q := debuginfo.LineQuery{Func: benchFunc, Line: 3, Rel: true, Nearest: true}
		if s, err := im.LineSites(q); err != nil {
			b.Fatal(s, err)
		}
	}
}

func BenchmarkNear(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	b.ReportAllocs()
	for b.Loop() {
		im.NearNames("cmd/compile/internal/ssa.(*Func).newValu")
	}
}

func BenchmarkGlobal(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	im.DWARF()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := im.Global("cmd/compile/internal/base.Flag"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkType(b *testing.B) {
	im, err := Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	im.DWARF()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := im.Type("cmd/compile/internal/ssa.Value"); err != nil {
			b.Fatal(err)
		}
	}
}
