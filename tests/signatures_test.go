package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// asked is what an environment variable says, or usual.
func asked(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// TestSignatures: functions with random parameters and results, written and called by a random program. What gostap
// shows of them at entries and returns, and, without optimisation, of local variables at a line in between, is what
// their callers write down. GOSTAP_SEEDS says how many programs (1), GOSTAP_SEED with which one to begin,
// GOSTAP_ROUNDS how often each calls its functions (1), GOSTAP_BUILDS how else to build them
// ("-race;-buildmode=pie,-ldflags=-w"), GOSTAP_TOOLCHAIN with which releases of Go ("go1.22.12,go1.26.8"), GOSTAP_TABLE
// into which page to write the figures.
func TestSignatures(t *testing.T) {
	needRoot(t)
	builds := [][]string{nil, {"-gcflags=-N -l"}, {"-buildmode=pie"}}
	if other := os.Getenv("GOSTAP_BUILDS"); other != "" {
		builds = nil
		for _, flags := range strings.Split(other, ";") {
			none := func(s string) bool { return s == "" }
			builds = append(builds, slices.DeleteFunc(strings.Split(flags, ","), none))
		}
	}
	dir, table := t.TempDir(), truthTable{}
	for _, name := range []string{"make.go", "show.go"} {
		text, err := os.ReadFile(filepath.Join("fixtures/truth", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, release := range strings.Split(os.Getenv("GOSTAP_TOOLCHAIN"), ",") {
		first := asked("GOSTAP_SEED", 1)
		for seed := first; seed < first+asked("GOSTAP_SEEDS", 1); seed++ {
			source, script, shared := program(uint64(seed), asked("GOSTAP_ROUNDS", 1))
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, flags := range builds {
				t.Run(fmt.Sprint(release, seed, flags), func(t *testing.T) {
					goRelease := buildTruth(t, dir, release, flags)
					build := strings.Join(flags, " ")
					if build == "" {
						build = "plain"
					}
					truth := truthRun{dir: dir, script: script, shared: shared, kinds: table.of(goRelease, build),
						whole: slices.Contains(flags, "-gcflags=-N -l")}
					truth.compare(t)
				})
			}
		}
	}
	t.Logf("values by their kinds:\n%s", &table)
	table.write(t)
}

// buildTruth builds the program in dir with a release of Go, "" for the usual one, and gives the release's name.
func buildTruth(t *testing.T, dir, release string, flags []string) string {
	t.Helper()
	args := append(append([]string{"build", "-o", "prog"}, flags...), "main.go", "make.go", "show.go")
	env := os.Environ()
	if release != "" {
		env = append(env, "GOTOOLCHAIN="+release)
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run(args...)
	name := strings.TrimPrefix(run("env", "GOVERSION"), "go")
	if parts := strings.Split(name, "."); len(parts) > 2 {
		name = parts[0] + "." + parts[1]
	}
	return name
}

// truthRun is one program, traced.
type truthRun struct {
	dir, script string
	shared      map[string]map[int]bool
	kinds       kindTable
	whole       bool // without optimisation
}

// compare traces the program and holds each value against what the program wrote down.
func (r *truthRun) compare(t *testing.T) {
	prog, out := filepath.Join(r.dir, "prog"), filepath.Join(r.dir, "out")
	s := begin(t, "-e", r.script, prog, "-c", prog+" > "+out)
	status := s.end()
	if status != 0 || s.stderr() != "" {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	want, err := os.ReadFile(out)
	if err != nil || len(want) < 1000 {
		t.Fatalf("the program wrote %d bytes, %v", len(want), err)
	}
	a, b := strings.Split(s.stdout(), "\n"), strings.Split(string(want), "\n")
	if !r.whole {
		// Optimised code may come by a line on several ways, of which a site is one, and before what stands above it.
		isLine := func(l string) bool { return strings.HasPrefix(l, "L ") }
		a, b = slices.DeleteFunc(a, isLine), slices.DeleteFunc(b, isLine)
	}
	if len(a) != len(b) {
		t.Errorf("%d lines of %d", len(a), len(b))
	}
	fractions, gone, shown := r.kinds.of("float").by[equal], 0, 0
	for i := range min(len(a), len(b)) {
		got, want := strings.Split(a[i], "\t"), strings.Split(b[i], "\t")
		if got[0] != want[0] || len(got) != len(want) {
			t.Fatalf("line %d\n got %s\nwant %s", i, a[i], b[i])
		}
		for k := 1; k < len(got); k++ {
			var n told
			if err := json.Unmarshal([]byte(want[k]), &n); err != nil {
				t.Fatalf("line %d: %v: %s", i, err, want[k])
			}
			if got[k] == "gone" {
				r.kinds.of(n.label()).gone++
				if fraction := n.K == "float" || n.K == "complex"; !fraction {
					if gone++; r.whole {
						t.Logf("line %d, %s, value %d, %s, is not there", i, got[0], k, n.label())
					}
				}
				continue
			}
			if r.shared[want[0]][k] {
				n.C = nil // an address is all there is
			}
			c := compareValue(got[k], &n)
			for name, counts := range c.counts {
				for o, n := range counts {
					r.kinds.of(name).by[o] += n
				}
			}
			for name, counts := range c.counts {
				if counts[unknown] > 0 && name != "float" && name != "complex" {
					t.Logf("line %d, %s, value %d: a %s is not known:\n got %s\nwant %s", i, got[0], k, name, got[k],
						want[k])
				}
			}
			if c.bad == "" {
				continue
			}
			r.kinds.of(n.label()).by[wrong]++
			if shown++; shown < 10 {
				t.Errorf("line %d, %s, value %d: %s\n got %s\nwant %s", i, got[0], k, c.bad, got[k], want[k])
			}
		}
	}
	if r.kinds.of("float").by[equal] == fractions {
		t.Error("no fraction was shown")
	}
	if gone > 0 && r.whole {
		t.Errorf("%d variables are not there without optimisation", gone)
	}
}
