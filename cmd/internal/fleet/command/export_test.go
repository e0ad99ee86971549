package command

import (
	"slices"
	"strings"
	"testing"
)

func TestExports(t *testing.T) {
	e, err := ParseExports([]string{"b=otlp://h:1?temporality=delta", "a=remote-write+http://h:2"})
	want := []string{"--export", "a=remote-write+http://h:2", "--export", "b=otlp://h:1?temporality=delta"}
	if err != nil || !slices.Equal(e.Words(), want) {
		t.Errorf("%v %q", err, e.Words())
	}
	if to, err := e.Of([]string{"b", "a", "b"}); err != nil || !slices.Equal(to, []string{e["b"], e["a"]}) {
		t.Errorf("%v %q", err, to)
	}
	for words, want := range map[string]string{
		"otlp://h:1":            "--export takes NAME=DESTINATION",
		"A=otlp://h:1":          "--export takes NAME=DESTINATION",
		"a=otlp":                "--export takes NAME=DESTINATION",
		"a=prometheus://:9":     "listens at one address",
		"a=otlp://h a=otlp://i": "two destinations a",
	} {
		if _, err := ParseExports(strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if _, err := Exports(nil).Of([]string{"a"}); err == nil || !strings.Contains(err.Error(), "names none here") {
		t.Error(err)
	}
}
