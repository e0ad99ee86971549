package dynlink

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnwinds builds programs that unwind and such that do not. Only what is certain to do nothing of the kind is "".
func TestUnwinds(t *testing.T) {
	const (
		plain  = "int main(void) { return 0; }"
		loads  = "#include <dlfcn.h>\nint main(void) { return !dlopen(\"libm.so.6\", RTLD_NOW); }"
		leaves = "#include <setjmp.h>\nstatic jmp_buf b; int main(void) { if (!setjmp(b)) longjmp(b, 1); return 0; }"
		swaps  = "#include <ucontext.h>\nstatic ucontext_t a, b; int main(int n, char **v) { return n > 1 ? " +
			"swapcontext(&a, &b) : 0; }"
		throws = "int main() { try { throw 1; } catch (int) {} }"
		cxx    = "#include <iostream>\nint main() { std::cout << 1; }"
		calls  = "int shared(void); int main(void) { return shared(); }"
		clean  = "void done(int *p) { *p = 0; } void other(void); void f(void) { __attribute__((cleanup(done))) int " +
			"x; other(); } void other(void) {} int main(void) { f(); return 0; }"
	)
	dir := t.TempDir()
	build := func(out, cc, ext, text string, flags ...string) string {
		t.Helper()
		src := filepath.Join(dir, out+ext)
		if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(cc); err != nil {
			t.Skip(err)
		}
		path := filepath.Join(dir, out)
		if msg, err := exec.Command(cc, append([]string{"-o", path, src}, flags...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		return path
	}
	build("libc1.so", "gcc", ".c", "int shared(void) { return 0; }", "-shared", "-fPIC")
	build("libx1.so", "g++", ".cpp", "extern \"C\" int shared() { try { throw 1; } catch (int) {} return 0; }",
		"-shared", "-fPIC")
	here := []string{"-L" + dir, "-Wl,-rpath," + dir}
	for _, c := range []struct{ name, path, why string }{
		{"C", build("plain", "gcc", ".c", plain), ""},
		{"C, not PIE", build("fixed", "gcc", ".c", plain, "-no-pie"), ""},
		{"C, stripped", build("stripped", "gcc", ".c", plain, "-s"), ""},
		{"C with a library of C", build("withc", "gcc", ".c", calls, append(here, "-l:libc1.so")...), ""},
		{"C with a library of C++", build("withx", "gcc", ".c", calls, append(here, "-l:libx1.so")...), "libx1.so "},
		{"C that loads", build("loads", "gcc", ".c", loads), "loads libraries"},
		{"C that jumps", build("leaves", "gcc", ".c", leaves), "jumps between frames"},
		{"C that jumps, hardened", build("hardened", "gcc", ".c", leaves, "-O2", "-U_FORTIFY_SOURCE",
			"-D_FORTIFY_SOURCE=2"), "jumps between frames"},
		{"C of several stacks", build("swaps", "gcc", ".c", swaps), "jumps between frames (swapcontext)"},
		{"C with cleanups", build("clean", "gcc", ".c", clean, "-fexceptions"), "clean "},
		{"C, static", build("static", "gcc", ".c", plain, "-static"), "static "},
		{"C, static and stripped", build("statics", "gcc", ".c", plain, "-static", "-s"), "statics "},
		{"C++", build("throws", "g++", ".cpp", throws), "throws "},
		{"C++, all inside", build("inside", "g++", ".cpp", throws, "-static-libgcc", "-static-libstdc++", "-s"),
			"inside "},
		{"C++ that throws nothing", build("cxx", "g++", ".cpp", cxx), " "},
		{"a library", filepath.Join(dir, "libc1.so"), "any program may use"},
		{"a library that is gone", build("gone", "gcc", ".c", calls, append([]string{"-L" + dir}, "-l:libc1.so")...),
			"libc1.so is not found"},
		{"no file", filepath.Join(dir, "none"), "no such file"},
	} {
		why := Unwinds(c.path, Search{})
		if why == "" != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", c.name, why, c.why)
		}
	}
}
