package asked

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestExports(t *testing.T) {
	var e Exports
	err := errors.Join(e.Set("b=otlp://h:1?temporality=delta"), e.Set("a=remote-write+http://h:2"))
	want := []string{"--export", "a=remote-write+http://h:2", "--export", "b=otlp://h:1?temporality=delta"}
	if err != nil || !slices.Equal(e.Words(), want) {
		t.Errorf("%v %q", err, e.Words())
	}
	to, err := e.Of("gostap agent", []string{"b", "a", "b"})
	if err != nil || !slices.Equal(to, []string{e["b"], e["a"]}) {
		t.Errorf("%v %q", err, to)
	}
	for word, want := range map[string]string{
		"otlp://h:1":        "--export takes NAME=DESTINATION",
		"A=otlp://h:1":      "--export takes NAME=DESTINATION",
		"a=otlp":            "--export takes NAME=DESTINATION",
		"c=prometheus://:9": "listens at one address",
		"a=otlp://h":        "two destinations a",
	} {
		if err := e.Set(word); err == nil || !strings.Contains(err.Error(), want) || len(e) != 2 {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := Exports(nil).Of("gostap agent", []string{"a"}); err == nil ||
		!strings.Contains(err.Error(), "of gostap agent names them, and names none here") {
		t.Error(err)
	}
}
