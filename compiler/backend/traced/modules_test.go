package traced

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModulesForbidden: what the kernel says about modules, in its files.
func TestModulesForbidden(t *testing.T) {
	for _, c := range []struct{ disabled, lockdown, want string }{
		{"0\n", "[none] integrity confidentiality\n", ""},
		{"0\n", "none [integrity] confidentiality\n", "locked down"},
		{"0\n", "none integrity [confidentiality]\n", "locked down"},
		{"1\n", "[none] integrity confidentiality\n", "switched off"},
		{"0\n", "", ""},
		{"", "", ""},
	} {
		root := t.TempDir()
		for path, text := range map[string]string{"/proc/sys/kernel/modules_disabled": c.disabled,
			"/sys/kernel/security/lockdown": c.lockdown} {
			if text == "" {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(root+path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(root+path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := modulesForbidden(root); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: %q", c, got)
		}
	}
}
