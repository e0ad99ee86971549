package oracle

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unwindScript counts entries and returns of all functions of the program.
const unwindScript = `global e, r
probe process("./prog").function("*").call { e[ppfunc()]++ }
probe process("./prog").function("*").return { r[ppfunc()]++ }
probe end {
	foreach (f in e) printf("ENTRIES %s %d\n", f, e[f])
	foreach (f in r) printf("RETURNS %s %d\n", f, r[f])
}`

// build is a way to build a random program that unwinds its stack.
type unwindBuild struct {
	name string
	make func(t *testing.T, dir string, u *unwinding)
}

func buildCXX(cxx, cc, level string, flags ...string) unwindBuild {
	return unwindBuild{cxx + " " + level + strings.Join(append([]string{""}, flags...), " "),
		func(t *testing.T, dir string, u *unwinding) {
			write(t, dir, "prog.cpp", u.cxx())
			write(t, dir, "part.c", unwindC)
			opts := append([]string{"-g", level, "-w"}, flags...)
			must(t, dir, nil, cc, append(opts, "-fexceptions", "-c", "part.c")...)
			must(t, dir, nil, cxx, append(opts, "-pthread", "-o", "prog", "prog.cpp", "part.o")...)
		}}
}

func buildRust(flags ...string) unwindBuild {
	return unwindBuild{"rustc " + strings.Join(flags, " "), func(t *testing.T, dir string, u *unwinding) {
		write(t, dir, "prog.rs", u.rust())
		must(t, dir, nil, "rustc", append(flags, "-g", "-o", "prog", "prog.rs")...)
	}}
}

// unwindBuilds are the ways that this machine has, those of the small form first.
func unwindBuilds(t *testing.T) (builds []unwindBuild) {
	have := func(tool string) bool {
		_, err := exec.LookPath(tool)
		if err != nil {
			t.Logf("skipped: %s is not installed", tool)
		}
		return err == nil
	}
	gcc, clang, rust := have("g++"), have("clang++"), have("rustc")
	if gcc {
		builds = append(builds, buildCXX("g++", "gcc", "-O2"))
	}
	if rust {
		builds = append(builds, buildRust("-O"))
	}
	if clang {
		builds = append(builds, buildCXX("clang++", "clang", "-O1"))
	}
	if !Full() {
		return builds
	}
	for _, level := range []string{"-O0", "-O1", "-O3", "-Os", "-Og"} {
		if gcc {
			builds = append(builds, buildCXX("g++", "gcc", level))
		}
		if clang && level != "-Og" && level != "-O1" {
			builds = append(builds, buildCXX("clang++", "clang", level))
		}
	}
	if gcc {
		builds = append(builds, buildCXX("g++", "gcc", "-O2", "-fcf-protection=full"),
			buildCXX("g++", "gcc", "-O2", "-fno-pie", "-no-pie"),
			buildCXX("g++", "gcc", "-O2", "-mfunction-return=thunk", "-mindirect-branch=thunk"),
			buildCXX("g++", "gcc", "-O2", "-fomit-frame-pointer", "-fno-plt"))
	}
	if clang {
		builds = append(builds, buildCXX("clang++", "clang", "-O2"),
			buildCXX("clang++", "clang", "-O2", "-fomit-frame-pointer"))
	}
	if rust {
		builds = append(builds, buildRust(), buildRust("-Copt-level=s"), buildRust("-Copt-level=1"))
	}
	return builds
}

// TestUnwinding: programs whose stacks are unwound through all of their functions live on under return probes on
// all of them, and print what they print otherwise; entries and returns are as many as the programs count
// themselves.
func TestUnwinding(t *testing.T) {
	needRoot(t)
	builds := unwindBuilds(t)
	if len(builds) == 0 {
		t.Skip("no compiler of C++ or Rust is installed")
	}
	var f Figures
	seeds := Seeds(len(builds), 200)
	deaths, unwound := 0, 0
	for k, seed := range seeds {
		b := builds[k%len(builds)]
		u := newUnwinding(seed, 30)
		dir := t.TempDir()
		b.make(t, dir, u)
		plain := exec.Command(filepath.Join(dir, "prog"))
		want, err := plain.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || !strings.Contains(string(want), "COUNT") {
			t.Fatalf("%s, seed %d: the program itself: %v\n%s", b.name, seed, err, want)
		}
		status := plain.ProcessState.ExitCode()
		out, errs, _ := trace(t, dir, nil, "-e", unwindScript, "-c", "./prog")
		if !strings.Contains(out, string(want)) || strings.Contains(errs, "signal") {
			deaths++
			f.Wrong("%s, seed %d: the traced program prints something else\n%s%s", b.name, seed, out, errs)
			continue
		}
		if status != 0 && !strings.Contains(errs, fmt.Sprintf("status %d", status)) {
			f.Wrong("%s, seed %d: status %d becomes %s", b.name, seed, status, errs)
		}
		if k := strings.Index(errs, "left out"); k >= 0 {
			f.Note("functions that do not decode, see the warning", 1)
			t.Logf("%s, seed %d: %s", b.name, seed, errs)
		}
		entries, returns := byFunction(out, "ENTRIES "), byFunction(out, "RETURNS ")
		for line := range strings.Lines(string(want)) {
			var name string
			var e, r, tail int
			if n, _ := fmt.Sscanf(line, "COUNT %s %d %d %d", &name, &e, &r, &tail); n != 4 {
				continue
			}
			unwound += e - r
			_, decodes := returns[name]
			switch {
			case entries[name] != e:
				f.Wrong("%s, seed %d: %s was entered %d times, not %d", b.name, seed, name, e, entries[name])
			case r > 0 && !decodes:
				f.Refused("does not decode")
			case tail == 0 && returns[name] != r, tail == 1 && (returns[name] < r || returns[name] > e):
				f.Wrong("%s, seed %d: %s returned %d times, not %d (of %d calls)", b.name, seed, name, r, returns[name],
					e)
			default:
				f.Equal(1)
			}
		}
	}
	t.Logf("%d runs, %d deaths, %d calls left by unwinding", len(seeds), deaths, unwound)
	f.Report(t, 10*len(seeds))
	if unwound == 0 {
		t.Error("nothing was unwound")
	}
}

// byFunction reads lines "PREFIX name count" and adds up by the last part of the name.
func byFunction(out, prefix string) map[string]int {
	m := map[string]int{}
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(line, prefix)
		at := strings.LastIndexByte(rest, ' ')
		if !ok || at < 0 {
			continue
		}
		name, n := rest[:at], 0
		fmt.Sscan(rest[at:], &n)
		if k := strings.LastIndex(name, "::"); k >= 0 { // "f16(int)::{lambda(int)#1}::operator()" is none of f16's
			name = name[k+2:]
		}
		if k := strings.IndexByte(name, '('); k > 0 {
			name = name[:k]
		}
		m[name] += n
	}
	return m
}
