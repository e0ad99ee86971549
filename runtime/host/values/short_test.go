package values

import "testing"

// TestShort: names are those that %T of package fmt prints for the same types.
func TestShort(t *testing.T) {
	for full, want := range map[string]string{
		"int":                                  "int",
		"main.T":                               "main.T",
		"*net/http.Request":                    "*http.Request",
		"**a/b/c.T":                            "**c.T",
		"[3]a/b.T":                             "[3]b.T",
		"map[a/b.K][]*c/d.V":                   "map[b.K][]*d.V",
		"map[string]map[a/b.K]struct {}":       "map[string]map[b.K]struct {}",
		"<-chan a/b.T":                         "<-chan b.T",
		"chan<- a/b.T":                         "chan<- b.T",
		"func(a/b.T, ...c/d.U) (e/f.V, error)": "func(b.T, ...d.U) (f.V, error)",
		"struct { X a/b.T; Y []c/d.U }":        "struct { X b.T; Y []d.U }",
		"main.box[a/b.T]":                      "main.box[a/b.T]",
		"*a/b.box[c/d.T,map[e/f.K]g/h.V]":      "*b.box[c/d.T,map[e/f.K]g/h.V]",
		"map[a/b.box[c/d.T]]e/f.box[g/h.T]":    "map[b.box[c/d.T]]f.box[g/h.T]",
		"[]main.pair[a/b.T]":                   "[]main.pair[a/b.T]",
		"*gopkg.in/yaml%2ev3.Node":             "*yaml.Node",
		"example.org/log/v2.Logger":            "log.Logger",
		"[]example.org/log/v2.Logger":          "[]log.Logger",
		"example.org/my%2dmod.x/pkg.T":         "pkg.T",
		"a/b.T[":                               "b.T[",
	} {
		if got := short(full); got != want {
			t.Errorf("short(%q) = %q, want %q", full, got, want)
		}
	}
}
