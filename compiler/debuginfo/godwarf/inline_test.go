package godwarf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

func TestInlined(t *testing.T) {
	callMiddle, callSmall := lineOf(t, "total := middle(n)"), lineOf(t, "total += small(")
	for _, v := range []string{"default", "pie", "cgo", "stripped"} {
		im := open(t, v)
		for pattern, want := range map[string]string{
			"main.small":  fmt.Sprintf("main.small main.go:%d in main.outer", callSmall),
			"main.middle": fmt.Sprintf("main.middle main.go:%d in main.outer", callMiddle),
			"main.onlyInlined": fmt.Sprintf("main.onlyInlined main.go:%d in main.main",
				lineOf(t, "onlyInlined(len(os.Args))")),
		} {
			sites, err := im.Inlined(pattern)
			var got []string
			for _, s := range sites {
				got = append(got, fmt.Sprintf("%s %s:%d in %s", s.Func.Name, filepath.Base(s.CallFile), s.CallLine,
					s.In.Name))
				if s.Site.Kind != debuginfo.AtInline || s.Site.Inline != s || s.Site.Func != s.In ||
					s.Site.CFA.Empty() {
					t.Errorf("%s: site %+v", pattern, s.Site)
				}
				if s.Func.Entry != 0 || filepath.Base(s.Func.File) != "main.go" || s.Func.Line == 0 {
					t.Errorf("%s: function %+v", pattern, s.Func)
				}
				if _, err := im.EntrySite(s.Func); err == nil {
					t.Errorf("%s has an entry", pattern)
				}
				if s, err := im.SiteAt(s.Site.PC); err != nil || s.Kind != debuginfo.AtLine {
					t.Errorf("%s: SiteAt: %+v %v", pattern, s, err)
				}
			}
			if g := strings.Join(got, "; "); g != want {
				t.Errorf("%s: %s: %s, want %s (%v)", v, pattern, g, want, err)
			}
		}
		all, err := im.Inlined("strings.*")
		if err != nil || len(all) < 20 {
			t.Errorf("%s: %d copies of strings.*, %v", v, len(all), err)
		}
	}
	im := open(t, "default")
	for pattern, want := range map[string]string{
		"main.traceme": "it is inlined nowhere; leave .inline out",
		"main.smal":    "",
	} {
		_, err := im.Inlined(pattern)
		var nf *debuginfo.NotFoundError
		if !errors.As(err, &nf) || nf.Detail != want {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}

// TestInlinedVars: the variables at an inlined copy are its own, with constants where the
// caller passed some.
func TestInlinedVars(t *testing.T) {
	for _, v := range []string{"default", "pie", "cgo"} {
		im := open(t, v)
		for pattern, want := range map[string]string{
			"main.small":       "s string - it is only partly available here", // its length
			"main.middle":      "v int rax",
			"main.onlyInlined": "z int - it was optimised away",
		} {
			sites, err := im.Inlined(pattern)
			if err != nil || len(sites) != 1 {
				t.Errorf("%s: %v", pattern, err)
				continue
			}
			vars, err := im.Vars(sites[0].Site)
			if err != nil {
				t.Errorf("%s: %v", pattern, err)
				continue
			}
			found := false
			for _, x := range vars {
				if strings.HasPrefix(showVar(x), want) && x.Kind == debuginfo.Param {
					found = true
				}
				if x.Name == "total" || x.Name == "n" {
					t.Errorf("%s: the caller's %s is listed", pattern, x.Name)
				}
			}
			if !found {
				t.Errorf("%s: no %s:", pattern, want)
				for _, x := range vars {
					t.Log(showVar(x))
				}
			}
			if _, err := im.Results(sites[0].Site); err == nil {
				t.Errorf("%s: results of a copy", pattern)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, v := range variants {
		if v.name == "noopt" {
			continue
		}
		im := open(t, v.name)
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main.small", Line: lineOf(t, "return a*3 + len(s)")})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range im.Lookup(sites[0].PC) {
			got = append(got, fmt.Sprintf("%s %s:%d inline=%v", f.Func, filepath.Base(f.File), f.Line, f.Inline))
		}
		want := []string{
			fmt.Sprintf("main.small main.go:%d inline=true", lineOf(t, "return a*3 + len(s)")),
			fmt.Sprintf("main.outer main.go:%d inline=false", lineOf(t, "total += small(")),
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", v.name, got, want)
		}
		if f := im.Lookup(1); f != nil {
			t.Errorf("%s: Lookup(1) = %v", v.name, f)
		}
	}
	im := open(t, "cgo")
	for _, s := range im.f.SymbolsNamed("_start") {
		if f := im.Lookup(s.Addr); len(f) != 1 || f[0].Func != "_start" {
			t.Errorf("C code: %v", f)
		}
	}
}
