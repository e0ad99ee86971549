package godwarf

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// showPlace writes a place with register names.
func showPlace(p loc.Place) string {
	prog := func(p loc.Prog) string {
		vals := make([]string, len(p.Steps))
		for i, s := range p.Steps {
			switch s.Op {
			case loc.Reg:
				vals[i] = machine.AMD64.RegName(uint64(s.N))
			case loc.Const:
				vals[i] = fmt.Sprint(s.N)
			case loc.Add:
				vals[i] = vals[s.A] + "+" + vals[s.B]
			case loc.Deref:
				vals[i] = "*(" + vals[s.A] + ")"
			case loc.Image:
				vals[i] = "image"
			default:
				vals[i] = s.Op.String()
			}
		}
		if len(vals) == 0 {
			return "?"
		}
		return vals[len(vals)-1]
	}
	if p.InMemory {
		return "[" + prog(p.Addr) + "]"
	}
	var parts []string
	at := int64(0)
	for _, q := range p.Pieces {
		s := ""
		switch {
		case q.Lost:
			s = "lost"
		case q.Vector > 0:
			s = fmt.Sprintf("xmm%d", q.Vector-1)
		default:
			s = prog(q.Val)
		}
		if q.Off != at {
			s = fmt.Sprintf("@%d:%s", q.Off, s)
		}
		if len(p.Pieces) > 1 || q.Size != p.Type.Size {
			s += fmt.Sprintf("/%d", q.Size)
		}
		at = q.Off + q.Size
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func showVar(v *debuginfo.Var) string {
	s := fmt.Sprintf("%s %s ", v.Name, v.Type.Name)
	if v.Err != nil {
		var nl *debuginfo.NotLiveError
		if errors.As(v.Err, &nl) {
			return s + "- " + nl.Reason
		}
		return s + "error: " + v.Err.Error()
	}
	return s + showPlace(v.Place)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Fatalf("%s ends at line %d", name, i+1)
		case i >= len(w) || g[i] != w[i]:
			old := ""
			if i < len(w) {
				old = w[i]
			}
			t.Fatalf("%s:%d:\n got %s\nwant %s", name, i+1, g[i], old)
		}
	}
}

// TestSignatures: arguments at the entry and results at the returns are at the same places whatever
// the optimisation, linking and format.
func TestSignatures(t *testing.T) {
	each(t, func(t *testing.T, im *Image) {
		var b strings.Builder
		fs, err := im.Funcs("main.*")
		if err != nil {
			t.Fatal(err)
		}
		vec, err := im.Funcs("*/shapes/vec.[Sp]*")
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, vec...)
		for _, f := range fs {
			switch f.Name {
			case "main.small", "main.middle", "main.onlyInlined", "main.digits", "main.clamp", "main.crosses",
				"main.spin":
				continue // not alike in every variant
			}
			if strings.HasPrefix(f.Name, "main._") || strings.HasPrefix(f.Name, "main.init") {
				continue // of cgo
			}
			fmt.Fprintf(&b, "%s %s:%d %v external=%v\n", f.Name, filepath.Base(f.File), f.Line, f.ABI, f.External)
			s, err := im.EntrySite(f)
			if err != nil {
				fmt.Fprintf(&b, "\tentry: %s\n", address.ReplaceAllString(err.Error(), "ADDR"))
			} else {
				showSite(t, &b, im, "entry", s, debuginfo.Param, debuginfo.Captured)
			}
			rs, err := im.ReturnSites(f)
			if err != nil {
				fmt.Fprintf(&b, "\treturn: %v\n", err)
				continue
			}
			if len(rs) == 0 {
				t.Errorf("%s: no returns and no error", f.Name)
			}
			for _, r := range rs {
				if r.CFA.String() != "reg 7; const 8; add .0 .1" {
					t.Errorf("%s: CFA at return is %s", f.Name, r.CFA)
				}
			}
			showSite(t, &b, im, "return", rs[len(rs)-1], debuginfo.Result)
		}
		golden(t, "signatures.txt", b.String())
	})
}

func showSite(t *testing.T, b *strings.Builder, im *Image, what string, s debuginfo.Site, kinds ...debuginfo.VarKind) {
	vars, err := im.Vars(s)
	if err != nil {
		t.Errorf("%s: %v", s.Func.Name, err)
		return
	}
	for _, v := range vars {
		for _, k := range kinds {
			if v.Kind == k && v.Name != "step" { // only its length is used, so optimised code does not list it
				fmt.Fprintf(b, "\t%s: %s\n", what, showVar(v))
			}
		}
	}
}

var address = regexp.MustCompile(`0x[0-9a-f]+`)
