package target

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/probe"
)

// TestElsewhere asks what is said of a variable that can be read in other places.
func TestElsewhere(t *testing.T) {
	r := &resolver{site: &probe.Site{Program: probe.ProgramPart{Path: "/app"}}}
	call := debuginfo.Given{Line: 7, Caller: "main.f", Callee: "main.(*T).get", Result: 1, Results: 2, Only: true}
	one := debuginfo.Given{Line: 9, Caller: "main.f", Callee: "main.get", Results: 1}
	for want, dead := range map[string]debuginfo.NotLiveError{
		"":                             {},
		"it can be read at lines 3, 5": {Lines: []int{3, 5}},
		`it has its value from the call in line 7: process("/app").function("main.f").callee("main.(*T).get").return ` +
			"{ $return[1] }": {Given: &call},
		`it can be read at line 3; it may have its value from the call in line 9: ` +
			`process("/app").function("main.f").callee("main.get").return { $return }`: {Lines: []int{3}, Given: &one},
	} {
		if got := r.elsewhere(&dead); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
