package agents

import (
	"strings"
	"testing"
)

// TestImage: names of images are those that nodes take, and nothing of them gets out of its place in the YAML.
func TestImage(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for _, good := range []string{"gostap", "gostap:latest", "images.example/gostap:1.0", "localhost/gostap:lab",
		"localhost:5000/a/b-c/d__e.f:V1_2" + digest, "gostap" + digest, "[fd00::1]:5000/gostap:1",
		"Images.Example:443/gostap", "a---b", strings.Repeat("a", 200) + ":1"} {
		if err := Image(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "Gostap", "gostap:", "gostap:-1", "gostap:a b", "a//b", "/gostap", "gostap/",
		"a..b", "https://images.example/gostap", "gostap@sha256:12", "gostap@", "gostap:1:2", "gostap\n", "gostap\"",
		"-gostap", "gostap:1\nx: y", "{{IMAGE}}", "$(X)", "gostäp", "gostap:" + strings.Repeat("a", 129),
		strings.Repeat("a", 1024)} {
		if err := Image(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestManifest(t *testing.T) {
	text, err := Manifest("ns-1", "images.example/gostap:1.0")
	if err != nil || strings.Contains(text, "{{") || strings.Count(text, `"ns-1"`) != 2 ||
		!strings.Contains(text, `image: "images.example/gostap:1.0"`) || !strings.Contains(text, "name: "+Name+"\n") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, x := range [][2]string{{"a b", "gostap"}, {"", "gostap"}, {strings.Repeat("a", 64), "gostap"}, {"a", "A"}} {
		if text, err := Manifest(x[0], x[1]); err == nil || text != "" {
			t.Errorf("%q: %v, %q", x, err, text)
		}
	}
}
