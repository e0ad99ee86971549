package rooted

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBelow follows links as a process with another root does.
func TestBelow(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"usr/bin", "opt/app/bin", "loop"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"bin": "usr/bin", "usr/bin/app": "/opt/app/bin/real", "usr/bin/rel": "../../opt/app/bin/real",
		"up":     "../../../../etc",
		"loop/a": "b", "loop/b": "a", "opt/cur": "/opt/app",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"/usr/bin/x": "/usr/bin/x", "/bin/app": "/opt/app/bin/real", "/bin/rel": "/opt/app/bin/real",
		"/opt/cur/bin": "/opt/app/bin",
		"/up/passwd":   "/etc/passwd", "/../../x": "/x", "/": "/", "/none/at/all": "/none/at/all",
	} {
		if got := Below(root, name); got != filepath.Clean(root+want) && got != root+want {
			t.Errorf("%s: %s, want %s", name, got, root+want)
		}
	}
	Below(root, "/loop/a") // ends
}
