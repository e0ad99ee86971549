package kube

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFetchEnds has commands that would never end: who sends nothing, who stops in the middle, whose copy cannot be
// kept while much is sent.
func TestFetchEnds(t *testing.T) {
	const header = `echo '{"name": "app", "size": 100000000, "sha256": "` +
		`0000000000000000000000000000000000000000000000000000000000000000"}'; `
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		script, dir string
		quiet       time.Duration
		want        string
	}{
		"silent": {"sleep 1000; :", t.TempDir(), 50 * time.Millisecond, "nothing came for 50ms"},
		"stopped": {header + "head -c 1000000 /dev/zero | gzip | head -c 200; sleep 1000; :", t.TempDir(), time.Second,
			"nothing came for 1s"},
		"no room": {header + "head -c 4000000 /dev/urandom | gzip", filepath.Join(file, "below"), time.Hour,
			"not a directory"},
		"refused": {"echo 'error: no such pod' >&2; exit 1", t.TempDir(), time.Hour, "(error: no such pod)"},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := fetch(exec.Command("sh", "-c", c.script), c.dir, c.quiet)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v, want %s", path, err, c.want)
			}
		})
	}
}

// TestFetchKept has a copy that is there already, and a command that does not end behind it.
func TestFetchKept(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, strings.Repeat("0", 64), "app")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `echo '{"name": "app", "size": 4, "sha256": "` + strings.Repeat("0", 64) + `"}'; exec sleep 1000`
	if path, err := fetch(exec.Command("sh", "-c", script), dir, 200*time.Millisecond); path != kept || err != nil {
		t.Errorf("%q, %v, want %s", path, err, kept)
	}
}
