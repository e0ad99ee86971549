package ccompiler

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if cc, err := Find(nil); !errors.Is(err, ErrNone) {
		t.Errorf("without any: %v, %v", cc, err)
	}
	for _, name := range []string{"cc", "clang", "gcc"} { // each goes before those that are there already
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, env := range [][]string{nil, {"CC= "}, {"CC=tcc", "CC="}} {
			if cc, err := Find(env); err != nil || !slices.Equal(cc, []string{path}) {
				t.Errorf("%s, %v: %v, %v", name, env, cc, err)
			}
		}
	}
	if cc, err := Find([]string{"CC=tcc", "CC=ccache gcc -m32"}); err != nil ||
		!slices.Equal(cc, []string{"ccache", "gcc", "-m32"}) {
		t.Errorf("%v, %v", cc, err)
	}
}
