package compiler

import (
	"context"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/layout"
)

func TestList(t *testing.T) {
	o := Options{Limits: layout.Default(), Open: fakeOpen}
	tests := []struct {
		name, point string
		lo          ListOptions
		want        string
	}{
		{"names", `process("/bin/trace").function("*")`, ListOptions{}, `
process("/bin/trace").function("larger@/src/trace.c:8")
process("/bin/trace").function("traceme@/src/trace.c:1")
process("/bin/trace").function("visit@/src/trace.c:30")`},
		{"C", `process("/bin/trace").function("*")`, ListOptions{Vars: true}, `
process("/bin/trace").function("larger@/src/trace.c:8") $n:int
process("/bin/trace").function("traceme@/src/trace.c:1") $a:int $b:int
process("/bin/trace").function("visit@/src/trace.c:30") $n:*struct node $s:*char`},
		{"C returns", `process("/bin/trace").function("t*").return`, ListOptions{Vars: true}, `
process("/bin/trace").function("traceme@/src/trace.c:1").return $return:int $a:int $b:int`},
		{"Go", `process("/bin/app").function("main.*").call`, ListOptions{Vars: true}, `
process("/bin/app").function("main.(*Server).Handle@/src/main.go:20").call $s:*main.Server $path:string $args:[]string $ratio:float64 -> $n:int $err:error
process("/bin/app").function("main.jump@/src/main.go:40").call $x:int -> $return:int
process("/bin/app").function("main.never@/src/main.go:50").call
process("/bin/app").function("main.traceme@/src/main.go:5").call $a:int $b:int -> $ret:int`},
		{"Go returns", `process("/bin/app").function("main.{traceme,(*Server).Handle}").return`,
			ListOptions{Vars: true}, ``},
		{"inlined once", `process("/bin/app").function("main.small")`, ListOptions{Vars: true}, `
process("/bin/app").function("main.small@/src/main.go:60") $a:int $b:int`},
		{"statement", `process("/bin/app").statement("*@main.go:6")`, ListOptions{Vars: true}, `
process("/bin/app").statement("main.traceme@/src/main.go:6") $a:int $b:int $tmp:int`},
		{"details", `process("/bin/app").function("main.traceme").call`, ListOptions{Vars: true, Details: true}, `
process("/bin/app").function("main.traceme@/src/main.go:5").call $a:int $b:int -> $ret:int  # ABIInternal, pc 0x401006 (push), goid() goroutine_parent() gostart_pc() gocreate_pc() goroutine_status()`},
		{"stripped", `process("/bin/stripped").function("main.t*").call`, ListOptions{Vars: true}, `
process("/bin/stripped").function("main.traceme@/src/main.go:5").call`},
		{"two points", `begin, timer.ms(5)`, ListOptions{Vars: true}, `
begin
timer.ms(5)`},
		{"nothing", `process("/bin/app").function("nothere")`, ListOptions{}, ``},
		{"syntax", `process(`, ListOptions{}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, r, ds := List(context.Background(), tt.point, o, tt.lo)
			defer r.Close()
			if tt.want == "" {
				if !ds.HasErrors() || len(lines) > 0 {
					t.Errorf("no error, but %q", lines)
				}
				return
			}
			if got := "\n" + strings.Join(lines, "\n"); got != tt.want || ds.HasErrors() {
				t.Errorf("got%s\n%s", got, messages(r, ds))
			}
		})
	}
}
