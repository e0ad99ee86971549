package agents

import (
	"regexp"
	"strconv"
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
	text, err := Manifest("ns-1", "images.example/gostap:1.0", 0)
	if err != nil || strings.Contains(text, "{{") || strings.Count(text, `"ns-1"`) != 2 ||
		!strings.Contains(text, "\n        command: [gostap, kube, wait]\n") || strings.Contains(text, "ports:") ||
		!strings.Contains(text, `image: "images.example/gostap:1.0"`) || !strings.Contains(text, "name: "+Name+"\n") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, x := range [][2]string{{"a b", "gostap"}, {"", "gostap"}, {strings.Repeat("a", 64), "gostap"}, {"a", "A"}} {
		if text, err := Manifest(x[0], x[1], 0); err == nil || text != "" {
			t.Errorf("%q: %v, %q", x, err, text)
		}
	}
}

// TestProbes: a kubelet that has run for less than a probe's period waits for a random part of that before it asks for
// the first time (pkg/kubelet/prober/worker.go, run), so a period is what a new node's pods may not be traced for.
func TestProbes(t *testing.T) {
	text, err := Manifest("ns-1", "gostap", 0)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`Probe: .*periodSeconds: (\d+)`).FindAllStringSubmatch(text, -1)
	if len(all) == 0 || len(all) != strings.Count(text, "Probe: ") {
		t.Errorf("probes without a period:\n%s", text)
	}
	for _, m := range all {
		if n, _ := strconv.Atoi(m[1]); n > 5 {
			t.Errorf("%s", m[0])
		}
	}
}

// TestPort: metrics are told where that is asked for, at a port that a process without rights can have.
func TestPort(t *testing.T) {
	text, err := Manifest("ns-1", "gostap", 9478)
	if err != nil || !strings.Contains(text, `
        command: [gostap, kube, wait, --metrics, ":9478"]
        ports: [{name: metrics, containerPort: 9478}]
`) {
		t.Errorf("%v\n%s", err, text)
	}
	for port, want := range map[int]string{0: "", 1024: "", 65535: "", 9443: "--m: the port 9443 is taken",
		1023: "--m takes a port from 1024 to 65535, or 0 for none, not 1023", 65536: "--m takes", -1: "--m takes"} {
		got := ""
		if err := Port("--m", port, 9443); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%d: %s", port, got)
		}
	}
}
