package traces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForget: a status that is deleted has a file tried again, also one of which nothing could be read.
func TestForget(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	path := filepath.Join(x.dir, "none.stp")
	if err := os.Symlink("a.stp", path); err != nil {
		t.Fatal(err)
	}
	x.put("wrong.yaml", head+"spec: {script: one, limits: {seconds: 0}}", 0o600)
	for round := range 2 {
		for name, want := range map[string]string{"none": "is a symbolic link", "wrong": "from 1 to 86400"} {
			x.await(name, Refused, want)
			if n := strings.Count(x.said(), "trace "+name+": refused"); n != round+1 {
				t.Errorf("%s was refused %d times\n%s", name, n, x.said())
			}
			os.Remove(filepath.Join(x.state, name+statusFile))
		}
	}
	x.put("wrong.yaml", head+"spec: {script: quick}", 0o600)
	x.await("wrong", Done, "")
}
