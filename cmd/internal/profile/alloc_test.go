package profile

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
)

// TestAlloc: bytes and objects of each size are what the program asks for, whichever functions it has for them.
func TestAlloc(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, experiment := range []string{"", "sizespecializedmalloc", "nosizespecializedmalloc"} {
		t.Run(experiment, func(t *testing.T) {
			t.Setenv("GOEXPERIMENT", experiment)
			// Arrays of bytes and of pointers: small ones that are put together, with and without pointers, on both
			// sides of each border between the allocator's ways.
			want := map[string][2]int64{}
			types := map[string]string{}
			var text strings.Builder
			fmt.Fprint(&text, "package main\n")
			var calls []string
			for i, size := range []int64{1, 8, 15, 16, 24, 100, 504, 512, 520, 1024, 5000, 32760, 32768, 40000} {
				for _, typ := range []string{fmt.Sprintf("[%d]byte", size), fmt.Sprintf("[%d]*int", size/8)} {
					if size%8 != 0 && strings.HasSuffix(typ, "int") {
						continue
					}
					name, n := fmt.Sprintf("makes%d", len(calls)), int64(10+i)
					fmt.Fprintf(&text, `
var to%[1]s *%[2]s

//go:noinline
func %[1]s() {
	for range %[3]d {
		to%[1]s = new(%[2]s)
	}
}
`, name, typ, n)
					calls = append(calls, name+"()")
					types["main."+name] = strings.Replace(typ, "byte", "uint8", 1)
					want["main."+name] = [2]int64{n * size, n}
				}
			}
			fmt.Fprintf(&text, "\nfunc main() {\n\t%s\n}\n", strings.Join(calls, "\n\t"))
			p := recorded(t, t.Context(), &options{command: builtFor(t, text.String(), ""), what: "alloc"})
			got := map[string][2]int64{}
			for i := range p.Samples {
				s := &p.Samples[i]
				for k, f := range s.Stack { // what the allocator needs for itself is another's
					if !strings.HasPrefix(f.Func, "main.makes") || s.Stack[k-1].Func != "runtime.newobject" &&
						!strings.HasPrefix(s.Stack[k-1].Func, "runtime.mallocgc") || k > 3 {
						continue
					}
					if typ := s.Label("type"); typ != types[f.Func] {
						t.Errorf("%s allocates %s, want %s", f.Func, typ, types[f.Func])
					}
					was := got[f.Func]
					got[f.Func] = [2]int64{was[0] + s.Values[0], was[1] + s.Values[1]}
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
