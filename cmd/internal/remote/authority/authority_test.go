package authority

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func run(args ...string) (string, int) {
	var out bytes.Buffer
	status := Run(args, &out, &out, "the usage")
	return out.String(), status
}

// TestKeys: what is made is only for its owner to read, by one authority, and nothing is written over.
func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "certs")
	out, status := run(dir, "web1,10.0.0.5", "::1", "--client", "ann", "--valid", "90d")
	if status != 0 || strings.Count(out, "valid until ") != 4 {
		t.Fatal(out)
	}
	var all map[string][]byte
	read := func() map[string][]byte {
		now := map[string][]byte{}
		err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			want := os.FileMode(0o600)
			if st.IsDir() {
				want = 0o700
			} else if now[path], err = os.ReadFile(path); err != nil {
				return err
			}
			if st.Mode().Perm() != want {
				t.Errorf("%s: %v", path, st.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return now
	}
	all = read()
	for _, name := range []string{"authority/ca.crt", "authority/ca.key", "web1/ca.crt", "web1/tls.crt", "web1/tls.key",
		"::1/tls.crt", "ann/tls.key"} {
		if all[filepath.Join(dir, name)] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	if len(all) != 11 {
		t.Errorf("%d files", len(all))
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"a directory is missing, or who gets certificates", nil},
		{"a directory is missing, or who gets certificates", []string{dir}},
		{"web1 is there already, and is not written over", []string{dir, "web9", "web1"}},
		{"ann is there already, and is not written over", []string{dir, "web9", "--client", "ann"}},
		{"the name authority is that of", []string{dir, "web9", "authority"}},
		{"web9 is named twice", []string{dir, "web9", "--client", "web9"}},
		{`"../x" is neither the name of a host nor an address`, []string{dir, "../x"}},
		{`"" is neither`, []string{dir, ""}},
		{`"" is neither`, []string{dir, "web9,"}},
		{`"a b" is neither`, []string{dir, "a b"}},
		{`--client: ".." is no name`, []string{dir, "--client", ".."}},
		{`--client: "a/b" is no name`, []string{dir, "--client", "a/b"}},
		{"--valid takes a time such as 90d", []string{dir, "web9", "--valid", "soon"}},
		{"--valid takes a time such as 90d", []string{dir, "web9", "--valid", "-3d"}},
		{"--valid takes a time such as 90d", []string{dir, "web9", "--valid", "99999999999999d"}},
		{"ends before that, at ", []string{dir, "web9", "--valid", "20000d"}},
		{"unknown flag: --nothing", []string{dir, "--nothing"}},
		{"the usage", []string{"--help"}},
	} {
		out, status := run(c.args...)
		if !strings.Contains(out, c.want) || status == 0 != (c.want == "the usage") {
			t.Errorf("%q: want %q, status %d: %s", c.args, c.want, status, out)
		}
	}
	now := read()
	for path, text := range all {
		if !bytes.Equal(now[path], text) {
			t.Errorf("%s has changed", path)
		}
	}
	if len(now) != len(all) {
		t.Errorf("%d files are more than before", len(now)-len(all))
	}
	// The same authority makes more, unless it is none any more.
	out, status = run(dir, "web9")
	if status != 0 || !bytes.Equal(read()[dir+"/web9/ca.crt"], all[dir+"/web1/ca.crt"]) {
		t.Error(out)
	}
	for _, spoil := range []string{"ca.key", "ca.crt"} {
		if err := os.WriteFile(filepath.Join(dir, "authority", spoil), all[filepath.Join(dir, "web1/tls.key")],
			0o600); err != nil {
			t.Fatal(err)
		}
		out, status := run(dir, "web10")
		if status == 0 || !strings.Contains(out, "its files are not those of an authority") {
			t.Error(out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "authority", "ca.key")); err != nil {
		t.Fatal(err)
	}
	if out, status := run(dir, "web10"); status == 0 || !strings.Contains(out, "the key of the authority is needed") {
		t.Error(out)
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{"1d": day, "365d": 365 * day, "12h": 12 * time.Hour, "0d": 0, "d": 0,
		"": 0, "1.5d": 0, "-1h": 0} {
		if got, err := duration(s); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}
