package godwarf

import "testing"

func TestLiteralIn(t *testing.T) {
	for name, want := range map[string]string{
		"main.f.func1":             "main.f",
		"main.f.func12.3.1":        "main.f",
		"main.(*T).M.func1-range2": "main.(*T).M",
		"main.f-range1.func2":      "main.f",
		"main.f.gowrap3":           "main.f",
		"main.f.func1.deferwrap1":  "main.f",
		"main.f1":                  "",
		"main.f":                   "",
		"main.f.func1.g.func2":     "",
		"main.f.func1.g.func2.1":   "",
		"main.f-range1.g.func2":    "",
		"main.1":                   "",
		"":                         "",
	} {
		if got, ok := literalIn(name); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v, want %q", name, got, ok, want)
		}
	}
}
