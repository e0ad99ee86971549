package command

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		spec api.Spec
		args []string
		want string // of the error
	}{
		{spec: api.Spec{Tool: "syscount", Options: map[string]string{"call": "-o/etc/x", "top": "3"}},
			args: []string{"syscount", "--call=-o/etc/x", "--top=3", "--"}},
		{spec: api.Spec{Tool: "funccount", Args: []string{"--output=x"}},
			args: []string{"funccount", "--", "--output=x"}},
		{spec: api.Spec{Script: "-c id", Args: []string{"-x", "--output=y"}, Guru: true},
			args: []string{"--guru", "--execute=-c id", "--", "-x", "--output=y"}},
		{spec: api.Spec{Tool: "go-gc", Program: "x", Separate: true}, want: "spec.program"},
		{spec: api.Spec{Tool: "syscount", Page: true}, args: []string{"syscount", "--"}},
		{spec: api.Spec{Tool: "syscount", Page: true, Separate: true}, want: "spec.page shows one session"},
		{spec: api.Spec{Tool: "syscount", Page: true, InOrder: true}, want: "spec.page does not go with spec.inOrder"},
		{spec: api.Spec{Tool: "syscount", Page: true, Export: []string{"x"}}, want: "does not go with spec.export"},
		{spec: api.Spec{}, want: "either a tool or a script"},
		{spec: api.Spec{Tool: "syscount", Script: "probe begin {}"}, want: "either a tool or a script"},
		{spec: api.Spec{Tool: "syscuont"}, want: "did you mean syscount"},
		{spec: api.Spec{Tool: "./syscount"}, want: `no tool "./syscount"`},
		{spec: api.Spec{Tool: "syscount", Options: map[string]string{"tpo": "3"}}, want: "did you mean top"},
		{spec: api.Spec{Tool: "syscount", Options: map[string]string{"command": "id"}}, want: `no option "command"`},
		{spec: api.Spec{Script: "probe end {}", Options: map[string]string{"top": "3"}}, want: "those of a tool"},
	} {
		args, err := Args(&c.spec)
		var r *asked.Refusal
		if !slices.Equal(args, c.args) || (err != nil) != (c.want != "") ||
			err != nil && (!errors.As(err, &r) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %q %v", c.spec, args, err)
		}
	}
}

func TestCheck(t *testing.T) {
	gostap := filepath.Join(t.TempDir(), "gostap")
	if out, err := exec.Command("go", "build", "-o", gostap, "../../../gostap").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const undivided = "global n probe syscall.read { n++ } probe end { println(cpu(), n) }"
	c := NewChecker(gostap, time.Minute)
	c.Exports = asked.Exports{"otel": "otlp://h:1", "store": "remote-write+http://h:1"}
	for _, k := range []struct {
		name          string
		spec          api.Spec
		refused, warn string
	}{
		{name: "right", spec: api.Spec{Script: "global n probe syscall.read { n++ } probe end { println(n) }"}},
		{name: "nothing on a node", spec: api.Spec{Script: "global n probe timer.ms(5) { n++ }"},
			refused: "no probe is hit on a machine"},
		{name: "nothing on a node, separate", spec: api.Spec{Script: "probe end { println(1) }", Separate: true}},
		{name: "not divided", spec: api.Spec{Script: undivided},
			refused: "error: cpu() asks the machine where it runs"},
		{name: "not divided, separate", spec: api.Spec{Separate: true, Script: undivided}},
		{name: "tool", spec: api.Spec{Tool: "pidpersec"}},
		{name: "delivered", spec: api.Spec{Tool: "pidpersec", Export: []string{"store", "otel", "otel"}}},
		{name: "delivered nowhere", spec: api.Spec{Tool: "pidpersec", Export: []string{"otle"}},
			refused: "no destination \"otle\"\n  hint: did you mean otel?"},
		{name: "delivered far away", spec: api.Spec{Tool: "pidpersec", Export: []string{"elsewhere"}},
			refused: "hint: there are otel, store"},
		{name: "text", spec: api.Spec{Script: "probe begin { foo( }"},
			refused: "<input>:1:20: error: expected an expression, ) or *, found '}'\n  probe begin { foo( }\n" +
				"                     ^\n"},
		{name: "name", spec: api.Spec{Script: `probe begin { prinln("x") }`}, refused: "did you mean println"},
		{name: "value", spec: api.Spec{Tool: "syscount", Options: map[string]string{"top": "many"}}, refused: "many"},
		{name: "no option", spec: api.Spec{Tool: "syscount", Args: []string{"--top=3"}},
			refused: "one argument too many"},
		{name: "argument", spec: api.Spec{Tool: "syscount", Args: []string{"x"}}, refused: "one argument too many"},
		{name: "guru", spec: api.Spec{Script: `probe process("/bin/true").function("main") { $argc = 1 }`},
			refused: "error: "},
		{name: "system", spec: api.Spec{Script: `function f() { system("id") } probe end { f() }`},
			refused: "uses system(), which runs commands beside the controller"},
		{name: "env", spec: api.Spec{Script: `probe end { println(env_var("KUBECONFIG")) }`},
			refused: "uses env_var()"},
		{name: "not here, translated here", spec: api.Spec{Script: `probe process("/no/such").function("f") { }`},
			refused: "there is no file /no/such"},
		{name: "not here, translated there", spec: api.Spec{Separate: true,
			Script: `probe process("/no/such").function("f") { }`}, warn: "there is no file /no/such"},
		{name: "the pods' program", spec: api.Spec{Tool: "go-errors"}, warn: "is looked for in the pods"},
		{name: "the pods' program, and system", spec: api.Spec{Script: `@define s %( system %)
			probe process.function("main") { @s /* it */ ("id") }`}, refused: "uses system()"},
		{name: "the pods' program, and a word", warn: "is looked for in the pods",
			spec: api.Spec{Script: `probe process.function("main") { println("\"system(") }`}},
		{name: "the pods' program, and an error", spec: api.Spec{
			Script: `probe process.function("main") { } probe process("/no/such").function("f") { }`},
			refused: "there is no file /no/such"},
		{name: "wrong anywhere", spec: api.Spec{Separate: true, Script: `probe process("/no/such").function("f") { `},
			refused: "error: expected"},
	} {
		warn, err := c.Check(t.Context(), &k.spec)
		var r *asked.Refusal
		switch {
		case k.refused == "" && err != nil, k.refused != "" && !errors.As(err, &r),
			r != nil && !strings.Contains(r.Text, k.refused):
			t.Errorf("%s: %v", k.name, err)
		case (warn != "") != (k.warn != "") || !strings.Contains(warn, k.warn):
			t.Errorf("%s: warning %q", k.name, warn)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var r *asked.Refusal
	if _, err := c.Check(done, &api.Spec{Tool: "pidpersec"}); err == nil || errors.As(err, &r) {
		t.Errorf("a check that did not run: %v", err)
	}
	c = NewChecker("/nonexistent/gostap", time.Minute)
	if _, err := c.Check(t.Context(), &api.Spec{Tool: "pidpersec"}); err == nil || errors.As(err, &r) {
		t.Errorf("a gostap that is not there: %v", err)
	}
}
