package sel_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

var (
	cost      = flag.String("cost", "", "IR file or script of which to show what the verifier walks most")
	costSteps = flag.Bool("cost.steps", false, "without may_goto")
	costInsns = flag.Bool("cost.insns", false, "instruction by instruction")
)

// TestCost is a tool: go test -run Cost -v -cost FILE shows how often the verifier walks each IR instruction.
func TestCost(t *testing.T) {
	if *cost == "" {
		t.Skip("no -cost file")
	}
	text, err := os.ReadFile(*cost)
	if err != nil {
		t.Fatal(err)
	}
	var p *ir.Program
	if strings.HasSuffix(*cost, ".stp") {
		p = compiled(t, string(text)).Program
	} else if p, err = ir.ParseText(string(text)); err != nil {
		t.Fatal(err)
	}
	n := 0
	names := map[source.Pos]string{}
	mark := func(fn *ir.Func) {
		for bi, b := range fn.Blocks {
			for i := range b.Instrs {
				n++
				b.Instrs[i].Pos = source.Pos(n)
				names[source.Pos(n)] = fmt.Sprintf("%s b%d.%d %s %s", fn.Name, bi, i, b.Instrs[i].Op, b.Instrs[i].Name)
			}
			n++
			b.Term.Pos = source.Pos(n)
			names[source.Pos(n)] = fmt.Sprintf("%s b%d term", fn.Name, bi)
		}
	}
	for _, fn := range p.Funcs {
		mark(fn)
	}
	for _, pr := range p.Probes {
		mark(pr.Handler)
	}
	logLevel = ebpf.LogLevelInstruction | ebpf.LogLevelStats
	m := newMachine(t, p, sel.Features{MayGoto: !*costSteps})
	re := regexp.MustCompile(`(?m)^(\d+): \(`)
	for name, pr := range m.coll.Programs {
		count := map[int]int{}
		for _, x := range re.FindAllStringSubmatch(pr.VerifierLog, -1) {
			i, _ := strconv.Atoi(x[1])
			count[i]++
		}
		by := map[string]int{}
		var last string
		spec := m.specs[name]
		it := spec.Instructions.Iterate()
		for it.Next() {
			if s := it.Ins.Source(); s != nil {
				last = names[posOf(s)]
			}
			by[last] += count[int(it.Offset)]
		}
		var keys []string
		for k := range by {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool { return by[keys[i]] > by[keys[j]] })
		for _, k := range keys[:min(len(keys), 25)] {
			t.Logf("%s %8d %s", name, by[k], k)
		}
		if *costInsns {
			for _, l := range strings.Split(fmt.Sprintf("%v", spec.Instructions), "\n") {
				f := strings.Fields(l)
				if len(f) > 0 {
					if i, err := strconv.Atoi(strings.TrimSuffix(f[0], ":")); err == nil {
						t.Logf("%7d %s", count[i], l)
						continue
					}
				}
				t.Log(l)
			}
		}
	}
}
