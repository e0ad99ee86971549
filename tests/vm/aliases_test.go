package vm

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

var assigned = regexp.MustCompile(`(?m)^\t([a-zA-Z]\w*) = `)

// TestAliasVariables: every variable that an alias of the library sets can be read on other kernels, too: the oldest
// that is supported, one between, a new one. Aliases that the kernel has no place for, or whose module is not in it,
// are left out. Nothing is booted but for the kernel's types.
func TestAliasVariables(t *testing.T) {
	kernels := slices.Sorted(maps.Values(remoteKernels))
	on(t, kernels, func(t *testing.T, k *Kernel, _ *bench) {
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gostap := filepath.Join(t.TempDir(), "gostap")
		if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		probes, vars := 0, 0
		for _, f := range tapsets.Files {
			text, err := tapsets.FS.ReadFile(f.Name)
			if err != nil {
				t.Fatal(err)
			}
			if f.Name == "prometheus.stp" || f.Name == "json.stp" {
				continue // files in /proc, which their handlers write
			}
			for _, e := range f.Entries {
				if e.Kind != grammar.AliasEntry || strings.HasPrefix(e.Names[0], "__") {
					continue
				}
				var names []string
				seen := map[string]bool{}
				for _, m := range assigned.FindAllStringSubmatch(string(text[e.Off:e.End]), -1) {
					if !seen[m[1]] {
						seen[m[1]] = true
						names = append(names, m[1])
					}
				}
				if len(names) > 0 {
					fmt.Fprintf(&script, "probe %s ? { println(%s) }\n", e.Names[0], strings.Join(names, ", "))
					probes, vars = probes+1, vars+len(names)
				}
			}
		}
		script.WriteString("probe begin { }\n")
		out, err := exec.Command(gostap, "-w", "-p2", "-r", k.Release, "--kernel-btf", facts.BTF, "--kernel-map",
			facts.Kallsyms, "-e", script.String()).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%.5000s", err, out)
		}
		t.Logf("%d variables of %d aliases", vars, probes)
	})
}
