package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var handlerTime = regexp.MustCompile(`runs: [0-9]+, average: ([0-9.]+)(ns|µs)`)

var told = regexp.MustCompile(`(?m)^(\w+) ([0-9.]+)\s*$`)

// valuesRun has gostap run the program with a handler, or none, and gives what the program told, with what a run of
// the handler took in the kernel as "handler".
func valuesRun(b *testing.B, prog, fn, handler string, args ...string) map[string]float64 {
	b.Helper()
	cmd := exec.Command(prog, args...)
	if handler != "" {
		cmd = exec.Command(gostap, "-t", "--no-global-var-display", "-D", "STP_NO_OVERLOAD", "-D", "MAXERRORS=1000000",
			"-e", fmt.Sprintf("global n probe process(%q).function(\"main.%s\") { %s }\nprobe end { println(n) }",
				prog, fn, handler),
			"-c", prog+" "+strings.Join(args, " "))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	all := map[string]float64{}
	for _, m := range told.FindAllSubmatch(out, -1) {
		all[string(m[1])], _ = strconv.ParseFloat(string(m[2]), 64)
	}
	if m := handlerTime.FindSubmatch(out); m != nil {
		all["handler"], _ = strconv.ParseFloat(string(m[1]), 64)
		if string(m[2]) == "µs" {
			all["handler"] *= 1000
		}
	} else if handler != "" {
		b.Fatalf("no times\n%s", out)
	}
	return all
}

func buildValues(b *testing.B) string {
	b.Helper()
	build(b)
	prog := filepath.Join(b.TempDir(), "values")
	if out, err := exec.Command("go", "build", "-o", prog, "./testdata/values").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return prog
}

// BenchmarkAssertion: a condition on a member of the structure that an error holds, against a plain one: what the
// handler takes in the kernel, and what a call takes of the program's processor.
func BenchmarkAssertion(b *testing.B) {
	prog := buildValues(b)
	plain, deep := `if ($i == -1) n++`, `if ($err.(*main.NotFound)->Key == "zz") n++`
	took := map[string][]float64{}
	for range max(b.N, 5) {
		base := valuesRun(b, prog, "", "", "err", "300000")
		for name, handler := range map[string]string{"plain": plain, "assertion": deep} {
			m := valuesRun(b, prog, "find", handler, "err", "300000")
			took[name] = append(took[name], m["cpu_ns_per_call"]-base["cpu_ns_per_call"])
			took[name+" handler"] = append(took[name+" handler"], m["handler"])
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took["plain"]), "ns-plain")
	b.ReportMetric(median(took["assertion"]), "ns-assertion")
	b.ReportMetric(median(took["plain handler"]), "ns-plain-handler")
	b.ReportMetric(median(took["assertion handler"]), "ns-assertion-handler")
	b.ReportMetric(ratio(median(took["assertion"]), median(took["plain"])), "ratio")
}

// BenchmarkLookup: a key looked up in a map of the program, against what the program itself takes for that three times
// and a hit with a plain condition.
func BenchmarkLookup(b *testing.B) {
	prog := buildValues(b)
	for _, elems := range []int{10, 1000, 100_000, 1_000_000} {
		for _, kind := range []string{"text", "number"} {
			b.Run(fmt.Sprintf("%s/%d", kind, elems), func(b *testing.B) {
				took := map[string][]float64{}
				for range max(b.N, 3) {
					args := []string{"map", strconv.Itoa(elems), "200000"}
					base := valuesRun(b, prog, "", "", args...)
					plain := valuesRun(b, prog, kind, `if ($i == -1) n++`, args...)
					look := valuesRun(b, prog, kind, `if ($m[$k] == -1) n++`, args...)
					took["own"] = append(took["own"], base["own_"+kind]-base["bare"])
					took["trap"] = append(took["trap"], plain["call_"+kind]-base["call_"+kind])
					took["hit"] = append(took["hit"], look["call_"+kind]-base["call_"+kind])
					took["handler"] = append(took["handler"], look["handler"])
					took["plain"] = append(took["plain"], plain["handler"])
				}
				own, trap, hit := median(took["own"]), median(took["trap"]), median(took["hit"])
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(own, "ns-own")
				b.ReportMetric(trap, "ns-trap")
				b.ReportMetric(hit, "ns-hit")
				b.ReportMetric(median(took["handler"])-median(took["plain"]), "ns-lookup-handler")
				b.ReportMetric(ratio(hit, 3*own+trap), "ratio")
			})
		}
	}
}
