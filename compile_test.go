package gostap

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler"
)

func TestProbesPrograms(t *testing.T) {
	root := os.Geteuid() == 0
	for _, c := range []struct {
		runtime Runtime
		text    string
		want    bool
	}{
		{Auto, `probe process("a").function("f") {}`, root},
		{BPF, `probe process.begin {}`, root},
		{Host, `probe process("a").function("f") {}`, false},
		{Module, `probe process("a").function("f") {}`, false},
		{Auto, `probe begin { exit() }`, false},
	} {
		if got := probesPrograms(Options{Runtime: c.runtime},
			[]compiler.Script{{Text: []byte(c.text)}}); got != c.want {
			t.Errorf("--runtime=%s %s: %v", c.runtime, c.text, got)
		}
	}
}
