package main

import (
	"os"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/syscalls"
)

// TestGenerated: the file is what the generator writes, byte by byte; nobody has changed it by hand.
func TestGenerated(t *testing.T) {
	for arch, table := range map[string]syscalls.Table{"amd64": syscalls.AMD64} {
		var calls []call
		for _, c := range table {
			var args []string
			for _, a := range c.Args() {
				args = append(args, a.Type+" "+a.Name)
			}
			calls = append(calls, call{nr: c.Nr, name: c.Name, traced: c.Traced, args: strings.Join(args, ", ")})
		}
		want, err := write(arch, calls)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../" + arch + ".go")
		if err != nil || string(got) != string(want) {
			t.Errorf("%s.go is not what the generator writes: go generate it (%v)", arch, err)
		}
	}
}
