package cli

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler"
)

func TestProbesPrograms(t *testing.T) {
	root := os.Geteuid() == 0
	for _, c := range []struct {
		pass          int
		runtime, text string
		want          bool
	}{
		{5, "", `probe process("a").function("f") {}`, root},
		{5, "bpf", `probe process.begin {}`, root},
		{5, "host", `probe process("a").function("f") {}`, false},
		{5, "kernel", `probe process("a").function("f") {}`, false},
		{4, "", `probe process("a").function("f") {}`, false},
		{5, "", `probe begin { exit() }`, false},
	} {
		cmd := &command{options: &options{pass: c.pass, runtime: c.runtime}}
		if got := cmd.probesPrograms(compiler.Options{Scripts: []compiler.Script{{Text: []byte(c.text)}}}); got != c.want {
			t.Errorf("-p%d --runtime=%s %s: %v", c.pass, c.runtime, c.text, got)
		}
	}
}
