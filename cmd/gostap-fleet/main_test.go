package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// TestDo: what a command line asks for, and what is said of one that cannot be, before a cluster is asked.
func TestDo(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := filepath.Join(t.TempDir(), "chart")
	for _, c := range []struct {
		line, out, err, hint string
	}{
		{"", "usage: gostap-fleet install", "", ""},
		{"install --help", "usage: gostap-fleet install", "", ""},
		{"instal", "", `there is no "instal"`, "did you mean install"},
		{"install --image A", "", `"A" is no name of an image`, "images.example/gostap:1.0"},
		{"install --agent-image A", "", `"A" is no name of an image`, ""},
		{"install -n A", "", `"A" is no name of a namespace`, ""},
		{"install --valid 1m", "", "--valid is a time from 1h", ""},
		{"install --wait=-1s", "", "--wait is a time from 0s", ""},
		{"install --url https://h", "", "unknown flag: --url", "--help"},
		{"install --metrics 80", "", "--metrics takes a port from 1024 to 65535, or 0 for none, not 80",
			"--metrics 9478"},
		{"install --metrics 9443", "", "--metrics: the port 9443 is taken", ""},
		{"install --agent-metrics 65536", "", "--agent-metrics takes a port from 1024", ""},
		{"manifests --agent-metrics 9478", "", "unknown flag: --agent-metrics", "--help"},
		{"manifests --metrics 9478", `{name: metrics, containerPort: 9478}]`, "", ""},
		{"run --certs /x --metrics 9478", "", `--metrics takes [HOST]:PORT, not "9478"`, "--metrics :9478"},
		{"run --certs /x --health :x", "", `--health takes [HOST]:PORT, not ":x"`, ""},
		{"install x", "", `gostap-fleet install takes no "x"`, ""},
		{"install", "", "no cluster is known", "KUBECONFIG=FILE"},
		{"uninstall --dry-run", "", "no cluster is known", "KUBECONFIG=FILE"},
		{"uninstall --image x", "", "unknown flag: --image", "--help"},
		{"manifests --image images.example/a:1 -n fleet", `image: "images.example/a:1"`, "", ""},
		{"manifests --image images.example/a:1 --valid 5m", "", "--valid is", ""},
		{"chart", "", "gostap-fleet chart takes a folder", ""},
		{"chart a b", "", "gostap-fleet chart takes a folder", ""},
		{"chart " + dir, "", "", ""},
		{"chart " + dir, "", dir + " is not empty", "a new folder"},
	} {
		var out strings.Builder
		err := do(strings.Fields(c.line), &out)
		text, hint := "", ""
		if err != nil {
			text = err.Error()
		}
		if e, ok := errors.AsType[*slip.Error](err); ok {
			hint = e.Hint
		}
		if !strings.Contains(out.String(), c.out) || (text == "") != (c.err == "") || !strings.Contains(text, c.err) ||
			!strings.Contains(hint, c.hint) {
			t.Errorf("%q: %.300s, %s, hint %s", c.line, out.String(), text, hint)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err != nil {
		t.Error(err)
	}
}

// TestCluster: a session knows the cluster and what is about destinations, and nothing else of the controller.
func TestCluster(t *testing.T) {
	want := []string{"KUBECONFIG=f", "KUBERNETES_SERVICE_HOST=h", "OTEL_EXPORTER_OTLP_HEADERS=a=b", "SSL_CERT_FILE=c",
		"SSL_CERT_DIR=d"}
	env := append([]string{"PATH=/bin", "HOME=/", "TOKEN=t", "KUBECONFIGS=x", "SSL_CERT_FILES=y"}, want...)
	if got := cluster(env); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
